/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every listed tuple with every batch it may have, bounded: an entry of the list, or a count of the plans that are
 * out. */
#include "base/util.h"
#include "search/engine/bound/tuple_bound.h"
#include "search/engine/explore/tuple_list.h"
#include "search/launch/launcher.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

bool too_many_plans(Error *error) {
    return error_set(error, ERROR_INPUT, "search", "the space has more than 2^128 plans");
}

void tuple_list_tell(const TupleList *tuples, SearchStage stage, int64_t done, int64_t all) {
    const Environment *environment = &tuples->request->control.environment;
    if (!environment->progress || omp_get_thread_num() != 0 || done == all) return;
    SearchProgress progress = {.stage = stage,
                               .seconds = environment_clock(environment) - tuples->started,
                               .best_seconds = INFINITY,
                               .done = done,
                               .all = all};
    environment->progress(environment->context, &progress);
}

/* Placements of degrees on all machines of a group. */
static Count group_placements(const TupleList *tuples, const DeviceCountGroup *group, const Degrees *degrees) {
    Count count = 0;
    for (int i = 0; i < group->shape_count; i++) count += placement_count(tuples->tables[group->first + i], degrees);
    return count;
}

/* The number of knob settings apart from microbatches, by what it depends on. */
typedef struct {
    int64_t ranks, tensor, expert, sequence, pipeline, flags, others;
} KnobMemo;
enum { KNOB_MEMOS = 1024 };

enum { TOLD_EACH = 256 }; /* tuples; a divisor of what a thread takes at once */

/* What one thread finds while it bounds tuples. */
typedef struct {
    TupleBatches *entries;
    int64_t count, room;
    Coverage coverage;
    bool no_memory, too_many, late, interrupted;
    bool left;                  /* tuples were not even counted */
    KnobMemo memos[KNOB_MEMOS]; /* of one group; a memo with others 0 is empty */
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
                       knob_others(&request->question.model, degrees, &group->domain)};
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
static void coverage_note_missing(Coverage *coverage, const Degrees *degrees, double missing) {
    if (missing > coverage->least_missing) return;
    if (missing == coverage->least_missing && degrees_compare(degrees, &coverage->missing_degrees) > 0) return;
    coverage->least_missing = missing;
    coverage->missing_degrees = *degrees;
}

/* Batches first .. last of a tuple, which have `plans` plans: adds their entry, or counts why none of them is in
 * question. */
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
        coverage->entry_plans += plans;
        if (!entry_add(out, entry)) out->no_memory = true;
        return;
    }
    coverage->pruned[verdict.reason] += plans;
    if (verdict.reason == PRUNED_MEMORY)
        coverage_note_missing(coverage, &tuples->groups[entry.group].degrees[entry.tuple], verdict.missing);
}

/* One degree tuple with every batch it may have. */
static void bound_tuple(const TupleList *tuples, int index, int64_t tuple, TotalsCache *cache, BoundedTuples *out) {
    const Request *request = tuples->request;
    const DeviceCountGroup *group = &tuples->groups[index];
    const Degrees *degrees = &group->degrees[tuple];
    int64_t others = batch_count(request, degrees_replicas(degrees)) - 1;
    Count each = 0, plans;
    if (!request->control.uncounted &&
        (!count_multiply(group_placements(tuples, group, degrees), (Count)others_of(out, request, group, degrees),
                         &each) ||
         !count_multiply(each, (Count)tuple_orders(request, degrees), &each) ||
         /* The most that one batch can have, and as many batches: what is added up fits where this does. */
         !count_multiply(each, (Count)knob_microbatches(degrees, request->question.work.sequences * 2), &plans) ||
         !count_multiply(plans, (Count)(others + 1), &plans))) {
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
    to->entry_plans += from->entry_plans;
    if (from->least_missing < INFINITY) coverage_note_missing(to, &from->missing_degrees, from->least_missing);
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
    if (tuples->budget) budget_add(tuples->budget, from->count * (int64_t)sizeof(TupleBatches));
    memcpy(tuples->entries + tuples->entry_count, from->entries, (size_t)from->count * sizeof(TupleBatches));
    tuples->entry_count += from->count;
    return true;
}

/* One tuple of a group, unless the search was interrupted. */
static void bound_in_time(const TupleList *tuples, int group, int64_t tuple, TotalsCache *cache, BoundedTuples *own,
                          double over) {
    const Environment *environment = &tuples->request->control.environment;
    own->interrupted = own->interrupted || environment_stops(environment);
    if (own->interrupted || own->left) return;
    if (tuple % 64 == 0 && over > 0) {
        own->late = own->late || environment_clock(environment) > over;
        own->left = own->late && environment_clock(environment) > tuples->last;
        if (own->left) return;
    }
    bound_tuple(tuples, group, tuple, cache, own);
}

bool tuple_list_bound_groups(TupleList *tuples, int from, int to, ExploreCache *caches, double over, Error *error) {
    int threads = tuples->threads;
    BoundedTuples *bounded = calloc((size_t)threads, sizeof(BoundedTuples));
    if (!bounded) return error_memory(error);
    for (int i = 0; i < threads; i++) bounded[i].coverage.least_missing = bounded[i].coverage.least_floor = INFINITY;
    int64_t all = 0, before = 0; /* tuples; of the groups before */
    for (int group = from; group < to; group++) all += tuples->groups[group].count;
    tuple_list_tell(tuples, SEARCH_BOUNDING, 0, all);
#pragma omp parallel num_threads(threads) firstprivate(before)
    for (int group = from; group < to; group++) {
        int thread = omp_get_thread_num();
        BoundedTuples *own = &bounded[thread];
        memset(own->memos, 0, sizeof(own->memos));
#pragma omp for schedule(dynamic, 512) nowait
        for (int64_t i = 0; i < tuples->groups[group].count; i++) {
            if (i % TOLD_EACH == 0) tuple_list_tell(tuples, SEARCH_BOUNDING, before + i, all);
            bound_in_time(tuples, group, i, caches[thread].sums, own, over);
        }
        before += tuples->groups[group].count;
    }
    bool ok = true;
    for (int group = from; group < to; group++) tuples->judged += tuples->groups[group].count;
    for (int i = 0; i < threads; i++) {
        ok = ok && merge_bounded(tuples, &bounded[i], error);
        tuples->interrupted = tuples->interrupted || bounded[i].interrupted;
        tuples->late = tuples->late || bounded[i].left;
        free(bounded[i].entries);
    }
    free(bounded);
    return ok;
}

/* Entries of the tuple list: what they stand for, and what bounds alone say of them. */

/* The bound of a tuple with the problem's batch as plans are ranked; raised where a test wants it wrong. */
static double ranked_bound(const ExploreProblem *problem, const Degrees *degrees, const TupleBound *bound) {
    return bound->seconds * explore_scale(problem, degrees) * SLACK * (1 + problem->request->control.bound_error);
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
    if (!degrees_may_divide(&request->question.model, &work, degrees, experts_may_fold(&group->domain, degrees),
                            group->padding, &forbidden))
        return (TupleVerdict){.out = true, .reason = PRUNED_INDIVISIBLE};
    ExploreProblem problem = tuple_list_problem(tuples, entry->group, work.sequences);
    Bounds bounds = explore_bounds(&problem, cache);
    TupleBound bound = tuple_bound(&bounds, problem.least, degrees);
    entry->bound = ranked_bound(&problem, degrees, &bound);
    if (bound.refused && !bound.forbidden) return (TupleVerdict){.out = true, .reason = PRUNED_REQUIRE};
    if (bound.forbidden || bound.unusable) return (TupleVerdict){.out = true, .reason = PRUNED_INDIVISIBLE};
    if (!bound.too_large) return (TupleVerdict){.out = false};
    return (TupleVerdict){true, PRUNED_MEMORY, bound.least_bytes - cost_context_memory_limit(&problem.setting)};
}

Count tuple_batches_placements(const TupleList *tuples, const TupleBatches *entry) {
    const DeviceCountGroup *group = &tuples->groups[entry->group];
    return group_placements(tuples, group, &group->degrees[entry->tuple]);
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
    Bounds bounds = explore_bounds(&problem, cache);
    TupleBound bound = tuple_bound(&bounds, problem.least, degrees);
    return ranked_bound(&problem, degrees, &bound);
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
    if (tuples->request->control.uncounted) return 0;
    for (int64_t batch = entry->first; batch <= entry->last; batch++)
        microbatches += (Count)knob_microbatches(degrees, tuple_batches_sequences(tuples, entry, batch));
    return group_placements(tuples, group, degrees) * microbatches *
           (Count)knob_others(&tuples->request->question.model, degrees, &group->domain) *
           (Count)tuple_orders(tuples->request, degrees);
}
