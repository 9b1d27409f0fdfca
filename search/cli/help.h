/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/help.h: what is printed of the commands' rows: help, the manual page, and the completion of shells. */
#pragma once

#include "search/cli/command.h"

/* `shardopt COMMAND --help`, with its examples (tests/install/examples.sh runs them). */
void help_of_command(const Command *command, FILE *out);

/* `shardopt --help`: the commands. */
void help_of_program(FILE *out);

/* The manual page, docs/shardopt.1, and the completions, docs/completion/: the files are what is printed here, and
 * tests/search/cli/test_manual.c holds them to it. */
void manual_write(FILE *out);
void completion_write_bash(FILE *out);
void completion_write_zsh(FILE *out);
void completion_write_fish(FILE *out);
