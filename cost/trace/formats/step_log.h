/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/trace/formats/step_log.h: how long steps took, by the lines that Megatron-LM, Megatron-Bridge, NeMo, MaxText and
 * torchtitan print, and what Megatron's timers say of their parts. */
#pragma once

#include "base/byte_source.h"

#include <stdbool.h>

/* A part of the step by a timer of Megatron: the mean over its reports but the first, of the fastest and of the slowest
 * rank; where a log has the slowest alone, both are that. */
typedef struct {
    char name[40];      /* "forward-backward" */
    double least, most; /* seconds */
    int reports;
} StepTimer;

enum { STEP_TIMERS_MAX = 24 };
typedef struct {
    const char *file, *launcher; /* "Megatron-LM" */
    int steps, used; /* lines with a time, and those that count: not the first three of more than six, and no longer
                      * than 1.5 times the median, as those with a checkpoint are */
    double median, lower, upper; /* seconds; the quartiles */
    bool cut;                    /* there were more lines than are kept */
    /* torchtitan says how many tokens a device gets through, and no step: then all seconds are those of one token of
     * one device, until step_log_scale() */
    bool of_tokens;
    StepTimer timers[STEP_TIMERS_MAX];
    int timer_count;
} StepLog;

/* Makes seconds of tokens those of a step, of which a device has so many tokens; other logs stay. */
void step_log_scale(StepLog *log, double tokens_of_device);

/* Reads a log of any length. False: it has no line of a step; errors name `where`, and so does `file`. */
bool step_log_read(ByteSource source, const char *where, StepLog *out, Error *error);

/* Whether the first bytes of a file may begin a log: text that is no JSON. `head` ends with a NUL. */
bool step_log_begins(const char *head);
