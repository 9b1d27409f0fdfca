/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the streams of the program are, and where a result goes. */
#include "search/cli/command.h"

#include "base/util.h"

#include <criterion/criterion.h>
#include <pty.h>
#include <stdlib.h>
#include <unistd.h>

Test(terminal, of_a_stream) {
    static const struct {
        const char *name;
        int columns; /* of the terminal; -1: a file */
        const char *no_color, *term;
        Terminal terminal;
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
        Terminal terminal = terminal_of_stream(out);
        cr_expect(terminal.columns == ROWS[i].terminal.columns && terminal.color == ROWS[i].terminal.color,
                  "%s: %d columns, colour %d", ROWS[i].name, terminal.columns, terminal.color);
        fclose(out);
        if (master >= 0) close(master);
    }
}

/* Colours and a width are for a screen: what goes to a file is the same whoever asks for it. */
Test(terminal, of_a_result) {
    Streams streams = {.out = stdout, .err = stderr, .terminal = {100, true}};
    cr_expect_eq(output_terminal(streams, NULL).columns, 100);
    cr_expect_eq(output_terminal(streams, "-").columns, 100);
    cr_expect_eq(output_terminal(streams, "report.txt").columns, 0);
    cr_expect(!output_terminal(streams, "report.txt").color);
}
