/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/plan/plan.h: the words for one way of training: work, knobs, layout, plan. */
#pragma once

#include "mesh/factorization.h"

/* The bytes of one number. cost/state/state.h has all the bytes of a parameter. */

enum {
    BF16_BYTES = 2, /* activations, and weights at work */
    FP32_BYTES = 4
};

typedef struct {
    int64_t sequences; /* of one step */
    int64_t seq;       /* tokens of a sequence */
    /* Seconds of a FLOP of a layer over those of a FLOP of the logits (stage_layer_weight(), cost/stage/stage.h): it
     * says how stages are balanced, and which stage bounds look at. 0 means 1. */
    double layer_weight;
    /* layer_flops() of the model at `seq` (cost/plan/shard.h); 0 means that it is computed where needed */
    double layer_flops, layer_active;
    bool emerging; /* the optimizer is neither Adam nor SGD: launchers run it in fewer ways */
} Work;

static inline double work_layer_weight(const Work *work) { return work->layer_weight > 0 ? work->layer_weight : 1; }

/* Order of the microbatches' passes through the stages. */
typedef enum {
    SCHEDULE_NONE,
    SCHEDULE_GPIPE,       /* all forwards, then all backwards */
    SCHEDULE_1F1B,        /* one forward, one backward in turn */
    SCHEDULE_INTERLEAVED, /* 1F1B over v chunks a stage */
    SCHEDULE_CIRCULAR,    /* GPipe over v chunks a stage (MaxText) */
    SCHEDULE_ZB_H1,       /* 1F1B whose weight gradients fill the bubble (zero bubble, H1) */
    SCHEDULE_DUALPIPE,    /* from both ends at once, two copies of the parameters (DeepSeek-V3) */
    SCHEDULE_COUNT
} Schedule;

/* The number of layers of each stage: the same number each; balanced, with the logits on the last stage counted in; or
 * with the embedding and the logits in a layer's place each, so that the first and the last stage have one layer fewer
 * than the others (Megatron-Core's account_for_embedding_in_pipeline_split and ..._loss_..., DeepSpeed's
 * type:transformer|embedding): Llama 3 lies so. */
typedef enum { STAGES_EVEN, STAGES_BALANCED, STAGES_SLOTS } StageSplit;

typedef enum {
    CONTEXT_NONE,
    CONTEXT_RING,         /* keys and values go round */
    CONTEXT_ALL_GATHER,   /* keys and values come together */
    CONTEXT_ULYSSES,      /* all_to_all: heads for tokens, and back */
    CONTEXT_ULYSSES_RING, /* heads are exchanged inside, and a ring joins such groups outside */
    CONTEXT_COUNT
} ContextMethod;

/* Whether keys and values go from chip to chip, alongside attention. */
static inline bool context_is_ring(ContextMethod method) {
    return method == CONTEXT_RING || method == CONTEXT_ULYSSES_RING;
}

/* A folded expert grid: expert x expert_tensor x the rest, over the ranks of tensor, sequence, fsdp and data that the
 * dense layers use. {0, 0} means that there is no grid: experts lie on the roles. */
typedef struct {
    int64_t expert, expert_tensor;
} ExpertGrid;

/* The knobs that decide which chips communicate, and about what. All zeros (with a context method where sequence > 1)
 * are the plain way. */
typedef struct {
    ContextMethod context;    /* NONE when sequence = 1 */
    int64_t ulysses;          /* chips of a sequence group that exchange heads; 0 or 1 means that none do */
    bool sequence_replicates; /* sequence replicates parameters as data does; else it shards them as fsdp does */
    ExpertGrid grid;
    bool tensor_overlap; /* collective matmul: matmuls in chunks, alongside their collectives over tensor */
} Methods;
int methods_compare(const Methods *a, const Methods *b);

typedef struct {
    int64_t microbatches;         /* m, of one replica, per step */
    int64_t microbatch_sequences; /* b: m * b >= sequences of a replica */
    Schedule schedule;            /* NONE with one stage */
    int64_t virtual_stages;       /* v chunks per stage; 1 unless interleaved or circular */
    StageSplit stages;            /* EVEN with one stage */
    int zero_stage;               /* of the replicas of parameters: 0, 1, 2; 0 when there is one replica */
    Methods methods;
    /* fsdp gathers weights again for backward; otherwise they are kept from their forward. It is true when nothing is
     * gathered */
    bool regather;
    bool offload_optimizer; /* its state lives on the host */
} Knobs;

/* Layout: how each tensor of a stage lies. */
typedef enum { RESIDUAL_REPLICATED, RESIDUAL_SEQUENCE } ResidualChoice; /* over tensor */
/* activations move, or weights are gathered over tensor */
typedef enum { MLP_TENSOR, MLP_GATHERED } MlpChoice;
/* SPLIT when tensor <= kv heads; otherwise heads are copied, or computed once and gathered */
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
    ACTIVATION_CONTEXT,   /* the output of attention, and its log-sum-exp */
    ACTIVATION_MIDDLE,    /* residual stream between the blocks */
    ACTIVATION_MLP_INPUT, /* normed, gathered over tensor; experts: dispatched tokens too */
    ACTIVATION_GATE_UP,
    ACTIVATION_PRODUCT, /* after the non-linearity */
    ACTIVATION_COUNT
} Activation;

/* PARTLY is what selective checkpointing op by op does: of the ops that an activation stands for some are kept and some
 * run again (ActivationCost.part). Layouts take it only where a launcher supports it. */
typedef enum { STATE_SAVED, STATE_RECOMPUTED, STATE_OFFLOADED, STATE_PARTLY, STATE_COUNT } ActivationState;

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

const char *schedule_name(Schedule schedule);          /* "none" "gpipe" "1f1b" "interleaved" ... */
const char *stage_split_name(StageSplit split);        /* "even" "balanced" "slots" */
const char *context_method_name(ContextMethod method); /* "none" "ring" "all_gather" "ulysses" ... */
const char *activation_name(Activation activation);    /* "layer_input" ... */
const char *activation_state_name(ActivationState state);

enum { NOTATION_SIZE = 200 };
/* "data=2 fsdp=1024 sequence=1 tensor=4 expert=1 pipeline=1"; `brief` leaves out degrees of 1. */
const char *degrees_notation(const Degrees *degrees, bool brief, char *text);
/* The same with a folded expert grid in the place of the role: "... expert=64(folded) ...". */
const char *plan_notation(const Degrees *degrees, const Knobs *knobs, bool brief, char *text);

/* The total order of the tie rule after time and memory: degrees (degrees_compare(), mesh/factorization.h), knobs,
 * placement. It returns <0, 0 or >0. */
int knobs_compare(const Knobs *a, const Knobs *b);
int placement_compare(const Placement *a, const Placement *b);
