/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/baseline/diff.h: two reports side by side: what moved, and why. The answer is the document that --format json
 * prints (docs/json.md); text and Markdown are tables of it. Pure but for the streams that writers are given. */
#pragma once

#include "base/arena.h"
#include "base/text/table.h"
#include "base/text/terminal.h"
#include "search/baseline/baseline_check.h"

/* A report as JSON; `name` names its file in errors. */
typedef struct {
    const cJSON *json;
    const char *name;
} ReportFile;

typedef struct {
    cJSON *json; /* the answer; its owner frees it with cJSON_Delete */
    const ReportKind *kind;
    bool different;
    char label[2][WORDS_SIZE]; /* of the best plans */
    Prose headline;            /* the answer in a sentence or two */
} Differences;

/* Compares two reports of one kind, whose documents must outlive *out. What is left to delete where it fails is
 * out->json as well. */
bool diff_make(const ReportFile *a, const ReportFile *b, Arena *arena, Differences *out, Error *error);

typedef enum { DIFF_TEXT, DIFF_JSON, DIFF_MARKDOWN, DIFF_HTML, DIFF_FORMATS } DiffFormat;
bool diff_write(const Differences *diff, DiffFormat format, TextOut out, Error *error);

/* "+1.9%", "none", "-" where there is no such share. Into `text` of NUMBER_TEXT_SIZE bytes, returned. */
const char *diff_change(double a, double b, char *text);

/* ---- what diff_page.c reads, filled by diff_page_rows.c; it goes with them */

/* diff_write.c: a section of the answer, and a row of it as people read it. */
typedef struct {
    const cJSON *json;   /* NULL: the answer has no such section */
    const Field *fields; /* that name its rows, or NULL */
    FieldUnit *parts;    /* of a sum, or NULL; rows of neither are texts */
    double whole;        /* of a sum: the largest part in B */
} DiffSection;
typedef struct {
    const char *name, *a, *b, *change;
    char text[3][NUMBER_TEXT_SIZE + 1];
} DiffTexts;
DiffSection diff_section(const Differences *diff, const char *key);
bool diff_row(const DiffSection *section, const cJSON *row, DiffTexts *out); /* false: it is nothing in both */
Table diff_section_table(const DiffSection *section, Arena *arena);
Table diff_ranks_table(const cJSON *plans, Arena *arena);

typedef struct {
    const char *key, *name, *a, *b, *change;
    double x, y;
} DiffRow;
typedef struct {
    DiffRow *row;
    int count;
    DiffSection section;
} DiffRows;
typedef struct {
    const char *a_file, *b_file, *a_words, *b_words;
    struct {
        const ReportKind *kind;
        struct {
            const char *label;
        } best;
    } a, b;
    DiffRows request, search, plan, figures, step, memory;
    Cause causes[CAUSES_MAX];
    int cause_count, plans_count;
    bool both, different;
    const Differences *from;
} Diff;

Table diff_table(const DiffRows *rows, Arena *arena);
Table diff_plans_table(const Diff *diff, Arena *arena);
void diff_headline(const Diff *diff, Prose *out);
bool diff_write_page(const Diff *diff, FILE *out, Error *error);
bool diff_page_rows(const Differences *diff, Arena *arena, Diff *out, Error *error); /* fills *out */
