/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/program/flow.h: a program as what its tensors need of each other, before any machine is known: nodes, which
 * will choose a sharding each, and edges, over which a tensor comes as a consumer needs it. Calls are followed, a
 * loop's body stands once with its trips, and what only turns or names a tensor is a view of its node. */
#pragma once

#include "search/program/program.h"
#include "search/program/rules.h"

/* A value: a node seen with other dimensions. */
typedef struct {
    int node;                     /* -1: made where it is needed, in any sharding */
    int8_t map[PROGRAM_RANK_MAX]; /* for each dimension that of the node; -1: the node has none */
} FlowView;

typedef enum {
    FLOW_ARGUMENT,
    FLOW_FREE, /* a copy in any sharding: the cast of a weight, what a loop carries, what branches agree on */
    FLOW_WORK, /* an operation: a sharding follows from how its factors are sharded */
} FlowKind;

typedef struct {
    FlowKind kind;
    TensorType type;
    int op;       /* of the text, whose first result it is; -1: none */
    int value;    /* that it is: of a loop's carry the first; -1: of an op */
    int argument; /* of the entry: its number; -1: none */
    const Factor *factor;
    int factors, edge, edges; /* its operands, in the order of the edges; those that are made in place have none */
    double flops, trips;
    bool pointwise, matrix; /* fused with its neighbours; on matrix units */
    bool reads_rows;        /* of the first operand, as much as of all others or of the result */
    bool scatters;          /* into rows */
    bool is_result;         /* written over the argument that it is the next state of */
    bool is_held;           /* takes memory of its own from `from` to before `to` */
    bool whole;             /* an operation without a rule */
    int added_to;           /* the addition that alone reads it, and may take its sums before they end; -1: none */
    bool takes_sums;        /* it is such an addition */
    bool is_cut;            /* a slice of it is read */
    int copied;             /* the node that it is a copy of, in no text; -1: none */
    int held_bits;          /* of an element as it is kept: what follows may be fused, and narrower */
    int from, to;           /* moments: the number of operations passed */
} FlowNode;

enum { FLOW_AS_NODE = -1 }; /* FlowEdge.operand: the consumer needs it as its own sharding says */

typedef struct {
    int from, to;
    int operand; /* of the factors */
    FlowView view;
    TensorType type; /* of the view */
    double trips;
} FlowEdge;

typedef struct {
    FlowNode *node;
    FlowEdge *edge;
    int64_t nodes, edges, node_room, edge_room;
    int moments;
    int64_t steps;      /* operations, those of calls counted at every call */
    bool unknown_trips; /* a loop does not say how often it runs: once is taken */
} Flow;

/* Follows the program from its entry. False: memory is out, the attributes of an operation do not fit, a function calls
 * itself, or there are more than PROGRAM_OPS_MAX operations with those of calls. flow_free() frees it, also after a
 * failure; factors live in the arena. */
bool flow_of_program(const Program *program, Arena *arena, Flow *out, Error *error);
void flow_free(Flow *flow);
