/* SPDX-License-Identifier: GPL-3.0-or-later */
/* models/model.h: the model that is trained: a transformer as its dimensions; parameters and FLOPs follow from them
 * (models/parameters.h).
 *
 * A model is a list of layer kinds in order: a run of equal layers is one kind with a count, so that leading dense
 * layers, alternating windows and alternating experts are several kinds. The book's symbols stand in brackets. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { MODEL_NAME_SIZE = 64, MODEL_SOURCE_SIZE = 512, MODEL_ALIASES_MAX = 16, MODEL_KINDS_MAX = 16 };
enum { MODEL_LAYERS_MAX = 16384 }; /* this bounds every loop over layers */
enum { MIXER_SIZES_MAX = 12, TOWERS_MAX = 4, TOWER_NAME_SIZE = 32 };

/* The columns in which parameters are counted: each is in exactly one. */
typedef enum {
    PART_ATTENTION,   /* projections of all layers, with gates on their output */
    PART_MLP,         /* dense MLPs */
    PART_EXPERTS,     /* routed experts */
    PART_ROUTER,      /* with the gate of a shared expert */
    PART_EMBEDDING,   /* input look-up [V, D]; a tied table is counted here */
    PART_UNEMBEDDING, /* 0 when tied */
    PART_POSITIONS,
    PART_NORMS,           /* of layers, queries, keys, latents and mixers, after the embedding, and the last one */
    PART_BIASES,          /* of attention, MLPs, experts and logits; attention sinks */
    PART_INDEXER,         /* what chooses the keys of sparse attention */
    PART_CROSS_ATTENTION, /* to an encoder or to a tower */
    PART_LINEAR,          /* state space, linear attention, recurrence, convolution: mixers, without their norms */
    PART_SHARED_EXPERTS,  /* with what projects to and from the width of routed experts */
    PART_PLE,             /* per-layer embeddings, and what mixes them in */
    PART_NGRAM,           /* n-gram and hash embeddings */
    PART_HYPER,           /* several residual streams, learned residual scales */
    PART_MTP,             /* layers for multi-token prediction */
    PART_VISION,
    PART_AUDIO,
    PART_PROJECTOR, /* from a tower to the width of the language model */
    PART_OTHER,
    PART_COUNT
} ModelPart;

/* Parameters in addition to those that the fields of a layer or of a model say. */
typedef struct {
    int64_t matrix[PART_COUNT]; /* each is used once for each token */
    int64_t vector[PART_COUNT]; /* biases, scales, look-ups */
} ExtraParameters;

typedef enum {
    ATTENTION_HEADS,  /* MHA, GQA, MQA by kv_heads */
    ATTENTION_LATENT, /* MLA: low-rank queries, keys and values */
} AttentionKind;

typedef enum { NORM_RMS, NORM_LAYER_NO_BIAS, NORM_LAYER } NormKind; /* LayerNorm with bias counts twice d_model */
typedef enum { POSITIONS_ROTARY, POSITIONS_LEARNED, POSITIONS_ALIBI, POSITIONS_NONE } PositionKind;

/* How keys and values of a layer come about. */
typedef enum {
    KV_OWN,      /* each by a projection of its own */
    KV_ONE,      /* by one projection; norm and positions make keys of it, and both are cached (gemma4's full layers) */
    KV_OF_OTHER, /* they are those of an earlier layer (gemma4, num_kv_shared_layers) */
    KV_SAME,     /* values are the keys as they are cached (deepseek_v4) */
    KV_REUSE_COUNT
} KvReuse;

typedef struct {
    int64_t count; /* layers of this kind, >= 1 */

    AttentionKind attention;
    int64_t heads, kv_heads, head_dim; /* [N_h], [K], [H]; N_h * H need not be d_model */
    int64_t q_lora_rank;               /* 0 means full query projection */
    int64_t kv_lora_rank, qk_nope_head_dim, qk_rope_head_dim, v_head_dim; /* MLA only */
    int64_t window; /* sliding or chunked window in tokens; 0 means full causal attention */
    bool chunked;   /* the window is a fixed chunk (Llama 4), not sliding */
    bool no_rope;   /* positions are rotary, but this layer rotates nothing (Llama 4's full layers) */
    bool qkv_bias, out_bias;
    bool sinks;                 /* one learned sink per head (gpt-oss) */
    int64_t qk_norm_parameters; /* of the norms on queries and keys of a layer */

    bool gated; /* MLP has gate and up: three matrices instead of two */
    bool mlp_bias;
    int64_t d_ff;    /* [F] of the dense MLP; 0 in a layer that has experts only */
    int64_t experts; /* [E]; 0 means no mixture */
    int64_t top_k;   /* [k] experts per token */
    int64_t d_ff_expert;
    int64_t d_ff_shared; /* total width of the shared experts; 0 means none */
    bool shared_gate;    /* a d_model -> 1 gate on the shared expert (qwen2_moe) */
    bool router_bias;
    bool expert_bias;

    int64_t norms;       /* norms over d_model in a layer: 2, or 1 with a parallel block, or 4 */
    bool parallel_block; /* attention and MLP read the same input */

    /* Next to attention, or instead of it (heads = 0): models/mixer.h. NULL: attention alone. */
    const struct Mixer *mixer;
    int64_t sizes[MIXER_SIZES_MAX]; /* in the order of the mixer's keys */

    int64_t kv_reused;            /* KvReuse */
    int64_t out_rank, out_groups; /* low-rank output: heads in groups go down to out_rank numbers, then up; 0: full */
    int64_t out_gate;             /* columns of a gate on the attention's output: N_h * H, or N_h; 0 means none */
    int64_t attention_width;      /* of what the attention reads, where it is not d_model; else 0 */
    /* Sparse attention: an indexer with heads of its own chooses top_k keys for each query. top_k without heads: those
     * that an earlier layer chose. */
    int64_t index_heads, index_head_dim, index_top_k;
    int64_t compress; /* keys and values of so many tokens are joined into one; 0 or 1: they are not */
    /* Cross attention to the states of an encoder or tower, cross_width wide (0: d_model). */
    int64_t cross_heads, cross_kv_heads, cross_head_dim, cross_width;
    int64_t expert_width; /* of what routed experts read, where it is not d_model; else 0 */
    int64_t null_experts; /* experts that do nothing, which the router may choose */
    int64_t copies;       /* of attention and MLP, shared by all layers of the kind (zamba); 0: each has its own */
    bool encoder;         /* of an encoder next to the decoder: full attention, over other tokens */
    ExtraParameters extra;
} LayerKind;

/* What turns images or sound into tokens of the language model. It works only where there are any. */
typedef struct {
    ModelPart part; /* PART_VISION or PART_AUDIO */
    char type[TOWER_NAME_SIZE];
    int64_t layers, width, heads, d_ff;
    int64_t patch;      /* side of a patch in pixels; 0: it has none */
    int64_t parameters; /* all of them */
} Tower;

typedef struct {
    int64_t batch_tokens; /* of one step; 0 means not public */
    int64_t seq;          /* 0 means not public */
    double tokens;        /* of the whole training; 0 means not public */
    /* How the mixture is trained: room per expert as a share of the mean load; tokens beyond it are dropped. 0 means
     * dropless, which is also assumed where nothing is known. */
    double capacity_factor;
    int64_t mtp_layers; /* layers for multi-token prediction that it was trained with, which the model leaves out */
    char source[MODEL_SOURCE_SIZE];
} TrainingDefaults;

/* Rotary positions. They have no parameters and hardly any cost, but an absurd value shows a broken file. */
enum { ROPE_TYPE_SIZE = 16 };
typedef struct {
    double theta;              /* base of the frequencies; 0 means that the model's positions are not rotary */
    double window_theta;       /* the same in layers with a window, where it differs (gemma3); else 0 */
    char type[ROPE_TYPE_SIZE]; /* "default", or how positions are stretched: "linear", "yarn", "llama3", .. */
    double factor;             /* how far they are stretched, >= 1; 1 means not at all */
    double share;              /* the share of a head's width that is rotated, above 0 to 1 */
    int64_t original_max_seq;  /* length before the stretch; 0 means not given */
} Rope;

typedef struct {
    char name[MODEL_NAME_SIZE];
    const char *path;     /* the file it was read from, in the caller's arena; NULL means none */
    bool noted;           /* only what finds a model is there, not the model (zoo_names) */
    int64_t noted_active; /* then its active parameters */
    char aliases[MODEL_ALIASES_MAX][MODEL_NAME_SIZE];
    int alias_count;
    char family[MODEL_NAME_SIZE];
    char model_type[MODEL_NAME_SIZE]; /* of the HF config */
    char source[MODEL_SOURCE_SIZE];

    int64_t layers;  /* [L] = sum of kinds[i].count */
    int64_t d_model; /* [D] */
    int64_t vocab;   /* [V], rows of the embedding as stored */
    bool tied;       /* input and output embedding are one tensor */
    int64_t max_seq;
    PositionKind positions;
    int64_t learned_positions; /* rows of the learned table; 0 means none */
    Rope rope;
    NormKind norm;
    bool embedding_norm; /* a norm after the embedding (bloom) */
    bool logits_bias;

    int64_t embedding_width; /* of the table, where it is not d_model; else 0 */
    bool no_head;            /* logits are not the model's */
    bool no_last_norm;       /* of weights: the one before the logits is not there, or has none */
    ExtraParameters extra;
    Tower towers[TOWERS_MAX];
    int tower_count;

    LayerKind kinds[MODEL_KINDS_MAX]; /* in order of first appearance; alternating layers share two kinds */
    int kind_count;

    int64_t published_parameters; /* the number that the authors print; 0 means not known */
    int64_t published_active_parameters;
    char published_source[MODEL_SOURCE_SIZE];
    char published_note[MODEL_SOURCE_SIZE]; /* why our count differs from the published one; "" means that it is near */
    TrainingDefaults training;

    char left_out[MODEL_SOURCE_SIZE]; /* of a file: the parts that do not belong to this model (a vision tower); ""
                                       * means nothing */
    char odd[MODEL_SOURCE_SIZE];      /* of a file: what no published model has, taken as it stands; "" means nothing */
    char stored_as[MODEL_NAME_SIZE];  /* of a file: number format of the stored weights; "" means not given */
} Model;

/* The number of layers that have experts, or that have no experts. */
static inline int64_t model_layers_with(const Model *model, bool experts) {
    int64_t layers = 0;
    for (int i = 0; i < model->kind_count; i++)
        if ((model->kinds[i].experts > 0) == experts) layers += model->kinds[i].count;
    return layers;
}
