/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine/explore/tuple_list_parts.h: what the files of the tuple list share; internal to them. */
#pragma once

#include "search/engine/explore/tuple_list.h"

/* Makes shapes and groups, in the arena (machines.c). */
bool tuple_list_make_groups(TupleList *tuples, Arena *arena, Error *error);

/* Bounds what groups from .. to - 1 have listed, one cache for each thread (tuple_bounds.c); `over` as in
 * tuple_list_next(). */
bool tuple_list_bound_groups(TupleList *tuples, int from, int to, ExploreCache *caches, double over, Error *error);

/* Placements of degrees on all machines of a group. */
Count group_placements(const TupleList *tuples, const DeviceCountGroup *group, const Degrees *degrees);

bool too_many_plans(Error *error);

/* Says how far the list is, if somebody listens and this is the thread that searches. */
void tuple_list_tell(const TupleList *tuples, SearchStage stage, int64_t done, int64_t all);

/* Forgets what is listed; memory of the share before is given back. */
void tuple_list_drop_share(TupleList *tuples);

/* Lists the tuples of one group that may divide, and makes the tables of its machines; counts nothing. */
bool tuple_list_open_group(TupleList *tuples, int group, Error *error);

/* Makes the tables and the rates of a group's machines where it has none, and lists nothing. */
bool tuple_list_ready_group(TupleList *tuples, int group, Error *error);
