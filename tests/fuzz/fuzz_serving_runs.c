/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whatever the bytes are, a table of serving runs, and one of lengths, is read or refused with one line. What is read
 * has finite figures, none below zero. */
#include "search/serving/measured/serving_runs.h"
#include "search/serving/options/serving_options.h"
#include "tests/fuzz/files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void check(bool ok, const Error *error) {
    if (ok != (error->kind == ERROR_NONE) || (!ok && (error->kind != ERROR_INPUT || strchr(error->text, '\n'))))
        abort();
}

static bool is_figure(double value) { return isfinite(value) && value >= 0; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Arena arena = {0};
    Error error = {0};
    ServingRuns runs;
    char *text = malloc(size + 1);
    if (!text) return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    bool ok = serving_runs_read("fuzz", text, size, &arena, &runs, &error);
    check(ok, &error);
    for (int64_t i = 0; ok && i < runs.count; i++) {
        const ServingRun *run = &runs.runs[i];
        if (!run->model || !run->chip || !run->engine || !is_figure(run->tpot_seconds) ||
            !is_figure(run->ttft_seconds) || !is_figure(run->tokens_per_second) || !is_figure(run->concurrency))
            abort();
    }
    memcpy(text, data, size); /* the table was written to */
    text[size] = '\0';
    error = (Error){0};
    ServingQuestion *question = calloc(1, sizeof *question);
    if (question) check(serving_lengths(text, "fuzz", question, &error), &error);
    free(question);
    free(text);
    arena_free(&arena);
    return 0;
}
