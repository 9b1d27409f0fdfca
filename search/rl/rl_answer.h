/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/rl/rl_answer.h: the best step: colocated or a split of the machine, with the best engine and the best plan
 * that trains for each, and the certificate, a line for each split. */
#pragma once

#include "search/rl/rollout.h"
#include "search/rl/trainer.h"

typedef enum {
    RL_GENERATION,
    RL_TRANSFER, /* weights to the engines */
    RL_LOGPROBS, /* of the policy, as it is trained */
    RL_REFERENCE,
    RL_TEACHER,
    RL_VALUES, /* of the critic */
    RL_TRAINING,
    RL_CRITIC,
    RL_REWARD, /* a model that scores the answers */
    RL_LOAD,   /* HBM is freed and filled where pools share chips */
    RL_OTHER,
    RL_PHASES
} RlPhase;
const char *rl_phase_name(RlPhase phase);  /* "generation" "transfer" "logprobs" ... */
const char *rl_phase_words(RlPhase phase); /* "log-probabilities" */

/* The kinds of step that an answer compares. */
typedef enum { RL_COLOCATED, RL_SPLIT, RL_SPLIT_LAGGED, RL_SPLIT_PARTIAL, RL_WAYS } RlWay;
const char *rl_way_name(RlWay way); /* "colocated" "split" "split_lagged" "split_partial" */
/* Weights may be behind, so that both pools work at once. */
static inline bool rl_way_lags(RlWay way) { return way >= RL_SPLIT_LAGGED; }

typedef struct {
    RlWay way;
    int64_t train_chips, rollout_chips; /* colocated: both are all */
    int lag;                            /* updates that weights may be behind */
    bool fits;
    double phases[RL_PHASES], seconds;
    double rollout_side; /* generation, and a reward model that runs there */
    double train_side;   /* split: what the trainer's pool is busy for */
    Rollout rollout;
    Trainer trainer;
    const AnswersInFlight *curve; /* of one replica and one batch; of the best of a way alone */
    double *step_seconds;         /* of a token, by its segments */
} RlStep;

/* What became of one split: a line of the certificate. */
typedef enum { RL_BEST, RL_SEARCHED, RL_CUT_FLOOR, RL_CUT_ROLLOUT, RL_CUT_TRAINER, RL_LACKS_ROOM, RL_FATES } RlFate;
const char *rl_fate_name(RlFate fate);
typedef struct {
    RlWay way;
    int64_t train_chips;
    double floor, seconds; /* of a step: no way of this split takes less; its best. INFINITY: not searched for */
    RlFate fate;
} RlLine;

typedef struct {
    RlStep best[RL_WAYS]; /* fits: false where there is none */
    RlWay first;          /* the best of them */
    bool found;
    bool open; /* the search of some trainer did not end: nothing is proven */
    RlLine *lines;
    int line_count, searches, trainer_searches;
    RolloutSpace rollouts;
    double mtbf_seconds, goodput; /* of the whole machine, where --mtbf says how often it fails; 0: it does not */
} RlAnswer;

bool rl_answer(const RlQuestion *question, Arena *arena, RlAnswer *out, Error *error);

double rl_usd_per_step(const RlQuestion *question, const RlStep *step); /* below 0: no price is known */
double rl_tokens_per_hour(const RlQuestion *question, const RlStep *step);
