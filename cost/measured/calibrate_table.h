/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/measured/calibrate_table.h: a table of words, as aligned text or as markdown. */
#ifndef SHARDOPT_COST_MEASURED_CALIBRATE_TABLE_H
#define SHARDOPT_COST_MEASURED_CALIBRATE_TABLE_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdio.h>

enum { TABLE_COLUMNS_MAX = 16 };

typedef struct {
    Arena *arena;
    const char **cells; /* `count` of them, by rows, the heading first */
    int columns, count, room;
    int left; /* the first columns are words, aligned to the left; the others are numbers, aligned to the right */
    bool failed;
} CalibrationTable;

/* `heading` holds the names of the columns. */
CalibrationTable table_start(Arena *arena, int columns, int left, const char *const *heading);
/* Writes the next cell, row by row. */
void table_cell(CalibrationTable *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* False means that memory is out. */
bool table_print(FILE *out, const CalibrationTable *table, bool markdown);

#endif
