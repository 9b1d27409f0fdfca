/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/program/answer.h: the best sharding of a program over a machine: every logical mesh, each solved to a proof or
 * to the end of its work, and what data parallelism and FSDP take on the same model. */
#pragma once

#include "mesh/machine.h"
#include "search/graph/solve.h"
#include "search/program/flow.h"
#include "search/program/space.h"

#include <stdio.h>

/* A sharding that the user has fixed: of one argument, by the dimension of each axis; -1: the axis does not cut it. */
typedef struct {
    int argument;                /* of the entry */
    Piece cut[PROGRAM_RANK_MAX]; /* for each dimension the letters of its axes */
    int dimensions;
} FixedArgument;

enum { FIXED_MAX = 64 };

typedef struct {
    const Program *program;
    Chip chip;
    Machine machine;
    ProgramMachine priced;
    int axes; /* at most */
    const FixedArgument *fixed;
    int fixed_count;
    GraphControl control;
} ProgramQuestion;

enum { SPEC_AS_IT_IS = 0xffff };

/* One choice on one mesh; with a gap, or without a choice, the bound says that none is better than another mesh's. */
typedef struct {
    bool found;
    LogicalMesh mesh;
    GraphProof proof;
    double seconds, bound;  /* of a step; no choice on this mesh takes less */
    double peak_bytes;      /* of one chip */
    double peak_most_bytes; /* the same, with what is no argument as large as compilers have made it */
    Tally tally;
    Spec *spec;   /* of each node of the flow; in the arena */
    Spec *summed; /* of each node, before partial sums are scattered */
    Spec *need;   /* of each edge: what its consumer needs, SPEC_AS_IT_IS where nothing has to be moved or cut */
    Spec *route;  /* of each edge ROUTE_MAX shardings on the way to it, SPEC_AS_IT_IS behind the last */
} ProgramChoice;

typedef enum { REFERENCE_DATA, REFERENCE_FSDP, REFERENCE_COUNT } Reference;
extern const char *const REFERENCE_NAMES[REFERENCE_COUNT];

typedef struct {
    Flow flow;
    LogicalMeshes meshes;
    ProgramChoice *choice; /* of each mesh */
    int best;              /* -1: nothing fits, or nothing was found */
    double bound;          /* over all meshes */
    bool proven, interrupted, infeasible;
    bool may_exceed; /* only peak_bytes fits, peak_most_bytes does not; no choice is known to fit */
    ProgramChoice reference[REFERENCE_COUNT]; /* arguments as these have them, the rest at its best; without limit */
    double least_peak; /* where nothing fits: how far the memory of the best mesh is above the limit; 0: not known */
    int64_t nodes, edges, strategies; /* of the best mesh's graph */
} ProgramAnswer;

/* Answers. False: memory is out, the program cannot be followed, or what is fixed does not divide. flow_free() of the
 * answer's flow is the caller's, also after a failure. */
bool program_answer(const ProgramQuestion *question, Arena *arena, ProgramAnswer *out, Error *error);

/* Whether some arguments are state, and what is no state is a batch, all of it as long: weights that are only read are
 * neither state nor batch. */
bool program_has_batch(const Program *program);

/* The graph of the mesh that was best (else of the first), as the contest's JSON. */
bool program_graph_write(const ProgramQuestion *question, const ProgramAnswer *answer, FILE *out, Error *error);
