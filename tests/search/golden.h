/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tests/search/golden.h: texts whose layout was looked at: SHARDOPT_UPDATE_GOLDEN=1 before the
 * test's name writes them anew; read the diff. Their figures are those of fixtures. */
#pragma once

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline char *golden_read(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    char *text = calloc(1, 1 << 20);
    cr_assert(text && fread(text, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    return text;
}

/* The line of `text` in which it first differs from `golden`. */
static inline const char *golden_differs(const char *text, const char *golden) {
    const char *line = text;
    for (; *text && *text == *golden; text++, golden++)
        if (*text == '\n') line = text + 1;
    return line;
}

/* tests/data/reports/NAME holds just this text. */
static inline void expect_golden(const char *name, const char *text) {
    char path[512];
    snprintf(path, sizeof path, "%s/reports/%s", SHARDOPT_TEST_DATA, name);
    if (getenv("SHARDOPT_UPDATE_GOLDEN")) {
        FILE *file = fopen(path, "wb");
        cr_assert(file && fputs(text, file) >= 0 && fclose(file) == 0, "%s", path);
        return;
    }
    char *golden = golden_read(path);
    cr_assert(golden, "%s is missing", path);
    bool same = strcmp(text, golden) == 0;
    cr_expect(same, "%s differs; SHARDOPT_UPDATE_GOLDEN=1 rewrites it; from: %.200s", path,
              same ? "" : golden_differs(text, golden));
    free(golden);
}
