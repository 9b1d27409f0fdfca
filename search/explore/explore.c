/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/explore/explore.h"

#include "base/util.h"
#include "cost/time/slack.h"
#include "search/explore/candidate.h"
#include "search/explore/frontier.h"
#include "search/launch/rules.h"

#include <math.h>
#include <stdlib.h>

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
                          .least_above_threshold = INFINITY};
}

void explore_note_evaluated(ExploreStats *stats, double bound) {
    if (bound > stats->threshold * CUT) stats->least_above_threshold = min_real(stats->least_above_threshold, bound);
}

void explore_note_cut(ExploreStats *stats, double bound) {
    stats->least_cut_bound = min_real(stats->least_cut_bound, bound);
    explore_note_evaluated(stats, bound);
}

bool knobs_compete(const Knobs *a, const Knobs *b) {
    return a->schedule == b->schedule && a->methods.grid.expert == b->methods.grid.expert &&
           a->methods.grid.expert_tensor == b->methods.grid.expert_tensor;
}

/* Whether sizes and launchers allow the knobs; fills the shard, and *able_launchers with the launchers of which one must be able
 * to place it. */
static bool admit(const OpenTuple *tuple, const Knobs *knobs, Shard *shard, LauncherSet *able_launchers,
                  PruneReason *reason) {
    const ExploreProblem *problem = tuple->problem;
    const Request *request = problem->request;
    PaddingSet padding;
    *able_launchers = ANY_LAUNCHER;
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
    *able_launchers = asks ? set & request->space.launchers : set;
    return *able_launchers != 0;
}

/* A family of knob settings, and the placements in its reach: those where its bound is not above the threshold. Every
 * other is out of reach for each member, which takes no less anywhere. */
typedef struct {
    BoundRows rows; /* of the family */
    double bound;   /* so far */
    bool known;     /* the rest is made when a member that may be launched asks for it */
    int64_t methods_index;
    PlacementList list;
    /* the same placements for the vectorised loop, where they are many; in an arena of its own */
    RateTable table;
    double *seconds;
    Arena arena;
} FamilyFrontier;

static void frontier_close(FamilyFrontier *frontier) {
    placement_list_free(&frontier->list);
    arena_free(&frontier->arena);
    frontier->seconds = NULL;
    frontier->known = false;
}

typedef struct {
    const BoundRows *rows;
    double enough;
} RowsUntil;

static double rows_at(const void *what, const Rates *rates) {
    const RowsUntil *until = what;
    return rows_seconds_until(until->rows, rates, until->enough);
}

static bool fill_table(FamilyFrontier *frontier, Error *error) {
    size_t count = (size_t)frontier->list.count;
    Rates *rates = ARENA_NEW(&frontier->arena, Rates, count);
    frontier->seconds = ARENA_NEW(&frontier->arena, double, count);
    if (!rates || !frontier->seconds) return error_memory(error);
    for (size_t i = 0; i < count; i++) rates[i] = frontier->list.items[i].rates;
    return rate_table_fill(rates, frontier->list.count, &frontier->arena, &frontier->table, error);
}

/* Raises the bound of a family to what any placement gives; if it is still not above the threshold, lists the placements
 * where it is not. */
static bool frontier_open(const OpenTuple *tuple, double threshold, ExploreCache *cache, FamilyFrontier *frontier,
                          Error *error) {
    enum { MANY = 12 }; /* as many alone cost what twice as many cost in the vectorised loop */
    double least = INFINITY;
    if (frontier->known) return true;
    frontier->known = true;
    frontier->list = PLACEMENT_LIST_EMPTY;
    RowsUntil until = {&frontier->rows, threshold / tuple->problem->scale * SLACK_UPWARD};
    if (!frontier_find(tuple, frontier->methods_index, ANY_LAUNCHER, rows_at, &until, threshold, cache, &frontier->list,
                       error))
        return false;
    for (int64_t i = 0; i < frontier->list.count; i++) least = min_real(least, frontier->list.items[i].bound);
    frontier->bound = max_real(frontier->bound, min_real(least, frontier->list.cut_bound));
    return frontier->list.count < MANY || fill_table(frontier, error);
}

/* The bound of a member of the family: the least over the placements in its reach; what lies beyond is above the
 * threshold. */
static double bound_on_frontier(const OpenTuple *tuple, const BoundRows *rows, FamilyFrontier *frontier) {
    double least = INFINITY;
    for (int row = 0; row < rows->count && frontier->seconds; row++) {
        batch_relaxed_seconds(&rows->row[row].rule, &rows->row[row].relaxation, &frontier->table, frontier->seconds);
        for (int64_t i = 0; i < frontier->list.count; i++) least = min_real(least, frontier->seconds[i]);
    }
    for (int64_t i = 0; i < frontier->list.count && !frontier->seconds; i++)
        least = min_real(least, rows_seconds(rows, &frontier->list.items[i].rates));
    return min_real(least * tuple->problem->scale, frontier->list.cut_bound);
}

typedef struct {
    BoundedIndex *items;
    int64_t count, room;
} BoundedIndexList;

static bool bounded_index_add(BoundedIndexList *list, BoundedIndex item, Error *error) {
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

static double memory_limit(const OpenTuple *tuple) { return cost_context_memory_limit(&tuple->problem->setting); }

/* What became of a knob setting. */
typedef struct {
    bool listed;
    bool family_out;    /* cut with all that is left of its family */
    PruneReason reason; /* else */
    double bound;       /* where it was cut at one, or listed */
} KnobOutcome;

/* Whether the same plan with its optimizer's state in HBM, `resident`, says all about this one: it does not divide either;
 * it takes no less, and was too slow; or it fits however it is laid out, and is faster. */
static bool decided_by_resident(const OpenTuple *tuple, const Knobs *knobs, const Shard *shard,
                                const KnobOutcome *resident, ExploreCache *cache) {
    const ExploreProblem *problem = tuple->problem;
    if (problem->request->control.brute_force || problem->request->control.variants) return false;
    if (!resident->listed) return resident->reason == PRUNED_KNOB_BOUND;
    return offload_never_pays(&problem->setting, shard, knobs, resident->bound / problem->scale, cache->sums);
}

static KnobOutcome knob_out(const OpenTuple *tuple, PruneReason reason, double bound, ExploreStats *stats) {
    stats->pruned[reason] += tuple->placement_total;
    return (KnobOutcome){.reason = reason, .bound = bound};
}

/* One knob setting: into the list, or the reason why it is out. `resident`: what became of it without offloading the
 * optimizer's state; NULL: it does not. */
static bool list_knob(OpenTuple *tuple, int64_t index, double threshold, const KnobOutcome *resident,
                      FamilyFrontier *frontier, ExploreCache *cache, BoundedIndexList *list, ExploreStats *stats,
                      KnobOutcome *out, Error *error) {
    const ExploreProblem *problem = tuple->problem;
    Knobs knobs = knob_space_at(&tuple->space, index);
    Shard shard;
    PruneReason reason;
    if (resident && !resident->listed && (resident->reason == PRUNED_INDIVISIBLE || resident->reason == PRUNED_EQUAL)) {
        *out = knob_out(tuple, resident->reason, INFINITY, stats);
        return true;
    }
    LauncherSet able_launchers;
    if (!admit(tuple, &knobs, &shard, &able_launchers, &reason)) {
        *out = knob_out(tuple, reason, INFINITY, stats);
        return true;
    }
    if (resident && decided_by_resident(tuple, &knobs, &shard, resident, cache)) {
        *out = knob_out(tuple, PRUNED_KNOB_BOUND, resident->bound, stats);
        if (!resident->listed) explore_note_cut(stats, resident->bound); /* else the one at home answers for it */
        return true;
    }
    int64_t methods_index = knob_space_methods(&tuple->space, index);
    bool brute = problem->request->control.brute_force;
    stats->ordered = true;
    if (!brute && !frontier_open(tuple, threshold * CUT, cache, frontier, error)) return false;
    if (!brute && frontier->bound > threshold * CUT) {
        *out = (KnobOutcome){.family_out = true};
        return true;
    }
    double bytes, limit = memory_limit(tuple);
    BoundRows rows;
    knob_rows(&problem->setting, &shard, &knobs, &tuple->least[methods_index], threshold * CUT / problem->scale,
              cache->sums, &rows, &bytes);
    double bound = rows_seconds(&rows, &tuple->least[methods_index]) * problem->scale;
    if (!brute && bytes <= limit && bound <= threshold * CUT)
        bound = max_real(bound, bound_on_frontier(tuple, &rows, frontier));
    if (bytes > limit) {
        *out = knob_out(tuple, PRUNED_MEMORY, bound, stats);
        note_missing(tuple, &knobs, bytes - limit, stats);
    } else if (bound > threshold * CUT && !brute) {
        *out = knob_out(tuple, PRUNED_KNOB_BOUND, bound, stats);
        explore_note_cut(stats, bound);
    } else {
        *out = (KnobOutcome){.listed = true, .bound = bound};
        return bounded_index_add(list, (BoundedIndex){bound, index}, error);
    }
    return true;
}

/* A family of knob settings whose sizes do not divide, that cannot fit, or whose bound at least rates is above the
 * threshold: all of it is out. Else *reach is begun. */
static bool family_cut(OpenTuple *tuple, int64_t family, double threshold, FamilyFrontier *frontier,
                       ExploreCache *cache, ExploreStats *stats) {
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
    frontier_close(frontier);
    frontier->methods_index = knob_space_methods(&tuple->space, first);
    family_rows(&problem->setting, &problem->offers, &shard, &knobs, &tuple->least[frontier->methods_index],
                threshold * CUT / problem->scale, cache->sums, &frontier->rows, &bytes);
    frontier->bound = rows_seconds(&frontier->rows, &tuple->least[frontier->methods_index]) * problem->scale;
    if (bytes > memory_limit(tuple)) {
        stats->pruned[PRUNED_MEMORY] += plans;
        note_missing(tuple, &knobs, bytes - memory_limit(tuple), stats);
        return true;
    }
    if (frontier->bound <= threshold * CUT) return false;
    stats->pruned[PRUNED_KNOB_BOUND] += plans;
    explore_note_cut(stats, frontier->bound);
    return true;
}

/* All context ways with one expert grid, one way of the parameters over sequence and one split of the layers. */
typedef struct {
    int64_t first_methods, methods_apart; /* numbers of their methods */
    StageSplit split;
    Methods methods; /* of the first */
} MethodFamily;

static int64_t family_at(const KnobSpace *space, const MethodFamily *method_family, int context, int64_t microbatch) {
    int64_t methods_index = method_family->first_methods + context * method_family->methods_apart;
    return (microbatch * space->method_count + methods_index) * space->split_count + (int64_t)method_family->split;
}

/* Whether microbatches first .. last of a bunch are all out by the bound of the range. */
static bool microbatches_are_cut(OpenTuple *tuple, const MethodFamily *method_family, int64_t first, int64_t last,
                                 double threshold, ExploreCache *cache, ExploreStats *stats) {
    const ExploreProblem *problem = tuple->problem;
    const KnobSpace *space = &tuple->space;
    double bytes, scale = problem->scale, limit = memory_limit(tuple);
    /* What fits in no microbatch at all is out for good, how slow it is aside. */
    bool whole = first == 0 && last == space->microbatch_count - 1;
    double bound = range_bound(&problem->setting, &problem->offers, problem->padding,
                               &tuple->least[method_family->first_methods], cache->sums, tuple->degrees,
                               &method_family->methods, method_family->split, space->microbatch_sequences[first],
                               space->microbatch_sequences[last], whole ? INFINITY : threshold * CUT / scale, &bytes) *
                   scale;
    if (!(bound < INFINITY)) return false; /* what does not divide says so itself */
    Count plans = tuple->placement_total * (Count)knob_family_size(space) * (Count)space->methods.context_count *
                  (Count)(last - first + 1);
    if (bytes > limit) {
        Knobs knobs = knob_space_at(space, family_at(space, method_family, 0, first) * knob_family_size(space));
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
static bool list_range(OpenTuple *tuple, const MethodFamily *method_family, int64_t first, int64_t last,
                       double threshold, FamilyFrontier *frontier, ExploreCache *cache, BoundedIndexList *list,
                       ExploreStats *stats, Error *error) {
    const KnobSpace *space = &tuple->space;
    bool worth = first < last || space->methods.context_count > 1; /* else the family's own bound says more */
    if (worth && !tuple->problem->request->control.brute_force &&
        microbatches_are_cut(tuple, method_family, first, last, threshold, cache, stats))
        return true;
    if (first < last) {
        int64_t middle = first + (last - first) / 2;
        return list_range(tuple, method_family, first, middle, threshold, frontier, cache, list, stats, error) &&
               list_range(tuple, method_family, middle + 1, last, threshold, frontier, cache, list, stats, error);
    }
    int64_t size = knob_family_size(space);
    for (int context = 0; context < space->methods.context_count; context++) {
        int64_t family = family_at(space, method_family, context, first);
        if (family_cut(tuple, family, threshold, frontier, cache, stats)) continue;
        KnobOutcome judged = {0};
        for (int64_t i = 0; i < size; i++) {
            bool offloads = space->offload_count > 1 && i % space->offload_count != 0; /* behind the same at home */
            KnobOutcome resident = judged;
            if (!list_knob(tuple, family * size + i, threshold, offloads ? &resident : NULL, frontier, cache, list,
                           stats, &judged, error))
                return false;
            if (!judged.family_out) continue;
            stats->pruned[PRUNED_KNOB_BOUND] += tuple->placement_total * (Count)(size - i);
            explore_note_cut(stats, frontier->bound);
            break;
        }
    }
    return true;
}

/* Knobs that sizes, memory and their bounds leave, by rising bound. */
static bool list_knobs(OpenTuple *tuple, double threshold, ExploreCache *cache, BoundedIndexList *list,
                       ExploreStats *stats, Error *error) {
    const KnobSpace *space = &tuple->space;
    FamilyFrontier frontier = {0};
    if (knob_family_size(space) == 0) return true; /* chunks were asked for, and a stage has one layer */
    int64_t method_families = space->method_count / space->methods.context_count;
    for (int64_t methods_index = 0; methods_index < method_families; methods_index++)
        for (int split = 0; split < space->split_count; split++) {
            MethodFamily method_family = {methods_index, method_families, (StageSplit)split,
                                          method_space_at(&space->methods, methods_index)};
            bool ok = list_range(tuple, &method_family, 0, space->microbatch_count - 1, threshold, &frontier, cache,
                                 list, stats, error);
            frontier_close(&frontier);
            if (!ok) return false;
        }
    if (list->count > 0) qsort(list->items, (size_t)list->count, sizeof(BoundedIndex), bounded_index_compare);
    return true;
}

static bool explore_knobs(OpenTuple *tuple, int64_t index, double limit, ExploreCache *cache, BestPlan *row,
                          ExploreStats *stats, Error *error) {
    Knobs knobs = knob_space_at(&tuple->space, index);
    Shard shard;
    PruneReason reason;
    LauncherSet able_launchers;
    if (!admit(tuple, &knobs, &shard, &able_launchers, &reason))
        return error_set(error, ERROR_INTERNAL, "search", "knobs were admitted once and not again");
    return candidate_explore(tuple, index, &shard, able_launchers, limit, cache, row, stats, error);
}

bool best_plan_list_add(BestPlanList *list, const BestPlan *row, Error *error) {
    if (list->count == list->room) {
        int64_t room = list->room ? 2 * list->room : SCHEDULE_COUNT;
        BestPlan *grown = realloc(list->rows, (size_t)room * sizeof(BestPlan));
        if (!grown) return error_memory(error);
        list->rows = grown;
        list->room = room;
    }
    list->rows[list->count++] = *row;
    return true;
}

bool explore_tuple(const ExploreProblem *problem, const Degrees *degrees, double threshold, ExploreCache *cache,
                   BestPlanList *list, ExploreStats *stats, Error *error) {
    Arena arena = {0};
    OpenTuple tuple;
    BoundedIndexList knob_list = {0};
    stats->threshold = threshold;
    BestPlan *best = NULL; /* by expert grid and schedule */
    bool variants = problem->request->control.variants;
    bool ok = open_tuple_make(&tuple, problem, degrees, &arena, error);
    if (ok) best = ARENA_NEW(&arena, BestPlan, (size_t)tuple.space.methods.grid_count * SCHEDULE_COUNT);
    ok = ok && (best || error_memory(error)) && list_knobs(&tuple, threshold, cache, &knob_list, stats, error);
    for (int64_t i = 0; ok && i < knob_list.count; i++) {
        int64_t index = knob_list.items[i].index;
        Knobs knobs = knob_space_at(&tuple.space, index);
        int64_t grid = knob_space_methods(&tuple.space, index) % tuple.space.methods.grid_count;
        BestPlan own = {0}, *row = variants ? &own : &best[grid * SCHEDULE_COUNT + (int64_t)knobs.schedule];
        double limit = row->found ? min_real(threshold, row->ranked_seconds) : threshold;
        if (knob_list.items[i].bound > limit * CUT && !problem->request->control.brute_force) {
            stats->pruned[PRUNED_KNOB_BOUND] += tuple.placement_total;
            explore_note_cut(stats, knob_list.items[i].bound);
            continue;
        }
        ok = explore_knobs(&tuple, index, limit, cache, row, stats, error);
        if (ok && own.found) ok = best_plan_list_add(list, &own, error);
    }
    for (int64_t i = 0; ok && i < tuple.space.methods.grid_count * SCHEDULE_COUNT; i++)
        if (best[i].found) ok = best_plan_list_add(list, &best[i], error);
    free(knob_list.items);
    arena_free(&arena);
    return ok;
}

/* Microbatches of low .. high sequences with some methods: false, some range of one size is neither too slow nor too
 * large. */
static bool microbatch_range_is_cut(const ExploreProblem *problem, const Degrees *degrees, const Methods *methods,
                                    const Rates *least, StageSplit split, int64_t low, int64_t high, double threshold,
                                    ExploreCache *cache, double *bound, double *missing) {
    double bytes, scale = problem->scale, limit = cost_context_memory_limit(&problem->setting);
    double seconds = range_bound(&problem->setting, &problem->offers, problem->padding, least, cache->sums, degrees,
                                 methods, split, low, high, threshold * CUT / scale, &bytes) *
                     scale * SLACK;
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
    return microbatch_range_is_cut(problem, degrees, methods, least, split, low, middle, threshold, cache, bound,
                                   missing) &&
           microbatch_range_is_cut(problem, degrees, methods, least, split, middle + 1, high, threshold, cache, bound,
                                   missing);
}

bool tuple_range_is_cut(const ExploreProblem *problem, const Degrees *degrees, double threshold, ExploreCache *cache,
                        double *bound, double *missing) {
    MethodSpace space;
    method_space(degrees, &problem->offers, &space);
    space.context_count = 1;
    int64_t most = problem->setting.work.sequences / degrees_replicas(degrees);
    *bound = *missing = INFINITY;
    for (int64_t methods_index = 0; methods_index < method_space_size(&space); methods_index++) {
        Methods methods = method_space_at(&space, methods_index);
        Rates least;
        lower_bound_rates_of(problem->least, degrees, &methods, &least);
        lower_bound_rates_folded(problem->nested_meshes, problem->machine_count, degrees, &methods, &least);
        for (int split = 0; split < (degrees->of[ROLE_PIPELINE] > 1 ? 2 : 1); split++)
            if (!microbatch_range_is_cut(problem, degrees, &methods, &least, (StageSplit)split, 1, max_whole(1, most),
                                         threshold, cache, bound, missing))
                return false;
    }
    return true;
}

bool explore_count_within(const ExploreProblem *problem, const BestPlan *row, double limit, ExploreCache *cache,
                          Count *within, Error *error) {
    Arena arena = {0};
    OpenTuple tuple;
    *within = 0;
    bool ok = open_tuple_make(&tuple, problem, &row->degrees, &arena, error);
    int64_t size = ok ? knob_family_count(&tuple.space) * knob_family_size(&tuple.space) : 0;
    for (int64_t i = 0; ok && i < size; i++) {
        Knobs knobs = knob_space_at(&tuple.space, i);
        Shard shard;
        PruneReason reason;
        LauncherSet able_launchers;
        if (!knobs_compete(&knobs, &row->knobs) || !admit(&tuple, &knobs, &shard, &able_launchers, &reason)) continue;
        const Rates *least = &tuple.least[knob_space_methods(&tuple.space, i)];
        double bytes, bound = knob_bound(&problem->setting, &shard, &knobs, least, cache->sums, &bytes);
        if (bound * problem->scale <= limit)
            ok = candidate_count_within(&tuple, i, &shard, able_launchers, limit, cache, within, error);
    }
    arena_free(&arena);
    return ok;
}
