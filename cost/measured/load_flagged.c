/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/measured/flagged.h"

#include "base/file.h"
#include "cost/measured/tsv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 1 << 20 };

static int by_id(const void *a, const void *b) {
    return strcmp(((const FlaggedRun *)a)->id, ((const FlaggedRun *)b)->id);
}

static bool wrong(const char *path, int64_t line, Error *error) {
    char where[192];
    snprintf(where, sizeof where, "%.170s:%lld", path, (long long)line);
    return error_set(error, ERROR_INPUT, where, "give two columns, id and reason, under this heading");
}

bool flagged_read(const char *path, Arena *arena, FlaggedRuns *out, Error *error) {
    char *text;
    size_t length, lines = 1;
    *out = (FlaggedRuns){0};
    if (!file_read(path, FILE_MAX, arena, &text, &length, error)) return false;
    for (size_t i = 0; i < length; i++) lines += text[i] == '\n';
    out->runs = ARENA_NEW(arena, FlaggedRun, lines);
    if (!out->runs) return error_memory(error);
    TsvReader reader = tsv_start(path, text, length);
    TsvResult result;
    for (bool heading = true; (result = tsv_next(&reader, error)) == TSV_ROW; heading = false) {
        const TsvCell *cells = reader.cells;
        if (reader.count != 2 || !cells[0].text[0] || (heading && strcmp(cells[0].text, "id") != 0))
            return wrong(path, cells[0].line, error);
        if (!heading) out->runs[out->count++] = (FlaggedRun){cells[0].text, cells[1].text};
    }
    qsort(out->runs, (size_t)out->count, sizeof *out->runs, by_id);
    return result == TSV_END;
}

bool flagged_load(Arena *arena, FlaggedRuns *out, Error *error) {
    Error missing = {0};
    const char *folder = file_data_folder("cost/measured/data", arena, &missing);
    *out = (FlaggedRuns){0};
    if (!folder) return missing.kind != ERROR_MEMORY || error_memory(error);
    const char *path = arena_format(arena, "%s/flagged.tsv", folder);
    return path ? flagged_read(path, arena, out, error) : error_memory(error);
}

const FlaggedRun *flagged_find(const FlaggedRuns *flagged, const char *id) {
    const FlaggedRun wanted = {id, NULL};
    if (flagged->count == 0) return NULL;
    return bsearch(&wanted, flagged->runs, (size_t)flagged->count, sizeof wanted, by_id);
}
