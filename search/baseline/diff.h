/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/baseline/diff.h: two reports side by side: what moved, and why. Pure but for the streams that writers are
 * given. */
#pragma once

#include "base/arena.h"
#include "base/text/table.h"
#include "base/text/terminal.h"
#include "search/baseline/baseline_check.h"

/* What both reports say of one thing: texts, or numbers, which are texts as well. */
typedef struct {
    const char *key;  /* of JSON */
    const char *name; /* for people */
    const char *a, *b;
    const char *change; /* of numbers */
    double x, y;        /* the numbers */
    bool is_hidden;     /* people do not see it: it is nothing in both */
} DiffRow;

/* Rows under one title: of texts those that differ, of numbers all that both have. */
typedef struct {
    DiffRow *row;
    int count;
    bool numbers;
} DiffRows;

/* One plan of either: of its degrees, schedule, machine and batch. */
typedef struct {
    const char *label;
    int rank_a, rank_b; /* from 1; 0: not among its plans */
    double seconds_a, seconds_b;
} DiffPlan;

typedef struct {
    const char *a_file, *b_file;
    Snapshot a, b;
    const char *a_words, *b_words; /* "llama3.1-8b on 4x4 of tpu-v5e, 256Ki tokens, seq 4096" */
    DiffRows request, search;
    Cause causes[CAUSES_MAX];
    int cause_count;
    bool both;                            /* both have a plan; then, of the best: */
    DiffRows plan, figures, step, memory; /* the last two: sums, part by part */
    DiffPlan *plans;                      /* by rank in B, then those that only A has, by theirs */
    int plans_count;
    bool different;
} Diff;

/* A report as JSON; `name` names its file in errors. */
typedef struct {
    const cJSON *json;
    const char *name;
} ReportFile;

/* Compares two reports, whose documents must outlive *out. In the arena. */
bool diff_make(const ReportFile *a, const ReportFile *b, Arena *arena, Diff *out, Error *error);

typedef enum { DIFF_TEXT, DIFF_JSON, DIFF_MARKDOWN, DIFF_HTML, DIFF_FORMATS } DiffFormat;
bool diff_write(const Diff *diff, DiffFormat format, TextOut out, Error *error);

/* "+1.9%", "none", "-" where there is no such share. Into `text` of NUMBER_TEXT_SIZE bytes, returned. */
const char *diff_change(double a, double b, char *text);

/* Internal: what diff_write() is put together from. A table without rows: there is nothing to say. */
Table diff_table(const DiffRows *rows, Arena *arena);
Table diff_plans_table(const Diff *diff, Arena *arena);
void diff_headline(const Diff *diff, Prose *out);
