/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/what_if.h: the same question with something else, as a line under its answer. */
#pragma once

#include "search/cli/command.h"

/* Runs the command of the line, and below its text one line for each change of --what-if ("chip=b200 nodes=4;
 * nodes=16"): its figures and how far they move. The changes are searched first: one that is wrong is an error, and
 * nothing is printed. Returns the exit code of the answer. */
int what_if_run(const CommandLine *line, Streams streams, Error *error);
