/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/rows.h"

#include "base/util.h"

#include <criterion/criterion.h>
#include <string.h>

/* Rows that say something, by hand: comments, blanks, other ends of lines, no end of the last; one that is too long. */
Test(rows, by_hand) {
    static const struct {
        const char *row;
        int64_t line;
    } ROWS[] = {{"1 2", 2}, {"  three ", 4}, {"last", 6}};
    Rows rows = {.at = "# a comment\n1 2\r\n \t\n  three # words\n\nlast"};
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        cr_assert(rows_next(&rows));
        cr_expect_str_eq(rows.text, ROWS[i].row);
        cr_expect_eq(rows.line, ROWS[i].line);
    }
    cr_expect_not(rows_next(&rows));
    char text[2 * ROW_SIZE];
    memset(text, 'x', sizeof text);
    strcpy(text + sizeof text - 3, "\ny");
    rows = (Rows){.at = text};
    cr_assert(rows_next(&rows));
    cr_expect_eq(strlen(rows.text), ROW_SIZE - 1);
    cr_assert(rows_next(&rows));
    cr_expect_str_eq(rows.text, "y");
}

/* Of ten rows so many are left out, every second from the first: half may be, and three are named. */
Test(rows, left_out) {
    static const char *const WORDS[] = {NULL,
                                        "t: line 1 left out; give x",
                                        "t: lines 1, 3 left out; give x",
                                        "t: lines 1, 3, 5 left out; give x",
                                        "t: lines 1, 3, 5 and 1 more left out; give x",
                                        "t: lines 1, 3, 5 and 2 more left out; give x"};
    for (int out = 0; out <= 6; out++) {
        Arena arena = {0};
        Error error = {0};
        Rows rows = {.at = "a\na\na\na\na\na\na\na\na\na\n"};
        const char *said;
        for (int left = out; rows_next(&rows);)
            if ((rows.line % 2 == 1 || rows.line > 9) && left-- > 0) rows_leave_out(&rows);
        bool kept = rows_settle(&rows, "t", "give x", &arena, &said, &error);
        cr_expect_eq(kept, out <= 5);
        if (!kept) cr_expect_str_eq(error.text, "line 1: give x");
        if (kept) cr_expect(WORDS[out] ? said && strcmp(said, WORDS[out]) == 0 : !said, "%d: %s", out, said);
        arena_free(&arena);
    }
}
