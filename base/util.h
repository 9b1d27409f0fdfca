/* SPDX-License-Identifier: GPL-3.0-or-later */
/* base/util.h: the few helpers that every file uses. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static inline double max_real(double a, double b) { return a > b ? a : b; }
static inline double min_real(double a, double b) { return a < b ? a : b; }
static inline int64_t max_whole(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t min_whole(int64_t a, int64_t b) { return a < b ? a : b; }
/* Greatest common divisor of a, b >= 0; that of 0 and b is b. */
static inline int64_t common_divisor(int64_t a, int64_t b) {
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* a / b rounded up; a >= 0, b > 0. */
static inline int64_t divide_up(int64_t a, int64_t b) { return a / b + (a % b != 0); }

/* Orders for qsort() and bsearch(), ascending: of doubles, of int64_t, of texts by their bytes, and of structs that
 * begin with one. */
int order_real(const void *a, const void *b);
int order_whole(const void *a, const void *b);
int order_text(const void *a, const void *b);

/* Makes room for one more item of `size` bytes in a list of `count` that realloc() may move; `room` is in items. False:
 * memory is out, and the list is as it was. */
bool list_grow(void **list, int64_t count, int64_t *room, size_t size);

/* Whether a text holds another, case ignored. */
static inline bool text_has(const char *text, const char *part) { return strcasestr(text, part) != NULL; }

bool text_ends_in(const char *text, const char *end);

/* Whether two names of the catalogs are the same: ignoring case and the characters - _ . and blank. */
bool name_matches(const char *a, const char *b);

/* Counts the insertions, deletions and replacements that turn one name into the other, after the same folding; INT_MAX
 * means that one name is too long to be compared. */
int name_distance(const char *a, const char *b);
/* Whether that is at most so many. */
bool name_is_near(const char *a, const char *b, int most);

/* The candidate nearest to `word` by edit distance after the same folding, at most a third of the word away; else the
 * first that begins with `word`; else NULL. The first of equally near candidates is taken. */
const char *name_nearest(const char *word, const char *const *candidates, size_t count);

/* A value that counts for more or less than others. */
typedef struct {
    double value, weight;
} WeighedValue;

/* Sorts the list, which has a value, and gives the least value up to which lies a share of the weight: 0.5 for the
 * lower median. No weight is negative. A share that rounding puts a hair above what is reached counts as reached. */
double weighed_quantile(WeighedValue *list, int64_t count, double share);
