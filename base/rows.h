/* SPDX-License-Identifier: GPL-3.0-or-later */
/* base/rows.h: small tables of a user's, row by row; what follows a # is no part of a row, and empty rows are none. A
 * row that cannot be used is left out and named; where that is most of them, the text is no such table. */
#pragma once

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum { ROW_SIZE = 256, ROWS_NAMED = 3 };

typedef struct {
    const char *at;                         /* the rest of the table: `Rows rows = {.at = text};` is ready */
    char text[ROW_SIZE];                    /* of the row, cut to this size */
    int64_t line;                           /* of the row, from 1 */
    int64_t count, out, out_at[ROWS_NAMED]; /* rows so far; those left out, and the lines of the first */
} Rows;

bool rows_next(Rows *rows); /* false: there is no row more */
void rows_leave_out(Rows *rows);

/* After the last row. *left_out: what a warning says of the rows left out, in the arena; NULL: none was. False: more
 * were left out than kept, and *error says what is `wanted` of a row ("give a length"). */
bool rows_settle(const Rows *rows, const char *where, const char *wanted, Arena *arena, const char **left_out,
                 Error *error);
