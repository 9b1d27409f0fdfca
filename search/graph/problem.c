/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/graph/problem.h"

#include <stdlib.h>

typedef struct {
    int64_t time, change;
} Event;

static int by_time(const void *a, const void *b) {
    int64_t x = ((const Event *)a)->time, y = ((const Event *)b)->time;
    return (x > y) - (x < y);
}

static void find_peak(Event *events, size_t count, GraphValue *value) {
    int64_t usage = 0;
    qsort(events, count, sizeof *events, by_time);
    for (size_t i = 0; i < count;) {
        int64_t time = events[i].time;
        while (i < count && events[i].time == time) usage += events[i++].change;
        if (usage <= value->peak_usage) continue;
        value->peak_usage = usage;
        value->peak_time = time;
    }
}

static void count_costs(const StrategyGraph *graph, const int *choice, GraphValue *value) {
    for (int node = 0; node < graph->node_count; node++) {
        int64_t cost = graph->cost[graph->strategy_start[node] + choice[node]];
        value->cost += cost;
        value->forbidden += cost >= GRAPH_FORBIDDEN;
    }
    for (int edge = 0; edge < graph->edge_count; edge++) {
        int first = graph->edge_first[edge], second = graph->edge_second[edge];
        int64_t cost = graph->entry[graph->entry_start[edge] +
                                    (int64_t)choice[first] * graph_strategies(graph, second) + choice[second]];
        value->cost += cost;
        value->forbidden += cost >= GRAPH_FORBIDDEN;
    }
}

bool graph_evaluate(const StrategyGraph *graph, const int *choice, GraphValue *value, Error *error) {
    Event *events = malloc((2 * (size_t)graph->node_count + 1) * sizeof *events);
    size_t count = 0;
    if (!events) return error_memory(error);
    *value = (GraphValue){0};
    count_costs(graph, choice, value);
    for (int node = 0; node < graph->node_count; node++) {
        int64_t usage = graph->usage[graph->strategy_start[node] + choice[node]];
        if (graph->live_from[node] >= graph->live_to[node] || usage == 0) continue;
        events[count++] = (Event){graph->live_from[node], usage};
        events[count++] = (Event){graph->live_to[node], -usage};
    }
    find_peak(events, count, value);
    free(events);
    value->is_feasible = value->forbidden == 0 && value->peak_usage <= graph->usage_limit;
    return true;
}
