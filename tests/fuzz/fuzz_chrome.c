/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whatever the bytes are, chrome_read says yes or no with one line, and what it takes can be added up: terms of a step
 * are not negative and add up to it. No crash, no leak, no step past the end.
 *
 * libFuzzer: clang -fsanitize=fuzzer,address,undefined; without clang, -DSHARDOPT_FUZZ_MAIN runs the files given. */
#include "cost/trace/formats/chrome.h"
#include "cost/trace/rank_trace.h"
#include "tests/fuzz/files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void check(const RankTrace *rank) {
    double sum = 0;
    for (int term = 0; term < TERM_COUNT; term++) {
        if (!(rank->exposed[term] >= 0) || !(rank->length[term] >= 0)) abort();
        sum += rank->exposed[term];
    }
    if (rank->steps_used < 1 || fabs(sum - rank->step_mean) > 1e-6 * rank->step_mean) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static Arena rules;
    static KernelNames names;
    Arena arena = {0};
    Error error = {0};
    Recording recording;
    RankTraces traces = {0};
    if (!rules.last && !kernel_names_load(&rules, &names, &error)) abort();
    char *text = malloc(size + 1); /* its own allocation, so that a sanitizer sees its end */
    if (!text) return 0;
    memcpy(text, data, size);
    ByteText bytes = {text, size};
    recording_begin(&recording, &names);
    PlanShape shape = {.known = size % 2};
    for (int term = 0; term < TERM_COUNT; term++) shape.degree[term] = 1 + (int64_t)(size / 2 + (size_t)term) % 3;
    bool ok = chrome_read(byte_source_of_text(&bytes), "fuzz", &recording, &error);
    if (ok != (error.kind == ERROR_NONE) || (!ok && strchr(error.text, '\n'))) abort();
    if (ok && !rank_traces(&recording, "fuzz", &shape, &arena, &traces, &error)) abort();
    for (int i = 0; i < traces.count; i++) check(&traces.ranks[i]);
    recording_free(&recording);
    arena_free(&arena);
    free(text);
    return 0;
}
