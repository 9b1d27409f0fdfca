/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/baseline/snapshot.h: a report read back: the figures of its best plan, by which a check and a comparison see
 * whether something moved, and the parts that say what. Nothing is copied: the document must outlive what was read of
 * it, and its texts are as they stand there. Pure. */
#pragma once

#include "base/error.h"
#include "search/answer/plan_words.h"
#include "search/report/data_file.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

/* One plan of `plans`. */
typedef struct {
    const cJSON *json;
    char label[WORDS_SIZE];                        /* as plan_label() has it: "fsdp=16 tensor=4 1f1b m=32" */
    double seconds, ranked_seconds;                /* ranked 0: the report does not say */
    double mfu, hbm_bytes, hbm_limit_bytes;        /* limit 0: the report does not say */
    double tokens_per_second_per_chip, peak_flops; /* likewise */
} SnapshotPlan;

typedef struct {
    const cJSON *report;
    bool proven;
    double gap; /* of a search that is not */
    int plan_count;
    SnapshotPlan best; /* of plan_count > 0 */
} Snapshot;

/* Strict about what it needs (request, search.proof, plans; of a plan axes, knobs, step.seconds, mfu and
 * memory.total_bytes); `where` names the document in errors. */
bool snapshot_read(const cJSON *report, const char *where, Snapshot *out, Error *error);
bool snapshot_plan_read(const cJSON *plan, const char *where, SnapshotPlan *out, Error *error);

/* One part of a sum, then and now. */
typedef struct {
    const char *name;
    double was, now; /* 0 where it has none */
} PartChange;
/* Of two plans of SNAPSHOT_TERMS_MAX terms each; a plan with more is an error when it is read. */
enum { SNAPSHOT_TERMS_MAX = 32, PART_CHANGES_MAX = 2 * SNAPSHOT_TERMS_MAX };

/* The step as a sum, term by term as people read it where both reports have `terms_seconds`, else in the five parts
 * that every report has. In the order of the first, what only the second has behind. */
int snapshot_step_changes(const SnapshotPlan *was, const SnapshotPlan *now, PartChange out[PART_CHANGES_MAX]);

/* The rows of `memory`, in bytes, that add up to its total. */
int snapshot_memory_changes(const SnapshotPlan *was, const SnapshotPlan *now, PartChange out[PART_CHANGES_MAX]);

/* What distinguishes two plans in addition to their labels: "machine 4x4 -> 4x8, zero_stage 0 -> 1, another placement".
 * Nothing where both are one, or the labels say it all. */
void snapshot_plan_changes(const SnapshotPlan *a, const SnapshotPlan *b, Prose *to);

/* Whether two plans are one: degrees, machine, batch, knobs and, where both have one, placement. */
bool snapshot_same_plan(const SnapshotPlan *a, const SnapshotPlan *b);
