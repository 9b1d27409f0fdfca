/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/rl/rl_question.h: a request to `shardopt rl`, resolved: what a step generates and trains, on which machine,
 * and which ways are open. */
#pragma once

#include "cost/rl/algorithm.h"
#include "cost/rl/rl_profile.h"
#include "search/options/machine_words.h"
#include "search/serving/options/serving_options.h"

typedef enum { RL_TIME, RL_TOKENS, RL_COST, RL_OBJECTIVES } RlObjective;

enum { RL_LAG_MAX = 8 };

typedef struct {
    const Options *options; /* as given */
    Model model;
    Chip chip;
    Machine machine;
    RequestedMachine requested;
    const RlAlgorithm *algorithm;
    RlProfile profile;
    ServingRequested serving; /* the whole machine as a pool that generates */
    Lengths answers;
    int64_t prompts, samples;           /* of a step; answers generated: answers_generated() */
    double prompt, kept;                /* tokens; share of answers that are trained on */
    int64_t train_batch;                /* answers of one update */
    double teacher_share, critic_share; /* active parameters to those of the policy; 0: there is none */
    double weight_bytes;                /* of the policy as it generates */
    int64_t chips, unit, hosts;         /* unit: the least part of a split: a host, or of one host a chip */
    int lag;                            /* at most */
    bool only_colocated;
    int64_t train_hosts; /* only so many; 0: any */
    RlObjective objective;
    bool brute_force;
} RlQuestion;

/* Answers that a step generates. */
static inline int64_t answers_generated(const RlQuestion *question) {
    return (int64_t)((double)(question->prompts * question->samples) / question->kept + 0.5);
}

/* Tokens of a step that are trained on: prompts and answers. */
static inline double tokens_trained(const RlQuestion *question) {
    return (double)(question->prompts * question->samples) * (question->prompt + question->answers.mean);
}

/* Lengths whose logarithm has this deviation, cut at `most`, with this mean. In the arena. */
bool answers_lognormal(double mean, double most, double sigma, Arena *arena, Lengths *out);

bool rl_question(const Options *options, Arena *arena, RlQuestion *out, Error *error);
