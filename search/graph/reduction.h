/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/graph/reduction.h: a strategy graph that shrinks by steps that keep its optimum (each is exact; reduce.c):
 *
 * - Strategies and pairs that no choice can use are removed (arc consistency; memory that does not fit on top of the
 *   least of all others).
 * - An edge whose matrix is a row's share plus a column's share goes into its nodes.
 * - An edge whose finite entries are a function (each strategy of one node has one partner in the other) ties the nodes
 *   together: one is folded into the other, with its cost, memory and edges.
 * - Nodes without memory and with at most two edges are minimised out.
 * - A strategy is removed if another one costs at most the same whatever the neighbours do, and takes at most the same
 *   memory.
 * - Memory that every choice takes is taken off the limit, and moments that no choice can fill are forgotten.
 *
 * A log of all steps turns a choice for the remaining graph back into a choice for the input. */
#pragma once

#include "search/graph/problem.h"
#include "search/graph/workspace.h"

/* A forbidden cost inside the solver; sums of two fit into 64 bits. A cost of at least half of it is forbidden too. */
#define INFINITE_COST INT64_C(4000000000000000000)
static inline bool is_infinite(int64_t cost) { return cost >= INFINITE_COST / 2; }
static inline int64_t cost_sum(int64_t a, int64_t b) { return is_infinite(a + b) ? INFINITE_COST : a + b; }

/* Memory that a node takes in slots first ... past - 1, for each of its states (for a merged node: of all nodes in it);
 * slots are the spans between moments at which something begins or ends. */
typedef struct {
    int first, past;
    int64_t *usage;
} MemoryItem;

/* A node with its remaining states. */
typedef struct {
    bool gone;
    int states;
    int64_t *cost;
    MemoryItem *items;
    int item_count, item_room;
    int *edges; /* may hold edges that are gone */
    int degree, degree_room;
} ReducedNode;

typedef struct {
    bool gone, queued;
    int end[2];
    int64_t *cost; /* [state of end[0]][state of end[1]] */
    size_t room;   /* the number of entries with which `cost` was allocated */
} ReducedEdge;

/* A step to be undone backwards: choice[node] = map[choice[a] * columns + choice[b]]; a or b of -1 counts as choice
 * 0. */
typedef struct {
    int node, a, b, columns;
    int *map;
    int map_size;
} ReduceStep;

typedef struct {
    Workspace *space;
    const StrategyGraph *graph;
    int node_count;
    ReducedNode *nodes;
    ReducedEdge *edges;
    int edge_count, edge_room;
    int *queue; /* edges to look at, a ring of edge_room */
    int queue_first, queue_count;
    ReduceStep *steps;
    int step_count, step_room;
    int64_t grown; /* the number of entries that folds have added */
    int slots;
    int64_t *slot_time; /* slots + 1: the time at which each begins */
    int64_t *base;      /* slots: the memory that every choice takes */
    __int128 constant;  /* the cost that every choice has */
    bool infeasible;
    int empty_node;      /* infeasible by costs: a node without any strategy; else -1 */
    int64_t excess_time; /* infeasible by memory: the moment, and the excess */
    int64_t excess;
    int *count_a, *count_b, *last_a, *last_b; /* scratch, with the length of the largest number of states */
    bool *keep;
} Reduction;

/* The graph as it is, without any step taken. The graph and the workspace must outlive it. */
Reduction *reduction_new(const StrategyGraph *graph, Workspace *space);
/* Takes all steps until nothing changes any more. False means that no choice is feasible (`infeasible` and the members
 * after it say why). States and pairs that were removed or forbidden in between (below) are taken into account. */
bool reduction_run(Reduction *reduction);
/* Removes states that a proof has excluded; keep[s] is false for them. At least one must stay; otherwise the reduction
 * is infeasible. */
void reduction_keep(Reduction *reduction, int node, const bool *keep);
/* Forbids a pair of states of an edge. */
void reduction_forbid(Reduction *reduction, int edge, int state_a, int state_b);
/* choice[] holds the states of the remaining nodes (others are ignored) and gets the strategies of all nodes. */
void reduction_expand(const Reduction *reduction, int *choice);
/* The other way: turns strategies of all nodes into states of the remaining nodes. False means that the choice uses an
 * excluded strategy or pair. */
bool reduction_project(const Reduction *reduction, const int *strategies, int *choice);

/* ---- for the steps ---- */

/* The end of an edge that is not `node`. */
static inline int edge_other(const ReducedEdge *edge, int node) { return edge->end[edge->end[0] == node]; }
/* The entry for a state s of `node` and t of the other end. */
static inline int64_t edge_cost(const Reduction *reduction, const ReducedEdge *edge, int node, int s, int t) {
    int columns = reduction->nodes[edge->end[1]].states;
    return edge->end[0] == node ? edge->cost[(size_t)s * (size_t)columns + (size_t)t]
                                : edge->cost[(size_t)t * (size_t)columns + (size_t)s];
}

/* Drops edges that are gone from a node's list. */
void reduction_tidy(Reduction *reduction, int node);
void reduction_enqueue(Reduction *reduction, int edge);
/* Adds a new edge with a matrix of `room` entries, or adds the matrix to the edge that is there. The reduction then
 * owns the matrix. */
void reduction_join(Reduction *reduction, int a, int b, int64_t *cost, size_t room);
/* Adds a step with a map of `size`, which the caller fills. */
int *reduction_step(Reduction *reduction, int node, int a, int b, int columns, int size);
void reduction_drop_edge(Reduction *reduction, int edge);
/* Calls reduction_keep() if it would keep fewer than all states, and returns whether it did. */
bool reduction_keep_some(Reduction *reduction, int node, const bool *keep);

/* For qsort: compares items by their interval; 0 means the same interval. */
int memory_item_order(const void *a, const void *b);

/* Steps; true means that something changed. */
bool reduction_memory(Reduction *reduction);
bool reduction_dominate(Reduction *reduction);
