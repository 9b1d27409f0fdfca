/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/measured/run.h: one published measurement of a training step, as a row of a table of runs has it (columns:
 * cost/measured/README.md). A number that the source does not give is 0; a text that it does not give is "". */
#pragma once

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    int64_t line;      /* of the file; the heading is line 1 */
    const char *wrong; /* why the row cannot be read: then only line, id and texts are there; NULL: it was read */
    const char *id, *source, *hardware, *topology, *framework, *model;
    const char *fsdp, *remat, *precision, *convention, *version, *confidence, *notes, *check;
    const char *rounded; /* a column with a fraction where a whole number belongs, rounded up; NULL means that there
                          * is none */
    char family[32];     /* of its id, up to the first '-': "mbridge" */
    int64_t chips;
    double params_b, active_params_b;
    int64_t layers, d_model, d_ff, heads, kv_heads, head_dim, vocab, experts, top_k;
    bool gated;
    int64_t seq, global_batch, micro_batch;
    int64_t data, tensor, context, pipeline, chunks, expert; /* dp tp cp pp vpp ep; 0 means not given */
    int sequence_parallel;                                   /* sp: 0, 1; -1 means not given */
    double step_seconds, tokens_per_second_per_chip, tflops_per_chip, mfu, memory_gb; /* as printed */
    /* Of fine-tuning; `method` is "" in all other rows. */
    const char *method, *targets, *quantised, *lengths, *attention, *memory_kind, *result;
    int64_t adapter_rank, accumulation;
    double samples_per_second;
    int64_t longest; /* tokens of the longest sample, which memory has to hold; 0: all are as long as `seq` */
    bool lengths_unknown, longest_unknown; /* how long samples are in the mean, and at most */
    bool failed;
} Run;

typedef struct {
    Run *runs;
    int64_t count;
    char sha256[65]; /* of the file that run_table_read() read */
} RunTable;

/* Says in the columns of pre-training what a row of fine-tuning says in its own: degrees, recomputation, the batch, the
 * length of a step. Other rows stay as they are. */
void run_read_tuning(Run *run);
/* Whether the `result` of a row of fine-tuning says that it did not end: "fails: ...", out of memory. */
bool run_result_failed(const char *result);

/* Reads tab-separated values with a heading, before which lines that begin with # are left out; fields may be quoted as
 * in CSV ("" for a quote). Columns are found by name, in any order; unknown ones are ignored. A row that cannot
 * be read is there with what is wrong. Errors name FILE:LINE:COLUMN. The table lies in the arena. */
bool run_table_read(const char *path, Arena *arena, RunTable *out, Error *error);
/* The same without the hash, which takes as long as a third of the rest. */
bool run_table_read_runs(const char *path, Arena *arena, RunTable *out, Error *error);

/* That for text in memory, which has a NUL at [length] and is cut in place; `where` names it in errors. */
bool run_table_parse(const char *where, char *text, size_t length, Arena *arena, RunTable *out, Error *error);

/* labels.c: the words by which an error table distinguishes runs: their publisher, their software, and their kind of
 * plan. They come from the columns alone, so that a row that cannot be replayed has them too. */

enum { RUN_LABEL_SIZE = 48 };

/* The source is the first word of the id without a release number that is part of it ("nemo24.07-..." is nemo24), and
 * with one that stands after it, where the published workload changes from round to round ("mlperf-v5.0-..." is
 * mlperf-v5.0). An id without "-" names no source: then the column does, or the source is empty (""), lest each of a
 * user's runs be a source of its own. */
const char *run_source(const Run *run, char text[RUN_LABEL_SIZE]);

/* The framework without vendor, release and the text in brackets or after "/" and "+": "NVIDIA NeMo Framework Release
 * 24.04" is NeMo. */
const char *run_framework(const Run *run, char text[RUN_LABEL_SIZE]);

/* Whether parameters are sharded over data-parallel ranks: "256 (zero3)", "zero3 over 384", "HSDP". */
bool run_is_sharded(const Run *run);

typedef enum {
    KIND_DENSE_FSDP,
    KIND_DENSE_FSDP_FULL, /* with full recomputation */
    KIND_DENSE_PIPELINE,
    KIND_DENSE_PIPELINE_FULL,
    KIND_DENSE_PIPELINE_CONTEXT,
    KIND_DENSE_CONTEXT,
    KIND_DENSE_TENSOR,
    KIND_DENSE_REPLICATED, /* parameters are whole on every chip: ZeRO-1 at most */
    KIND_MOE_PIPELINE,
    KIND_MOE_FLAT, /* without a pipeline */
    KIND_MOE_TPU,
    KIND_COUNT
} RunKind;
RunKind run_kind(const Run *run);
const char *run_kind_name(RunKind kind); /* "dense FSDP + full recomputation" */
