/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/serving/measured/serving_runs.h: a table of measured serving runs, one row each: what was served, on what,
 * how it was cut, under which load, and what was measured. cost/measured/data/serving.tsv has the columns, and
 * docs/accuracy.md says what they mean. */
#pragma once

#include "base/arena.h"
#include "base/error.h"

#include <stdint.h>

/* Ways of one worker; 0: the row does not say. */
typedef struct {
    int64_t workers, tensor, pipeline, attention_data, expert, expert_tensor;
} RunWorker;

/* Texts are "" and numbers 0 where the row does not say. */
typedef struct {
    const char *wrong; /* why the row cannot be read: then other figures are not there either; NULL: it was read */
    const char *id, *source, *tier, *group, *model, *arch, *chip, *engine, *version, *weights, *cache, *mode, *spec;
    const char *spread; /* of the answers' lengths, where they vary: "exponential" */
    int64_t chips;
    RunWorker worker, prefill, decode; /* of two pools: the last two */
    double prompt, output, concurrency, batch, rate;
    double requests;          /* of the whole test; 0: so many that its ends do not count */
    double memory_fraction;   /* of HBM, as the engine was configured */
    double tokens_per_second; /* output, of all */
    double prompt_tokens_per_second_per_chip;
    double ttft_seconds, tpot_seconds, whole_seconds;
} ServingRun;

typedef struct {
    ServingRun *runs;
    int64_t count;
} ServingRuns;

/* Whether a text of a table has the columns of serving runs: a model, a chip, an engine, isl and osl. JSON
 * is taken for that of a load test. */
bool serving_runs_are(const char *text);

/* Reads a table; columns by their names, in any order, others are passed over. `text` has a NUL behind `length` and is
 * written to; what is read points into it. A row that
 * cannot be read is there with what is wrong. */
bool serving_runs_read(const char *where, char *text, size_t length, Arena *arena, ServingRuns *out, Error *error);

/* Opens one, or the JSON of a load test (below), to which `facts` add what it lacks; NULL: none. */
bool serving_runs_load(const char *path, const char *facts, Arena *arena, ServingRuns *out, Error *error);

/* bench_report.c: the JSON of a load test (`vllm bench serve --save-result`, SGLang's bench_serving --output-file,
 * genai-perf's *_genai_perf.json) as rows of a table of serving runs.
 *
 * One report, a list of them, or one after the other; each is a row. What a report does not say comes from facts:
 * NAME=value words with the names of the table's columns. The scripts of `emit` put them into the report (vLLM's
 * --metadata, SGLang's --tag); `own` are those of the command line, which count first. */

/* Whether a text begins like JSON. */
bool bench_report_is(const char *text);

/* The table as text, in the arena; NULL: *error names the report and what it lacks. `own` may be NULL. */
char *bench_report_table(const char *where, const char *text, const char *own, Arena *arena, Error *error);
