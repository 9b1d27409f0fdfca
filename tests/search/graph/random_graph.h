/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small strategy graphs at random, and their optimum by trying every choice: this code shares nothing with the
 * solver. */
#pragma once

#include "search/graph/problem.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    uint64_t state;
} GraphDraw;

static inline int64_t draw(GraphDraw *draws, int64_t limit) {
    draws->state = draws->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((draws->state >> 33) % (uint64_t)limit);
}

typedef struct {
    int nodes_max, strategies_max, edges_max;
    int64_t cost_max;
    int forbidden_percent, tied_percent, horizon;
} RandomShape;

/* The graph lies in the arena. A node in four is never in memory; edges repeat, run both ways and lead back to their
 * node. A tied edge has one finite entry in each row. Limits are tight: somewhere between the least and the most that
 * can be live. */
static inline StrategyGraph random_graph(GraphDraw *draws, RandomShape shape, Arena *arena) {
    StrategyGraph graph = {.node_count = 1 + (int)draw(draws, shape.nodes_max)};
    int n = graph.node_count;
    graph.edge_count = (int)draw(draws, shape.edges_max + 1);
    graph.strategy_start = ARENA_NEW(arena, int64_t, n + 1);
    graph.live_from = ARENA_NEW(arena, int64_t, n);
    graph.live_to = ARENA_NEW(arena, int64_t, n);
    for (int i = 0; i < n; i++) {
        graph.strategy_start[i + 1] = graph.strategy_start[i] + 1 + draw(draws, shape.strategies_max);
        graph.live_from[i] = draw(draws, shape.horizon);
        graph.live_to[i] = graph.live_from[i] + (draw(draws, 4) ? draw(draws, shape.horizon) : 0);
    }
    int64_t strategies = graph.strategy_start[n], usage_total = 0;
    graph.cost = ARENA_NEW(arena, int64_t, strategies);
    graph.usage = ARENA_NEW(arena, int64_t, strategies);
    for (int64_t s = 0; s < strategies; s++) {
        graph.cost[s] = draw(draws, 100) < shape.forbidden_percent / 4 ? GRAPH_FORBIDDEN : draw(draws, shape.cost_max);
        graph.usage[s] = draw(draws, 50);
        usage_total += graph.usage[s];
    }
    graph.edge_first = ARENA_NEW(arena, int64_t, graph.edge_count);
    graph.edge_second = ARENA_NEW(arena, int64_t, graph.edge_count);
    graph.entry_start = ARENA_NEW(arena, int64_t, graph.edge_count + 1);
    for (int e = 0; e < graph.edge_count; e++) {
        graph.edge_first[e] = (int64_t)draw(draws, n);
        graph.edge_second[e] = (int64_t)draw(draws, n);
        graph.entry_start[e + 1] = graph.entry_start[e] + (int64_t)graph_strategies(&graph, (int)graph.edge_first[e]) *
                                                              graph_strategies(&graph, (int)graph.edge_second[e]);
    }
    graph.entry = ARENA_NEW(arena, int64_t, graph.entry_start[graph.edge_count]);
    for (int e = 0; e < graph.edge_count; e++) {
        int rows = graph_strategies(&graph, (int)graph.edge_first[e]),
            columns = graph_strategies(&graph, (int)graph.edge_second[e]);
        bool tied = draw(draws, 100) < shape.tied_percent;
        for (int s = 0; s < rows; s++) {
            int64_t partner = tied ? draw(draws, columns) : -1;
            for (int t = 0; t < columns; t++) {
                bool forbidden = tied ? t != partner : draw(draws, 100) < shape.forbidden_percent;
                graph.entry[graph.entry_start[e] + s * columns + t] = forbidden        ? GRAPH_FORBIDDEN
                                                                      : draw(draws, 5) ? draw(draws, shape.cost_max)
                                                                                       : 0;
            }
        }
    }
    graph.is_limited = draw(draws, 8) > 0;
    graph.usage_limit = graph.is_limited ? draw(draws, usage_total / 2 + 2) : INT64_MAX;
    return graph;
}

/* Cost of a choice; -1 means forbidden, or too full at some moment. */
static inline int64_t value_of(const StrategyGraph *graph, const int *choice, int64_t horizon) {
    int64_t cost = 0;
    for (int i = 0; i < graph->node_count; i++) {
        int64_t own = graph->cost[graph->strategy_start[i] + choice[i]];
        if (own >= GRAPH_FORBIDDEN) return -1;
        cost += own;
    }
    for (int e = 0; e < graph->edge_count; e++) {
        int a = (int)graph->edge_first[e], b = (int)graph->edge_second[e];
        int64_t own = graph->entry[graph->entry_start[e] + (int64_t)choice[a] * graph_strategies(graph, b) + choice[b]];
        if (own >= GRAPH_FORBIDDEN) return -1;
        cost += own;
    }
    for (int64_t time = 0; time < 2 * horizon; time++) {
        int64_t usage = 0;
        for (int i = 0; i < graph->node_count; i++)
            if (graph->live_from[i] <= time && time < graph->live_to[i])
                usage += graph->usage[graph->strategy_start[i] + choice[i]];
        if (usage > graph->usage_limit) return -1;
    }
    return cost;
}

/* The least cost of all choices; -1 means that none fits. */
static inline int64_t optimum_of(const StrategyGraph *graph, int64_t horizon) {
    int choice[64] = {0};
    int64_t best = -1;
    for (int i = 0; i < graph->node_count;) {
        int64_t cost = value_of(graph, choice, horizon);
        if (cost >= 0 && (best < 0 || cost < best)) best = cost;
        for (i = 0; i < graph->node_count && ++choice[i] == graph_strategies(graph, i); i++) choice[i] = 0;
    }
    return best;
}
