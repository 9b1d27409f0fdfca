/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/measured/flagged.h: published runs that are odd by what is known of them (cost/measured/data/flagged.tsv: id and
 * reason). A fit keeps them, its loss bounds their pull, and `calibrate` says what it would be without. */
#ifndef SHARDOPT_COST_MEASURED_FLAGGED_H
#define SHARDOPT_COST_MEASURED_FLAGGED_H

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

/* cost/measured/data/flagged.tsv; none where the data folder, which may be somebody's own, has no runs. */
bool flagged_load(Arena *arena, FlaggedRuns *out, Error *error);
bool flagged_read(const char *path, Arena *arena, FlaggedRuns *out, Error *error);
/* NULL: it is not flagged. */
const FlaggedRun *flagged_find(const FlaggedRuns *flagged, const char *id);

#endif
