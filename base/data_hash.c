/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/data_hash.h"

#include "base/file.h"
#include "base/json.h"
#include "base/util.h"

#include <string.h>

/* Sorted, so that the names of all files are, folder by folder. */
static const char *const FOLDERS[] = {"cost/optimizers", "cost/profiles", "mesh/catalog", "models/zoo"};

static bool add_file(Sha256 *all, const char *folder, const char *label, const char *name, Error *error) {
    Arena arena = {0}; /* a file is needed no longer than its digest takes */
    char *text, hex[SHA256_HEX_SIZE];
    size_t length;
    const char *path = arena_format(&arena, "%s/%s", folder, name);
    bool ok = path ? file_read(path, JSON_BYTES_MAX, &arena, &text, &length, error) : error_memory(error);
    if (ok) {
        Sha256 one = sha256_start();
        sha256_add(&one, text, length);
        sha256_hex(&one, hex);
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
