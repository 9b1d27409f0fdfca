/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/options/data_hash.h"

#include "base/file.h"
#include "base/json.h"
#include "base/util.h"

#include <string.h>

/* Sorted, so that the names of all files are, folder by folder. */
static const char *const FOLDERS[] = {"cost/optimizers", "cost/profiles", "mesh/catalog", "models/zoo"};

bool file_sha256(const char *path, char hex[SHA256_HEX_SIZE], Error *error) {
    Arena arena = {0}; /* a file is needed no longer than its digest takes */
    char *text;
    size_t length;
    bool ok = file_read(path, JSON_BYTES_MAX, &arena, &text, &length, error);
    if (ok) {
        Sha256 hash = sha256_start();
        sha256_add(&hash, text, length);
        sha256_hex(&hash, hex);
    }
    arena_free(&arena);
    return ok;
}

static bool add_file(Sha256 *all, const char *folder, const char *label, const char *name, Error *error) {
    Arena arena = {0};
    char hex[SHA256_HEX_SIZE];
    const char *path = arena_format(&arena, "%s/%s", folder, name);
    bool ok = path ? file_sha256(path, hex, error) : error_memory(error);
    if (ok) {
        const char *line = arena_format(&arena, "%s  %s/%s\n", hex, label, name);
        if (line)
            sha256_add(all, line, strlen(line));
        else
            ok = error_memory(error);
    }
    arena_free(&arena);
    return ok;
}

bool file_data_sha256(char hex[SHA256_HEX_SIZE], Arena *arena, Error *error) {
    Sha256 all = sha256_start();
    for (size_t i = 0; i < COUNT_OF(FOLDERS); i++) {
        char **names;
        size_t count;
        const char *folder = file_data_folder(FOLDERS[i], arena, error);
        if (!folder || !file_list(folder, ".json", arena, &names, &count, error)) return false;
        for (size_t n = 0; n < count; n++)
            if (!add_file(&all, folder, FOLDERS[i], names[n], error)) return false;
    }
    sha256_hex(&all, hex);
    return true;
}

bool data_file(const char *path, const char *folder, Arena *arena, DataFile *out, Error *error) {
    const char *root = file_data_folder(folder, arena, error);
    if (!root || !file_sha256(path, out->sha256, error)) return false;
    size_t length = strlen(root);
    bool inside = strncmp(path, root, length) == 0 && path[length] == '/';
    out->file = inside ? arena_format(arena, "%s%s", folder, path + length) : arena_text(arena, path);
    return out->file || error_memory(error);
}
