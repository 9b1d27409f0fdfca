/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/views/validate_view.h: an error table as people and scripts see it: the words and tables that all forms share,
 * and the forms. */
#ifndef SHARDOPT_SEARCH_CLI_VIEWS_VALIDATE_VIEW_H
#define SHARDOPT_SEARCH_CLI_VIEWS_VALIDATE_VIEW_H

#include "base/text/terminal.h"
#include "cost/measured/flagged.h"
#include "cost/measured/validate.h"
#include "base/text/prose.h"

typedef struct {
    const Validation *validation;
    const char *path;    /* of the table */
    const char *profile; /* its name and date */
    const char *sha256;  /* of the table */
    bool fitted;         /* the profile was fitted to this very table: its errors are not those of unseen runs */
    const FlaggedRuns *flagged;
    int64_t worst; /* how many of the worst runs are shown */
    bool verbose;  /* text: every run */
} ValidateView;

bool validate_write_text(TextOut out, const ValidateView *view, Error *error);
bool validate_write_json(TextOut out, const ValidateView *view, Error *error);
bool validate_write_markdown(TextOut out, const ValidateView *view, Error *error);
/* One page that needs nothing else: summary, picture, every run. */
bool validate_write_html(TextOut out, const ValidateView *view, Error *error);
/* Predicted against measured steps, both on logarithmic scales: a picture that stands for itself, light or dark as the
 * reader's screen is; and the same on a page, whose rules it takes. */
bool validate_write_plot(TextOut out, const ValidateView *view, Error *error);
void validate_draw_plot(FILE *out, const ValidateView *view);

/* ---- what they share ---- */

/* The answer in words; memory; order of plans. Empty where nothing was measured. */
void validate_headline(const ValidateView *view, Prose *to);
void validate_memory(const ValidateView *view, Prose *to);
void validate_ranking(const ValidateView *view, Prose *to);

/* "3.1%", "+2.0%", into `text` of NUMBER_TEXT_SIZE bytes, returned. */
const char *error_text(double error, char *text);
const char *signed_error_text(double error, char *text);

/* A table cell by cell, of texts that no form has escaped yet. */
enum { VALIDATE_CELL_SIZE = 768, VALIDATE_CELLS_MAX = 10 };
typedef struct {
    char cell[VALIDATE_CELLS_MAX][VALIDATE_CELL_SIZE];
} ValidateRow;
typedef struct {
    const char *title; /* "By source" */
    const char *heading[VALIDATE_CELLS_MAX];
    bool right[VALIDATE_CELLS_MAX];
    int columns;
    int64_t rows;
    void (*row)(const ValidateView *view, const void *of, int64_t i, ValidateRow *out);
    const void *of;
} ValidateTable;

/* Errors of the groups of one label. */
ValidateTable validate_groups(const ValidateView *view, ScoreBy by);
/* Measured runs, the worst first or all as in the table; and those that were left out. In the arena; `out` false: memory
 * is out. */
bool validate_worst(const ValidateView *view, Arena *arena, ValidateTable *out);
bool validate_every(const ValidateView *view, Arena *arena, ValidateTable *out);
bool validate_skipped(const ValidateView *view, Arena *arena, ValidateTable *out);

#endif
