/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists of ranks as traces write them, by hand. */
#include "cost/trace/formats/chrome_event.h"

#include "base/util.h"

#include <criterion/criterion.h>
#include <string.h>

enum { NONE = -7 };

Test(chrome_event, ranks) {
    static const struct {
        const char *text;
        long long first, stride;
    } ROWS[] = {
        {"[0, 8, 16]", 0, 8}, {"[8,0]", 8, -8},      {"[10, 20, 30]", 10, 10}, {"[109,209]", 109, 100},
        {"[5]", 5, NONE},     {"[]", NONE, NONE},    {"", NONE, NONE},         {"7", 7, NONE},
        {"\"[3, 4]\"", 3, 1}, {"[0, 1, ...]", 0, 1}, {"9 19", 9, 10},          {"/:/", NONE, NONE},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        int64_t first = NONE, stride = NONE;
        chrome_ranks((JsonSlice){.at = ROWS[i].text, .length = strlen(ROWS[i].text)}, &first, &stride);
        cr_expect(first == ROWS[i].first && stride == ROWS[i].stride, "%s: %lld, %lld", ROWS[i].text, (long long)first,
                  (long long)stride);
    }
}
