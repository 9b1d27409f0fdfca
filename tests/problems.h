/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tests/problems.h: how many random problems a test tries: few by itself, as many as SHARDOPT_PROBLEMS says where that
 * is set, from the seed SHARDOPT_FIRST on. */
#pragma once

#include <stdint.h>
#include <stdlib.h>

static inline int problems_asked(int usual) {
    const char *text = getenv("SHARDOPT_PROBLEMS");
    return text ? atoi(text) : usual;
}
static inline uint64_t problems_first(void) {
    const char *text = getenv("SHARDOPT_FIRST");
    return text ? strtoull(text, NULL, 10) : 0;
}
