/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/explore/explore.h"

#include "base/util.h"
#include "search/explore/candidate.h"
#include "search/explore/frontier.h"
#include "search/launch/rules.h"

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
    if (order == 0) order = placement_compare(&a->placement, &b->placement);
    return order != 0 ? order : nesting_compare(&a->nesting, &b->nesting);
}

bool explore_cache_new(ExploreCache *out, Error *error) {
    *out = (ExploreCache){.sums = totals_cache_new(), .memo = collective_memo_new()};
    return (out->sums && out->memo) || error_memory(error);
}

void explore_cache_free(ExploreCache *cache) {
    totals_cache_free(cache->sums);
    collective_memo_free(cache->memo);
}

ExploreStats explore_stats_new(double threshold) {
    return (ExploreStats){.least_cut_bound = INFINITY,
                          .least_open_bound = INFINITY,
                          .least_missing = INFINITY,
                          .best_seconds = INFINITY,
                          .threshold = threshold,
                          .least_beyond = INFINITY};
}

void explore_note_evaluated(ExploreStats *stats, double bound) {
    if (bound > stats->threshold * CUT) stats->least_beyond = min_real(stats->least_beyond, bound);
}

void explore_note_cut(ExploreStats *stats, double bound) {
    stats->least_cut_bound = min_real(stats->least_cut_bound, bound);
    explore_note_evaluated(stats, bound);
}

bool rows_together(const Knobs *a, const Knobs *b) {
    return a->schedule == b->schedule && a->methods.grid.expert == b->methods.grid.expert &&
           a->methods.grid.expert_tensor == b->methods.grid.expert_tensor;
}

/* Whether sizes and launchers allow the knobs; fills the shard, and *takers with the launchers of which one must be able
 * to place it. */
static bool admit(const Tuple *tuple, const Knobs *knobs, Shard *shard, LauncherSet *takers, PruneReason *reason) {
    const ExploreProblem *problem = tuple->problem;
    const Request *request = problem->request;
    PaddingSet padding;
    *takers = LAUNCHERS_NONE_NEEDED;
    *reason = PRUNED_REQUIRE;
    if (!request_admits_knobs(request, knobs)) return false;
    *reason = PRUNED_INDIVISIBLE;
    if (!schedule_allowed(knobs->schedule, tuple->degrees->of[ROLE_PIPELINE], knobs->microbatches,
                          knobs->virtual_stages) ||
        !shard_of_plan(problem->setting.model, &problem->setting.work, tuple->degrees, knobs, problem->padding, shard,
                       &padding))
        return false;
    *reason = PRUNED_EQUAL;
    if (knobs_redundant(problem->setting.model, &problem->offers, knobs, shard)) return false;
    *reason = PRUNED_INDIVISIBLE;
    bool asks = request->space.launchers != 0, needs = problem->padding == PADDING_LAUNCHABLE && padding != 0;
    if (!asks && !needs) return true;
    Plan plan = {.degrees = *tuple->degrees, .knobs = *knobs};
    LauncherSet set =
        plan_launchers(problem->setting.model, &problem->setting.work, &plan, padding, problem->catalog_mesh);
    if (asks) *reason = PRUNED_REQUIRE;
    *takers = asks ? set & request->space.launchers : set;
    return *takers != 0;
}

/* A family of knob settings, and the placements in its reach: those where its bound is not above the threshold. Every
 * other is out of reach for each member, which takes no less anywhere. */
typedef struct {
    BoundRows rows; /* of the family */
    double bound;   /* so far */
    bool known;     /* the rest is made when a member that may be launched asks for it */
    int64_t way;
    ReachList list;
    /* the same placements for the vectorised loop, where they are many; in an arena of its own */
    RateTable table;
    double *seconds;
    Arena arena;
} Reach;

static void reach_close(Reach *reach) {
    reach_free(&reach->list);
    arena_free(&reach->arena);
    reach->seconds = NULL;
    reach->known = false;
}

typedef struct {
    const BoundRows *rows;
    double enough;
} RowsUntil;

static double rows_at(const void *what, const Rates *rates) {
    const RowsUntil *until = what;
    return rows_seconds_until(until->rows, rates, until->enough);
}

static bool fill_table(Reach *reach, Error *error) {
    size_t count = (size_t)reach->list.count;
    Rates *rates = ARENA_NEW(&reach->arena, Rates, count);
    reach->seconds = ARENA_NEW(&reach->arena, double, count);
    if (!rates || !reach->seconds) return error_memory(error);
    for (size_t i = 0; i < count; i++) rates[i] = reach->list.items[i].rates;
    return rate_table_fill(rates, reach->list.count, &reach->arena, &reach->table, error);
}

/* Raises the bound of a family to what any placement gives; if it is still not above the threshold, lists the placements
 * where it is not. */
static bool find_reach(const Tuple *tuple, double threshold, ExploreCache *cache, Reach *reach, Error *error) {
    enum { MANY = 12 }; /* as many alone cost what twice as many cost in the vectorised loop */
    double least = INFINITY;
    if (reach->known) return true;
    reach->known = true;
    reach->list = REACH_NOTHING;
    RowsUntil until = {&reach->rows, threshold / tuple->problem->scale * (1 + 0x1p-40)};
    if (!reach_find(tuple, reach->way, LAUNCHERS_NONE_NEEDED, rows_at, &until, threshold, cache, &reach->list, error))
        return false;
    for (int64_t i = 0; i < reach->list.count; i++) least = min_real(least, reach->list.items[i].bound);
    reach->bound = max_real(reach->bound, min_real(least, reach->list.beyond));
    return reach->list.count < MANY || fill_table(reach, error);
}

/* The bound of a member of the family: the least over the placements in its reach; what lies beyond is above the
 * threshold. */
static double bound_in_reach(const Tuple *tuple, const BoundRows *rows, Reach *reach) {
    double least = INFINITY;
    for (int row = 0; row < rows->count && reach->seconds; row++) {
        batch_relaxed_seconds(&rows->row[row].rule, &rows->row[row].relaxation, &reach->table, reach->seconds);
        for (int64_t i = 0; i < reach->list.count; i++) least = min_real(least, reach->seconds[i]);
    }
    for (int64_t i = 0; i < reach->list.count && !reach->seconds; i++)
        least = min_real(least, rows_seconds(rows, &reach->list.items[i].rates));
    return min_real(least * tuple->problem->scale, reach->list.beyond);
}

typedef struct {
    Keyed *items;
    int64_t count, room;
} KeyedList;

static bool keyed_add(KeyedList *list, Keyed item, Error *error) {
    if (list->count == list->room) {
        int64_t room = list->room ? 2 * list->room : 256;
        Keyed *grown = realloc(list->items, (size_t)room * sizeof(Keyed));
        if (!grown) return error_memory(error);
        list->items = grown;
        list->room = room;
    }
    list->items[list->count++] = item;
    return true;
}

static double memory_limit(const Tuple *tuple) { return cost_context_memory_limit(&tuple->problem->setting); }

/* What became of a knob setting. */
typedef struct {
    bool listed;
    bool family_out;    /* cut with all that is left of its family */
    PruneReason reason; /* else */
    double bound;       /* where it was cut at one, or listed */
} Judged;

/* Whether the same plan with its optimizer's state in HBM, `at_home`, says all about this one: it does not divide either;
 * it takes no less, and was too slow; or it fits however it is laid out, and is faster. */
static bool settled_at_home(const Tuple *tuple, const Knobs *knobs, const Shard *shard, const Judged *at_home,
                            ExploreCache *cache) {
    const ExploreProblem *problem = tuple->problem;
    if (problem->request->control.brute_force || problem->request->control.variants) return false;
    if (!at_home->listed) return at_home->reason == PRUNED_KNOB_BOUND;
    return offload_never_pays(&problem->setting, shard, knobs, at_home->bound / problem->scale, cache->sums);
}

static Judged knob_out(const Tuple *tuple, PruneReason reason, double bound, ExploreStats *stats) {
    stats->pruned[reason] += tuple->placement_total;
    return (Judged){.reason = reason, .bound = bound};
}

/* One knob setting: into the list, or the reason why it is out. `at_home`: what became of it without offloading the
 * optimizer's state; NULL: it does not. */
static bool list_knob(Tuple *tuple, int64_t index, double threshold, const Judged *at_home, Reach *reach,
                      ExploreCache *cache, KeyedList *list, ExploreStats *stats, Judged *out, Error *error) {
    const ExploreProblem *problem = tuple->problem;
    Knobs knobs = knob_space_at(&tuple->space, index);
    Shard shard;
    PruneReason reason;
    if (at_home && !at_home->listed && (at_home->reason == PRUNED_INDIVISIBLE || at_home->reason == PRUNED_EQUAL)) {
        *out = knob_out(tuple, at_home->reason, INFINITY, stats);
        return true;
    }
    LauncherSet takers;
    if (!admit(tuple, &knobs, &shard, &takers, &reason)) {
        *out = knob_out(tuple, reason, INFINITY, stats);
        return true;
    }
    if (at_home && settled_at_home(tuple, &knobs, &shard, at_home, cache)) {
        *out = knob_out(tuple, PRUNED_KNOB_BOUND, at_home->bound, stats);
        if (!at_home->listed) explore_note_cut(stats, at_home->bound); /* else the one at home answers for it */
        return true;
    }
    int64_t way = knob_space_methods(&tuple->space, index);
    bool brute = problem->request->control.brute_force;
    stats->ordered = true;
    if (!brute && !find_reach(tuple, threshold * CUT, cache, reach, error)) return false;
    if (!brute && reach->bound > threshold * CUT) {
        *out = (Judged){.family_out = true};
        return true;
    }
    double bytes, limit = memory_limit(tuple);
    BoundRows rows;
    knob_rows(&problem->setting, &shard, &knobs, &tuple->least[way], threshold * CUT / problem->scale, cache->sums,
              &rows, &bytes);
    double bound = rows_seconds(&rows, &tuple->least[way]) * problem->scale;
    if (!brute && bytes <= limit && bound <= threshold * CUT)
        bound = max_real(bound, bound_in_reach(tuple, &rows, reach));
    if (bytes > limit) {
        *out = knob_out(tuple, PRUNED_MEMORY, bound, stats);
        note_missing(tuple, &knobs, bytes - limit, stats);
    } else if (bound > threshold * CUT && !brute) {
        *out = knob_out(tuple, PRUNED_KNOB_BOUND, bound, stats);
        explore_note_cut(stats, bound);
    } else {
        *out = (Judged){.listed = true, .bound = bound};
        return keyed_add(list, (Keyed){bound, index}, error);
    }
    return true;
}

/* A family of knob settings whose sizes do not divide, that cannot fit, or whose bound at least rates is above the
 * threshold: all of it is out. Else *reach is begun. */
static bool family_cut(Tuple *tuple, int64_t family, double threshold, Reach *reach, ExploreCache *cache,
                       ExploreStats *stats) {
    const ExploreProblem *problem = tuple->problem;
    int64_t size = knob_family_size(&tuple->space), first = family * size;
    Count plans = tuple->placement_total * (Count)size;
    Knobs knobs = knob_space_at(&tuple->space, first);
    Shard shard;
    PaddingSet padding;
    knobs.virtual_stages = 1; /* with more chunks nothing divides better */
    if (!shard_of_plan(problem->setting.model, &problem->setting.work, tuple->degrees, &knobs, problem->padding, &shard,
                       &padding)) {
        stats->pruned[PRUNED_INDIVISIBLE] += plans;
        return true;
    }
    if (problem->request->control.brute_force) return false;
    double bytes;
    reach_close(reach);
    reach->way = knob_space_methods(&tuple->space, first);
    family_rows(&problem->setting, &problem->offers, &shard, &knobs, &tuple->least[reach->way],
                threshold * CUT / problem->scale, cache->sums, &reach->rows, &bytes);
    reach->bound = rows_seconds(&reach->rows, &tuple->least[reach->way]) * problem->scale;
    if (bytes > memory_limit(tuple)) {
        stats->pruned[PRUNED_MEMORY] += plans;
        note_missing(tuple, &knobs, bytes - memory_limit(tuple), stats);
        return true;
    }
    if (reach->bound <= threshold * CUT) return false;
    stats->pruned[PRUNED_KNOB_BOUND] += plans;
    explore_note_cut(stats, reach->bound);
    return true;
}

/* All context ways with one expert grid, one way of the parameters over sequence and one split of the layers. */
typedef struct {
    int64_t first_way, ways_apart; /* numbers of their methods */
    StageSplit split;
    Methods methods; /* of the first */
} Bunch;

static int64_t family_at(const KnobSpace *space, const Bunch *bunch, int context, int64_t microbatch) {
    int64_t way = bunch->first_way + context * bunch->ways_apart;
    return (microbatch * space->method_count + way) * space->split_count + (int64_t)bunch->split;
}

/* Whether microbatches first .. last of a bunch are all out by the bound of the range. */
static bool range_cut(Tuple *tuple, const Bunch *bunch, int64_t first, int64_t last, double threshold,
                      ExploreCache *cache, ExploreStats *stats) {
    const ExploreProblem *problem = tuple->problem;
    const KnobSpace *space = &tuple->space;
    double bytes, scale = problem->scale, limit = memory_limit(tuple);
    /* What fits in no microbatch at all is out for good, how slow it is aside. */
    bool whole = first == 0 && last == space->microbatch_count - 1;
    double bound =
        range_bound(&problem->setting, &problem->offers, problem->padding, &tuple->least[bunch->first_way], cache->sums,
                    tuple->degrees, &bunch->methods, bunch->split, space->microbatch_sequences[first],
                    space->microbatch_sequences[last], whole ? INFINITY : threshold * CUT / scale, &bytes) *
        scale;
    if (!(bound < INFINITY)) return false; /* what does not divide says so itself */
    Count plans = tuple->placement_total * (Count)knob_family_size(space) * (Count)space->methods.context_count *
                  (Count)(last - first + 1);
    if (bytes > limit) {
        Knobs knobs = knob_space_at(space, family_at(space, bunch, 0, first) * knob_family_size(space));
        stats->pruned[PRUNED_MEMORY] += plans;
        note_missing(tuple, &knobs, bytes - limit, stats);
        return true;
    }
    if (bound <= threshold * CUT) return false;
    stats->pruned[PRUNED_KNOB_BOUND] += plans;
    explore_note_cut(stats, bound);
    return true;
}

/* Microbatches first .. last of a bunch, in halves: what the bound of a range leaves goes family by family into the
 * list. */
static bool list_range(Tuple *tuple, const Bunch *bunch, int64_t first, int64_t last, double threshold, Reach *reach,
                       ExploreCache *cache, KeyedList *list, ExploreStats *stats, Error *error) {
    const KnobSpace *space = &tuple->space;
    bool worth = first < last || space->methods.context_count > 1; /* else the family's own bound says more */
    if (worth && !tuple->problem->request->control.brute_force &&
        range_cut(tuple, bunch, first, last, threshold, cache, stats))
        return true;
    if (first < last) {
        int64_t middle = first + (last - first) / 2;
        return list_range(tuple, bunch, first, middle, threshold, reach, cache, list, stats, error) &&
               list_range(tuple, bunch, middle + 1, last, threshold, reach, cache, list, stats, error);
    }
    int64_t size = knob_family_size(space);
    for (int context = 0; context < space->methods.context_count; context++) {
        int64_t family = family_at(space, bunch, context, first);
        if (family_cut(tuple, family, threshold, reach, cache, stats)) continue;
        Judged judged = {0};
        for (int64_t i = 0; i < size; i++) {
            bool offloads = space->offload_count > 1 && i % space->offload_count != 0; /* behind the same at home */
            Judged at_home = judged;
            if (!list_knob(tuple, family * size + i, threshold, offloads ? &at_home : NULL, reach, cache, list, stats,
                           &judged, error))
                return false;
            if (!judged.family_out) continue;
            stats->pruned[PRUNED_KNOB_BOUND] += tuple->placement_total * (Count)(size - i);
            explore_note_cut(stats, reach->bound);
            break;
        }
    }
    return true;
}

/* Knobs that sizes, memory and their bounds leave, by rising bound. */
static bool list_knobs(Tuple *tuple, double threshold, ExploreCache *cache, KeyedList *list, ExploreStats *stats,
                       Error *error) {
    const KnobSpace *space = &tuple->space;
    Reach reach = {0};
    if (knob_family_size(space) == 0) return true; /* chunks were asked for, and a stage has one layer */
    int64_t bunches = space->method_count / space->methods.context_count;
    for (int64_t way = 0; way < bunches; way++)
        for (int split = 0; split < space->split_count; split++) {
            Bunch bunch = {way, bunches, (StageSplit)split, method_space_at(&space->methods, way)};
            bool ok =
                list_range(tuple, &bunch, 0, space->microbatch_count - 1, threshold, &reach, cache, list, stats, error);
            reach_close(&reach);
            if (!ok) return false;
        }
    if (list->count > 0) qsort(list->items, (size_t)list->count, sizeof(Keyed), keyed_compare);
    return true;
}

static bool explore_knobs(Tuple *tuple, int64_t index, double limit, ExploreCache *cache, Row *row, ExploreStats *stats,
                          Error *error) {
    Knobs knobs = knob_space_at(&tuple->space, index);
    Shard shard;
    PruneReason reason;
    LauncherSet takers;
    if (!admit(tuple, &knobs, &shard, &takers, &reason))
        return error_set(error, ERROR_INTERNAL, "search", "knobs were admitted once and not again");
    return candidate_explore(tuple, index, &shard, takers, limit, cache, row, stats, error);
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
    KeyedList knob_list = {0};
    stats->threshold = threshold;
    Row *best = NULL; /* by expert grid and schedule */
    bool variants = problem->request->control.variants;
    bool ok = tuple_open(&tuple, problem, degrees, &arena, error);
    if (ok) best = ARENA_NEW(&arena, Row, (size_t)tuple.space.methods.grid_count * SCHEDULE_COUNT);
    ok = ok && (best || error_memory(error)) && list_knobs(&tuple, threshold, cache, &knob_list, stats, error);
    for (int64_t i = 0; ok && i < knob_list.count; i++) {
        int64_t index = knob_list.items[i].index;
        Knobs knobs = knob_space_at(&tuple.space, index);
        int64_t grid = knob_space_methods(&tuple.space, index) % tuple.space.methods.grid_count;
        Row own = {0}, *row = variants ? &own : &best[grid * SCHEDULE_COUNT + (int64_t)knobs.schedule];
        double limit = row->found ? min_real(threshold, row->ranked_seconds) : threshold;
        if (knob_list.items[i].bound > limit * CUT && !problem->request->control.brute_force) {
            stats->pruned[PRUNED_KNOB_BOUND] += tuple.placement_total;
            explore_note_cut(stats, knob_list.items[i].bound);
            continue;
        }
        ok = explore_knobs(&tuple, index, limit, cache, row, stats, error);
        if (ok && own.found) ok = row_list_add(list, &own, error);
    }
    for (int64_t i = 0; ok && i < tuple.space.methods.grid_count * SCHEDULE_COUNT; i++)
        if (best[i].found) ok = row_list_add(list, &best[i], error);
    free(knob_list.items);
    arena_free(&arena);
    return ok;
}

/* Microbatches of low .. high sequences with some methods: false, some range of one size is neither too slow nor too
 * large. */
static bool hopeless_range(const ExploreProblem *problem, const Degrees *degrees, const Methods *methods,
                           const Rates *least, StageSplit split, int64_t low, int64_t high, double threshold,
                           ExploreCache *cache, double *bound, double *missing) {
    double bytes, scale = problem->scale, limit = cost_context_memory_limit(&problem->setting);
    double seconds = range_bound(&problem->setting, &problem->offers, problem->padding, least, cache->sums, degrees,
                                 methods, split, low, high, threshold * CUT / scale, &bytes) *
                     scale * (1 - 0x1p-40);
    if (!(seconds < INFINITY)) return true;
    if (seconds > threshold * CUT) {
        *bound = min_real(*bound, seconds);
        return true;
    }
    if (bytes > limit) {
        *missing = min_real(*missing, bytes - limit);
        return true;
    }
    if (low == high) return false;
    int64_t middle = low + (high - low) / 2;
    return hopeless_range(problem, degrees, methods, least, split, low, middle, threshold, cache, bound, missing) &&
           hopeless_range(problem, degrees, methods, least, split, middle + 1, high, threshold, cache, bound, missing);
}

bool explore_hopeless(const ExploreProblem *problem, const Degrees *degrees, double threshold, ExploreCache *cache,
                      double *bound, double *missing) {
    MethodSpace space;
    method_space(degrees, &problem->offers, &space);
    space.context_count = 1;
    int64_t most = problem->setting.work.sequences / degrees_replicas(degrees);
    *bound = *missing = INFINITY;
    for (int64_t way = 0; way < method_space_size(&space); way++) {
        Methods methods = method_space_at(&space, way);
        Rates least;
        lower_bound_rates_of(problem->least, degrees, &methods, &least);
        lower_bound_rates_folded(problem->wirings, problem->machine_count, degrees, &methods, &least);
        for (int split = 0; split < (degrees->of[ROLE_PIPELINE] > 1 ? 2 : 1); split++)
            if (!hopeless_range(problem, degrees, &methods, &least, (StageSplit)split, 1, max_whole(1, most), threshold,
                                cache, bound, missing))
                return false;
    }
    return true;
}

bool explore_count_within(const ExploreProblem *problem, const Row *row, double limit, ExploreCache *cache,
                          Count *within, Error *error) {
    Arena arena = {0};
    Tuple tuple;
    *within = 0;
    bool ok = tuple_open(&tuple, problem, &row->degrees, &arena, error);
    int64_t size = ok ? knob_family_count(&tuple.space) * knob_family_size(&tuple.space) : 0;
    for (int64_t i = 0; ok && i < size; i++) {
        Knobs knobs = knob_space_at(&tuple.space, i);
        Shard shard;
        PruneReason reason;
        LauncherSet takers;
        if (!rows_together(&knobs, &row->knobs) || !admit(&tuple, &knobs, &shard, &takers, &reason)) continue;
        const Rates *least = &tuple.least[knob_space_methods(&tuple.space, i)];
        double bytes, bound = knob_bound(&problem->setting, &shard, &knobs, least, cache->sums, &bytes);
        if (bound * problem->scale <= limit)
            ok = candidate_count_within(&tuple, i, &shard, takers, limit, cache, within, error);
    }
    arena_free(&arena);
    return ok;
}
