/* SPDX-License-Identifier: GPL-3.0-or-later */
/* base/escape.h: text that came from a file or a command line, written where some of its characters would be markup.
 * Whatever the text is, it stays text: it opens no tag, ends no cell, starts no formula and no command. */
#ifndef SHARDOPT_BASE_ESCAPE_H
#define SHARDOPT_BASE_ESCAPE_H

#include <stdio.h>

typedef enum {
    ESCAPE_HTML,     /* HTML and SVG: between tags, and values of attributes in either quotes */
    ESCAPE_XML,      /* XML 1.0: the same; line breaks and tabs as references, which attributes would lose otherwise */
    ESCAPE_MARKDOWN, /* GitHub's: a sentence or the cell of a table; line breaks and tabs become blanks */
    ESCAPE_CSV, /* a whole cell, quoted where RFC 4180 asks for it; what a spreadsheet would take for a formula gets
                        an apostrophe in front */
    ESCAPE_ANNOTATION,          /* the message of a GitHub workflow command, behind its "::" */
    ESCAPE_ANNOTATION_PROPERTY, /* the value of one of its properties: "title=..." */
} EscapeKind;

/* Writes all of `text`. In every kind what is no UTF-8, control characters that the kind has no form for, and
 * characters that turn the reading direction become '?'. */
void escape_write(EscapeKind kind, const char *text, FILE *out);

#endif
