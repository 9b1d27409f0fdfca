/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/rl/rl_profile.h: what a step of reinforcement learning takes beyond its kernels, as data with sources: every
 * figure of cost/rl/profiles/default.json. */
#pragma once

#include "base/arena.h"
#include "base/error.h"

typedef struct {
    double answer_sigma;    /* of ln(length), where nobody says how lengths are spread */
    double answers_at_once; /* that an engine takes by itself, of a rank of attention data */
    /* Of the serving model's seconds: engines on the chips that train, and servers of their own. */
    double generation_colocated, generation_apart;
    double training_factor;  /* of the training model's seconds: packing, variable lengths, the loss */
    double forward_share;    /* of training's seconds: one pass forward over its tokens, for log-probabilities */
    double transfer_seconds; /* of sending weights over: before and behind the bytes */
    double transfer_bytes_per_second; /* of one host that trains; of several it rises with their root */
    double load_seconds;              /* of freeing and filling HBM where pools share chips, once a phase */
    double other_share;               /* rewards, advantages, data: of all the rest */
} RlProfile;

/* Pure: reads it from the text of the file; `where` is its name in errors. */
bool rl_profile_read(const char *text, size_t length, const char *where, RlProfile *out, Error *error);

/* Reads cost/rl/profiles/default.json. */
bool rl_profile_load(Arena *arena, RlProfile *out, Error *error);
