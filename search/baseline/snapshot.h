/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/baseline/snapshot.h: a report read back as the document that it is. What is compared of it is a table for each
 * kind of report: of training, where a plan is a layout, and of serving, where it is a point of the front. Nothing is
 * copied: the document must outlive what was read of it, and its texts are as they stand there. Pure. */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "base/text/field.h"
#include "search/answer/plan_words.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

/* A figure that a check compares; its name and unit are those of the field at `path` of a plan. */
enum { CHECKED_FIGURES = 3 };
typedef struct {
    const char *key, *path; /* the key in the answer as JSON, and in --tolerance */
    const char *judged;     /* what it is judged by where both plans have it; NULL: the figure itself */
    const char *of;         /* what it is a share of where both plans have it; NULL: nothing */
    bool less_is_better;
} CheckedFigure;

typedef struct {
    const char *name, *path;
} NamedPath;

/* What is compared of the reports of one kind. A new kind is a row of KINDS in snapshot.c. */
typedef struct {
    const char *command;         /* that answers so, as reports have it; NULL: `plan` */
    const char *options, *plans; /* where a report has its options, and all its plans */
    const char *one, *all;       /* "plan"; what the number of all is called; NULL: they are listed themselves */
    const Field *fields;         /* of its plans; those that are `shown` are compared */
    CheckedFigure checked[CHECKED_FIGURES]; /* the first decides */
    const char *headline;                   /* of a comparison: of the first that is checked */
    const NamedPath *settings;              /* what else a comparison says of the best plan; ends with {0} */
    const char *const *memory;              /* the rows that add up to its memory; ends with NULL */
} ReportKind;

/* By the words of its request; what is no report at all is of training, whose reader says what is wrong with it. */
const ReportKind *report_kind(const cJSON *report);
/* A checked figure as the table of its kind has it. */
const Field *checked_field(const ReportKind *kind, int figure);
/* Which of the checked figures of any kind has this key; -1: none. */
int report_figure_named(const char *key);
/* The options that a report was made with; NULL: it has none. */
const cJSON *report_options(const cJSON *report);

/* One plan of a report; figures are read where they stand (json_real_at), 0 where the report does not say. */
typedef struct {
    const cJSON *json;
    const cJSON *step, *memory; /* what has its sums: of serving the pool that decodes */
    char label[WORDS_SIZE];     /* as plan_label() has it: "fsdp=16 tensor=4 1f1b m=32" */
} SnapshotPlan;

typedef struct {
    const cJSON *report;
    const ReportKind *kind;
    bool proven;
    int plan_count;
    SnapshotPlan best; /* of plan_count > 0 */
} Snapshot;

/* Strict about what it needs (request, search.proof, plans; of a plan of training axes, knobs, step.seconds, mfu and
 * memory.total_bytes; of a point its notation and figures); `where` names the document in errors. */
bool snapshot_read(const cJSON *report, const char *where, Snapshot *out, Error *error);
bool snapshot_plan_read(const cJSON *plan, const char *where, SnapshotPlan *out, Error *error);

/* One part of a sum, then and now; 0 where it has none. Of two plans of SNAPSHOT_TERMS_MAX terms each; a plan with more
 * is an error when it is read. */
enum { SNAPSHOT_TERMS_MAX = 32, PART_CHANGES_MAX = 2 * SNAPSHOT_TERMS_MAX };
typedef struct {
    const char *name;
    double was, now;
} PartChange;

/* The step as a sum, term by term where both reports have `terms_seconds`, else in the five parts that every report
 * has; and the rows of `memory` in bytes. In the order of the first, what only the second has behind; how many. */
int snapshot_step_changes(const SnapshotPlan *was, const SnapshotPlan *now, PartChange out[PART_CHANGES_MAX]);
int snapshot_memory_changes(const ReportKind *kind, const SnapshotPlan *was, const SnapshotPlan *now,
                            PartChange out[PART_CHANGES_MAX]);

/* Writes a value in one line: numbers and words unchanged, lists and objects by their members. */
void snapshot_words(const cJSON *value, Prose *to);

/* What distinguishes two plans in addition to their labels: "machine 4x4 -> 4x8, zero_stage 0 -> 1, another placement".
 * Nothing where both are one (degrees, machine, batch, knobs and, where both have one, placement), or the labels say
 * it all. */
void snapshot_plan_changes(const SnapshotPlan *a, const SnapshotPlan *b, Prose *to);
bool snapshot_same_plan(const SnapshotPlan *a, const SnapshotPlan *b);

/* ---- baseline.c: the file that plans are held against: a report, or an array of reports, as `plan --format json` and
 * `sweep --format json` print them, or as short as check --update writes them. Pure. */

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
