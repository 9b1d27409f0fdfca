/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/serving/explore.h: the exact Pareto front of one pool, and of two. Whole ranges of batches are cut by a bound:
 * between B1 and B2 no user gets more than 1 / t(B1), and no chip more than B2 / t(B1), since a step never gets
 * quicker by having more to do. */
#pragma once

#include "search/serving/point.h"

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

/* A search of one mode under one engine. */
typedef struct {
    const ServingQuestion *question;
    const SubMeshList *submeshes;
    ServingMode mode;
    int engine;
    ServingFront *front;
    ServingCount *count;
    Error *error;
} ServingSearch;

/* Adds every layout of one pool. False: memory is out. */
bool explore_one_pool(ServingSearch *search);

/* The same for two. */
bool explore_two_pools(ServingSearch *search);

/* Prompts alone: per_user is the inverse of the first token's wait, per_chip counts prompt tokens. */
bool explore_prompts(ServingSearch *search);

/* ---- for both ---- */

/* A line of the search log, where one is kept. */
void search_log_add(const ServingSearch *search, const ServingLayout *layout, LogLine line);

/* Counts a layout for prompts, which is a point of its own: whether it has room for one. */
bool prompts_counted(ServingSearch *search, const ServingLayout *layout, double seconds);

/* One layout with everything that no batch changes, and what one of its batches comes to. */
typedef struct LayoutSearch {
    ServingSearch *search;
    PricedLayout layout;
    /* Prices a batch, and keeps its point if it may be on the front. False: memory is out. */
    bool (*try_batch)(struct LayoutSearch *on, int64_t batch, ServingPoint *point);
    /* Fills in what no batch above that of `at_low`, up to `high`, exceeds. Whether these are cut: they are `late`, or
     * what is filled in is beaten. */
    bool (*is_cut)(const struct LayoutSearch *on, const ServingPoint *at_low, int64_t high, bool late, LogLine *line);
    void *context;
    double chip_share; /* tokens per second of a worker to those of a chip */
} LayoutSearch;

/* Tries the batches of a layout, all but those that a bound cuts. False: memory is out. */
bool explore_batches(LayoutSearch *on);

/* Rounding, and what tests add to it: bounds are multiplied by this. */
double search_slack(const ServingSearch *search);

/* most[x], x from 0 to `first_max`: how many workers of the second sub-mesh the machine holds next to x of the first;
 * -1 where it does not hold x of the first. On switches a worker lies in one domain or takes whole ones, and domains
 * are filled as well as they can be; a torus (and the slices over DCN) is cut once, across one axis, anywhere. False:
 * memory is out. */
bool packing_most(const Mesh *machine, const SubMesh *first, const SubMesh *second, int64_t first_max, Arena *arena,
                  int64_t **most);
