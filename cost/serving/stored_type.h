/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/serving/stored_type.h: the number formats in which weights and the cache are kept for serving. */
#pragma once

#include "mesh/chip.h"

typedef enum {
    STORED_BF16,
    STORED_FP8,
    STORED_INT8,  /* weights alone: they are widened, and the matmul runs in bf16 */
    STORED_MXFP4, /* 4 bits, and a scale of 8 bits for each block of 32 */
    STORED_NVFP4, /* 4 bits, and a scale of 8 bits for each block of 16 */
    STORED_INT4,  /* weights alone; the scales of large groups are not counted, as in the book */
    STORED_COUNT
} StoredType;

const char *stored_name(StoredType type); /* "bf16" "fp8" "int8" "mxfp4" "nvfp4" "int4" */

/* Bytes of one number, its share of a block's scale included. */
double stored_bytes(StoredType type);

/* The arithmetic of a matmul whose weights are stored so: bf16 where the chip has nothing narrower for them. */
typedef enum { ARITHMETIC_BF16, ARITHMETIC_FP8, ARITHMETIC_FP4, ARITHMETIC_COUNT } Arithmetic;
Arithmetic stored_arithmetic(StoredType type, const Chip *chip);
double arithmetic_peak(const Chip *chip, Arithmetic arithmetic); /* dense FLOP/s */
