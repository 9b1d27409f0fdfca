/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/graph/reduction.h"

#include "base/util.h"

#include <stdlib.h>
#include <string.h>

void reduction_tidy(Reduction *reduction, int node) {
    ReducedNode *n = &reduction->nodes[node];
    int kept = 0;
    for (int k = 0; k < n->degree; k++)
        if (!reduction->edges[n->edges[k]].gone) n->edges[kept++] = n->edges[k];
    n->degree = kept;
}

void reduction_enqueue(Reduction *reduction, int edge) {
    ReducedEdge *e = &reduction->edges[edge];
    if (e->queued || e->gone) return;
    e->queued = true;
    reduction->queue[(reduction->queue_first + reduction->queue_count++) % reduction->edge_room] = edge;
}

static void add_to_list(Reduction *reduction, int node, int edge) {
    ReducedNode *n = &reduction->nodes[node];
    if (n->degree == n->degree_room) {
        int room = n->degree_room ? 2 * n->degree_room : 8;
        n->edges = workspace_grow(reduction->space, n->edges, (size_t)n->degree_room, (size_t)room, sizeof *n->edges);
        n->degree_room = room;
    }
    n->edges[n->degree++] = edge;
}

void reduction_drop_edge(Reduction *reduction, int edge) {
    ReducedEdge *e = &reduction->edges[edge];
    e->gone = true;
    workspace_give(reduction->space, e->cost, e->room, sizeof *e->cost);
    e->cost = NULL;
}

static int find_edge(Reduction *reduction, int a, int b) {
    if (reduction->nodes[a].degree > reduction->nodes[b].degree) {
        int t = a;
        a = b;
        b = t;
    }
    reduction_tidy(reduction, a);
    const ReducedNode *n = &reduction->nodes[a];
    for (int k = 0; k < n->degree; k++)
        if (edge_other(&reduction->edges[n->edges[k]], a) == b) return n->edges[k];
    return -1;
}

/* The ring has the length of the list of edges, so that each edge fits once. */
static int new_edge(Reduction *reduction) {
    if (reduction->edge_count < reduction->edge_room) return reduction->edge_count++;
    int old = reduction->edge_room, room = 2 * old + 64;
    int *queue = workspace_take(reduction->space, (size_t)room, sizeof *queue);
    for (int k = 0; k < reduction->queue_count; k++) queue[k] = reduction->queue[(reduction->queue_first + k) % old];
    workspace_give(reduction->space, reduction->queue, (size_t)old, sizeof *queue);
    reduction->edges =
        workspace_grow(reduction->space, reduction->edges, (size_t)old, (size_t)room, sizeof *reduction->edges);
    reduction->queue = queue;
    reduction->queue_first = 0;
    reduction->edge_room = room;
    return reduction->edge_count++;
}

void reduction_join(Reduction *reduction, int a, int b, int64_t *cost, size_t room) {
    int edge = find_edge(reduction, a, b), ka = reduction->nodes[a].states, kb = reduction->nodes[b].states;
    if (edge < 0) {
        edge = new_edge(reduction);
        reduction->edges[edge] = (ReducedEdge){.end = {a, b}, .cost = cost, .room = room};
        add_to_list(reduction, a, edge);
        add_to_list(reduction, b, edge);
    } else {
        ReducedEdge *e = &reduction->edges[edge];
        bool same = e->end[0] == a;
        for (int s = 0; s < ka; s++)
            for (int t = 0; t < kb; t++) {
                int64_t *entry =
                    same ? &e->cost[(size_t)s * (size_t)kb + (size_t)t] : &e->cost[(size_t)t * (size_t)ka + (size_t)s];
                *entry = cost_sum(*entry, cost[(size_t)s * (size_t)kb + (size_t)t]);
            }
        workspace_give(reduction->space, cost, room, sizeof *cost);
    }
    reduction_enqueue(reduction, edge);
}

int *reduction_step(Reduction *reduction, int node, int a, int b, int columns, int size) {
    if (reduction->step_count == reduction->step_room) {
        int room = 2 * reduction->step_room + 1024;
        reduction->steps = workspace_grow(reduction->space, reduction->steps, (size_t)reduction->step_room,
                                          (size_t)room, sizeof *reduction->steps);
        reduction->step_room = room;
    }
    int *map = workspace_take(reduction->space, (size_t)size, sizeof *map);
    reduction->steps[reduction->step_count++] = (ReduceStep){node, a, b, columns, map, size};
    return map;
}

/* Closes up the rows or columns of a matrix, in place. */
static void shrink_edge(Reduction *reduction, ReducedEdge *edge, int node, const int *map, int kept) {
    int columns = reduction->nodes[edge->end[1]].states, rows = reduction->nodes[edge->end[0]].states;
    if (edge->end[0] == node) {
        for (int s = 0; s < kept; s++)
            memmove(edge->cost + (size_t)s * (size_t)columns, edge->cost + (size_t)map[s] * (size_t)columns,
                    (size_t)columns * sizeof *edge->cost);
        return;
    }
    int64_t *to = edge->cost;
    for (int s = 0; s < rows; s++)
        for (int t = 0; t < kept; t++) *to++ = edge->cost[(size_t)s * (size_t)columns + (size_t)map[t]];
}

bool reduction_keep_some(Reduction *reduction, int node, const bool *keep) {
    ReducedNode *n = &reduction->nodes[node];
    int kept = 0;
    for (int s = 0; s < n->states; s++) kept += keep[s];
    if (kept == n->states) return false;
    if (kept == 0) {
        reduction->infeasible = true;
        reduction->empty_node = node;
        return true;
    }
    int *map = reduction_step(reduction, node, node, -1, 1, kept);
    for (int s = 0, k = 0; s < n->states; s++)
        if (keep[s]) map[k++] = s;
    reduction_tidy(reduction, node);
    for (int k = 0; k < n->degree; k++) {
        shrink_edge(reduction, &reduction->edges[n->edges[k]], node, map, kept);
        reduction_enqueue(reduction, n->edges[k]);
    }
    for (int s = 0; s < kept; s++) n->cost[s] = n->cost[map[s]];
    for (int i = 0; i < n->item_count; i++)
        for (int s = 0; s < kept; s++) n->items[i].usage[s] = n->items[i].usage[map[s]];
    n->states = kept;
    return true;
}

void reduction_keep(Reduction *reduction, int node, const bool *keep) {
    if (!reduction->infeasible) reduction_keep_some(reduction, node, keep);
}

void reduction_forbid(Reduction *reduction, int edge, int state_a, int state_b) {
    ReducedEdge *e = &reduction->edges[edge];
    e->cost[(size_t)state_a * (size_t)reduction->nodes[e->end[1]].states + (size_t)state_b] = INFINITE_COST;
    reduction_enqueue(reduction, edge);
}

/* ---- from the input ---- */

static int slot_of(const Reduction *reduction, int64_t time) {
    int low = 0, high = reduction->slots;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (reduction->slot_time[middle] < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_live(const StrategyGraph *graph, int node) { return graph->live_from[node] < graph->live_to[node]; }

static void make_slots(Reduction *reduction) {
    const StrategyGraph *graph = reduction->graph;
    int count = 0, different = 0;
    int64_t *times = WORKSPACE_NEW(reduction->space, int64_t, 2 * (size_t)graph->node_count + 1);
    for (int i = 0; i < graph->node_count; i++) {
        if (!is_live(graph, i)) continue;
        times[count++] = graph->live_from[i];
        times[count++] = graph->live_to[i];
    }
    qsort(times, (size_t)count, sizeof *times, order_whole);
    for (int i = 0; i < count; i++)
        if (i == 0 || times[i] != times[i - 1]) times[different++] = times[i];
    reduction->slot_time = times;
    reduction->slots = different > 0 ? different - 1 : 0;
    reduction->base = WORKSPACE_NEW(reduction->space, int64_t, reduction->slots + 1);
}

/* A strategy that alone takes more than the limit is never chosen; its usage, which may be any number, is cut here. */
static void make_node(Reduction *reduction, int i) {
    const StrategyGraph *graph = reduction->graph;
    ReducedNode *node = &reduction->nodes[i];
    const int64_t *cost = graph->cost + graph->strategy_start[i], *usage = graph->usage + graph->strategy_start[i];
    bool live = graph->is_limited && is_live(graph, i);
    node->states = graph_strategies(graph, i);
    node->cost = workspace_take(reduction->space, (size_t)node->states, sizeof *node->cost);
    if (live) {
        node->items = workspace_take(reduction->space, 1, sizeof *node->items);
        node->item_count = node->item_room = 1;
        node->items[0] = (MemoryItem){slot_of(reduction, graph->live_from[i]), slot_of(reduction, graph->live_to[i]),
                                      workspace_take(reduction->space, (size_t)node->states, sizeof(int64_t))};
    }
    for (int s = 0; s < node->states; s++) {
        bool fits = !live || usage[s] <= graph->usage_limit;
        node->cost[s] = cost[s] >= GRAPH_FORBIDDEN || !fits ? INFINITE_COST : cost[s];
        if (live) node->items[0].usage[s] = fits ? usage[s] : 0;
    }
}

static void make_edge(Reduction *reduction, int i) {
    const StrategyGraph *graph = reduction->graph;
    int a = (int)graph->edge_first[i], b = (int)graph->edge_second[i];
    const int64_t *entry = graph->entry + graph->entry_start[i];
    size_t size = (size_t)(graph->entry_start[i + 1] - graph->entry_start[i]);
    if (a == b) { /* an edge from a node to itself: the diagonal is a cost of the node */
        ReducedNode *node = &reduction->nodes[a];
        for (int s = 0; s < node->states; s++) {
            int64_t own = entry[(size_t)s * (size_t)node->states + (size_t)s];
            node->cost[s] = cost_sum(node->cost[s], own >= GRAPH_FORBIDDEN ? INFINITE_COST : own);
        }
        return;
    }
    int64_t *cost = workspace_take(reduction->space, size, sizeof *cost);
    for (size_t k = 0; k < size; k++) cost[k] = entry[k] >= GRAPH_FORBIDDEN ? INFINITE_COST : entry[k];
    reduction_join(reduction, a, b, cost, size);
}

Reduction *reduction_new(const StrategyGraph *graph, Workspace *space) {
    Reduction *reduction = WORKSPACE_NEW(space, Reduction, 1);
    int states_max = 1;
    *reduction = (Reduction){.space = space, .graph = graph, .node_count = graph->node_count, .empty_node = -1};
    for (int i = 0; i < graph->node_count; i++)
        if (graph_strategies(graph, i) > states_max) states_max = graph_strategies(graph, i);
    reduction->count_a = WORKSPACE_NEW(space, int, states_max);
    reduction->count_b = WORKSPACE_NEW(space, int, states_max);
    reduction->last_a = WORKSPACE_NEW(space, int, states_max);
    reduction->last_b = WORKSPACE_NEW(space, int, states_max);
    reduction->keep = WORKSPACE_NEW(space, bool, states_max);
    reduction->nodes = WORKSPACE_NEW(space, ReducedNode, graph->node_count);
    reduction->edge_room = graph->edge_count + 64;
    reduction->edges = WORKSPACE_NEW(space, ReducedEdge, reduction->edge_room);
    reduction->queue = WORKSPACE_NEW(space, int, reduction->edge_room);
    make_slots(reduction);
    for (int i = 0; i < graph->node_count; i++) make_node(reduction, i);
    for (int i = 0; i < graph->edge_count; i++) make_edge(reduction, i);
    for (int i = 0; i < graph->node_count && !reduction->infeasible; i++) {
        for (int s = 0; s < reduction->nodes[i].states; s++)
            reduction->keep[s] = !is_infinite(reduction->nodes[i].cost[s]);
        reduction_keep_some(reduction, i, reduction->keep);
    }
    return reduction;
}

/* ---- and back ---- */

void reduction_expand(const Reduction *reduction, int *choice) {
    for (int k = reduction->step_count - 1; k >= 0; k--) {
        const ReduceStep *step = &reduction->steps[k];
        int a = step->a < 0 ? 0 : choice[step->a], b = step->b < 0 ? 0 : choice[step->b];
        choice[step->node] = step->map[a * step->columns + b];
    }
}

bool reduction_project(const Reduction *reduction, const int *strategies, int *choice) {
    for (int i = 0; i < reduction->node_count; i++) choice[i] = strategies[i];
    for (int k = 0; k < reduction->step_count; k++) {
        const ReduceStep *step = &reduction->steps[k];
        if (step->a != step->node) continue; /* the node is gone; its remainder is in the others */
        int s = 0;
        while (s < step->map_size && step->map[s] != choice[step->node]) s++;
        if (s == step->map_size) return false;
        choice[step->node] = s;
    }
    return true;
}
