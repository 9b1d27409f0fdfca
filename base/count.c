/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/count.h"

#include <string.h>

bool count_add(Count a, Count b, Count *out) {
    Count sum;
    if (__builtin_add_overflow(a, b, &sum)) return false;
    *out = sum;
    return true;
}

bool count_multiply(Count a, Count b, Count *out) {
    Count product;
    if (__builtin_mul_overflow(a, b, &product)) return false;
    *out = product;
    return true;
}

const char *count_text(Count count, bool grouped, char *text) {
    char reversed[COUNT_TEXT_SIZE]; /* 39 digits and 12 commas at most */
    size_t used = 0, digits = 0;
    do {
        if (grouped && digits > 0 && digits % 3 == 0) reversed[used++] = ',';
        reversed[used++] = (char)('0' + (int)(count % 10));
        digits++;
        count /= 10;
    } while (count > 0);
    for (size_t i = 0; i < used; i++) text[i] = reversed[used - 1 - i];
    text[used] = '\0';
    return text;
}
