/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine/explore/tuple_node.h: one degree tuple expanded: its knobs, and on each machine of the problem its placements
 * with their rates, which are made when they are first requested. */
#pragma once

#include "cost/time/rates_walk.h"
#include "search/engine/bound/batch.h"
#include "search/engine/explore/explorer.h"
#include "search/engine/space/knob_space.h"
#include "search/launch/launcher.h"

/* No launcher has to take a plan. */
static const LauncherSet ANY_LAUNCHER = ~0u;

/* Where the roles of a tuple can lie on one machine. */
typedef struct {
    Count total;           /* the number of all its placements */
    Placement *placements; /* those in question; NULL until a knob setting needs them */
    int64_t count;
    int64_t *walk_index;         /* number of each in the order of rates_walk(); NULL means that all are in question */
    LauncherSet *able_launchers; /* that can place roles so, for each placement; NULL means not requested */
    RateTable *tables;           /* by number of the methods (knob_space_methods) */
    bool *filled;
    LaunchMemo *launch_memo; /* NULL until it is needed */
    MadePlacements *made;    /* what the launchers of the request make; NULL until it is needed */
    Rates **made_rates;      /* of these, by number of the methods; NULL until they are requested */
} MachinePlacements;

/* What the knob settings of one degree tuple share; it lives in the arena. */
typedef struct {
    Explorer *explorer;
    const ExploreProblem *problem; /* the explorer's */
    const Degrees *degrees;
    Arena *arena;
    KnobSpace space;
    LauncherSet able_launchers; /* of those in question, that take the degrees */
    Count placement_total;      /* over all machines */
    double scale;               /* ranked seconds of a second of the step, the least of all knobs */
    MachinePlacements *on;      /* by machine of the problem */
    Rates *least;               /* over all machines, by number of the methods: tuple_node_minimum() */
    bool *least_known;
} TupleNode;

bool tuple_node_make(TupleNode *tuple, Explorer *explorer, const Degrees *degrees, Arena *arena);

/* Ranked seconds of a second of the step with these knobs: what is odd of them counts (search/answer/odd.h). */
double tuple_node_scale(const TupleNode *tuple, const Knobs *knobs);

/* The least rates over all machines under the methods of one number, made when they are first requested. */
const Rates *tuple_node_minimum(const TupleNode *tuple, int64_t methods_index);

/* Makes the placements in question on one machine, and the table of their rates under the methods of one number. */
bool tuple_node_rates(TupleNode *tuple, int machine, int64_t methods_index);

/* Finds out who can place roles so, for each placement on the machine, which has its rates. */
bool tuple_node_launchers(TupleNode *tuple, int machine);

/* What the launchers of the request make of the degrees on one machine, with the rates of each under the methods of one
 * number; *out NULL: that cannot be listed. False means that memory is out. */
bool tuple_node_made(const TupleNode *tuple, int machine, int64_t methods_index, const MadePlacements **out,
                     const Rates **rates);

/* The rates of one placement, and the least rates on one machine. */
void tuple_node_rates_at(const TupleNode *tuple, int machine, int64_t methods_index, int64_t placement, Rates *out);
void tuple_node_minimum_rates_on(const TupleNode *tuple, int machine, int64_t methods_index, Rates *out);

/* candidate.c: one knob setting of a degree tuple: its best placement and layout. */

/* Whether sizes, requirements and launchers allow a knob setting at all. */

typedef struct {
    Shard shard;                /* of the knobs */
    LauncherSet able_launchers; /* one of them must be able to place roles so; ANY_LAUNCHER means that none has to */
    PruneReason reason;         /* why the knobs are not admitted, where they are not */
} Admission;
bool knobs_admitted(const TupleNode *tuple, const Knobs *knobs, Admission *out);

/* What sizes say of a knob setting: the same for all that differ in ZeRO, gathering and offloading alone. */
typedef struct {
    bool allow;
    Shard shard;
} SizesVerdict;
SizesVerdict knobs_sizes(const TupleNode *tuple, const Knobs *knobs);
/* knobs_admitted() with that known. */
bool knobs_admitted_of_sizes(const TupleNode *tuple, const Knobs *knobs, const SizesVerdict *sizes, Admission *out);

/* Finds the best placement and layout of knob setting `index` of the space, and keeps it in *best where it beats what
 * is there. A plan above `limit` (ranked) is of no use. */
bool candidate_explore(TupleNode *tuple, int64_t index, const Admission *admission, double limit, BestPlan *best);

/* Adds how many placements of one knob setting have a relaxed time within the limit (ranked). */
bool candidate_count_within(TupleNode *tuple, int64_t index, const Admission *admission, double limit, Count *within);

/* knob_list.c: the knob settings of a tuple that may still win, by rising bound. docs/search.md, "Family bound" and
 * "Knob bound". */

/* Adds the knob settings that sizes, memory and bounds leave against the explorer's threshold, by their index in
 * tuple->space with their ranked bounds, in rising order; all others are counted in the explorer's stats. The caller
 * frees list->items, also after a failure. */
bool knob_list_make(TupleNode *tuple, BoundedIndexList *list);

/* The same for the knob settings of `count` sets that were left above a lower threshold. */
bool knob_list_go_on(TupleNode *tuple, const Deferred *left, int64_t count, BoundedIndexList *list);
