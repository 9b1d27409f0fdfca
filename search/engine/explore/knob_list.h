/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine/explore/knob_list.h: the knob settings of a tuple that may still win, by rising bound. docs/search.md,
 * "Family bound" and "Knob bound". */
#pragma once

#include "search/engine/explore/explorer.h"
#include "search/engine/explore/tuple_node.h"

/* Adds the knob settings that sizes, memory and bounds leave against the explorer's threshold, by their index in
 * tuple->space with their ranked bounds, in rising order; all others are counted in the explorer's stats. The caller
 * frees list->items, also after a failure. */
bool knob_list_make(TupleNode *tuple, BoundedIndexList *list);

/* The same for the knob settings of `count` sets that were left above a lower threshold. */
bool knob_list_go_on(TupleNode *tuple, const Deferred *left, int64_t count, BoundedIndexList *list);
