/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/options/asked_words.h: the options of a request as a command line has them, for reports that print a line to
 * type. */
#pragma once

#include "search/options/options.h"
#include "search/request/request.h"

/* Fills asked->words with the options that were given, and asked->choices with those of them that choose among answers
 * (--for, --top, --variants). Both are "" where a word has characters that no line should have, or no room. */
void asked_words_keep(const Options *options, Asked *asked);
