/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Best first over (machine, batch, degrees): bounds of all are taken (tuples.c), then the search goes up in levels.
 * At each level the tuples whose bound is not above it are opened, in rising order of bound, and what is above the
 * level stays closed in them: a tuple gets the least bound of that for its own, and comes again when a level has reached
 * it. A plan is looked for only where the bounds, all of them, have nothing better to offer; without levels the tuples
 * of the lowest bounds, which often fit nowhere, would be searched to their end before anything is known. Within a level
 * tuples are taken in blocks against the threshold of the block's start, so that counts are the same for any number of
 * threads; blocks grow, so that early ones tighten it. */
#include "search/walk/search.h"

#include "base/clock.h"
#include "base/util.h"
#include "cost/time/slack.h"
#include "search/explore/candidate.h"
#include "search/explore/orders.h"
#include "search/launch/placement.h"
#include "search/launch/rules.h"
#include "search/proof/certificate.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_MOST = 32 };
/* Of one level over the one before: small while the first plans may be near, then growing, since where nothing fits
 * there is no end to go up to. */
static const double LEVEL_STEP = 0.05, LEVEL_GROWTH = 1.5;
enum { LEVELS_SMALL = 4 };

const char *prune_reason_name(PruneReason reason) {
    static const char *const NAMES[PRUNED_COUNT] = {"require",      "indivisible", "equal",     "memory",
                                                    "degree_bound", "knob_bound",  "time_limit"};
    return NAMES[reason];
}

typedef struct {
    const Request *request;
    Arena *arena;
    TupleList tuples;
    ExploreCache *caches; /* per thread */
    int threads;
    BestPlan *best; /* the k best rows, sorted */
    int best_count;
    ExploreStats stats;
    ExploreStats **last; /* by entry: what its last opening gave; NULL: never opened */
    Certificate *certificate;
    Ledger *ledger; /* NULL: not wanted */
    bool timed_out;
    double started, floor; /* floor: the least of what was not even bounded in time; INFINITY: all was */
} Search;

/* ---- the k best ---- */

/* One row per (degrees, expert grid, schedule); with --variants per knob setting. */
static bool same_row(const Request *request, const BestPlan *a, const BestPlan *b) {
    if (request->control.variants && knobs_compare(&a->knobs, &b->knobs) != 0) return false;
    return knobs_compete(&a->knobs, &b->knobs) && degrees_compare(&a->degrees, &b->degrees) == 0;
}

static double threshold(const Search *search) {
    double wanted = search->request->control.limit_seconds > 0 ? search->request->control.limit_seconds : INFINITY;
    return search->best_count < search->request->control.top
               ? wanted
               : min_real(wanted, search->best[search->best_count - 1].ranked_seconds);
}

static void keep(Search *search, const BestPlan *row) {
    int at = 0;
    /* A layout may take longer than its relaxation, which was within the limit; the best plan up there is another's. */
    if (search->request->control.limit_seconds > 0 && row->ranked_seconds > search->request->control.limit_seconds)
        return;
    for (int i = 0; i < search->best_count; i++) {
        if (!same_row(search->request, &search->best[i], row)) continue;
        if (best_plan_compare(&search->best[i], row) <= 0) return;
        memmove(&search->best[i], &search->best[i + 1], (size_t)(search->best_count - 1 - i) * sizeof(BestPlan));
        search->best_count--;
        break;
    }
    while (at < search->best_count && best_plan_compare(&search->best[at], row) < 0) at++;
    if (at >= search->request->control.top) return;
    if (search->best_count == search->request->control.top) search->best_count--;
    memmove(&search->best[at + 1], &search->best[at], (size_t)(search->best_count - at) * sizeof(BestPlan));
    search->best[at] = *row;
    search->best_count++;
}

static void merge_stats(ExploreStats *to, const ExploreStats *from) {
    to->evaluated += from->evaluated;
    to->layouts_solved += from->layouts_solved;
    for (int i = 0; i < PRUNED_COUNT; i++) to->pruned[i] += from->pruned[i];
    to->least_cut_bound = min_real(to->least_cut_bound, from->least_cut_bound);
    to->least_open_bound = min_real(to->least_open_bound, from->least_open_bound);
    if (from->least_missing < to->least_missing) {
        to->least_missing = from->least_missing;
        to->missing_degrees = from->missing_degrees;
        to->missing_knobs = from->missing_knobs;
    }
}

/* ---- the walk ---- */

typedef struct {
    BestPlanList list;
    ExploreStats stats;
    Error error;
    bool ok;
} Opening;

/* Whether nothing of an entry's batches can be within the limit and fit; then it is counted. */
static bool tuple_batches_are_cut(Search *search, const TupleBatches *entry, double limit, ExploreCache *cache,
                                  ExploreStats *stats) {
    const TupleList *tuples = &search->tuples;
    const Degrees *degrees = &tuples->groups[entry->group].degrees[entry->tuple];
    double bound, missing;
    if (search->request->control.brute_force) return false;
    ExploreProblem problem =
        tuple_list_problem(tuples, entry->group, tuple_batches_sequences(tuples, entry, entry->last));
    if (!tuple_range_is_cut(&problem, degrees, limit, cache, &bound, &missing)) return false;
    stats->pruned[bound < INFINITY     ? PRUNED_DEGREE_BOUND
                  : missing < INFINITY ? PRUNED_MEMORY
                                       : PRUNED_INDIVISIBLE] += tuple_batches_plans(tuples, entry);
    stats->threshold = limit;
    explore_note_cut(stats, bound);
    if (missing < stats->least_missing) {
        stats->least_missing = missing;
        stats->missing_degrees = *degrees;
        stats->missing_knobs = (Knobs){0};
    }
    return true;
}

/* An entry's batches, in halves where there are many, the largest first: what the bounds of a part leave. Where one plan
 * is wanted, the best of a batch is the limit of the next. */
static bool explore_entry(Search *search, TupleBatches entry, double *limit, ExploreCache *cache, Opening *outcome) {
    const TupleList *tuples = &search->tuples;
    ExploreStats *stats = &outcome->stats;
    if (entry.first < entry.last) {
        entry.bound = tuple_batches_bound(tuples, &entry, cache->sums);
        if (entry.bound > *limit * CUT && !search->request->control.brute_force) {
            stats->pruned[PRUNED_DEGREE_BOUND] += tuple_batches_plans(tuples, &entry);
            stats->threshold = *limit;
            explore_note_cut(stats, entry.bound);
            return true;
        }
        if (tuple_batches_are_cut(search, &entry, *limit, cache, stats)) return true;
        TupleBatches low = entry, high = entry;
        low.last = entry.first + (entry.last - entry.first) / 2;
        high.first = low.last + 1;
        return explore_entry(search, high, limit, cache, outcome) && explore_entry(search, low, limit, cache, outcome);
    }
    ExploreProblem problem =
        tuple_list_problem(tuples, entry.group, tuple_batches_sequences(tuples, &entry, entry.first));
    return explore_orders(&problem, &tuples->groups[entry.group].degrees[entry.tuple], limit, cache, &outcome->list,
                          stats, &outcome->error);
}

/* What an opening gave: its rows, and the bound of what it left. */
static bool settle(Search *search, int64_t index, Opening *outcome, Error *error) {
    TupleBatches *entry = &search->tuples.entries[index];
    if (!outcome->ok) *error = outcome->error;
    if (outcome->ok && !search->last[index]) {
        search->last[index] = malloc(sizeof(ExploreStats));
        search->certificate->degree_tuples_opened += search->tuples.groups[entry->group].shape_count;
        if (!search->last[index]) outcome->ok = error_memory(error);
        if (outcome->ok) search->last[index]->best_seconds = INFINITY;
    }
    if (outcome->ok) {
        double best = search->last[index]->best_seconds;
        entry->bound = max_real(entry->bound, outcome->stats.least_above_threshold);
        for (int64_t row = 0; row < outcome->list.count; row++) {
            best = min_real(best, outcome->list.rows[row].ranked_seconds);
            keep(search, &outcome->list.rows[row]);
        }
        *search->last[index] = outcome->stats;
        search->last[index]->best_seconds = best;
    }
    free(outcome->list.rows);
    return outcome->ok;
}

/* Opens entries order[from .. to - 1]. */
static bool run_block(Search *search, const BoundedIndex *order, int64_t from, int64_t to, double level,
                      Opening *outcomes, Error *error) {
    double limit = min_real(level, threshold(search));
#pragma omp parallel for schedule(dynamic, 1) num_threads(search->threads)
    for (int64_t i = from; i < to; i++) {
        const TupleBatches *entry = &search->tuples.entries[order[i].index];
        Opening *outcome = &outcomes[i - from];
        double own = limit;
        memset(outcome, 0, sizeof(*outcome));
        outcome->stats = explore_stats_new(limit);
        outcome->ok = explore_entry(search, *entry, &own, &search->caches[omp_get_thread_num()], outcome);
    }
    bool ok = true;
    for (int64_t i = from; i < to; i++) {
        Opening *outcome = &outcomes[i - from];
        if (ok)
            ok = settle(search, order[i].index, outcome, error);
        else
            free(outcome->list.rows);
    }
    return ok;
}

static bool out_of_time(Search *search) {
    double limit = search->request->control.time_limit_seconds;
    double left =
        limit - min_real(limit / 2, tuple_list_seconds_to_leave(&search->tuples)); /* the rest is counted too */
    search->timed_out = search->timed_out || (limit > 0 && clock_seconds() - search->started > left);
    return search->timed_out;
}

/* Whether nothing in a tuple with this bound can be among the best. */
static bool beaten(const Search *search, double bound) {
    return bound > threshold(search) * CUT && !search->request->control.brute_force;
}

/* Opens the entries in `order`, all of which reach up to the level, as long as they are not beaten. */
static bool run_level(Search *search, const BoundedIndex *order, int64_t count, double level, Opening *outcomes,
                      Error *error) {
    int64_t block = 1, blocks = 0;
    for (int64_t at = 0; at < count;) {
        if (beaten(search, order[at].bound) || out_of_time(search)) return true;
        /* Where the level is what limits, another block before it would tighten little. */
        if (level <= threshold(search)) block = max_whole(block, min_whole(BLOCK_MOST, count / 16));
        int64_t to = min_whole(count, at + block);
        if (!run_block(search, order, at, to, level, outcomes, error)) return false;
        at = to;
        if (++blocks % 2 == 0) block = min_whole(BLOCK_MOST, 2 * block);
    }
    return true;
}

/* Entries with a bound up to the level, by rising bound; infinity: nothing is left of an entry. */
static int64_t entries_within(const Search *search, double level, BoundedIndex *order) {
    int64_t count = 0;
    bool brute = search->request->control.brute_force;
    for (int64_t i = 0; i < search->tuples.entry_count; i++) {
        double bound = search->tuples.entries[i].bound;
        if (brute || (bound <= level && bound < INFINITY)) order[count++] = (BoundedIndex){bound, i};
    }
    qsort(order, (size_t)count, sizeof(BoundedIndex), bounded_index_compare);
    return count;
}

static double least_bound(const Search *search) {
    double least = INFINITY;
    for (int64_t i = 0; i < search->tuples.entry_count; i++) least = min_real(least, search->tuples.entries[i].bound);
    return least;
}

/* What the last openings gave, and what was never opened or, when time ran out, not to the end. */
static bool count_entries(Search *search, Error *error) {
    const TupleList *tuples = &search->tuples;
    for (int64_t i = 0; i < tuples->entry_count; i++) {
        ExploreStats *last = search->last[i];
        double bound = tuples->entries[i].bound;
        bool open = search->timed_out && !beaten(search, bound);
        if (!last) {
            search->stats.pruned[open ? PRUNED_TIME_LIMIT : PRUNED_DEGREE_BOUND] +=
                tuple_batches_plans(tuples, &tuples->entries[i]);
            search->stats.least_cut_bound = min_real(search->stats.least_cut_bound, bound);
            certificate_note(search->certificate, tuples, &tuples->entries[i], NULL);
            continue;
        }
        for (int reason = PRUNED_DEGREE_BOUND; open && reason <= PRUNED_KNOB_BOUND; reason++) {
            last->pruned[PRUNED_TIME_LIMIT] += last->pruned[reason];
            last->pruned[reason] = 0;
        }
        merge_stats(&search->stats, last);
        certificate_note(search->certificate, tuples, &tuples->entries[i], last);
        if (search->ledger && !ledger_add(search->ledger, tuples, &tuples->entries[i], last))
            return error_memory(error);
    }
    return true;
}

static bool walk(Search *search, Error *error) {
    size_t count = (size_t)search->tuples.entry_count;
    Opening *outcomes = calloc(BLOCK_MOST, sizeof(Opening));
    BoundedIndex *order = calloc(count + 1, sizeof(BoundedIndex));
    search->last = calloc(count + 1, sizeof(ExploreStats *));
    bool ok = (outcomes && order && search->last) || error_memory(error);
    bool brute = search->request->control.brute_force, done = count == 0;
    double level = 0, step = LEVEL_STEP;
    for (int levels = 0; ok && !done && !out_of_time(search); levels++) {
        double least = least_bound(search);
        if (isinf(least) || beaten(search, least)) break;
        /* Where the best are known, of other machines or orders, there is nothing to go up for. */
        bool known = brute || search->best_count == search->request->control.top;
        if (levels == 0) done = known;
        level = done ? INFINITY : (1 + step) * max_real(level, least);
        if (levels >= LEVELS_SMALL) step *= LEVEL_GROWTH;
        ok = run_level(search, order, entries_within(search, level, order), level, outcomes, error);
    }
    ok = ok && count_entries(search, error);
    for (size_t i = 0; search->last && i < count; i++) free(search->last[i]);
    free(search->last);
    free(order);
    free(outcomes);
    return ok;
}

/* ---- the answer ---- */

static Count equal_placements(const Search *search, const ExploreProblem *problem, const BestPlan *row,
                              const Estimate *estimate, Error *error) {
    Arena arena = {0};
    Placement *placements;
    int64_t count;
    Count equal = 0;
    if (placements_enumerate(&search->tuples.shapes[row->machine].mesh, &row->degrees, &arena, &placements, &count,
                             error))
        for (int64_t i = 0; i < count; i++) {
            Rates rates;
            rates_of_placement(problem->nested_meshes, &placements[i], &row->knobs.methods, &rates);
            if (step_seconds(&estimate->rule, &estimate->resources, &rates) == estimate->time.seconds) equal++;
        }
    arena_free(&arena);
    return equal;
}

/* Who launches the plan: of those that take its degrees and knobs, who can place it so. */
static void fill_launch(const ExploreProblem *problem, RankedPlan *out) {
    LauncherSet able_launchers =
        plan_launchers(problem->setting.model, &out->work, &out->plan, out->padding, &out->machine.mesh);
    for (Launcher launcher = 0; launcher < LAUNCHER_COUNT; launcher++) {
        if (!(able_launchers >> launcher & 1)) continue;
        LaunchAnswer answer = launch_answer(launcher, problem->nested_meshes, problem->setting.chip->name, &out->plan,
                                            &out->estimate.rule, &out->estimate.resources);
        out->launch[out->launch_count++] = answer;
        if (answer.kind != LAUNCH_IMPOSSIBLE) out->launchable_by |= 1u << launcher;
    }
}

static bool rank(Search *search, const BestPlan *row, RankedPlan *out, Error *error) {
    const Request *request = search->request;
    ExploreProblem problem = tuple_list_problem_of_shape(&search->tuples, row->machine, row->sequences);
    memset(out, 0, sizeof(*out));
    out->plan =
        (Plan){.degrees = row->degrees, .knobs = row->knobs, .placement = row->placement, .layout = row->layout};
    NestedMesh nested_mesh = problem.nested_meshes[0];
    out->nesting = nested_mesh.nesting = row->nesting;
    problem.nested_meshes = &nested_mesh;
    out->machine = search->tuples.shapes[row->machine].machine;
    out->work = problem.setting.work;
    out->ranked_seconds = row->ranked_seconds;
    if (!estimate_plan(&problem.setting, &out->machine.mesh, &out->nesting, &out->plan, request->space.padding,
                       &out->estimate, error))
        return false;
    out->padding = out->estimate.padding;
    fill_launch(&problem, out);
    out->equal_placements = equal_placements(search, &problem, row, &out->estimate, error);
    out->tied = row->ranked_seconds <= search->best[0].ranked_seconds * 1.005;
    return explore_count_within(&problem, row, 1.01 * row->ranked_seconds, &search->caches[0], &out->within_one_percent,
                                error);
}

static void fill_shortfall(const Search *search, Shortfall *out) {
    const Request *request = search->request;
    if (!(search->stats.least_missing < INFINITY)) return;
    out->known = true;
    out->limit_bytes = request_cost_context(request).chip->hbm_bytes.value * (1 - request->question.hbm_reserve);
    out->needed_bytes = out->limit_bytes + search->stats.least_missing;
    out->plan.degrees = search->stats.missing_degrees;
    out->plan.knobs = search->stats.missing_knobs;
    if (out->plan.knobs.microbatches == 0) return;
    CostContext setting = request_cost_context(request);
    Shard shard;
    PaddingSet padding;
    if (!shard_of_plan(setting.model, &setting.work, &out->plan.degrees, &out->plan.knobs, PADDING_ANY, &shard,
                       &padding))
        return;
    Sharding shardings[SHARDINGS_MAX];
    shardings_of(&setting, &shard, shardings);
    out->plan.layout.sharding = shardings[0];
    double most = -1;
    for (int moment = 0; moment < MOMENT_COUNT; moment++) {
        MemoryRows rows;
        memory_rows(&setting, &shard, &out->plan.knobs, &shardings[0], (Moment)moment, 0, &rows);
        if (memory_total(&rows) > most) {
            most = memory_total(&rows);
            out->memory = rows;
        }
    }
}

static bool answer(Search *search, SearchResult *result, Error *error) {
    Certificate *certificate = search->certificate;
    certificate->plans_evaluated = search->stats.evaluated;
    certificate->layouts_solved = search->stats.layouts_solved;
    for (int i = 0; i < PRUNED_COUNT; i++) certificate->plans_pruned[i] = search->stats.pruned[i];
    certificate->best_bound_seconds = search->stats.least_cut_bound < INFINITY ? search->stats.least_cut_bound : 0;
    double last = threshold(search);
    /* A layout that is not proven matters when it could be better than the k-th best. */
    bool open = search->stats.least_open_bound < last * (1 - LAYOUT_TOLERANCE);
    if (open) certificate->best_bound_seconds = min_real(search->stats.least_cut_bound, search->stats.least_open_bound);
    certificate->proof = search->timed_out || open ? PROOF_GAP : PROOF_OPTIMAL;
    if (certificate->proof == PROOF_GAP) {
        certificate->gap = last < INFINITY ? max_real(0, (last - certificate->best_bound_seconds) / last) : 1;
    }
    result->plans = ARENA_NEW(search->arena, RankedPlan, (size_t)search->best_count);
    if (!result->plans) return error_memory(error);
    for (int i = 0; i < search->best_count; i++)
        if (!rank(search, &search->best[i], &result->plans[result->plan_count++], error)) return false;
    if (search->best_count == 0 && !search->timed_out) fill_shortfall(search, &result->shortfall);
    return true;
}

static bool caches_new(Search *search, Error *error) {
    search->caches = ARENA_NEW(search->arena, ExploreCache, (size_t)search->threads);
    if (!search->caches) return error_memory(error);
    for (int i = 0; i < search->threads; i++)
        if (!explore_cache_new(&search->caches[i], error)) return false;
    return true;
}

static void caches_free(Search *search) {
    for (int i = 0; search->caches && i < search->threads; i++) explore_cache_free(&search->caches[i]);
}

/* What the share laid out leaves to nobody. */
static bool take_coverage(Search *search, Error *error) {
    const Coverage *coverage = &search->tuples.coverage;
    Certificate *certificate = search->certificate;
    ExploreStats stats = explore_stats_new(INFINITY);
    if (!count_add(certificate->plans_covered, coverage->plans, &certificate->plans_covered))
        return error_set(error, ERROR_INPUT, "search", "the space has more than 2^128 plans");
    certificate->batches = (int)max_whole(certificate->batches, min_whole(coverage->batches, INT32_MAX));
    stats.least_cut_bound = coverage->least_floor;
    stats.least_missing = coverage->least_missing;
    stats.missing_degrees = coverage->missing_degrees;
    memcpy(stats.pruned, coverage->pruned, sizeof(stats.pruned));
    merge_stats(&search->stats, &stats);
    search->floor = min_real(search->floor, coverage->least_floor);
    search->timed_out = search->timed_out || coverage->pruned[PRUNED_TIME_LIMIT] > 0;
    return true;
}

/* Lays the space out and searches it, in shares where it is large; of the time left each takes half to be laid out. What
 * a ledger is kept of is bounded whatever the time: its lines say so of every tuple. */
static bool search_space(Search *search, Error *error) {
    const Request *request = search->request;
    Certificate *certificate = search->certificate;
    TupleList *tuples = &search->tuples;
    bool limited = request->control.time_limit_seconds > 0 && !search->ledger;
    if (!factorization_count(&request->question.machine.mesh, request->space.roles, &certificate->factorizations))
        return error_set(error, ERROR_INPUT, "search", "the machine has more than 2^128 factorizations");
    if (!tuple_list_make(request, search->threads, search->arena, tuples, error)) return false;
    certificate->machines = tuples->shape_count;
    for (int i = 0; i < tuples->group_count; i++)
        certificate->degree_tuples += tuples->groups[i].tuples * tuples->groups[i].shape_count;
    search->stats = explore_stats_new(INFINITY);
    search->floor = INFINITY;
    certificate_open(certificate, INFINITY);
    while (tuples->listed_groups < tuples->group_count) {
        double over = limited ? search->started + request->control.time_limit_seconds : 0;
        double until = limited ? (clock_seconds() + over) / 2 : 0;
        if (limited && out_of_time(search)) return tuple_list_leave(tuples, error) && take_coverage(search, error);
        if (!tuple_list_next(tuples, search->caches, until, over, error) || !take_coverage(search, error) ||
            !walk(search, error))
            return false;
    }
    return true;
}

/* What was searched, and what it comes to: into the certificate, and into the ledger where one is wanted. */
static bool close_certificate(Search *search, SearchResult *result, Error *error) {
    search->certificate->threshold = threshold(search);
    certificate_note_floor(search->certificate, search->floor);
    if (search->ledger) {
        search->ledger->timed_out = search->timed_out;
        search->ledger->beaten = search->request->control.brute_force ? INFINITY : threshold(search) * CUT;
    }
    result->ledger = search->ledger;
    return certificate_machines(&search->tuples, search->arena, &result->machines, error);
}

/* The best in the canonical order, for what all orders are compared with; most of them are not among the best. */
static bool search_one_order(Search *search, Error *error) {
    Arena arena = {0};
    Request request = *search->request;
    Certificate certificate = {0};
    Search first = {.request = &request,
                    .arena = &arena,
                    .caches = search->caches,
                    .threads = search->threads,
                    .best = search->best,
                    .certificate = &certificate,
                    .started = search->started};
    request.space.nesting_all = false;
    bool ok = search_space(&first, error);
    search->best_count = first.best_count;
    tuple_list_free(&first.tuples);
    arena_free(&arena);
    return ok;
}

bool search_run(const Request *request, Arena *arena, SearchResult *result, Error *error) {
    memset(result, 0, sizeof(*result));
    Search search = {
        .request = request, .arena = arena, .certificate = &result->certificate, .started = clock_seconds()};
    search.threads = request->control.threads > 0 ? request->control.threads : omp_get_max_threads();
    search.best = ARENA_NEW(arena, BestPlan, (size_t)request->control.top + 1);
    bool ok = (search.best || error_memory(error)) && caches_new(&search, error);
    ok = ok && (!request->space.nesting_all || request->control.brute_force || search_one_order(&search, error));
    if (ok && request->control.keep_ledger) search.ledger = ledger_new(arena);
    ok = ok && (!request->control.keep_ledger || search.ledger || error_memory(error));
    ok = ok && search_space(&search, error) && close_certificate(&search, result, error);
    ok = ok && answer(&search, result, error);
    caches_free(&search);
    tuple_list_free(&search.tuples);
    result->seconds = clock_seconds() - search.started;
    return ok;
}
