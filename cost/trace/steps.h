/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/trace/steps.h: where the steps of a device begin and end. The host's annotation of a step does not contain the
 * work that it launches, for the device lags: a step of the device is from the first kernel that was launched in the
 * annotation to the first of the next. */
#pragma once

#include "cost/trace/recording.h"

typedef enum {
    STEPS_ANNOTATED, /* by the profiler's annotations and the launches in them */
    STEPS_PERIOD,    /* by a kernel that occurs once a step, where nothing is annotated */
    STEPS_WHOLE      /* one window from the first event to the last: its length is a lower bound of a step */
} StepsBy;

typedef struct {
    int64_t start_ns, end_ns;
    bool partial; /* nothing follows that would say where it ends */
    bool used;    /* it counts: whole, not the first of several, and no longer than 1.5 times the median */
} TraceStep;

typedef struct {
    TraceStep *steps;
    int count, used;
    StepsBy by;
} TraceSteps;

enum { TRACE_STEPS_MAX = 100000 };

/* The events [first, last) are those of one device, sorted, at least one. In the arena. */
bool trace_steps(const Recording *recording, int64_t first, int64_t last, Arena *arena, TraceSteps *out, Error *error);
