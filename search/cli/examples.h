/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/examples.h: what --help ends with: lines that a test runs (tests/install/examples.sh). */
#ifndef SHARDOPT_SEARCH_CLI_EXAMPLES_H
#define SHARDOPT_SEARCH_CLI_EXAMPLES_H

#include <stdbool.h>
#include <stdio.h>

/* Those of one command, under "Examples:"; nothing for a command that has none. */
void examples_write(const char *command, FILE *out);

/* Whether words behind a command ask for its help. */
bool words_ask_help(int argc, char **argv);

#endif
