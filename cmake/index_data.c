/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes names.tsv (base/data_index.h) of the data folder in SHARDOPT_DATA: a line for each file, its folder and name,
 * size and SHA-256, and what its reader notes of it, between tabs. A folder that cannot be read has no lines: the
 * program reads it and says why.
 *
 * usage: index_data OUT */
#include "base/data_index.h"
#include "base/file.h"
#include "base/json.h"
#include "mesh/chip_json.h"
#include "models/config/model_json.h"
#include "search/options/data_files.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What is read before the files of a folder are noted. */
typedef struct {
    Zoo zoo;
    Catalog catalog;
} Read;

typedef struct {
    const char *folder, *file, *path;
} DataFilePlace;

typedef bool Note(FILE *out, const Read *read, const DataFilePlace *place, Arena *arena, Error *error);

static bool note_model(FILE *out, const Read *read, const DataFilePlace *place, Arena *arena, Error *error) {
    (void)arena, (void)error;
    for (int i = 0; i < read->zoo.count; i++)
        if (strcmp(read->zoo.models[i].path, place->path) == 0) zoo_note(out, &read->zoo.models[i]);
    return true;
}

static bool note_chip(FILE *out, const Read *read, const DataFilePlace *place, Arena *arena, Error *error) {
    (void)read;
    cJSON *json = chip_document(place->folder, place->file, arena, error);
    char *text = json ? cJSON_PrintUnformatted(json) : NULL;
    if (text) fprintf(out, "%s", text);
    cJSON_Delete(json);
    cJSON_free(text);
    return text || error->kind != ERROR_NONE ? text != NULL : error_memory(error);
}

static bool note_optimizer(FILE *out, const Read *read, const DataFilePlace *place, Arena *arena, Error *error) {
    (void)read, (void)arena;
    cJSON *json = json_read_file(place->path, error);
    const cJSON *alias, *aliases = cJSON_GetObjectItemCaseSensitive(json, "aliases");
    cJSON_ArrayForEach(alias, aliases) if (cJSON_IsString(alias))
        fprintf(out, "%s%s", alias == aliases->child ? "" : "\t", alias->valuestring);
    cJSON_Delete(json);
    return json != NULL;
}

static bool note_nothing(FILE *out, const Read *read, const DataFilePlace *place, Arena *arena, Error *error) {
    return (void)out, (void)read, (void)place, (void)arena, (void)error, true;
}

static bool note_files(FILE *out, const char *name, Note *note, Arena *arena, Error *error) {
    Read read = {0};
    char **files, hex[SHA256_HEX_SIZE];
    size_t count;
    struct stat status;
    const char *folder = file_data_folder(name, arena, error);
    if (!folder || !file_list(folder, ".json", arena, &files, &count, error)) return false;
    if (note == note_model && !zoo_load(arena, &read.zoo, error)) return false;
    if (note == note_chip && !catalog_read(arena, &read.catalog, error)) return false;
    for (size_t i = 0; i < count; i++) {
        DataFilePlace place = {folder, files[i], arena_format(arena, "%s/%s", folder, files[i])};
        if (!place.path) return error_memory(error);
        if (!file_sha256(place.path, hex, error)) return false;
        if (stat(place.path, &status) != 0) return error_set(error, ERROR_IO, place.path, "is gone");
        fprintf(out, "%s/%s\t%lld\t%s\t", name, files[i], (long long)status.st_size, hex);
        if (!note(out, &read, &place, arena, error)) return false;
        fputc('\n', out);
    }
    return true;
}

/* The lines of one folder; "" where it cannot be read. False: memory is out. */
static bool folder_lines(const char *name, Note *note, Arena *arena, char **text) {
    Error error = {0};
    size_t length;
    FILE *out = open_memstream(text, &length);
    if (!out) return false;
    bool ok = note_files(out, name, note, arena, &error);
    if (fclose(out) != 0) return false;
    if (!ok) fprintf(stderr, "index_data: %s is left out: %s: %s\n", name, error.where, error.text);
    if (!ok) (*text)[0] = '\0';
    return true;
}

int main(int argc, char **argv) {
    static Note *const NOTES[DATA_FOLDER_COUNT] = {note_optimizer, note_nothing, note_chip, note_model};
    Arena arena = {0};
    Error error = {0};
    const char *all = argc == 2 ? data_index_heading(&arena) : NULL;
    for (size_t i = 0; i < DATA_FOLDER_COUNT && all; i++) {
        char *lines = NULL;
        if (!folder_lines(DATA_FOLDERS[i], NOTES[i], &arena, &lines)) return EXIT_FAILURE;
        all = arena_format(&arena, i == 0 ? "%s\n%s" : "%s%s", all, lines);
        free(lines);
    }
    if (all) all = arena_format(&arena, "%s" INDEX_END, all);
    bool ok = all && file_write(argv[1], all, strlen(all), &error);
    if (!ok) fprintf(stderr, "index_data: %s\n", error.text[0] ? error.text : "usage: index_data OUT");
    arena_free(&arena);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
