/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/rl/trainer.h: the best plan that trains on a part of the machine: the training search's own, on packed
 * sequences of the step's lengths. */
#pragma once

#include "search/engine/search.h"
#include "search/rl/rl_question.h"

typedef struct {
    int64_t chips; /* that the plan uses */
    bool fits;
    const RankedPlan *plan;
    double step_seconds;                /* of one update, as the training model has it */
    double seconds;                     /* of all updates of a step */
    double least_seconds;               /* of all updates: none on these hosts, or on fewer of them, is quicker */
    double forward_seconds;             /* of one pass forward over all of its tokens, adapters off */
    double adapter_seconds;             /* of such a pass, what adapters add */
    int64_t updates, sequences, length; /* of a step; packed sequences of an update, tokens of each */
    double gap;
    bool open;          /* its search did not end: neither the plan nor, without one, that there is none is proven */
    double moved_bytes; /* of a chip: other models without room next to the policy, from the host each step */
    double state_bytes; /* of a chip: weights and optimizer state */
    double sent_bytes;  /* to engines: all weights, or adapters */
} Trainer;

/* The share of hosts that may idle: fewer of them may train quicker than all. */
#define TRAINER_IDLE 0.9
#define TRAINER_IDLE_TEXT "0.9"

/* No plan on so many chips trains quicker: every FLOP at the peak. The second adds the passes that log-probabilities
 * take. */
double trainer_floor(const RlQuestion *question, int64_t chips);

/* The packed sequences of an update: *length tokens each. */
double trainer_sequences(const RlQuestion *question, int64_t *length);

/* Searches for plans whose updates take at most `limit_seconds` in a step, all together (INFINITY: any). out->fits is
 * false where none does. */
bool trainer_search(const RlQuestion *question, int64_t chips, double limit_seconds, Arena *arena, Trainer *out,
                    Error *error);
