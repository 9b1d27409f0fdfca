/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/measured/prepared.h: measured runs prepared once and priced under many sets of profiles, as a fit does it
 * (cost/measured/lab/). Stages keep the balance that they have under the set that the runs were prepared with. */
#pragma once

#include "cost/measured/rank.h"
#include "cost/measured/replay.h"

/* The last two prices of a run. A fit moves one figure after another, so most runs of a set are those of the set before
 * it, and all others differ from one point that comes back. */
typedef struct {
    Profile under[2]; /* [0]: what was met twice */
    double seconds[2];
    int count;
} PreparedPrices;

typedef struct {
    const ProfileSet *set; /* that they were prepared with */
    Replay *replays;       /* of the table's runs, in its order */
    bool *too_large;       /* predicted not to fit its HBM */
    PreparedPrices *prices;
    int64_t *unknown; /* while a set is priced: the runs that have to be */
    int64_t count;
    int threads;
} PreparedRuns;

/* What runs are prepared with; `threads` 0 means that OpenMP decides. */
typedef struct {
    const ReplayData *data;
    const ProfileSet *set;
    int threads;
} PrepareWith;

/* A run that cannot be replayed has replays[i].skipped. False: memory is out. */
bool prepared_runs(const RunTable *table, const PrepareWith *with, Arena *arena, PreparedRuns *out, Error *error);

/* Writes the seconds of every run under a set; 0 means none. The same for any number of threads. A set without an entry
 * that runs take their figures from is an error, which names `where`. */
bool prepared_seconds(PreparedRuns *runs, const ProfileSet *set, const char *where, double *seconds, Error *error);

/* The name of the entry that gives the run's chip its matrix_efficiency: its generation of chips. */
const char *prepared_generation(const PreparedRuns *runs, int64_t run);
