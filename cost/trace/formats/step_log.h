/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/trace/formats/step_log.h: how long steps took, by the lines that Megatron-LM, Megatron-Bridge, NeMo and MaxText
 * print. */
#ifndef SHARDOPT_COST_TRACE_FORMATS_STEP_LOG_H
#define SHARDOPT_COST_TRACE_FORMATS_STEP_LOG_H

#include "base/byte_source.h"

#include <stdbool.h>

typedef struct {
    const char *file, *launcher; /* "Megatron-LM" */
    int steps, used; /* lines with a time, and those that count: not the first three of more than six, and no longer
                      * than 1.5 times the median, as those with a checkpoint are */
    double median, lower, upper; /* seconds; the quartiles */
    bool cut;                    /* there were more lines than are kept */
} StepLog;

/* Reads a log of any length. False: it has no line of a step; errors name `where`, and so does `file`. */
bool step_log_read(ByteSource source, const char *where, StepLog *out, Error *error);

/* Whether the first bytes of a file may begin a log: text that is no JSON. `head` ends with a NUL. */
bool step_log_begins(const char *head);

#endif
