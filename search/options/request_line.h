/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/options/request_line.h: the words of a question, for reports to print again. */
#pragma once

#include "search/options/options.h"
#include "search/request/request.h"

/* Adds "--name value" to a line, the value between quotes where a shell would see more in it than a word. False: there
 * is no room for it, or it has characters that no line should have. */
bool request_line_add(char *line, size_t size, const char *name, const char *value);

/* Keeps the options that ask as one line ("" where it is too long, or a shell would not read it back), and what was
 * typed of lengths. */
void request_keep_line(const Options *options, Requested *requested);
