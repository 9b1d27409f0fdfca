/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/state/state.h: the bytes that a chip keeps and moves for each parameter: the copy for compute, its gradient, and
 * the optimizer's state; their dtypes; and the cost of the update. An optimizer, dtypes and a model make one
 * TrainingState; it answers every question about bytes per parameter. */
#pragma once

#include "base/error.h"
#include "cost/plan/tuning.h"
#include "cost/state/optimizer.h"
#include "models/model.h"

/* What may lie in the memory of the host, and who updates the state that lies there. */

/* What plans may send to the host. */
typedef enum { OFFLOAD_ALL, OFFLOAD_ACTIVATIONS, OFFLOAD_OPTIMIZER, OFFLOAD_NONE, OFFLOAD_COUNT } Offload;

static inline bool offload_takes_optimizer(Offload offload) {
    return offload == OFFLOAD_ALL || offload == OFFLOAD_OPTIMIZER;
}
static inline bool offload_takes_activations(Offload offload) {
    return offload == OFFLOAD_ALL || offload == OFFLOAD_ACTIVATIONS;
}

const char *offload_name(Offload offload); /* "all" "activations" "optimizer" "none" */
/* The way back; false: *error says which names there are. */
bool offload_parse(const char *text, const char *where, Offload *out, Error *error);

/* Who updates the optimizer's state that lies on the host. */
typedef enum {
    HOST_UPDATE_STREAMS, /* the chip: state passes through HBM, both ways at once, a layer at a time */
    HOST_UPDATE_ON_CPU   /* the host's CPUs: gradients are copied down, weights up */
} HostUpdate;

/* DTYPE_DEFAULT means that the user said nothing; see StateDtypes. */
typedef enum { DTYPE_DEFAULT, DTYPE_NONE, DTYPE_FP8, DTYPE_BF16, DTYPE_FP16, DTYPE_FP32, DTYPE_COUNT } Dtype;
const char *dtype_name(Dtype dtype); /* "bf16" */
double dtype_bytes(Dtype dtype);     /* of one number; scaling factors of fp8, one for each block, are left out */

/* `parameters` is the copy for compute, which is also the copy that is gathered; its DEFAULT is bf16. `gradients`
 * DEFAULT is fp32 where they are accumulated over microbatches, else bf16; over fsdp they are scattered in bf16. A
 * given dtype is the one in which they are kept and reduced. `master` DEFAULT is fp32, or none where the parameters
 * themselves are fp32. Moments DEFAULT is fp32, or fp8 for an optimizer of 8 bits. */
typedef struct {
    Dtype parameters, gradients, master, first, second;
} StateDtypes;

/* Reads "parameters=bf16 gradients=fp32 master=none moments=bf16", m= and v= for one moment alone, with blanks or
 * commas between; or "default" alone. Parts that are not named keep their value in *out. False means that *error says
 * what would be right. */
bool state_dtypes_parse(const char *text, const char *where, StateDtypes *out, Error *error);

enum { STATE_TEXT_SIZE = 128 };
/* Writes the dtypes as state_dtypes_parse() reads them; "default" when the user said nothing else. Returns `text`. */
const char *state_dtypes_text(const StateDtypes *dtypes, char text[STATE_TEXT_SIZE]);

/* A chip's parameters in the parts that are sharded separately. */
typedef enum { HELD_DENSE, HELD_EXPERTS, HELD_TABLES, HELD_COUNT } HeldPart;

/* The costs of one parameter of a part, on average over its matrices and vectors. */
typedef struct {
    double optimizer_bytes; /* master and moments */
    double update_bytes;    /* HBM: the kept state read and written, the gradient read, the copy for compute written */
    double update_flops;    /* Newton-Schulz: 5 steps of 4 n^2 m + 2 n^3 for a matrix of n <= m */
    double gathered_bytes;  /* bf16 update that Newton-Schulz needs whole: see below */
} PartState;

/* Matrices that are made orthogonal but lie in pieces over fsdp, sequence and expert, or over data (ZeRO 1, 2), are
 * brought together in bf16 once a step; the chips that share the state share their FLOPs (Moonlight's distributed Muon;
 * Megatron-Core's layer-wise one: each matrix has one home). The sharing is taken as even: a launcher that gives whole
 * matrices to chips takes at least the time of the largest of them. Over tensor each chip works on its own block
 * (Megatron-Core's blockwise mode), so nothing moves. */
typedef struct {
    char optimizer[OPTIMIZER_NAME_SIZE]; /* its title, for reports */
    StateDtypes dtypes;                  /* `gradients` may be DEFAULT; the other dtypes are settled */
    double parameter_bytes;              /* of the copy for compute, which gathers move */
    double gradient_bytes[2]; /* kept and reduced over data: [0] of one microbatch, [1] accumulated over several */
    double scatter_bytes;     /* of a gradient reduced over fsdp, in every microbatch */
    PartState part[HELD_COUNT];
    bool uniform;    /* the parts are alike: only their sum matters */
    bool orthogonal; /* some update_flops, some gathered_bytes */
    bool moments;    /* some are kept */
    bool said_bf16;  /* bf16 of the copy for compute is requested: recipes in fp8 keep it too (low_parameters) */
    Tuning tuning;   /* which parameters all this is kept of; training_state() leaves it at all of them */
} TrainingState;

/* Pure. Moments that the optimizer does not keep have no dtype. */
TrainingState training_state(const Model *model, const Optimizer *optimizer, const StateDtypes *dtypes);

/* AdamW with the default dtypes: 2 + 4 + 4 + 4 bytes, gradients of 2 or 4. */
const TrainingState *training_state_default(void);

/* "bf16 weights, fp32 master weights and AdamW moments, gradients fp32 when accumulated ...": for the report. */
enum { STATE_WORDS_SIZE = 256 };
const char *training_state_words(const TrainingState *state, char text[STATE_WORDS_SIZE]);

/* The weight matrices of one layer of a kind: rows, columns and their number, experts separately. */
typedef struct {
    int64_t rows, columns, count;
    bool expert;
} MatrixShape;
enum { MATRICES_MAX = 40 };
int layer_matrices(const Model *model, const LayerKind *kind, MatrixShape out[MATRICES_MAX]);
