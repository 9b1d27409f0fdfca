/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/bytes.h: how many bytes one number takes, and one parameter. */
#ifndef SHARDOPT_COST_BYTES_H
#define SHARDOPT_COST_BYTES_H

enum {
    BF16_BYTES = 2,                        /* activations, weights, and gradients that are not accumulated */
    FP32_BYTES = 4,                        /* accumulated gradients */
    LOGIT_BYTES = FP32_BYTES + BF16_BYTES, /* of one logit: fp32 itself, and its bf16 gradient */
    OPTIMIZER_BYTES = 3 * FP32_BYTES,      /* of one parameter in AdamW: master, m, v */
    /* What AdamW moves of one parameter: master, m and v read and written, the gradient read, the bf16 copy written. */
    UPDATE_BYTES = 2 * OPTIMIZER_BYTES + FP32_BYTES + BF16_BYTES
};

#endif
