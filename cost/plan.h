/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/plan.h: the words for one way of training: work, knobs, layout, plan. */
#ifndef SHARDOPT_COST_PLAN_H
#define SHARDOPT_COST_PLAN_H

#include "mesh/factorization.h"

typedef struct {
    int64_t sequences; /* of one step */
    int64_t seq;       /* tokens of a sequence */
} Work;

typedef enum { SCHEDULE_NONE, SCHEDULE_1F1B, SCHEDULE_INTERLEAVED, SCHEDULE_COUNT } Schedule;
typedef enum { CONTEXT_NONE, CONTEXT_RING, CONTEXT_ALL_GATHER, CONTEXT_COUNT } ContextMethod;

typedef struct {
    int64_t microbatches;         /* m, of one replica, per step */
    int64_t microbatch_sequences; /* b: m * b >= sequences of a replica */
    Schedule schedule;            /* NONE with one stage */
    int64_t virtual_stages;       /* v chunks per stage; 1 unless interleaved */
    int zero_stage;               /* of `data`: 0, 1, 2; 0 when data = 1 */
    ContextMethod context;        /* NONE when sequence = 1 */
    /* fsdp gathers weights again for backward; else they are kept from their forward. true when nothing is gathered */
    bool regather;
} Knobs;

/* Layout: how each tensor of a stage lies. */
typedef enum { RESIDUAL_REPLICATED, RESIDUAL_SEQUENCE } ResidualChoice; /* over tensor */
/* activations move, or weights are gathered over tensor */
typedef enum { MLP_TENSOR, MLP_GATHERED } MlpChoice;
/* tensor <= kv heads: SPLIT; else copies, or computed once and gathered */
typedef enum { KV_SPLIT, KV_REPLICATED, KV_GATHERED } KvChoice;
/* embedding and logits: which dimension tensor splits */
typedef enum { TABLE_VOCABULARY, TABLE_D_MODEL } TableChoice;

typedef struct {
    ResidualChoice residual;
    MlpChoice mlp;
    KvChoice kv;
    TableChoice embedding, logits;
} Sharding;

/* Activations of a layer that backward needs. */
typedef enum {
    ACTIVATION_LAYER_INPUT,     /* residual stream: the checkpoint of a layer; saved or offloaded, never recomputed */
    ACTIVATION_ATTENTION_INPUT, /* normed, gathered over tensor */
    ACTIVATION_QKV,
    ACTIVATION_CONTEXT,   /* what attention returns, and its log-sum-exp */
    ACTIVATION_MIDDLE,    /* residual stream between the blocks */
    ACTIVATION_MLP_INPUT, /* normed, gathered over tensor; experts: dispatched tokens */
    ACTIVATION_GATE_UP,
    ACTIVATION_PRODUCT, /* behind the non-linearity */
    ACTIVATION_COUNT
} Activation;

typedef enum { STATE_SAVED, STATE_RECOMPUTED, STATE_OFFLOADED, STATE_COUNT } ActivationState;

typedef struct {
    Sharding sharding;
    int64_t layers[ACTIVATION_COUNT][STATE_COUNT]; /* of the fullest stage; each row sums to its layers */
} Layout;

typedef struct {
    Degrees degrees;
    Knobs knobs;
    Placement placement;
    Layout layout;
} Plan;

const char *schedule_name(Schedule schedule);          /* "none" "1f1b" "interleaved" */
const char *context_method_name(ContextMethod method); /* "none" "ring" "all_gather" */
const char *activation_name(Activation activation);    /* "layer_input" ... */
const char *activation_state_name(ActivationState state);

enum { NOTATION_SIZE = 160 };
/* "data=2 fsdp=1024 sequence=1 tensor=4 expert=1 pipeline=1"; `brief` leaves out degrees of 1. */
const char *degrees_notation(const Degrees *degrees, bool brief, char *text);

/* Total order of the tie rule behind time and memory: degrees, knobs, placement. <0, 0, >0. */
int degrees_compare(const Degrees *a, const Degrees *b);
int knobs_compare(const Knobs *a, const Knobs *b);
int placement_compare(const Placement *a, const Placement *b);

#endif
