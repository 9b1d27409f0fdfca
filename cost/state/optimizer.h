/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/state/optimizer.h: what an optimizer keeps of each parameter and what its update computes: facts, one file each
 * in cost/optimizers. What that is in bytes and FLOPs of a model is cost/state/state.h. */
#ifndef SHARDOPT_COST_STATE_OPTIMIZER_H
#define SHARDOPT_COST_STATE_OPTIMIZER_H

#include "base/arena.h"
#include "base/error.h"

#include <cjson/cJSON.h>

enum { OPTIMIZER_NAME_SIZE = 32, OPTIMIZER_SOURCE_SIZE = 512, NEWTON_SCHULZ_STEPS_MAX = 100 };

/* Parameters that an optimizer may treat apart. */
typedef enum {
    PARAMETERS_MATRICES, /* weights of layers with two dimensions; each expert's singly */
    PARAMETERS_TABLES,   /* embedding, logits, learned positions */
    PARAMETERS_VECTORS,  /* norms, biases, sinks */
    PARAMETERS_COUNT
} ParameterClass;
const char *parameter_class_name(ParameterClass parameters); /* "matrices" */

/* How a moment is kept: not at all, one number per parameter, or one per row and one per column of the matrix. */
typedef enum { MOMENT_NONE, MOMENT_FULL, MOMENT_FACTORED, MOMENT_FORM_COUNT } MomentForm;

typedef struct {
    MomentForm first, second;
    /* 0: the update is element by element. Else the update is made orthogonal by so many steps of the quintic
     * Newton-Schulz iteration, which needs the whole matrix. */
    int newton_schulz_steps;
} OptimizerRule;

typedef struct {
    char name[OPTIMIZER_NAME_SIZE];  /* "adamw" */
    char title[OPTIMIZER_NAME_SIZE]; /* "AdamW" */
    char source[OPTIMIZER_SOURCE_SIZE];
    OptimizerRule rule[PARAMETERS_COUNT];
} Optimizer;

/* Strict: a key that is missing, unknown, without a source or out of its range is an error. Pure. */
bool optimizer_from_json(const cJSON *json, const char *where, Optimizer *out, Error *error);

/* What --optimizer accepts: the name of a file in cost/optimizers, or a path (with a '/', or ending in .json). `where`:
 * what errors name when there is no such optimizer. */
bool optimizer_load(const char *argument, const char *where, Arena *arena, Optimizer *out, Error *error);

/* The file of that, in the arena; NULL: *error says why there is none. */
const char *optimizer_path(const char *argument, const char *where, Arena *arena, Error *error);

#endif
