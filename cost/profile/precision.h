/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/profile/precision.h: the precision of the blocks' matmuls. Attention, the router and the logits stay bf16, as in
 * every published recipe. */
#pragma once

#include "mesh/chip.h"

typedef enum {
    PRECISION_BF16,
    PRECISION_FP8,   /* one scale for each tensor or row: delayed or current scaling */
    PRECISION_MXFP8, /* one scale for each block of 32 */
    PRECISION_NVFP4, /* 4 bits, one scale for each block of 16 */
    PRECISION_INT8,
    PRECISION_COUNT
} Precision;

const char *precision_name(Precision precision); /* "bf16" "fp8" "mxfp8" "nvfp4" "int8" */

/* Dense peak, FLOP/s; 0 means that the chip has no such matmuls. */
double precision_peak(const Chip *chip, Precision precision);

/* Bytes of one operand. */
double precision_bytes(Precision precision);
