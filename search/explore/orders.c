/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/explore/orders.h"

#include "base/util.h"

#include <string.h>

static void lower_limit(const ExploreProblem *problem, const BestPlanList *list, double *limit) {
    for (int64_t row = 0; row < list->count && problem->request->control.top == 1; row++)
        *limit = min_real(*limit, list->rows[row].ranked_seconds);
}

/* Counts once more, `times` times, what `stats` has gained since `before`. */
static void repeat(ExploreStats *stats, const ExploreStats *before, int64_t times) {
    stats->evaluated += (stats->evaluated - before->evaluated) * (Count)times;
    for (int i = 0; i < PRUNED_COUNT; i++) stats->pruned[i] += (stats->pruned[i] - before->pruned[i]) * (Count)times;
}

static bool explore_all(const ExploreProblem *problem, NestedMesh *nested_meshes, const Degrees *degrees, double *limit,
                        ExploreCache *cache, BestPlanList *list, ExploreStats *stats, Error *error) {
    ExploreProblem own = *problem;
    own.nested_meshes = nested_meshes;
    for (int64_t order = 0, orders = nesting_orders(degrees); order < orders; order++) {
        ExploreStats before = *stats;
        Nesting nesting = nesting_order(degrees, order);
        for (int i = 0; i < problem->machine_count; i++) nested_meshes[i].nesting = nesting;
        stats->ordered = false;
        if (!explore_tuple(&own, degrees, *limit, cache, list, stats, error)) return false;
        lower_limit(problem, list, limit);
        if (!stats->ordered) {
            repeat(stats, &before, orders - 1 - order);
            return true;
        }
    }
    return true;
}

bool explore_orders(const ExploreProblem *problem, const Degrees *degrees, double *limit, ExploreCache *cache,
                    BestPlanList *list, ExploreStats *stats, Error *error) {
    if (!problem->request->space.nesting_all) {
        if (!explore_tuple(problem, degrees, *limit, cache, list, stats, error)) return false;
        lower_limit(problem, list, limit);
        return true;
    }
    Arena arena = {0};
    NestedMesh *nested_meshes = ARENA_NEW(&arena, NestedMesh, (size_t)problem->machine_count);
    if (!nested_meshes) return error_memory(error);
    memcpy(nested_meshes, problem->nested_meshes, (size_t)problem->machine_count * sizeof(NestedMesh));
    bool ok = explore_all(problem, nested_meshes, degrees, limit, cache, list, stats, error);
    arena_free(&arena);
    return ok;
}
