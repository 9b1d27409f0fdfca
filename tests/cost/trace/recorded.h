/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tests/cost/trace/recorded.h: recordings filled by hand, with the rules of names that the program has. */
#pragma once

#include "cost/trace/recording.h"

#include <criterion/criterion.h>
#include <string.h>

static Arena recorded_arena;
static KernelNames recorded_names;
static Recording recorded;

static inline void recorded_begin(void) {
    Error error = {0};
    cr_assert(kernel_names_load(&recorded_arena, &recorded_names, &error), "%s", error.text);
    recording_begin(&recorded, &recorded_names);
}

static inline void recorded_end(void) {
    recording_free(&recorded);
    arena_free(&recorded_arena);
}

/* A kernel of device 0, in microseconds; `launched`: when the host launched it on thread 1, negative: nobody knows. */
static inline TraceEvent *recorded_kernel(const char *name, int64_t start, int64_t end, int64_t launched) {
    TraceEvent event = {.start_ns = 1000 * start, .end_ns = 1000 * end, .group = -1, .sequence = -1};
    event.name = recording_name(&recorded, name, strlen(name));
    event.device = recording_device(&recorded, 0, 0);
    if (launched >= 0) {
        event.launch = recorded.launch_count + 1;
        TraceLaunch launch = {event.launch, 1000 * launched, recording_thread(&recorded, 1)};
        cr_assert(recording_add_launch(&recorded, launch));
    }
    cr_assert(recording_add(&recorded, &event));
    return &recorded.events[recorded.event_count - 1];
}

static inline void recorded_range(const char *name, int64_t start, int64_t end) {
    TraceRange range = {.start_ns = 1000 * start, .end_ns = 1000 * end, .thread = recording_thread(&recorded, 1)};
    cr_assert(recording_add_range(&recorded, name, range));
}

static inline void recorded_finish(void) {
    Error error = {0};
    cr_assert(recording_finish(&recorded, "trace", &error), "%s", error.text);
}
