/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/measured/run.h: one published measurement of a training step: a line of JSON whose request and plan are exact
 * (form: cost/measured/README.md). A number that is not given is 0; a text that is not given is "". */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "cost/plan/plan.h"
#include "cost/profile/profile.h"
#include "cost/state/remat.h"
#include "cost/state/state.h"
#include "models/model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The meaning of a source's figure of memory: live tensors, the bytes that the allocator holds for them, or all bytes
 * that the device's own tool shows. */
typedef enum { MEMORY_SHOWN_ALLOCATED, MEMORY_SHOWN_RESERVED, MEMORY_SHOWN_DEVICE, MEMORY_SHOWN_COUNT } MemoryShown;

/* The FLOPs that a source's rate counts. */
typedef enum {
    COUNTED_FULL,           /* 6 N and the full square of attention */
    COUNTED_FULL_EMBEDDING, /* N with the input's table, which no matmul reads */
    COUNTED_CAUSAL,
    COUNTED_CAUSAL_EMBEDDING,
    COUNTED_MEGATRON,            /* Megatron-LM of 2021 */
    COUNTED_MEGATRON_RECOMPUTED, /* with the forward that is computed again */
    COUNTED_COUNT
} Counted;

/* Kinds of plans, by which an error table distinguishes runs. */
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
const char *run_kind_name(RunKind kind); /* "dense FSDP, full recomputation" */

/* The software, network and settings that a request names beyond model, work and state. */
typedef struct {
    const char *words; /* the request as options of `explain`, NULL: the members below and of Run are the request */
    const char *model; /* of the zoo; "": the line has a configuration */
    const char *chip, *slice, *stack;
    int64_t vocab; /* in place of the model's own */
    int64_t chips, slices, seq, sequences;
    int64_t longest_seq;     /* tokens of the longest sequence, which memory has to hold; 0: all are as long as `seq` */
    int64_t document_tokens; /* attention stays within documents; 0: it sees the sequence */
    int64_t remat_layers;
    double node_gigabits;   /* Gb/s of a node, one way; 0: the catalog's */
    double capacity_factor; /* experts are padded to that load */
    bool sequence_parallel; /* tensor ranks split sequences between matmuls */
    bool jax_mesh;          /* ranks lie as JAX's mesh axes do, on GPUs too */
    bool serial_ranks;      /* ZeRO over all replicas, one after the other (InternEvo) */
    bool expert_overlap;    /* dispatch is overlapped */
    Precision precision;
    StateDtypes state;
    Tuning tuning;
    RematRule remat;
} RunRequest;

/* The figures of a source. The first that is given counts: step_seconds, tokens, flops, mfu. */
typedef struct {
    double step_seconds, tokens_per_second_per_chip, flops_per_second_per_chip, mfu, peak_flops_per_second;
    Counted counted;
    double step_factor;  /* the source's step over a training step: 1.06 where it holds an evaluation */
    double memory_bytes; /* 0 means not measured */
    MemoryShown memory_shows;
    int64_t
        first_stage_layers; /* memory is that of the first stage, with as many layers as its software deals to it (0:
                                 * one stage); -1: that of the fullest chip */
    bool failed;            /* it crashed, or memory was out */
} RunFigures;

typedef struct {
    int64_t line;     /* of the file, from 1 */
    const char *text; /* the line */
    size_t length;
    const char *id, *source;
    const char *family;       /* runs of one publisher, and of one round of it: "mbridge", "mlperf-v5.0" */
    const char *framework;    /* "Megatron-Bridge" */
    const char *release;      /* of the software */
    const char *variant;      /* what distinguishes the software beyond the request: "rowwise" */
    const char *model;        /* as the source names it */
    const char *dimensions;   /* the configuration of a model without a name, as it is written; "": it has a name */
    const char *not_replayed; /* why it is no request; "": it is one */
    const char *assumed;      /* settings that the source leaves open */
    int64_t guesses;          /* how many of them: they widen the likely range */
    const char *aside;        /* why it is replayed, but neither fitted nor scored; "": it is */
    const char *flagged;      /* why it is known to be odd; "": it is not */
    double active_parameters; /* of a token, as the source says; 0: it does not */
    bool mixture;             /* it has experts */
    RunRequest request;
    RunFigures measured;
    /* As they are written: equal texts are equal plans, and equal work. */
    const char *plan, *remat, *trained;
    Degrees degrees;
    Knobs knobs;
    const struct RunGiven *given; /* what its words ask for, priced (replay.h); NULL: it has none */
} Run;

typedef struct {
    Run *runs;
    int64_t count;
    char sha256[65]; /* of the file that run_table_read() read */
} RunTable;

/* Reads a file of runs, one line of JSON each. What is not a run is an error that names FILE:LINE:COLUMN. The table
 * lies in the arena. */
bool run_table_read(const char *path, Arena *arena, RunTable *out, Error *error);
/* The same without the hash, and of the lines that have `"chip":"h100"` as convert.py writes it alone. */
bool run_table_read_chip(const char *path, const char *chip, Arena *arena, RunTable *out, Error *error);

/* Whether a text begins with a run: an object in one line that has a request and what was measured. */
bool run_lines_are(const char *text);

/* That for text in memory, which has a NUL at [length] and is cut in place; `where` names it in errors. */
bool run_table_parse(const char *where, char *text, size_t length, Arena *arena, RunTable *out, Error *error);

/* The model that the line has as a configuration; false: it is none, and *error says why. */
bool run_model(const Run *run, Model *out, Error *error);

/* Says what is wrong at a key of a run's line: FILE:LINE:COLUMN. Always false. */
__attribute__((format(printf, 5, 6))) bool run_wrong(const Run *run, const char *path, const char *key, Error *error,
                                                     const char *format, ...);
