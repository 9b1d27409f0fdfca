/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/explore/frontier.h: the placements of a tuple in reach of a bound, found without looking at the others. Internal to
 * explore.c and candidate.c.
 *
 * Theorem. A bound that never falls when rates rise, at the true costs of the groups whose roles have been placed and the
 * least costs of the others, is no more than the bound at the rates of any placement below: placing another role settles
 * costs that are at least the least ones. So a branch of the walk (cost/time/rates_walk.h) whose bound is above the threshold
 * holds no placement in reach, and the least of the bounds at which branches were left bounds all that was left out. */
#ifndef SHARDOPT_SEARCH_EXPLORE_FRONTIER_H
#define SHARDOPT_SEARCH_EXPLORE_FRONTIER_H

#include "search/explore/open_tuple.h"

/* Seconds of a step that no plan with these rates takes less than; never falls when rates rise. */
typedef double (*BoundAt)(const void *what, const Rates *rates);

typedef struct {
    double bound; /* ranked */
    int machine;  /* of the problem */
    Placement placement;
    Rates rates;
} BoundedPlacement;

typedef struct {
    BoundedPlacement *items; /* machine after machine, in the order of the walks; freed by placement_list_free */
    int64_t count, room;
    double cut_bound; /* the least bound of what is out of reach, ranked; INFINITY: nothing is */
    /* Placements looked at one by one: in reach, beyond, or none that pins, launchers asked for and able_launchers allow. All
     * others lie in branches that were left. */
    Count visited, refused;
} PlacementList;
static const PlacementList PLACEMENT_LIST_EMPTY = {.cut_bound = 1.0 / 0.0};
void placement_list_free(PlacementList *list);
bool placement_list_add(PlacementList *list, const BoundedPlacement *item); /* false: memory is out */

/* Adds the placements on all machines of the problem, under the methods of number `way`, whose bound is not above the
 * threshold (ranked) and that one of `able_launchers` can make. */
bool frontier_find(const OpenTuple *tuple, int64_t methods_index, LauncherSet able_launchers, BoundAt bound,
                   const void *what, double threshold, ExploreCache *cache, PlacementList *list, Error *error);

#endif
