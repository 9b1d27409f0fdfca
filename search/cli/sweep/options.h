/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/sweep/options.h: what `sweep` and `merge` have in common: the form of the answer, and how it ends. */
#pragma once

#include "search/cli/command.h"
#include "search/sweep/sweep.h"

typedef struct {
    SweepFormat format;
    SweepGoal goal;
    const char *path; /* NULL: stdout */
    bool quiet;
} SweepOutput;

/* "text" when `text` is NULL. */
bool sweep_format_parse(const char *text, SweepFormat *out, Error *error);

/* Writes the table of a whole grid; warns of what was planned though it is odd, each warning once (not when quiet). An
 * error too, behind the table, where points contradict each other (sweep_rows_agree). */
bool sweep_answer(const SweepGrid *grid, const SweepRow *rows, const SweepOutput *output, Streams streams,
                  Error *error);

/* 4: some point is not proven; 3: no plan fits at any point, or none reaches the goal; else 0, whatever single points
 * came to. */
int sweep_exit(const SweepGrid *grid, const SweepRow *rows, const SweepGoal *goal);
