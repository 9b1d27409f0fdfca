/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/graph/reduce_internal.h: declarations shared by the files of reduce.h. */
#pragma once

#include "search/graph/reduce.h"

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

/* The steps; true means that something changed. */
bool reduction_ties(Reduction *reduction);      /* reduce_ties.c: works through the queue of edges */
bool reduction_memory(Reduction *reduction);    /* reduce_memory.c */
bool reduction_eliminate(Reduction *reduction); /* reduce_eliminate.c */
bool reduction_dominate(Reduction *reduction);  /* reduce_dominate.c */
