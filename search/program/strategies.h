/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/program/strategies.h: a program on one logical mesh as the solver's strategy graph: for each node every
 * sharding that its operation can compute, for each edge what it costs to bring a tensor from one to the other. */
#pragma once

#include "search/graph/problem.h"
#include "search/program/flow.h"
#include "search/program/space.h"

typedef struct {
    Spec out;
    int8_t factor[LOGICAL_MAX]; /* that each axis cuts; -1: none */
    uint8_t open;               /* the axes over which its operands are sums that have not ended */
    int in;                     /* of each operand's edge what it needs, from here in StrategyLists.in */
    double seconds;             /* of one execution, its collectives included */
} Strategy;

typedef struct {
    Strategy *strategy;
    Spec *in;
    int64_t count, ins, room, in_room;
    int *start; /* nodes + 1 */
} StrategyLists;

/* What all of it rests on. */
typedef struct {
    const ProgramMachine *machine;
    const LogicalMesh *mesh;
    const Flow *flow;
    double caution; /* what is no argument counts as so many times its bytes in the graph's usages */
} Setting;

/* Lists the strategies of all nodes. False: memory is out, or one node has more than GRAPH_STRATEGIES_MAX. The lists
 * are freed with strategies_free(), also after a failure. */
bool strategies_list(const Setting *setting, StrategyLists *out, Error *error);
void strategies_free(StrategyLists *lists);

/* Seconds of one execution of a strategy of a node, and of what an edge moves between two strategies; the tally (NULL:
 * none) gets them as often as they run. */
double strategy_seconds(const Setting *setting, const FlowNode *node, const Strategy *strategy, const Spec *in,
                        Tally *tally);
double edge_seconds(const Setting *setting, const FlowEdge *edge, Spec have, Spec need, Tally *tally);

/* The sharding in which a strategy leaves its result before its own partial sums are scattered: its own where none
 * are. */
Spec strategy_summed(const Setting *setting, const FlowNode *node, const Strategy *strategy);

/* Bytes that a node holds in a sharding; 0: it holds none of its own. */
double held_bytes(const Setting *setting, const FlowNode *node, Spec spec);

/* Bytes that tiles may add to a node: XLA on TPUs scatters into rows that are padded to the lanes, and may bring what
 * is computed with them into rows as wide. 0 for what is no scatter. */
double padding_bytes(const Setting *setting, const FlowNode *node, Spec spec);

/* Whether an edge has to bring a tensor from one sharding to another, if only by cutting it. */
bool edge_moves(const Setting *setting, const FlowEdge *edge, Spec have, Spec need);

/* The shardings on the way to what is needed, one collective apart, in the dimensions of the edge's view: compilers
 * know such steps, and gather the whole where several are one. `held`: what the node has in the text, before the copy
 * that several readers share (`have` where there is none). Without the last, which outer products get twice;
 * returns how many. */
enum { ROUTE_MAX = 2 * (1 + LOGICAL_MAX) };
int edge_route(const Setting *setting, const FlowEdge *edge, Spec held, Spec have, Spec need, Spec out[ROUTE_MAX]);

/* What the consumer of an edge needs, in one of its strategies. */
Spec edge_need(const StrategyLists *lists, const Flow *flow, const FlowEdge *edge, int64_t edge_number,
               const Strategy *strategy);

/* The graph: costs in units of `*unit` seconds, usages in bytes, no limit. graph_free() frees it, also after a
 * failure. */
bool strategies_graph(const Setting *setting, const StrategyLists *lists, StrategyGraph *out, double *unit,
                      Error *error);
