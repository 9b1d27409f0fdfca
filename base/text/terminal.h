/* SPDX-License-Identifier: GPL-3.0-or-later */
/* base/text/terminal.h: what a text result is written on: a terminal, with its width and colour, or a plain stream, which has
 * neither, so that the same input gives the same bytes. Of the writing thread: the command sets it once before it
 * writes, and only prose.c, table.c and what draws bars ask. */
#ifndef SHARDOPT_BASE_TEXT_TERMINAL_H
#define SHARDOPT_BASE_TEXT_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

typedef struct {
    int columns; /* of a terminal; 0: no terminal, tables are as wide as they are */
    bool color;
} Page;

enum { PAGE_COLUMNS_LEAST = 40, PAGE_COLUMNS_MOST = 400 };

/* A terminal's columns (those of $COLUMNS where it does not say), and colour unless $NO_COLOR is set or $TERM is dumb;
 * {0, false} for what is no terminal. */
Page page_of_stream(FILE *out);

void page_set(Page page);
Page page_now(void); /* {0, false} until one is set */

/* What follows stands out, until page_plain(); a bar's colour. Nothing without colour. */
void page_strong(FILE *out);
void page_bar(FILE *out);
void page_plain(FILE *out);

#endif
