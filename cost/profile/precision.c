/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/profile/precision.h"

const char *precision_name(Precision precision) {
    static const char *const NAMES[PRECISION_COUNT] = {"bf16", "fp8", "mxfp8", "nvfp4", "int8"};
    return NAMES[precision];
}

double precision_peak(const Chip *chip, Precision precision) {
    switch (precision) {
    case PRECISION_FP8:
        return chip->fp8_flops_per_second.value;
    case PRECISION_MXFP8:
        return chip->fp4_flops_per_second.value > 0 ? chip->fp8_flops_per_second.value : 0; /* Blackwell and later */
    case PRECISION_NVFP4:
        return chip->fp4_flops_per_second.value;
    case PRECISION_INT8:
        return chip->int8_ops_per_second.value;
    default:
        return chip->bf16_flops_per_second.value;
    }
}

double precision_bytes(Precision precision) {
    return precision == PRECISION_BF16 ? 2 : precision == PRECISION_NVFP4 ? 0.5 : 1;
}
