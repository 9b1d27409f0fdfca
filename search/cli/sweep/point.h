/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/sweep/point.h: a point of a sweep as each kind of answer plans it. */
#pragma once

#include "search/options/options.h"
#include "search/sweep/sweep.h"

typedef struct {
    const SweepGrid *grid;
    int64_t point;
    const Options *words;    /* the point's own */
    const char *data_sha256; /* of the program's data */
    bool keeps_report;       /* somebody reads the report of its row */
} SweepPoint;

/* How many chips the point's machine has; 0: *failure says why it is no request. */
typedef int64_t PointChips(const Options *words, Arena *arena, Error *failure);
PointChips training_point_chips, serving_point_chips, rl_point_chips;

/* Plans it; texts lie in the arena. False: *failure says why there is no answer; in either case `out`, which begins
 * zeroed, is the caller's to free. */
typedef bool PointSearch(const SweepPoint *point, Arena *arena, PointAnswer *out, Error *failure);
PointSearch training_point, serving_point, rl_point;
