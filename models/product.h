/* SPDX-License-Identifier: GPL-3.0-or-later */
/* models/product.h: counts are never negative and stop at INT64_MAX instead of wrapping, so that model_validate() can
 * count first and judge the sum afterwards: one formula serves accepted and refused models. */
#pragma once

#include <stdint.h>

static inline int64_t times(int64_t a, int64_t b) {
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

static inline int64_t plus(int64_t a, int64_t b) {
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}
