/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/report/text/brief_bars.h: what the first answers of all commands share: where time and memory go as bars next
 * to each other, and how many lines something takes. Internal to the reports. */
#pragma once

#include "base/text/terminal.h"
#include "search/answer/plan_words.h"

/* The parts of a whole, by size once they are written; what is less than a millionth of it is none. */
enum { PARTS_MAX = 24 };
typedef struct {
    const char *name;
    double value;
} Part;
typedef struct {
    char title[WORDS_SIZE];
    double whole; /* set before parts are added */
    bool bytes;   /* of a chip's HBM, whose free rest is a row more; otherwise seconds */
    Part parts[PARTS_MAX];
    int count;
} Parts;
void parts_add(Parts *parts, const char *name, double value);

/* The largest parts of both, at most `rows` of each; on a terminal too narrow for both one below the other. */
void brief_bars_write(const Parts *time, const Parts *memory, int rows, TextOut out);

/* A plan's step and its memory at its peak. */
void plan_time_parts(const RankedPlan *ranked, Parts *out);
void plan_memory_parts(const RankedPlan *ranked, Parts *out);

/* Bars take the rows that the rest of a screen leaves, which takes `used`: at most 6, and 2 however little is left. */
int bar_rows(int used);

/* Rows of 120 columns that a writer takes; LINES_UNKNOWN or more where memory is out, which the caller reports. */
enum { LINES_UNKNOWN = 1 << 20 };
int lines_of(bool (*write)(const void *context, TextOut out), const void *context, TextOut out);
