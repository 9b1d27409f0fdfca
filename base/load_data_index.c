/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/build.h"
#include "base/data_index.h"
#include "base/file.h"
#include "base/util.h"

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

/* A folder whose rows are taken, and whether each is as it was noted. */
typedef struct {
    DataIndex index;
    const char *name;
    size_t length, room;
    bool whole;
} Taking;

static bool is_of(const Taking *taking, const char *line) {
    return strncmp(line, taking->name, taking->length) == 0 && line[taking->length] == '/';
}

static bool make_room(Taking *taking, const char *text, Arena *arena) {
    for (const char *line = text, *end; line; line = end ? end + 1 : NULL) {
        taking->room += is_of(taking, line);
        end = strchr(line, '\n');
    }
    taking->whole = taking->room > 0;
    taking->index.rows = ARENA_NEW(arena, IndexRow, taking->room);
    return taking->index.rows != NULL;
}

/* Takes a line, which ends in a NUL. False: memory is out. */
static bool take_row(Taking *taking, char *line, const struct stat *notes, Arena *arena) {
    char *file = index_field(&line), *size = index_field(&line), *sha256 = index_field(&line);
    const char *path = arena_format(arena, "%s%s", taking->index.folder, file + taking->length);
    if (!path) return false;
    taking->whole = taking->whole && line && is_as_noted(path, atoll(size), notes);
    if (taking->whole) taking->index.rows[taking->index.count++] = (IndexRow){file + taking->length + 1, sha256, line};
    return true;
}

static bool take_rows(char *text, Taking *list, int count, const struct stat *notes, Arena *arena) {
    for (int i = 0; i < count; i++)
        if (!make_room(&list[i], text, arena)) return false;
    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = '\0';
        for (int i = 0; i < count; i++)
            if (is_of(&list[i], line)) {
                if (!take_row(&list[i], line, notes, arena)) return false;
                break;
            }
    }
    return true;
}

/* The text of the notes, behind the heading; *text NULL: there are none that can be used. */
static bool read_notes(const char *folder, const char *name, struct stat *notes, Arena *arena, char **text,
                       Error *error) {
    Error none = {0};
    size_t length;
    const char *path = file_data_index(folder, name, arena), *heading = data_index_heading(arena);
    *text = NULL;
    if (!path || !heading) return error_memory(error);
    if (!path[0] || stat(path, notes) != 0) return true;
    if (!file_read(path, INDEX_BYTES_MAX, arena, text, &length, &none)) {
        *text = NULL;
        return !error_of_machine(&none) || (*error = none, false);
    }
    size_t first = strlen(heading);
    bool whole = strncmp(*text, heading, first) == 0 && (*text)[first] == '\n' && text_ends_in(*text, "\n" INDEX_END);
    *text = whole ? *text + first + 1 : NULL;
    return true;
}

bool data_index_read_all(const char *const *names, int count, Arena *arena, DataIndex *out, Error *error) {
    struct stat notes;
    char *text;
    Taking *list = ARENA_NEW(arena, Taking, (size_t)count);
    if (!list) return error_memory(error);
    for (int i = 0; i < count; i++) {
        list[i] = (Taking){.name = names[i], .length = strlen(names[i])};
        if (!(list[i].index.folder = file_data_folder(names[i], arena, error))) return false;
        out[i] = (DataIndex){.folder = list[i].index.folder};
    }
    if (!read_notes(out[0].folder, names[0], &notes, arena, &text, error)) return false;
    if (text && !take_rows(text, list, count, &notes, arena)) return error_memory(error);
    for (int i = 0; i < count && text; i++) {
        bool same = list[i].whole;
        if (same && !same_files(&list[i].index, &notes, arena, &same, error)) return false;
        if (same) out[i] = list[i].index;
    }
    return true;
}

bool data_index_read(const char *name, Arena *arena, DataIndex *out, Error *error) {
    return data_index_read_all(&name, 1, arena, out, error);
}
