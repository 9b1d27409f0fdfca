/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/answer/parameter_shards.h: every parameter of a model with its shape, and by which roles of a plan each
 * dimension is split, so that whole numbers of elements lie on every chip. Pure. */
#pragma once

#include "cost/plan/plan.h"
#include "models/model.h"

/* Whatever splits a dimension: the roles, and the ways of a folded expert grid. */
typedef enum {
    WAYS_DATA,
    WAYS_FSDP,
    WAYS_SEQUENCE,
    WAYS_TENSOR,
    WAYS_EXPERT, /* the role, or the grid's experts */
    WAYS_EXPERT_TENSOR,
    WAYS_EXPERT_WEIGHTS, /* what of a folded grid shards an expert's parameters */
    WAYS_COUNT
} Ways;
const char *ways_name(Ways ways); /* "fsdp" */

/* A kind of layers has at most 16 norms, 11 parameters of attention, its output's bias and sinks, 6 of an MLP, 9 of
 * experts and 6 of shared ones; outside layers there are two tables with their norms, positions and a bias. */
enum {
    PARAMETER_RANK_MAX = 3,
    PARAMETER_WAYS_MAX = 5,
    PARAMETERS_OF_KIND_MAX = 2 * 16 + 9 + 4 + 6 + 9 + 6 + 8 + 2 * 12, /* of 16 norms, and two of each part of a mixer */
    PARAMETERS_MAX = MODEL_KINDS_MAX * PARAMETERS_OF_KIND_MAX + 10
};
typedef struct {
    const char *name; /* "wq" */
    int kind;         /* of its layers; -1: it is not in a layer */
    int rank;
    int64_t size[PARAMETER_RANK_MAX];
    Ways ways[PARAMETER_RANK_MAX][PARAMETER_WAYS_MAX]; /* of each dimension, outermost first */
    int ways_count[PARAMETER_RANK_MAX];
} ParameterShards;

/* Heads and their width are one dimension. What shards parameters (fsdp, sequence, expert) goes to
 * d_model where that divides, else to another dimension; vectors that nothing divides stay whole. Returns how many;
 * *undivided is the name of a matrix that one of the ways divides nowhere, NULL: there is none. */
int parameter_shards(const Model *model, const Plan *plan, ParameterShards out[PARAMETERS_MAX], const char **undivided);
