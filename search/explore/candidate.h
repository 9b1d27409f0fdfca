/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/explore/candidate.h: one knob setting of a degree tuple: cut by its relaxation, or its best placement and layout.
 * Internal to explore.c. */
#ifndef SHARDOPT_SEARCH_EXPLORE_CANDIDATE_H
#define SHARDOPT_SEARCH_EXPLORE_CANDIDATE_H

#include "cost/time/slack.h"
#include "search/explore/open_tuple.h"

/* Something by its index, in the order of its bound. */
typedef struct {
    double bound;
    int64_t index;
} BoundedIndex;
int bounded_index_compare(const void *a, const void *b); /* for qsort: ties by index */

/* What does not fit, and by how many bytes. */
void note_missing(const OpenTuple *tuple, const Knobs *knobs, double missing, ExploreStats *stats);

/* The best placement and layout of knob setting `index` of the space, into *row when it beats what is there. `limit`:
 * what is above is of no use. The shard is that of the knobs; one of `able_launchers` must be able to place roles so. */
bool candidate_explore(OpenTuple *tuple, int64_t index, const Shard *shard, LauncherSet able_launchers, double limit,
                       ExploreCache *cache, BestPlan *row, ExploreStats *stats, Error *error);

/* Adds how many placements of one knob setting have a relaxed time within the limit (ranked). */
bool candidate_count_within(OpenTuple *tuple, int64_t index, const Shard *shard, LauncherSet able_launchers,
                            double limit, ExploreCache *cache, Count *within, Error *error);

#endif
