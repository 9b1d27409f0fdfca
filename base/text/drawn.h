/* SPDX-License-Identifier: GPL-3.0-or-later */
/* base/text/drawn.h: a picture that was drawn, and its section of a page: the words above it, the SVG, and its figures
 * as a table for who does not see it. */
#pragma once

#include "base/text/prose.h"
#include "base/text/table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

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
