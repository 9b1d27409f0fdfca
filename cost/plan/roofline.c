/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/plan/ops.h"

#include "base/util.h"
#include "cost/plan/plan.h"

#include <math.h>

static double padded(double size, double tile) { return tile > 1 ? ceil(size / tile) * tile : size; }

/* Share of useful work when both weight dimensions are padded to the matrix unit's tile. */
static double tile_waste(const Op *op, const Chip *chip, const Profile *profile) {
    double tile = profile->tile_padding ? chip->matrix_tile.value : 1;
    return padded(op->n, tile) * padded(op->k, tile) / (op->n * op->k);
}

/* Bytes of the casts of a matmul's operands to fewer bits: each operand is read in bf16 and written once as it lies and
 * once transposed, because two of the three matmuls use it. Forward casts the input and the weights, backward the
 * output's gradient. */
static double cast_bytes(const Op *op, Phase phase, Precision precision) {
    double each = 2 + 2 * precision_bytes(precision);
    double elements = phase == PHASE_FORWARD ? op->m * op->k + op->k * op->n : op->m * op->n;
    return each * elements * op->groups;
}

/* The rate of a grouped matmul over a plain one. Groups cost time because each ends in tiles and waves of its own: one
 * group alone costs nothing. In blocks of 8 or 4 bits, what software gains above 1 comes of kernels that are fused with
 * a gated unit (cuDNN's grouped matmul with SwiGLU, Megatron-Core 0.18): experts of two matrices do without. */
static double grouped_rate(const Op *op, const Profile *profile) {
    bool blocks = profile->precision == PRECISION_MXFP8 || profile->precision == PRECISION_NVFP4;
    double software = op->ungated && blocks ? min_real(1, profile->grouped_factor) : profile->grouped_factor;
    double rate = profile->grouped_efficiency * software;
    return op->groups > 1 ? 1 / (1 + (1 / rate - 1) * (1 - 1 / op->groups)) : 1;
}

static double matmul_seconds(const Op *op, Phase phase, const Chip *chip, const Profile *profile) {
    double peak = chip->bf16_flops_per_second.value, hbm = chip->hbm_bytes_per_second.value, ratio = 1, casts = 0;
    double efficiency = profile->matrix_efficiency;
    if (op->runs_in_precision) {
        efficiency = profile->linear_efficiency;
        ratio = profile->linear_peak_ratio;
    }
    efficiency *= profile->compute_factor;
    if (op->kind == OP_GROUPED_MATMUL) {
        efficiency *= grouped_rate(op, profile);
        if (op->biased) efficiency *= profile->biased_expert_efficiency;
    }
    if (op->runs_in_precision && profile->precision != PRECISION_BF16 && profile->cast_traffic > 0)
        casts = profile->cast_traffic * cast_bytes(op, phase, profile->precision) / (hbm * profile->hbm_efficiency);
    /* The operand traffic that the kernel does not hide grows as any dimension gets small (docs/model.md, "Roofline of
     * an op"). */
    double chunks = 1 + (op->chunks - 1) * profile->chunk_traffic;
    double traffic = 1 + profile->matmul_traffic * ratio * (peak / hbm) * (chunks / op->m + 1 / op->n + 1 / op->k);
    return op->flops[phase] * tile_waste(op, chip, profile) / (peak * efficiency) * traffic + casts;
}

/* Flash attention computes a causal half, and its scores again in backward. Unfused attention computes whole squares as
 * matmuls with a softmax between them, whose scores, probabilities and dropout mask pass through HBM. The bytes of a
 * score, kernel by kernel, are 13 forward (scores out; softmax in and out; dropout in, out and mask; into the values)
 * and 19 backward (into dV; their gradient out; dropout in, mask and out; softmax in twice and out; into dQ and dK).
 * Korthikanti et al. 2022, section 4, count the bytes that are kept: 5. Heads whose width is not a multiple of 8 do not
 * use the matrix units there. */
static double attention_seconds(const Op *op, Phase phase, const Chip *chip, const Profile *profile) {
    double peak = chip->bf16_flops_per_second.value, rate = profile->attention_efficiency * profile->attention_factor;
    if (profile->unfused_attention < 0.5)
        return op->flops[phase] / (peak * rate * (phase == PHASE_BACKWARD ? profile->attention_backward_rate : 1));
    static const double UNFUSED_MATMULS = 0.6, BYTES[PHASE_COUNT] = {13, 19};
    double hbm = chip->hbm_bytes_per_second.value * profile->hbm_efficiency;
    double flops = 2 * op->flops[PHASE_FORWARD] * (phase == PHASE_BACKWARD ? 2 : 1);
    double matmul = flops / (peak * profile->matrix_efficiency * profile->compute_factor * UNFUSED_MATMULS);
    if (fmod(op->head_dim, 8) != 0) matmul /= profile->unaligned_attention_rate;
    return matmul + BYTES[phase] * op->score_elements * profile->score_traffic / hbm;
}

double op_saved_bytes(const Op *op, const Profile *profile) {
    double apart = profile->inputs_kept_apart;
    double bytes = (1 - apart) * op->saved_bytes + apart * (op->saved_bytes / op->saved_ways);
    if (profile->low_copies > 0.5 && profile->precision != PRECISION_BF16) {
        double low = precision_bytes(profile->precision);
        bytes = op->saved_input ? bytes * low / BF16_BYTES : bytes + low * op->saved_copy;
    }
    bool hidden = op->output_activation == ACTIVATION_GATE_UP || op->output_activation == ACTIVATION_PRODUCT;
    bytes *= hidden && profile->mlp_kept > 0 ? profile->mlp_kept : profile->kept_factor;
    bytes += profile->dispatched_kept * op->routed_bytes;
    return bytes + (profile->unfused_attention > 0.5 ? 5 * op->score_elements : 0);
}

double op_seconds(const Op *op, Phase phase, const Chip *chip, const Profile *profile, bool *memory_bound) {
    double hbm = chip->hbm_bytes_per_second.value * profile->hbm_efficiency, busy = 0;
    double bytes = op->hbm_bytes[phase] / hbm;
    switch (op->kind) {
    case OP_MATMUL:
    case OP_GROUPED_MATMUL:
        busy = matmul_seconds(op, phase, chip, profile);
        break;
    case OP_ATTENTION:
        busy = attention_seconds(op, phase, chip, profile) * (op->repeated > 0 ? op->repeated : 1);
        break;
    case OP_SCAN:
        busy = op->flops[phase] / (chip->bf16_flops_per_second.value *
                                   (op->on_vectors ? profile->vector_efficiency : profile->scan_efficiency));
        break;
    case OP_ELEMENTWISE:
        bytes *= profile->elementwise_traffic;
        bytes += op->routed_bytes * profile->dispatch_seconds_per_byte / 4; /* in and out, forward and backward */
        break;
    case OP_LOOKUP:
        break;
    }
    *memory_bound = bytes > busy;
    return max_real(bytes, busy);
}
