/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/serving/report/serving_pictures.h: the pictures of an answer's page. Each draws one SVG to `out`, says in
 * words what it shows, and lists its figures in a table for who does not see it. */
#pragma once

#include "base/text/prose.h"
#include "base/text/table.h"
#include "search/serving/report/serving_report.h"

/* False: there is nothing to show, and nothing was written. The table lives in the arena. */
typedef bool ServingPicture(const ServingReport *report, Arena *arena, FILE *out, Prose *words, Table *table);

ServingPicture picture_front;      /* tokens per second of a user against those of a chip */
ServingPicture picture_chip;       /* memory of a chip by row, of the points that are shown */
ServingPicture picture_kernels;    /* the time of a step by kernel */
ServingPicture picture_throughput; /* tokens per second against batch and context, in the best point's layout */

/* The pools of the points that are shown, one after the other, as the rows of a picture. */
enum { SHOWN_POOLS_MAX = 24 };
typedef struct {
    const ServingPool *pool;
    char name[POINT_TEXT_SIZE];
} ShownPool;
int shown_pools(const ServingReport *report, ShownPool list[SHOWN_POOLS_MAX]);
