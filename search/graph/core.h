/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/graph/core.h: the graph that reductions leave, frozen for the searches: nodes in the input's order, matrices
 * both ways round in doubles, memory over the moments that matter. */
#pragma once

#include "search/graph/reduction.h"

/* Vectors over a node's states are at least this many doubles apart, so that whole SIMD registers are read and written;
 * the padding after a node's states is zero and its value is never used. */
enum { CORE_LANES = 4 };

/* One end's view of an edge: from node i (the owner) to `other`. */
typedef struct {
    int other;
    int edge;
    int back;       /* the same edge among the other's arcs */
    size_t matrix;  /* in core->matrix: [state of the owner][width of other], other's states contiguous */
    size_t message; /* in arrays of core->message_size: a vector over the other's states */
} CoreArc;

typedef struct {
    int nodes, edges, times, states, items;
    int states_max;
    int *node_of;         /* of the reduction */
    int *count;           /* states of each node */
    int *width;           /* the same, rounded up to CORE_LANES */
    int *at;              /* where a node's vector begins; at[nodes]: size of an array over all states */
    int64_t *cost;        /* by `at`, >= 0, least 0 */
    int *edge_of;         /* of the reduction */
    int *edge_u, *edge_v; /* u < v */
    size_t *entry_start;
    int64_t *entry;     /* [state of u][state of v], >= 0; INFINITE_COST: forbidden */
    bool *edge_flipped; /* the reduction's matrix has v's states as rows */
    int *arc_start;     /* nodes + 1 */
    int *arc_later;     /* of each node: its first arc to a later node */
    CoreArc *arcs;      /* of a node: by the other's number */
    size_t message_size, matrix_size;
    int *item_start;             /* nodes + 1 */
    int *item_first, *item_past; /* core times */
    size_t *item_usage;          /* in `usage`: a vector over the node's states */
    int64_t *usage;
    int64_t *slack; /* times: the memory that the choice may take, >= 0 */
    int *slot;      /* times: of the reduction, ascending */
    __int128 constant;
    /* In doubles, entries are at most `cap`: a pair that costs more than the best known choice is effectively
     * forbidden. */
    double cap;
    double *theta; /* by `at` */
    double *matrix;
    double *usage_real; /* as `usage` */
} Core;

Core *core_new(const Reduction *reduction, Workspace *space);
/* Sets `cap` and fills the doubles. The cap must be above every better choice's cost less the constant; otherwise
 * choices that cost more than it are lost. */
void core_fill(Core *core, double cap);
/* The memory that a choice takes at each time; times + 1. */
void core_profile(const Core *core, const int *choice, int64_t *profile);
/* The sum of all finite costs at their largest: a cap that loses nothing. */
double core_cost_range(const Core *core);
