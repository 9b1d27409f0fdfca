/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes without memory and with at most two edges: the best of their states is known for each choice of the neighbours,
 * so they are minimised out. */
#include "search/graph/reduce_internal.h"

/* The work of one elimination, and the largest ratio of the new matrix to the matrices it replaces. */
static const int64_t WORK_MAX = 1 << 24, GROWTH = 4;

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
    if (size * n->states > WORK_MAX || size > GROWTH * n->states * (ka + kb) + 64) return false;
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

bool reduction_eliminate(Reduction *reduction) {
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
