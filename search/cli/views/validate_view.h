/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/views/validate_view.h: an error table as people and scripts see it: the words and tables that all forms
 * share, and the forms. */
#pragma once

#include "base/text/prose.h"
#include "base/text/table.h"
#include "base/text/terminal.h"
#include "cost/measured/validate.h"

typedef struct {
    const Validation *validation;
    const char *path;    /* of the table */
    const char *profile; /* its name and date */
    const char *sha256;  /* of the table */
    bool fitted;         /* the profile was fitted to this very table: its errors are not those of unseen runs */
    int64_t worst;       /* how many of the worst runs are shown */
    bool verbose;        /* text: every run */
} ValidateView;

bool validate_write_text(TextOut out, const ValidateView *view, Error *error);
bool validate_write_json(TextOut out, const ValidateView *view, Error *error);
bool validate_write_markdown(TextOut out, const ValidateView *view, Error *error);
/* The page with the JSON (base/text/page.h). */
bool validate_write_html(TextOut out, const ValidateView *view, Error *error);

/* ---- what they share ---- */

/* "3.1%", "+2.0%", into `text` of NUMBER_TEXT_SIZE bytes, returned. */
const char *error_text(double error, char *text);
const char *signed_error_text(double error, char *text);

/* What every form says, before any form is given to it. A Prose is empty where nothing was measured. */
typedef struct {
    Prose headline, memory, ranking, chances;
    Table cells;                 /* the order of plans, group by group where they have many */
    Table groups[BY_COUNT];      /* errors of the groups of each label */
    Table worst, every, skipped; /* measured runs, the worst first; all as in the file; why others were not replayed */
    int64_t skipped_runs;
    Table memory_by_stack, memory_runs; /* HBM: errors of each software; every run where it was measured */
} ValidateParts;

/* Everything is in the arena. NULL means that memory is out. */
ValidateParts *validate_parts(const ValidateView *view, Arena *arena, Error *error);
