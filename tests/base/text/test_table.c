/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One table in three forms. The expected side is written by hand from what each form requires: the alignment of text,
 * GitHub's Markdown and RFC 4180. */
#include "base/text/table.h"

#include "base/util.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

typedef enum { TEXT, MARKDOWN, CSV } Form;

/* The table in one form; the caller frees it. */
static char *written(const Table *table, Form form, int columns) {
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    TextOut to = {out, {columns, false}};
    cr_assert(out);
    bool ok = form == TEXT       ? table_write_text(table, "", to)
              : form == MARKDOWN ? table_write_markdown(table, out)
                                 : table_write_csv(table, out);
    cr_expect(ok);
    fclose(out);
    return text;
}

static void expect_written(const char *name, const Table *table, Form form, int columns, const char *expected) {
    char *text = written(table, form, columns);
    cr_expect_str_eq(text, expected, "%s:\n%s", name, text);
    free(text);
}

/* ---- each cell by itself, in each form ---- */

static const struct {
    const char *name, *cell, *text, *markdown, *csv;
} CELLS[] = {
    {"plain", "fsdp=8", "a       b\nfsdp=8  1\n", "fsdp=8", "fsdp=8"},
    {"bar", "x|y", "a    b\nx|y  1\n", "x\\|y", "x|y"},
    {"quotes", "\"x\"", "a    b\n\"x\"  1\n", "\"x\"", "\"\"\"x\"\"\""},
    {"comma", "x,y", "a    b\nx,y  1\n", "x,y", "\"x,y\""},
    {"newline", "x\nlong", "a     b\nx     1\nlong\n", "x long", "\"x\nlong\""},
    {"tag", "<i>", "a    b\n<i>  1\n", "&lt;i&gt;", "<i>"},
    {"ampersand", "x&y", "a    b\nx&y  1\n", "x&amp;y", "x&y"},
    {"formula", "=1+2", "a     b\n=1+2  1\n", "=1+2", "'=1+2"},
    {"control", "x\033y", "a    b\nx?y  1\n", "x?y", "x?y"},
    {"turned", "x\u202Ey", "a    b\nx?y  1\n", "x?y", "x?y"},
    {"no UTF-8", "x\xFFy", "a    b\nx?y  1\n", "x?y", "x?y"},
    {"two bytes, one column", "é±", "a   b\né±  1\n", "é±", "é±"},
    {"three bytes, two columns", "日本", "a     b\n日本  1\n", "日本", "日本"},
    {"over the one before", "e\u0301", "a  b\ne\u0301  1\n", "e\u0301", "e\u0301"},
    {"blanks at the end", "x  ", "a    b\nx    1\n", "x  ", "x  "},
    {"nothing", NULL, "a  b\n   1\n", "", ""},
};

Test(table, cells) {
    for (size_t i = 0; i < COUNT_OF(CELLS); i++) {
        Arena arena = {0};
        Table table = table_new(&arena, "T", "a|>b");
        table_row(&table, (const char *const[]){CELLS[i].cell, "1"});
        expect_written(CELLS[i].name, &table, TEXT, 0, CELLS[i].text);
        expect_written(CELLS[i].name, &table, MARKDOWN, 0,
                       arena_format(&arena, "| a | b |\n|---|---:|\n| %s | 1 |\n", CELLS[i].markdown));
        expect_written(CELLS[i].name, &table, CSV, 0, arena_format(&arena, "a,b\n%s,1\n", CELLS[i].csv));
        arena_free(&arena);
    }
}

/* ---- the table as a whole ---- */

/* Numbers of CSV are written as they are: a minus begins no formula there. */
Test(table, numbers) {
    Arena arena = {0};
    Table table = table_new(&arena, NULL, "a|>b");
    table_cell(&table, "%s", "-1");
    table_cell(&table, "%d", -20);
    table_cell(&table, "%s", "x");
    table_cell(&table, "%g", 1e9);
    cr_expect_eq(table.rows, 2);
    expect_written("text", &table, TEXT, 0, "a       b\n-1    -20\nx   1e+09\n");
    expect_written("CSV", &table, CSV, 0, "a,b\n'-1,-20\nx,1e+09\n");
    arena_free(&arena);
}

/* Headings are escaped as cells are; a column can have none. */
Test(table, headings) {
    Arena arena = {0};
    Table table = table_new(&arena, "x<y", NULL);
    table_column(&table, "p|d,", true);
    table_column(&table, NULL, false);
    table_row(&table, (const char *const[]){"1", "x"});
    expect_written("text", &table, TEXT, 0, "p|d,\n   1  x\n");
    expect_written("Markdown", &table, MARKDOWN, 0, "| p\\|d, | |\n|---:|---|\n| 1 | x |\n");
    expect_written("CSV", &table, CSV, 0, "\"p|d,\",\n1,x\n");
    arena_free(&arena);
}

Test(table, markdown_cells_stay) {
    Arena arena = {0};
    Table table = table_new(&arena, NULL, "a|b");
    table_is_markdown(&table, 0);
    table_row(&table, (const char *const[]){"**x**", "**x**"});
    expect_written("Markdown", &table, MARKDOWN, 0, "| a | b |\n|---|---|\n| **x** | \\*\\*x\\*\\* |\n");
    arena_free(&arena);
}

/* Only text breaks cells and leaves columns out; wide characters count twice where room is short. */
Test(table, narrow) {
    Arena arena = {0};
    Table table = table_new(&arena, NULL, "a|b|c");
    table.gap = 1;
    table_wrap(&table, 0, 5);
    table_may_drop(&table, 1);
    table_row(&table, (const char *const[]){"aa bb cc", "日本", "z"});
    expect_written("no terminal", &table, TEXT, 0, "a     b    c\naa bb 日本 z\ncc\n");
    expect_written("twelve", &table, TEXT, 12, "a     b    c\naa bb 日本 z\ncc\n");
    expect_written("eleven", &table, TEXT, 11, "a     c\naa bb z\ncc\n");
    expect_written("too narrow", &table, TEXT, 3, "a     c\naa bb z\ncc\n");
    expect_written("CSV", &table, CSV, 11, "a,b,c\naa bb cc,日本,z\n");
    arena_free(&arena);
}

/* More columns than are made at first. */
Test(table, many_columns) {
    Arena arena = {0};
    Table table = table_new(&arena, NULL, NULL);
    for (int i = 0; i < 40; i++) table_column(&table, "h", true);
    for (int i = 0; i < 40; i++) table_cell(&table, "%d", i % 10);
    char *text = written(&table, CSV, 0);
    cr_expect_eq(strlen(text), 160);
    cr_expect_str_eq(text + 80, "0,1,2,3,4,5,6,7,8,9,0,1,2,3,4,5,6,7,8,9,0,1,2,3,4,5,6,7,8,9,0,1,2,3,4,5,6,7,8,9\n");
    free(text);
    arena_free(&arena);
}

Test(table, without_rows) {
    Arena arena = {0};
    Table table = table_new(&arena, NULL, "a|b");
    expect_written("text", &table, TEXT, 0, "");
    expect_written("Markdown", &table, MARKDOWN, 0, "| a | b |\n|---|---|\n");
    expect_written("CSV", &table, CSV, 0, "a,b\n");
    arena_free(&arena);
}

/* No form writes a table whose cells are missing. */
Test(table, failed) {
    Arena arena = {0};
    Table table = table_new(&arena, NULL, "a");
    table.failed = true;
    table_row(&table, (const char *const[]){"x"});
    table_cell(&table, "x");
    cr_expect(table.failed);
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    cr_assert(out);
    cr_expect_not(table_write_text(&table, "", (TextOut){.file = out}));
    cr_expect_not(table_write_markdown(&table, out));
    cr_expect_not(table_write_csv(&table, out));
    fclose(out);
    cr_expect_str_empty(text);
    free(text);
    arena_free(&arena);
}
