/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tests/search/sweep/rows.h: rows that no planner made, and what is written of them. */
#pragma once

#include "base/json.h"
#include "search/sweep/sweep.h"

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* A row whose "best" is the JSON of a format; NULL: no plan. The caller frees it. */
static inline SweepRow made_row(const SweepGrid *grid, int64_t point, PointState state, const char *message,
                                const char *best, ...) {
    char text[1024] = "";
    Error error = {0};
    SweepRow row;
    PointAnswer answer = {.state = state, .message = message};
    va_list values;
    va_start(values, best);
    if (best) vsnprintf(text, sizeof text, best, values);
    va_end(values);
    if (best) cr_assert_not_null(answer.best = cJSON_Parse(text), "%s", text);
    if (state != POINT_ERROR) answer.report = cJSON_CreateObject();
    cr_assert(sweep_row_new(grid, point, &answer, &row, &error), "%s", error.text);
    return row;
}

/* "1.5", or "null" for what is below 0. */
static inline const char *json_figure(double value, char text[NUMBER_TEXT_SIZE]) {
    snprintf(text, NUMBER_TEXT_SIZE, value < 0 ? "null" : "%.17g", value);
    return text;
}

static inline char *written(const SweepGrid *grid, const SweepRow *rows, const SweepGoal *goal, SweepFormat format) {
    char *text = NULL;
    size_t length = 0;
    Error error = {0};
    FILE *out = open_memstream(&text, &length);
    cr_assert_not_null(out);
    cr_assert(sweep_write(grid, rows, goal, format, (TextOut){.file = out}, &error), "%s", error.text);
    cr_assert_eq(fclose(out), 0);
    return text;
}
