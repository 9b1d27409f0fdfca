/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/measured/flagged.h: published runs that are known to be odd (cost/measured/data/flagged.tsv: id and reason). A
 * fit keeps them, its loss bounds their pull, and `calibrate` reports the fit without them. */
#pragma once

#include "base/arena.h"
#include "base/error.h"

#include <stdint.h>

typedef struct {
    const char *id, *reason;
} FlaggedRun;

typedef struct {
    FlaggedRun *runs; /* sorted by id */
    int64_t count;
} FlaggedRuns;

/* Reads cost/measured/data/flagged.tsv; the list is empty where the data folder, which may be a user's own, has no
 * runs. */
bool flagged_load(Arena *arena, FlaggedRuns *out, Error *error);
bool flagged_read(const char *path, Arena *arena, FlaggedRuns *out, Error *error);
/* NULL means that the run is not flagged. */
const FlaggedRun *flagged_find(const FlaggedRuns *flagged, const char *id);
