/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/graph/problem.h: a strategy graph of sums alone, as a compiler's auto-sharding makes it: nodes with strategies
 * (a cost, an HBM usage while the node lives), edges with a matrix of costs, and a limit on the usage at every moment.
 * The goal is the cheapest choice of one strategy per node that fits. */
#pragma once

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A cost from here on means that the strategy, or the pair, is forbidden (XLA's constant; google/iopddl uses it). */
#define GRAPH_FORBIDDEN INT64_C(1000000000000000000)
/* The largest sum that finite costs, taken at their largest, may have: two such sums and a forbidden cost still fit
 * into 64 bits. */
#define GRAPH_COST_MAX INT64_C(2000000000000000000)
/* The same limit for usages. */
#define GRAPH_USAGE_MAX (INT64_C(1) << 61)

enum { GRAPH_NAME_SIZE = 64, GRAPH_STRATEGIES_MAX = 1 << 20 };

typedef struct {
    char name[GRAPH_NAME_SIZE];
    int node_count, edge_count;
    int64_t *strategy_start; /* node_count + 1: where a node's strategies begin */
    int64_t *cost, *usage;   /* of each strategy, >= 0 */
    /* Of each node: it is in memory at moments live_from ... live_to - 1; never where to <= from. */
    int64_t *live_from, *live_to;
    int64_t *edge_first, *edge_second; /* nodes; may repeat, may be equal */
    int64_t *entry_start;              /* edge_count + 1: where an edge's matrix begins */
    int64_t *entry;                    /* [strategy of first][strategy of second], >= 0 */
    bool is_limited;
    int64_t usage_limit; /* limit of the sum at any moment, equality fits; INT64_MAX means that there is no limit */
} StrategyGraph;

typedef struct {
    __int128 cost;
    int64_t forbidden; /* the number of chosen strategies and pairs that cost GRAPH_FORBIDDEN or more */
    int64_t peak_usage;
    int64_t peak_time; /* the first moment with that usage; 0 where nothing is ever live */
    bool is_feasible;  /* nothing is forbidden, and the choice fits */
} GraphValue;

static inline int graph_strategies(const StrategyGraph *graph, int node) {
    return (int)(graph->strategy_start[node + 1] - graph->strategy_start[node]);
}

/* Computes the cost and usage of a choice (a strategy of each node, in range) in whole numbers: every cost that is
 * printed comes from here. False means that memory is out. */
bool graph_evaluate(const StrategyGraph *graph, const int *choice, GraphValue *value, Error *error);

/* Reads a strategy graph from the JSON of the public contest (google/iopddl):
 *  {"problem": {"name": TEXT, "nodes": {"intervals": [[from, to], ...], "costs": [[...], ...], "usages": [[...], ...]},
 *               "edges": {"nodes": [[first, second], ...], "costs": [[...], ...]}, "usage_limit": NUMBER}}
 * Keys may stand in any order; "name" and "usage_limit" may be missing; other keys are passed over. Numbers are whole,
 * 0 to 2^63 - 1. An edge's costs are its matrix by rows, with a row for each strategy of the node named first.
 *
 * Makes one pass over `length` bytes, from digits straight to numbers (a file of 100 MB takes about a quarter of a
 * second). It takes at most 16 bytes for each number and 32 for each row, and accepts at most 2^28 numbers and 2^25
 * rows in a list. Errors of every kind, also sizes that do not match, are ERROR_INPUT at "where:line:column".
 * graph_free() frees the graph, also after a failure. */
bool graph_read(const char *text, size_t length, const char *where, StrategyGraph *graph, Error *error);
void graph_free(StrategyGraph *graph);
