/* SPDX-License-Identifier: GPL-3.0-or-later */
/* base/text/terminal.h: where a text result is written: to a terminal, which has a width and perhaps colours, or to a
 * plain stream, which has neither, so that the same input gives the same bytes. Nothing here is global: the command
 * line looks at its own stream once, and hands the result down to whatever writes text. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/* What the reader's screen can do. `(Terminal){0}` is no terminal. */
typedef struct {
    int columns; /* the terminal's width; 0: this is no terminal, and a table is as wide as its cells */
    bool color;
} Terminal;

/* A stream for text, and what the reader's screen behind it can do. `(TextOut){.file = f}` is a plain stream. */
typedef struct {
    FILE *file;
    Terminal terminal;
} TextOut;

/* After text_strong() or text_bar() the text stands out, or has a bar's colour, until text_plain(). Without colour they
 * write nothing. */
static inline void text_code(TextOut out, const char *code) {
    if (out.terminal.color) fputs(code, out.file);
}
static inline void text_strong(TextOut out) { text_code(out, "\033[1m"); }
static inline void text_bar(TextOut out) { text_code(out, "\033[36m"); }
static inline void text_plain(TextOut out) { text_code(out, "\033[0m"); }
