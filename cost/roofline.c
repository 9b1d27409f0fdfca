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

static double matmul_seconds(const Op *op, Phase phase, const Chip *chip, const Profile *profile) {
    double peak = chip->bf16_flops_per_second.value, hbm = chip->hbm_bytes_per_second.value;
    double efficiency = profile->matrix_efficiency * (op->kind == OP_GROUPED_MATMUL ? profile->grouped_efficiency : 1);
    /* Operand traffic that the kernel does not hide: it grows as any dimension gets small (calibration.md, section
     * 2). */
    double traffic = 1 + profile->matmul_traffic * (peak / hbm) * (op->chunks / op->m + 1 / op->n + 1 / op->k);
    return op->flops[phase] * tile_waste(op, chip, profile) / (peak * efficiency) * traffic;
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
        busy = op->flops[phase] / (chip->bf16_flops_per_second.value * profile->attention_efficiency *
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
