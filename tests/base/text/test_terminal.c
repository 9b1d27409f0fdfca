/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables and prose on a terminal: no line is wider, columns go in the order named, colour only where it is asked for. */
#include "base/text/terminal.h"

#include "base/util.h"
#include "base/text/prose.h"
#include "base/text/table.h"

#include <criterion/criterion.h>
#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Three columns, 24 wide in all: "name  seconds  bound by" over "fsdp  1.25 s  compute". */
static char *written(Page page) {
    static const TableColumn COLUMNS[] = {{"name", false}, {"seconds", true}, {"bound by", false}};
    static const char *const CELLS[] = {"fsdp", "1.25 s", "compute"};
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    Table *table = table_new(COLUMNS, COUNT_OF(COLUMNS));
    page_set(page);
    table_may_drop(table, 2);
    table_may_drop(table, 1);
    cr_assert(out && table && table_row(table, CELLS) && table_write(table, "", out));
    prose_write(out, "", "", "it takes 1.25 s and is bound by compute, all of it");
    table_free(table);
    fclose(out);
    page_set((Page){0});
    return text;
}

Test(page, fits) {
    static const struct {
        const char *name;
        Page page;
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
        char *text = written(ROWS[i].page);
        cr_expect_str_eq(text, ROWS[i].text, "%s: %s", ROWS[i].name, text);
        free(text);
    }
}

Test(page, of_a_stream) {
    static const struct {
        const char *name;
        int columns; /* of the terminal; -1: a file */
        const char *no_color, *term;
        Page page;
    } ROWS[] = {
        {"a file", -1, NULL, "xterm", {0, false}},
        {"a terminal", 100, NULL, "xterm", {100, true}},
        {"NO_COLOR", 100, "1", "xterm", {100, false}},
        {"NO_COLOR that is empty", 100, "", "xterm", {100, true}},
        {"a dumb terminal", 100, NULL, "dumb", {100, false}},
        {"a very narrow one", 5, NULL, "xterm", {40, true}},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        int master = -1, slave = -1;
        struct winsize size = {.ws_row = 24, .ws_col = (unsigned short)ROWS[i].columns};
        if (ROWS[i].columns >= 0) cr_assert(openpty(&master, &slave, NULL, NULL, &size) == 0);
        FILE *out = ROWS[i].columns >= 0 ? fdopen(slave, "w") : tmpfile();
        cr_assert(out);
        setenv("TERM", ROWS[i].term, 1);
        if (ROWS[i].no_color)
            setenv("NO_COLOR", ROWS[i].no_color, 1);
        else
            unsetenv("NO_COLOR");
        Page page = page_of_stream(out);
        cr_expect(page.columns == ROWS[i].page.columns && page.color == ROWS[i].page.color, "%s: %d columns, colour %d",
                  ROWS[i].name, page.columns, page.color);
        fclose(out);
        if (master >= 0) close(master);
    }
}
