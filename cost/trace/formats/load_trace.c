/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/trace/formats/formats.h"

#include "base/file.h"
#include "base/util.h"
#include "cost/trace/formats/chrome.h"

#include <string.h>

static const char *const SUFFIXES[] = {".json", ".json.gz"};

static bool has_suffix(const char *name, const char *suffix) {
    size_t length = strlen(name), end = strlen(suffix);
    return length > end && strcmp(name + length - end, suffix) == 0;
}

bool trace_folder_list(const char *folder, Arena *arena, const char ***paths, size_t *count, Error *error) {
    char **names;
    size_t found;
    *count = 0;
    if (!file_list(folder, "", arena, &names, &found, error)) return false;
    *paths = ARENA_NEW(arena, const char *, found + 1);
    if (!*paths) return error_memory(error);
    for (size_t i = 0; i < found; i++) {
        bool known = false;
        for (size_t s = 0; s < COUNT_OF(SUFFIXES); s++) known = known || has_suffix(names[i], SUFFIXES[s]);
        if (!known) continue;
        if (!((*paths)[*count] = arena_format(arena, "%s/%s", folder, names[i]))) return error_memory(error);
        ++*count;
    }
    return *count > 0 || error_set(error, ERROR_INPUT, folder, "holds no traces (files that end in .json, .json.gz)");
}

bool trace_file_read(const char *path, Recording *out, Error *error) {
    ByteSource source;
    if (!byte_source_open(path, &source, error)) return false;
    bool ok = chrome_read(source, path, out, error);
    byte_source_close(&source);
    if (ok && out->rank < 0) out->rank = trace_rank_of_name(path);
    return ok;
}
