/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tests/cost/book_table.h: a table of the book's numbers, each by a function that a row names. */
#pragma once

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    char id[16], inputs[256];
    double expected, tolerance;
} Case;

/* "C=4.59e14;M=3": the value of a key. */
static inline double input_or(const Case *c, const char *key, double missing) {
    size_t length = strlen(key);
    for (const char *at = c->inputs; at && *at; at = strchr(at, ';') ? strchr(at, ';') + 1 : NULL)
        if (strncmp(at, key, length) == 0 && at[length] == '=') return strtod(at + length + 1, NULL);
    return missing;
}

/* A key that the row lacks fails the test. */
static inline double input(const Case *c, const char *key) {
    double value = input_or(c, key, NAN);
    cr_assert(!isnan(value), "%s: has no input %s", c->id, key);
    return value;
}

typedef struct {
    const char *id;
    double (*number)(const Case *);
} Handler;

/* Every row has a handler that gives its number, and every handler a row. */
static inline void check_book(const char *path, const Handler *handlers, size_t count) {
    enum { HANDLERS_MAX = 512 };
    bool used[HANDLERS_MAX] = {false};
    FILE *file = fopen(path, "r");
    char line[2048];
    cr_assert(file && count <= HANDLERS_MAX);
    while (fgets(line, sizeof line, file)) {
        Case c;
        if (line[0] == '#' || strncmp(line, "id\t", 3) == 0) continue;
        cr_assert_eq(sscanf(line, "%15[^\t]\t%*[^\t]\t%*[^\t]\t%255[^\t]\t%lf\t%*[^\t]\t%lf", c.id, c.inputs,
                            &c.expected, &c.tolerance),
                     4, "%s", line);
        size_t i = 0;
        while (i < count && strcmp(handlers[i].id, c.id) != 0) i++;
        cr_expect_lt(i, count, "%s has no handler", c.id);
        if (i == count) continue;
        used[i] = true;
        double number = handlers[i].number(&c);
        cr_expect(fabs(number - c.expected) <= c.tolerance * fabs(c.expected), "%s: %.9g, the book has %.9g (to %g)",
                  c.id, number, c.expected, c.tolerance);
    }
    fclose(file);
    for (size_t i = 0; i < count; i++) cr_expect(used[i], "%s: no such row", handlers[i].id);
}

#define in(key) input(c, key)
#define CASE_FUNCTION(id, ...)                                                                                         \
    static double case_##id(const Case *c) {                                                                           \
        (void)c;                                                                                                       \
        return __VA_ARGS__;                                                                                            \
    }
