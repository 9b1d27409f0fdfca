/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whatever the bytes are, graph_read says yes or no with one line at line:column, and what it takes is solved a little:
 * no crash, no leak, no step past the end, and any choice given fits.
 *
 * libFuzzer: clang -fsanitize=fuzzer,address,undefined; without clang, -DSHARDOPT_FUZZ_MAIN runs the files given. */
#include "search/graph/problem.h"
#include "search/graph/solve.h"
#include "tests/fuzz/files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double no_time(void *context) {
    (void)context;
    return 0;
}

static bool never(void *context) {
    (void)context;
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Arena arena = {0};
    Error error = {0};
    StrategyGraph graph;
    GraphResult result;
    GraphControl control = {
        .seconds = no_time, .interrupted = never, .time_limit = INFINITY, .effort = 1e-4, .threads = 1};
    char *text = malloc(size ? size : 1); /* its own allocation, so that a sanitizer sees its end */
    if (!text) return 0;
    memcpy(text, data, size);
    bool ok = graph_read(text, size, "fuzz", &graph, &error);
    if (ok != (error.kind == ERROR_NONE) || (!ok && (error.kind != ERROR_INPUT || strchr(error.text, '\n')))) abort();
    if (ok && graph.node_count < 200 && graph_solve(&graph, &control, &arena, &result, &error)) {
        if (result.found && (!result.value.is_feasible || result.bound > result.value.cost)) abort();
        if (!result.found && result.proof == GRAPH_OPTIMAL) abort();
    }
    graph_free(&graph);
    free(text);
    arena_free(&arena);
    return 0;
}
