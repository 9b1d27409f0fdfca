/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/baseline/diff_page_rows.h: what diff_page.c reads, filled from the answer; it goes with diff_page.c. */
#pragma once

#include "base/text/table.h"
#include "search/baseline/baseline_check.h"
#include "search/baseline/diff.h"

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
bool diff_write_html(const Differences *diff, FILE *out, Error *error);
