/* SPDX-License-Identifier: GPL-3.0-or-later */
/* base/text/prose.h: text for people: sentences put together in a bounded buffer, wrapped to a width, with names made
 * harmless and every number with its unit. Pure but for the stream it is given. */
#pragma once

#include "base/number.h"
#include "base/text/terminal.h"

#include <stdint.h>
#include <stdio.h>

enum { PROSE_WIDTH = 116, PROSE_SIZE = 4096, PROSE_NAME_SIZE = 128 };

/* `Prose prose = {0};` is ready. */
typedef struct {
    char text[PROSE_SIZE];
    size_t used;
} Prose;

/* printf to the end; a piece that does not fit whole is left out whole. */
void prose_add(Prose *prose, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same, with `between` in front unless the prose is empty: items of a list. */
void prose_item(Prose *prose, const char *between, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Writes the text in lines of at most PROSE_WIDTH columns, fewer on a narrower terminal (terminal.h), the first behind
 * `first`, the others behind `rest` (blanks); breaks at blanks, but not between a number and its unit. */
void prose_write(TextOut out, const char *first, const char *rest, const char *text);

/* Columns of UTF-8 text, one per character. */
int text_columns(const char *text);

/* Breaks `text` at blanks into lines of at most `columns` characters where it can; newlines that are there stay. In
 * place. */
void text_wrap(char *text, int columns);
/* Takes the last words off a text of at most `size` bytes, and adds "...", until it wraps into so many lines. */
void text_cut(char *text, size_t size, int columns, int lines);

/* A name that came from a file, fit for a terminal: control characters, direction overrides and what is no UTF-8 become
 * '?'; cut to what fits. Into `text` of PROSE_NAME_SIZE bytes, returned. */
const char *clean_name(const char *name, char *text);
/* The same for longer texts, into `text` of `room` bytes. */
const char *clean_text(const char *name, char *text, size_t room);

/* Makes a whole text harmless where it stands; newlines stay. */
void text_clean(char *text);

/* Four significant digits, so that plans half a percent apart read apart: "3.421 s", "12.08 ms", "1,720 s". Into `text`
 * of NUMBER_TEXT_SIZE bytes, returned; so the next ones. */
const char *step_text(double seconds, char *text);
const char *share_text(double share, char *text);                       /* "6.1%" */
const char *change_text(double share, char *text);                      /* "-10.8%", "+2.0%", "none" below 0.05% */
const char *duration_text(double seconds, char *text);                  /* "35.4 days" */
const char *rate_text(double per_second, const char *unit, char *text); /* "459 TFLOP/s", "90.0 GB/s" */
const char *usd_text(double value, char *text);                         /* "$234 M" */
const char *grouped_text(double value, char *text);                     /* "3,128", rounded */
const char *digits_text(double value, char *text);                      /* "31.28", "68,233" */
