/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whatever the bytes are, bench_log_read finds results that are finite and above 0, or none.
 *
 * libFuzzer: clang -fsanitize=fuzzer,address,undefined; without clang, -DSHARDOPT_FUZZ_MAIN runs the files given. */
#include "cost/trace/formats/bench_log.h"
#include "tests/fuzz/files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    BenchResult results[BENCH_RESULTS_MAX];
    char *text = malloc(size + 1);
    if (!text) return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    int count = bench_log_read(text, size, size % 2 ? "all_gather.log" : "log", results);
    for (int i = 0; i < count; i++)
        if (!(results[i].rate > 0) || !isfinite(results[i].rate) || results[i].kind == BENCH_NONE) abort();
    free(text);
    return 0;
}
