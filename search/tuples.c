/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/tuples.h"

#include "base/util.h"
#include "search/orders.h"
#include "search/space.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { TUPLES_MOST = 4000000 };

/* Quotients by sequences in another order than the bounds of each: far above their rounding. */
static const double BATCH_SLACK = 1 - 0x1p-40;

/* What plans are ordered by: time per requested token; chips that are allocated stay allocated, so chip-hours and cost
 * order machines of one request alike. */
static double scale_of(const Request *request, int64_t sequences) {
    return (double)request->work.sequences / (double)sequences;
}

static ExploreProblem problem_on(const Tuples *tuples, const Site *site, int first, int count, int64_t sequences) {
    ExploreProblem problem = {.request = tuples->request,
                              .setting = request_setting(tuples->request),
                              .offers = site->offers,
                              .least = site->least,
                              .wirings = &tuples->wirings[first],
                              .tables = &tuples->tables[first],
                              .leasts = &tuples->leasts[first],
                              .machine_count = count,
                              .first_machine = first,
                              .catalog_mesh = &tuples->shapes[first].machine.mesh,
                              .padding = site->padding,
                              .scale = scale_of(tuples->request, sequences)};
    problem.setting.work.sequences = sequences;
    return problem;
}

ExploreProblem tuples_problem(const Tuples *tuples, int site, int64_t sequences) {
    const Site *on = &tuples->sites[site];
    return problem_on(tuples, on, on->first, on->shape_count, sequences);
}

ExploreProblem tuples_problem_of_shape(const Tuples *tuples, int shape, int64_t sequences) {
    const Site *site = tuples->sites;
    while (shape >= site->first + site->shape_count) site++;
    return problem_on(tuples, site, shape, 1, sequences);
}

/* ---- machines ---- */

/* A shape, on the site of the one before it where that has as many devices. */
static bool add_shape(Tuples *tuples, const Machine *machine, Arena *arena, Error *error) {
    const Request *request = tuples->request;
    int index = tuples->shape_count;
    Shape *shape = &tuples->shapes[index];
    *shape = (Shape){.machine = *machine, .mesh = profile_mesh(&request->profile, &machine->mesh)};
    tuples->wirings[index] = (Wiring){&shape->mesh, request->nesting};
    tuples->tables[index] = placement_table(&shape->mesh, request->roles, arena);
    LeastRates *least = least_rates_new(&shape->mesh, arena);
    tuples->leasts[index] = least;
    if (!tuples->tables[index] || !least) return error_memory(error);
    tuples->shape_count++;
    if (index > 0 && tuples->shapes[index - 1].mesh.devices == shape->mesh.devices) {
        Site *with = &tuples->sites[tuples->site_count - 1];
        if (with->shape_count++ == 1) with->least = least_rates_copy(with->least, arena);
        if (with->least) least_rates_merge(with->least, least);
        return with->least || error_memory(error);
    }
    Site *site = &tuples->sites[tuples->site_count];
    *site = (Site){.first = index,
                   .shape_count = 1,
                   .least = least,
                   .padding = padding_on(request->padding, request->launchers, &machine->mesh)};
    if (!degrees_enumerate(&shape->mesh, request->roles, TUPLES_MOST, arena, &site->degrees, &site->count, error)) {
        if (error && error->kind == ERROR_INPUT)
            error_set(error, ERROR_INPUT, request->machine_argument,
                      "%s has more than %d ways to give degrees to roles; ask for fewer chips", machine->text,
                      TUPLES_MOST);
        return false;
    }
    Setting setting = request_setting(request);
    site->offers = offers_of(&setting, &shape->mesh, request->schedules);
    tuples->site_count++;
    return true;
}

static int64_t girth(const Machine *machine) {
    return machine->slice.size[0] + machine->slice.size[1] + machine->slice.size[2];
}

/* Among shapes of as many chips and slices the most cubic first: where two are as fast, that one is meant. */
static void cubic_first(Machine *machines, int count) {
    for (int i = 1; i < count; i++)
        for (int j = i; j > 0; j--) {
            Machine *a = &machines[j - 1], *b = &machines[j], swap = *a;
            if (a->mesh.chips != b->mesh.chips || a->slices != b->slices || girth(a) <= girth(b)) break;
            *a = *b, *b = swap;
        }
}

static bool make_sites(Tuples *tuples, Arena *arena, Error *error) {
    const Request *request = tuples->request;
    Machine *idle = NULL;
    int idle_count = 0;
    if (request->max_idle > 0 &&
        !machine_idle_shapes(&request->chip, &request->machine, request->max_idle, arena, &idle, &idle_count, error))
        return false;
    cubic_first(idle, idle_count);
    size_t count = (size_t)idle_count + 1;
    tuples->shapes = ARENA_NEW(arena, Shape, count);
    tuples->wirings = ARENA_NEW(arena, Wiring, count);
    tuples->tables = ARENA_NEW(arena, const PlacementTable *, count);
    tuples->leasts = ARENA_NEW(arena, const LeastRates *, count);
    tuples->sites = ARENA_NEW(arena, Site, count);
    if (!tuples->shapes || !tuples->wirings || !tuples->tables || !tuples->leasts || !tuples->sites)
        return error_memory(error);
    if (!add_shape(tuples, &request->machine, arena, error)) return false;
    for (int i = 0; i < idle_count; i++)
        if (!add_shape(tuples, &idle[i], arena, error)) return false;
    return true;
}

/* ---- tuples ---- */

static Count placements_of(const Tuples *tuples, const Site *site, const Degrees *degrees) {
    Count count = 0;
    for (int i = 0; i < site->shape_count; i++) count += placement_count(tuples->tables[site->first + i], degrees);
    return count;
}

/* The batches a tuple may train with, by index: the asked one, then those within the tolerance that its replicas
 * divide, in rising order; 0 behind the last. */
static int64_t batches_of(const Request *request, const Degrees *degrees, int64_t index) {
    if (index == 0) return request->work.sequences;
    int64_t replicas = degrees_replicas(degrees);
    double asked = (double)request->work.sequences;
    int64_t low = (int64_t)ceil(asked * (1 - request->batch_tolerance) - 1e-9);
    int64_t high = (int64_t)floor(asked * (1 + request->batch_tolerance) + 1e-9);
    int64_t first = max_whole(1, divide_up(max_whole(low, 1), replicas)) * replicas;
    int64_t batch = first + (index - 1) * replicas;
    if (request->batch_tolerance <= 0 || batch > high) return 0;
    bool asked_is_among = request->work.sequences % replicas == 0;
    if (asked_is_among && batch >= request->work.sequences) batch += replicas;
    return batch > high ? 0 : batch;
}

/* How many there are, the asked one among them. */
static int64_t batch_count(const Request *request, const Degrees *degrees) {
    int64_t replicas = degrees_replicas(degrees);
    if (request->batch_tolerance <= 0) return 1;
    double asked = (double)request->work.sequences;
    int64_t low = max_whole(1, (int64_t)ceil(asked * (1 - request->batch_tolerance) - 1e-9));
    int64_t high = (int64_t)floor(asked * (1 + request->batch_tolerance) + 1e-9);
    int64_t multiples = high / replicas - (low - 1) / replicas;
    return 1 + multiples - (request->work.sequences % replicas == 0 ? 1 : 0);
}

/* Knob settings beside microbatches, by what they depend on. */
typedef struct {
    int64_t ranks, tensor, expert, sequence, pipeline, flags, others;
} KnobMemo;
enum { KNOB_MEMOS = 1024 };

/* What one thread finds while it bounds tuples. */
typedef struct {
    Entry *entries;
    int64_t count, room;
    Coverage coverage;
    bool no_memory, too_many;
    KnobMemo memos[KNOB_MEMOS]; /* of one site; others 0: empty */
} Bounded;

/* knob_others(), which counts ways to exchange one by one: tuples that differ in fsdp and data alone share it. */
static int64_t others_of(Bounded *bounded, const Request *request, const Site *site, const Degrees *degrees) {
    const int64_t *of = degrees->of;
    int64_t flags = (of[ROLE_FSDP] > 1 ? 1 : 0) | (of[ROLE_DATA] > 1 ? 2 : 0);
    int64_t ranks = of[ROLE_TENSOR] * of[ROLE_SEQUENCE] * of[ROLE_FSDP] * of[ROLE_DATA];
    uint64_t hash = (uint64_t)of[ROLE_PIPELINE] * 4 + (uint64_t)flags + (uint64_t)of[ROLE_EXPERT] * 0x9E3779B97F4A7C15u;
    KnobMemo *memo = &bounded->memos[(hash ^ hash >> 32) % KNOB_MEMOS];
    if (memo->others != 0 && memo->ranks == ranks && memo->tensor == of[ROLE_TENSOR] &&
        memo->expert == of[ROLE_EXPERT] && memo->sequence == of[ROLE_SEQUENCE] && memo->pipeline == of[ROLE_PIPELINE] &&
        memo->flags == flags)
        return memo->others;
    *memo = (KnobMemo){ranks,
                       of[ROLE_TENSOR],
                       of[ROLE_EXPERT],
                       of[ROLE_SEQUENCE],
                       of[ROLE_PIPELINE],
                       flags,
                       knob_others(&request->model, degrees, &site->offers)};
    return memo->others;
}

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

/* Keeps the tuple that lacks least; among equals the first. */
static void note_missing(Coverage *coverage, const Degrees *degrees, double missing) {
    if (missing > coverage->least_missing) return;
    if (missing == coverage->least_missing && degrees_compare(degrees, &coverage->missing_degrees) > 0) return;
    coverage->least_missing = missing;
    coverage->missing_degrees = *degrees;
}

/* The bound of a tuple with the problem's batch as plans are ranked; raised where a test wants it wrong. */
static double ranked_bound(const ExploreProblem *problem, const TupleBound *bound) {
    return bound->seconds * problem->scale * BATCH_SLACK * (1 + problem->request->bound_error);
}

Verdict entry_judge(const Tuples *tuples, Entry *entry, LeastSums *cache) {
    const Request *request = tuples->request;
    const Site *site = &tuples->sites[entry->site];
    const Degrees *degrees = &site->degrees[entry->tuple];
    if (!request_admits(request, degrees)) return (Verdict){.out = true, .reason = PRUNED_REQUIRE};
    Work work = request->work;
    PaddingSet forbidden;
    work.sequences = tuple_batch(tuples, entry, entry->last);
    /* Most tuples of an odd number of chips end here. */
    if (!degrees_may_divide(&request->model, &work, degrees, experts_may_fold(&site->offers, degrees), site->padding,
                            &forbidden))
        return (Verdict){.out = true, .reason = PRUNED_INDIVISIBLE};
    ExploreProblem problem = tuples_problem(tuples, entry->site, work.sequences);
    TupleBound bound = tuple_bound(&problem.setting, &problem.offers, problem.padding, problem.least, cache, degrees);
    entry->bound = ranked_bound(&problem, &bound);
    if (bound.forbidden || bound.unusable) return (Verdict){.out = true, .reason = PRUNED_INDIVISIBLE};
    if (!bound.too_large) return (Verdict){.out = false};
    return (Verdict){true, PRUNED_MEMORY, bound.least_bytes - setting_memory_limit(&problem.setting)};
}

/* Batches first .. last of a tuple, that many plans: their entry, or the reason why no plan of theirs is in question. */
static void bound_batches(const Tuples *tuples, Entry entry, Count plans, LeastSums *cache, Bounded *out) {
    Coverage *coverage = &out->coverage;
    if (!count_add(coverage->plans, plans, &coverage->plans)) {
        out->too_many = true;
        return;
    }
    Verdict verdict = entry_judge(tuples, &entry, cache);
    if (!verdict.out) {
        if (!entry_add(out, entry)) out->no_memory = true;
        return;
    }
    coverage->pruned[verdict.reason] += plans;
    if (verdict.reason == PRUNED_MEMORY)
        note_missing(coverage, &tuples->sites[entry.site].degrees[entry.tuple], verdict.missing);
}

/* One degree tuple with every batch it may have. */
static void bound_tuple(const Tuples *tuples, int index, int64_t tuple, LeastSums *cache, Bounded *out) {
    const Request *request = tuples->request;
    const Site *site = &tuples->sites[index];
    const Degrees *degrees = &site->degrees[tuple];
    int64_t others = batch_count(request, degrees) - 1;
    Count each, plans;
    if (!count_multiply(placements_of(tuples, site, degrees), (Count)others_of(out, request, site, degrees), &each) ||
        !count_multiply(each, (Count)tuple_orders(request, degrees), &each) ||
        /* The most that one batch can have, and as many batches: what is added up fits where this does. */
        !count_multiply(each, (Count)knob_microbatches(degrees, request->work.sequences * 2), &plans) ||
        !count_multiply(plans, (Count)(others + 1), &plans)) {
        out->too_many = true;
        return;
    }
    if (out->coverage.batches < others + 1) out->coverage.batches = (int)min_whole(others + 1, INT32_MAX);
    Entry entry = {.first = 0, .last = 0, .site = index, .tuple = (int32_t)tuple};
    bound_batches(tuples, entry, each * (Count)knob_microbatches(degrees, request->work.sequences), cache, out);
    if (others == 0) return;
    entry.first = 1, entry.last = others;
    bound_batches(tuples, entry, entry_plans(tuples, &entry), cache, out);
}

static bool merge_coverage(Coverage *to, const Coverage *from) {
    if (!count_add(to->plans, from->plans, &to->plans)) return false;
    for (int i = 0; i < PRUNED_COUNT; i++) to->pruned[i] += from->pruned[i];
    if (from->least_missing < INFINITY) note_missing(to, &from->missing_degrees, from->least_missing);
    if (to->batches < from->batches) to->batches = from->batches;
    return true;
}

static bool merge_bounded(Tuples *tuples, const Bounded *from, Error *error) {
    if (from->no_memory) return error_memory(error);
    if (from->too_many || !merge_coverage(&tuples->coverage, &from->coverage))
        return error_set(error, ERROR_INPUT, "search", "the space has more than 2^128 plans");
    if (from->count == 0) return true;
    Entry *grown = realloc(tuples->entries, (size_t)(tuples->entry_count + from->count) * sizeof(Entry));
    if (!grown) return error_memory(error);
    tuples->entries = grown;
    memcpy(tuples->entries + tuples->entry_count, from->entries, (size_t)from->count * sizeof(Entry));
    tuples->entry_count += from->count;
    return true;
}

static bool bound_sites(Tuples *tuples, ExploreCache *caches, int threads, Error *error) {
    Bounded *bounded = calloc((size_t)threads, sizeof(Bounded));
    if (!bounded) return error_memory(error);
    for (int i = 0; i < threads; i++) bounded[i].coverage.least_missing = INFINITY;
#pragma omp parallel num_threads(threads)
    for (int site = 0; site < tuples->site_count; site++) {
        int thread = omp_get_thread_num();
        memset(bounded[thread].memos, 0, sizeof(bounded[thread].memos));
#pragma omp for schedule(dynamic, 512) nowait
        for (int64_t i = 0; i < tuples->sites[site].count; i++)
            bound_tuple(tuples, site, i, caches[thread].sums, &bounded[thread]);
    }
    bool ok = true;
    for (int i = 0; i < threads; i++) {
        ok = ok && merge_bounded(tuples, &bounded[i], error);
        free(bounded[i].entries);
    }
    free(bounded);
    return ok;
}

static int by_bound(const void *a, const void *b) {
    const Entry *x = a, *y = b;
    if (x->bound != y->bound) return x->bound < y->bound ? -1 : 1;
    if (x->site != y->site) return x->site < y->site ? -1 : 1;
    if (x->tuple != y->tuple) return x->tuple < y->tuple ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

bool tuples_make(const Request *request, ExploreCache *caches, int threads, Arena *arena, Tuples *out, Error *error) {
    *out = (Tuples){.request = request, .coverage.least_missing = INFINITY};
    if (!make_sites(out, arena, error) || !bound_sites(out, caches, threads, error)) return false;
    if (out->entry_count > 0) qsort(out->entries, (size_t)out->entry_count, sizeof(Entry), by_bound);
    return true;
}

void tuples_free(Tuples *tuples) { free(tuples->entries); }

Count tuple_placements(const Tuples *tuples, const Entry *entry) {
    const Site *site = &tuples->sites[entry->site];
    return placements_of(tuples, site, &site->degrees[entry->tuple]);
}

int64_t entry_orders(const Tuples *tuples, const Entry *entry) {
    return tuple_orders(tuples->request, &tuples->sites[entry->site].degrees[entry->tuple]);
}

int64_t tuple_batch(const Tuples *tuples, const Entry *entry, int64_t number) {
    return batches_of(tuples->request, &tuples->sites[entry->site].degrees[entry->tuple], number);
}

double entry_bound(const Tuples *tuples, const Entry *entry, LeastSums *cache) {
    ExploreProblem problem = tuples_problem(tuples, entry->site, tuple_batch(tuples, entry, entry->last));
    const Degrees *degrees = &tuples->sites[entry->site].degrees[entry->tuple];
    TupleBound bound = tuple_bound(&problem.setting, &problem.offers, problem.padding, problem.least, cache, degrees);
    return ranked_bound(&problem, &bound);
}

int tuple_entries(const Tuples *tuples, int site, int64_t tuple, Entry out[2]) {
    int64_t others = batch_count(tuples->request, &tuples->sites[site].degrees[tuple]) - 1;
    out[0] = (Entry){.first = 0, .last = 0, .site = site, .tuple = (int32_t)tuple};
    out[1] = (Entry){.first = 1, .last = others, .site = site, .tuple = (int32_t)tuple};
    return others > 0 ? 2 : 1;
}

Count entry_plans(const Tuples *tuples, const Entry *entry) {
    const Site *site = &tuples->sites[entry->site];
    const Degrees *degrees = &site->degrees[entry->tuple];
    Count microbatches = 0;
    for (int64_t batch = entry->first; batch <= entry->last; batch++)
        microbatches += (Count)knob_microbatches(degrees, tuple_batch(tuples, entry, batch));
    return placements_of(tuples, site, degrees) * microbatches *
           (Count)knob_others(&tuples->request->model, degrees, &site->offers) *
           (Count)tuple_orders(tuples->request, degrees);
}
