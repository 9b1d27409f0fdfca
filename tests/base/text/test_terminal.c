/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables and prose on a terminal: no line is wider, columns are left out in the order that was given, and colour is
 * written only where it is asked for. */
#include "base/text/terminal.h"

#include "base/text/prose.h"
#include "base/text/table.h"
#include "base/util.h"

#include <criterion/criterion.h>
#include <stdlib.h>

/* Three columns, 23 wide in all: "name  seconds  bound by" over "fsdp  1.25 s  compute". */
static char *written(Terminal terminal) {
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    Arena arena = {0};
    Table table = table_new(&arena, NULL, "name|>seconds|bound by");
    TextOut to = {out, terminal};
    table_may_drop(&table, 2);
    table_may_drop(&table, 1);
    table_row(&table, (const char *const[]){"fsdp", "1.25 s", "compute"});
    cr_assert(out && table_write_text(&table, "", to));
    prose_write(to, "", "", "it takes 1.25 s and is bound by compute, all of it");
    arena_free(&arena);
    fclose(out);
    return text;
}

Test(terminal, fits) {
    static const struct {
        const char *name;
        Terminal terminal;
        const char *text;
    } ROWS[] = {
        {"no terminal",
         {0, false},
         "name  seconds  bound by\nfsdp   1.25 s  compute\n"
         "it takes 1.25 s and is bound by compute, all of it\n"},
        {"wide enough",
         {23, false},
         "name  seconds  bound by\nfsdp   1.25 s  compute\n"
         "it takes 1.25 s and is\nbound by compute, all\nof it\n"},
        {"one column goes",
         {22, false},
         "name  seconds\nfsdp   1.25 s\n"
         "it takes 1.25 s and is\nbound by compute, all\nof it\n"},
        {"two go", {12, false}, "name\nfsdp\nit takes 1.25 s and\nis bound by compute,\nall of it\n"},
        {"colour",
         {0, true},
         "\033[1mname  seconds  bound by\033[0m\nfsdp   1.25 s  compute\n"
         "it takes 1.25 s and is bound by compute, all of it\n"},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        char *text = written(ROWS[i].terminal);
        cr_expect_str_eq(text, ROWS[i].text, "%s: %s", ROWS[i].name, text);
        free(text);
    }
}
