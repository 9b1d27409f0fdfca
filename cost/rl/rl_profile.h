/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/rl/rl_profile.h: what a step of reinforcement learning takes beyond its kernels, as data with sources: every
 * figure of cost/rl/profiles/default.json. */
#pragma once

#include "base/arena.h"
#include "base/error.h"

typedef struct {
    double answer_sigma;    /* of ln(length), where nobody says how lengths are spread */
    double answers_at_once; /* that an engine takes by itself, of a rank of attention data */
    /* The share of HBM that engines take: on the chips that train, and apart. */
    double memory_colocated, memory_apart;
    /* Of the host, in addition to what a server under load tests takes: an engine that a framework calls schedules and
     * reads tokens in the caller's process, while its chip waits. Of a step, and for each sequence in it. */
    double host_step_seconds, host_sequence_seconds;
    double answer_seconds;   /* of the host, for the loss of each answer that a replica of the trainer has */
    double forward_share;    /* of training's seconds without recomputation: one pass forward over its tokens */
    double transfer_seconds; /* of sending weights over: before and behind the bytes */
    double transfer_bytes_per_second; /* of one host that trains; of several it rises with their root */
    double load_seconds;              /* of freeing and filling HBM where pools share chips, once a phase */
    double other_share;               /* rewards, advantages, data: of all the rest */
    double likely_error;              /* of a step's seconds, median: two that are nearer may be the other way round */
} RlProfile;

/* Pure: reads it from the text of the file; `where` is its name in errors. */
bool rl_profile_read(const char *text, size_t length, const char *where, RlProfile *out, Error *error);

/* Reads cost/rl/profiles/default.json. */
bool rl_profile_load(Arena *arena, RlProfile *out, Error *error);
