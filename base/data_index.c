/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/data_index.h"
#include "base/build.h"
#include "base/file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char *data_index_heading(Arena *arena) { return arena_format(arena, "# shardopt %s, data", program_version()); }

static bool is_later(struct timespec a, struct timespec b) {
    return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec > b.tv_nsec;
}

char *index_field(char **facts) {
    char *field = *facts, *end = field ? strchr(field, '\t') : NULL;
    if (end) *end = '\0';
    *facts = end ? end + 1 : NULL;
    return field;
}

/* Whether the folder has the files of the rows and no others. That takes no look into it where nothing was done to the
 * folder since the notes; unpacking a layer of an image sets a folder's times last. */
static bool same_files(const DataIndex *index, const struct stat *notes, Arena *arena, bool *same, Error *error) {
    struct stat status;
    char **names;
    size_t count;
    *same = stat(index->folder, &status) == 0 && !is_later(status.st_ctim, notes->st_ctim);
    if (*same) return true;
    if (!file_list(index->folder, ".json", arena, &names, &count, error)) return false;
    *same = count == index->count;
    for (size_t i = 0; i < count && *same; i++) *same = strcmp(names[i], index->rows[i].file) == 0;
    return true;
}

/* Whether a file is the one that was noted. Its mode and owner may be set anew by who installs it: that is after it was
 * written, and before the notes are. */
static bool is_as_noted(const char *path, long long size, const struct stat *notes) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && (long long)status.st_size == size &&
           !is_later(status.st_mtim, notes->st_mtim) && !is_later(status.st_ctim, notes->st_ctim);
}

/* Cuts the rows of a folder out of the notes. False with *whole: memory is out, else a file is not as it was noted. */
static bool take_rows(char *text, const char *name, const struct stat *notes, Arena *arena, DataIndex *out,
                      bool *whole) {
    size_t length = strlen(name), room = 0;
    for (const char *at = text, *end; at; at = end ? end + 1 : NULL) {
        room += strncmp(at, name, length) == 0;
        end = strchr(at, '\n');
    }
    *whole = true;
    out->rows = ARENA_NEW(arena, IndexRow, room);
    if (!out->rows) return false;
    for (char *line = text, *next; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = '\0';
        if (strncmp(line, name, length) != 0 || line[length] != '/') continue;
        char *file = index_field(&line), *size = index_field(&line), *sha256 = index_field(&line);
        const char *path = arena_format(arena, "%s%s", out->folder, file + length);
        if (!path) return false;
        *whole = line && out->count < room && is_as_noted(path, atoll(size), notes);
        if (!*whole) return false;
        out->rows[out->count++] = (IndexRow){file + length + 1, sha256, line};
    }
    return true;
}

bool data_index_read(const char *name, Arena *arena, DataIndex *out, Error *error) {
    struct stat notes;
    Error none = {0};
    char *text;
    size_t length;
    bool whole;
    *out = (DataIndex){.folder = file_data_folder(name, arena, error)};
    if (!out->folder) return false;
    const char *path = file_data_index(out->folder, name, arena), *heading = data_index_heading(arena);
    if (!path || !heading) return error_memory(error);
    if (!path[0] || stat(path, &notes) != 0) return true;
    if (!file_read(path, INDEX_BYTES_MAX, arena, &text, &length, &none))
        return !error_of_machine(&none) || (*error = none, false);
    size_t first = strlen(heading);
    if (strncmp(text, heading, first) != 0 || text[first] != '\n') return true; /* another version's */
    DataIndex index = {.folder = out->folder};
    if (!take_rows(text + first + 1, name, &notes, arena, &index, &whole)) return !whole || error_memory(error);
    bool same = false;
    if (index.count > 0 && !same_files(&index, &notes, arena, &same, error)) return false;
    if (same) *out = index;
    return true;
}
