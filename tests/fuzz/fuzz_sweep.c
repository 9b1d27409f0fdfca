/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whatever the lines are, a part of a sweep is read or refused with one line. A header that is read is written as it
 * was; rows that are read make a table in every format. */
#include "search/sweep/sweep.h"
#include "tests/fuzz/files.h"

#include <stdlib.h>
#include <string.h>

static void check(bool ok, const Error *error) {
    if (ok != (error->kind == ERROR_NONE) || (!ok && (error->kind != ERROR_INPUT || strchr(error->text, '\n'))))
        abort();
}

static void write_tables(const SweepGrid *grid, const SweepRow *rows) {
    for (SweepFormat format = 0; format < SWEEP_FORMATS; format++) {
        Error error = {0};
        FILE *out = fopen("/dev/null", "w");
        bool ok = sweep_write(grid, rows, &(SweepGoal){0}, format, (TextOut){.file = out}, &error);
        if (!ok && error.kind != ERROR_INTERNAL && error.kind != ERROR_INPUT) abort();
        fclose(out);
    }
}

/* Every point of the grid from one row, as a sweep of so many would have them. */
static void read_rows(const SweepHeader *header, const char *at, const char *end, Arena *arena) {
    enum { MOST = 64 };
    SweepRow rows[MOST] = {0};
    int64_t known = 0;
    for (const char *newline; at < end && (newline = memchr(at, '\n', (size_t)(end - at))); at = newline + 1) {
        Error error = {0};
        SweepRow row;
        bool ok = sweep_row_read(&header->grid, (SweepLine){at, (size_t)(newline - at), "fuzz"}, arena, &row, &error);
        check(ok, &error);
        if (ok && (row.length != (size_t)(newline - at) || memcmp(row.line, at, row.length) != 0)) abort();
        if (ok && row.point < MOST && !rows[row.point].line) rows[row.point] = row, known++;
    }
    if (known > 0 && known == header->grid.points) write_tables(&header->grid, rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Arena arena = {0};
    Error error = {0};
    SweepHeader header;
    char *text = malloc(size + 1);
    if (!text) return 0;
    memcpy(text, data, size);
    text[size] = '\n';
    size_t first = (size_t)((char *)memchr(text, '\n', size + 1) - text);
    bool ok = sweep_header_read(text, first, "fuzz", &arena, &header, &error);
    check(ok, &error);
    if (ok) {
        const char *line = sweep_header_line(&header, &arena);
        if (!line || strncmp(line, text, first) != 0 || (line[first] != '\n' && line[first] != '\0')) abort();
        read_rows(&header, text + first + 1, text + size, &arena);
    }
    free(text);
    arena_free(&arena);
    return 0;
}
