/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Launch files at random, and what a module of Python reads in them beside one of our readers: the same keys and
 * values. */
#pragma once

#include "base/util.h"
#include "search/launch/syntax/config_file.h"

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILES = 400, FILE_TEXT = 8192, ANCHORS = 256, ENTRIES = 4096 };

static uint64_t random_state = 20261125;

static inline unsigned below(unsigned count) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(random_state >> 33) % count;
}

typedef struct {
    char text[FILE_TEXT];
    size_t used;
    int names;
    int anchors, anchor[ANCHORS]; /* of YAML: of tables that have ended */
    bool carriage;                /* lines end in CR LF */
} RandomFile;

__attribute__((format(printf, 2, 3))) static inline void put(RandomFile *to, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    to->used += (size_t)vsnprintf(to->text + to->used, sizeof to->text - to->used, format, arguments);
    va_end(arguments);
}

static inline const char *one_of(const char *const *list, unsigned count) { return list[below(count)]; }
#define ONE_OF(...)                                                                                                    \
    one_of((const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static inline int by_bytes(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* The entries, which end in 30, in the order of their bytes. */
static inline char *sorted_entries(char *text) {
    char *lines[ENTRIES], *result = calloc(strlen(text) + 1, 1);
    size_t count = 0;
    for (char *line = strtok(text, "\036"); line; line = strtok(NULL, "\036")) lines[count++] = line;
    qsort(lines, count, sizeof *lines, by_bytes);
    for (size_t i = 0; i < count; i++) strcat(strcat(result, lines[i]), "\036");
    return result;
}

typedef struct {
    const char *module; /* skipped where Python has none */
    const char *code;   /* flat(text): (key, value) of each */
    void (*write)(RandomFile *to);
    bool (*read)(const char *text, size_t length, ConfigFile *file, Error *error);
    void (*print)(const ConfigFile *file, FILE *out); /* key, 31, value, 30 */
} BesidePython;

/* What is read of a file, sorted; freed by the caller. */
static inline char *entries_read(const BesidePython *ask, const RandomFile *from) {
    Arena arena = {0};
    Error error = {0};
    ConfigFile config = {.name = "f", .arena = &arena};
    char *read = NULL, *bytes = malloc(from->used ? from->used : 1);
    size_t length;
    memcpy(bytes, from->text, from->used);
    cr_assert(ask->read(bytes, from->used, &config, &error), "%s: %s\n%s", error.where, error.text, from->text);
    FILE *memory = open_memstream(&read, &length);
    ask->print(&config, memory);
    fclose(memory);
    char *sorted = sorted_entries(read);
    free(read), free(bytes);
    arena_free(&arena);
    return sorted;
}

static inline void expect_as_python(const BesidePython *ask) {
    static const char REST[] = "for text in open(sys.argv[1], newline='').read().split('\\x1d')[:-1]:\n"
                               "    for line in sorted(k + '\\x1f' + v + '\\x1e' for k, v in flat(text)):\n"
                               "        sys.stdout.write(line)\n"
                               "    sys.stdout.write('\\x1d')\n";
    static RandomFile files[FILES];
    static char said[1 << 22];
    char path[] = "/tmp/shardopt-files-XXXXXX", program[] = "/tmp/shardopt-python-XXXXXX", command[128];
    snprintf(command, sizeof command, "python3 -c 'import %s' >/dev/null 2>&1", ask->module);
    if (system(command) != 0) cr_skip_test("Python has no %s", ask->module);
    FILE *file = fdopen(mkstemp(path), "w"), *code = fdopen(mkstemp(program), "w");
    cr_assert(file && code);
    fprintf(code, "import sys, %s\n%s%s", ask->module, ask->code, REST);
    for (int f = 0; f < FILES; f++) {
        files[f].carriage = below(4) == 0;
        ask->write(&files[f]);
        cr_assert_lt(files[f].used, sizeof files[f].text);
        fprintf(file, "%s\035", files[f].text);
    }
    fclose(file), fclose(code);
    snprintf(command, sizeof command, "python3 %s %s", program, path);
    FILE *pipe = popen(command, "r");
    said[fread(said, 1, sizeof said - 1, pipe)] = '\0';
    cr_expect_eq(pclose(pipe), 0);
    unlink(path), unlink(program);
    char *at = said;
    for (int f = 0, wrong = 0; f < FILES; f++) {
        char *end = strchr(at, '\035'), *read = entries_read(ask, &files[f]);
        cr_assert_not_null(end, "Python ended at\n%s", files[f].text);
        *end = '\0';
        bool same = strcmp(read, at) == 0;
        wrong += !same;
        cr_expect(same || wrong > 4, "Python: %s\nread: %s\n%s", at, read, files[f].text);
        free(read);
        at = end + 1;
    }
}
