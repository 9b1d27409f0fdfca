/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/serving/measured/bench_report.h: the JSON of a load test (`vllm bench serve --save-result`, SGLang's
 * bench_serving --output-file, genai-perf's *_genai_perf.json) as rows of a table of serving runs.
 *
 * One report, a list of them, or one after the other; each is a row. What a report does not say comes from facts:
 * NAME=value words with the names of the table's columns. The scripts of `emit` put them into the report (vLLM's
 * --metadata, SGLang's --tag); `own` are those of the command line, which count first. */
#pragma once

#include "base/arena.h"
#include "base/error.h"

/* Whether a text begins like JSON. */
bool bench_report_is(const char *text);

/* The table as text, in the arena; NULL: *error names the report and what it lacks. `own` may be NULL. */
char *bench_report_table(const char *where, const char *text, const char *own, Arena *arena, Error *error);
