/* SPDX-License-Identifier: GPL-3.0-or-later */
/* base/text/html.h: the frame of every page: one file that loads nothing and runs nothing but the script that sorts its
 * tables, light or dark as the reader's screen is, fit for paper, for the keyboard and for who hears
 * it. */
#pragma once

#include "base/text/prose.h"
#include "base/text/table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Everything up to the first section: <main> is open. `lead` stands under the heading; NULL: nothing. */
void html_open(FILE *out, const char *title, const char *lead);
void html_close(FILE *out);

/* Links to sections; call between html_open() and the first of them. */
typedef struct {
    const char *id, *heading;
} HtmlLink;
void html_contents(FILE *out, const HtmlLink *links, int count);

void html_section_open(FILE *out, const char *id, const char *heading);
void html_section_close(FILE *out);
void html_heading(FILE *out, const char *heading); /* within a section */
/* Around an SVG; where it is wider than the screen it can be scrolled, by the keyboard too. */
void html_figure_open(FILE *out, const char *name);
void html_figure_close(FILE *out);
/* One of the cards in a <dl class="cards">: what it is, its value, and more in small, which may be empty. */
void html_card(FILE *out, const char *name, const char *value, const char *more);
/* Nothing where the text is empty. */
void html_paragraph(FILE *out, const char *text);

/* The one script of a page, between its tags: a click on the head of a column sorts a table, and long tables have a
 * field that filters their rows. A page is whole without it. Its policy lets this script run, by its hash, and no
 * other. */
void page_script_write(FILE *out);

/* The script's SHA-256 as a policy names it, "sha256-" and Base64, into `text`, returned. */
enum { PAGE_SCRIPT_HASH_SIZE = 7 + 44 + 1 };
const char *page_script_hash(char text[PAGE_SCRIPT_HASH_SIZE]);
/* A list of texts; `tag` is "ol" or "ul". */
void html_list(FILE *out, const char *tag, const char *const *texts, int64_t count);
/* A section with the command line that writes the page again. */
void html_again(FILE *out, const char *command);

/* A picture that was drawn, and its section of a page: the words above it, the SVG, and its figures as a table for who
 * does not see it. */

/* All zero before; free `svg` in the end. */
typedef struct {
    char *svg;
    size_t length;
    Prose words;
    Table table;
    bool drawn; /* false: there is nothing to show */
} Drawn;

/* The stream for the SVG; NULL means that memory is out. */
FILE *drawn_open(Drawn *drawn);
/* Closes it; `any`: what was drawn is something to show. False means that memory is out. */
bool drawn_close(Drawn *drawn, FILE *svg, bool any);

void drawn_section(const Drawn *drawn, const char *id, const char *heading, FILE *out);
