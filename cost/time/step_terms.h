/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/time/step_terms.h: the step formula as a table. This is the only place that says how often the seconds of a
 * group count, and where. Every reader of the formula (step_seconds, the linear program of a layout, the batch of
 * placements, the merged and the serial bound) reads these rows and knows nothing else about groups.
 *
 * There is one row for each communication group, and one row for compute. With t_f and t_b the seconds of a row in its
 * two phases, over a step of m microbatches:
 *
 *   rows                          exposed sum      part A         part B   bubble
 *   compute                       -                a              t_b      idle_f t_f + idle_b t_b
 *   critical groups               m (e_f + e_b)    h a            h t_b    idle_f e_f + idle_b e_b
 *   background groups             m x (t_f + t_b)  h a            h t_b    0
 *   groups that move once a step  x (t_f + t_b)    h t_f          h t_b    0
 *
 * where a = (m - 1)(t_f + t_b) + t_f, x is the exposed share, h = 1 - x is the hidden share, and e = x t, except under
 * ring attention, where e = max(x t, t - h attention). Part A is the largest of compute and of the sums of the rows on
 * each axis; part B likewise. Then
 *
 *   step = max(exposed sum + x_h P + A + B, P + lane) + bubble - saved + optimizer + other
 *
 * where P is the seconds for which offloading keeps the host link busy, x_h is its exposed share, and lane is the
 * seconds of all groups that leave the scale-up network, where that traffic uses the same lane, and 0 elsewhere
 * (docs/model.md, "Overlap and the step"). For a group that moves once a step, phase 0 is what it moves at the start
 * and phase 1 what it moves at the end. The rows stand in the order of `Group`; step_seconds() adds in that order. */
#pragma once

#include "base/util.h"
#include "cost/time/step.h"

/* One row of the table. */
typedef struct {
    double exposed, hidden;   /* x and 1 - x; for compute 0 and 1 */
    double times;             /* how often both phases count over the step: m, or 1 */
    double pairs;             /* how often both phases count in part A before its last forward: m - 1, or 0 */
    double idle[PHASE_COUNT]; /* how often the exposed seconds count again in the bubble */
    bool critical;            /* the exposed seconds delay every microbatch, so they have a share in the bubble */
    bool once;                /* the row moves once a step, and the rule says what it moves */
    bool ring;                /* the row hides behind the attention of its own phase */
} StepTerm;

/* Whether a group moves once a step what the rule says, and not once a microbatch what the resources say. */
static inline bool step_moves_once(int group) { return group >= GROUP_DATA; }

/* The row of a group. `far` says that the group leaves the scale-up network (Rates.leaves_scale_up). */
static inline StepTerm step_term(const StepRule *rule, int group, bool far) {
    bool critical = group < GROUP_WEIGHTS, once = step_moves_once(group);
    double share = far ? rule->exposed_scale_out[group] : rule->exposed[group];
    return (StepTerm){.exposed = share,
                      .hidden = 1 - share,
                      .times = once ? 1 : rule->microbatches,
                      .pairs = once ? 0 : rule->microbatches - 1,
                      .idle = {critical ? rule->bubble[0] : 0, critical ? rule->bubble[1] : 0},
                      .critical = critical,
                      .once = once,
                      .ring = group == GROUP_SEQUENCE && rule->ring && share < 1};
}

/* The row of compute. */
static inline StepTerm step_compute_term(const StepRule *rule) {
    return (StepTerm){.hidden = 1,
                      .times = rule->microbatches,
                      .pairs = rule->microbatches - 1,
                      .idle = {rule->bubble[0], rule->bubble[1]}};
}

/* What a group moves in one phase: of one microbatch, or, for a row that moves once a step, of the whole step. */
static inline Traffic step_traffic(const StepRule *rule, const Resources *resources, int group, int phase) {
    if (step_moves_once(group)) return (phase == 0 ? rule->data_start : rule->data_end)[group - GROUP_DATA];
    return (Traffic){resources->of[res_messages((Group)group, (Phase)phase)],
                     resources->of[res_bytes((Group)group, (Phase)phase)]};
}

/* Seconds of compute in one phase of one microbatch, attention included. */
static inline double step_compute_seconds(const Resources *resources, int phase) {
    return resources->of[RES_COMPUTE_FORWARD + phase] + resources->of[RES_ATTENTION_FORWARD + phase];
}

/* How often a phase of a row counts in part A (0) or B (1), before the hidden share is taken. */
static inline double term_count(const StepTerm *term, int part, int phase) {
    return part == 0 ? term->pairs + (phase == 0) : phase == 1;
}

/* How often the seconds of a phase count in the step through the exposed share; not for a ring. */
static inline double term_exposed_factor(const StepTerm *term, int phase) {
    return term->exposed * (term->times + term->idle[phase]);
}

/* Exposed seconds of one phase that takes `seconds`. */
static inline double term_exposed(const StepTerm *term, double seconds, double attention) {
    double share = term->exposed * seconds;
    return term->ring ? max_real(share, seconds - term->hidden * attention) : share;
}

/* Seconds of both phases over the step. */
static inline double term_whole(const StepTerm *term, const double seconds[PHASE_COUNT]) {
    return term->times * (seconds[0] + seconds[1]);
}

/* Exposed seconds of both phases over the step; `attention` is that of one microbatch, by phase. */
static inline double term_exposed_whole(const StepTerm *term, const double seconds[PHASE_COUNT],
                                        const double attention[PHASE_COUNT]) {
    if (!term->ring) return term->exposed * term_whole(term, seconds);
    return term->times * (term_exposed(term, seconds[0], attention[0]) + term_exposed(term, seconds[1], attention[1]));
}

/* Seconds in part A, before the hidden share is taken; in part B they are seconds[1]. */
static inline double term_part_a(const StepTerm *term, const double seconds[PHASE_COUNT]) {
    return term->once ? seconds[0] : term->pairs * (seconds[0] + seconds[1]) + seconds[0];
}

/* Seconds of optimizer and others, less what weight gradients fill of the bubble: they depend on no row. */
static inline double step_constant(const StepRule *rule) {
    return rule->optimizer_seconds + rule->other_seconds - rule->bubble_saved_seconds;
}

/* P: PCIe seconds of the activations that are offloaded. */
static inline double step_pcie_seconds(const StepRule *rule, const Resources *resources) {
    double offload = resources->of[RES_OFFLOAD_BYTES];
    return offload > 0 ? rule->microbatches * offload / rule->offload_bytes_per_second : 0;
}

/* Whether a group uses the lane of the host link. */
static inline bool step_on_host_lane(const Rates *rates, int group) { return rates->axes[group] & rates->host_lane; }
