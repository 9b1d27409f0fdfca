/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine/explore/family_frontier.h: the placements on which some member of a family of knob settings may win. */
#pragma once

#include "search/engine/explore/frontier.h"

/* The placements on which the bound of the family is not above the threshold. Every other placement is out of reach for
 * each member of the family, since no member takes less anywhere. */
typedef struct {
    BoundRows rows; /* of the family */
    double bound;   /* of the family so far, ranked */
    bool known;     /* what follows is filled when a member that may be launched asks for it */
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
