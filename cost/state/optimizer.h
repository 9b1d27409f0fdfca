/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/state/optimizer.h: the state that an optimizer keeps of each parameter and the computation of its update: facts,
 * one file each in cost/optimizers. cost/state/state.h turns them into bytes and FLOPs of a model. */
#pragma once

#include "base/arena.h"
#include "base/error.h"

#include <cjson/cJSON.h>

enum { OPTIMIZER_NAME_SIZE = 32, OPTIMIZER_SOURCE_SIZE = 512, NEWTON_SCHULZ_STEPS_MAX = 100 };

/* Parameters that an optimizer may treat apart. */
typedef enum {
    PARAMETERS_MATRICES, /* weights of layers with two dimensions; those of each expert singly */
    PARAMETERS_TABLES,   /* embedding, logits, learned positions */
    PARAMETERS_VECTORS,  /* norms, biases, sinks */
    PARAMETERS_COUNT
} ParameterClass;
const char *parameter_class_name(ParameterClass parameters); /* "matrices" */

/* How a moment is kept: not at all, one number per parameter, or one per row and one per column of the matrix. */
typedef enum { MOMENT_NONE, MOMENT_FULL, MOMENT_FACTORED, MOMENT_FORM_COUNT } MomentForm;

typedef struct {
    MomentForm first, second;
    /* 0 means that the update is element by element. Otherwise the update is made orthogonal by this many steps of the
     * quintic Newton-Schulz iteration, which needs the whole matrix. */
    int newton_schulz_steps;
} OptimizerRule;

typedef struct {
    char name[OPTIMIZER_NAME_SIZE];  /* "adamw" */
    char title[OPTIMIZER_NAME_SIZE]; /* "AdamW" */
    char source[OPTIMIZER_SOURCE_SIZE];
    OptimizerRule rule[PARAMETERS_COUNT];
    bool eight_bits; /* its moments are kept in 8 bits, where --state-dtypes does not say another dtype */
} Optimizer;

/* Reads strictly: a key that is missing, unknown, without a source or out of its range is an error. Pure. */
bool optimizer_from_json(const cJSON *json, const char *where, Optimizer *out, Error *error);

/* Loads the optimizer that --optimizer names: a file in cost/optimizers or an alias in one, or a path (with a '/', or
 * ending in .json). `where` is the name in errors when there is no such optimizer. */
bool optimizer_load(const char *argument, const char *where, Arena *arena, Optimizer *out, Error *error);

/* The file of such an argument, in the arena; NULL means that there is no such file, and *error says why. */
const char *optimizer_path(const char *argument, const char *where, Arena *arena, Error *error);
