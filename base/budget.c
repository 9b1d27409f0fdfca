/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/budget.h"

void budget_add(Budget *budget, int64_t bytes) {
    int64_t used = __atomic_add_fetch(&budget->used, bytes, __ATOMIC_RELAXED);
    int64_t most = __atomic_load_n(&budget->most, __ATOMIC_RELAXED);
    while (used > most &&
           !__atomic_compare_exchange_n(&budget->most, &most, used, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
}

bool budget_take(Budget *budget, int64_t bytes) {
    if (budget->limit > 0 && __atomic_load_n(&budget->used, __ATOMIC_RELAXED) + bytes > budget->limit) {
        __atomic_store_n(&budget->refused, true, __ATOMIC_RELAXED);
        return false;
    }
    budget_add(budget, bytes);
    return true;
}

bool budget_is_above(const Budget *budget, double share) {
    return budget->limit > 0 &&
           (double)__atomic_load_n(&budget->used, __ATOMIC_RELAXED) > share * (double)budget->limit;
}

bool budget_is_met(const Budget *budget) {
    return __atomic_load_n(&budget->refused, __ATOMIC_RELAXED) || budget_is_above(budget, 1);
}
