/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/explore/tuple_list_parts.h: what the files of the tuple list share; internal to them. */
#ifndef SHARDOPT_SEARCH_EXPLORE_TUPLE_LIST_PARTS_H
#define SHARDOPT_SEARCH_EXPLORE_TUPLE_LIST_PARTS_H

#include "search/explore/tuple_list.h"

/* Makes shapes and groups, in the arena (machines.c). */
bool tuple_list_make_groups(TupleList *tuples, Arena *arena, Error *error);

/* Bounds what groups from .. to - 1 have listed, one cache for each thread (tuple_bounds.c); `over` as in
 * tuple_list_next(). */
bool tuple_list_bound_groups(TupleList *tuples, int from, int to, ExploreCache *caches, double over, Error *error);

/* Placements of degrees on all machines of a group. */
Count group_placements(const TupleList *tuples, const DeviceCountGroup *group, const Degrees *degrees);

bool too_many_plans(Error *error);

#endif
