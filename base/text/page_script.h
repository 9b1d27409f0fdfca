/* SPDX-License-Identifier: GPL-3.0-or-later */
/* base/text/page_script.h: the one script of a page: a click on the head of a column sorts a table, and long tables
 * have a field that filters their rows. A page is whole without it. Its policy lets this script run, by its hash, and
 * no other. */
#pragma once

#include <stdio.h>

/* The script between its tags. */
void page_script_write(FILE *out);

/* Its SHA-256 as a policy names it, "sha256-" and Base64, into `text`, returned. */
enum { PAGE_SCRIPT_HASH_SIZE = 7 + 44 + 1 };
const char *page_script_hash(char text[PAGE_SCRIPT_HASH_SIZE]);
