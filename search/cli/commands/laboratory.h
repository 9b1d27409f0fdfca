/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/commands/laboratory.h: Python scripts that come with the program (cost/measured/lab/) and need numpy and
 * scipy. */
#pragma once

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* The exit code of a script that finds no numpy or no scipy. */
enum { LABORATORY_NEEDS = 69, LABORATORY_WORDS_MAX = 48 };

/* What a script printed, in the arena, with a NUL at [length]. */
typedef struct {
    char *text;
    size_t length;
    int code; /* 0, or EXIT_USAGE: the script has said on standard error what is wrong */
} LaboratoryAnswer;

/* Runs `python3 -B SCRIPT --shardopt PROGRAM WORDS...` without a shell; `words` ends with NULL. The script ends with
 * this program. False: Python or a package is missing (ERROR_INPUT, with what to install), or the script failed. */
bool laboratory_run(const char *script, const char *const *words, Arena *arena, LaboratoryAnswer *out, Error *error);
