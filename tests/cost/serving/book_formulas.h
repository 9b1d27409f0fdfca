/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tests/cost/serving/book_formulas.h: the book's rooflines (part 7): every byte and FLOP in perfect balance over all
 * chips, no floors. Nothing is priced with them. */
#pragma once

#include "base/util.h"

/* max(FLOPs / rate, bytes / bandwidth). */
static inline double roofline_seconds(double flops, double flops_per_second, double bytes, double bytes_per_second) {
    return max_real(flops / flops_per_second, bytes / bytes_per_second);
}

/* Of a matmul [tokens, d] x [d, f]: both operands and the result. */
static inline double matmul_bytes(double tokens, double d, double f, double weight_bytes, double activation_bytes) {
    return activation_bytes * tokens * d + weight_bytes * d * f + activation_bytes * tokens * f;
}

static inline double matmul_flops(double tokens, double d, double f) { return 2 * tokens * d * f; }

/* Tokens from which a matmul is bound by compute: weights alone count (infinite d and f), or everything does. */
static inline double critical_tokens(double flops_per_second, double bytes_per_second, double weight_bytes) {
    return flops_per_second / bytes_per_second * weight_bytes / 2;
}

static inline double critical_tokens_of(double flops_per_second, double bytes_per_second, double d, double f) {
    double ridge = flops_per_second / bytes_per_second;
    return ridge * d * f / (d * f - ridge * (d + f));
}

/* FLOPs per byte: T new tokens of N query heads against S cached ones of K heads, 16 bits; then MLA in decode. */
static inline double attention_intensity(double cached, double tokens, double heads, double kv_heads) {
    return 4 * cached * tokens * heads / (4 * cached * kv_heads + 4 * tokens * heads);
}

static inline double latent_intensity(double heads, double rank, double rope) {
    return 2 * heads * (2 * rank + rope) / (2 * (rank + rope));
}

/* T tokens against S each, all layers; a causal prompt has half of it. */
static inline double attention_flops(double tokens, double cached, double heads, double head_dim, double layers) {
    return 4 * tokens * cached * heads * head_dim * layers;
}

typedef struct {
    double chips, flops_per_second, bytes_per_second; /* of one chip */
    double weight_bytes, parameters;                  /* of the model; parameters that a token uses */
} Roofline;

/* t = B x KV / (n W) + max(2 B P / (n C), bytes / (n W)). */
static inline double step_roofline(const Roofline *machine, double batch, double cache_bytes_per_sequence) {
    double flops = machine->chips * machine->flops_per_second, bytes = machine->chips * machine->bytes_per_second;
    return batch * cache_bytes_per_sequence / bytes +
           roofline_seconds(2 * batch * machine->parameters, flops, machine->weight_bytes, bytes);
}

/* 2 P T / (n C share), and the FLOPs of attention over the same. */
static inline double prefill_roofline(const Roofline *machine, double tokens, double attention_flops,
                                      double flops_share) {
    return (2 * machine->parameters * tokens + attention_flops) /
           (machine->chips * machine->flops_per_second * flops_share);
}
