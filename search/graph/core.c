/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/graph/core.h"

#include "base/util.h"
#include "search/graph/reduction.h"

#include <stdlib.h>
#include <string.h>

static int rounded_up(int count) { return (count + CORE_LANES - 1) / CORE_LANES * CORE_LANES; }

static void copy_nodes(Core *core, const Reduction *reduction, Workspace *space, int *core_of) {
    for (int i = 0; i < reduction->node_count; i++) {
        core_of[i] = -1;
        if (!reduction->nodes[i].gone) core_of[i] = core->nodes++;
    }
    core->node_of = WORKSPACE_NEW(space, int, core->nodes);
    core->count = WORKSPACE_NEW(space, int, core->nodes);
    core->width = WORKSPACE_NEW(space, int, core->nodes);
    core->at = WORKSPACE_NEW(space, int, core->nodes + 1);
    for (int i = 0; i < reduction->node_count; i++) {
        int c = core_of[i];
        if (c < 0) continue;
        core->node_of[c] = i;
        core->count[c] = reduction->nodes[i].states;
        core->width[c] = rounded_up(core->count[c]);
        core->at[c + 1] = core->at[c] + core->width[c];
        core->states += core->count[c];
        if (core->count[c] > core->states_max) core->states_max = core->count[c];
    }
    core->cost = WORKSPACE_NEW(space, int64_t, core->at[core->nodes]);
    for (int c = 0; c < core->nodes; c++)
        memcpy(core->cost + core->at[c], reduction->nodes[core->node_of[c]].cost,
               (size_t)core->count[c] * sizeof *core->cost);
}

static int by_ends(const void *a, const void *b) {
    const int *x = a, *y = b;
    for (int k = 0; k < 2; k++)
        if (x[k] != y[k]) return (x[k] > y[k]) - (x[k] < y[k]);
    return 0;
}

/* Edges are ordered by their ends, so that nothing depends on the order in which reductions made them. */
static void copy_edges(Core *core, const Reduction *reduction, Workspace *space, const int *core_of) {
    int(*ends)[3] = workspace_take(space, (size_t)reduction->edge_count + 1, sizeof *ends);
    for (int e = 0; e < reduction->edge_count; e++) {
        if (reduction->edges[e].gone) continue;
        int a = core_of[reduction->edges[e].end[0]], b = core_of[reduction->edges[e].end[1]];
        ends[core->edges][0] = a < b ? a : b;
        ends[core->edges][1] = a < b ? b : a;
        ends[core->edges++][2] = e;
    }
    qsort(ends, (size_t)core->edges, sizeof *ends, by_ends);
    core->edge_of = WORKSPACE_NEW(space, int, core->edges);
    core->edge_u = WORKSPACE_NEW(space, int, core->edges);
    core->edge_v = WORKSPACE_NEW(space, int, core->edges);
    core->edge_flipped = WORKSPACE_NEW(space, bool, core->edges);
    core->entry_start = WORKSPACE_NEW(space, size_t, core->edges + 1);
    for (int e = 0; e < core->edges; e++) {
        core->edge_u[e] = ends[e][0];
        core->edge_v[e] = ends[e][1];
        core->edge_of[e] = ends[e][2];
        core->edge_flipped[e] = core_of[reduction->edges[ends[e][2]].end[0]] != ends[e][0];
        core->entry_start[e + 1] =
            core->entry_start[e] + (size_t)core->count[ends[e][0]] * (size_t)core->count[ends[e][1]];
    }
    core->entry = WORKSPACE_NEW(space, int64_t, core->entry_start[core->edges] + 1);
    for (int e = 0; e < core->edges; e++) {
        const ReducedEdge *edge = &reduction->edges[core->edge_of[e]];
        int u = core->edge_u[e], v = core->edge_v[e];
        int64_t *entry = core->entry + core->entry_start[e];
        for (int s = 0; s < core->count[u]; s++)
            for (int t = 0; t < core->count[v]; t++) *entry++ = edge_cost(reduction, edge, core->node_of[u], s, t);
    }
    workspace_give(space, ends, (size_t)reduction->edge_count + 1, sizeof *ends);
}

/* The least of each row goes to the row's node, then the least of each column, then that of each node to the constant:
 * the sums stay the same with smaller numbers. */
static void normalise(Core *core) {
    for (int e = 0; e < core->edges; e++) {
        int rows = core->count[core->edge_u[e]], columns = core->count[core->edge_v[e]];
        int64_t *entry = core->entry + core->entry_start[e];
        int64_t *cost_u = core->cost + core->at[core->edge_u[e]], *cost_v = core->cost + core->at[core->edge_v[e]];
        for (int s = 0; s < rows; s++) {
            int64_t least = INFINITE_COST, *row = entry + (size_t)s * (size_t)columns;
            for (int t = 0; t < columns; t++) least = min_whole(least, row[t]);
            for (int t = 0; t < columns; t++)
                if (!is_infinite(row[t])) row[t] -= least;
            cost_u[s] = cost_sum(cost_u[s], least);
        }
        for (int t = 0; t < columns; t++) {
            int64_t least = INFINITE_COST;
            for (int s = 0; s < rows; s++) least = min_whole(least, entry[(size_t)s * (size_t)columns + (size_t)t]);
            for (int s = 0; s < rows; s++)
                if (!is_infinite(entry[(size_t)s * (size_t)columns + (size_t)t]))
                    entry[(size_t)s * (size_t)columns + (size_t)t] -= least;
            cost_v[t] = cost_sum(cost_v[t], least);
        }
    }
    for (int i = 0; i < core->nodes; i++) {
        int64_t *cost = core->cost + core->at[i], least = INFINITE_COST;
        for (int s = 0; s < core->count[i]; s++) least = min_whole(least, cost[s]);
        for (int s = 0; s < core->count[i]; s++)
            if (!is_infinite(cost[s])) cost[s] -= least;
        core->constant += least;
    }
}

/* Edges are in the order of their ends, so that the arcs of a node come in the order of the others: first to those
 * before it, then to those behind it. */
static void make_arcs(Core *core, Workspace *space) {
    int *earlier = WORKSPACE_NEW(space, int, core->nodes + 1), *later = WORKSPACE_NEW(space, int, core->nodes + 1);
    core->arc_start = WORKSPACE_NEW(space, int, core->nodes + 1);
    core->arc_later = WORKSPACE_NEW(space, int, core->nodes);
    core->arcs = WORKSPACE_NEW(space, CoreArc, 2 * (size_t)core->edges + 1);
    for (int e = 0; e < core->edges; e++) {
        earlier[core->edge_v[e]]++;
        later[core->edge_u[e]]++;
    }
    for (int i = 0; i < core->nodes; i++) {
        core->arc_later[i] = core->arc_start[i] + earlier[i];
        core->arc_start[i + 1] = core->arc_later[i] + later[i];
        earlier[i] = core->arc_start[i]; /* from here on: the next of each kind */
        later[i] = core->arc_later[i];
    }
    for (int e = 0; e < core->edges; e++) {
        int u = core->edge_u[e], v = core->edge_v[e], from_u = later[u]++, from_v = earlier[v]++;
        core->arcs[from_u] = (CoreArc){.other = v, .edge = e, .back = from_v};
        core->arcs[from_v] = (CoreArc){.other = u, .edge = e, .back = from_u};
    }
    for (int i = 0; i < core->nodes; i++)
        for (int k = core->arc_start[i]; k < core->arc_start[i + 1]; k++) {
            CoreArc *arc = &core->arcs[k];
            arc->message = core->message_size;
            arc->matrix = core->matrix_size;
            core->message_size += (size_t)core->width[arc->other];
            core->matrix_size += (size_t)core->count[i] * (size_t)core->width[arc->other];
        }
    workspace_give(space, earlier, (size_t)core->nodes + 1, sizeof *earlier);
    workspace_give(space, later, (size_t)core->nodes + 1, sizeof *later);
}

/* ---- moments ---- */

/* A slot whose items are all live in a neighbour with at most its slack needs no row of its own. The pass goes over
 * slots in a chain: starts[t], ends[t] count items that begin or end between t and the slot before it. */
static int keep_slots(const Reduction *reduction, Workspace *space, int *kept) {
    int slots = reduction->slots, count = 0;
    int *starts = WORKSPACE_NEW(space, int, slots + 2), *ends = WORKSPACE_NEW(space, int, slots + 2);
    int *live = WORKSPACE_NEW(space, int, slots + 2);
    for (int i = 0; i < reduction->node_count; i++) {
        const ReducedNode *node = &reduction->nodes[i];
        for (int k = 0; k < node->item_count && !node->gone; k++) {
            starts[node->items[k].first]++;
            ends[node->items[k].past]++;
        }
    }
    for (int t = 0; t < slots; t++) live[t] = (t ? live[t - 1] : 0) + starts[t] - ends[t];
    /* kept[] is a stack; starts and ends of its top count from the slot below it. */
    for (int t = 0; t < slots; t++) {
        int begin = starts[t], end = ends[t];
        bool needed = live[t] > 0;
        while (count > 0) {
            int top = kept[count - 1];
            if (needed && end == 0 && reduction->base[t] >= reduction->base[top]) { /* top lies within t */
                begin += starts[top];
                end += ends[top];
                count--;
            } else if (needed && begin == 0 && reduction->base[top] >= reduction->base[t]) { /* t lies within top */
                needed = false;
            } else {
                break;
            }
        }
        if (needed) {
            starts[t] = begin;
            ends[t] = end;
            kept[count++] = t;
        } else if (t + 1 < slots) { /* the items that change at t change before the next slot */
            starts[t + 1] += begin;
            ends[t + 1] += end;
        }
    }
    workspace_give(space, starts, (size_t)slots + 2, sizeof *starts);
    workspace_give(space, ends, (size_t)slots + 2, sizeof *ends);
    workspace_give(space, live, (size_t)slots + 2, sizeof *live);
    return count;
}

/* Copies items over core times; items of a node with one interval become one. */
static void copy_items(Core *core, const Reduction *reduction, const int *time_of, MemoryItem *spans) {
    size_t used = 0;
    for (int c = 0; c < core->nodes; c++) {
        const ReducedNode *node = &reduction->nodes[core->node_of[c]];
        int count = 0;
        core->item_start[c] = core->items;
        for (int k = 0; k < node->item_count; k++) {
            MemoryItem span = {time_of[node->items[k].first], time_of[node->items[k].past], node->items[k].usage};
            if (span.first < span.past) spans[count++] = span;
        }
        qsort(spans, (size_t)count, sizeof *spans, memory_item_order);
        for (int k = 0; k < count; k++) {
            bool same = k > 0 && memory_item_order(&spans[k - 1], &spans[k]) == 0;
            if (!same) {
                core->item_first[core->items] = spans[k].first;
                core->item_past[core->items] = spans[k].past;
                core->item_usage[core->items++] = used;
                used += (size_t)core->width[c];
            }
            for (int s = 0; s < node->states; s++)
                core->usage[used - (size_t)core->width[c] + (size_t)s] += spans[k].usage[s];
        }
    }
    core->item_start[core->nodes] = core->items;
    core->item_usage[core->items] = used;
}

static void make_memory(Core *core, const Reduction *reduction, Workspace *space) {
    int slots = reduction->slots;
    size_t most = 1, items = 1, usages = 1; /* of one node; of all nodes, before items with one interval are joined */
    int *kept = WORKSPACE_NEW(space, int, slots + 1), *time_of = WORKSPACE_NEW(space, int, slots + 1);
    for (int c = 0; c < core->nodes; c++) {
        size_t count = (size_t)reduction->nodes[core->node_of[c]].item_count;
        most = count > most ? count : most;
        items += count;
        usages += count * (size_t)core->width[c];
    }
    MemoryItem *spans = WORKSPACE_NEW(space, MemoryItem, most);
    core->times = keep_slots(reduction, space, kept);
    core->slack = WORKSPACE_NEW(space, int64_t, core->times + 1);
    core->slot = WORKSPACE_NEW(space, int, core->times + 1);
    memcpy(core->slot, kept, (size_t)core->times * sizeof *kept);
    for (int t = 0, k = 0; t <= slots; t++) { /* the first kept slot from t on */
        time_of[t] = k;
        if (k == core->times || kept[k] != t) continue;
        core->slack[k] = reduction->graph->usage_limit - reduction->base[t];
        k++;
    }
    core->item_start = WORKSPACE_NEW(space, int, core->nodes + 1);
    core->item_first = WORKSPACE_NEW(space, int, items);
    core->item_past = WORKSPACE_NEW(space, int, items);
    core->item_usage = WORKSPACE_NEW(space, size_t, items);
    core->usage = WORKSPACE_NEW(space, int64_t, usages);
    copy_items(core, reduction, time_of, spans);
    workspace_give(space, spans, most, sizeof *spans);
    workspace_give(space, kept, (size_t)slots + 1, sizeof *kept);
    workspace_give(space, time_of, (size_t)slots + 1, sizeof *time_of);
}

Core *core_new(const Reduction *reduction, Workspace *space) {
    Core *core = WORKSPACE_NEW(space, Core, 1);
    int *core_of = WORKSPACE_NEW(space, int, reduction->node_count + 1);
    core->constant = reduction->constant;
    copy_nodes(core, reduction, space, core_of);
    copy_edges(core, reduction, space, core_of);
    normalise(core);
    make_arcs(core, space);
    make_memory(core, reduction, space);
    core->theta = WORKSPACE_NEW(space, double, core->at[core->nodes] + 1);
    core->matrix = WORKSPACE_NEW(space, double, core->matrix_size + 1);
    size_t usages = core->item_usage[core->items];
    core->usage_real = WORKSPACE_NEW(space, double, usages + 1);
    for (size_t k = 0; k < usages; k++) core->usage_real[k] = (double)core->usage[k];
    workspace_give(space, core_of, (size_t)reduction->node_count + 1, sizeof *core_of);
    return core;
}

void core_fill(Core *core, double cap) {
    core->cap = cap;
    for (int i = 0; i < core->nodes; i++)
        for (int s = 0; s < core->count[i]; s++)
            core->theta[core->at[i] + s] = min_real((double)core->cost[core->at[i] + s], cap);
    for (int i = 0; i < core->nodes; i++)
        for (int k = core->arc_start[i]; k < core->arc_start[i + 1]; k++) {
            const CoreArc *arc = &core->arcs[k];
            int j = arc->other, columns = core->count[j], rows = core->count[i];
            const int64_t *entry = core->entry + core->entry_start[arc->edge];
            double *matrix = core->matrix + arc->matrix;
            for (int s = 0; s < rows; s++)
                for (int t = 0; t < columns; t++) {
                    int64_t cost = i < j ? entry[(size_t)s * (size_t)columns + (size_t)t]
                                         : entry[(size_t)t * (size_t)rows + (size_t)s];
                    matrix[(size_t)s * (size_t)core->width[j] + (size_t)t] = min_real((double)cost, cap);
                }
        }
}

void core_profile(const Core *core, const int *choice, int64_t *profile) {
    memset(profile, 0, ((size_t)core->times + 1) * sizeof *profile);
    for (int i = 0; i < core->nodes; i++)
        for (int k = core->item_start[i]; k < core->item_start[i + 1]; k++) {
            int64_t usage = core->usage[core->item_usage[k] + (size_t)choice[i]];
            profile[core->item_first[k]] += usage;
            profile[core->item_past[k]] -= usage;
        }
    for (int t = 1; t < core->times; t++) profile[t] += profile[t - 1];
}

double core_cost_range(const Core *core) {
    double sum = 1;
    for (int i = 0; i < core->nodes; i++) {
        double largest = 0;
        for (int s = 0; s < core->count[i]; s++) largest = max_real(largest, (double)core->cost[core->at[i] + s]);
        sum += largest;
    }
    for (int e = 0; e < core->edges; e++) {
        double largest = 0;
        for (size_t k = core->entry_start[e]; k < core->entry_start[e + 1]; k++)
            if (!is_infinite(core->entry[k])) largest = max_real(largest, (double)core->entry[k]);
        sum += largest;
    }
    return sum;
}
