/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/explore/tuple_list.h"

#include "base/clock.h"
#include "base/util.h"
#include "cost/time/slack.h"
#include "search/explore/orders.h"
#include "search/launch/rules.h"
#include "search/space/knob_space.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { TUPLES_MOST = 4000000 };
/* A share of the space that fits in memory well; few enough sites for a time limit to come in between. */
enum { ENTRIES_ENOUGH = 1000000, GROUPS_AT_ONCE = 32 };

/* What plans are ordered by: time per requested token; chips that are allocated stay allocated, so chip-hours and cost
 * order machines of one request alike. */
static double scale_of(const Request *request, int64_t sequences) {
    return (double)request->question.work.sequences / (double)sequences;
}

static ExploreProblem problem_on(const TupleList *tuples, const DeviceCountGroup *group, int first, int count,
                                 int64_t sequences) {
    ExploreProblem problem = {.request = tuples->request,
                              .setting = request_cost_context(tuples->request),
                              .offers = group->offers,
                              .least = group->least,
                              .nested_meshes = &tuples->nested_meshes[first],
                              .tables = &tuples->tables[first],
                              .leasts = &tuples->leasts[first],
                              .machine_count = count,
                              .first_machine = first,
                              .catalog_mesh = &tuples->shapes[first].machine.mesh,
                              .padding = group->padding,
                              .scale = scale_of(tuples->request, sequences)};
    problem.setting.work.sequences = sequences;
    return problem;
}

ExploreProblem tuple_list_problem(const TupleList *tuples, int group, int64_t sequences) {
    const DeviceCountGroup *on = &tuples->groups[group];
    return problem_on(tuples, on, on->first, on->shape_count, sequences);
}

ExploreProblem tuple_list_problem_of_shape(const TupleList *tuples, int shape, int64_t sequences) {
    const DeviceCountGroup *group = tuples->groups;
    while (shape >= group->first + group->shape_count) group++;
    return problem_on(tuples, group, shape, 1, sequences);
}

double group_floor_seconds(const TupleList *tuples, int group) {
    const Request *request = tuples->request;
    CostContext setting = request_cost_context(request);
    double flops = model_flops_per_token(setting.model, FLOPS_CAUSAL, request->question.work.seq) *
                   (double)request->question.work.sequences * (double)request->question.work.seq;
    int64_t chips = 0;
    for (int i = 0; i < tuples->groups[group].shape_count; i++)
        chips = max_whole(chips, tuples->shapes[tuples->groups[group].first + i].machine.mesh.chips);
    return flops / (setting.precision_flops_per_second * (double)chips) * SLACK;
}

/* ---- machines ---- */

/* A shape, on the site of the one before it where that has as many devices. */
static bool add_shape(TupleList *tuples, const Machine *machine, Error *error) {
    const Request *request = tuples->request;
    int index = tuples->shape_count++;
    MachineShape *shape = &tuples->shapes[index];
    *shape = (MachineShape){.machine = *machine, .mesh = profile_mesh(&request->question.profile, &machine->mesh)};
    tuples->nested_meshes[index] = (NestedMesh){&shape->mesh, request->space.nesting};
    if (index > 0 && tuples->shapes[index - 1].mesh.devices == shape->mesh.devices) {
        tuples->groups[tuples->group_count - 1].shape_count++;
        return true;
    }
    Count count;
    if (!degrees_count(&shape->mesh, request->space.roles, &count) || count > INT64_MAX / 2)
        return error_set(error, ERROR_INPUT, request->asked.machine, "%s has too many ways to give degrees to roles",
                         machine->text);
    CostContext setting = request_cost_context(request);
    tuples->groups[tuples->group_count++] =
        (DeviceCountGroup){.first = index,
                           .shape_count = 1,
                           .tuples = (int64_t)count,
                           .offers = offers_of(&setting, &shape->mesh, request->space.schedules),
                           .padding = padding_on(request->space.padding, request->space.launchers, &machine->mesh)};
    return true;
}

static int64_t perimeter(const Machine *machine) {
    return machine->slice.size[0] + machine->slice.size[1] + machine->slice.size[2];
}

/* Among shapes of as many chips and slices the most cubic first: where two are as fast, that one is meant. */
static void cubic_first(Machine *machines, int count) {
    for (int i = 1; i < count; i++)
        for (int j = i; j > 0; j--) {
            Machine *a = &machines[j - 1], *b = &machines[j], swap = *a;
            if (a->mesh.chips != b->mesh.chips || a->slices != b->slices || perimeter(a) <= perimeter(b)) break;
            *a = *b, *b = swap;
        }
}

static bool make_groups(TupleList *tuples, Arena *arena, Error *error) {
    const Request *request = tuples->request;
    Machine *idle = NULL;
    int idle_count = 0;
    if (request->space.max_idle > 0 && !machine_idle_shapes(&request->question.chip, &request->question.machine,
                                                            request->space.max_idle, arena, &idle, &idle_count, error))
        return false;
    cubic_first(idle, idle_count);
    size_t count = (size_t)idle_count + 1;
    tuples->shapes = ARENA_NEW(arena, MachineShape, count);
    tuples->nested_meshes = ARENA_NEW(arena, NestedMesh, count);
    tuples->tables = ARENA_NEW(arena, const PlacementTable *, count);
    tuples->leasts = ARENA_NEW(arena, const LowerBoundRates *, count);
    tuples->groups = ARENA_NEW(arena, DeviceCountGroup, count);
    if (!tuples->shapes || !tuples->nested_meshes || !tuples->tables || !tuples->leasts || !tuples->groups)
        return error_memory(error);
    if (!add_shape(tuples, &request->question.machine, error)) return false;
    for (int i = 0; i < idle_count; i++)
        if (!add_shape(tuples, &idle[i], error)) return false;
    return true;
}

bool tuple_list_make(const Request *request, int threads, Arena *arena, TupleList *out, Error *error) {
    *out = (TupleList){.request = request, .threads = threads};
    out->workers = ARENA_NEW(arena, TupleListWorker, (size_t)threads);
    if (!out->workers) return error_memory(error);
    for (int i = 0; i < threads; i++) {
        out->workers[i].counter = plan_counter_new(request);
        if (!out->workers[i].counter) return error_memory(error);
    }
    return make_groups(out, arena, error);
}

/* ---- one site ---- */

typedef struct {
    const Request *request;
    Work work;
    const DeviceCountGroup *group;
} MayDivide;

/* degrees_may_divide() while later roles are at 1. Theorem: what fails then fails with any degrees of theirs, since each
 * condition is of one role, or of a product of which the roles so far are a divisor; a fold of experts, which only a
 * later role can end, asks for less. */
static bool may_divide(const void *of, const Degrees *begun) {
    const MayDivide *may = of;
    PaddingSet forbidden;
    return degrees_may_divide(&may->request->question.model, &may->work, begun,
                              experts_may_fold(&may->group->offers, begun), may->group->padding, &forbidden);
}

/* What is required of degrees is counted before what divides. */
static bool requires_degrees(const Request *request) {
    for (int i = 0; i < request->space.requirement_count; i++)
        if (request->space.requirements[i].knob == 0) return true;
    return false;
}

static bool too_many_plans(Error *error) {
    return error_set(error, ERROR_INPUT, "search", "the space has more than 2^128 plans");
}

/* Counts the plans of a site's machines; their tables are kept in a worker's memory that lasts. */
static bool group_count_plans(TupleList *tuples, DeviceCountGroup *group, TupleListWorker *worker, Error *error) {
    group->plans = 0;
    for (int i = group->first; i < group->first + group->shape_count; i++) {
        const Mesh *mesh = &tuples->shapes[i].mesh;
        Count plans;
        tuples->tables[i] = placement_table(mesh, tuples->request->space.roles, &worker->lasting);
        if (!tuples->tables[i]) return error_memory(error);
        if (!plans_on_mesh(worker->counter, mesh, &group->offers, tuples->tables[i], &plans, &group->batches, error))
            return false;
        if (!count_add(group->plans, plans, &group->plans)) return too_many_plans(error);
    }
    return true;
}

static bool group_rates(TupleList *tuples, DeviceCountGroup *group, Arena *lasting, Error *error) {
    LowerBoundRates *together = NULL;
    for (int i = group->first; i < group->first + group->shape_count; i++) {
        LowerBoundRates *least = lower_bound_rates_new(&tuples->shapes[i].mesh, lasting);
        tuples->leasts[i] = least;
        if (!least) return error_memory(error);
        if (i == group->first + 1) together = lower_bound_rates_copy(tuples->leasts[group->first], lasting);
        if (i == group->first + 1 && !together) return error_memory(error);
        if (together) lower_bound_rates_merge(together, least);
    }
    group->least = together ? together : tuples->leasts[group->first];
    return true;
}

/* Lists tuples of a site: all, or those that may divide, where nothing else counts before that. */
static bool group_open(TupleList *tuples, DeviceCountGroup *group, bool all, TupleListWorker *worker, Error *error) {
    const Request *request = tuples->request;
    const MachineShape *shape = &tuples->shapes[group->first];
    MayDivide may = {request, request->question.work, group};
    if (request->space.batch_tolerance > 0) may.work.sequences = 0; /* of other batches some divides */
    bool ok = all || requires_degrees(request)
                  ? degrees_enumerate(&shape->mesh, request->space.roles, TUPLES_MOST, &worker->passing,
                                      &group->degrees, &group->count, error)
                  : degrees_enumerate_some(&shape->mesh, request->space.roles, (DegreesRule){may_divide, &may},
                                           TUPLES_MOST, &worker->passing, &group->degrees, &group->count, error);
    if (!ok && error->kind == ERROR_INPUT)
        error_set(error, ERROR_INPUT, request->asked.machine,
                  "%s has more than %d ways to give degrees to roles; ask for fewer chips", shape->machine.text,
                  TUPLES_MOST);
    return ok && group_rates(tuples, group, &worker->lasting, error);
}

/* Counts sites from .. to - 1, and opens them where that is wanted: a site a thread. */
static bool prepare_groups(TupleList *tuples, int from, int to, bool open, Error *error) {
    bool failed = false;
    double started = clock_seconds();
#pragma omp parallel for schedule(dynamic, 1) num_threads(tuples->threads)
    for (int i = from; i < to; i++) {
        TupleListWorker *worker = &tuples->workers[omp_get_thread_num()];
        Error own = {0};
        if (group_count_plans(tuples, &tuples->groups[i], worker, &own) &&
            (!open || group_open(tuples, &tuples->groups[i], false, worker, &own)))
            continue;
#pragma omp critical
        {
            if (!failed) *error = own;
            failed = true;
        }
    }
    tuples->seconds_preparing += clock_seconds() - started;
    return !failed;
}

static void drop_share(TupleList *tuples) {
    tuples->entry_count = 0;
    tuples->coverage = (Coverage){.least_floor = INFINITY, .least_missing = INFINITY};
    for (int i = 0; i < tuples->threads; i++) arena_free(&tuples->workers[i].passing);
}

bool tuple_list_whole_group(TupleList *tuples, int index, Error *error) {
    DeviceCountGroup *group = &tuples->groups[index];
    TupleListWorker *worker = &tuples->workers[0];
    drop_share(tuples);
    arena_free(&worker->lasting);
    for (int i = group->first; i < group->first + group->shape_count; i++) {
        tuples->tables[i] = placement_table(&tuples->shapes[i].mesh, tuples->request->space.roles, &worker->lasting);
        if (!tuples->tables[i]) return error_memory(error);
    }
    return group_open(tuples, group, true, worker, error);
}

/* ---- tuples ---- */

static Count placements_of(const TupleList *tuples, const DeviceCountGroup *group, const Degrees *degrees) {
    Count count = 0;
    for (int i = 0; i < group->shape_count; i++) count += placement_count(tuples->tables[group->first + i], degrees);
    return count;
}

/* Knob settings beside microbatches, by what they depend on. */
typedef struct {
    int64_t ranks, tensor, expert, sequence, pipeline, flags, others;
} KnobMemo;
enum { KNOB_MEMOS = 1024 };

/* What one thread finds while it bounds tuples. */
typedef struct {
    TupleBatches *entries;
    int64_t count, room;
    Coverage coverage;
    bool no_memory, too_many, late;
    KnobMemo memos[KNOB_MEMOS]; /* of one site; others 0: empty */
} BoundedTuples;

/* knob_others(), which counts ways to exchange one by one: tuples that differ in fsdp and data alone share it. */
static int64_t others_of(BoundedTuples *bounded, const Request *request, const DeviceCountGroup *group,
                         const Degrees *degrees) {
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
                       knob_others(&request->question.model, degrees, &group->offers)};
    return memo->others;
}

static bool entry_add(BoundedTuples *bounded, TupleBatches entry) {
    if (bounded->count == bounded->room) {
        int64_t room = bounded->room ? 2 * bounded->room : 4096;
        TupleBatches *grown = realloc(bounded->entries, (size_t)room * sizeof(TupleBatches));
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
    return bound->seconds * problem->scale * SLACK * (1 + problem->request->control.bound_error);
}

TupleVerdict tuple_batches_judge(const TupleList *tuples, TupleBatches *entry, TotalsCache *cache) {
    const Request *request = tuples->request;
    const DeviceCountGroup *group = &tuples->groups[entry->group];
    const Degrees *degrees = &group->degrees[entry->tuple];
    if (!request_admits(request, degrees)) return (TupleVerdict){.out = true, .reason = PRUNED_REQUIRE};
    Work work = request->question.work;
    PaddingSet forbidden;
    work.sequences = tuple_batches_sequences(tuples, entry, entry->last);
    /* Most tuples of an odd number of chips end here. */
    if (!degrees_may_divide(&request->question.model, &work, degrees, experts_may_fold(&group->offers, degrees),
                            group->padding, &forbidden))
        return (TupleVerdict){.out = true, .reason = PRUNED_INDIVISIBLE};
    ExploreProblem problem = tuple_list_problem(tuples, entry->group, work.sequences);
    TupleBound bound = tuple_bound(&problem.setting, &problem.offers, problem.padding, problem.least, cache, degrees);
    entry->bound = ranked_bound(&problem, &bound);
    if (bound.forbidden || bound.unusable) return (TupleVerdict){.out = true, .reason = PRUNED_INDIVISIBLE};
    if (!bound.too_large) return (TupleVerdict){.out = false};
    return (TupleVerdict){true, PRUNED_MEMORY, bound.least_bytes - cost_context_memory_limit(&problem.setting)};
}

/* Batches first .. last of a tuple, that many plans: their entry, or the reason why no plan of theirs is in question. */
static void bound_batches(const TupleList *tuples, TupleBatches entry, Count plans, TotalsCache *cache,
                          BoundedTuples *out) {
    Coverage *coverage = &out->coverage;
    if (!count_add(coverage->plans, plans, &coverage->plans)) {
        out->too_many = true;
        return;
    }
    if (out->late && request_admits(tuples->request, &tuples->groups[entry.group].degrees[entry.tuple])) {
        coverage->pruned[PRUNED_TIME_LIMIT] += plans;
        coverage->least_floor = min_real(coverage->least_floor, group_floor_seconds(tuples, entry.group));
        return;
    }
    TupleVerdict verdict = tuple_batches_judge(tuples, &entry, cache);
    if (!verdict.out) {
        if (!entry_add(out, entry)) out->no_memory = true;
        return;
    }
    coverage->pruned[verdict.reason] += plans;
    if (verdict.reason == PRUNED_MEMORY)
        note_missing(coverage, &tuples->groups[entry.group].degrees[entry.tuple], verdict.missing);
}

/* One degree tuple with every batch it may have. */
static void bound_tuple(const TupleList *tuples, int index, int64_t tuple, TotalsCache *cache, BoundedTuples *out) {
    const Request *request = tuples->request;
    const DeviceCountGroup *group = &tuples->groups[index];
    const Degrees *degrees = &group->degrees[tuple];
    int64_t others = batch_count(request, degrees_replicas(degrees)) - 1;
    Count each, plans;
    if (!count_multiply(placements_of(tuples, group, degrees), (Count)others_of(out, request, group, degrees), &each) ||
        !count_multiply(each, (Count)tuple_orders(request, degrees), &each) ||
        /* The most that one batch can have, and as many batches: what is added up fits where this does. */
        !count_multiply(each, (Count)knob_microbatches(degrees, request->question.work.sequences * 2), &plans) ||
        !count_multiply(plans, (Count)(others + 1), &plans)) {
        out->too_many = true;
        return;
    }
    TupleBatches entry = {.first = 0, .last = 0, .group = index, .tuple = (int32_t)tuple};
    bound_batches(tuples, entry, each * (Count)knob_microbatches(degrees, request->question.work.sequences), cache,
                  out);
    if (others == 0) return;
    entry.first = 1, entry.last = others;
    bound_batches(tuples, entry, tuple_batches_plans(tuples, &entry), cache, out);
}

static bool merge_coverage(Coverage *to, const Coverage *from) {
    if (!count_add(to->plans, from->plans, &to->plans)) return false;
    for (int i = 0; i < PRUNED_COUNT; i++) to->pruned[i] += from->pruned[i];
    if (from->least_missing < INFINITY) note_missing(to, &from->missing_degrees, from->least_missing);
    to->least_floor = min_real(to->least_floor, from->least_floor);
    return true;
}

static bool merge_bounded(TupleList *tuples, const BoundedTuples *from, Error *error) {
    if (from->no_memory) return error_memory(error);
    if (from->too_many || !merge_coverage(&tuples->coverage, &from->coverage)) return too_many_plans(error);
    if (from->count == 0) return true;
    TupleBatches *grown = realloc(tuples->entries, (size_t)(tuples->entry_count + from->count) * sizeof(TupleBatches));
    if (!grown) return error_memory(error);
    tuples->entries = grown;
    memcpy(tuples->entries + tuples->entry_count, from->entries, (size_t)from->count * sizeof(TupleBatches));
    tuples->entry_count += from->count;
    return true;
}

/* Bounds what sites from .. to - 1 have listed. */
static bool bound_groups(TupleList *tuples, int from, int to, ExploreCache *caches, double over, Error *error) {
    int threads = tuples->threads;
    BoundedTuples *bounded = calloc((size_t)threads, sizeof(BoundedTuples));
    if (!bounded) return error_memory(error);
    for (int i = 0; i < threads; i++) bounded[i].coverage.least_missing = bounded[i].coverage.least_floor = INFINITY;
#pragma omp parallel num_threads(threads)
    for (int group = from; group < to; group++) {
        int thread = omp_get_thread_num();
        BoundedTuples *own = &bounded[thread];
        memset(own->memos, 0, sizeof(own->memos));
#pragma omp for schedule(dynamic, 512) nowait
        for (int64_t i = 0; i < tuples->groups[group].count; i++) {
            if (i % 64 == 0 && over > 0) own->late = own->late || clock_seconds() > over;
            bound_tuple(tuples, group, i, caches[thread].sums, own);
        }
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
    const TupleBatches *x = a, *y = b;
    if (x->bound != y->bound) return x->bound < y->bound ? -1 : 1;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    if (x->tuple != y->tuple) return x->tuple < y->tuple ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

/* All plans of sites from .. to - 1 but those listed, which are counted, are `reason`s. */
static bool cover_rest(TupleList *tuples, int from, int to, PruneReason reason, Error *error) {
    Count all = 0;
    Coverage *coverage = &tuples->coverage;
    for (int i = from; i < to; i++) {
        const DeviceCountGroup *group = &tuples->groups[i];
        if (!count_add(all, group->plans, &all)) return too_many_plans(error);
        coverage->batches = max_whole(coverage->batches, group->batches);
    }
    if (all < coverage->plans) return error_set(error, ERROR_INTERNAL, "search", "plans were counted twice");
    coverage->pruned[reason] += all - coverage->plans;
    coverage->plans = all;
    return true;
}

bool tuple_list_next(TupleList *tuples, ExploreCache *caches, double until, double over, Error *error) {
    int from = tuples->listed_groups;
    drop_share(tuples);
    while (tuples->listed_groups < tuples->group_count && tuples->entry_count < ENTRIES_ENOUGH &&
           (tuples->listed_groups == from || until <= 0 || clock_seconds() < until)) {
        int to = (int)min_whole(tuples->listed_groups + GROUPS_AT_ONCE, tuples->group_count);
        if (!prepare_groups(tuples, tuples->listed_groups, to, true, error) ||
            !bound_groups(tuples, tuples->listed_groups, to, caches, over, error))
            return false;
        tuples->listed_groups = to;
    }
    if (tuples->entry_count > 0) qsort(tuples->entries, (size_t)tuples->entry_count, sizeof(TupleBatches), by_bound);
    return cover_rest(tuples, from, tuples->listed_groups, PRUNED_INDIVISIBLE, error);
}

double tuple_list_seconds_to_leave(const TupleList *tuples) {
    if (tuples->listed_groups == 0) return 0;
    return tuples->seconds_preparing / tuples->listed_groups * (tuples->group_count - tuples->listed_groups);
}

bool tuple_list_leave(TupleList *tuples, Error *error) {
    int from = tuples->listed_groups;
    drop_share(tuples);
    tuples->listed_groups = tuples->group_count;
    for (int i = from; i < tuples->group_count; i++)
        tuples->coverage.least_floor = min_real(tuples->coverage.least_floor, group_floor_seconds(tuples, i));
    return prepare_groups(tuples, from, tuples->group_count, false, error) &&
           cover_rest(tuples, from, tuples->group_count, PRUNED_TIME_LIMIT, error);
}

void tuple_list_free(TupleList *tuples) {
    free(tuples->entries);
    for (int i = 0; tuples->workers && i < tuples->threads; i++) {
        plan_counter_free(tuples->workers[i].counter);
        arena_free(&tuples->workers[i].lasting);
        arena_free(&tuples->workers[i].passing);
    }
}

Count tuple_batches_placements(const TupleList *tuples, const TupleBatches *entry) {
    const DeviceCountGroup *group = &tuples->groups[entry->group];
    return placements_of(tuples, group, &group->degrees[entry->tuple]);
}

int64_t tuple_batches_orders(const TupleList *tuples, const TupleBatches *entry) {
    return tuple_orders(tuples->request, &tuples->groups[entry->group].degrees[entry->tuple]);
}

int64_t tuple_batches_sequences(const TupleList *tuples, const TupleBatches *entry, int64_t number) {
    return batch_at(tuples->request, degrees_replicas(&tuples->groups[entry->group].degrees[entry->tuple]), number);
}

double tuple_batches_bound(const TupleList *tuples, const TupleBatches *entry, TotalsCache *cache) {
    ExploreProblem problem =
        tuple_list_problem(tuples, entry->group, tuple_batches_sequences(tuples, entry, entry->last));
    const Degrees *degrees = &tuples->groups[entry->group].degrees[entry->tuple];
    TupleBound bound = tuple_bound(&problem.setting, &problem.offers, problem.padding, problem.least, cache, degrees);
    return ranked_bound(&problem, &bound);
}

int tuple_batches_of(const TupleList *tuples, int group, int64_t tuple, TupleBatches out[2]) {
    int64_t others = batch_count(tuples->request, degrees_replicas(&tuples->groups[group].degrees[tuple])) - 1;
    out[0] = (TupleBatches){.first = 0, .last = 0, .group = group, .tuple = (int32_t)tuple};
    out[1] = (TupleBatches){.first = 1, .last = others, .group = group, .tuple = (int32_t)tuple};
    return others > 0 ? 2 : 1;
}

Count tuple_batches_plans(const TupleList *tuples, const TupleBatches *entry) {
    const DeviceCountGroup *group = &tuples->groups[entry->group];
    const Degrees *degrees = &group->degrees[entry->tuple];
    Count microbatches = 0;
    for (int64_t batch = entry->first; batch <= entry->last; batch++)
        microbatches += (Count)knob_microbatches(degrees, tuple_batches_sequences(tuples, entry, batch));
    return placements_of(tuples, group, degrees) * microbatches *
           (Count)knob_others(&tuples->request->question.model, degrees, &group->offers) *
           (Count)tuple_orders(tuples->request, degrees);
}
