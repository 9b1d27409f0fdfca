/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/baseline/baseline.h: the file that plans are held against: a report, or an array of reports, as `plan --format
 * json` and `sweep --format json` print them, or as short as check --update writes them. Pure. */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "search/baseline/snapshot.h"

enum { BASELINE_ENTRIES_MAX = 10000 };

typedef struct {
    const char *name;  /* "llama3.1-8b on 4x4 of tpu-v5e, 256Ki tokens, seq 4096"; no two entries have one */
    const char *where; /* in errors: "plans.json: [3]" */
    const cJSON *report;
    bool edited;    /* the request was changed after its plan was made */
    bool has_plans; /* false: only a request, of which --update is to make a report */
    Snapshot was;   /* where has_plans */
} BaselineEntry;

typedef struct {
    bool is_array;
    BaselineEntry *entries;
    int count;
} Baseline;

/* Reads the document of `file`, which must outlive the baseline. An entry may be a row of `sweep` whose point was
 * planned. Without `plans` an entry is a request yet to be planned, which is an error unless `incomplete`. */
bool baseline_read(const cJSON *json, const char *file, bool incomplete, Arena *arena, Baseline *out, Error *error);

/* What a request is called among others. In the arena; NULL: memory is out. */
const char *baseline_name(const cJSON *request, Arena *arena);

/* A report with nothing but what a check reads of it: docs/json.md. `request` stands in it in place of its own. NULL:
 * memory is out. The caller frees. */
cJSON *baseline_compact(const cJSON *report, const cJSON *request);
