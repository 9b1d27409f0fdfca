/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The book's formulas: what a step takes at least. */
#include "base/util.h"
#include "cost/serving/step.h"

double roofline_seconds(double flops, double flops_per_second, double bytes, double bytes_per_second) {
    return max_real(flops / flops_per_second, bytes / bytes_per_second);
}

double matmul_bytes(double tokens, double d, double f, double weight_bytes, double activation_bytes) {
    return activation_bytes * tokens * d + weight_bytes * d * f + activation_bytes * tokens * f;
}

double matmul_flops(double tokens, double d, double f) { return 2 * tokens * d * f; }

double critical_tokens(double flops_per_second, double bytes_per_second, double weight_bytes) {
    return flops_per_second / bytes_per_second * weight_bytes / 2;
}

double critical_tokens_of(double flops_per_second, double bytes_per_second, double d, double f) {
    double ridge = flops_per_second / bytes_per_second;
    return ridge * d * f / (d * f - ridge * (d + f));
}

double attention_intensity(double cached, double tokens, double heads, double kv_heads) {
    return 4 * cached * tokens * heads / (4 * cached * kv_heads + 4 * tokens * heads);
}

double latent_intensity(double heads, double rank, double rope) {
    return 2 * heads * (2 * rank + rope) / (2 * (rank + rope));
}

double attention_flops(double tokens, double cached, double heads, double head_dim, double layers) {
    return 4 * tokens * cached * heads * head_dim * layers;
}

double step_roofline(const Roofline *machine, double batch, double cache_bytes_per_sequence) {
    double flops = machine->chips * machine->flops_per_second, bytes = machine->chips * machine->bytes_per_second;
    return batch * cache_bytes_per_sequence / bytes +
           roofline_seconds(2 * batch * machine->parameters, flops, machine->weight_bytes, bytes);
}

double prefill_roofline(const Roofline *machine, double tokens, double attention_flops, double flops_share) {
    return (2 * machine->parameters * tokens + attention_flops) /
           (machine->chips * machine->flops_per_second * flops_share);
}
