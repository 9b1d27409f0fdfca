/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/profile.h: which share of the catalog's rates a machine and its software reach. `ideal` takes every rate whole,
 * fuses all elementwise work and has no overheads: the book's model. A profile changes efficiencies only; figures stay
 * the catalog's. */
#ifndef SHARDOPT_COST_PROFILE_H
#define SHARDOPT_COST_PROFILE_H

#include "base/arena.h"
#include "base/error.h"
#include "mesh/chip.h"
#include "mesh/mesh.h"

#include <stdbool.h>

enum { PROFILE_NAME_SIZE = 64, PROFILE_SOURCE_SIZE = 512 };

typedef struct {
    char name[PROFILE_NAME_SIZE]; /* "ideal", "default-tpu-v5p" */
    char source[PROFILE_SOURCE_SIZE];

    bool tile_padding;        /* pad the weight dimensions of a matmul to the chip's matrix tile */
    double matrix_efficiency; /* of the dense peak, large matmuls */
    double fp8_efficiency;    /* of the dense fp8 peak, the same; 1 in `ideal` */
    /* time x (1 + this * (peak / hbm) * (1/M + 1/N + 1/K)): operand traffic that is not hidden */
    double matmul_traffic;
    double grouped_efficiency;      /* of grouped (expert) matmuls, times matrix_efficiency */
    double attention_efficiency;    /* of the dense peak, flash forward */
    double attention_backward_rate; /* rate of its backward over its forward */
    double hbm_efficiency;
    double elementwise_traffic; /* share of elementwise operand traffic that fusion leaves */
    double ici_efficiency, nvlink_efficiency, network_efficiency, dcn_efficiency; /* of the link rates */
    double pcie_efficiency;
    double host_memory_share; /* of the host's memory, that offloaded activations may take */
    /* HBM of a communicator's buffers, of every role of more than one chip; and beside it of the connections that
     * all_to_all opens. --hbm-reserve has to hold them. */
    double communicator_bytes, all_to_all_bytes;
    double expert_imbalance; /* busiest expert over the mean: >= 1 */

    /* Shares of a role's communication that are exposed however much there is to hide behind, 0 to 1. ideal: critical
     * 1, the rest 0. */
    double tensor_exposed, expert_exposed, sequence_exposed, pipeline_exposed;
    double fsdp_exposed, data_exposed;
    /* The same where chunked matmuls hide tensor collectives, and where the schedule hides dispatch; as large as the
     * plain share: the machine has no such overlap. */
    double tensor_overlapped, expert_overlapped;
    double ring_attention_exposed; /* sequence by ring: share that its attention does not hide; 1: all */

    double layer_seconds;      /* per layer and microbatch, forward + backward */
    double microbatch_seconds; /* per microbatch and stage */
    double step_seconds;       /* per step */

    double likely_low, likely_high; /* of a predicted step: measured / predicted lies between; 0: not known (ideal) */
} Profile;

/* The same machine with its matmuls in fp8: rates of matmuls are written over the bf16 peak everywhere, so their
 * efficiency takes the ratio of the two peaks in (and may pass 1). Attention stays bf16; so do logits in practice,
 * which are priced as fp8 here: a few percent of a step. `profile` is as loaded. */
Profile profile_in_fp8(const Profile *profile, const Chip *chip);

/* The mesh with link rates times their efficiencies. */
Mesh profile_mesh(const Profile *profile, const Mesh *mesh);

/* What --profile accepts: "ideal", "default" (the chip's own, or of its kin), the name of a file in cost/profiles, or a
 * path. */
bool profile_load(const char *argument, const Chip *chip, Arena *arena, Profile *out, Error *error);

#endif
