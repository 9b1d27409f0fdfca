/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/commands/serving_reports.h: what explain, diff, check and sweep do with reports and options of `shardopt
 * inference`. The first three are asked before the command itself: false without an error means that the report is
 * none of `inference`. */
#pragma once

#include "search/baseline/diff.h"
#include "search/cli/command.h"
#include "search/serving/options/served.h"

/* --from REPORT [--rank N]: asks the report's question again, and shows one point of its front in full; without --rank
 * the best. */
bool serving_explain(const CommandLine *line, Streams streams, int *code, Error *error);

/* `emit vllm ...`: the command that these words are for, whose options are those of `inference`; NULL: they name no
 * engine first. */
const Command *serving_emit_command(int argc, char **argv);
/* `explain ...` of a script that serves: the command that these words are for, whose options are those of `inference`;
 * NULL: they name no such script. */
const Command *serving_explain_command(int argc, char **argv);
/* `inference --from-config FILE`. Returns the exit code. */
int serving_from_config(const CommandLine *line, Streams streams, Error *error);
/* `emit maxtext --from REPORT [--rank N]`, where the report is of `inference`. */
bool serving_emit(const CommandLine *line, const char *format, Streams streams, int *code, Error *error);
void serving_emit_list(FILE *out); /* the formats, for `emit --help` */

/* Two reports: what was asked, the best points, their steps and memory, the sizes of the fronts. */
typedef struct {
    int format;       /* DiffFormat */
    const char *path; /* NULL: stdout */
    bool quiet;
} ServingDiffOut;
bool serving_diff(const ReportFile files[2], ServingDiffOut to, Streams streams, bool *different, Error *error);

/* --baseline FILE [--tolerance SHARE] [--update]: a report or a list of them, asked again. */
bool serving_check(const CommandLine *line, Streams streams, int *code, Error *error);

/* `shardopt sweep inference ...`: lists in the options of `inference`, a row for each point. Returns the exit code. */
int serving_sweep(int argc, char **argv, Streams streams, Error *error);
