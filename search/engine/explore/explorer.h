/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine/explore/explorer.h: what one thread explores degree tuples with: the problem, what it keeps from tuple to
 * tuple, and where it puts what it finds. */
#pragma once

#include "cost/time/slack.h"
#include "mesh/collective.h"
#include "search/answer/search_result.h"
#include "search/engine/bound/knob_bound.h"
#include "search/engine/bound/lower_rates.h"
#include "search/engine/explore/best_plan.h"
#include "search/engine/explore/left.h"
#include "search/engine/layout/layout.h"
#include "search/request/request.h"

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
    bool ordered; /* something was asked that depends on the order of roles */
} ExploreStats;

/* Stats of nothing, against a threshold. */
ExploreStats explore_stats_new(double threshold);
/* Notes the bound of plans that were cut, or of plans that were evaluated but not pursued. */
void explore_note_cut(ExploreStats *stats, double bound);
void explore_note_evaluated(ExploreStats *stats, double bound);
/* Notes a plan that does not fit by `missing` bytes; the plan that lacks least is kept. */
void explore_note_missing(ExploreStats *stats, const Degrees *degrees, const Knobs *knobs, double missing);

/* What degree tuples are explored for: one batch on machines with the same device count, which have the same degrees. A
 * tuple is opened once for all of them; only where its roles lie tells the machines apart. */
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
bool explore_cache_new(ExploreCache *out, Error *error); /* free with explore_cache_free in any case */
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
    int64_t batch;  /* number of the problem's batch, which is noted with them */
    Budget *budget; /* that an opened tuple is taken from; NULL: none */
    double until;   /* when the world's clock reads this, it ends as if it was interrupted; 0: no limit */
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
                    .mesh = problem->catalog_mesh};
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
