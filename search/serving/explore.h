/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/serving/explore.h: the exact front of one pool, and of two. Whole ranges of batches are cut by a bound:
 * between B1 and B2 no user gets more than 1 / t(B1), and no chip more than B2 / t(B1), since a step never gets
 * quicker by having more to do. */
#pragma once

#include "search/serving/front.h"

typedef enum { CUT_MEMORY, CUT_BOUND, CUT_LIMIT, CUT_TIME, CUT_COUNT } CutReason;
const char *cut_reason_name(CutReason reason);

/* The certificate. A point is a layout with a batch (one to SERVING_BATCH_MAX, or those of the question): covered =
 * evaluated + the sum of cut. In two pools, layouts for prompts are counted as layouts alone, and pairs as pairs. */
typedef struct {
    SpaceCount space;
    Count covered, evaluated, cut[CUT_COUNT];
    Count pairs, pairs_cut; /* two pools: prompts' workers with those that decode */
    bool complete;          /* false: a limit of time or an interrupt ended it */
} ServingCount;

enum { SERVING_BATCH_MAX = 1 << 16 };

/* Slack of a bound against rounding: a step's time is a sum of products that may round either way. */
static const double SERVING_SLACK = 1e-12;

typedef struct {
    const ServingQuestion *question;
    const BoxList *boxes;
    ServingMode mode;
    int engine;
    ServingFront *front;
    ServingCount *count;
    Error *error;
} Exploring;

/* Adds every layout of one pool under one engine. False: memory is out. */
bool explore_one_pool(Exploring *to);

/* The same for two. */
bool explore_two_pools(Exploring *to);

/* Prompts alone: per_user is the inverse of the first token's wait, per_chip counts prompt tokens. */
bool explore_prompts(Exploring *to);

/* Whether a limit of time or an interrupt ends the search. */
bool exploring_stops(Exploring *to);

/* A line of the certificate, where one is kept. */
void explored_add(const Exploring *to, const ServingLayout *layout, LedgerLine line);

/* Counts a layout for prompts, which is a point of its own: whether it has room for one. */
bool prompts_counted(Exploring *to, const ServingLayout *layout, double seconds);

/* The batches of a layout that are looked at: from *low to *high, none where *high < *low. Counts the others. */
void batches_of_layout(Exploring *to, const PricedLayout *layout, int64_t *low, int64_t *high);
