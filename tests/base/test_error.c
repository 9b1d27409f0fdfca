/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/error.h"
#include "base/util.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct {
    const char *name, *given, *kept;
} ROWS[] = {
    {"plain text stays", "give 4096", "give 4096"},
    {"a newline would be a second line", "a\nb\r\tc", "a?b??c"},
    {"an escape would be obeyed", "\x1b[2J\x7f", "?[2J?"},
    {"C1 controls too", "a\xC2\x9Bm", "a?m"},
    {"other languages stay", "größer 大 \xF0\x9F\x98\x80", "größer 大 \xF0\x9F\x98\x80"},
    {"a byte that is no UTF-8", "a\xFF\xC3(",
     "a?"
     "?("},
    {"empty", "", ""},
};

Test(error, text_is_one_printable_line) {
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Error error = {0};
        cr_expect_not(error_set(&error, ERROR_INPUT, ROWS[i].given, "%s", ROWS[i].given));
        cr_expect_eq(error.kind, ERROR_INPUT);
        cr_expect_str_eq(error.text, ROWS[i].kept, "%s: %s", ROWS[i].name, error.text);
        cr_expect_str_eq(error.where, ROWS[i].kept, "%s: %s", ROWS[i].name, error.where);
    }
}

Test(error, long_text_is_cut_between_characters) {
    char text[1001] = "";
    for (size_t i = 0; i < 1000; i += 2) memcpy(text + i, "ä", 2);
    for (size_t shift = 0; shift < 2; shift++) { /* the cut falls before and inside a character */
        Error error = {0};
        error_set(&error, ERROR_IO, text + (shift ? 2 : 0), "%s%s", shift ? "x" : "", text);
        cr_expect_leq(strlen(error.text), sizeof error.text - 1);
        cr_expect_geq(strlen(error.text), sizeof error.text - 4);
        cr_expect_null(strchr(error.text, '?'), "%s", error.text);
        cr_expect_null(strchr(error.where, '?'), "%s", error.where);
    }
}

Test(error, pieces_of_itself_may_be_passed) {
    Error error = {0};
    error_set(&error, ERROR_INPUT, "here", "inner");
    error_set(&error, ERROR_IO, error.where, "outer: %s", error.text);
    cr_expect_str_eq(error.where, "here");
    cr_expect_str_eq(error.text, "outer: inner");
}

Test(error, null_is_ignored) {
    cr_expect_not(error_set(NULL, ERROR_INPUT, "x", "%d", 1));
    cr_expect_not(error_memory(NULL));
}

Test(error, memory) {
    Error error = {0};
    cr_expect_not(error_memory(&error));
    cr_expect_eq(error.kind, ERROR_MEMORY);
    cr_expect_str_eq(error.text, "memory is out");
}
