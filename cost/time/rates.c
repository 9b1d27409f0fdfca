/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/time/step.h"

#include "base/util.h"
#include "cost/plan/grid.h"

#define ROLE_BIT(role) (1u << (role))

RoleSet group_roles(Group group, const Methods *methods) {
    bool folded = methods->grid.expert > 0;
    RoleSet sequence = ROLE_BIT(ROLE_SEQUENCE), shards = methods->sequence_replicates ? 0 : sequence;
    switch (group) {
    case GROUP_TENSOR:
    case GROUP_TENSOR_WEIGHTS:
        return ROLE_BIT(ROLE_TENSOR);
    case GROUP_EXPERT:
        return folded ? 0 : ROLE_BIT(ROLE_EXPERT);
    case GROUP_SEQUENCE:
        return methods->context == CONTEXT_ULYSSES ? 0 : sequence;
    case GROUP_ULYSSES:
        return methods->context == CONTEXT_ULYSSES || methods->context == CONTEXT_ULYSSES_RING ? sequence : 0;
    case GROUP_PIPELINE:
        return ROLE_BIT(ROLE_PIPELINE);
    case GROUP_WEIGHTS:
        return ROLE_BIT(ROLE_EXPERT) | shards | ROLE_BIT(ROLE_FSDP);
    case GROUP_EXPERT_WEIGHTS:
        return folded ? 0 : shards | ROLE_BIT(ROLE_FSDP);
    case GROUP_DATA:
        return ROLE_BIT(ROLE_DATA) | (methods->sequence_replicates ? sequence : 0);
    default:
        return 0;
    }
}

Role group_role(Group group) {
    static const Role ROLES[GROUP_COUNT] = {
        [GROUP_TENSOR] = ROLE_TENSOR,     [GROUP_EXPERT_TENSOR] = ROLE_TENSOR, [GROUP_EXPERT] = ROLE_EXPERT,
        [GROUP_SEQUENCE] = ROLE_SEQUENCE, [GROUP_ULYSSES] = ROLE_SEQUENCE,     [GROUP_PIPELINE] = ROLE_PIPELINE,
        [GROUP_WEIGHTS] = ROLE_FSDP,      [GROUP_EXPERT_WEIGHTS] = ROLE_FSDP,  [GROUP_TENSOR_WEIGHTS] = ROLE_TENSOR,
        [GROUP_DATA] = ROLE_DATA,         [GROUP_EXPERT_DATA] = ROLE_DATA};
    return ROLES[group];
}

/* Chips of a group whose ranks are no roles. */
static int64_t folded_degree(Group group, const Degrees *degrees, const Methods *methods) {
    GridRanks ranks;
    if (methods->grid.expert == 0 || !grid_ranks(degrees, methods, &ranks)) return 1;
    switch (group) {
    case GROUP_EXPERT_TENSOR:
        return ranks.expert_tensor;
    case GROUP_EXPERT:
        return ranks.expert;
    case GROUP_EXPERT_WEIGHTS:
        return ranks.weights;
    case GROUP_EXPERT_DATA:
        return ranks.data;
    default:
        return 1;
    }
}

int64_t group_degree(Group group, const Degrees *degrees, const Methods *methods) {
    RoleSet roles = group_roles(group, methods);
    if (roles == 0) return folded_degree(group, degrees, methods);
    if (group == GROUP_ULYSSES) return methods->ulysses;
    int64_t degree = 1;
    for (int role = 0; role < ROLE_COUNT; role++)
        if (roles >> role & 1) degree *= degrees->of[role];
    if (group == GROUP_SEQUENCE && methods->ulysses > 1) degree /= methods->ulysses;
    return degree;
}

Collective group_collective(Group group, ContextMethod context) {
    switch (group) {
    case GROUP_EXPERT:
        return COLLECTIVE_DISPATCH;
    case GROUP_ULYSSES:
        return COLLECTIVE_ALL_TO_ALL;
    case GROUP_PIPELINE:
        return COLLECTIVE_PERMUTE;
    case GROUP_SEQUENCE:
        return context_is_ring(context) ? COLLECTIVE_PERMUTE : COLLECTIVE_ALL_GATHER;
    default:
        return COLLECTIVE_ALL_GATHER;
    }
}

static void set_rate(const Mesh *mesh, Group group, ContextMethod context, const Footprint *footprint, unsigned axes,
                     Rates *out) {
    out->axes[group] = axes;
    out->cost[group] =
        axes ? collective_cost(group_collective(group, context), mesh, footprint) : (CollectiveCost){{0, 0}, {0, 0}};
}

/* Searches come here most: strides only where the group lies. Of a sequence group that exchanges heads first, the heads
 * take neighbours, from the innermost axis on, and the ring joins what is left. */
static unsigned role_footprint(const NestedMesh *nested_mesh, const Placement *placement, Group group,
                               const Methods *methods, Footprint *out) {
    RoleSet roles = group_roles(group, methods);
    unsigned axes = 0;
    int64_t heads = methods->ulysses > 1 ? methods->ulysses : 1;
    bool split = heads > 1 && (group == GROUP_SEQUENCE || group == GROUP_ULYSSES);
    for (int axis = 0; axis < nested_mesh->mesh->axis_count; axis++) {
        const int32_t *factors = placement->factor[axis];
        int64_t factor = 1, inner = 1;
        for (int role = 0; role < ROLE_COUNT; role++)
            if (roles >> role & 1) factor *= factors[role];
        if (split) {
            inner = common_divisor(heads, factor);
            heads /= inner;
            factor = group == GROUP_ULYSSES ? inner : factor / inner;
        }
        out->on[axis] = (Span){factor, 1};
        if (factor == 1) continue;
        axes |= 1u << axis;
        out->on[axis].stride =
            nesting_stride(&nested_mesh->nesting, factors, roles) * (group == GROUP_SEQUENCE ? inner : 1);
    }
    return axes;
}

static void role_rate(const NestedMesh *nested_mesh, const Placement *placement, Group group, const Methods *methods,
                      Rates *out) {
    Footprint footprint;
    unsigned axes = role_footprint(nested_mesh, placement, group, methods, &footprint);
    set_rate(nested_mesh->mesh, group, methods->context, &footprint, axes, out);
}

static GridFootprints footprints_of_grid(const Mesh *mesh, const Placement *placement, const Methods *methods) {
    Degrees degrees;
    GridRanks ranks;
    for (int role = 0; role < ROLE_COUNT; role++) {
        degrees.of[role] = 1;
        for (int axis = 0; axis < mesh->axis_count; axis++) degrees.of[role] *= placement->factor[axis][role];
    }
    if (!grid_ranks(&degrees, methods, &ranks)) ranks = (GridRanks){1, 1, 1, 1};
    return grid_footprints(mesh, placement, &ranks);
}

/* Ranks of a folded grid. */
static void grid_rates(const NestedMesh *nested_mesh, const Placement *placement, const Methods *methods, Rates *out) {
    static const Group GROUPS[] = {GROUP_EXPERT_TENSOR, GROUP_EXPERT, GROUP_EXPERT_WEIGHTS, GROUP_EXPERT_DATA};
    GridFootprints at = footprints_of_grid(nested_mesh->mesh, placement, methods);
    const Footprint *footprints[] = {&at.expert_tensor, &at.expert, &at.weights, &at.data};
    for (int i = 0; i < 4; i++)
        set_rate(nested_mesh->mesh, GROUPS[i], methods->context, footprints[i],
                 footprint_axes(nested_mesh->mesh, footprints[i]), out);
}

Footprint group_footprint(const NestedMesh *nested_mesh, const Placement *placement, Group group,
                          const Methods *methods) {
    Footprint footprint;
    if (methods->grid.expert > 0 && group_roles(group, methods) == 0) {
        GridFootprints at = footprints_of_grid(nested_mesh->mesh, placement, methods);
        if (group == GROUP_EXPERT_TENSOR) return at.expert_tensor;
        if (group == GROUP_EXPERT) return at.expert;
        if (group == GROUP_EXPERT_WEIGHTS) return at.weights;
        if (group == GROUP_EXPERT_DATA) return at.data;
    }
    role_footprint(nested_mesh, placement, group, methods, &footprint);
    return footprint;
}

/* Overlap is measured inside the scale-up network. Activations over tensor that leave it find nothing to hide behind;
 * weights do so only over DCN, where their gathers are exposed as gradient reductions are. */
unsigned rates_far(const Mesh *mesh, const Rates *rates) {
    unsigned outside = 0, dcn = 0, far = 0;
    for (int axis = 0; axis < mesh->axis_count; axis++) {
        if (mesh->axes[axis].level == LEVEL_DCN) dcn |= 1u << axis;
        if (axis_is_across(&mesh->axes[axis])) outside |= 1u << axis;
    }
    for (int group = GROUP_TENSOR; group <= GROUP_EXPERT_TENSOR; group++)
        if (rates->axes[group] & outside) far |= 1u << group;
    for (int group = GROUP_WEIGHTS; group <= GROUP_TENSOR_WEIGHTS; group++)
        if (rates->axes[group] & dcn) far |= 1u << group;
    return far;
}

static void copy_rate(Rates *rates, Group to, Group from) {
    rates->cost[to] = rates->cost[from];
    rates->axes[to] = rates->axes[from];
}

/* Groups of which the methods decide who is in them. */
static void method_rates(const NestedMesh *nested_mesh, const Placement *placement, const Methods *methods,
                         Rates *out) {
    static const Group GROUPS[] = {GROUP_SEQUENCE, GROUP_ULYSSES, GROUP_WEIGHTS, GROUP_DATA};
    for (int i = 0; i < 4; i++) role_rate(nested_mesh, placement, GROUPS[i], methods, out);
    if (methods->grid.expert > 0) {
        grid_rates(nested_mesh, placement, methods, out);
    } else {
        role_rate(nested_mesh, placement, GROUP_EXPERT, methods, out);
        /* The same chips under another name cost the same. */
        if (out->axes[GROUP_EXPERT] != 0)
            role_rate(nested_mesh, placement, GROUP_EXPERT_WEIGHTS, methods, out);
        else
            copy_rate(out, GROUP_EXPERT_WEIGHTS, GROUP_WEIGHTS);
        role_rate(nested_mesh, placement, GROUP_EXPERT_TENSOR, methods, out);
        role_rate(nested_mesh, placement, GROUP_EXPERT_DATA, methods, out);
    }
    out->leaves_scale_up = rates_far(nested_mesh->mesh, out);
}

unsigned rates_host_lane(const Mesh *mesh) {
    unsigned lane = 0;
    for (int axis = 0; axis < mesh->axis_count && mesh->fabric.across_shares_host_lane; axis++)
        if (axis_is_across(&mesh->axes[axis])) lane |= 1u << axis;
    return lane;
}

void rates_of_placement(const NestedMesh *nested_mesh, const Placement *placement, const Methods *methods, Rates *out) {
    out->axis_count = nested_mesh->mesh->axis_count;
    out->is_lower_bound = false;
    out->host_lane = rates_host_lane(nested_mesh->mesh);
    role_rate(nested_mesh, placement, GROUP_TENSOR, methods, out);
    copy_rate(out, GROUP_TENSOR_WEIGHTS, GROUP_TENSOR);
    role_rate(nested_mesh, placement, GROUP_PIPELINE, methods, out);
    method_rates(nested_mesh, placement, methods, out);
}

int64_t rates_open(const Degrees *degrees, const Methods *methods, Group group, Rates *out) {
    int64_t degree = group_degree(group, degrees, methods);
    out->axis_count = GROUP_COUNT;
    out->leaves_scale_up = out->host_lane = 0;
    out->is_lower_bound = true;
    out->axes[group] = degree > 1 ? 1u << group : 0;
    return degree;
}

void rates_least(const Mesh *mesh, const Degrees *degrees, const Methods *methods, Rates *out) {
    for (int group = 0; group < GROUP_COUNT; group++) {
        int64_t degree = rates_open(degrees, methods, (Group)group, out);
        out->cost[group] = collective_cost_least(group_collective((Group)group, methods->context), mesh, degree);
    }
}
