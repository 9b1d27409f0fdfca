/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/candidate.h: one knob setting of a degree tuple: cut by its relaxation, or its best placement and layout.
 * Internal to explore.c. */
#ifndef SHARDOPT_SEARCH_CANDIDATE_H
#define SHARDOPT_SEARCH_CANDIDATE_H

#include "search/batch.h"
#include "search/explore.h"
#include "search/space.h"

/* Cut only what is above the threshold by more than rounding could make it. */
static const double CUT = 1 + 1e-12;

/* Something by its index, in the order of its bound. */
typedef struct {
    double bound;
    int64_t index;
} Keyed;
int keyed_compare(const void *a, const void *b); /* for qsort: ties by index */

/* What the knob settings of one degree tuple share; lives in the arena. */
typedef struct {
    const ExploreProblem *problem;
    const Degrees *degrees;
    Arena *arena;
    KnobSpace space;
    Count placement_total;
    Placement *placements; /* those in question, machine after machine; NULL until a knob needs them */
    int64_t placement_count;
    int64_t *ends; /* of each machine's placements */
    LauncherSet *placing; /* of each of them: launchers that can place roles so; NULL: that is not asked */
    int64_t *walked;      /* number of each placement as the walks over the machines come to it; NULL: all are in question */
    /* by number of the methods (knob_space_methods): least rates; those of all placements, table.filled when needed */
    Rates *least;
    struct {
        bool filled;
        RateTable rates;
    } *table;
} Tuple;

/* The placements in question and the table of their rates under the methods of one number, made when first asked for. */
bool tuple_rates(Tuple *tuple, int64_t way, ExploreCache *cache, Error *error);

/* The machine of one of them, counted from the problem's first. */
int tuple_machine(const Tuple *tuple, int64_t placement);

/* The rates of one of them. */
void tuple_rates_at(const Tuple *tuple, int64_t way, int64_t placement, Rates *out);

bool tuple_open(Tuple *tuple, const ExploreProblem *problem, const Degrees *degrees, Arena *arena, Error *error);

/* What does not fit, and by how many bytes. */
void note_missing(const Tuple *tuple, const Knobs *knobs, double missing, ExploreStats *stats);

/* No launcher has to take a plan. */
static const LauncherSet LAUNCHERS_NONE_NEEDED = ~0u;

/* The best placement and layout of knob setting `index` of the space, into *row when it beats what is there. `limit`:
 * what is above is of no use. The shard is that of the knobs; one of `takers` must be able to place roles so. */
bool candidate_explore(Tuple *tuple, int64_t index, const Shard *shard, LauncherSet takers, double limit,
                       ExploreCache *cache, Row *row, ExploreStats *stats, Error *error);

/* Adds how many placements of one knob setting have a relaxed time within the limit (ranked). */
bool candidate_count_within(Tuple *tuple, int64_t index, const Shard *shard, LauncherSet takers, double limit,
                            ExploreCache *cache, Count *within, Error *error);

#endif
