/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/parameters.h"

#include "base/util.h"
#include "models/mixer.h"
#include "models/product.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

int model_part_named(const char *key) {
    static const char *const KEYS[] = {
        "attention", "mlp",    "experts", "router",          "embedding", "unembedding",    "positions",
        "norms",     "biases", "indexer", "cross_attention", "linear",    "shared_experts", "ple",
        "ngram",     "hyper",  "mtp",     "vision",          "audio",     "projector",      "other"};
    _Static_assert(COUNT_OF(KEYS) == PART_COUNT, "one key for each column");
    for (int i = 0; i < PART_COUNT; i++)
        if (strcmp(KEYS[i], key) == 0) return i;
    return -1;
}

/* Queries and keys meet in `qk` numbers per head, and values carry `v` numbers: the widths of scores and of their
 * use. */
static int64_t qk_width(const LayerKind *kind) {
    return kind->attention == ATTENTION_LATENT ? plus(kind->qk_nope_head_dim, kind->qk_rope_head_dim) : kind->head_dim;
}

/* Heads may have values of another width than their keys (mimo_v2_flash). */
static int64_t v_width(const LayerKind *kind) {
    return kind->attention == ATTENTION_LATENT || kind->v_head_dim ? kind->v_head_dim : kind->head_dim;
}

/* MLA: one down-projection for all keys and values (plus the rotary key that the heads share), and up-projections per
 * head; queries go the same way where they have a rank. DeepSeek-V2, section 2.1. */
static int64_t latent_attention(int64_t D, const LayerKind *kind) {
    int64_t q_width = times(kind->heads, qk_width(kind));
    int64_t q = kind->q_lora_rank ? times(kind->q_lora_rank, plus(D, q_width)) : times(D, q_width);
    int64_t down = times(D, plus(kind->kv_lora_rank, kind->qk_rope_head_dim));
    int64_t up = times(kind->kv_lora_rank, times(kind->heads, plus(kind->qk_nope_head_dim, kind->v_head_dim)));
    int64_t out = times(times(kind->heads, kind->v_head_dim), D);
    return plus(plus(q, down), plus(up, out));
}

static int64_t attention_input(int64_t D, const LayerKind *kind) {
    return kind->attention_width ? kind->attention_width : D;
}

/* Queries and output of N_h heads, keys and values of K: D * H * (2 N_h + 2 K). */
static int64_t head_attention(int64_t D, const LayerKind *kind) {
    int64_t input = attention_input(D, kind), query = times(kind->heads, kind->head_dim);
    int64_t value = times(kind->heads, v_width(kind));
    int64_t keys = times(kind->kv_heads, kind->kv_reused != KV_OF_OTHER ? kind->head_dim : 0);
    int64_t values = times(kind->kv_heads, kind->kv_reused == KV_OWN ? v_width(kind) : 0);
    int64_t q = kind->q_lora_rank ? times(kind->q_lora_rank, plus(input, query)) : times(input, query);
    int64_t out = kind->out_rank ? times(kind->out_rank, plus(value / kind->out_groups, D)) : times(value, D);
    return plus(plus(q, out), times(input, plus(keys, values)));
}

/* The indexer's queries come from the latent of queries where there is one, its one key and the weights of its heads
 * from the stream. DeepSeek-V3.2-Exp, section 2.1. */
static int64_t indexer(int64_t D, const LayerKind *kind) {
    if (kind->index_heads == 0) return 0;
    int64_t queries = times(kind->q_lora_rank ? kind->q_lora_rank : D, times(kind->index_heads, kind->index_head_dim));
    return plus(queries, times(D, plus(kind->index_head_dim, kind->index_heads)));
}

static int64_t cross_attention(int64_t D, const LayerKind *kind) {
    int64_t queries = times(times(D, kind->cross_head_dim), times(2, kind->cross_heads));
    int64_t width = kind->cross_width ? kind->cross_width : D;
    return plus(queries, times(times(width, kind->cross_head_dim), times(2, kind->cross_kv_heads)));
}

static int64_t attention_biases(int64_t D, const LayerKind *kind) {
    int64_t qkv =
        kind->attention == ATTENTION_LATENT
            ? plus(kind->q_lora_rank, plus(kind->kv_lora_rank, kind->qk_rope_head_dim))
            : plus(times(kind->head_dim, plus(kind->heads, kind->kv_reused != KV_OF_OTHER ? kind->kv_heads : 0)),
                   kind->kv_reused == KV_OWN ? times(v_width(kind), kind->kv_heads) : 0);
    return plus(plus(kind->qkv_bias ? qkv : 0, kind->out_bias ? D : 0), kind->sinks ? kind->heads : 0);
}

static int64_t mlp_matrices(int64_t D, int64_t d_ff, bool gated) { return times(gated ? 3 : 2, times(D, d_ff)); }

/* Each matrix that goes up has one bias per hidden unit, and the matrix that comes down has one per output. */
static int64_t mlp_biases(int64_t D, int64_t d_ff, bool gated) { return plus(times(gated ? 2 : 1, d_ff), D); }

static int64_t norm_parameters(const Model *model) { return times(model->norm == NORM_LAYER ? 2 : 1, model->d_model); }

/* `idle` counts the parameters of experts that a token is not sent to; `looked_up` those of tables that are no
 * embedding. */
static void close_sums(Parameters *p, int64_t idle, int64_t looked_up, bool tied) {
    p->total = 0;
    for (int i = 0; i < PART_COUNT; i++) p->total = plus(p->total, p->parts[i]);
    int64_t towers = plus(p->vision, plus(p->audio, p->projector));
    p->language = p->total - towers;
    p->active = p->total - idle;
    p->active_matmul = p->active - towers - p->positions - looked_up - (tied ? 0 : p->embedding);
}

static int64_t expert_input(int64_t D, const LayerKind *kind) { return kind->expert_width ? kind->expert_width : D; }

static int64_t idle_parameters(int64_t D, const LayerKind *kind) {
    int64_t idle_experts = kind->experts - min_whole(kind->experts, kind->top_k), width = expert_input(D, kind);
    int64_t idle = times(idle_experts, mlp_matrices(width, kind->d_ff_expert, kind->gated));
    if (kind->expert_bias) idle = plus(idle, times(idle_experts, mlp_biases(width, kind->d_ff_expert, kind->gated)));
    return idle;
}

static void add_extra(Parameters *p, const ExtraParameters *extra) {
    for (int i = 0; i < PART_COUNT; i++) p->parts[i] = plus(p->parts[i], plus(extra->matrix[i], extra->vector[i]));
}

static int64_t looked_up(const ExtraParameters *extra) {
    return plus(extra->vector[PART_PLE], extra->vector[PART_NGRAM]);
}

/* A mixer's parts; returns how many. */
static int parts_of(const Model *model, const LayerKind *kind, MixerPart parts[MIXER_PARTS_MAX]) {
    return kind->mixer ? kind->mixer->parts(model, kind, parts) : 0;
}

/* What layers of the kind may share: attention, MLP and their extras. */
static Parameters block_parameters(const Model *model, const LayerKind *kind) {
    int64_t D = model->d_model, width = expert_input(D, kind);
    Parameters p = {.attention =
                        kind->attention == ATTENTION_LATENT ? latent_attention(D, kind) : head_attention(D, kind)};
    p.attention = plus(p.attention, times(attention_input(D, kind), kind->out_gate));
    p.indexer = indexer(D, kind);
    p.cross_attention = cross_attention(D, kind);
    p.mlp = mlp_matrices(D, kind->d_ff, kind->gated);
    p.shared_experts = mlp_matrices(D, kind->d_ff_shared, kind->gated);
    p.experts = times(kind->experts, mlp_matrices(width, kind->d_ff_expert, kind->gated));
    p.router = plus(times(D, plus(kind->experts, kind->null_experts)), kind->shared_gate ? D : 0);
    p.norms = plus(times(kind->norms, norm_parameters(model)), kind->qk_norm_parameters);
    p.biases = kind->heads ? attention_biases(D, kind) : 0;
    if (kind->mlp_bias && kind->d_ff) p.biases = plus(p.biases, mlp_biases(D, kind->d_ff, kind->gated));
    if (kind->mlp_bias && kind->d_ff_shared) p.biases = plus(p.biases, mlp_biases(D, kind->d_ff_shared, kind->gated));
    if (kind->expert_bias)
        p.biases = plus(p.biases, times(kind->experts, mlp_biases(width, kind->d_ff_expert, kind->gated)));
    if (kind->router_bias) p.biases = plus(p.biases, plus(kind->experts, kind->null_experts));
    add_extra(&p, &kind->extra);
    return p;
}

static void add_mixer(Parameters *p, const Model *model, const LayerKind *kind) {
    MixerPart parts[MIXER_PARTS_MAX];
    for (int i = 0, count = parts_of(model, kind, parts); i < count; i++)
        p->parts[parts[i].column] = plus(p->parts[parts[i].column], parts[i].parameters);
}

Parameters layer_parameters(const Model *model, const LayerKind *kind) {
    Parameters p = block_parameters(model, kind);
    add_mixer(&p, model, kind);
    close_sums(&p, idle_parameters(model->d_model, kind), looked_up(&kind->extra), true);
    return p;
}

Parameters model_parameters(const Model *model) {
    Parameters p = {0};
    int64_t idle = 0, tables = looked_up(&model->extra), D = model->d_model;
    for (int i = 0; i < model->kind_count; i++) {
        const LayerKind *kind = &model->kinds[i];
        Parameters block = block_parameters(model, kind), mixer = {0};
        int64_t blocks = kind->copies ? min_whole(kind->copies, kind->count) : kind->count;
        add_mixer(&mixer, model, kind);
        for (int j = 0; j < PART_COUNT; j++)
            p.parts[j] = plus(p.parts[j], plus(times(blocks, block.parts[j]), times(kind->count, mixer.parts[j])));
        idle = plus(idle, times(blocks, idle_parameters(D, kind)));
        tables = plus(tables, times(blocks, looked_up(&kind->extra)));
    }
    p.embedding = times(model->vocab, model->embedding_width ? model->embedding_width : D);
    p.unembedding = model->tied || model->no_head ? 0 : p.embedding;
    p.positions = times(model->learned_positions, D);
    p.norms =
        plus(p.norms, times((model->embedding_norm ? 1 : 0) + (model->no_last_norm ? 0 : 1), norm_parameters(model)));
    p.biases = plus(p.biases, model->logits_bias ? model->vocab : 0);
    add_extra(&p, &model->extra);
    for (int i = 0; i < model->tower_count; i++)
        p.parts[model->towers[i].part] = plus(p.parts[model->towers[i].part], model->towers[i].parameters);
    close_sums(&p, idle, tables, model->tied);
    return p;
}

double indexed_span(const LayerKind *kind, double seq) {
    double keys = seq / (double)max_whole(1, kind->compress), k = (double)kind->index_top_k;
    return kind->index_top_k == 0 || k >= keys ? keys / 2 : k - k * k / (2 * keys); /* the first see fewer than top_k */
}

/* What is left of a sequence when keys are joined or chosen, with the window alongside it in compressed attention. */
static double sparse_span(const LayerKind *kind, int64_t seq, bool full) {
    double S = (double)seq, W = (double)min_whole(kind->window, seq), keys = S / (double)max_whole(1, kind->compress);
    double near = full ? W : W - W * W / (2 * S), k = (double)kind->index_top_k;
    if (full) return (kind->index_top_k > 0 ? min_real(k, keys) : keys) + near;
    return indexed_span(kind, S) + near;
}

double attention_span(const LayerKind *kind, int64_t seq, bool full) {
    if (kind->index_top_k > 0 || kind->compress > 1) return sparse_span(kind, seq, full);
    assert(seq >= 1 && kind->window >= 0);
    double S = (double)seq, W = (double)min_whole(kind->window, seq);
    if (kind->window == 0 || kind->window >= seq) return full ? S : S / 2;
    if (!kind->chunked) return full ? W : W - W * W / (2 * S); /* the first W queries see fewer than W keys */
    double rest = (double)(seq % kind->window);
    double squares = (double)(seq / kind->window) * W * W + rest * rest;
    return (full ? squares : squares / 2) / S;
}

/* Forward FLOPs of one query with one key over all heads: a multiply and an add per number, in scores and in values. */
static double pair_flops(const LayerKind *kind) {
    return 2.0 * (double)kind->heads * (double)(qk_width(kind) + v_width(kind));
}

static bool has_encoder(const Model *model) {
    for (int i = 0; i < model->kind_count; i++)
        if (model->kinds[i].encoder) return true;
    return false;
}

/* Forward FLOPs of a layer of the kind for one token that no parameter says: scores and values, scans. */
static double mixing_flops(const Model *model, const LayerKind *kind, FlopConvention convention, int64_t seq) {
    MixerPart parts[MIXER_PARTS_MAX];
    bool full = convention == FLOPS_FULL_ATTENTION || convention == FLOPS_EAGER;
    double joined = (double)seq / (double)max_whole(1, kind->compress), all = kind->compress > 1 ? joined : 0;
    double span = convention == FLOPS_EAGER ? (double)seq + all : attention_span(kind, seq, full);
    double flops = pair_flops(kind) * span;
    for (int i = 0, count = parts_of(model, kind, parts); i < count; i++)
        if (parts[i].kind == MIXER_CORE) flops += parts[i].flops;
    /* As many states of an encoder as tokens, all of them seen. */
    if (convention == FLOPS_EAGER && kind->cross_heads > 0 && !has_encoder(model)) /* a layer of it alone (mllama) */
        flops -= 2.0 * (double)(kind->heads > 0 ? cross_attention(model->d_model, kind)
                                                : layer_parameters(model, kind).active_matmul);
    else
        flops += 4.0 * (double)kind->cross_heads * (double)kind->cross_head_dim * (double)seq;
    /* The indexer scores every key, or those that keys were joined into, whatever is then attended to. */
    double seen = full ? joined : joined / 2;
    return flops + 2.0 * (double)kind->index_heads * (double)kind->index_head_dim * seen;
}

/* Forward FLOPs of parameters that several layers share, beyond those that each parameter's first use is. */
static double repeated_flops(const Model *model, const LayerKind *kind) {
    if (kind->copies == 0 || kind->copies >= kind->count) return 0;
    Parameters block = block_parameters(model, kind);
    close_sums(&block, idle_parameters(model->d_model, kind), looked_up(&kind->extra), true);
    return 2.0 * (double)(kind->count - kind->copies) * (double)block.active_matmul;
}

double model_flops_per_token(const Model *model, FlopConvention convention, int64_t seq) {
    double flops = 6.0 * (double)model_parameters(model).active_matmul;
    for (int i = 0; i < model->kind_count; i++) flops += 3 * repeated_flops(model, &model->kinds[i]);
    if (convention == FLOPS_6N) return flops;
    for (int i = 0; i < model->kind_count; i++) {
        const LayerKind *kind = &model->kinds[i];
        double mixing = mixing_flops(model, kind, convention, seq);
        flops += 3 * (double)kind->count * mixing;
        if (convention == FLOPS_HARDWARE)
            flops += (double)kind->count * (2.0 * (double)layer_parameters(model, kind).active_matmul + mixing);
    }
    return flops;
}

/* What of a kind of layers no plan prices yet; NULL: nothing. */
static const char *unpriced(const LayerKind *kind) {
    if (kind->encoder) return "an encoder in addition to the decoder";
    return NULL;
}

bool model_priceable(const Model *model, const char *where, Error *error) {
    if (model->embedding_width || model->no_last_norm)
        return error_set(error, ERROR_INPUT, where,
                         "%.60s has %s, which is counted (`shardopt models`) but not planned yet", model->name,
                         model->embedding_width ? "an embedding of another width than the stream" : "no last norm");
    for (int i = 0; i < model->kind_count; i++) {
        const char *what = unpriced(&model->kinds[i]);
        if (what)
            return error_set(error, ERROR_INPUT, where,
                             "%.60s has layers with %s, which are counted (`shardopt models`) but not planned yet",
                             model->name, what);
    }
    return true;
}

enum { DIMENSION_MAX = INT32_MAX };
static const int64_t PARAMETERS_MAX = (int64_t)1 << 60;

static bool check(int64_t value, int64_t low, int64_t high, const char *key, const char *where, Error *error) {
    return (value >= low && value <= high) || error_set(error, ERROR_INPUT, where, "%s is %lld; expected %lld to %lld",
                                                        key, (long long)value, (long long)low, (long long)high);
}

/* A layer without heads has a mixer, if only "none". */
static bool validate_attention(const LayerKind *kind, const char *where, Error *error) {
    bool any = kind->heads != 0 || !kind->mixer, latent = any && kind->attention == ATTENTION_LATENT;
    if (!check(kind->heads, any, DIMENSION_MAX, "heads", where, error) ||
        !check(kind->kv_heads, any, kind->heads, "kv_heads", where, error) ||
        !check(kind->head_dim, any, DIMENSION_MAX, "head_dim", where, error) ||
        !check(kind->kv_reused, 0, KV_REUSE_COUNT - 1, "kv_reused", where, error) ||
        !check(kind->out_rank, 0, DIMENSION_MAX, "out_rank", where, error) ||
        !check(kind->out_groups, kind->out_rank > 0, DIMENSION_MAX, "out_groups", where, error) ||
        !check(kind->out_gate, 0, DIMENSION_MAX, "out_gate", where, error) ||
        !check(kind->attention_width, 0, DIMENSION_MAX, "attention_width", where, error) ||
        !check(kind->index_heads, 0, DIMENSION_MAX, "index_heads", where, error) ||
        !check(kind->index_head_dim, kind->index_heads > 0, DIMENSION_MAX, "index_head_dim", where, error) ||
        !check(kind->index_top_k, kind->index_heads > 0, DIMENSION_MAX, "index_top_k", where, error) ||
        !check(kind->compress, 0, DIMENSION_MAX, "compress", where, error) ||
        !check(kind->cross_heads, 0, DIMENSION_MAX, "cross_heads", where, error) ||
        !check(kind->cross_kv_heads, kind->cross_heads > 0, kind->cross_heads, "cross_kv_heads", where, error) ||
        !check(kind->cross_head_dim, kind->cross_heads > 0, DIMENSION_MAX, "cross_head_dim", where, error) ||
        !check(kind->cross_width, 0, DIMENSION_MAX, "cross_width", where, error) ||
        !check(kind->copies, 0, MODEL_LAYERS_MAX, "copies", where, error) ||
        !check(kind->q_lora_rank, 0, DIMENSION_MAX, "q_lora_rank", where, error) ||
        !check(kind->kv_lora_rank, latent, DIMENSION_MAX, "kv_lora_rank", where, error) ||
        !check(kind->qk_nope_head_dim, latent, DIMENSION_MAX, "qk_nope_head_dim", where, error) ||
        !check(kind->qk_rope_head_dim, 0, DIMENSION_MAX, "qk_rope_head_dim", where, error) ||
        !check(kind->v_head_dim, latent, DIMENSION_MAX, "v_head_dim", where, error) ||
        !check(kind->window, 0, DIMENSION_MAX, "window", where, error) ||
        !check(kind->qk_norm_parameters, 0, DIMENSION_MAX, "qk_norm_parameters", where, error))
        return false;
    if (any && kind->heads % kind->kv_heads)
        return error_set(error, ERROR_INPUT, where,
                         "%lld heads do not divide into %lld key-value heads; give a divisor", (long long)kind->heads,
                         (long long)kind->kv_heads);
    return true;
}

static bool validate_mixer(const LayerKind *kind, const char *where, Error *error) {
    if (!kind->mixer) return true;
    for (int i = 0, count = mixer_size_count(kind->mixer); i < count; i++)
        if (!check(kind->sizes[i], kind->mixer->sizes[i].low, DIMENSION_MAX, kind->mixer->sizes[i].key, where, error))
            return false;
    const char *wrong = kind->mixer->wrong ? kind->mixer->wrong(kind) : NULL;
    return !wrong || error_set(error, ERROR_INPUT, where, "%s: %s", kind->mixer->name, wrong);
}

static bool validate_mlp(const LayerKind *kind, const char *where, Error *error) {
    bool mixture = kind->experts > 0;
    return check(kind->experts, 0, DIMENSION_MAX, "experts", where, error) &&
           check(kind->null_experts, 0, DIMENSION_MAX, "null_experts", where, error) &&
           check(kind->top_k, mixture, kind->experts + kind->null_experts, "top_k (experts per token)", where, error) &&
           check(kind->expert_width, 0, DIMENSION_MAX, "expert_width", where, error) &&
           check(kind->d_ff, !mixture && !kind->mixer && !kind->encoder && !kind->cross_heads && kind->heads,
                 DIMENSION_MAX, "d_ff", where, error) &&
           check(kind->d_ff_expert, mixture, mixture ? DIMENSION_MAX : 0, "d_ff_expert", where, error) &&
           check(kind->d_ff_shared, 0, DIMENSION_MAX, "d_ff_shared", where, error) &&
           check(kind->norms, 0, 16, "norms", where, error);
}

bool model_validate(const Model *model, const char *where, Error *error) {
    if (!check(model->layers, 1, MODEL_LAYERS_MAX, "layers", where, error) ||
        !check(model->d_model, 1, DIMENSION_MAX, "d_model", where, error) ||
        !check(model->vocab, 1, DIMENSION_MAX, "vocab", where, error) ||
        !check(model->max_seq, 1, DIMENSION_MAX, "max_seq", where, error) ||
        !check(model->learned_positions, 0, DIMENSION_MAX, "learned_positions", where, error) ||
        !check(model->kind_count, 1, MODEL_KINDS_MAX, "kinds of layers", where, error))
        return false;
    int64_t layers = 0;
    for (int i = 0; i < model->kind_count; i++) {
        const LayerKind *kind = &model->kinds[i];
        if (!check(kind->count, 1, MODEL_LAYERS_MAX, "layers of a kind", where, error) ||
            !validate_mixer(kind, where, error) || !validate_attention(kind, where, error) ||
            !validate_mlp(kind, where, error))
            return false;
        layers += kind->count;
    }
    if (!check(layers, model->layers, model->layers, "the sum over the kinds of layers", where, error)) return false;
    if (model_parameters(model).total >= PARAMETERS_MAX)
        return error_set(error, ERROR_INPUT, where, "the model has 2^60 parameters or more; give smaller dimensions");
    return true;
}

int64_t model_active_parameters(const Model *model) {
    return model->noted ? model->noted_active : model_parameters(model).active;
}
