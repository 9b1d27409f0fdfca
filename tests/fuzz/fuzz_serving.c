/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whatever the bytes are, the readers of load tests and of start scripts say yes or no with one line: no crash, no
 * leak, no step past the end. */
#include "search/serving/launch/served_config.h"
#include "search/serving/measured/bench_report.h"
#include "search/serving/measured/serving_runs.h"
#include "tests/fuzz/files.h"

#include <stdlib.h>
#include <string.h>

static void check(bool ok, const Error *error) {
    if (ok != (error->kind == ERROR_NONE) || (!ok && strchr(error->text, '\n'))) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Arena arena = {0};
    Error first = {0}, second = {0}, third = {0};
    ServedConfig *config = ARENA_NEW(&arena, ServedConfig, 1);
    ServingRuns runs;
    char *text = malloc(size + 1); /* its own allocation, so that a sanitizer sees its end */
    if (!text || !config) return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    check(served_config_read("fuzz", text, size, &arena, config, &first), &first);
    char *table = bench_report_table("fuzz", text, "chip=h100 engine=vllm", &arena, &second);
    check(table != NULL, &second);
    if (table) check(serving_runs_read("fuzz", table, strlen(table), &arena, &runs, &third), &third);
    free(text);
    arena_free(&arena);
    return 0;
}
