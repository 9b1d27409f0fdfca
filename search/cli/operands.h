/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/operands.h: a plan that is named by its file alone: `explain report.json`, `emit megatron report.json`. */
#pragma once

#include "search/cli/command.h"

/* Whether a word without an option is a file: "-", or what has a name like one or is there. */
bool operand_is_file(const char *word);

/* Takes the word as --from REPORT, or as --from-config FILE where it is no report. The line is one of a command that
 * plans. False: it names a second plan, or cannot be read. */
bool operand_take_plan(CommandLine *line, const char *word, Error *error);
