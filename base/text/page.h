/* SPDX-License-Identifier: GPL-3.0-or-later */
/* base/text/page.h: a JSON document as a page: view/ with the document in it, one file that loads nothing. */
#pragma once

#include "base/error.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdio.h>

/* The page before and after its document, made at build from view/ by cmake/View.cmake; each ends with '\0'. */
extern const unsigned char VIEW_HEAD[], VIEW_TAIL[];

/* Writes the page. False: memory is out, or the stream failed. */
bool page_write(const cJSON *document, FILE *out, Error *error);
/* The same with the document as text, which must be JSON. */
bool page_write_text(const char *document, FILE *out, Error *error);
