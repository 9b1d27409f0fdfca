/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/plan/grid.h: the folded expert grid: a second factorization, for experts alone, of the ranks that dense layers
 * use as tensor x sequence x fsdp x data. Sources: Megatron-Core parallel_state.py (etp x ep x edp), torchtitan
 * parallel_dims.py (efsdp, ep); docs/model.md, "Expert parallelism". */
#pragma once

#include "cost/plan/ops.h"

typedef struct {
    int64_t expert, expert_tensor; /* ways of the experts, and of the width of each expert */
    int64_t weights;               /* ranks that shard an expert's parameters between them, as fsdp does */
    int64_t data;                  /* ranks that hold the same parameters; all four multiply to the ranks of a stage */
} GridRanks;

/* Where dense parameters are sharded (by fsdp, or by a sequence that shards), experts of tensor x sequence x fsdp ranks
 * are sharded too, and `data` stays outside; where they are only replicated, every rank left over is a replica. False
 * means that the ranks do not divide in this way. */
bool grid_ranks(const Degrees *degrees, const Methods *methods, GridRanks *out);

/* The footprints of the four on a placement, innermost first: expert_tensor, expert, weights, data take neighbours in
 * the part of each axis that the pipeline leaves, axis by axis from the innermost, as consecutive ranks do. The
 * placement belongs to these degrees, and grid_ranks() has returned true for them. */
typedef struct {
    Footprint expert_tensor, expert, weights, data;
} GridFootprints;
GridFootprints grid_footprints(const Mesh *mesh, const Placement *placement, const GridRanks *ranks);
