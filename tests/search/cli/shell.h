/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tests/search/cli/shell.h: the built program, run by a line of the shell. */
#pragma once

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEXT_SIZE = 1 << 20, FOLDER_SIZE = 64 };

/* A new folder of its own for the files of a suite, and its end with all that is in it. */
static inline void folder_make(char folder[FOLDER_SIZE], const char *name) {
    snprintf(folder, FOLDER_SIZE, "/tmp/shardopt-%s-XXXXXX", name);
    cr_assert(mkdtemp(folder) != NULL);
}

static inline void folder_drop(const char *folder) {
    char line[FOLDER_SIZE + 8];
    snprintf(line, sizeof line, "rm -r %s", folder);
    cr_assert(system(line) == 0);
}

typedef struct {
    int code; /* 128 + signal when one killed it, as a shell has it */
    char *out, *err;
} Run;

static inline char *read_back(const char *path) {
    char *text = calloc(TEXT_SIZE, 1);
    FILE *file = fopen(path, "r");
    if (file) {
        size_t length = fread(text, 1, TEXT_SIZE - 1, file);
        text[length] = '\0';
        fclose(file);
    }
    return text;
}

/* A line of the shell in which $P is the program and $D a folder for the run's files. */
static inline Run run(const char *folder, const char *line) {
    char script[8192], out[256], err[256];
    snprintf(out, sizeof out, "%s/out", folder);
    snprintf(err, sizeof err, "%s/err", folder);
    snprintf(script, sizeof script, "P=%s; D=%s; { %s; } >%s 2>%s", SHARDOPT_PROGRAM, folder, line, out, err);
    int status = system(script);
    return (Run){WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_back(out), read_back(err)};
}
