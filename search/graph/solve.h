/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/graph/solve.h: finds the cheapest choice of a strategy graph, a bound on it, and whether it is proven
 * (docs/search.md, "The graph solver"). */
#pragma once

#include "search/graph/problem.h"

typedef struct {
    double seconds;
    const char *stage;
    bool found;
    int64_t cost, bound;
} GraphProgress;

/* The solver's view of the world. */
typedef struct {
    void *context;
    double (*seconds)(void *context);   /* seconds since the beginning */
    bool (*interrupted)(void *context); /* true makes the solver return its best choice so far */
    void (*progress)(void *context,
                     const GraphProgress *progress); /* now and then, from the calling thread; may be NULL */
    double time_limit; /* seconds; INFINITY limits work instead, so that answers are the same anywhere */
    double effort;     /* that amount: 1 is about a minute of one core for a large graph */
    int64_t cutoff;    /* choices that cost this much are of no use: the work ends once none costs less; 0: none */
    double gap_most;   /* the work also ends where this share lies between the first bound and choice; 0: it does not */
    int threads;       /* 0 means that OpenMP decides; the answer does not depend on it, unless a time limit cuts */
} GraphControl;

typedef enum { GRAPH_OPTIMAL, GRAPH_GAP, GRAPH_INFEASIBLE } GraphProof;

typedef struct {
    GraphProof proof; /* with a cutoff that no choice is below: GRAPH_GAP, nothing found, and a bound of the cutoff */
    bool found;       /* there is a choice */
    bool interrupted;
    bool out_of_time;
    int *choice;                                             /* of strategies; NULL means that no choice was found */
    GraphValue value;                                        /* of it */
    int64_t bound;                                           /* no choice costs less; certified in whole numbers */
    int core_nodes, core_edges, core_strategies, core_times; /* after the first reductions */
    int64_t branches;                                        /* branches of branch and bound */
    /* An infeasible graph: a moment whose least usage is above the limit, or a node without a strategy that can be
     * chosen; neither is set where only search shows it. */
    bool excess_known;
    int64_t excess_time, excess;
    int empty_node; /* -1 means none */
} GraphResult;

/* Solves the graph. False means that memory is out. The choice lies in the arena. */
bool graph_solve(const StrategyGraph *graph, const GraphControl *control, Arena *arena, GraphResult *result,
                 Error *error);
