/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/options/request_line.h: the words of a question, for reports to print again. */
#pragma once

#include "search/options/options.h"
#include "search/request/request.h"

/* Keeps the options that ask as one line ("" where it is too long, or a shell would not read it back), and what was
 * typed of lengths. */
void request_keep_line(const Options *options, Requested *requested);
