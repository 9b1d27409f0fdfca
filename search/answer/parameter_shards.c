/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/answer/parameter_shards.h"

#include "base/util.h"
#include "cost/plan/grid.h"
#include "models/mixer.h"

#include <assert.h>
#include <string.h>

const char *ways_name(Ways ways) {
    static const char *const NAMES[WAYS_COUNT] = {"data",   "fsdp",          "sequence",      "tensor",
                                                  "expert", "expert_tensor", "expert_weights"};
    return NAMES[ways];
}

#define NONE WAYS_COUNT /* no ways split the dimension */

typedef struct {
    const Model *model;
    const Plan *plan;
    int64_t degree[WAYS_COUNT];
    Ways dense[3], experts[2]; /* what shards parameters */
    int dense_count, expert_count;
    ParameterShards *out;
    int count, kind;
    const char *undivided;
} Walk;

static void begin(Walk *walk) {
    const int64_t *of = walk->plan->degrees.of;
    const Methods *methods = &walk->plan->knobs.methods;
    GridRanks ranks = {1, 1, 1, 1};
    bool folded = methods->grid.expert > 0 && grid_ranks(&walk->plan->degrees, methods, &ranks);
    int64_t *degree = walk->degree;
    degree[WAYS_DATA] = of[ROLE_DATA];
    degree[WAYS_FSDP] = of[ROLE_FSDP];
    degree[WAYS_SEQUENCE] = of[ROLE_SEQUENCE];
    degree[WAYS_TENSOR] = of[ROLE_TENSOR];
    degree[WAYS_EXPERT] = folded ? ranks.expert : of[ROLE_EXPERT];
    degree[WAYS_EXPERT_TENSOR] = folded ? ranks.expert_tensor : 1;
    degree[WAYS_EXPERT_WEIGHTS] = folded ? ranks.weights : 1;
    bool shards = of[ROLE_SEQUENCE] > 1 && !methods->sequence_replicates;
    walk->dense[walk->dense_count++] = WAYS_FSDP;
    if (shards) walk->dense[walk->dense_count++] = WAYS_SEQUENCE;
    if (!folded) walk->dense[walk->dense_count++] = WAYS_EXPERT;
    if (folded) {
        walk->experts[walk->expert_count++] = WAYS_EXPERT_WEIGHTS;
    } else {
        walk->experts[walk->expert_count++] = WAYS_FSDP;
        if (shards) walk->experts[walk->expert_count++] = WAYS_SEQUENCE;
    }
}

static bool split(const Walk *walk, ParameterShards *spec, int dimension, Ways ways) {
    int64_t parts = walk->degree[ways];
    if (spec->ways_count[dimension] == PARAMETER_WAYS_MAX) return false;
    for (int i = 0; i < spec->ways_count[dimension]; i++)
        if (__builtin_mul_overflow(parts, walk->degree[spec->ways[dimension][i]], &parts)) return false;
    if (spec->size[dimension] % parts != 0) return false;
    spec->ways[dimension][spec->ways_count[dimension]++] = ways;
    return true;
}

/* A parameter before it is split. */
typedef struct {
    const char *name;
    int rank;
    int64_t size[PARAMETER_RANK_MAX];
    Ways fixed[PARAMETER_RANK_MAX]; /* the ways of each dimension, as far as they divide it; NONE means none */
    int order[PARAMETER_RANK_MAX];  /* of dimensions, for the ways that shard parameters */
} Parameter;

/* `weights` are ways that shard parameters: after the fixed ones each goes to the first dimension of the order that it
 * divides. Within a dimension what shards parameters is outermost. */
static void add(Walk *walk, const Parameter *parameter, const Ways *weights, int weight_count) {
    const char *name = parameter->name;
    int rank = parameter->rank;
    const Ways *fixed = parameter->fixed;
    assert(walk->count < PARAMETERS_MAX); /* the header counts them */
    ParameterShards *spec = &walk->out[walk->count++];
    *spec = (ParameterShards){.name = name, .kind = walk->kind, .rank = rank};
    memcpy(spec->size, parameter->size, (size_t)rank * sizeof *spec->size);
    for (int d = 0; d < rank; d++)
        if (fixed[d] != NONE && walk->degree[fixed[d]] > 1) split(walk, spec, d, fixed[d]);
    for (int w = 0; w < weight_count; w++) {
        bool placed = walk->degree[weights[w]] <= 1;
        for (int i = 0; i < rank && !placed; i++) placed = split(walk, spec, parameter->order[i], weights[w]);
        if (!placed && rank > 1) walk->undivided = name;
    }
    for (int d = 0; d < rank; d++) { /* what was fixed came first: it is the innermost */
        if (spec->ways_count[d] < 2 || spec->ways[d][0] != fixed[d]) continue;
        Ways inner = spec->ways[d][0];
        memmove(&spec->ways[d][0], &spec->ways[d][1], (size_t)(spec->ways_count[d] - 1) * sizeof inner);
        spec->ways[d][spec->ways_count[d] - 1] = inner;
    }
}

static void vector(Walk *walk, const char *name, int64_t size, Ways fixed) {
    const Parameter parameter = {name, 1, {size}, {fixed}, {0}};
    add(walk, &parameter, walk->dense, fixed == NONE ? walk->dense_count : 0);
}

static void norm(Walk *walk, const char *name, const char *bias) {
    vector(walk, name, walk->model->d_model, NONE);
    if (walk->model->norm == NORM_LAYER) vector(walk, bias, walk->model->d_model, NONE);
}

/* Which of the two dimensions of a matrix is split first by what shards parameters. */
typedef enum { ROWS_FIRST, COLUMNS_FIRST } MatrixOrder;

/* [rows, columns]. */
typedef struct {
    int64_t rows, columns;
    Ways of_rows, of_columns;
} Matrix;

static void matrix(Walk *walk, const char *name, Matrix of, MatrixOrder order) {
    const Parameter parameter = {
        name, 2, {of.rows, of.columns}, {of.of_rows, of.of_columns}, {order == COLUMNS_FIRST, order == ROWS_FIRST}};
    add(walk, &parameter, walk->dense, walk->dense_count);
}

/* [in, heads x width], or [heads x width, out] for what comes back: tensor, which divides the heads, takes whole
 * ones. */
static void heads_in(Walk *walk, const char *name, int64_t in, int64_t heads, int64_t width, Ways over) {
    matrix(walk, name, (Matrix){in, heads * width, NONE, over}, ROWS_FIRST);
}
static void heads_out(Walk *walk, const char *name, int64_t heads, int64_t width, int64_t out) {
    matrix(walk, name, (Matrix){heads * width, out, WAYS_TENSOR, NONE}, COLUMNS_FIRST);
}

/* ---- a layer ---- */

static void head_attention(Walk *walk, const LayerKind *kind) {
    int64_t D = kind->attention_width > 0 ? kind->attention_width : walk->model->d_model, H = kind->heads;
    int64_t K = kind->kv_heads, h = kind->head_dim, v = kind->v_head_dim > 0 ? kind->v_head_dim : h;
    bool whole = walk->degree[WAYS_TENSOR] > 1 && K % walk->degree[WAYS_TENSOR] != 0;
    bool gathered = whole && walk->plan->layout.sharding.kv == KV_GATHERED;
    Ways over = whole && !gathered ? NONE : WAYS_TENSOR;
    int64_t q = kind->q_lora_rank, out = kind->out_rank;
    if (q > 0) matrix(walk, "wq_down", (Matrix){D, q, NONE, NONE}, ROWS_FIRST);
    heads_in(walk, q > 0 ? "wq_up" : "wq", q > 0 ? q : D, H, h, WAYS_TENSOR);
    if (kind->kv_reused != KV_OF_OTHER) heads_in(walk, "wk", D, K, h, over);
    if (kind->kv_reused == KV_OWN) heads_in(walk, "wv", D, K, v, over);
    if (out > 0) matrix(walk, "wo_down", (Matrix){H * v / kind->out_groups, out, NONE, WAYS_TENSOR}, ROWS_FIRST);
    heads_out(walk, "wo", out > 0 ? out : H, out > 0 ? 1 : v, walk->model->d_model);
    if (kind->qkv_bias) {
        vector(walk, "wq_bias", H * h, WAYS_TENSOR);
        vector(walk, "wk_bias", K * h, over);
        vector(walk, "wv_bias", K * v, over);
    }
    if (kind->qk_norm_parameters == 2 * h) {
        vector(walk, "q_norm", h, NONE);
        vector(walk, "k_norm", h, NONE);
    } else if (kind->qk_norm_parameters == (H + K) * h) {
        vector(walk, "q_norm", H * h, WAYS_TENSOR);
        vector(walk, "k_norm", K * h, over);
    } else if (kind->qk_norm_parameters > 0) {
        vector(walk, "qk_norm", kind->qk_norm_parameters, NONE);
    }
}

static void latent_attention(Walk *walk, const LayerKind *kind) {
    int64_t D = walk->model->d_model, H = kind->heads, q = kind->q_lora_rank, kv = kind->kv_lora_rank;
    int64_t turned = kind->qk_rope_head_dim, width = kind->qk_nope_head_dim + turned;
    if (q > 0) {
        matrix(walk, "wq_down", (Matrix){D, q, NONE, NONE}, ROWS_FIRST);
        heads_in(walk, "wq_up", q, H, width, WAYS_TENSOR);
    } else {
        heads_in(walk, "wq", D, H, width, WAYS_TENSOR);
    }
    matrix(walk, "wkv_down", (Matrix){D, kv + turned, NONE, NONE}, ROWS_FIRST);
    heads_in(walk, "wkv_up", kv, H, kind->qk_nope_head_dim + kind->v_head_dim, WAYS_TENSOR);
    heads_out(walk, "wo", H, kind->v_head_dim, D);
    if (kind->qkv_bias) {
        if (q > 0) vector(walk, "wq_down_bias", q, NONE);
        vector(walk, "wkv_down_bias", kv + turned, NONE);
    }
    if (kind->qk_norm_parameters == q + kv && q > 0) {
        vector(walk, "q_norm", q, NONE);
        vector(walk, "kv_norm", kv, NONE);
    } else if (kind->qk_norm_parameters > 0) {
        vector(walk, "kv_norm", kind->qk_norm_parameters, NONE);
    }
}

/* A dense MLP, or the shared experts. Gathered over tensor, its matrices lie over all ways along their width. */
static void mlp(Walk *walk, const LayerKind *kind, int64_t F, const char *const names[3], const char *const biases[3]) {
    int64_t D = walk->model->d_model;
    bool gathered = walk->plan->layout.sharding.mlp == MLP_GATHERED;
    if (F == 0) return;
    if (kind->gated) matrix(walk, names[0], (Matrix){D, F, NONE, WAYS_TENSOR}, gathered ? COLUMNS_FIRST : ROWS_FIRST);
    matrix(walk, names[1], (Matrix){D, F, NONE, WAYS_TENSOR}, gathered ? COLUMNS_FIRST : ROWS_FIRST);
    matrix(walk, names[2], (Matrix){F, D, WAYS_TENSOR, NONE}, gathered ? ROWS_FIRST : COLUMNS_FIRST);
    if (!kind->mlp_bias) return;
    if (kind->gated) vector(walk, biases[0], F, WAYS_TENSOR);
    vector(walk, biases[1], F, WAYS_TENSOR);
    vector(walk, biases[2], D, NONE);
}

static void experts(Walk *walk, const LayerKind *kind) {
    int64_t D = kind->expert_width > 0 ? kind->expert_width : walk->model->d_model, E = kind->experts;
    int64_t F = kind->d_ff_expert, scored = E + kind->null_experts;
    Ways width = walk->plan->knobs.methods.grid.expert > 0 ? WAYS_EXPERT_TENSOR : WAYS_TENSOR;
    const Ways *weights = walk->experts;
    int count = walk->expert_count;
    if (E == 0) return;
    matrix(walk, "router", (Matrix){walk->model->d_model, scored, NONE, NONE}, ROWS_FIRST);
    if (kind->router_bias) vector(walk, "router_bias", scored, NONE);
    if (kind->gated)
        add(walk, &(Parameter){"expert_gate", 3, {E, D, F}, {WAYS_EXPERT, NONE, width}, {1, 2, 0}}, weights, count);
    add(walk, &(Parameter){"expert_up", 3, {E, D, F}, {WAYS_EXPERT, NONE, width}, {1, 2, 0}}, weights, count);
    add(walk, &(Parameter){"expert_down", 3, {E, F, D}, {WAYS_EXPERT, width, NONE}, {2, 1, 0}}, weights, count);
    if (kind->expert_bias) {
        if (kind->gated) add(walk, &(Parameter){"expert_gate_bias", 2, {E, F}, {WAYS_EXPERT, width}, {0, 1}}, NULL, 0);
        add(walk, &(Parameter){"expert_up_bias", 2, {E, F}, {WAYS_EXPERT, width}, {0, 1}}, NULL, 0);
        add(walk, &(Parameter){"expert_down_bias", 2, {E, D}, {WAYS_EXPERT, NONE}, {0, 1}}, NULL, 0);
    }
    if (kind->shared_gate) vector(walk, "shared_router", walk->model->d_model, NONE);
}

/* The parts of a mixer: no launcher that is configured parameter by parameter has one, so that heads within a dimension
 * are not said. */
static void mixer(Walk *walk, const LayerKind *kind) {
    MixerPart parts[MIXER_PARTS_MAX];
    for (int i = 0, count = kind->mixer->parts(walk->model, kind, parts); i < count; i++) {
        const MixerPart *part = &parts[i];
        int64_t matrices = part->kind == MIXER_MATMUL ? part->in * part->out : 0;
        Matrix of = {part->in, part->out, part->split == SPLIT_ROW ? WAYS_TENSOR : NONE,
                     part->split == SPLIT_COLUMN ? WAYS_TENSOR : NONE};
        if (matrices > 0) matrix(walk, part->name, of, part->split == SPLIT_ROW ? COLUMNS_FIRST : ROWS_FIRST);
        if (part->parameters > matrices) vector(walk, part->name, part->parameters - matrices, NONE);
    }
}

/* What no field says, in sums. */
static void extra(Walk *walk, const ExtraParameters *of) {
    int64_t D = walk->model->d_model, matrices = 0, vectors = 0;
    for (int part = 0; part < PART_COUNT; part++) matrices += of->matrix[part], vectors += of->vector[part];
    if (matrices / D > 0) matrix(walk, "others", (Matrix){D, matrices / D, NONE, NONE}, ROWS_FIRST);
    if (matrices % D + vectors > 0) vector(walk, "other_vectors", matrices % D + vectors, NONE);
}

/* An indexer, a gate on attention's output, cross attention, and what is alongside attention and MLP. */
static void others(Walk *walk, const LayerKind *kind) {
    int64_t D = walk->model->d_model, rank = kind->q_lora_rank > 0 ? kind->q_lora_rank : D;
    int64_t width = kind->cross_width > 0 ? kind->cross_width : D, index = kind->index_head_dim + kind->index_heads;
    if (kind->out_gate > 0) {
        int64_t attended = kind->attention_width > 0 ? kind->attention_width : D;
        heads_in(walk, "attention_gate", attended, 1, kind->out_gate, WAYS_TENSOR);
    }
    if (kind->index_heads > 0) {
        matrix(walk, "index_queries", (Matrix){rank, kind->index_heads * kind->index_head_dim, NONE, NONE}, ROWS_FIRST);
        matrix(walk, "index_keys", (Matrix){D, index, NONE, NONE}, ROWS_FIRST);
    }
    if (kind->cross_heads > 0) {
        heads_in(walk, "cross_wq", D, kind->cross_heads, kind->cross_head_dim, WAYS_TENSOR);
        heads_in(walk, "cross_wkv", width, 2 * kind->cross_kv_heads, kind->cross_head_dim, WAYS_TENSOR);
        heads_out(walk, "cross_wo", kind->cross_heads, kind->cross_head_dim, D);
    }
    extra(walk, &kind->extra);
}

static void layer(Walk *walk, const LayerKind *kind) {
    static const char *const NORMS[][2] = {{"attention_norm", "attention_norm_bias"},
                                           {"mlp_norm", "mlp_norm_bias"},
                                           {"attention_post_norm", "attention_post_norm_bias"},
                                           {"mlp_post_norm", "mlp_post_norm_bias"},
                                           {"other_norm", "other_norm_bias"}};
    static const char *const DENSE[] = {"gate", "up", "down"}, *const DENSE_BIAS[] = {"gate_bias", "up_bias",
                                                                                      "down_bias"};
    static const char *const SHARED[] = {"shared_gate", "shared_up", "shared_down"};
    static const char *const SHARED_BIAS[] = {"shared_gate_bias", "shared_up_bias", "shared_down_bias"};
    for (int64_t i = 0; i < kind->norms; i++) {
        const char *const *names = NORMS[min_whole(i, COUNT_OF(NORMS) - 1)];
        norm(walk, names[0], names[1]);
    }
    if (kind->heads > 0 && kind->attention == ATTENTION_LATENT)
        latent_attention(walk, kind);
    else if (kind->heads > 0)
        head_attention(walk, kind);
    if (kind->mixer) mixer(walk, kind);
    others(walk, kind);
    if (kind->out_bias) vector(walk, "wo_bias", walk->model->d_model, NONE);
    if (kind->sinks) vector(walk, "sinks", kind->heads, WAYS_TENSOR);
    mlp(walk, kind, kind->d_ff, DENSE, DENSE_BIAS);
    experts(walk, kind);
    mlp(walk, kind, kind->d_ff_shared, SHARED, SHARED_BIAS);
}

int parameter_shards(const Model *model, const Plan *plan, ParameterShards out[PARAMETERS_MAX],
                     const char **undivided) {
    Walk walk = {.model = model, .plan = plan, .out = out, .kind = -1};
    const Sharding *sharding = &plan->layout.sharding;
    bool rows = sharding->embedding == TABLE_VOCABULARY, columns = sharding->logits == TABLE_VOCABULARY;
    int64_t D = model->d_model, V = model->vocab;
    begin(&walk);
    matrix(&walk, "embedding", (Matrix){V, D, rows ? WAYS_TENSOR : NONE, rows ? NONE : WAYS_TENSOR}, COLUMNS_FIRST);
    if (model->learned_positions > 0)
        matrix(&walk, "positions", (Matrix){model->learned_positions, D, NONE, NONE}, COLUMNS_FIRST);
    if (model->embedding_norm) norm(&walk, "embedding_norm", "embedding_norm_bias");
    for (int i = 0; i < model->kind_count; i++) {
        walk.kind = i;
        layer(&walk, &model->kinds[i]);
    }
    walk.kind = -1;
    norm(&walk, "final_norm", "final_norm_bias");
    if (!model->tied)
        matrix(&walk, "unembedding", (Matrix){D, V, columns ? NONE : WAYS_TENSOR, columns ? WAYS_TENSOR : NONE},
               ROWS_FIRST);
    if (model->logits_bias) vector(&walk, "unembedding_bias", V, WAYS_TENSOR);
    extra(&walk, &model->extra);
    *undivided = walk.undivided;
    return walk.count;
}
