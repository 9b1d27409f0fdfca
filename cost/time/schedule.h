/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/time/schedule.h: what a pipeline schedule costs in idle time and in memory. p stages, m microbatches, v chunks a
 * stage; F, B, W: seconds of one microbatch's forward, whole backward and weight gradients (a part of B) on one stage.
 *
 *   schedule      idle seconds of a stage             in flight, first stage   parameters   requires
 *   gpipe         (p - 1)(F + B)                      m                        1
 *   1f1b          (p - 1)(F + B)                      p                        1
 *   interleaved   (p - 1)(F + B) factor(v)            p + (p - 1) / v          1            v >= 2
 *   circular      (p - 1)(F + B) / v                  m                        1            v >= 2, m % p = 0
 *   zb_h1         (p - 1)(F + B - 2 W)                p                        1            m >= p
 *   dualpipe      (p/2 - 1)(F + 2 B - 3 W)            p + 1                    2            p, m even, m >= 2 p
 *
 * Sources: Narayanan et al. 2021 (1F1B, interleaving), Korthikanti et al. 2022 (memory of interleaving), MaxText
 * configs/types.py (circular), Qi et al. 2023, tables 1 and 2 (ZB-H1), DeepSeek-V3, table 2 (DualPipe: F&B, a forward
 * and a backward of different microbatches side by side, takes F + B: neither saves compute of the other). */
#pragma once

#include "cost/plan/shard.h"

/* Idle time as shares of all other stages' passes: forward F + backward B - weights W. */
typedef struct {
    double forward, backward, weights;
} Bubble;

/* Zeros with one stage. Pure. */
Bubble schedule_bubble(Schedule schedule, double stages, double microbatches, double virtual_stages);

/* What of the bubble of one pass through all other stages is left with v virtual stages and m microbatches.
 * Microbatches go through the chunks in groups of as many as there are stages: (p - 1) / v of a microbatch when groups
 * are full; the last group, of r <= p microbatches, leaves p - r slots empty in each of its first v - 1 rounds: factor
 * (1 + (v - 1) (p - r) / (p - 1)) / v. One microbatch gains nothing from interleaving. Pure, for p >= 2. */
double bubble_factor(double stages, double microbatches, double virtual_stages);

/* Whether the schedule runs with so many microbatches; SCHEDULE_NONE is for one stage alone. */
bool schedule_allowed(Schedule schedule, int64_t stages, int64_t microbatches, int64_t virtual_stages);

/* Microbatches whose activations a stage holds at most, in its whole layers: of the first and of the last stage. */
typedef struct {
    double first, last;
} InFlight;
InFlight schedule_in_flight(Schedule schedule, double stages, double microbatches, double virtual_stages);

/* Whether the schedule is a compiler's loop: all forwards, then all backwards; each iteration sends on what it made. */
static inline bool schedule_is_loop(Schedule schedule) {
    return schedule == SCHEDULE_GPIPE || schedule == SCHEDULE_CIRCULAR;
}

/* Stages that a chip holds the parameters of. */
int schedule_copies(Schedule schedule);

/* The least idle time any schedule with up to `most` microbatches and `chunks` chunks a stage leaves of a microbatch's
 * work, in shares of (p - 1)(F + B), when W is at most `weights` of F + B. */
double schedule_least_share(double stages, double most, double chunks, double weights);
