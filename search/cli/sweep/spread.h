/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/sweep/spread.h: who plans which point. One process reads its own queue; under `mpirun`, where the program
 * was built with SHARDOPT_MPI, rank 0 keeps the queue and every other rank reads it. search/cli/sweep/mpi.c speaks MPI
 * and is of the program alone; search/cli/sweep/alone.c stands in for it in the library, and where there is none. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Hands out points, and takes their rows (a row: one line of JSON, search/sweep/sweep.h). */
typedef struct {
    void *of;
    int64_t (*next)(void *of); /* the next point to plan; -1: there is none */
    bool (*deliver)(void *of, const char *row, size_t length, Error *error);
} SweepLog;

typedef struct {
    int rank, ranks; /* 0 of 1: alone */
    bool launched;   /* by mpirun or the like: its terminal is not the user's, so the bytes are those for a file */
} SweepCrew;

/* Before anything else of a sweep; spread_end() after all of it. */
SweepCrew spread_start(void);
void spread_end(SweepCrew crew);

/* Rank 0 of several: answers the others until all of them have gone. `mark` names grid, data and program: a rank with
 * another mark is an error. NULL for the queue sends them home. After an error no more points are handed out. */
bool spread_serve(SweepCrew crew, const SweepLog *search_log, const char *mark, Error *error);

/* The others: a queue that reads from rank 0. One at a time. */
SweepLog spread_remote(const char *mark);

/* The others, instead of asking for a point: rank 0 is to end with this error. */
void spread_fail(const Error *error);
