/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/util.h"

#include <limits.h>
#include <stdlib.h>

bool list_grow(void **list, int64_t count, int64_t *room, size_t size) {
    if (count < *room) return true;
    int64_t more = *room < 64 ? 64 : *room + *room / 2;
    void *larger = realloc(*list, (size_t)more * size);
    if (!larger) return false;
    *list = larger;
    *room = more;
    return true;
}

enum { FOLDED_MAX = 64 }; /* a longer word is not taken for a misspelling */

/* The next significant character of a name, in lower case, without asking the locale; 0 at the end. */
static int folded_next(const char **name) {
    for (;;) {
        char c = **name;
        if (c == '\0') return 0;
        (*name)++;
        if (c == '-' || c == '_' || c == '.' || c == ' ') continue;
        return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
    }
}

bool name_matches(const char *a, const char *b) {
    for (;;) {
        int x = folded_next(&a), y = folded_next(&b);
        if (x != y) return false;
        if (x == 0) return true;
    }
}

/* Writes the characters of the folded name to `folded` and returns their number, or -1 when there are more than
 * FOLDED_MAX. */
static int fold(const char *name, int *folded) {
    int length = 0;
    for (int c; (c = folded_next(&name)) != 0;) {
        if (length == FOLDED_MAX) return -1;
        folded[length++] = c;
    }
    return length;
}

static int smaller(int a, int b) { return a < b ? a : b; }

/* Counts the insertions, deletions and replacements that turn a into b (Wagner and Fischer, one row at a time). */
static int edit_distance(const int *a, int a_length, const int *b, int b_length) {
    int row[FOLDED_MAX + 1];
    for (int j = 0; j <= b_length; j++) row[j] = j;
    for (int i = 1; i <= a_length; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= b_length; j++) {
            int replaced = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = smaller(replaced, smaller(row[j], row[j - 1]) + 1);
        }
    }
    return row[b_length];
}

int name_distance(const char *a, const char *b) {
    int x[FOLDED_MAX], y[FOLDED_MAX], x_length = fold(a, x), y_length = fold(b, y);
    return x_length < 0 || y_length < 0 ? INT_MAX : edit_distance(x, x_length, y, y_length);
}

bool name_is_near(const char *a, const char *b, int most) {
    int x[FOLDED_MAX], y[FOLDED_MAX], x_length = fold(a, x), y_length = fold(b, y);
    return x_length >= 0 && y_length >= 0 && abs(x_length - y_length) <= most &&
           edit_distance(x, x_length, y, y_length) <= most;
}

static bool starts_with(const int *name, int name_length, const int *word, int word_length) {
    if (word_length > name_length) return false;
    for (int i = 0; i < word_length; i++)
        if (name[i] != word[i]) return false;
    return true;
}

const char *name_nearest(const char *word, const char *const *candidates, size_t count) {
    int folded[FOLDED_MAX], other[FOLDED_MAX];
    int length = fold(word, folded);
    if (length <= 0) return NULL;
    const char *nearest = NULL, *begun = NULL;
    int best = (length + 2) / 3; /* a word with one slip in every three characters is still the same word */
    for (size_t i = 0; i < count; i++) {
        int other_length = fold(candidates[i], other);
        if (other_length < 0) continue;
        int distance = edit_distance(folded, length, other, other_length);
        /* A distance of the whole word means that the two words share nothing. */
        if (distance < length && (distance < best || (distance == best && !nearest))) {
            nearest = candidates[i];
            best = distance;
        }
        if (!begun && length >= 2 && starts_with(other, other_length, folded, length)) begun = candidates[i];
    }
    return nearest ? nearest : begun;
}

int order_real(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int order_whole(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

int order_text(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

bool text_ends_in(const char *text, const char *end) {
    size_t length = strlen(text), other = strlen(end);
    return length >= other && strcmp(text + length - other, end) == 0;
}

double weighed_quantile(WeighedValue *list, int64_t count, double share) {
    double all = 0, reached = 0;
    qsort(list, (size_t)count, sizeof *list, order_real);
    for (int64_t i = 0; i < count; i++) all += list[i].weight;
    for (int64_t i = 0; i < count; i++) {
        reached += list[i].weight;
        if (reached >= (share - 1e-9) * all) return list[i].value;
    }
    return list[count - 1].value;
}
