/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Dominated states (Goldstein's test): b is never worse than a where
 *    c_b - c_a + sum over edges of max_t (e(b, t) - e(a, t)) <= 0, and b takes at most a's memory in any item.
 * A node of a thousand states has a million pairs, so each edge's part is first bounded from below by the difference of
 * the rows' least entries, and a pair is given up at the first edge whose loss cannot be made up for. */
#include "search/graph/reduction.h"

/* The number of entries looked at in one round. */
static const int64_t WORK_MAX = 400 * 1000 * 1000;

/* A node's matrices side by side: row s holds its entries towards all neighbours. */
typedef struct {
    int states, degree, width;
    int *start;           /* of each edge in a row, and the end */
    int64_t *row, *least; /* [states][width], [states][degree] */
    int64_t *total;       /* the sum of cost and least entries: the least cost of a state */
} Stacked;

static Stacked stack(Reduction *reduction, int node) {
    const ReducedNode *n = &reduction->nodes[node];
    Workspace *space = reduction->space;
    Stacked stacked = {.states = n->states, .degree = n->degree};
    stacked.start = workspace_take(space, (size_t)n->degree + 1, sizeof *stacked.start);
    for (int k = 0; k < n->degree; k++) {
        stacked.start[k] = stacked.width;
        stacked.width += reduction->nodes[edge_other(&reduction->edges[n->edges[k]], node)].states;
    }
    stacked.start[n->degree] = stacked.width;
    stacked.row = workspace_take(space, (size_t)n->states * (size_t)stacked.width + 1, sizeof *stacked.row);
    stacked.least = workspace_take(space, (size_t)n->states * (size_t)n->degree + 1, sizeof *stacked.least);
    stacked.total = workspace_take(space, (size_t)n->states, sizeof *stacked.total);
    for (int s = 0; s < n->states; s++) {
        stacked.total[s] = n->cost[s];
        for (int k = 0; k < n->degree; k++) {
            const ReducedEdge *edge = &reduction->edges[n->edges[k]];
            int64_t least = INFINITE_COST, *row = stacked.row + (size_t)s * (size_t)stacked.width + stacked.start[k];
            for (int t = 0; t < stacked.start[k + 1] - stacked.start[k]; t++) {
                row[t] = edge_cost(reduction, edge, node, s, t);
                if (row[t] < least) least = row[t];
            }
            stacked.least[(size_t)s * (size_t)n->degree + (size_t)k] = least;
            stacked.total[s] = cost_sum(stacked.total[s], least);
        }
    }
    return stacked;
}

static void unstack(Reduction *reduction, Stacked *stacked) {
    Workspace *space = reduction->space;
    size_t states = (size_t)stacked->states;
    workspace_give(space, stacked->start, (size_t)stacked->degree + 1, sizeof *stacked->start);
    workspace_give(space, stacked->row, states * (size_t)stacked->width + 1, sizeof *stacked->row);
    workspace_give(space, stacked->least, states * (size_t)stacked->degree + 1, sizeof *stacked->least);
    workspace_give(space, stacked->total, states, sizeof *stacked->total);
}

static bool takes_no_more(const ReducedNode *node, int b, int a) {
    for (int i = 0; i < node->item_count; i++)
        if (node->items[i].usage[b] > node->items[i].usage[a]) return false;
    return true;
}

/* The largest e(b, t) - e(a, t) of one edge; partners that a cannot have do not count; INFINITE_COST means that b lacks
 * a partner of a. */
static int64_t largest_difference(const int64_t *b, const int64_t *a, int count) {
    int64_t largest = -INFINITE_COST;
    for (int t = 0; t < count; t++) {
        if (is_infinite(a[t])) continue;
        if (is_infinite(b[t])) return INFINITE_COST;
        if (b[t] - a[t] > largest) largest = b[t] - a[t];
    }
    return largest;
}

static bool dominates(const Stacked *stacked, int b, int a, int64_t *work) {
    const int64_t *row_b = stacked->row + (size_t)b * (size_t)stacked->width;
    const int64_t *row_a = stacked->row + (size_t)a * (size_t)stacked->width;
    int64_t sum = stacked->total[b] - stacked->total[a]; /* the least value of the sum */
    for (int k = 0; k < stacked->degree && sum <= 0; k++) {
        int start = stacked->start[k], count = stacked->start[k + 1] - start;
        int64_t difference = largest_difference(row_b + start, row_a + start, count);
        *work += count;
        if (difference == INFINITE_COST) return false;
        sum += difference - (stacked->least[(size_t)b * (size_t)stacked->degree + (size_t)k] -
                             stacked->least[(size_t)a * (size_t)stacked->degree + (size_t)k]);
    }
    return sum <= 0;
}

static bool dominate_in(Reduction *reduction, int node, int64_t *work) {
    ReducedNode *n = &reduction->nodes[node];
    reduction_tidy(reduction, node);
    Stacked stacked = stack(reduction, node);
    bool *keep = reduction->keep;
    for (int s = 0; s < n->states; s++) keep[s] = true;
    *work += (int64_t)n->states * (stacked.width + n->states);
    for (int a = n->states - 1; a >= 0 && *work < WORK_MAX; a--)
        for (int b = 0; b < n->states && keep[a]; b++) {
            if (a == b || !keep[b] || stacked.total[b] > stacked.total[a] || !takes_no_more(n, b, a)) continue;
            if (dominates(&stacked, b, a, work)) keep[a] = false;
        }
    unstack(reduction, &stacked);
    return reduction_keep_some(reduction, node, keep);
}

bool reduction_dominate(Reduction *reduction) {
    bool changed = false;
    int64_t work = 0;
    for (int i = 0; i < reduction->node_count && work < WORK_MAX && !reduction->infeasible; i++)
        if (!reduction->nodes[i].gone && reduction->nodes[i].states > 1) changed |= dominate_in(reduction, i, &work);
    return changed;
}
