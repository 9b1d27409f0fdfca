/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/step.h"

Role group_first_role(Group group) {
    static const Role FIRST[GROUP_COUNT] = {ROLE_TENSOR, ROLE_EXPERT,   ROLE_SEQUENCE, ROLE_PIPELINE,
                                            ROLE_EXPERT, ROLE_SEQUENCE, ROLE_TENSOR,   ROLE_DATA};
    return FIRST[group];
}

Role group_last_role(Group group) {
    static const Role LAST[GROUP_COUNT] = {ROLE_TENSOR, ROLE_EXPERT, ROLE_SEQUENCE, ROLE_PIPELINE,
                                           ROLE_FSDP,   ROLE_FSDP,   ROLE_TENSOR,   ROLE_DATA};
    return LAST[group];
}

Role group_role(Group group) {
    return group == GROUP_WEIGHTS || group == GROUP_EXPERT_WEIGHTS ? ROLE_FSDP : group_first_role(group);
}

Collective group_collective(Group group, ContextMethod context) {
    switch (group) {
    case GROUP_EXPERT:
        return COLLECTIVE_ALL_TO_ALL;
    case GROUP_PIPELINE:
        return COLLECTIVE_PERMUTE;
    case GROUP_SEQUENCE:
        return context == CONTEXT_RING ? COLLECTIVE_PERMUTE : COLLECTIVE_ALL_GATHER;
    default:
        return COLLECTIVE_ALL_GATHER;
    }
}

/* As placement_footprint, but strides only where the group lies: searches come here most. */
static void group_rate(const Mesh *mesh, const Placement *placement, Group group, ContextMethod context, Rates *out) {
    int first = (int)group_first_role(group), last = (int)group_last_role(group);
    Footprint footprint;
    unsigned axes = 0;
    for (int axis = 0; axis < mesh->axis_count; axis++) {
        const int32_t *factors = placement->factor[axis];
        int64_t factor = factors[first], stride = 1;
        for (int role = first + 1; role <= last; role++) factor *= factors[role];
        if (factor > 1) {
            axes |= 1u << axis;
            for (int role = 0; role < first; role++) stride *= factors[role];
        }
        footprint.on[axis] = (Span){factor, stride};
    }
    out->axes[group] = axes;
    out->cost[group] =
        axes ? collective_cost(group_collective(group, context), mesh, &footprint) : (CollectiveCost){{0, 0}, {0, 0}};
}

/* Overlap is measured inside the scale-up network. Activations over tensor that leave it find nothing to hide behind;
 * weights do so only over DCN, where their gathers are exposed as gradient reductions are. */
static unsigned far_groups(const Mesh *mesh, const Rates *rates) {
    unsigned outside = 0, dcn = 0, far = 0;
    for (int axis = 0; axis < mesh->axis_count; axis++) {
        if (mesh->axes[axis].level == LEVEL_DCN) dcn |= 1u << axis;
        if (mesh->axes[axis].level == LEVEL_DCN || mesh->axes[axis].level == LEVEL_NETWORK) outside |= 1u << axis;
    }
    if (rates->axes[GROUP_TENSOR] & outside) far |= 1u << GROUP_TENSOR;
    for (int group = GROUP_WEIGHTS; group <= GROUP_TENSOR_WEIGHTS; group++)
        if (rates->axes[group] & dcn) far |= 1u << group;
    return far;
}

void rates_set_context(const Mesh *mesh, const Placement *placement, ContextMethod context, Rates *rates) {
    group_rate(mesh, placement, GROUP_SEQUENCE, context, rates);
}

void rates_of_placement(const Mesh *mesh, const Placement *placement, ContextMethod context, Rates *out) {
    out->axis_count = mesh->axis_count;
    for (int group = 0; group < GROUP_COUNT; group++)
        if (group != GROUP_TENSOR_WEIGHTS && group != GROUP_EXPERT_WEIGHTS)
            group_rate(mesh, placement, (Group)group, context, out);
    /* The same chips under another name cost the same. */
    out->cost[GROUP_TENSOR_WEIGHTS] = out->cost[GROUP_TENSOR];
    out->axes[GROUP_TENSOR_WEIGHTS] = out->axes[GROUP_TENSOR];
    if (out->axes[GROUP_EXPERT] != 0) {
        group_rate(mesh, placement, GROUP_EXPERT_WEIGHTS, context, out);
    } else {
        out->cost[GROUP_EXPERT_WEIGHTS] = out->cost[GROUP_WEIGHTS];
        out->axes[GROUP_EXPERT_WEIGHTS] = out->axes[GROUP_WEIGHTS];
    }
    out->far = far_groups(mesh, out);
    out->open = false;
}

int64_t rates_open(const Degrees *degrees, Group group, Rates *out) {
    int64_t degree = 1;
    for (int role = (int)group_first_role(group); role <= (int)group_last_role(group); role++) degree *= degrees->of[role];
    out->axis_count = GROUP_COUNT;
    out->far = 0;
    out->open = true;
    out->axes[group] = degree > 1 ? 1u << group : 0;
    return degree;
}

void rates_least(const Mesh *mesh, const Degrees *degrees, ContextMethod context, Rates *out) {
    for (int group = 0; group < GROUP_COUNT; group++) {
        int64_t degree = rates_open(degrees, (Group)group, out);
        out->cost[group] = collective_cost_least(group_collective((Group)group, context), mesh, degree);
    }
}
