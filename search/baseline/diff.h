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
