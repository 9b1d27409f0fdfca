/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/weighed.h"

#include <stdlib.h>

static int by_value(const void *a, const void *b) {
    const Weighed *x = a, *y = b;
    return (x->value > y->value) - (x->value < y->value);
}

double weighed_quantile(Weighed *list, int64_t count, double share) {
    double all = 0, reached = 0;
    qsort(list, (size_t)count, sizeof *list, by_value);
    for (int64_t i = 0; i < count; i++) all += list[i].weight;
    for (int64_t i = 0; i < count; i++) {
        reached += list[i].weight;
        if (reached >= (share - 1e-9) * all) return list[i].value;
    }
    return list[count - 1].value;
}
