/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/plan/bytes.h: the bytes of one number. cost/state/state.h has all the bytes of a parameter. */
#pragma once

enum {
    BF16_BYTES = 2, /* activations, and weights at work */
    FP32_BYTES = 4
};
