/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/util.h"
#include "cost/trace/formats/formats.h"

#include <criterion/criterion.h>

/* The rank stands behind a word in the name of the file itself; ten digits and more are a time or a process. */
Test(rank_of_name, names) {
    static const struct {
        const char *path;
        int64_t rank;
    } ROWS[] = {
        {"rank-3.json", 3},
        {"a/b/rank0.json.gz", 0},
        {"host_worker12.pt.trace.json", 12},
        {"kineto=7.json", 7},
        {"Rank.5", 5},
        {"rank_123456789.json", 123456789},
        {"rank_1234567890.json", -1},
        {"rank_1234567890_worker3.json", 3},
        {"rank_x_worker3.json", 3},
        {"rank7/trace.json", -1},
        {"trace.json", -1},
        {"", -1},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++)
        cr_expect_eq(trace_rank_of_name(ROWS[i].path), ROWS[i].rank, "%s", ROWS[i].path);
}
