/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables and prose on a terminal: no line is wider, columns go in the order named, colour only where it is asked for. */
#include "base/text/terminal.h"

#include "base/util.h"
#include "base/text/prose.h"
#include "base/text/table.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* Three columns, 24 wide in all: "name  seconds  bound by" over "fsdp  1.25 s  compute". */
static char *written(Terminal terminal) {
    static const TableColumn COLUMNS[] = {{"name", false}, {"seconds", true}, {"bound by", false}};
    static const char *const CELLS[] = {"fsdp", "1.25 s", "compute"};
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    Table *table = table_new(COLUMNS, COUNT_OF(COLUMNS));
    TextOut to = {out, terminal};
    table_may_drop(table, 2);
    table_may_drop(table, 1);
    cr_assert(out && table && table_row(table, CELLS) && table_write(table, "", to));
    prose_write(to, "", "", "it takes 1.25 s and is bound by compute, all of it");
    table_free(table);
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
