/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/serving/upper_bound.h: the most that any way to serve a question could give, without a search: every byte and
 * FLOP in perfect balance over all chips, the floors of kernels once, messages for nothing. A search that was cut short
 * says by it how far its best can be from the best of all. */
#pragma once

#include "search/serving/point.h"

/* Output tokens per second: no point of the question's engines, types and modes has more for each chip, if its time of
 * a token is within `tpot_seconds` (0: any), nor more for a user. Both 0: nothing can fit. */
typedef struct {
    double per_chip, per_user;
} ServingUpperBound;
ServingUpperBound serving_upper_bound(const ServingQuestion *question, double tpot_seconds);
