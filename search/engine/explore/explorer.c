/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/engine/explore/explorer.h"

#include "base/util.h"

#include <math.h>
#include <stdlib.h>

ExploreStats explore_stats_new(double threshold) {
    return (ExploreStats){.least_cut_bound = INFINITY,
                          .least_open_bound = INFINITY,
                          .least_missing = INFINITY,
                          .best_seconds = INFINITY,
                          .threshold = threshold,
                          .least_above_threshold = INFINITY};
}

void explore_note_evaluated(ExploreStats *stats, double bound) {
    if (bound > stats->threshold * CUT) stats->least_above_threshold = min_real(stats->least_above_threshold, bound);
}

void explore_note_cut(ExploreStats *stats, double bound) {
    stats->least_cut_bound = min_real(stats->least_cut_bound, bound);
    explore_note_evaluated(stats, bound);
}

void explore_note_missing(ExploreStats *stats, const Degrees *degrees, const Knobs *knobs, double missing) {
    if (missing >= stats->least_missing) return;
    stats->least_missing = missing;
    stats->missing_degrees = *degrees;
    stats->missing_knobs = *knobs;
}

void explore_count_left(ExploreStats *stats, const Deferred *left) {
    stats->evaluated += left->evaluated;
    stats->pruned[PRUNED_REQUIRE] += left->required;
    stats->pruned[left->kind == LEFT_BATCHES ? PRUNED_DEGREE_BOUND : PRUNED_KNOB_BOUND] +=
        left->plans - left->evaluated - left->required;
    explore_note_cut(stats, left->bound);
}

bool explorer_leave(Explorer *explorer, Deferred left) {
    if (!explorer->left) {
        explore_count_left(&explorer->stats, &left);
        return true;
    }
    if (left.kind != LEFT_BATCHES) left.first_batch = left.last_batch = explorer->batch;
    return deferred_add(explorer->left, &left) || error_memory(&explorer->error);
}

void explore_cache_free(ExploreCache *cache) {
    totals_cache_free(cache->sums);
    collective_memo_free(cache->memo);
}

int64_t explore_cache_bytes(void) { return totals_cache_bytes(); }

bool explorer_stops(Explorer *explorer) {
    const Environment *environment = &explorer->problem->request->control.environment;
    explorer->late = explorer->late || (explorer->budget && budget_is_met(explorer->budget));
    explorer->late = explorer->late || (explorer->until > 0 && environment_clock(environment) > explorer->until);
    explorer->interrupted = explorer->interrupted || explorer->late || environment_stops(environment);
    return explorer->interrupted;
}

bool deferred_add(DeferredList *list, const Deferred *left) {
    if (list->count == list->room) {
        int64_t room = list->room ? 2 * list->room : 8;
        Deferred *grown = realloc(list->items, (size_t)room * sizeof(Deferred));
        if (!grown) return false;
        list->items = grown;
        list->room = room;
    }
    list->items[list->count++] = *left;
    return true;
}

static int compare_reals(double a, double b) { return (a > b) - (a < b); }

int best_plan_compare(const BestPlan *a, const BestPlan *b) {
    int order = compare_reals(a->ranked_seconds, b->ranked_seconds);
    if (order == 0) order = compare_reals(a->memory_bytes, b->memory_bytes);
    if (order == 0) order = degrees_compare(&a->degrees, &b->degrees);
    if (order == 0) order = knobs_compare(&a->knobs, &b->knobs);
    if (order == 0) order = compare_reals((double)a->sequences, (double)b->sequences);
    if (order == 0) order = (a->machine > b->machine) - (a->machine < b->machine);
    if (order == 0) order = placement_compare(&a->placement, &b->placement);
    return order != 0 ? order : nesting_compare(&a->nesting, &b->nesting);
}

bool knobs_compete(const Knobs *a, const Knobs *b) {
    return a->schedule == b->schedule && a->methods.grid.expert == b->methods.grid.expert &&
           a->methods.grid.expert_tensor == b->methods.grid.expert_tensor;
}

bool best_plan_list_add(BestPlanList *list, const BestPlan *plan, Error *error) {
    if (list->count == list->room) {
        int64_t room = list->room ? 2 * list->room : SCHEDULE_COUNT;
        BestPlan *grown = realloc(list->items, (size_t)room * sizeof(BestPlan));
        if (!grown) return error_memory(error);
        list->items = grown;
        list->room = room;
    }
    list->items[list->count++] = *plan;
    return true;
}

static int compare(const void *a, const void *b) {
    const BoundedIndex *x = a, *y = b;
    int order = (x->bound > y->bound) - (x->bound < y->bound);
    return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

void bounded_indices_sort(BoundedIndex *items, int64_t count) {
    if (count > 0) qsort(items, (size_t)count, sizeof(BoundedIndex), compare);
}

bool bounded_index_add(BoundedIndexList *list, BoundedIndex item, Error *error) {
    if (list->count == list->room) {
        int64_t room = list->room ? 2 * list->room : 256;
        BoundedIndex *grown = realloc(list->items, (size_t)room * sizeof(BoundedIndex));
        if (!grown) return error_memory(error);
        list->items = grown;
        list->room = room;
    }
    list->items[list->count++] = item;
    return true;
}
