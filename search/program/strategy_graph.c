/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/util.h"
#include "search/program/strategies.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SPECS = 1 << (SPEC_BITS + LOGICAL_MAX) };
static const int64_t ENTRIES_MAX = INT64_C(1) << 27; /* 1 GB of them */
static const double UNIT_SECONDS = 1e-12;

/* The distinct shardings among a node's strategies, and which of them each strategy has. */
typedef struct {
    int count;
    Spec spec[SPECS];
    int16_t number[SPECS]; /* of a sharding; -1: not met */
    int16_t *of;           /* of each strategy */
    int64_t room;
} Distinct;

static void note(Distinct *distinct, int at, Spec spec) {
    if (distinct->number[spec] < 0) {
        distinct->number[spec] = (int16_t)distinct->count;
        distinct->spec[distinct->count++] = spec;
    }
    distinct->of[at] = distinct->number[spec];
}

static void forget(Distinct *distinct) {
    for (int i = 0; i < distinct->count; i++) distinct->number[distinct->spec[i]] = -1;
    distinct->count = 0;
}

typedef struct {
    const Setting *setting;
    const StrategyLists *lists;
    StrategyGraph *graph;
    double scale; /* costs of a second */
    Distinct have, need;
    double *moved; /* between distinct shardings */
    int64_t moved_room;
    int64_t entry_room;
    Error *error;
} Filling;

static int64_t as_cost(const Filling *filling, double seconds, double trips) {
    return isinf(seconds) ? GRAPH_FORBIDDEN : (int64_t)(seconds * trips * filling->scale + 0.5);
}

/* A copy of an argument is no other buffer where it is sharded alike, as it is where each chip has but its part. */
static double usage_bytes(const Setting *setting, const FlowNode *node, Spec spec) {
    double bytes = held_bytes(setting, node, spec), devices = (double)setting->machine->mesh.devices;
    if (node->kind == FLOW_ARGUMENT) return bytes;
    if (node->copied >= 0 && setting->flow->node[node->copied].kind == FLOW_ARGUMENT)
        bytes *= 1 - (double)spec_ways(setting->mesh, spec) / devices;
    return bytes * setting->caution + (setting->caution > 1 ? padding_bytes(setting, node, spec) : 0);
}

static bool fill_nodes(Filling *filling) {
    const Flow *flow = filling->setting->flow;
    StrategyGraph *graph = filling->graph;
    size_t nodes = (size_t)flow->nodes, strategies = (size_t)filling->lists->count;
    graph->node_count = (int)nodes;
    graph->strategy_start = calloc(nodes + 1, sizeof(int64_t));
    graph->cost = calloc(strategies + 1, sizeof(int64_t));
    graph->usage = calloc(strategies + 1, sizeof(int64_t));
    graph->live_from = calloc(nodes + 1, sizeof(int64_t));
    graph->live_to = calloc(nodes + 1, sizeof(int64_t));
    if (!graph->strategy_start || !graph->cost || !graph->usage || !graph->live_from || !graph->live_to)
        return error_memory(filling->error);
    for (size_t i = 0; i < nodes; i++) {
        const FlowNode *node = &flow->node[i];
        graph->live_from[i] = node->from;
        graph->live_to[i] = node->to > node->from ? node->to : node->from + 1;
        graph->strategy_start[i + 1] = filling->lists->start[i + 1];
        for (int s = filling->lists->start[i]; s < filling->lists->start[i + 1]; s++) {
            const Strategy *strategy = &filling->lists->strategy[s];
            graph->cost[s] = as_cost(filling, strategy->seconds, node->trips);
            graph->usage[s] = (int64_t)(usage_bytes(filling->setting, node, strategy->out) + 0.5);
        }
        if (node->copied < 0 || flow->node[node->copied].kind == FLOW_ARGUMENT) continue;
        int64_t *ends = &graph->live_to[node->copied]; /* no more than what is held: the copy may be the same buffer */
        *ends = max_whole(graph->live_from[node->copied] + 1, min_whole(*ends, node->from));
    }
    return true;
}

static bool scratch_for(Filling *filling, int have, int need) {
    Distinct *lists[] = {&filling->have, &filling->need};
    int counts[] = {have, need};
    for (int i = 0; i < 2; i++)
        while (lists[i]->room < counts[i])
            if (!list_grow((void **)&lists[i]->of, lists[i]->room, &lists[i]->room, sizeof(int16_t)))
                return error_memory(filling->error);
    return true;
}

static bool room_for_entries(Filling *filling, int64_t end) {
    if (end > ENTRIES_MAX)
        return error_set(filling->error, ERROR_INPUT, "program", "too large a graph of shardings; give fewer --axes");
    while (filling->entry_room < end)
        if (!list_grow((void **)&filling->graph->entry, filling->entry_room, &filling->entry_room, sizeof(int64_t)))
            return error_memory(filling->error);
    return true;
}

static void end_edge(StrategyGraph *graph, int from, int to, int64_t end) {
    graph->edge_first[graph->edge_count] = from;
    graph->edge_second[graph->edge_count] = to;
    graph->entry_start[++graph->edge_count] = end;
}

static bool fill_edge(Filling *filling, int64_t at) {
    const Flow *flow = filling->setting->flow;
    const StrategyLists *lists = filling->lists;
    const FlowEdge *edge = &flow->edge[at];
    StrategyGraph *graph = filling->graph;
    int from = lists->start[edge->from], to = lists->start[edge->to];
    int have = lists->start[edge->from + 1] - from, need = lists->start[edge->to + 1] - to;
    int64_t begin = graph->entry_start[graph->edge_count];
    if (!room_for_entries(filling, begin + (int64_t)have * need) || !scratch_for(filling, have, need)) return false;
    for (int i = 0; i < have; i++) note(&filling->have, i, lists->strategy[from + i].out);
    for (int k = 0; k < need; k++) note(&filling->need, k, edge_need(lists, flow, edge, at, &lists->strategy[to + k]));
    int columns = filling->need.count;
    while (filling->moved_room < (int64_t)filling->have.count * columns)
        if (!list_grow((void **)&filling->moved, filling->moved_room, &filling->moved_room, sizeof(double)))
            return error_memory(filling->error);
    bool any = false;
    for (int i = 0; i < filling->have.count; i++)
        for (int k = 0; k < columns; k++) {
            double seconds = edge_seconds(filling->setting, edge, filling->have.spec[i], filling->need.spec[k], NULL);
            filling->moved[i * columns + k] = seconds;
            any = any || seconds > 0;
        }
    for (int i = 0; i < have && any; i++)
        for (int k = 0; k < need; k++)
            graph->entry[begin + (int64_t)i * need + k] =
                as_cost(filling, filling->moved[filling->have.of[i] * columns + filling->need.of[k]], edge->trips);
    forget(&filling->have);
    forget(&filling->need);
    if (!any) return true;
    end_edge(graph, edge->from, edge->to, begin + (int64_t)have * need);
    return true;
}

bool strategies_graph(const Setting *setting, const StrategyLists *lists, StrategyGraph *out, double *unit,
                      Error *error) {
    const Flow *flow = setting->flow;
    size_t edges = (size_t)flow->edges + 1;
    *out = (StrategyGraph){.usage_limit = INT64_MAX};
    *unit = UNIT_SECONDS;
    Filling *filling = calloc(1, sizeof *filling);
    if (!filling) return error_memory(error);
    *filling = (Filling){.setting = setting, .lists = lists, .graph = out, .scale = 1 / UNIT_SECONDS, .error = error};
    memset(filling->have.number, -1, sizeof filling->have.number);
    memset(filling->need.number, -1, sizeof filling->need.number);
    out->edge_first = calloc(edges, sizeof(int64_t));
    out->edge_second = calloc(edges, sizeof(int64_t));
    out->entry_start = calloc(edges + 1, sizeof(int64_t));
    bool ok = out->edge_first && out->edge_second && out->entry_start ? fill_nodes(filling) : error_memory(error);
    for (int64_t i = 0; i < flow->edges && ok; i++) ok = fill_edge(filling, i);
    free(filling->have.of);
    free(filling->need.of);
    free(filling->moved);
    free(filling);
    return ok;
}
