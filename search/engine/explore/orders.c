/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/engine/explore/orders.h"

#include "base/util.h"

#include <string.h>

/* Where one plan is wanted, what was found is the limit from here on, with what is tied with it. */
static void lower_limit(const Explorer *explorer, double *limit) {
    const SearchControl *control = &explorer->problem->request->control;
    for (int64_t i = 0; i < explorer->plans.count && control->top == 1; i++)
        *limit = min_real(*limit, tie_end(control, explorer->plans.items[i].ranked_seconds));
}

/* Counts once more, `times` times, what `stats` has gained since `before`. */
static void repeat(ExploreStats *stats, const ExploreStats *before, int64_t times) {
    stats->evaluated += (stats->evaluated - before->evaluated) * (Count)times;
    for (int i = 0; i < PRUNED_COUNT; i++) stats->pruned[i] += (stats->pruned[i] - before->pruned[i]) * (Count)times;
}

/* Every order, on meshes of the explorer's problem that can be changed. */
static bool explore_all(Explorer *explorer, NestedMesh *nested_meshes, const Degrees *degrees, double *limit) {
    for (int64_t order = 0, orders = nesting_orders(degrees); order < orders; order++) {
        ExploreStats before = explorer->stats;
        Nesting nesting = nesting_order(degrees, order);
        for (int i = 0; i < explorer->problem->machine_count; i++) nested_meshes[i].nesting = nesting;
        explorer->stats.ordered = false;
        if (!explore_tuple(explorer, degrees, *limit)) return false;
        lower_limit(explorer, limit);
        if (!explorer->stats.ordered) {
            repeat(&explorer->stats, &before, orders - 1 - order);
            return true;
        }
    }
    return true;
}

bool explore_orders(Explorer *explorer, const Degrees *degrees, double *limit) {
    const ExploreProblem *problem = explorer->problem;
    if (!problem->request->space.nesting_all) {
        if (!explore_tuple(explorer, degrees, *limit)) return false;
        lower_limit(explorer, limit);
        return true;
    }
    Arena arena = {0};
    ExploreProblem own = *problem;
    NestedMesh *nested_meshes = ARENA_NEW(&arena, NestedMesh, (size_t)problem->machine_count);
    if (!nested_meshes) return error_memory(&explorer->error);
    memcpy(nested_meshes, problem->nested_meshes, (size_t)problem->machine_count * sizeof(NestedMesh));
    own.nested_meshes = nested_meshes;
    explorer->problem = &own;
    bool ok = explore_all(explorer, nested_meshes, degrees, limit);
    explorer->problem = problem;
    arena_free(&arena);
    return ok;
}

bool explore_orders_left(Explorer *explorer, const Degrees *degrees, const Deferred *left, int64_t count,
                         double *limit) {
    if (!explore_left(explorer, degrees, *limit, left, count)) return false;
    lower_limit(explorer, limit);
    return true;
}
