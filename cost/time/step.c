/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/time/step.h"

#include "base/util.h"
#include "cost/time/step_terms.h"

#include <string.h>

enum { MAX_AXES_OF_RATES = (int)GROUP_COUNT > (int)MESH_AXES_MAX ? (int)GROUP_COUNT : (int)MESH_AXES_MAX };

/* The sums that both entry points share, in one order. */
typedef struct {
    double group[GROUP_COUNT][PHASE_COUNT]; /* seconds of each row of the table */
    double compute[PHASE_COUNT];
    double critical[PHASE_COUNT];    /* exposed seconds of critical groups, one microbatch */
    double background_exposed;       /* over the step */
    double part_compute[2], part[2]; /* A, B */
    double critical_exposed, pcie, lane, main, bubble;
} Sums;

StepRule rule_at(const StepRule *rule, const Rates *rates) {
    StepRule at = *rule;
    for (int group = 0; group < GROUP_COUNT; group++)
        if (rates->leaves_scale_up >> group & 1) at.exposed[group] = rule->exposed_scale_out[group];
    return at;
}

static inline StepTerm term_at(const StepRule *rule, const Rates *rates, int group) {
    return step_term(rule, group, rates->leaves_scale_up >> group & 1);
}

/* Adds the hidden seconds of one row to the axes that the group lies on. */
static inline void add_busy(const StepTerm *term, double a, double b, unsigned axes, double busy[][2]) {
    for (; axes; axes &= axes - 1) {
        int axis = __builtin_ctz(axes);
        busy[axis][0] += term->hidden * a;
        busy[axis][1] += term->hidden * b;
    }
}

/* Seconds for which the network uses the lane of the host link. Copies and network traffic there follow each other. */
static double lane_seconds(const StepRule *rule, const Rates *rates, double seconds[GROUP_COUNT][PHASE_COUNT]) {
    double lane = 0;
    for (int group = 0; group < GROUP_COUNT; group++) {
        StepTerm term = term_at(rule, rates, group);
        if (step_on_host_lane(rates, group)) lane += term_whole(&term, seconds[group]);
    }
    return lane;
}

/* Adds the rows of all groups to the sums; rows that move nothing keep no axis busy. */
static inline void add_terms(const StepRule *rule, const Resources *resources, const Rates *rates, Sums *sums,
                             double busy[][2]) {
#pragma GCC unroll 16
    for (int group = 0; group < GROUP_COUNT; group++) {
        StepTerm term = term_at(rule, rates, group);
        double *seconds = sums->group[group];
        for (int phase = 0; phase < PHASE_COUNT; phase++) {
            Traffic traffic = step_traffic(rule, resources, group, phase);
            seconds[phase] = collective_seconds(rates->cost[group], traffic.messages, traffic.bytes);
            if (term.critical)
                sums->critical[phase] +=
                    term_exposed(&term, seconds[phase], resources->of[RES_ATTENTION_FORWARD + phase]);
        }
        double a = term_part_a(&term, seconds);
        if (!term.critical) sums->background_exposed += term.exposed * (a + seconds[1]);
        if (a + seconds[1] > 0) add_busy(&term, a, seconds[1], rates->axes[group], busy);
    }
}

static void step_sums(const StepRule *rule, const Resources *resources, const Rates *rates, Sums *sums) {
    double m = rule->microbatches, busy[MAX_AXES_OF_RATES][2];
    StepTerm compute = step_compute_term(rule);
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        sums->compute[phase] = step_compute_seconds(resources, phase);
        sums->critical[phase] = 0;
    }
    sums->part[0] = sums->part_compute[0] = term_part_a(&compute, sums->compute);
    sums->part[1] = sums->part_compute[1] = sums->compute[1];
    sums->background_exposed = 0;
    for (int axis = 0; axis < rates->axis_count; axis++) busy[axis][0] = busy[axis][1] = 0;
    add_terms(rule, resources, rates, sums, busy);
    for (int axis = 0; axis < rates->axis_count; axis++) {
        sums->part[0] = max_real(sums->part[0], busy[axis][0]);
        sums->part[1] = max_real(sums->part[1], busy[axis][1]);
    }
    sums->critical_exposed = m * (sums->critical[0] + sums->critical[1]);
    sums->pcie = step_pcie_seconds(rule, resources);
    sums->lane = 0;
    sums->main = sums->critical_exposed + sums->background_exposed + sums->part[0] + sums->part[1];
    if (sums->pcie > 0) {
        sums->lane = lane_seconds(rule, rates, sums->group);
        sums->main = max_real(sums->main + rule->host_exposed * sums->pcie, sums->pcie + sums->lane);
    }
    sums->bubble = compute.idle[0] * (sums->compute[0] + sums->critical[0]) +
                   compute.idle[1] * (sums->compute[1] + sums->critical[1]) - rule->bubble_saved_seconds;
}

double step_seconds(const StepRule *rule, const Resources *resources, const Rates *rates) {
    Sums sums;
    step_sums(rule, resources, rates, &sums);
    return sums.main + sums.bubble + rule->optimizer_seconds + rule->other_seconds;
}

void step_time(const StepRule *rule, const Resources *resources, const Rates *rates, StepTime *out) {
    Sums sums;
    step_sums(rule, resources, rates, &sums);
    memset(out, 0, sizeof(*out));
    out->bubble_seconds = sums.bubble;
    out->optimizer_seconds = rule->optimizer_seconds;
    out->other_seconds = rule->other_seconds;
    out->seconds = sums.main + sums.bubble + rule->optimizer_seconds + rule->other_seconds;
    out->compute_seconds = sums.part_compute[0] + sums.part_compute[1];
    out->exposed_seconds = sums.main - out->compute_seconds;
    out->pcie_seconds = sums.pcie;
    out->host_lane_seconds = sums.lane;
    out->serial_seconds = out->compute_seconds;
    for (int group = 0; group < GROUP_COUNT; group++) {
        StepTerm term = term_at(rule, rates, group);
        double whole = term_whole(&term, sums.group[group]);
        out->group_seconds[group] = whole;
        out->group_exposed_seconds[group] =
            term_exposed_whole(&term, sums.group[group], &resources->of[RES_ATTENTION_FORWARD]);
        out->serial_seconds += whole;
        for (int axis = 0; axis < rates->axis_count && axis < MESH_AXES_MAX; axis++)
            if (rates->axes[group] >> axis & 1) out->axis_seconds[axis] += whole;
    }
    double certain = sums.critical_exposed + sums.background_exposed;
    out->unhidden_seconds = max_real(0, out->exposed_seconds - certain);
    out->serial_seconds = max_real(
        out->serial_seconds + sums.pcie + sums.bubble + out->optimizer_seconds + out->other_seconds, out->seconds);
    double longest = max_real(out->compute_seconds, sums.pcie + sums.lane);
    for (int axis = 0; axis < rates->axis_count && axis < MESH_AXES_MAX; axis++)
        longest = max_real(longest, out->axis_seconds[axis]);
    out->lower_seconds = min_real(longest + sums.bubble + out->optimizer_seconds + out->other_seconds, out->seconds);
}
