/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/goodput.h: the share of its time that a long training spends on steps that count, where failures stop
 * it: each costs the work since the last checkpoint and a restart, and each checkpoint costs a moment. Pure. Times are
 * seconds; failures are exponential, restarts may fail again. docs/model.md, "Failures". */
#pragma once

#include <stdint.h>

typedef struct {
    double between_failures; /* mean, of the whole job; > 0 */
    double restart;          /* from a failure until steps run again */
    double blocking;         /* of a checkpoint: what training waits for it */
    double least_interval;   /* between checkpoints: a write has to end before the next begins; 0 means any */
} Failures;

/* The share, 0 to 1, with a checkpoint after every so many seconds of steps (> 0):
 * T / (M e^(R/M) (e^((T+d)/M) - 1)) with M between failures, R restart, d blocking (Daly 2006, the complete form). */
double goodput_at(const Failures *failures, double interval);

/* The interval of the highest goodput, not below least_interval. Without a blocking time that is least_interval, and
 * where that is 0 too, 1 second. */
double goodput_best_interval(const Failures *failures);

/* The probability, 0 to 1, that of `needed` + `spare` units at least `needed` are up, where a unit fails once in
 * `between_failures` and is gone for `repair`, each on its own. */
double units_up(int64_t needed, int64_t spare, double between_failures, double repair);

/* The fewest spare units that make units_up() at least `probability` (below 1); at most `needed`. */
int64_t spares_needed(int64_t needed, double between_failures, double repair, double probability);
