/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/explore/explore.h: everything inside one degree tuple: its knobs by rising bound, the placements of those that may
 * win, and layouts. */
#ifndef SHARDOPT_SEARCH_EXPLORE_EXPLORE_H
#define SHARDOPT_SEARCH_EXPLORE_EXPLORE_H

#include "mesh/collective_memo.h"
#include "search/answer/search_result.h"
#include "search/bound/bound.h"
#include "search/layout/layout.h"

/* The best plan of one (degrees, expert grid, schedule). */
typedef struct {
    bool found;
    double ranked_seconds;
    double memory_bytes;
    Degrees degrees;
    Knobs knobs;
    Placement placement;
    Layout layout;
    Nesting nesting;   /* in which the placement is to be read */
    int machine;       /* index of the searched machines */
    int64_t sequences; /* its batch */
} BestPlan;

/* The total order of plans: ranked time, memory, degrees, knobs, machine, placement, nesting. <0: a is better. */
int best_plan_compare(const BestPlan *a, const BestPlan *b);

/* Whether knob settings of the same degrees are one row: of one schedule and expert grid. */
bool knobs_compete(const Knobs *a, const Knobs *b);

typedef struct {
    Count evaluated, pruned[PRUNED_COUNT], layouts_solved;
    double least_cut_bound; /* the least bound among cut plans, ranked */
    /* what plans are compared with, ranked; and the least bound of those left out because they are above it: with a
     * higher one they have to be looked at again. Others are cut because a better plan of their row is known. */
    double threshold, least_above_threshold;
    double best_seconds;     /* of the rows it gave, ranked; INFINITY: none */
    double least_open_bound; /* the least bound of a layout that the solver's work limit left open, ranked */
    double least_missing;    /* bytes above the limit of the plan that lacks least, when plans do not fit */
    Degrees missing_degrees;
    Knobs missing_knobs;
    bool ordered; /* something was asked that depends on the order of roles */
} ExploreStats;

typedef struct {
    const Request *request;
    CostContext setting; /* its work is the batch in question */
    Offers offers;
    const LowerBoundRates *least; /* over all the machines */
    /* Machines of as many devices, which have the same degrees: a tuple is opened once for all of them, and only where its
     * roles lie tells them apart. */
    const NestedMesh *nested_meshes; /* with the profile's rates, and the order of roles in question */
    const PlacementTable *const *tables;
    const LowerBoundRates *const *leasts; /* of each */
    int machine_count, first_machine;     /* number of the first among those searched */
    const Mesh *catalog_mesh;             /* of the first */
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

/* Plans that a tuple offers. */
typedef struct {
    BestPlan *rows;
    int64_t count, room;
} BestPlanList;
bool best_plan_list_add(BestPlanList *list, const BestPlan *row, Error *error);

/* Of nothing. */
ExploreStats explore_stats_new(double threshold);
/* A bound at which plans are cut, or at which evaluated ones are left at that. */
void explore_note_cut(ExploreStats *stats, double bound);
void explore_note_evaluated(ExploreStats *stats, double bound);

/* Adds the best plan of each schedule and expert grid (with --variants: of each knob setting) that is not above `threshold` (ranked;
 * what is above may be left out). The caller frees list->rows. */
bool explore_tuple(const ExploreProblem *problem, const Degrees *degrees, double threshold, ExploreCache *cache,
                   BestPlanList *list, ExploreStats *stats, Error *error);

/* Whether no plan of these degrees with the problem's batch, or with a smaller one that its replicas divide, can be
 * within `threshold` (ranked) and fit. Theorem: with fewer sequences a microbatch takes what it takes, and idle time,
 * updates and reductions are shared by less, so that per sequence nothing gets faster; memory is asked for with the
 * gradients of one microbatch. *bound: the least among those above the threshold; *missing: the least bytes above the
 * limit among those that do not fit; INFINITY where there are none. */
bool tuple_range_is_cut(const ExploreProblem *problem, const Degrees *degrees, double threshold, ExploreCache *cache,
                        double *bound, double *missing);

/* How many plans (knobs and placements) of a row's degrees and schedule have a relaxed time within `limit` (ranked). */
bool explore_count_within(const ExploreProblem *problem, const BestPlan *row, double limit, ExploreCache *cache,
                          Count *within, Error *error);

#endif
