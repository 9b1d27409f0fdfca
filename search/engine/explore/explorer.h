/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine/explore/explorer.h: what one thread explores degree tuples with: the problem, what it keeps from tuple to
 * tuple, and where it puts what it finds. */
#pragma once

#include "base/error.h"
#include "base/number.h"
#include "cost/plan/plan.h"
#include "cost/time/slack.h"
#include "mesh/collective.h"
#include "mesh/nesting.h"
#include "search/answer/odd.h"
#include "search/answer/search_result.h"
#include "search/engine/bound/knob_bound.h"
#include "search/engine/bound/lower_rates.h"
#include "search/engine/layout/layout.h"
#include "search/request/request.h"

#include <stdbool.h>
#include <stdint.h>

/* Things named by their index, in the order of their bounds. */

typedef struct {
    double bound;
    int64_t index;
} BoundedIndex;

/* Sorts by rising bound; ties go by index. */
void bounded_indices_sort(BoundedIndex *items, int64_t count);

/* A list that grows; the caller frees `items`. */
typedef struct {
    BoundedIndex *items;
    int64_t count, room;
} BoundedIndexList;
bool bounded_index_add(BoundedIndexList *list, BoundedIndex item, Error *error);

/* A plan that was found, the order of plans, and lists of them. */

/* The best plan of one (degrees, expert grid, schedule). */
typedef struct {
    bool found;
    double ranked_seconds;
    double memory_bytes;
    Degrees degrees;
    Knobs knobs;
    Placement placement;
    Layout layout;
    Nesting nesting;   /* the order of roles in which the placement is to be read */
    int machine;       /* index of the machine among those that are searched */
    int64_t sequences; /* of its batch */
} BestPlan;

/* The total order of plans: ranked time, memory, degrees, knobs, batch, machine, placement, nesting. A negative result
 * means that `a` is better. */
int best_plan_compare(const BestPlan *a, const BestPlan *b);

/* Whether knob settings of the same degrees compete for one row of the answer: they have one schedule and one expert
 * grid. */
bool knobs_compete(const Knobs *a, const Knobs *b);

/* A list that grows; the caller frees `items`. */
typedef struct {
    BestPlan *items;
    int64_t count, room;
} BestPlanList;
bool best_plan_list_add(BestPlanList *list, const BestPlan *plan, Error *error);

/* What an expanded entry has left closed because its bound is above the threshold: disjoint sets
 * of its plans, each with a bound. With a higher threshold the search goes on with them, and looks at nothing twice. */

typedef enum {
    LEFT_BATCHES,   /* batches first_batch .. last_batch */
    LEFT_RANGE,     /* methods `index` with every context method and one split; microbatches first .. last */
    LEFT_FAMILY,    /* knob family `index` */
    LEFT_KNOBS,     /* knob setting `index` */
    LEFT_CANDIDATE, /* the same, of which the placements up to the threshold have been looked at */
} DeferredKind;

typedef struct {
    double bound; /* ranked; no plan of the set takes less */
    DeferredKind kind;
    int split;                       /* of LEFT_RANGE: a StageSplit */
    int64_t first_batch, last_batch; /* numbers of the entry's batches; one number but for LEFT_BATCHES */
    int64_t index;
    int64_t first, last;              /* of LEFT_RANGE: numbers of its microbatches among those that may divide */
    Count plans, evaluated, required; /* in all; those of a candidate that were evaluated, and that are not admitted */
} Deferred;

/* A list that grows; the caller frees `items`. */
typedef struct {
    Deferred *items;
    int64_t count, room;
} DeferredList;
bool deferred_add(DeferredList *list, const Deferred *left); /* false means that memory is out */

/* What became of plans, in numbers. Bounds are ranked seconds, INFINITY where there is none. */
typedef struct {
    Count evaluated, pruned[PRUNED_COUNT], layouts_solved;
    double least_cut_bound; /* the least bound among the plans that were cut */
    /* The ranked time that plans are compared with, and the least bound of those that were left out because they are
     * above it: with a higher threshold they have to be looked at again. Other plans are cut because a better one that
     * they compete with is known. */
    double threshold, least_above_threshold;
    double best_seconds;     /* the best ranked time of the plans that were found */
    double least_open_bound; /* the least bound of a layout that the solver's work limit left open */
    double least_missing;    /* bytes above the limit of the plan that lacks least, where plans do not fit */
    Degrees missing_degrees;
    Knobs missing_knobs;
    int64_t work; /* bounds that were made, with what takes longer counted as several */
    bool ordered; /* something was requested that depends on the order of roles */
} ExploreStats;

/* Stats of nothing, against a threshold. */
ExploreStats explore_stats_new(double threshold);
/* Notes the bound of plans that were cut, or of plans that were evaluated but not pursued. */
void explore_note_cut(ExploreStats *stats, double bound);
void explore_note_evaluated(ExploreStats *stats, double bound);
/* Notes a plan that does not fit by `missing` bytes; the plan that lacks least is kept. */
void explore_note_missing(ExploreStats *stats, const Degrees *degrees, const Knobs *knobs, double missing);

/* What degree tuples are explored for: one batch on machines with the same device count, which have the same degrees. A
 * tuple is expanded once for all of them; only where its roles lie distinguishes the machines. */
typedef struct {
    const Request *request;
    CostContext setting; /* its work is the batch in question */
    KnobDomain domain;
    const LowerBoundRates *least;    /* over all the machines */
    const NestedMesh *nested_meshes; /* with the profile's rates, and the order of roles in question */
    const PlacementTable *const *tables;
    const LowerBoundRates *const *leasts; /* of each machine */
    int machine_count, first_machine;     /* number of the first machine among those that are searched */
    const Mesh *catalog_mesh;             /* of the first machine */
    PaddingRule padding;                  /* padding_on() */
    double scale;                         /* ranked seconds per step second */
} ExploreProblem;

/* What one thread keeps from tuple to tuple. */
typedef struct {
    TotalsCache *sums;
    CollectiveMemo *memo;
} ExploreCache;
void explore_cache_free(ExploreCache *cache);
int64_t explore_cache_bytes(void); /* what one may come to */

/* One thread at work. Functions that take an explorer return false where they failed, and then `error` says why, or
 * where the search was interrupted, and then `interrupted` is true. */
typedef struct {
    const ExploreProblem *problem;
    ExploreCache *cache;
    BestPlanList plans; /* what was found; the caller frees plans.items */
    ExploreStats stats;
    DeferredList *left; /* where plans above the threshold are kept to go on with; NULL: they are counted as cut */
    int64_t batch;      /* number of the problem's batch, which is noted with them */
    Budget *budget;     /* that an expanded tuple is taken from; NULL: none */
    double until;       /* when the world's clock reads this, it ends as if it was interrupted; 0: no limit */
    bool interrupted;
    bool late; /* time was up, or memory, that is why it is interrupted */
    Error error;
} Explorer;

/* What the bounds of a problem share, with one thread's totals. */
static inline Bounds explore_bounds(const ExploreProblem *problem, TotalsCache *cache) {
    const Request *request = problem->request;
    return (Bounds){.context = &problem->setting,
                    .domain = &problem->domain,
                    .padding = problem->padding,
                    .cache = cache,
                    .launchers = request->control.brute_force ? 0 : request->space.launchers,
                    .unable = request->space.unable,
                    .mesh = problem->catalog_mesh};
}
/* Ranked seconds of a second of the step, the least of all knobs of some degrees (search/answer/odd.h). */
static inline double explore_scale(const ExploreProblem *problem, const Degrees *degrees) {
    return problem->scale * odd_least(&problem->setting, degrees);
}
static inline Bounds explorer_bounds(const Explorer *explorer) {
    return explore_bounds(explorer->problem, explorer->cache->sums);
}

/* Leaves plans above the threshold closed: kept where a list is, counted as cut where none is. */
bool explorer_leave(Explorer *explorer, Deferred left);

/* Counts as cut what was left. */
void explore_count_left(ExploreStats *stats, const Deferred *left);

/* Asks the world whether to end; once it has said so, the explorer remembers. */
bool explorer_stops(Explorer *explorer);
