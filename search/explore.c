/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/explore.h"

#include "base/util.h"
#include "search/candidate.h"

#include <math.h>
#include <stdlib.h>

static int compare_reals(double a, double b) { return (a > b) - (a < b); }

int row_compare(const Row *a, const Row *b) {
    int order = compare_reals(a->ranked_seconds, b->ranked_seconds);
    if (order == 0) order = compare_reals(a->memory_bytes, b->memory_bytes);
    if (order == 0) order = degrees_compare(&a->degrees, &b->degrees);
    if (order == 0) order = knobs_compare(&a->knobs, &b->knobs);
    if (order == 0) order = compare_reals((double)a->sequences, (double)b->sequences);
    if (order == 0) order = (a->machine > b->machine) - (a->machine < b->machine);
    return order != 0 ? order : placement_compare(&a->placement, &b->placement);
}

/* Whether sizes and launchers allow the knobs; fills the shard. */
static bool admit(const Tuple *tuple, const Knobs *knobs, Shard *shard, PruneReason *reason) {
    const ExploreProblem *problem = tuple->problem;
    const Request *request = problem->request;
    PaddingSet padding;
    *reason = PRUNED_REQUIRE;
    if (!request_admits_knobs(request, knobs)) return false;
    *reason = PRUNED_INDIVISIBLE;
    if (!shard_of_plan(problem->setting.model, &problem->setting.work, tuple->degrees, knobs, request->padding, shard,
                       &padding))
        return false;
    bool asks = request->launchers != 0, needs = request->padding == PADDING_LAUNCHABLE && padding != 0;
    if (!asks && !needs) return true;
    Plan plan = {.degrees = *tuple->degrees, .knobs = *knobs};
    LauncherSet set =
        plan_launchers(problem->setting.model, &problem->setting.work, &plan, padding, problem->catalog_mesh);
    if (asks) {
        *reason = PRUNED_REQUIRE;
        return (set & request->launchers) != 0;
    }
    return set != 0;
}

/* The knob bound once more, at the least rates that the inner roles can have together. */
static bool joint_bound(const Tuple *tuple, const Shard *shard, const Knobs *knobs, ExploreCache *cache,
                        double threshold, double *bound, Error *error) {
    const ExploreProblem *problem = tuple->problem;
    for (int depth = 0; depth < JOINT_DEPTHS && *bound <= threshold; depth++) {
        const JointRates *joint = joint_rates(cache->joint, problem->machine, problem->mesh, tuple->degrees,
                                              knobs->context, (JointDepth)depth, error);
        if (!joint) return false;
        double least = INFINITY, bytes;
        for (int i = 0; i < joint->count; i++) {
            Rates rates = joint_apply(joint, i, (JointDepth)depth, &tuple->least[knobs->context]);
            least = min_real(least,
                             knob_bound(&problem->setting, shard, knobs, &rates, cache->sums, &bytes) * problem->scale);
        }
        *bound = max_real(*bound, least);
    }
    return true;
}

/* Knobs that sizes, memory and their bound leave, by rising bound. */
static bool list_knobs(Tuple *tuple, double threshold, ExploreCache *cache, Keyed **list, int64_t *count,
                       ExploreStats *stats, Error *error) {
    const ExploreProblem *problem = tuple->problem;
    int64_t size = knob_space_size(&tuple->space);
    Count placements = tuple->placement_total;
    *list = ARENA_NEW(tuple->arena, Keyed, (size_t)size);
    if (!*list) return error_memory(error);
    *count = 0;
    double limit = problem->setting.chip->hbm_bytes.value * (1 - problem->setting.hbm_reserve);
    for (int64_t i = 0; i < size; i++) {
        Knobs knobs = knob_space_at(&tuple->space, i);
        Shard shard;
        PruneReason reason;
        if (!admit(tuple, &knobs, &shard, &reason)) {
            stats->pruned[reason] += placements;
            continue;
        }
        double bytes,
            bound = knob_bound(&problem->setting, &shard, &knobs, &tuple->least[knobs.context], cache->sums, &bytes) *
                    problem->scale;
        bool brute = problem->request->brute_force;
        if (!brute && bytes <= limit && bound <= threshold * CUT &&
            !joint_bound(tuple, &shard, &knobs, cache, threshold * CUT, &bound, error))
            return false;
        if (bytes > limit) {
            stats->pruned[PRUNED_MEMORY] += placements;
            note_missing(tuple, &knobs, bytes - limit, stats);
        } else if (bound > threshold * CUT && !brute) {
            stats->pruned[PRUNED_KNOB_BOUND] += placements;
            note_cut(stats, bound);
        } else {
            (*list)[(*count)++] = (Keyed){bound, i};
        }
    }
    qsort(*list, (size_t)*count, sizeof(Keyed), keyed_compare);
    return true;
}

static bool explore_knobs(Tuple *tuple, const Knobs *knobs, double limit, ExploreCache *cache, Row *row,
                          ExploreStats *stats, Error *error) {
    Shard shard;
    PruneReason reason;
    if (!admit(tuple, knobs, &shard, &reason))
        return error_set(error, ERROR_INTERNAL, "search", "knobs were admitted once and not again");
    return candidate_explore(tuple, knobs, &shard, limit, cache, row, stats, error);
}

bool row_list_add(RowList *list, const Row *row, Error *error) {
    if (list->count == list->room) {
        int64_t room = list->room ? 2 * list->room : SCHEDULE_COUNT;
        Row *grown = realloc(list->rows, (size_t)room * sizeof(Row));
        if (!grown) return error_memory(error);
        list->rows = grown;
        list->room = room;
    }
    list->rows[list->count++] = *row;
    return true;
}

bool explore_tuple(const ExploreProblem *problem, const Degrees *degrees, double threshold, ExploreCache *cache,
                   RowList *list, ExploreStats *stats, Error *error) {
    Arena arena = {0};
    Tuple tuple;
    Keyed *knob_list;
    int64_t count = 0;
    Row best[SCHEDULE_COUNT] = {{0}};
    bool variants = problem->request->variants;
    bool ok = tuple_open(&tuple, problem, degrees, &arena, error);
    ok = ok && list_knobs(&tuple, threshold, cache, &knob_list, &count, stats, error);
    for (int64_t i = 0; ok && i < count; i++) {
        Knobs knobs = knob_space_at(&tuple.space, knob_list[i].index);
        Row own = {0}, *row = variants ? &own : &best[knobs.schedule];
        double limit = row->found ? min_real(threshold, row->ranked_seconds) : threshold;
        if (knob_list[i].bound > limit * CUT && !problem->request->brute_force) {
            stats->pruned[PRUNED_KNOB_BOUND] += tuple.placement_total;
            note_cut(stats, knob_list[i].bound);
            continue;
        }
        ok = explore_knobs(&tuple, &knobs, limit, cache, row, stats, error);
        if (ok && own.found) ok = row_list_add(list, &own, error);
    }
    for (int schedule = 0; ok && schedule < SCHEDULE_COUNT; schedule++)
        if (best[schedule].found) ok = row_list_add(list, &best[schedule], error);
    arena_free(&arena);
    return ok;
}

bool explore_count_within(const ExploreProblem *problem, const Row *row, double limit, ExploreCache *cache,
                          Count *within, Error *error) {
    Arena arena = {0};
    Tuple tuple;
    *within = 0;
    bool ok = tuple_open(&tuple, problem, &row->degrees, &arena, error);
    int64_t size = ok ? knob_space_size(&tuple.space) : 0;
    for (int64_t i = 0; ok && i < size; i++) {
        Knobs knobs = knob_space_at(&tuple.space, i);
        Shard shard;
        PruneReason reason;
        if (knobs.schedule != row->knobs.schedule || !admit(&tuple, &knobs, &shard, &reason)) continue;
        double bytes;
        double bound = knob_bound(&problem->setting, &shard, &knobs, &tuple.least[knobs.context], cache->sums, &bytes);
        if (bound * problem->scale <= limit) ok = candidate_count_within(&tuple, &knobs, &shard, limit, within, error);
    }
    arena_free(&arena);
    return ok;
}
