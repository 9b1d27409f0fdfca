/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/parameters.h"

#include "base/util.h"

#include <assert.h>
#include <stddef.h>

/* Counts are never negative and stop at INT64_MAX instead of wrapping, so that model_validate() can count first and
 * judge the sum afterwards: one formula serves accepted and refused models. */
static int64_t times(int64_t a, int64_t b) {
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

static int64_t plus(int64_t a, int64_t b) {
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* Queries and keys meet in `qk` numbers per head, and values carry `v` numbers: the widths of scores and of their
 * use. */
static int64_t qk_width(const LayerKind *kind) {
    return kind->attention == ATTENTION_LATENT ? plus(kind->qk_nope_head_dim, kind->qk_rope_head_dim) : kind->head_dim;
}

static int64_t v_width(const LayerKind *kind) {
    return kind->attention == ATTENTION_LATENT ? kind->v_head_dim : kind->head_dim;
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

/* Queries and output of N_h heads, keys and values of K: D * H * (2 N_h + 2 K). */
static int64_t head_attention(int64_t D, const LayerKind *kind) {
    return times(times(D, kind->head_dim), times(2, plus(kind->heads, kind->kv_heads)));
}

static int64_t attention_biases(int64_t D, const LayerKind *kind) {
    int64_t qkv = kind->attention == ATTENTION_LATENT
                      ? plus(kind->q_lora_rank, plus(kind->kv_lora_rank, kind->qk_rope_head_dim))
                      : times(kind->head_dim, plus(kind->heads, times(2, kind->kv_heads)));
    return plus(plus(kind->qkv_bias ? qkv : 0, kind->out_bias ? D : 0), kind->sinks ? kind->heads : 0);
}

static int64_t mlp_matrices(int64_t D, int64_t d_ff, bool gated) { return times(gated ? 3 : 2, times(D, d_ff)); }

/* Each matrix that goes up has one bias per hidden unit, and the matrix that comes down has one per output. */
static int64_t mlp_biases(int64_t D, int64_t d_ff, bool gated) { return plus(times(gated ? 2 : 1, d_ff), D); }

static int64_t norm_parameters(const Model *model) { return times(model->norm == NORM_LAYER ? 2 : 1, model->d_model); }

/* `idle` counts the parameters of experts that a token is not sent to. */
static void close_sums(Parameters *p, int64_t idle, bool tied) {
    const int64_t parts[] = {p->attention,   p->mlp,       p->experts, p->router, p->embedding,
                             p->unembedding, p->positions, p->norms,   p->biases};
    p->total = 0;
    for (size_t i = 0; i < COUNT_OF(parts); i++) p->total = plus(p->total, parts[i]);
    p->active = p->total - idle;
    p->active_matmul = p->active - p->positions - (tied ? 0 : p->embedding);
}

static int64_t idle_parameters(int64_t D, const LayerKind *kind) {
    int64_t idle = times(kind->experts - kind->top_k, mlp_matrices(D, kind->d_ff_expert, kind->gated));
    if (kind->expert_bias)
        idle = plus(idle, times(kind->experts - kind->top_k, mlp_biases(D, kind->d_ff_expert, kind->gated)));
    return idle;
}

Parameters layer_parameters(const Model *model, const LayerKind *kind) {
    int64_t D = model->d_model;
    Parameters p = {.attention =
                        kind->attention == ATTENTION_LATENT ? latent_attention(D, kind) : head_attention(D, kind)};
    p.mlp = plus(mlp_matrices(D, kind->d_ff, kind->gated), mlp_matrices(D, kind->d_ff_shared, kind->gated));
    p.experts = times(kind->experts, mlp_matrices(D, kind->d_ff_expert, kind->gated));
    p.router = plus(times(D, kind->experts), kind->shared_gate ? D : 0);
    p.norms = plus(times(kind->norms, norm_parameters(model)), kind->qk_norm_parameters);
    p.biases = attention_biases(D, kind);
    if (kind->mlp_bias && kind->d_ff) p.biases = plus(p.biases, mlp_biases(D, kind->d_ff, kind->gated));
    if (kind->mlp_bias && kind->d_ff_shared) p.biases = plus(p.biases, mlp_biases(D, kind->d_ff_shared, kind->gated));
    if (kind->expert_bias)
        p.biases = plus(p.biases, times(kind->experts, mlp_biases(D, kind->d_ff_expert, kind->gated)));
    if (kind->router_bias) p.biases = plus(p.biases, kind->experts);
    close_sums(&p, idle_parameters(D, kind), true);
    return p;
}

Parameters model_parameters(const Model *model) {
    Parameters p = {0};
    int64_t idle = 0;
    for (int i = 0; i < model->kind_count; i++) {
        const LayerKind *kind = &model->kinds[i];
        Parameters layer = layer_parameters(model, kind);
        p.attention = plus(p.attention, times(kind->count, layer.attention));
        p.mlp = plus(p.mlp, times(kind->count, layer.mlp));
        p.experts = plus(p.experts, times(kind->count, layer.experts));
        p.router = plus(p.router, times(kind->count, layer.router));
        p.norms = plus(p.norms, times(kind->count, layer.norms));
        p.biases = plus(p.biases, times(kind->count, layer.biases));
        idle = plus(idle, times(kind->count, idle_parameters(model->d_model, kind)));
    }
    p.embedding = times(model->vocab, model->d_model);
    p.unembedding = model->tied ? 0 : p.embedding;
    p.positions = times(model->learned_positions, model->d_model);
    p.norms = plus(p.norms,
                   times(model->embedding_norm ? 2 : 1, norm_parameters(model))); /* the final norm is always there */
    p.biases = plus(p.biases, model->logits_bias ? model->vocab : 0);
    close_sums(&p, idle, model->tied);
    return p;
}

double attention_span(const LayerKind *kind, int64_t seq, bool full) {
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

double model_flops_per_token(const Model *model, FlopConvention convention, int64_t seq) {
    double flops = 6.0 * (double)model_parameters(model).active_matmul;
    if (convention == FLOPS_6N) return flops;
    for (int i = 0; i < model->kind_count; i++) {
        const LayerKind *kind = &model->kinds[i];
        double attention = pair_flops(kind) * attention_span(kind, seq, convention == FLOPS_FULL_ATTENTION);
        flops += 3 * (double)kind->count * attention;
        if (convention == FLOPS_HARDWARE)
            flops += (double)kind->count * (2.0 * (double)layer_parameters(model, kind).active + attention);
    }
    return flops;
}

enum { DIMENSION_MAX = INT32_MAX };
static const int64_t PARAMETERS_MAX = (int64_t)1 << 60;

static bool check(int64_t value, int64_t low, int64_t high, const char *key, const char *where, Error *error) {
    return (value >= low && value <= high) || error_set(error, ERROR_INPUT, where, "%s is %lld; expected %lld to %lld",
                                                        key, (long long)value, (long long)low, (long long)high);
}

static bool validate_attention(const LayerKind *kind, const char *where, Error *error) {
    bool latent = kind->attention == ATTENTION_LATENT;
    if (!check(kind->heads, 1, DIMENSION_MAX, "heads", where, error) ||
        !check(kind->kv_heads, 1, kind->heads, "kv_heads", where, error) ||
        !check(kind->head_dim, 1, DIMENSION_MAX, "head_dim", where, error) ||
        !check(kind->q_lora_rank, 0, DIMENSION_MAX, "q_lora_rank", where, error) ||
        !check(kind->kv_lora_rank, latent, DIMENSION_MAX, "kv_lora_rank", where, error) ||
        !check(kind->qk_nope_head_dim, latent, DIMENSION_MAX, "qk_nope_head_dim", where, error) ||
        !check(kind->qk_rope_head_dim, 0, DIMENSION_MAX, "qk_rope_head_dim", where, error) ||
        !check(kind->v_head_dim, latent, DIMENSION_MAX, "v_head_dim", where, error) ||
        !check(kind->window, 0, DIMENSION_MAX, "window", where, error) ||
        !check(kind->qk_norm_parameters, 0, DIMENSION_MAX, "qk_norm_parameters", where, error))
        return false;
    if (kind->heads % kind->kv_heads)
        return error_set(error, ERROR_INPUT, where,
                         "%lld heads do not divide into %lld key-value heads; give a divisor", (long long)kind->heads,
                         (long long)kind->kv_heads);
    return true;
}

static bool validate_mlp(const LayerKind *kind, const char *where, Error *error) {
    bool mixture = kind->experts > 0;
    return check(kind->experts, 0, DIMENSION_MAX, "experts", where, error) &&
           check(kind->top_k, mixture, kind->experts, "top_k (experts per token)", where, error) &&
           check(kind->d_ff, !mixture, DIMENSION_MAX, "d_ff", where, error) &&
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
            !validate_attention(kind, where, error) || !validate_mlp(kind, where, error))
            return false;
        layers += kind->count;
    }
    if (!check(layers, model->layers, model->layers, "the sum over the kinds of layers", where, error)) return false;
    if (model_parameters(model).total >= PARAMETERS_MAX)
        return error_set(error, ERROR_INPUT, where, "the model has 2^60 parameters or more; give smaller dimensions");
    return true;
}
