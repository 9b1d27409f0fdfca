/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/baseline/diff.h: two reports side by side: what moved, and why. Pure but for the streams that writers are given. */
#pragma once

#include "base/arena.h"
#include "base/text/terminal.h"
#include "search/baseline/baseline_check.h"

/* A text of both reports; it is "" in a report that has none. */
typedef struct {
    const char *name, *a, *b;
} DiffText;

/* A figure that both have. */
typedef struct {
    const char *name; /* in JSON: "step_seconds" */
    const char *words;
    double a, b;
    const char *(*unit)(double value, char *text); /* into NUMBER_TEXT_SIZE bytes */
} DiffFigure;

/* One plan of either: of its degrees, schedule, machine and batch. */
typedef struct {
    const char *label;
    int rank_a, rank_b; /* from 1; 0: not among its plans */
    double seconds_a, seconds_b;
} DiffPlan;

/* What became of a plan; not listed means that it is slower than all that the other report shows. */
typedef enum { PLAN_IN_BOTH, PLAN_NEW, PLAN_GONE, PLAN_NOT_LISTED } PlanMove;

enum { DIFF_FIGURES_MAX = 8 };
typedef struct {
    const char *a_file, *b_file;
    Snapshot a, b;
    const char *a_words, *b_words; /* "llama3.1-8b on 4x4 of tpu-v5e, 256Ki tokens, seq 4096" */
    /* Only what differs. */
    DiffText *request, *search;
    int request_count, search_count;
    Cause causes[CAUSES_MAX];
    int cause_count;
    /* Of the best plans, where both have one: texts only where they differ; figures and parts all. */
    bool both;
    DiffText *plan;
    int plan_count;
    DiffFigure figures[DIFF_FIGURES_MAX];
    int figure_count;
    PartChange step[PART_CHANGES_MAX], memory[PART_CHANGES_MAX];
    int step_count, memory_count;
    DiffPlan *plans; /* by rank in B, then those that only A has, by theirs */
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
const char *diff_format_name(DiffFormat format); /* "text" "json" "markdown" "html" */
bool diff_write(const Diff *diff, DiffFormat format, TextOut out, Error *error);

/* Internal: what diff_write() is put together from. */
bool diff_write_text(const Diff *diff, TextOut out, Error *error);
bool diff_write_json(const Diff *diff, FILE *out, Error *error);
bool diff_write_markdown(const Diff *diff, FILE *out, Error *error);
bool diff_write_page(const Diff *diff, FILE *out, Error *error);
PlanMove diff_plan_move(const Diff *diff, const DiffPlan *plan);
void diff_headline(const Diff *diff, Prose *out);
/* "+1.9%", "none", "-" where there is no such share. Into `text` of NUMBER_TEXT_SIZE bytes, returned. */
const char *diff_change(double a, double b, char *text);
