/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables as a writer of its own puts them down: random cells are read back as they were, each from where it stands; the
 * bytes end where the memory does, so that a step over the end is seen. */
#include "search/serving/measured/tsv.h"

#include "base/util.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state = 20261123;

static unsigned below(unsigned count) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % count;
}

enum { ROWS = 4, COLUMNS = 5, CELL = 16, TEXT = ROWS * COLUMNS * 4 * CELL };

typedef struct {
    char text[TEXT];
    size_t length;
    int64_t line, column;
} Written;

static void put(Written *to, const char *bytes, bool one_character) {
    size_t length = strlen(bytes);
    memcpy(to->text + to->length, bytes, length);
    to->length += length;
    to->column += one_character ? 1 : (int64_t)length;
}

static void put_line_end(Written *to) {
    put(to, below(2) ? "\n" : "\r\n", true);
    to->line++, to->column = 1;
}

/* Writes a cell, in quotation marks if it needs them or by chance, and sets what is to be read: the text without the
 * blanks around it, where tabs and ends of lines are blanks. */
static void put_cell(Written *to, char expected[3 * CELL]) {
    static const char *const PIECES[] = {"a", "b", " ", " ", "7", "\"", "\t", "\n", "\u00e9", "."};
    const char *pieces[CELL];
    unsigned count = below(6);
    bool quoted = below(3) == 0;
    for (unsigned i = 0; i < count; i++) {
        pieces[i] = PIECES[below(quoted ? COUNT_OF(PIECES) : 6)];
        if (i == 0 && pieces[0][0] == '"') quoted = true; /* at the beginning it is a mark */
    }
    char *end = expected;
    if (quoted) put(to, "\"", true);
    for (unsigned i = 0; i < count; i++) {
        bool breaks = pieces[i][0] == '\n';
        if (breaks)
            put_line_end(to);
        else
            put(to, pieces[i], true);
        if (quoted && pieces[i][0] == '"') put(to, "\"", true);
        size_t length = strlen(pieces[i]);
        memcpy(end, breaks || pieces[i][0] == '\t' ? " " : pieces[i], length);
        end += length;
    }
    if (quoted) put(to, "\"", true);
    while (end > expected && end[-1] == ' ') end--;
    *end = '\0';
    size_t blanks = strspn(expected, " ");
    memmove(expected, expected + blanks, strlen(expected) + 1 - blanks);
}

Test(tsv, what_was_written) {
    for (int problem = 0; problem < 4000; problem++) {
        static Written to;
        char expected[ROWS][COLUMNS][3 * CELL];
        int64_t line[ROWS][COLUMNS], column[ROWS][COLUMNS];
        int counts[ROWS], rows = 1 + (int)below(ROWS);
        to.length = 0, to.line = 1, to.column = 1;
        if (below(4) == 0) put(&to, "\xEF\xBB\xBF", false), to.column = 1;
        for (int r = 0; r < rows; r++) {
            while (r > 0 && below(5) == 0) put_line_end(&to); /* lines that are empty */
            counts[r] = 2 + (int)below(COLUMNS - 1);
            for (int c = 0; c < counts[r]; c++) {
                line[r][c] = to.line, column[r][c] = to.column;
                put_cell(&to, expected[r][c]);
                if (c + 1 < counts[r]) put(&to, "\t", true);
            }
            if (r + 1 < rows || below(2)) put_line_end(&to);
        }
        char *bytes = malloc(to.length + 1);
        memcpy(bytes, to.text, to.length);
        bytes[to.length] = '\0';
        to.text[to.length] = '\0';
        TsvReader reader = tsv_start("t.tsv", bytes, to.length);
        Error error = {0};
        for (int r = 0; r < rows; r++) {
            cr_assert_eq(tsv_next(&reader, &error), TSV_ROW, "%s: %s: %s", to.text, error.where, error.text);
            cr_assert_eq(reader.count, counts[r], "row %d of %s", r, to.text);
            for (int c = 0; c < counts[r]; c++) {
                const TsvCell *cell = &reader.cells[c];
                cr_expect_str_eq(cell->text, expected[r][c], "\"%s\", not \"%s\", in %s", cell->text, expected[r][c],
                                 to.text);
                cr_expect(cell->line == line[r][c] && cell->column == column[r][c], "%d:%d, not %d:%d, in %s",
                          (int)cell->line, (int)cell->column, (int)line[r][c], (int)column[r][c], to.text);
            }
        }
        cr_expect_eq(tsv_next(&reader, &error), TSV_END, "behind %s", to.text);
        free(bytes);
    }
}

Test(tsv, what_is_none) {
    static const struct {
        const char *text, *where, *words;
    } ROWS_WRONG[] = {
        {"a\tb\x01", "t.tsv:1:4", "control character"},
        {"a\tb\x7F", "t.tsv:1:4", "control character"},
        {"a\n\xC2\x9F", "t.tsv:2:1", "control character"},
        {"\xC3", "t.tsv:1:1", "not UTF-8"},
        {"a\tb\xFFz", "t.tsv:1:4", "not UTF-8"},
        {"a\r", "t.tsv:1:2", "control character"},
        {"x\t\"a\"b", "t.tsv:1:6", "behind a closing"},
        {"x\n\t\"ab\tc\n", "t.tsv:2:2", "never closed"},
        {"\u00e9\t\"a\nb\" ", "t.tsv:2:3", "behind a closing"},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS_WRONG); i++) {
        char bytes[64];
        strcpy(bytes, ROWS_WRONG[i].text);
        TsvReader reader = tsv_start("t.tsv", bytes, strlen(bytes));
        Error error = {0};
        TsvResult result;
        while ((result = tsv_next(&reader, &error)) == TSV_ROW) {}
        cr_expect_eq(result, TSV_ERROR, "%s", ROWS_WRONG[i].text);
        cr_expect_str_eq(error.where, ROWS_WRONG[i].where, "%s: %s", ROWS_WRONG[i].text, error.where);
        cr_expect(strstr(error.text, ROWS_WRONG[i].words), "%s: %s", ROWS_WRONG[i].text, error.text);
    }
    char good[] = "\xC2\xA0";
    TsvReader reader = tsv_start("t.tsv", good, 2);
    Error error = {0};
    cr_expect(tsv_next(&reader, &error) == TSV_ROW && strcmp(reader.cells[0].text, "\xC2\xA0") == 0);
}

/* Cells of 65,536 bytes and rows of 512 cells are the most. */
Test(tsv, most) {
    for (size_t over = 0; over < 2; over++) {
        size_t length = TSV_CELL_MAX + over;
        char *bytes = malloc(length + 1);
        memset(bytes, 'a', length);
        bytes[length] = '\0';
        TsvReader reader = tsv_start("t.tsv", bytes, length);
        Error error = {0};
        cr_expect_eq(tsv_next(&reader, &error), over ? TSV_ERROR : TSV_ROW);
        free(bytes);
        char cells[2 * (TSV_COLUMNS_MAX + 1)];
        for (size_t i = 0; i < TSV_COLUMNS_MAX + over; i++) cells[2 * i] = 'a', cells[2 * i + 1] = '\t';
        cells[2 * (TSV_COLUMNS_MAX + over) - 1] = '\0';
        reader = tsv_start("t.tsv", cells, strlen(cells));
        cr_expect_eq(tsv_next(&reader, &error), over ? TSV_ERROR : TSV_ROW);
        if (!over) cr_expect_eq(reader.count, TSV_COLUMNS_MAX);
    }
}
