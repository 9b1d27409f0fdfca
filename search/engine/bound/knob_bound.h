/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine/bound/knob_bound.h: the bounds of one knob setting and of a family of them.
 *
 * Theorem (docs/search.md, "Knob bound"). A knob setting takes at least what its rows give, on any placement: its
 * own rule and memory at least totals, and what freeing the memory takes that all saved activations hold too much
 * ("Layout relaxation", the bound of one branch, with what each activation costs least over the shardings).
 *
 * Theorem (docs/search.md, "Family bound"). Knob settings that share microbatch, methods and split of the layers
 * take at least what the rows of the family give: as the knob bound, with the best of each other knob. What must be
 * freed is worked out with ZeRO-2, weights gathered again, the optimizer on the host, and the fewest microbatches in
 * flight of any schedule, those of 1F1B. */
#pragma once

#include "search/engine/bound/totals_cache.h"
#include "search/engine/layout/layout.h"

/* One row for each choice of the MLP that is allowed. */
enum { BOUND_ROWS_MAX = 2 };
typedef struct {
    StepRule rule;
    Relaxation relaxation; /* one row */
    /* Above 1, stages may have this many chunks, and the gradients of the last chunk alone come after the rest. The
     * data_end of the rule is that of one chunk. The reduction of all chunks, with parts A and B taken as one and idle
     * time of this share of all passes, bounds the step too. */
    double chunks, idle_share;
} BoundRow;
typedef struct {
    int count;
    BoundRow row[BOUND_ROWS_MAX];
    double seconds;     /* rows_seconds() at the rates they were made with */
    double least_bytes; /* what the plan holds at least in its worst moment, after it gives up every activation */
} BoundRows;

/* The rows of a family, of which `member` and `shard` are any member's, and of one knob setting. `least` are rates that
 * no placement in question goes below. What freeing takes is worked out only where a row is not above `enough` without
 * it. The least bytes of a family that is above `enough` are given as 0; a knob setting that does not fit has no rows,
 * and takes INFINITY. */
void family_rows(const Bounds *bounds, const Shard *shard, const Knobs *member, const Rates *least, double enough,
                 BoundRows *out);
void knob_rows(const Bounds *bounds, const Shard *shard, const Knobs *knobs, const Rates *least, double enough,
               BoundRows *out);

/* The least seconds of the rows at rates that are not below those they were made with. It bounds all plans with these
 * rates or larger ones: the rates of one placement bound the plans on it, lower-bound rates bound all. INFINITY means
 * that no choice is allowed. */
double rows_seconds(const BoundRows *rows, const Rates *rates);
/* The same, or less where that is above `enough` already. */
double rows_seconds_until(const BoundRows *rows, const Rates *rates, double enough);
/* The same with `other_exposed` seconds of exposed communication that the rows know nothing of ("Microbatch bound"). */
double rows_seconds_with_other(const BoundRows *rows, const Rates *rates, double other_exposed);

/* The rows and their seconds at once. */
double knob_bound(const Bounds *bounds, const Shard *shard, const Knobs *knobs, const Rates *least,
                  double *least_bytes);

/* Whether knobs with the optimizer's state on the host need not be looked at next to the same knobs with it in HBM (
 * "Offload never pays"): these fit under every sharding with every activation saved, so their best layout is the
 * fastest of all, and the update from the host takes longer. If the host has room for a part of the state only, the
 * difference grows slower than the state, so what holds at the most state holds at less. */
bool offload_never_pays(const Bounds *bounds, const Shard *shard, const Knobs *knobs, double step_seconds_least);
