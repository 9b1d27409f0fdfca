/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/options/asked_words.h: the options of a request as a command line has them, for reports that print a line to
 * type. */
#ifndef SHARDOPT_SEARCH_OPTIONS_ASKED_WORDS_H
#define SHARDOPT_SEARCH_OPTIONS_ASKED_WORDS_H

#include "search/options/options.h"
#include "search/request/request.h"

/* Fills asked->words with the options that were given, but for those that choose among answers (--for, --top,
 * --variants). "" where one has characters that no line should have. */
void asked_words_keep(const Options *options, Asked *asked);

#endif
