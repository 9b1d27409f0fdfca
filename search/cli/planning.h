/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/planning.h: what the commands that plan have in common: what they say beside the result, and how they end.
 * */
#pragma once

#include "base/text/terminal.h"
#include "search/cli/command.h"
#include "search/cli/output_options.h"
#include "search/report/html/write.h"
#include "search/report/report.h"

/* Before a search: sets the threads; warns on `err` of what is planned though it is odd (not with --quiet), and says
 * with --verbose what is searched. */
void planning_announce(const Request *request, const OutputChoice *choice, FILE *err);

/* After it: what --timing and --verbose ask for. */
void planning_conclude(const SearchResult *result, const OutputChoice *choice, double seconds, FILE *err);

/* `memory` as what --output and --color say of the place where the text in it will be read. */
TextOut planning_text_out(FILE *memory, const OutputChoice *choice, Streams streams);

/* The report in one of the forms; `facts` only a page takes, and NULL does. */
bool report_write_as(const Report *report, const PageFacts *facts, OutputFormat format, TextOut out, Error *error);

/* An interrupt comes first, then a gap before "no plan fits": a search that was cut short has not shown that. */
int exit_of_result(const SearchResult *result);

/* A command that plans: `plan` fills the report and writes it; meanwhile an interrupt ends the searches of `plan` with
 * what they have. Returns the exit code when *error stays empty. */
typedef bool (*PlanningWork)(const Options *options, Arena *arena, Streams streams, Report *report, Error *error);
int planning_run(const CommandLine *line, PlanningWork plan, Streams streams, Error *error);
