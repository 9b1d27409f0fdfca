/* SPDX-License-Identifier: GPL-3.0-or-later */
/* base/budget.h: how much memory a search has taken, and may take. Several threads may share one. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct Budget {
    int64_t limit; /* bytes; 0: there is none, and all that is taken is counted */
    int64_t used, most;
    bool refused; /* some memory was not given */
} Budget;

/* Takes bytes if they are within the limit; else they are refused, and that is noted. */
bool budget_take(Budget *budget, int64_t bytes);

/* Counts bytes that are there already; below 0: that were given back. */
void budget_add(Budget *budget, int64_t bytes);

/* Whether more than this share of the limit is taken. */
bool budget_is_above(const Budget *budget, double share);

/* Whether some memory was refused, or more is taken than the limit. */
bool budget_is_met(const Budget *budget);
