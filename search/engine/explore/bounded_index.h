/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine/explore/bounded_index.h: things named by their index, in the order of their bounds. */
#pragma once

#include "base/error.h"

#include <stdint.h>

typedef struct {
    double bound;
    int64_t index;
} BoundedIndex;

/* Sorts by rising bound; ties go by index. */
void bounded_indices_sort(BoundedIndex *items, int64_t count);

/* A list that grows; the caller frees `items`. */
typedef struct {
    BoundedIndex *items;
    int64_t count, room;
} BoundedIndexList;
bool bounded_index_add(BoundedIndexList *list, BoundedIndex item, Error *error);
