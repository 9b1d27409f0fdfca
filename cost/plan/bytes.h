/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/plan/bytes.h: how many bytes one number takes. What a parameter takes in all: cost/state/state.h. */
#ifndef SHARDOPT_COST_PLAN_BYTES_H
#define SHARDOPT_COST_PLAN_BYTES_H

enum {
    BF16_BYTES = 2, /* activations, and weights at work */
    FP32_BYTES = 4
};

#endif
