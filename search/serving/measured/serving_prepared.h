/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/serving/measured/serving_prepared.h: measured serving runs prepared once and replayed under one profile after
 * another, as a fit does it (cost/measured/lab/serving.py). */
#pragma once

#include "search/serving/measured/serving_replay.h"

/* A figure that runs are fitted to: what engines take beyond the kernels' own times. */
typedef struct {
    const char *key; /* as profiles spell it */
    size_t offset;   /* in a ServingProfile */
    double scale;    /* an effect of 1: about the difference between engines */
    double low, high;
    bool of_first_token; /* rows determine it by the first token too */
} FittedFigure;
const FittedFigure *fitted_figures(int *count);

/* An engine on the chips of one entry of the profile, and of the entries that say `fit_with` one of them. */
typedef struct {
    int engine;
    const cJSON *chips;     /* the names of the entry; NULL: of every other chip */
    const cJSON *older;     /* versions of the engine that are fitted apart; NULL: its others */
    const char *generation; /* of the entry; NULL: it names none */
} ServingCell;

enum { SERVING_CELLS_MAX = 64 };
typedef struct {
    const ServingRuns *runs;
    ServingOutcome *outcomes; /* by run, under the profile met last */
    int *fitted_with;         /* by run: the cell whose figures it takes; -1: skipped, or on a TPU, which has too few */
    int *cell_of;             /* that of runs that fits count; -1: drafts may have been on */
    ServingCell cells[SERVING_CELLS_MAX];
    int cell_count, threads;
    ServingReplay *with; /* by thread; the first one has what all share */
} PreparedServing;

/* Replays the runs under `profile`, which stays the caller's and lives as long as *out. `threads` 0 means that OpenMP
 * decides. */
bool serving_prepare(const ServingRuns *runs, const ServingReplay *first, int threads, PreparedServing *out,
                     Error *error);

/* Replays the runs again under another profile, which `where` names; those alone that `wanted` has (NULL: all). The
 * same for any number of threads. */
bool serving_prepared_replay(PreparedServing *prepared, const cJSON *profile, const char *where, const bool *wanted,
                             Error *error);
