/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/explore/open_tuple.h: one degree tuple opened: its knobs, and on each machine of the problem its placements with their rates,
 * made when first asked for. Internal to explore.c and candidate.c. */
#ifndef SHARDOPT_SEARCH_EXPLORE_OPEN_TUPLE_H
#define SHARDOPT_SEARCH_EXPLORE_OPEN_TUPLE_H

#include "cost/time/rates_walk.h"
#include "search/bound/batch.h"
#include "search/explore/explore.h"
#include "search/space/knob_space.h"

/* No launcher has to take a plan. */
static const LauncherSet ANY_LAUNCHER = ~0u;

/* Where its roles can lie on one machine. */
typedef struct {
    Count total;           /* all its placements */
    Placement *placements; /* those in question; NULL until a knob needs them */
    int64_t count;
    int64_t *walk_index;         /* number of each in the order of rates_walk(); NULL: all are in question */
    LauncherSet *able_launchers; /* of each: launchers that can place roles so; NULL: that is not asked */
    RateTable *tables;           /* by number of the methods (knob_space_methods) */
    bool *filled;
} MachinePlacements;

/* What the knob settings of one degree tuple share; lives in the arena. */
typedef struct {
    const ExploreProblem *problem;
    const Degrees *degrees;
    Arena *arena;
    KnobSpace space;
    Count placement_total; /* over all machines */
    MachinePlacements *on; /* by machine of the problem */
    Rates *least;          /* over all machines, by number of the methods */
} OpenTuple;

bool open_tuple_make(OpenTuple *tuple, const ExploreProblem *problem, const Degrees *degrees, Arena *arena,
                     Error *error);

/* The placements in question on one machine and the table of their rates under the methods of one number. */
bool open_tuple_rates(OpenTuple *tuple, int machine, int64_t methods_index, ExploreCache *cache, Error *error);

/* Who can place roles so, for each placement on the machine, which has its rates. */
bool open_tuple_launchers(OpenTuple *tuple, int machine, Error *error);

/* The rates of one placement, and the least on one machine. */
void open_tuple_rates_at(const OpenTuple *tuple, int machine, int64_t methods_index, int64_t placement, Rates *out);
void open_tuple_least_rates_on(const OpenTuple *tuple, int machine, int64_t methods_index, Rates *out);

#endif
