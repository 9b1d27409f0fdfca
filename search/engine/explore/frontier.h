/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine/explore/frontier.h: the placements of a tuple that a bound leaves, found without looking at the others.
 *
 * * Theorem. A bound that never falls when rates rise, at the true costs of the groups whose roles have been placed
 * and the least costs of the others, is no more than the bound at the rates of any placement below: placing another
 * role settles costs that are at least the least ones. So a branch of the walk (cost/time/rates_walk.h) whose bound is
 * above the threshold holds no placement that the bound leaves, and the least of the bounds at which branches were
 * left bounds all that was left out. */
#pragma once

#include "search/engine/explore/tuple_node.h"

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
    double cut_bound; /* the least bound of the placements that were left out, ranked; INFINITY where none was */
    /* Placements that were looked at one by one: those that are listed, those above the threshold, and those that pins
     * or launchers refuse, which are counted twice here. All others lie in branches that were left. */
    Count visited, refused;
} PlacementList;
static const PlacementList PLACEMENT_LIST_EMPTY = {.cut_bound = 1.0 / 0.0};
void placement_list_free(PlacementList *list);
bool placement_list_add(PlacementList *list, const BoundedPlacement *item); /* false means that memory is out */

/* Which placements are wanted. */
typedef struct {
    int64_t methods_index;      /* number of the methods in the tuple's space */
    LauncherSet able_launchers; /* one of them must be able to make the placement */
    BoundAt bound;
    const void *what; /* what `bound` is given */
    double threshold; /* ranked; a placement with a higher bound is left out */
} FrontierQuery;

/* Adds the wanted placements on all machines of the problem. */
bool frontier_find(const TupleNode *tuple, const FrontierQuery *query, PlacementList *list);

/* The placements on which some member of a family of knob settings may win. */

/* The placements on which the bound of the family is not above the threshold. Every other placement is out of reach for
 * each member of the family, since no member takes less anywhere. */
typedef struct {
    BoundRows rows; /* of the family */
    double bound;   /* of the family so far, ranked */
    bool known;     /* what follows is filled when a member that may be launched needs it */
    int64_t methods_index;
    PlacementList list;
    /* The same placements for the vectorised loop, where they are many; they live in an arena of their own. */
    RateTable table;
    double *seconds;
    Arena arena;
} FamilyFrontier;

/* Begins with the rows of a family under methods of one number; what was there is freed. */
void family_frontier_begin(FamilyFrontier *frontier, int64_t methods_index);

/* Raises the bound of the family to what every placement takes at least; if it is still not above the threshold of the
 * explorer, lists the placements where it is not. */
bool family_frontier_fill(TupleNode *tuple, FamilyFrontier *frontier);

/* The bound of a member of the family, ranked: the least over the listed placements. The other placements are above the
 * threshold. */
double family_frontier_bound(const TupleNode *tuple, const BoundRows *member, FamilyFrontier *frontier);

void family_frontier_free(FamilyFrontier *frontier);
