/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine/explore/left.h: what an opened entry has left closed because its bound is above the threshold: disjoint sets
 * of its plans, each with a bound. With a higher threshold the search goes on with them, and looks at nothing twice. */
#pragma once

#include "base/number.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum {
    LEFT_BATCHES,   /* batches first_batch .. last_batch */
    LEFT_RANGE,     /* methods `index` with every context method and one split; microbatches first .. last */
    LEFT_FAMILY,    /* knob family `index` */
    LEFT_KNOBS,     /* knob setting `index` */
    LEFT_CANDIDATE, /* the same, of which the placements up to the threshold have been looked at */
} DeferredKind;

typedef struct {
    double bound; /* ranked; no plan of the set takes less */
    DeferredKind kind;
    int split;                       /* of LEFT_RANGE: a StageSplit */
    int64_t first_batch, last_batch; /* numbers of the entry's batches; one number but for LEFT_BATCHES */
    int64_t index;
    int64_t first, last;              /* of LEFT_RANGE: numbers of its microbatches among those that may divide */
    Count plans, evaluated, required; /* in all; those of a candidate that were evaluated, and that are not admitted */
} Deferred;

/* A list that grows; the caller frees `items`. */
typedef struct {
    Deferred *items;
    int64_t count, room;
} DeferredList;
bool deferred_add(DeferredList *list, const Deferred *left); /* false means that memory is out */
