/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/rl/rl_question.h: a request to `shardopt rl`, resolved: what a step generates and trains, on which machine,
 * and which ways are open. */
#pragma once

#include "cost/rl/algorithm.h"
#include "cost/rl/rl_profile.h"
#include "search/options/machine_words.h"
#include "search/serving/options/serving_options.h"

/* As --objective has them. Every chip is paid for and every step trains on as many tokens: all three rank alike. */
enum { RL_TIME, RL_TOKENS, RL_COST };

enum { RL_LAG_MAX = 8 };

typedef enum { RL_EITHER, RL_PARTIAL, RL_WHOLE } RlPartial; /* as --partial has them */

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
    double cut;               /* tokens at which an answer is cut; 0: a file says how long answers are */
    int64_t prompts, samples; /* of a step; answers generated: answers_generated() */
    double prompt, kept;      /* tokens; share of answers that are trained on */
    int64_t train_batch;      /* answers of one update */
    /* Active parameters to those of the policy; 0: there is none. */
    double teacher_share, critic_share, reward_share;
    bool reward_by_rollout, logprobs_by_rollout; /* else by the chips that train */
    double tool_seconds, tool_longest;           /* that an answer waits in all, mean; one call, of all in a step */
    const char *calls_left_out;                  /* rows of the file of calls, as answers.left_out */
    RlPartial partial;                           /* answers go on after weights came, if weights may be behind */
    double engine_memory[2];    /* the share of HBM that engines take: apart, and where they share chips */
    double weight_bytes;        /* of the policy as it generates; with adapters 0: a trainer knows theirs */
    int64_t rank;               /* of adapters; 0: all weights are trained */
    int64_t chips, unit, hosts; /* without rollout_only; unit: the least part of a split: a host, or of one a chip */
    int64_t rollout_only;       /* chips of another kind, which generate; 0: a part of the same machine does */
    int lag;                    /* at most */
    bool only_colocated;
    int64_t train_hosts; /* only so many; 0: any */
    bool brute_force;
} RlQuestion;

/* Passes forward of the pool that trains, in parameters of the policy. */
static inline double question_passes(const RlQuestion *question) {
    return !question->logprobs_by_rollout + question->algorithm->reference + question->teacher_share +
           question->critic_share + (question->reward_by_rollout ? 0 : question->reward_share);
}

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

/* The length at a share of them, 0 to 1. */
double length_at(const Lengths *lengths, double share);

bool rl_question(const Options *options, Arena *arena, RlQuestion *out, Error *error);
