/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/serving/measured/serving_runs.h: measured serving runs: what was served, on what, how it was cut, under which
 * load, and what was measured. cost/measured/README.md has the form of a line. */
#pragma once

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ways of one worker; 0: the row does not say. */
typedef struct {
    int64_t workers, tensor, pipeline, attention_data, expert;
} RunWorker;

/* Texts are "" and numbers 0 where the row does not say. */
typedef struct {
    const char *id, *source;
    const char *family;    /* runs of one publisher, and of one round of it */
    const char *group;     /* rows that share source, model, chip, engine and mode: they weigh one */
    const char *framework; /* the software as error tables name it: a fork of the engine */
    const char *variant;   /* what distinguishes the software beyond the request: "fp8(gemm fp8_block)" */
    const char *model, *chip, *engine, *version;
    const char
        *mode; /* closed-loop, offline-max, open-loop-inf, open-loop, static-batch, prefill-only; two pools: disagg */
    const char *not_replayed; /* why it is no request; "": it is one */
    int weights, cache;       /* 1 + StoredType */
    int64_t chips;
    RunWorker worker, prefill, decode; /* of two pools: the last two */
    double prompt, output;             /* tokens, as the source lists them */
    double length_share;               /* of the lengths that are listed, in the mean; 0: all of them */
    bool exponential;                  /* answers' lengths are spread as an exponential; else all are alike */
    bool drafts_unknown;               /* drafts may have been on */
    double concurrency, batch, rate;
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

/* Reads runs; those of one chip alone, where it is not NULL. */
bool serving_runs_read(const char *path, const char *chip, Arena *arena, ServingRuns *out, Error *error);

/* That for text in memory, which has a NUL at [length] and is cut in place; `where` names it in errors. */
bool serving_runs_parse(const char *where, char *text, size_t length, Arena *arena, ServingRuns *out, Error *error);

/* bench_report.c: the JSON of a load test (`vllm bench serve --save-result`, SGLang's bench_serving --output-file,
 * genai-perf's *_genai_perf.json) as serving runs.
 *
 * One report, a list of them, or one after the other; each is a run. What a report does not say comes from facts:
 * NAME=value words. The scripts of `emit` put them into the report (vLLM's --metadata, SGLang's --tag); `own` are those
 * of the command line, which count first. False: *error names the report and what it lacks. `own` may be NULL. */
bool bench_report_read(const char *where, const char *text, const char *own, Arena *arena, ServingRuns *out,
                       Error *error);

/* Whether a text has serving runs: lines of them, the JSON of a load test, or a table of before, which is refused. */
bool serving_runs_are(const char *text);

/* Reads a user's file: runs, or the JSON of a load test, to which `facts` add what it lacks; NULL: none. */
bool serving_runs_load(const char *path, const char *facts, Arena *arena, ServingRuns *out, Error *error);
