/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/time/step.h"

#include "base/util.h"

#include <string.h>

/* Seconds of one group in one phase of one microbatch. */
static inline double group_phase_seconds(const Resources *resources, const Rates *rates, int group, int phase) {
    return collective_seconds(rates->cost[group], resources->of[res_messages(group, phase)],
                              resources->of[res_bytes(group, phase)]);
}

/* Ring attention hides behind its own attention but for a share; other methods, and everything in `ideal`, do not. */
static inline double sequence_exposed(const StepRule *rule, double seconds, double attention) {
    double share = rule->exposed[GROUP_SEQUENCE];
    if (!rule->ring) return share * seconds;
    return max_real(share * seconds, seconds - (1 - share) * attention);
}

enum { MAX_AXES_OF_RATES = (int)GROUP_COUNT > (int)MESH_AXES_MAX ? (int)GROUP_COUNT : (int)MESH_AXES_MAX };

/* The sums that both entry points share, in one order. */
typedef struct {
    double group[GROUP_COUNT][PHASE_COUNT]; /* one microbatch; DATA: [0] at the start of the step, [1] at its end */
    double compute[PHASE_COUNT];
    double critical[PHASE_COUNT];    /* exposed seconds of critical groups, one microbatch */
    double background_exposed;       /* over the step */
    double part_compute[2], part[2]; /* A, B */
    double critical_exposed, pcie, main, bubble;
} Sums;

StepRule rule_at(const StepRule *rule, const Rates *rates) {
    StepRule at = *rule;
    for (int group = 0; group < GROUP_COUNT; group++)
        if (rates->leaves_scale_up >> group & 1) at.exposed[group] = rule->exposed_scale_out[group];
    return at;
}

static void step_sums(const StepRule *rule, const Resources *resources, const Rates *rates, Sums *sums) {
    double m = rule->microbatches;
    for (int group = 0; group < GROUP_DATA; group++)
        for (int phase = 0; phase < PHASE_COUNT; phase++)
            sums->group[group][phase] = group_phase_seconds(resources, rates, group, phase);
    for (int group = GROUP_DATA; group < GROUP_COUNT; group++) {
        const Traffic *start = &rule->data_start[group - GROUP_DATA], *end = &rule->data_end[group - GROUP_DATA];
        sums->group[group][0] = collective_seconds(rates->cost[group], start->messages, start->bytes);
        sums->group[group][1] = collective_seconds(rates->cost[group], end->messages, end->bytes);
    }

    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        double attention = resources->of[RES_ATTENTION_FORWARD + phase];
        sums->compute[phase] = resources->of[RES_COMPUTE_FORWARD + phase] + attention;
        sums->critical[phase] = 0;
        for (int group = 0; group < GROUP_WEIGHTS; group++)
            sums->critical[phase] += group == GROUP_SEQUENCE
                                         ? sequence_exposed(rule, sums->group[group][phase], attention)
                                         : rule->exposed[group] * sums->group[group][phase];
    }
    sums->part_compute[0] = (m - 1) * (sums->compute[0] + sums->compute[1]) + sums->compute[0];
    sums->part_compute[1] = sums->compute[1];
    sums->part[0] = sums->part_compute[0];
    sums->part[1] = sums->part_compute[1];

    /* Seconds of each axis, in the order of groups; those that move nothing are passed over. */
    double busy[MAX_AXES_OF_RATES][2];
    for (int axis = 0; axis < rates->axis_count; axis++) busy[axis][0] = busy[axis][1] = 0;
    sums->background_exposed = 0;
    for (int group = 0; group < GROUP_COUNT; group++) {
        double first = sums->group[group][0], second = sums->group[group][1], share = rule->exposed[group];
        double a = group >= GROUP_DATA ? first : (m - 1) * (first + second) + first;
        if (group >= GROUP_WEIGHTS) sums->background_exposed += share * (a + second);
        if (!(a + second > 0)) continue;
        for (unsigned axes = rates->axes[group]; axes; axes &= axes - 1) {
            int axis = __builtin_ctz(axes);
            busy[axis][0] += (1 - share) * a;
            busy[axis][1] += (1 - share) * second;
        }
    }
    for (int axis = 0; axis < rates->axis_count; axis++) {
        sums->part[0] = max_real(sums->part[0], busy[axis][0]);
        sums->part[1] = max_real(sums->part[1], busy[axis][1]);
    }
    sums->critical_exposed = m * (sums->critical[0] + sums->critical[1]);
    double offload = resources->of[RES_OFFLOAD_BYTES];
    sums->pcie = offload > 0 ? m * offload / rule->offload_bytes_per_second : 0;
    sums->main =
        max_real(sums->critical_exposed + sums->background_exposed + sums->part[0] + sums->part[1], sums->pcie);
    sums->bubble = rule->bubble[0] * (sums->compute[0] + sums->critical[0]) +
                   rule->bubble[1] * (sums->compute[1] + sums->critical[1]) - rule->bubble_saved_seconds;
}

double step_seconds(const StepRule *rule, const Resources *resources, const Rates *rates) {
    Sums sums;
    StepRule at;
    if (rates->leaves_scale_up) at = rule_at(rule, rates), rule = &at;
    step_sums(rule, resources, rates, &sums);
    return sums.main + sums.bubble + rule->optimizer_seconds + rule->other_seconds;
}

void step_time(const StepRule *rule, const Resources *resources, const Rates *rates, StepTime *out) {
    Sums sums;
    StepRule at;
    if (rates->leaves_scale_up) at = rule_at(rule, rates), rule = &at;
    step_sums(rule, resources, rates, &sums);
    memset(out, 0, sizeof(*out));
    double m = rule->microbatches;
    out->bubble_seconds = sums.bubble;
    out->optimizer_seconds = rule->optimizer_seconds;
    out->other_seconds = rule->other_seconds;
    out->seconds = sums.main + sums.bubble + rule->optimizer_seconds + rule->other_seconds;
    out->compute_seconds = sums.part_compute[0] + sums.part_compute[1];
    out->exposed_seconds = sums.main - out->compute_seconds;
    out->pcie_seconds = sums.pcie;
    out->serial_seconds = out->compute_seconds;
    for (int group = 0; group < GROUP_COUNT; group++) {
        double first = sums.group[group][0], second = sums.group[group][1];
        double whole = group >= GROUP_DATA ? first + second : m * (first + second);
        out->group_seconds[group] = whole;
        out->group_exposed_seconds[group] = rule->exposed[group] * whole;
        if (group == GROUP_SEQUENCE)
            out->group_exposed_seconds[group] =
                m * (sequence_exposed(rule, first, resources->of[RES_ATTENTION_FORWARD]) +
                     sequence_exposed(rule, second, resources->of[RES_ATTENTION_BACKWARD]));
        out->serial_seconds += whole;
        for (int axis = 0; axis < rates->axis_count && axis < MESH_AXES_MAX; axis++)
            if (rates->axes[group] >> axis & 1) out->axis_seconds[axis] += whole;
    }
    double certain = sums.critical_exposed + sums.background_exposed;
    out->unhidden_seconds = max_real(0, out->exposed_seconds - certain);
    out->serial_seconds = max_real(
        out->serial_seconds + sums.pcie + sums.bubble + out->optimizer_seconds + out->other_seconds, out->seconds);
    double longest = max_real(out->compute_seconds, sums.pcie);
    for (int axis = 0; axis < rates->axis_count && axis < MESH_AXES_MAX; axis++)
        longest = max_real(longest, out->axis_seconds[axis]);
    out->lower_seconds = min_real(longest + sums.bubble + out->optimizer_seconds + out->other_seconds, out->seconds);
}
