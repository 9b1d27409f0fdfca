/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Entries of the tuple list: what they stand for, and what bounds alone say of them. */
#include "search/engine/explore/tuple_list_parts.h"

#include "base/util.h"
#include "search/engine/bound/tuple_bound.h"
#include "search/launch/launcher.h"

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
    if (!degrees_may_divide(&request->question.model, &work, degrees, experts_may_fold(&group->domain, degrees),
                            group->padding, &forbidden))
        return (TupleVerdict){.out = true, .reason = PRUNED_INDIVISIBLE};
    ExploreProblem problem = tuple_list_problem(tuples, entry->group, work.sequences);
    Bounds bounds = explore_bounds(&problem, cache);
    TupleBound bound = tuple_bound(&bounds, problem.least, degrees);
    entry->bound = ranked_bound(&problem, &bound);
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
    if (tuples->request->control.uncounted) return 0;
    for (int64_t batch = entry->first; batch <= entry->last; batch++)
        microbatches += (Count)knob_microbatches(degrees, tuple_batches_sequences(tuples, entry, batch));
    return group_placements(tuples, group, degrees) * microbatches *
           (Count)knob_others(&tuples->request->question.model, degrees, &group->domain) *
           (Count)tuple_orders(tuples->request, degrees);
}
