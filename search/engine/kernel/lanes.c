/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/engine/kernel/lanes.h"

#include "cost/time/step_terms.h"

#include <assert.h>
#include <math.h>
#include <string.h>

void kernel_lanes_clear(KernelLanes *lanes) { memset(lanes, 0, sizeof(*lanes)); }

/* Of a group that moves nothing all numbers stay zero: it adds nothing wherever it lies. */
static void add_group(KernelLanes *lanes, int lane, const StepRule *rule, const Resources *resources, int group) {
    Traffic traffic[PHASE_COUNT];
    bool moves = false;
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        traffic[phase] = step_traffic(rule, resources, group, phase);
        moves = moves || traffic[phase].messages > 0 || traffic[phase].bytes > 0;
    }
    if (!moves) return;
    lanes->groups.moving |= 1u << group;
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        lanes->messages[group][phase][lane] = traffic[phase].messages;
        lanes->bytes[group][phase][lane] = traffic[phase].bytes;
    }
    for (int far = 0; far < 2; far++) {
        StepTerm term = step_term(rule, group, far);
        lanes->share[group][far][lane] = term.exposed;
        lanes->hidden[group][far][lane] = term.hidden;
        if (term.hidden != 0) lanes->groups.hiding |= 1u << group;
        for (int phase = 0; phase < PHASE_COUNT && group == GROUP_SEQUENCE; phase++)
            lanes->minus[far][phase][lane] =
                term.ring ? term.hidden * resources->of[RES_ATTENTION_FORWARD + phase] : INFINITY;
    }
}

void kernel_lanes_add(KernelLanes *lanes, const StepRule *rule, const Relaxation *relaxation, int row) {
    assert(lanes->count < KERNEL_LANES && row < relaxation->rows);
    const Resources *resources = &relaxation->row[row].resources;
    int lane = lanes->count++;
    StepTerm compute = step_compute_term(rule);
    double seconds[PHASE_COUNT], offload = step_pcie_seconds(rule, resources);
    bool serial = relaxation->row[row].serial_weight > 0;
    for (int group = 0; group < GROUP_COUNT; group++) add_group(lanes, lane, rule, resources, group);
    for (unsigned second = serial ? relaxation->row[row].second_piece : 0; second; second &= second - 1)
        lanes->second[__builtin_ctz(second)][lane] = 1;
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        lanes->compute[phase][lane] = seconds[phase] = step_compute_seconds(resources, phase);
        lanes->idle[phase][lane] = compute.idle[phase];
    }
    lanes->microbatches[lane] = rule->microbatches;
    lanes->pairs[lane] = compute.pairs;
    lanes->part[0][lane] = term_part_a(&compute, seconds);
    lanes->part[1][lane] = seconds[1];
    lanes->saved[lane] = rule->bubble_saved_seconds;
    lanes->optimizer[lane] = rule->optimizer_seconds;
    lanes->other[lane] = rule->other_seconds;
    lanes->offload[lane] = offload;
    lanes->offload_exposed[lane] = rule->host_exposed * offload;
    lanes->serial_weight[lane] = serial ? relaxation->row[row].serial_weight : 0;
    lanes->serial_constant[lane] = serial ? relaxation->row[row].serial_constant : -INFINITY;
    lanes->any_serial = lanes->any_serial || serial;
    lanes->any_offload = lanes->any_offload || offload > 0;
}
