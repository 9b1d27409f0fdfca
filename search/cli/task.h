/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/task.h: which command a line is for, where options say it: "--serve", "--task rl", "--emit slurm",
 * "--sweep seq=4k,8k". */
#pragma once

#include "base/arena.h"

/* What is said of `check` where a line is of serving or RL, which no gate passes. */
extern const char NO_GATE[];

/* The words of a line as those of its command, argv[0] as it is: what says a task, a format or a list stands where the
 * command has it. `advice`: what is said of that; NULL: nothing. NULL: memory is out. */
char **task_words(int *argc, char **argv, Arena *arena, const char **advice);
