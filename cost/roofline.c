/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/ops.h"

#include "base/util.h"

#include <math.h>

static double padded(double size, double tile) { return tile > 1 ? ceil(size / tile) * tile : size; }

/* Share of useful work when both weight dimensions are padded to the matrix unit's tile. */
static double tile_waste(const Op *op, const Chip *chip, const Profile *profile) {
    double tile = profile->tile_padding ? chip->matrix_tile.value : 1;
    return padded(op->n, tile) * padded(op->k, tile) / (op->n * op->k);
}

/* Casts of a matmul's operands to fewer bits: read in bf16, written once as they lie and once transposed, as each is
 * used by two of the three matmuls. Forward casts the input and the weights, backward the output's gradient. */
static double cast_bytes(const Op *op, Phase phase, Precision precision) {
    double each = 2 + 2 * precision_bytes(precision);
    double elements = phase == PHASE_FORWARD ? op->m * op->k + op->k * op->n : op->m * op->n;
    return each * elements * op->groups;
}

static double matmul_seconds(const Op *op, Phase phase, const Chip *chip, const Profile *profile) {
    double peak = chip->bf16_flops_per_second.value, hbm = chip->hbm_bytes_per_second.value, ratio = 1, casts = 0;
    double efficiency = profile->matrix_efficiency;
    if (op->low) {
        efficiency = profile->linear_efficiency;
        ratio = profile->linear_peak_ratio;
    }
    efficiency *= profile->compute_factor;
    if (op->kind == OP_GROUPED_MATMUL) {
        efficiency *= profile->grouped_efficiency * profile->grouped_factor;
        if (op->biased) efficiency *= profile->biased_expert_efficiency;
    }
    if (op->low && profile->precision != PRECISION_BF16 && profile->cast_traffic > 0)
        casts = profile->cast_traffic * cast_bytes(op, phase, profile->precision) / (hbm * profile->hbm_efficiency);
    /* Operand traffic that the kernel does not hide: it grows as any dimension gets small (calibration.md, section
     * 2). */
    double traffic = 1 + profile->matmul_traffic * ratio * (peak / hbm) * (op->chunks / op->m + 1 / op->n + 1 / op->k);
    return op->flops[phase] * tile_waste(op, chip, profile) / (peak * efficiency) * traffic + casts;
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
        busy = op->flops[phase] /
               (chip->bf16_flops_per_second.value * profile->attention_efficiency * profile->attention_factor *
                (phase == PHASE_BACKWARD ? profile->attention_backward_rate : 1));
        break;
    case OP_ELEMENTWISE:
        bytes *= profile->elementwise_traffic;
        break;
    case OP_LOOKUP:
        break;
    }
    *memory_bound = bytes > busy;
    return max_real(bytes, busy);
}
