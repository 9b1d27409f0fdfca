/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/engine/explore/tuple_list.h"

#include "base/util.h"
#include "search/engine/explore/cache_pool.h"
#include "search/launch/launcher.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { TUPLES_MOST = 4000000 };
/* A share of the space that fits in memory well; few enough groups for a time limit to come in between. */
enum { ENTRIES_ENOUGH = 1000000, GROUPS_AT_ONCE = 32, TUPLES_AT_ONCE = 4000000 };
/* Of a limit of memory what is listed may take so much; the rest is for what is expanded. */
static const double SHARE_OF_BUDGET = 0.75;
/* So long beyond a time limit plans are still counted: most spaces are counted whole in less. */
static const double SECONDS_TO_COUNT = 0.15;

/* ---- one group ---- */

typedef struct {
    const TupleList *tuples;
    Work work;
    const DeviceCountGroup *group;
} MayDivide;

/* Whether nothing more is listed: for time, or for memory. */
static bool is_late(const TupleList *tuples) {
    if (tuples->budget && budget_is_met(tuples->budget)) return true;
    return tuples->last > 0 && environment_clock(&tuples->request->control.environment) > tuples->last;
}

/* Whether a role has more than is required of it: later roles do not mend that. */
static bool exceeds_required(const SpaceRules *space, const Degrees *begun) {
    for (int i = 0; i < space->requirement_count; i++) {
        const Requirement *required = &space->requirements[i];
        bool most = required->op == REQUIRE_EQUAL || required->op == REQUIRE_AT_MOST;
        if (required->knob == KNOB_NONE && most && begun->of[required->role] > required->degree) return true;
    }
    return false;
}

/* degrees_may_divide() while later roles are at 1. Theorem: what fails then fails with any degrees of theirs, since
 * each condition is of one role, or of a product of which the roles so far are a divisor; a fold of experts, which
 * only a later role can end, needs less. */
static bool may_divide(const void *of, const Degrees *begun) {
    const MayDivide *may = of;
    PaddingSet forbidden;
    const Request *request = may->tuples->request;
    /* what is not listed then is counted as not reached */
    if (environment_stops(&request->control.environment) || is_late(may->tuples)) return false;
    if (request->control.uncounted && exceeds_required(&request->space, begun)) return false;
    return degrees_may_divide(&request->question.model, &may->work, begun, experts_may_fold(&may->group->domain, begun),
                              may->group->padding, &forbidden);
}

/* What is required of degrees is counted before what divides. */
static bool requires_degrees(const Request *request) {
    if (request->control.uncounted) return false;
    for (int i = 0; i < request->space.requirement_count; i++)
        if (request->space.requirements[i].knob == KNOB_NONE) return true;
    return false;
}

/* Makes the tables of a group's machines. */
static bool group_tables(TupleList *tuples, DeviceCountGroup *group, Error *error) {
    group->arena.budget = tuples->budget;
    for (int i = group->first; i < group->first + group->shape_count; i++) {
        tuples->tables[i] = placement_table(&tuples->shapes[i].mesh, tuples->request->space.roles, &group->arena);
        if (!tuples->tables[i]) return error_memory(error);
    }
    return true;
}

/* Gives back what a group has while it is listed. */
static void group_drop(TupleList *tuples, DeviceCountGroup *group) {
    for (int i = group->first; i < group->first + group->shape_count; i++)
        tuples->tables[i] = NULL, tuples->leasts[i] = NULL;
    group->least = NULL;
    group->degrees = NULL;
    group->count = 0;
    arena_free(&group->arena);
}

/* Counts the plans of one machine; where a search before this one did, with the same allowed values, takes what it
 * found. */
static bool count_machine(TupleList *tuples, const DeviceCountGroup *group, int machine, TupleListWorker *worker,
                          PlanCount *out, Error *error) {
    const struct PlanCounts *counts = tuples->request->control.counts;
    CountedMachine *known = counts && machine < counts->machine_count ? &counts->machines[machine] : NULL;
    CountedMesh of = {
        .mesh = &tuples->shapes[machine].mesh, .domain = &group->domain, .table = tuples->tables[machine]};
    if (known && known->known && memcmp(&known->domain, &group->domain, sizeof known->domain) == 0) {
        *out = known->count;
        return true;
    }
    plan_counter_until(worker->counter, tuples->last);
    if (!plans_on_mesh(worker->counter, &of, out, error)) return false;
    if (known && !out->late) *known = (CountedMachine){true, group->domain, *out};
    return true;
}

/* Counts the plans of a group's machines. */
static bool group_count_plans(TupleList *tuples, DeviceCountGroup *group, TupleListWorker *worker, Error *error) {
    group->plans = 0;
    if (!group_tables(tuples, group, error)) return false;
    for (int i = group->first; i < group->first + group->shape_count && !tuples->request->control.uncounted; i++) {
        PlanCount count;
        if (!count_machine(tuples, group, i, worker, &count, error)) return false;
        if (count.late) {
            group->plans = 0;
            return true;
        }
        if (!count_add(group->plans, count.plans, &group->plans)) return too_many_plans(error);
        group->batches = count.batches;
    }
    group->counted = true;
    return true;
}

static bool group_rates(TupleList *tuples, DeviceCountGroup *group, Error *error) {
    LowerBoundRates *together = NULL;
    CachePool *pool = tuples->request->control.caches;
    Arena *lasting = &group->arena;
    for (int i = group->first; i < group->first + group->shape_count; i++) {
        const Mesh *mesh = &tuples->shapes[i].mesh;
        const LowerBoundRates *least = pool ? cache_pool_rates(pool, mesh) : NULL;
        if (!least) least = lower_bound_rates_new(mesh, lasting);
        tuples->leasts[i] = least;
        if (!least) return error_memory(error);
        if (i == group->first + 1) together = lower_bound_rates_copy(tuples->leasts[group->first], lasting);
        if (i == group->first + 1 && !together) return error_memory(error);
        if (together) lower_bound_rates_merge(together, least);
    }
    group->least = together ? together : tuples->leasts[group->first];
    return true;
}

/* Lists tuples of a group: all, or those that may divide, where nothing else is counted before that. */
static bool group_open(TupleList *tuples, DeviceCountGroup *group, bool all, Error *error) {
    const Request *request = tuples->request;
    const MachineShape *shape = &tuples->shapes[group->first];
    MayDivide may = {tuples, request->question.work, group};
    if (request->space.batch_tolerance > 0) may.work.sequences = 0; /* of other batches some divides */
    DegreesList list = {group->degrees, group->count};
    bool ok = all || requires_degrees(request)
                  ? degrees_enumerate(&shape->mesh, request->space.roles, TUPLES_MOST, &group->arena, &list, error)
                  : degrees_enumerate_some(&shape->mesh, (DegreesRule){request->space.roles, may_divide, &may},
                                           TUPLES_MOST, &group->arena, &list, error);
    group->degrees = list.tuples;
    group->count = list.count;
    group->too_many = !ok && error->kind == ERROR_INPUT;
    if (group->too_many && (all || tuples->group_count == 1))
        return error_set(error, ERROR_INPUT, request->requested.machine,
                         "%s has more than %d ways to give degrees to roles; ask for fewer chips", shape->machine.text,
                         TUPLES_MOST);
    if (group->too_many) group_drop(tuples, group);
    return group->too_many || (ok && group_rates(tuples, group, error));
}

/* Counts a group's plans and lists its tuples; or counts them alone, for which nothing is kept. */
static bool group_prepare(TupleList *tuples, DeviceCountGroup *group, bool open, TupleListWorker *worker,
                          Error *error) {
    bool ok = group_count_plans(tuples, group, worker, error) &&
              (!open || !group->counted || group_open(tuples, group, false, error));
    if (!open || (!ok && is_late(tuples))) group_drop(tuples, group);
    return ok || (error->kind == ERROR_MEMORY && is_late(tuples)); /* that is the limit, and no failure */
}

/* Counts groups from .. to - 1, and opens them where that is wanted, one group for each thread. An interrupt leaves the
 * rest uncounted. */
static bool prepare_groups(TupleList *tuples, int from, int to, bool open, Error *error) {
    bool failed = false;
    const Environment *environment = &tuples->request->control.environment;
    tuple_list_tell(tuples, SEARCH_COUNTING, from, tuples->group_count);
#pragma omp parallel for schedule(dynamic, 1) num_threads(tuples->threads)
    for (int i = from; i < to; i++) {
        TupleListWorker *worker = &tuples->workers[omp_get_thread_num()];
        Error own = {0};
        if (environment_stops(environment) || is_late(tuples)) continue;
        tuple_list_tell(tuples, SEARCH_COUNTING, i, tuples->group_count);
        if (group_prepare(tuples, &tuples->groups[i], open, worker, &own)) continue;
#pragma omp critical
        {
            if (!failed) *error = own;
            failed = true;
        }
    }
    tuples->interrupted = tuples->interrupted || environment_stops(environment);
    tuples->late = tuples->late || is_late(tuples);
    return !failed;
}

void tuple_list_drop_share(TupleList *tuples) {
    if (tuples->budget) budget_add(tuples->budget, -tuples->entry_count * (int64_t)sizeof(TupleBatches));
    tuples->entry_count = 0;
    tuples->coverage = (Coverage){.least_floor = INFINITY, .least_missing = INFINITY};
    for (int i = 0; i < tuples->group_count; i++)
        if (tuples->groups[i].arena.last) group_drop(tuples, &tuples->groups[i]);
}

/* One group alone, with the tables of its machines. */
static bool open_alone(TupleList *tuples, DeviceCountGroup *group, bool all, Error *error) {
    return group_tables(tuples, group, error) && group_open(tuples, group, all, error);
}

bool tuple_list_ready_group(TupleList *tuples, int index, Error *error) {
    DeviceCountGroup *group = &tuples->groups[index];
    return group->least || (group_tables(tuples, group, error) && group_rates(tuples, group, error));
}

bool tuple_list_open_group(TupleList *tuples, int index, Error *error) {
    return open_alone(tuples, &tuples->groups[index], false, error);
}

bool tuple_list_whole_group(TupleList *tuples, int index, Error *error) {
    tuple_list_drop_share(tuples);
    return open_alone(tuples, &tuples->groups[index], true, error);
}

bool tuple_list_restore(TupleList *tuples, int shape, Error *error) {
    DeviceCountGroup *group = tuples->groups;
    while (shape >= group->first + group->shape_count) group++;
    return tuple_list_ready_group(tuples, (int)(group - tuples->groups), error);
}

/* ---- the list ---- */

bool tuple_list_make(const Request *request, int threads, Arena *arena, TupleList *out, Error *error) {
    *out = (TupleList){.request = request, .threads = threads};
    out->workers = ARENA_NEW(arena, TupleListWorker, (size_t)threads);
    if (!out->workers) return error_memory(error);
    for (int i = 0; i < threads; i++) {
        out->workers[i].counter = plan_counter_new(request);
        if (!out->workers[i].counter) return error_memory(error);
    }
    return tuple_list_make_groups(out, arena, error);
}

static int by_bound(const void *a, const void *b) {
    const TupleBatches *x = a, *y = b;
    if (x->bound != y->bound) return x->bound < y->bound ? -1 : 1;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    if (x->tuple != y->tuple) return x->tuple < y->tuple ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

/* Counts all plans of groups from .. to - 1 that are not counted yet as out for `reason`. */
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

/* Whether another part of the groups belongs to the share that began with group `from`. */
static bool share_goes_on(const TupleList *tuples, int from, double until) {
    if (tuples->listed_groups == tuples->group_count || tuples->entry_count >= ENTRIES_ENOUGH || tuples->interrupted ||
        tuples->late)
        return false;
    if (tuples->listed_groups > from && tuples->budget && budget_is_above(tuples->budget, SHARE_OF_BUDGET))
        return false;
    return tuples->listed_groups == from || until <= 0 ||
           environment_clock(&tuples->request->control.environment) < until;
}

static void lower_floor(TupleList *tuples, int from, int to) {
    for (int i = from; i < to; i++)
        tuples->coverage.least_floor = min_real(tuples->coverage.least_floor, group_floor_seconds(tuples, i));
}

/* The groups that are listed at once, so that their tuples fit in memory before those in question are chosen. */
static int part_end(const TupleList *tuples) {
    int to = tuples->listed_groups;
    int64_t sum = 0;
    while (to < tuples->group_count && to < tuples->listed_groups + GROUPS_AT_ONCE) {
        sum += tuples->groups[to].tuples;
        if (to > tuples->listed_groups && sum > TUPLES_AT_ONCE) break;
        to++;
    }
    return to;
}

/* Gives back what groups have of which no entry was added since there were `entries`. */
static void drop_unused(TupleList *tuples, int from, int to, int64_t entries) {
    bool used[GROUPS_AT_ONCE] = {false};
    for (int64_t i = entries; i < tuples->entry_count; i++) used[tuples->entries[i].group - from] = true;
    for (int i = from; i < to; i++)
        if (!used[i - from]) group_drop(tuples, &tuples->groups[i]);
}

/* Lists and bounds the next part of a share. */
static bool list_part(TupleList *tuples, ExploreCache *caches, double over, Error *error) {
    int from = tuples->listed_groups, to = part_end(tuples);
    int64_t entries = tuples->entry_count;
    if (!prepare_groups(tuples, from, to, true, error) ||
        !tuple_list_bound_groups(tuples, from, to, caches, over, error))
        return false;
    drop_unused(tuples, from, to, entries);
    tuples->listed_groups = to;
    return true;
}

/* Counts the plans of groups with too many tuples, of which none is looked at. */
static bool cover_skipped(TupleList *tuples, int from, Error *error) {
    Coverage *coverage = &tuples->coverage;
    for (int i = from; i < tuples->listed_groups; i++) {
        const DeviceCountGroup *group = &tuples->groups[i];
        if (!group->too_many) continue;
        if (!count_add(coverage->plans, group->plans, &coverage->plans)) return too_many_plans(error);
        coverage->skips = true;
        coverage->skipped += group->plans;
        coverage->pruned[PRUNED_TIME_LIMIT] += group->plans;
        lower_floor(tuples, i, i + 1);
    }
    return true;
}

bool tuple_list_next(TupleList *tuples, ExploreCache *caches, double until, double over, Error *error) {
    int from = tuples->listed_groups;
    tuple_list_drop_share(tuples);
    tuples->last = over > 0 ? over + SECONDS_TO_COUNT : 0;
    while (share_goes_on(tuples, from, until))
        if (!list_part(tuples, caches, over, error)) return false;
    if (tuples->entry_count > 0) qsort(tuples->entries, (size_t)tuples->entry_count, sizeof(TupleBatches), by_bound);
    bool ended = tuples->interrupted || tuples->late;
    if (ended) lower_floor(tuples, from, tuples->listed_groups);
    return cover_skipped(tuples, from, error) &&
           cover_rest(tuples, from, tuples->listed_groups, ended ? PRUNED_TIME_LIMIT : PRUNED_INDIVISIBLE, error);
}

bool tuple_list_leave(TupleList *tuples, double over, Error *error) {
    int from = tuples->listed_groups;
    tuple_list_drop_share(tuples);
    tuples->last = over > 0 ? over + SECONDS_TO_COUNT : 0;
    tuples->listed_groups = tuples->group_count;
    lower_floor(tuples, from, tuples->group_count);
    return prepare_groups(tuples, from, tuples->group_count, false, error) &&
           cover_rest(tuples, from, tuples->group_count, PRUNED_TIME_LIMIT, error);
}

void tuple_list_free(TupleList *tuples) {
    free(tuples->entries);
    for (int i = 0; tuples->workers && i < tuples->threads; i++) plan_counter_free(tuples->workers[i].counter);
    for (int i = 0; i < tuples->group_count; i++) group_drop(tuples, &tuples->groups[i]);
}
