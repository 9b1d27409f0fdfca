/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whatever the bytes are, run_table_parse says yes or no with one line: no crash, no leak, no step past the end. What
 * it takes has ids, sizes in their ranges and finite figures.
 *
 * libFuzzer: clang -fsanitize=fuzzer,address,undefined; without clang, -DSHARDOPT_FUZZ_MAIN runs the files given. */
#include "cost/measured/labels.h"
#include "tests/fuzz/files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Arena arena = {0};
    Error error = {0};
    RunTable table;
    char label[RUN_LABEL_SIZE], *text = malloc(size + 1); /* its own allocation, so that a sanitizer sees its end */
    if (!text) return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    bool ok = run_table_parse("fuzz", text, size, &arena, &table, &error);
    if (ok != (error.kind == ERROR_NONE) || (!ok && (error.kind != ERROR_INPUT || strchr(error.text, '\n')))) abort();
    for (int64_t i = 0; ok && i < table.count; i++) {
        const Run *run = &table.runs[i];
        if (!run->id[0] || run->seq < 0 || run->global_batch < 0 || run->chips < 0 || !isfinite(run->step_seconds) ||
            strlen(run_source(run, label)) >= RUN_LABEL_SIZE || strlen(run_framework(run, label)) >= RUN_LABEL_SIZE ||
            (int)run_kind(run) >= KIND_COUNT)
            abort();
    }
    free(text);
    arena_free(&arena);
    return 0;
}
