/* SPDX-License-Identifier: GPL-3.0-or-later */
/* base/escape.h: text from a file or a command line, written where some of its characters would be markup. The text
 * stays text in every case: it opens no tag, ends no cell, and starts no formula and no command. */
#pragma once

#include <stdio.h>

typedef enum {
    ESCAPE_XML,      /* XML 1.0: between tags, and values of attributes in either quotes; line breaks and tabs as
                      * references, because attributes would lose them otherwise */
    ESCAPE_MARKDOWN, /* GitHub's: a sentence or the cell of a table; line breaks and tabs become blanks */
    ESCAPE_CSV, /* a whole cell, quoted where RFC 4180 requires it; a cell that a spreadsheet would take for a formula
                 * gets an apostrophe in front */
    ESCAPE_ANNOTATION,          /* the message of a GitHub workflow command, after its "::" */
    ESCAPE_ANNOTATION_PROPERTY, /* the value of one of its properties: "title=..." */
} EscapeKind;

/* Writes all of `text`. In every kind, bytes that are not UTF-8, control characters for which the kind has no form, and
 * characters that turn the reading direction become '?'. */
void escape_write(EscapeKind kind, const char *text, FILE *out);
