/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order of the steps, and those that look at edges. */
#include "search/graph/reduction.h"

#include "base/util.h"

#include <string.h>

enum { ROUNDS_MAX = 8 };

/* ---- arc consistency, edges that are sums, and nodes tied together: the results of one look at an edge's matrix. On
 * graphs of a compiler the ties reduce 33,000 to 65,000 nodes to some hundred ---- */

/* A fold makes matrices and memory larger where the removed node has fewer states than the one that stays: the entries
 * added at once, and in all. */
static const int64_t GROWTH_MAX = 1 << 22, GROWN_MAX = 1 << 27;

/* count_a[s] and count_b[t] are the finite entries of a row and of a column; last_a[s] and last_b[t] are the last of
 * them. */
static int64_t count_finite(Reduction *reduction, const ReducedEdge *edge) {
    int rows = reduction->nodes[edge->end[0]].states, columns = reduction->nodes[edge->end[1]].states;
    const int64_t *entry = edge->cost;
    int64_t finite = 0;
    memset(reduction->count_b, 0, (size_t)columns * sizeof *reduction->count_b);
    for (int s = 0; s < rows; s++) {
        int count = 0;
        for (int t = 0; t < columns; t++, entry++) {
            if (is_infinite(*entry)) continue;
            count++;
            reduction->last_a[s] = t;
            reduction->count_b[t]++;
            reduction->last_b[t] = s;
        }
        reduction->count_a[s] = count;
        finite += count;
    }
    return finite;
}

/* Removes the states of one end that have no partner. */
static bool kill_lonely(Reduction *reduction, int node, const int *count) {
    for (int s = 0; s < reduction->nodes[node].states; s++) reduction->keep[s] = count[s] > 0;
    return reduction_keep_some(reduction, node, reduction->keep);
}

/* Whether e(s, t) = e(s, 0) + e(0, t) - e(0, 0) everywhere, with finite entries alone. */
static bool is_sum(const ReducedEdge *edge, int rows, int columns) {
    const int64_t *first = edge->cost;
    for (int s = 1; s < rows; s++) {
        const int64_t *row = edge->cost + (size_t)s * (size_t)columns;
        int64_t more = row[0] - first[0];
        for (int t = 1; t < columns; t++)
            if (row[t] - first[t] != more) return false;
    }
    return true;
}

/* The shares are both >= 0: the first column less its least entry, and the row with that least entry. */
static void split_sum(Reduction *reduction, int edge) {
    ReducedEdge *e = &reduction->edges[edge];
    ReducedNode *a = &reduction->nodes[e->end[0]], *b = &reduction->nodes[e->end[1]];
    int least = 0;
    for (int s = 1; s < a->states; s++)
        if (e->cost[(size_t)s * (size_t)b->states] < e->cost[(size_t)least * (size_t)b->states]) least = s;
    const int64_t *row = e->cost + (size_t)least * (size_t)b->states;
    for (int s = 0; s < a->states; s++)
        a->cost[s] = cost_sum(a->cost[s], e->cost[(size_t)s * (size_t)b->states] - row[0]);
    for (int t = 0; t < b->states; t++) b->cost[t] = cost_sum(b->cost[t], row[t]);
    reduction_drop_edge(reduction, edge);
}

static void append_item(Reduction *reduction, ReducedNode *node, MemoryItem item) {
    if (node->item_count == node->item_room) {
        int room = node->item_room ? 2 * node->item_room : 4;
        node->items =
            workspace_grow(reduction->space, node->items, (size_t)node->item_room, (size_t)room, sizeof *node->items);
        node->item_room = room;
    }
    node->items[node->item_count++] = item;
}

static void move_items(Reduction *reduction, ReducedNode *to, ReducedNode *from, const int *map) {
    for (int i = 0; i < from->item_count; i++) {
        MemoryItem item = from->items[i];
        int64_t *usage = workspace_take(reduction->space, (size_t)to->states, sizeof *usage);
        for (int s = 0; s < to->states; s++) usage[s] = item.usage[map[s]];
        append_item(reduction, to, (MemoryItem){item.first, item.past, usage});
    }
    from->item_count = 0;
}

static bool grows_too_much(Reduction *reduction, int to, int from) {
    const ReducedNode *go = &reduction->nodes[from];
    int64_t more = max_whole(0, reduction->nodes[to].states - go->states), others = go->item_count;
    reduction_tidy(reduction, from);
    for (int k = 0; k < go->degree; k++)
        others += reduction->nodes[edge_other(&reduction->edges[go->edges[k]], from)].states;
    if (more * others > GROWTH_MAX || reduction->grown + more * others > GROWN_MAX) return true;
    reduction->grown += more * others;
    return false;
}

/* Folds end 1 - `side` into end `side` of the edge; `partner` is the one partner of each state of the node that
 * stays. */
static bool fold(Reduction *reduction, int edge, int side, const int *partner) {
    ReducedEdge *tie = &reduction->edges[edge];
    int stay = tie->end[side], go = tie->end[1 - side];
    ReducedNode *to = &reduction->nodes[stay], *from = &reduction->nodes[go];
    if (grows_too_much(reduction, stay, go)) return false;
    int *map = reduction_step(reduction, go, stay, -1, 1, to->states);
    memcpy(map, partner, (size_t)to->states * sizeof *map);
    for (int s = 0; s < to->states; s++)
        to->cost[s] = cost_sum(cost_sum(to->cost[s], edge_cost(reduction, tie, stay, s, map[s])), from->cost[map[s]]);
    move_items(reduction, to, from, map);
    reduction_drop_edge(reduction, edge);
    reduction_tidy(reduction, go);
    for (int k = 0; k < from->degree; k++) {
        ReducedEdge *old = &reduction->edges[from->edges[k]];
        int third = edge_other(old, go), columns = reduction->nodes[third].states;
        size_t size = (size_t)to->states * (size_t)columns;
        int64_t *cost = workspace_take(reduction->space, size, sizeof *cost);
        for (int s = 0; s < to->states; s++)
            for (int t = 0; t < columns; t++)
                cost[(size_t)s * (size_t)columns + (size_t)t] = edge_cost(reduction, old, go, map[s], t);
        reduction_drop_edge(reduction, from->edges[k]);
        reduction_join(reduction, stay, third, cost, size);
    }
    from->gone = true;
    from->degree = 0;
    return true;
}

static bool is_function(const int *count, int states) {
    for (int s = 0; s < states; s++)
        if (count[s] != 1) return false;
    return true;
}

static bool examine(Reduction *reduction, int edge) {
    ReducedEdge *e = &reduction->edges[edge];
    ReducedNode *a = &reduction->nodes[e->end[0]], *b = &reduction->nodes[e->end[1]];
    int64_t finite = count_finite(reduction, e);
    if (kill_lonely(reduction, e->end[0], reduction->count_a)) {
        reduction_enqueue(reduction, edge);
        return true;
    }
    if (kill_lonely(reduction, e->end[1], reduction->count_b)) {
        reduction_enqueue(reduction, edge);
        return true;
    }
    if (finite == (int64_t)a->states * b->states && is_sum(e, a->states, b->states)) {
        split_sum(reduction, edge);
        return true;
    }
    bool first = is_function(reduction->count_a, a->states), second = is_function(reduction->count_b, b->states);
    if (first && second) first = a->degree >= b->degree; /* one to one: the node with fewer edges is removed */
    if (first && fold(reduction, edge, 0, reduction->last_a)) return true;
    return second && fold(reduction, edge, 1, reduction->last_b);
}

static bool untie(Reduction *reduction) {
    bool changed = false;
    while (reduction->queue_count > 0 && !reduction->infeasible) {
        int edge = reduction->queue[reduction->queue_first];
        reduction->queue_first = (reduction->queue_first + 1) % reduction->edge_room;
        reduction->queue_count--;
        reduction->edges[edge].queued = false;
        if (!reduction->edges[edge].gone) changed |= examine(reduction, edge);
    }
    return changed;
}

/* ---- nodes without memory and with at most two edges: the best of their states is known for each choice of the
 * neighbours, so they are minimised out ---- */

/* The work of one elimination, and the largest ratio of the new matrix to the matrices it replaces. */
static const int64_t ELIMINATION_MAX = 1 << 24, ELIMINATION_GROWTH = 4;

static void remove_node(Reduction *reduction, int node) {
    ReducedNode *n = &reduction->nodes[node];
    for (int k = 0; k < n->degree; k++) reduction_drop_edge(reduction, n->edges[k]);
    n->degree = 0;
    n->gone = true;
}

static void eliminate_alone(Reduction *reduction, int node) {
    const ReducedNode *n = &reduction->nodes[node];
    int best = 0;
    for (int s = 1; s < n->states; s++)
        if (n->cost[s] < n->cost[best]) best = s;
    reduction->constant += n->cost[best];
    reduction_step(reduction, node, -1, -1, 1, 1)[0] = best;
    remove_node(reduction, node);
}

static void eliminate_leaf(Reduction *reduction, int node) {
    const ReducedNode *n = &reduction->nodes[node];
    const ReducedEdge *edge = &reduction->edges[n->edges[0]];
    int other = edge_other(edge, node);
    ReducedNode *o = &reduction->nodes[other];
    int *map = reduction_step(reduction, node, other, -1, 1, o->states);
    for (int t = 0; t < o->states; t++) {
        int64_t least = INFINITE_COST;
        map[t] = 0;
        for (int s = 0; s < n->states; s++) {
            int64_t cost = cost_sum(n->cost[s], edge_cost(reduction, edge, node, s, t));
            if (cost >= least) continue;
            least = cost;
            map[t] = s;
        }
        o->cost[t] = cost_sum(o->cost[t], least);
    }
    remove_node(reduction, node);
    for (int t = 0; t < o->states; t++) reduction->keep[t] = !is_infinite(o->cost[t]);
    reduction_keep_some(reduction, other, reduction->keep);
}

static bool eliminate_between(Reduction *reduction, int node) {
    const ReducedNode *n = &reduction->nodes[node];
    const ReducedEdge *left = &reduction->edges[n->edges[0]], *right = &reduction->edges[n->edges[1]];
    int a = edge_other(left, node), b = edge_other(right, node);
    int ka = reduction->nodes[a].states, kb = reduction->nodes[b].states;
    int64_t size = (int64_t)ka * kb;
    if (size * n->states > ELIMINATION_MAX || size > ELIMINATION_GROWTH * n->states * (ka + kb) + 64) return false;
    int *map = reduction_step(reduction, node, a, b, kb, (int)size);
    int64_t *cost = workspace_take(reduction->space, (size_t)size, sizeof *cost);
    for (int t = 0; t < ka; t++)
        for (int u = 0; u < kb; u++) {
            int64_t least = INFINITE_COST;
            int best = 0;
            for (int s = 0; s < n->states; s++) {
                int64_t one = cost_sum(n->cost[s], edge_cost(reduction, left, node, s, t));
                one = cost_sum(one, edge_cost(reduction, right, node, s, u));
                if (one >= least) continue;
                least = one;
                best = s;
            }
            map[(int64_t)t * kb + u] = best;
            cost[(int64_t)t * kb + u] = least;
        }
    remove_node(reduction, node);
    reduction_join(reduction, a, b, cost, (size_t)size);
    return true;
}

static bool eliminate(Reduction *reduction) {
    bool changed = false;
    /* There are two passes: a node's neighbours may become leaves after it was passed. The next round finds the
     * rest. */
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < reduction->node_count && !reduction->infeasible; k++) {
            int i = pass ? reduction->node_count - 1 - k : k;
            ReducedNode *node = &reduction->nodes[i];
            if (node->gone || node->item_count > 0) continue;
            reduction_tidy(reduction, i);
            if (node->degree > 2) continue;
            if (node->degree == 0) eliminate_alone(reduction, i);
            if (node->degree == 1) eliminate_leaf(reduction, i);
            if (!node->gone && node->degree == 2 && !eliminate_between(reduction, i)) continue;
            changed = true;
        }
    return changed;
}

/* ---- all steps ---- */

bool reduction_run(Reduction *reduction) {
    for (int round = 0; round < ROUNDS_MAX && !reduction->infeasible; round++) {
        bool changed = untie(reduction);
        if (!reduction->infeasible) changed |= reduction_memory(reduction);
        if (!reduction->infeasible) changed |= untie(reduction);
        if (!reduction->infeasible) changed |= eliminate(reduction);
        if (!reduction->infeasible) changed |= untie(reduction);
        if (!reduction->infeasible) changed |= reduction_dominate(reduction);
        if (!changed) break;
    }
    if (!reduction->infeasible) untie(reduction);
    if (!reduction->infeasible) reduction_memory(reduction);
    return !reduction->infeasible;
}
