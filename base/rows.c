/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/rows.h"

#include "base/util.h"

#include <stdio.h>
#include <string.h>

bool rows_next(Rows *rows) {
    while (*rows->at) {
        size_t length = strcspn(rows->at, "\r\n#");
        rows->line++;
        snprintf(rows->text, sizeof rows->text, "%.*s", (int)min_whole((int64_t)length, ROW_SIZE - 1), rows->at);
        rows->at += strcspn(rows->at, "\n");
        rows->at += *rows->at == '\n';
        if (rows->text[strspn(rows->text, " \t")] == '\0') continue;
        rows->count++;
        return true;
    }
    return false;
}

void rows_leave_out(Rows *rows) {
    if (rows->out < ROWS_NAMED) rows->out_at[rows->out] = rows->line;
    rows->out++;
}

bool rows_settle(const Rows *rows, const char *where, const char *wanted, Arena *arena, const char **left_out,
                 Error *error) {
    char lines[ROWS_NAMED * 24] = "", more[48] = "";
    *left_out = NULL;
    if (rows->out == 0) return true;
    if (2 * rows->out > rows->count)
        return error_set(error, ERROR_INPUT, where, "line %lld: %s", (long long)rows->out_at[0], wanted);
    for (int64_t i = 0, used = 0; i < min_whole(rows->out, ROWS_NAMED); i++)
        used +=
            snprintf(lines + used, sizeof lines - (size_t)used, "%s%lld", i ? ", " : "", (long long)rows->out_at[i]);
    if (rows->out > ROWS_NAMED) snprintf(more, sizeof more, " and %lld more", (long long)(rows->out - ROWS_NAMED));
    *left_out =
        arena_format(arena, "%s: line%s %s%s left out; %s", where, rows->out > 1 ? "s" : "", lines, more, wanted);
    return *left_out || error_memory(error);
}
