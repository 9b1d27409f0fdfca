/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/measured/aside.h"

#include "base/file.h"
#include "base/number.h"
#include "base/util.h"
#include "cost/measured/tsv.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FILE_MAX = 1 << 20, COLUMNS = 5, CHIPS_MOST = 1 << 30 };

static bool wrong(const char *path, int64_t line, Error *error) {
    char where[192];
    snprintf(where, sizeof where, "%.170s:%lld", path, (long long)line);
    return error_set(error, ERROR_INPUT, where,
                     "give five columns, family, notes, confidence, chips_over and reason, under this heading");
}

static bool read_kind(const char *path, const TsvCell *cells, AsideKind *out, Error *error) {
    *out = (AsideKind){cells[0].text, cells[1].text, cells[2].text, 0, cells[4].text};
    if (!out->family[0] || !out->reason[0]) return wrong(path, cells[0].line, error);
    return !cells[3].text[0] || number_whole(cells[3].text, path, 1, CHIPS_MOST, &out->chips_over, error);
}

bool aside_read(const char *path, Arena *arena, AsideKinds *out, Error *error) {
    char *text;
    size_t length, lines = 1;
    *out = (AsideKinds){0};
    if (!file_read(path, FILE_MAX, arena, &text, &length, error)) return false;
    for (size_t i = 0; i < length; i++) lines += text[i] == '\n';
    out->kinds = ARENA_NEW(arena, AsideKind, lines);
    if (!out->kinds) return error_memory(error);
    TsvReader reader = tsv_start(path, text, length);
    TsvResult result;
    for (bool heading = true; (result = tsv_next(&reader, error)) == TSV_ROW; heading = false) {
        const TsvCell *cells = reader.cells;
        if (reader.count != COLUMNS || (heading && strcmp(cells[0].text, "family") != 0))
            return wrong(path, cells[0].line, error);
        if (!heading && !read_kind(path, cells, &out->kinds[out->count++], error)) return false;
    }
    return result == TSV_END;
}

bool aside_load(Arena *arena, AsideKinds *out, Error *error) {
    Error missing = {0};
    const char *folder = file_data_folder("cost/measured/data", arena, &missing);
    *out = (AsideKinds){0};
    if (!folder) return missing.kind != ERROR_MEMORY || error_memory(error);
    const char *path = arena_format(arena, "%s/aside.tsv", folder);
    if (!path) return error_memory(error);
    return access(path, F_OK) != 0 || aside_read(path, arena, out, error);
}

const char *aside_reason(const AsideKinds *kinds, const Run *run) {
    for (int i = 0; i < kinds->count; i++) {
        const AsideKind *kind = &kinds->kinds[i];
        if (strcmp(kind->family, run->family) == 0 && (!kind->notes[0] || text_has(run->notes, kind->notes)) &&
            (!kind->confidence[0] || strcmp(kind->confidence, run->confidence) == 0) && run->chips > kind->chips_over)
            return kind->reason;
    }
    return NULL;
}
