/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/serving/stored_type.h"

static const struct {
    const char *name;
    double bytes;
} TYPES[STORED_COUNT] = {
    [STORED_BF16] = {"bf16", 2},
    [STORED_FP8] = {"fp8", 1},
    [STORED_INT8] = {"int8", 1},
    [STORED_MXFP4] = {"mxfp4", 0.5 + 1.0 / 32},
    [STORED_NVFP4] = {"nvfp4", 0.5 + 1.0 / 16},
    [STORED_INT4] = {"int4", 0.5},
};

const char *stored_name(StoredType type) { return TYPES[type].name; }

double stored_bytes(StoredType type) { return TYPES[type].bytes; }

Arithmetic stored_arithmetic(StoredType type, const Chip *chip) {
    if (type == STORED_FP8 && chip->fp8_flops_per_second.value > 0) return ARITHMETIC_FP8;
    if ((type == STORED_MXFP4 || type == STORED_NVFP4) && chip->fp4_flops_per_second.value > 0) return ARITHMETIC_FP4;
    return ARITHMETIC_BF16;
}

double arithmetic_peak(const Chip *chip, Arithmetic arithmetic) {
    switch (arithmetic) {
    case ARITHMETIC_FP8:
        return chip->fp8_flops_per_second.value;
    case ARITHMETIC_FP4:
        return chip->fp4_flops_per_second.value;
    default:
        return chip->bf16_flops_per_second.value;
    }
}
