/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tests/fuzz/traces.h: what holds for every trace that a reader takes: terms of a step are not negative, and add up to
 * it; a reader that does not take it says so in one line. */
#pragma once

#include "cost/trace/rank_trace.h"
#include "tests/fuzz/files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef bool (*TraceReader)(const char *bytes, size_t size, Recording *out, Error *error);

static inline void check_rank(const RankTrace *rank) {
    double sum = 0;
    for (int term = 0; term < TERM_COUNT; term++) {
        if (!(rank->exposed[term] >= 0) || !(rank->length[term] >= 0)) abort();
        sum += rank->exposed[term];
    }
    if (rank->steps_used < 1 || fabs(sum - rank->step_mean) > 1e-6 * rank->step_mean) abort();
}

/* The bytes are copied to an allocation of their own, so that a sanitizer sees their end. */
static inline void check_trace(const uint8_t *data, size_t size, TraceReader reader) {
    static Arena rules;
    static KernelNames names;
    Arena arena = {0};
    Error error = {0};
    Recording recording;
    RankTraces traces = {0};
    char *bytes = malloc(size + 1);
    if (!rules.last && !kernel_names_load(&rules, &names, &error)) abort();
    if (!bytes) return;
    memcpy(bytes, data, size);
    recording_begin(&recording, &names);
    PlanShape shape = {.known = size % 2};
    for (int term = 0; term < TERM_COUNT; term++) shape.degree[term] = 1 + (int64_t)(size / 2 + (size_t)term) % 3;
    bool ok = reader(bytes, size, &recording, &error);
    if (ok != (error.kind == ERROR_NONE) || (!ok && strchr(error.text, '\n'))) abort();
    if (ok && !rank_traces(&recording, "fuzz", &shape, &arena, &traces, &error)) abort();
    for (int i = 0; i < traces.count; i++) check_rank(&traces.ranks[i]);
    recording_free(&recording);
    arena_free(&arena);
    free(bytes);
}
