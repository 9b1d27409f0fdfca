/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/joint.h"

#include "base/util.h"

#include <string.h>

enum { FIGURES = sizeof(JointPoint) / sizeof(double) };
_Static_assert(sizeof(JointPoint) % sizeof(double) == 0, "a point is doubles alone");

static bool point_at_most(const JointPoint *a, const JointPoint *b) {
    const double *x = (const double *)a, *y = (const double *)b;
    for (int i = 0; i < FIGURES; i++)
        if (x[i] > y[i]) return false;
    return true;
}

static void take_least(JointPoint *to, const JointPoint *from) {
    double *x = (double *)to;
    const double *y = (const double *)from;
    for (int i = 0; i < FIGURES; i++) x[i] = min_real(x[i], y[i]);
}

static void add_point(JointRates *joint, const JointPoint *point) {
    int kept = 0;
    for (int i = 0; i < joint->count; i++)
        if (point_at_most(&joint->points[i], point)) return;
    for (int i = 0; i < joint->count; i++)
        if (!point_at_most(point, &joint->points[i])) joint->points[kept++] = joint->points[i];
    joint->count = kept;
    if (joint->count < JOINT_POINTS_MAX) joint->points[joint->count++] = *point;
    else take_least(&joint->points[JOINT_POINTS_MAX - 1], point);
}

bool joint_rates(const Mesh *mesh, const Degrees *degrees, JointRates *out, Error *error) {
    /* The outer roles as one: where they go makes no difference to the inner three. */
    Degrees merged = *degrees;
    merged.of[ROLE_FSDP] = degrees->of[ROLE_FSDP] * degrees->of[ROLE_DATA] * degrees->of[ROLE_PIPELINE];
    merged.of[ROLE_DATA] = merged.of[ROLE_PIPELINE] = 1;
    Arena arena = {0};
    Placement *placements;
    int64_t count;
    memset(out, 0, sizeof(*out));
    bool ok = placements_enumerate(mesh, &merged, &arena, &placements, &count, error);
    for (int64_t i = 0; ok && i < count; i++) {
        Footprint tensor = placement_footprint(mesh, &placements[i], ROLE_TENSOR, ROLE_TENSOR);
        Footprint expert = placement_footprint(mesh, &placements[i], ROLE_EXPERT, ROLE_EXPERT);
        Footprint sequence = placement_footprint(mesh, &placements[i], ROLE_SEQUENCE, ROLE_SEQUENCE);
        JointPoint point = {.tensor = collective_cost(group_collective(GROUP_TENSOR, CONTEXT_NONE), mesh, &tensor),
                            .expert = collective_cost(group_collective(GROUP_EXPERT, CONTEXT_NONE), mesh, &expert)};
        for (int context = 0; context < CONTEXT_COUNT; context++)
            point.sequence[context] = collective_cost(group_collective(GROUP_SEQUENCE, (ContextMethod)context), mesh, &sequence);
        add_point(out, &point);
    }
    arena_free(&arena);
    return ok;
}

Rates joint_apply(const JointRates *joint, int point, ContextMethod context, const Rates *least) {
    Rates rates = *least;
    rates.cost[GROUP_TENSOR] = joint->points[point].tensor;
    rates.cost[GROUP_TENSOR_WEIGHTS] = joint->points[point].tensor;
    rates.cost[GROUP_EXPERT] = joint->points[point].expert;
    rates.cost[GROUP_SEQUENCE] = joint->points[point].sequence[context];
    return rates;
}
