/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The small tables in addition to the runs, each in cost/measured/data; empty where a user's own data folder has none:
 *
 *   excluded (aside.tsv)  kinds of runs that are replayed but neither fitted nor scored, because what they measure is
 *                         not the plan
 *   flagged.tsv           runs that are known to be odd. A fit keeps them, its loss bounds their pull, and `calibrate`
 *                         reports the fit without them
 *   networks.tsv          words of a topology_note that imply a rate which the note does not give ("GPUDirect-TCPX") */
#pragma once

#include "cost/measured/run.h"

/* A run is of the kind if everything holds that the row gives: "" and 0 hold always. */
typedef struct {
    const char *family;     /* of the run's id */
    const char *notes;      /* in its notes */
    const char *confidence; /* its own */
    int64_t chips_over;     /* it has more chips */
    const char *reason;
} ExcludedKind;

typedef struct {
    ExcludedKind *kinds;
    int64_t count;
} ExcludedKinds;

typedef struct {
    const char *id, *reason;
} FlaggedRun;

typedef struct {
    FlaggedRun *runs; /* sorted by id */
    int64_t count;
} FlaggedRuns;

typedef struct {
    const char *word; /* anywhere in the note, case ignored */
    double gigabits;  /* Gb/s of a node, one way */
} Network;

typedef struct {
    Network *networks; /* in the file's order: the first that matches counts */
    int64_t count;
} Networks;

/* Any file with the columns that the data folder's have, under their heading; NULL: the data folder's own. What is read
 * lives in the arena. */
bool excluded_read(const char *path, Arena *arena, ExcludedKinds *out, Error *error);
bool flagged_read(const char *path, Arena *arena, FlaggedRuns *out, Error *error);
bool networks_read(const char *path, Arena *arena, Networks *out, Error *error);

/* Why a run is excluded; NULL means that it is not. */
const char *excluded_reason(const ExcludedKinds *kinds, const Run *run);
/* NULL means that the run is not flagged. */
const FlaggedRun *flagged_find(const FlaggedRuns *flagged, const char *id);
/* Gb/s of a whole node of `chips` chips, one way: from a word, else from a number as in "4x100 Gb/s RoCE per node", "8x
 * ConnectX-7 IB NDR 400Gb/s", "400 Gb/s per GPU", "3.2 Tb/s InfiniBand"; the highest of several counts, those for
 * storage excepted. 0 means that the note has none, or an absurd one. */
double network_gigabits(const Networks *networks, const char *note, double chips);
