/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Best first over (machine, batch, degrees): bounds of all are taken, then tuples are opened in rising order of bound, in blocks against the threshold
 * of the block's start, so that counts are the same for any number of threads; blocks grow, so that early ones tighten it. */
#include "search/search.h"

#include "base/util.h"
#include "search/explore.h"
#include "search/space.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BLOCK_MOST = 16, TUPLES_MOST = 4000000 };

const char *prune_reason_name(PruneReason reason) {
    static const char *const NAMES[PRUNED_COUNT] = {"require", "indivisible", "memory", "degree_bound", "knob_bound", "time_limit"};
    return NAMES[reason];
}

/* One machine of the space. */
typedef struct {
    Machine machine;
    Mesh mesh; /* the profile's rates */
    Degrees *degrees;
    int64_t count;
    PlacementTable *table;
    LeastRates *least;
} Site;

/* One degree tuple on one machine with one batch. */
typedef struct {
    double bound; /* ranked */
    int64_t sequences;
    int32_t site, tuple;
} Entry;

typedef struct {
    const Request *request;
    Arena *arena;
    Site *sites;
    int site_count;
    Entry *entries;
    int64_t entry_count;
    ExploreCache *caches; /* per thread */
    int threads;
    Row *best;  /* the k best rows, sorted */
    int best_count;
    ExploreStats stats;
    Certificate *certificate;
    bool timed_out;
    double started;
} Search;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* What plans are ordered by: time per requested token; chips that are allocated stay allocated, so chip-hours and cost order machines of one request alike. */
static double scale_of(const Request *request, int64_t sequences) {
    return (double)request->work.sequences / (double)sequences;
}

static ExploreProblem problem_of(const Search *search, int site, int64_t sequences) {
    ExploreProblem problem = {.request = search->request,
                              .setting = request_setting(search->request),
                              .mesh = &search->sites[site].mesh,
                              .catalog_mesh = &search->sites[site].machine.mesh,
                              .least = search->sites[site].least,
                              .table = search->sites[site].table,
                              .machine = site,
                              .scale = scale_of(search->request, sequences)};
    problem.setting.work.sequences = sequences;
    return problem;
}

/* ---- the space ---- */

static bool add_site(Search *search, const Machine *machine, Error *error) {
    Site *site = &search->sites[search->site_count];
    *site = (Site){.machine = *machine, .mesh = profile_mesh(&search->request->profile, &machine->mesh)};
    if (!degrees_enumerate(&site->mesh, search->request->roles, TUPLES_MOST, search->arena, &site->degrees, &site->count, error)) {
        if (error && error->kind == ERROR_INPUT)
            error_set(error, ERROR_INPUT, search->request->machine_argument, "%s has more than %d ways to give degrees to roles; ask for fewer chips",
                      machine->text, TUPLES_MOST);
        return false;
    }
    site->table = placement_table(&site->mesh, search->request->roles, search->arena);
    site->least = least_rates_new(&site->mesh, search->arena);
    if (!site->table || !site->least) return error_memory(error);
    search->site_count++;
    return true;
}

static int64_t girth(const Machine *machine) { return machine->slice.size[0] + machine->slice.size[1] + machine->slice.size[2]; }

/* Among shapes of as many chips and slices the most cubic first: where two are as fast, that one is meant. */
static void cubic_first(Machine *machines, int count) {
    for (int i = 1; i < count; i++)
        for (int j = i; j > 0; j--) {
            Machine *a = &machines[j - 1], *b = &machines[j], swap = *a;
            if (a->mesh.chips != b->mesh.chips || a->slices != b->slices || girth(a) <= girth(b)) break;
            *a = *b, *b = swap;
        }
}

static bool make_sites(Search *search, Error *error) {
    const Request *request = search->request;
    Machine *idle = NULL;
    int idle_count = 0;
    if (request->max_idle > 0 &&
        !machine_idle_shapes(&request->chip, &request->machine, request->max_idle, search->arena, &idle, &idle_count, error))
        return false;
    cubic_first(idle, idle_count);
    search->sites = ARENA_NEW(search->arena, Site, (size_t)idle_count + 1);
    if (!search->sites) return error_memory(error);
    if (!add_site(search, &request->machine, error)) return false;
    for (int i = 0; i < idle_count; i++)
        if (!add_site(search, &idle[i], error)) return false;
    return true;
}

/* The batches a tuple may train with: the asked one, and within the tolerance those that its replicas divide. Calls back in rising order, asked first. */
static int64_t batches_of(const Request *request, const Degrees *degrees, int64_t index) {
    if (index == 0) return request->work.sequences;
    int64_t replicas = degrees->of[ROLE_DATA] * degrees->of[ROLE_FSDP] * degrees->of[ROLE_EXPERT];
    double asked = (double)request->work.sequences;
    int64_t low = (int64_t)ceil(asked * (1 - request->batch_tolerance) - 1e-9), high = (int64_t)floor(asked * (1 + request->batch_tolerance) + 1e-9);
    int64_t first = max_whole(1, divide_up(max_whole(low, 1), replicas)) * replicas, batch = first + (index - 1) * replicas;
    if (request->batch_tolerance <= 0 || batch > high) return 0;
    if (request->work.sequences % replicas == 0 && batch >= request->work.sequences) batch += replicas; /* the asked one is there */
    return batch > high ? 0 : batch;
}

/* What one thread finds while it bounds tuples. */
typedef struct {
    Entry *entries;
    int64_t count, room;
    Count covered, pruned[PRUNED_COUNT];
    double least_missing;
    Degrees missing_degrees;
    int batches;
    bool no_memory, too_many;
} Bounded;

static bool entry_add(Bounded *bounded, Entry entry) {
    if (bounded->count == bounded->room) {
        int64_t room = bounded->room ? 2 * bounded->room : 4096;
        Entry *grown = realloc(bounded->entries, (size_t)room * sizeof(Entry));
        if (!grown) return false;
        bounded->entries = grown;
        bounded->room = room;
    }
    bounded->entries[bounded->count++] = entry;
    return true;
}

static void note_too_large(Bounded *out, const Degrees *degrees, double missing) {
    if (missing > out->least_missing || (missing == out->least_missing && degrees_compare(degrees, &out->missing_degrees) > 0)) return;
    out->least_missing = missing;
    out->missing_degrees = *degrees;
}

/* One degree tuple with every batch it may have: its entry, or the reason why no plan of it is in question. */
static void bound_tuple(const Search *search, int index, int64_t tuple, LeastSums *cache, Bounded *out) {
    const Request *request = search->request;
    const Site *site = &search->sites[index];
    const Degrees *degrees = &site->degrees[tuple];
    Count placements = placement_count(site->table, degrees);
    bool admitted = request_admits(request, degrees);
    double limit = request->chip.hbm_bytes.value * (1 - request->hbm_reserve);
    int64_t sequences;
    for (int64_t batch = 0; (sequences = batches_of(request, degrees, batch)) != 0; batch++) {
        Count plans;
        if (!count_multiply(placements, (Count)knob_count(&request->model, degrees, sequences), &plans) ||
            !count_add(out->covered, plans, &out->covered)) {
            out->too_many = true;
            return;
        }
        if (out->batches < batch + 1) out->batches = (int)(batch + 1);
        if (!admitted) {
            out->pruned[PRUNED_REQUIRE] += plans;
            continue;
        }
        ExploreProblem problem = problem_of(search, index, sequences);
        TupleBound bound = tuple_bound(&problem.setting, request->padding, problem.least, cache, degrees);
        if (bound.forbidden || bound.unusable) {
            out->pruned[PRUNED_INDIVISIBLE] += plans;
        } else if (bound.too_large) {
            out->pruned[PRUNED_MEMORY] += plans;
            note_too_large(out, degrees, bound.least_bytes - limit);
        } else if (!entry_add(out, (Entry){bound.seconds * problem.scale, sequences, index, (int32_t)tuple})) {
            out->no_memory = true;
        }
    }
}

static bool merge_bounded(Search *search, Bounded *from, Error *error) {
    if (from->no_memory) return error_memory(error);
    if (from->too_many || !count_add(search->certificate->plans_covered, from->covered, &search->certificate->plans_covered))
        return error_set(error, ERROR_INPUT, "search", "the space has more than 2^128 plans");
    for (int i = 0; i < PRUNED_COUNT; i++) search->stats.pruned[i] += from->pruned[i];
    bool nearer = from->least_missing < search->stats.least_missing ||
                  (from->least_missing == search->stats.least_missing && from->least_missing < INFINITY &&
                   degrees_compare(&from->missing_degrees, &search->stats.missing_degrees) < 0);
    if (nearer) {
        search->stats.least_missing = from->least_missing;
        search->stats.missing_degrees = from->missing_degrees;
        search->stats.missing_knobs = (Knobs){.microbatches = 0};
    }
    if (search->certificate->batches < from->batches) search->certificate->batches = from->batches;
    if (from->count == 0) return true;
    Entry *grown = realloc(search->entries, (size_t)(search->entry_count + from->count) * sizeof(Entry));
    if (!grown) return error_memory(error);
    search->entries = grown;
    memcpy(search->entries + search->entry_count, from->entries, (size_t)from->count * sizeof(Entry));
    search->entry_count += from->count;
    return true;
}

static bool bound_sites(Search *search, Error *error) {
    Bounded *bounded = calloc((size_t)search->threads, sizeof(Bounded));
    if (!bounded) return error_memory(error);
    for (int i = 0; i < search->threads; i++) bounded[i].least_missing = INFINITY;
#pragma omp parallel num_threads(search->threads)
    for (int site = 0; site < search->site_count; site++) {
        int thread = omp_get_thread_num();
#pragma omp for schedule(dynamic, 512) nowait
        for (int64_t i = 0; i < search->sites[site].count; i++)
            bound_tuple(search, site, i, search->caches[thread].sums, &bounded[thread]);
    }
    bool ok = true;
    for (int i = 0; i < search->threads; i++) {
        ok = ok && merge_bounded(search, &bounded[i], error);
        free(bounded[i].entries);
    }
    free(bounded);
    for (int i = 0; i < search->site_count; i++) search->certificate->degree_tuples += search->sites[i].count;
    return ok;
}

static int by_bound(const void *a, const void *b) {
    const Entry *x = a, *y = b;
    if (x->bound != y->bound) return x->bound < y->bound ? -1 : 1;
    if (x->site != y->site) return x->site < y->site ? -1 : 1;
    if (x->tuple != y->tuple) return x->tuple < y->tuple ? -1 : 1;
    return (x->sequences > y->sequences) - (x->sequences < y->sequences);
}

/* ---- the k best ---- */

/* One row per (degrees, schedule); with --variants per knob setting. */
static bool same_row(const Request *request, const Row *a, const Row *b) {
    if (request->variants && knobs_compare(&a->knobs, &b->knobs) != 0) return false;
    return a->knobs.schedule == b->knobs.schedule && degrees_compare(&a->degrees, &b->degrees) == 0;
}

static double threshold(const Search *search) {
    double wanted = search->request->limit_seconds > 0 ? search->request->limit_seconds : INFINITY;
    return search->best_count < search->request->top ? wanted : min_real(wanted, search->best[search->best_count - 1].ranked_seconds);
}

static void keep(Search *search, const Row *row) {
    int at = 0;
    for (int i = 0; i < search->best_count; i++) {
        if (!same_row(search->request, &search->best[i], row)) continue;
        if (row_compare(&search->best[i], row) <= 0) return;
        memmove(&search->best[i], &search->best[i + 1], (size_t)(search->best_count - 1 - i) * sizeof(Row));
        search->best_count--;
        break;
    }
    while (at < search->best_count && row_compare(&search->best[at], row) < 0) at++;
    if (at >= search->request->top) return;
    if (search->best_count == search->request->top) search->best_count--;
    memmove(&search->best[at + 1], &search->best[at], (size_t)(search->best_count - at) * sizeof(Row));
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
    RowList list;
    ExploreStats stats;
    Error error;
    bool ok;
} Outcome;

static bool run_block(Search *search, int64_t from, int64_t to, Outcome *outcomes, Error *error) {
    double limit = threshold(search);
#pragma omp parallel for schedule(dynamic, 1) num_threads(search->threads)
    for (int64_t i = from; i < to; i++) {
        const Entry *entry = &search->entries[i];
        Outcome *outcome = &outcomes[i - from];
        memset(outcome, 0, sizeof(*outcome));
        outcome->stats.least_cut_bound = outcome->stats.least_open_bound = outcome->stats.least_missing = INFINITY;
        ExploreProblem problem = problem_of(search, entry->site, entry->sequences);
        outcome->ok = explore_tuple(&problem, &search->sites[entry->site].degrees[entry->tuple], limit, &search->caches[omp_get_thread_num()],
                                    &outcome->list, &outcome->stats, &outcome->error);
    }
    bool ok = true;
    for (int64_t i = from; i < to; i++) {
        Outcome *outcome = &outcomes[i - from];
        if (ok && !outcome->ok) *error = outcome->error;
        ok = ok && outcome->ok;
        merge_stats(&search->stats, &outcome->stats);
        for (int64_t row = 0; ok && row < outcome->list.count; row++) keep(search, &outcome->list.rows[row]);
        free(outcome->list.rows);
    }
    search->certificate->degree_tuples_opened += to - from;
    return ok;
}

static Count entry_plans(const Search *search, const Entry *entry) {
    const Site *site = &search->sites[entry->site];
    const Degrees *degrees = &site->degrees[entry->tuple];
    return placement_count(site->table, degrees) * (Count)knob_count(&search->request->model, degrees, entry->sequences);
}

static bool walk(Search *search, Error *error) {
    Outcome *outcomes = calloc(BLOCK_MOST, sizeof(Outcome));
    if (!outcomes) return error_memory(error);
    int64_t at = 0, block = 1, blocks = 0;
    bool ok = true;
    while (ok && at < search->entry_count) {
        bool cut = search->entries[at].bound > threshold(search) * (1 + 1e-12) && !search->request->brute_force;
        if (cut) break;
        if (search->request->time_limit_seconds > 0 && now() - search->started > search->request->time_limit_seconds) {
            search->timed_out = true;
            break;
        }
        int64_t to = min_whole(search->entry_count, at + block);
        ok = run_block(search, at, to, outcomes, error);
        at = to;
        if (++blocks % 2 == 0) block = min_whole(BLOCK_MOST, 2 * block);
    }
    if (ok && at < search->entry_count) search->stats.least_cut_bound = min_real(search->stats.least_cut_bound, search->entries[at].bound);
    for (int64_t i = at; ok && i < search->entry_count; i++) search->stats.pruned[search->timed_out ? PRUNED_TIME_LIMIT : PRUNED_DEGREE_BOUND] += entry_plans(search, &search->entries[i]);
    free(outcomes);
    return ok;
}

/* ---- the answer ---- */

static Count equal_placements(const Search *search, const ExploreProblem *problem, const Row *row, const Estimate *estimate, Error *error) {
    Arena arena = {0};
    Placement *placements;
    int64_t count;
    Count equal = 0;
    if (placements_enumerate(&search->sites[row->machine].mesh, &row->degrees, &arena, &placements, &count, error))
        for (int64_t i = 0; i < count; i++) {
            Rates rates;
            rates_of_placement(problem->mesh, &placements[i], row->knobs.context, &rates);
            if (step_seconds(&estimate->rule, &estimate->resources, &rates) == estimate->time.seconds) equal++;
        }
    arena_free(&arena);
    return equal;
}

static bool rank(Search *search, const Row *row, RankedPlan *out, Error *error) {
    const Request *request = search->request;
    ExploreProblem problem = problem_of(search, row->machine, row->sequences);
    memset(out, 0, sizeof(*out));
    out->plan = (Plan){.degrees = row->degrees, .knobs = row->knobs, .placement = row->placement, .layout = row->layout};
    out->machine = search->sites[row->machine].machine;
    out->work = problem.setting.work;
    out->ranked_seconds = row->ranked_seconds;
    if (!estimate_plan(&problem.setting, &out->machine.mesh, &out->plan, request->padding, &out->estimate, error)) return false;
    out->padding = out->estimate.padding;
    out->launchable_by = plan_launchers(&request->model, &out->work, &out->plan, out->padding, &out->machine.mesh);
    out->equal_placements = equal_placements(search, &problem, row, &out->estimate, error);
    out->tied = row->ranked_seconds <= search->best[0].ranked_seconds * 1.005;
    return explore_count_within(&problem, row, 1.01 * row->ranked_seconds, &search->caches[0], &out->within_one_percent, error);
}

static void fill_shortfall(const Search *search, Shortfall *out) {
    const Request *request = search->request;
    if (!(search->stats.least_missing < INFINITY)) return;
    out->known = true;
    out->limit_bytes = request->chip.hbm_bytes.value * (1 - request->hbm_reserve);
    out->needed_bytes = out->limit_bytes + search->stats.least_missing;
    out->plan.degrees = search->stats.missing_degrees;
    out->plan.knobs = search->stats.missing_knobs;
    if (out->plan.knobs.microbatches == 0) return;
    Setting setting = request_setting(request);
    Shard shard;
    PaddingSet padding;
    if (!shard_of_plan(setting.model, &setting.work, &out->plan.degrees, &out->plan.knobs, PADDING_ANY, &shard, &padding)) return;
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
    certificate->machines = search->site_count;
    certificate->plans_evaluated = search->stats.evaluated;
    certificate->layouts_solved = search->stats.layouts_solved;
    for (int i = 0; i < PRUNED_COUNT; i++) certificate->plans_pruned[i] = search->stats.pruned[i];
    certificate->best_bound_seconds = search->stats.least_cut_bound < INFINITY ? search->stats.least_cut_bound : 0;
    double last = threshold(search);
    /* A layout that is not proven matters when it could be better than the k-th best. */
    bool open = search->stats.least_open_bound < last * (1 - 1e-9);
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

bool search_run(const Request *request, Arena *arena, SearchResult *result, Error *error) {
    memset(result, 0, sizeof(*result));
    Search search = {.request = request, .arena = arena, .certificate = &result->certificate, .started = now()};
    search.stats.least_cut_bound = search.stats.least_open_bound = search.stats.least_missing = INFINITY;
    search.threads = request->threads > 0 ? request->threads : omp_get_max_threads();
    search.caches = ARENA_NEW(arena, ExploreCache, (size_t)search.threads);
    search.best = ARENA_NEW(arena, Row, (size_t)request->top + 1);
    bool ok = (search.caches && search.best) || error_memory(error);
    for (int i = 0; ok && i < search.threads; i++) {
        search.caches[i] = (ExploreCache){least_sums_new(), joint_cache_new()};
        ok = (search.caches[i].sums && search.caches[i].joint) || error_memory(error);
    }
    ok = ok && (factorization_count(&request->machine.mesh, request->roles, &result->certificate.factorizations) ||
                error_set(error, ERROR_INPUT, "search", "the machine has more than 2^128 factorizations"));
    ok = ok && make_sites(&search, error);
    ok = ok && bound_sites(&search, error);
    if (ok && search.entry_count > 0) qsort(search.entries, (size_t)search.entry_count, sizeof(Entry), by_bound);
    ok = ok && walk(&search, error) && answer(&search, result, error);
    for (int i = 0; search.caches && i < search.threads; i++) {
        least_sums_free(search.caches[i].sums);
        joint_cache_free(search.caches[i].joint);
    }
    free(search.entries);
    result->seconds = now() - search.started;
    return ok;
}
