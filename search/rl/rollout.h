/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/rl/rollout.h: the time in which a part of the machine generates a step's answers, for every layout of the
 * serving space: replicas share the answers, and each layout's time is a sum over answers in flight, tail and body
 * (cost/rl/in_flight.h), by the serving model's seconds for as many. */
#pragma once

#include "cost/rl/in_flight.h"
#include "search/rl/rl_question.h"
#include "search/serving/point.h"

/* A layout of the serving space, on the smallest part that holds it. */
typedef struct {
    ServingLayout on;
    PricedLayout priced;
    int64_t slots[2]; /* answers that a replica has room for, apart and where the chips train too; the engine's own
                       * limit counts too */
} RolloutLayout;

/* What generates. */
typedef struct {
    int64_t chips;
    int lag;      /* answers may be as many updates old */
    bool shared;  /* the chips train too */
    bool partial; /* answers that are not done go on after weights came */
} RolloutPool;

typedef struct {
    int64_t answers, slots;
    AnswersInFlight of;
} KnownCurve;
enum { KNOWN_CURVES = 256 };

/* Everything that a search of splits hands from one part of the machine to the next. */
typedef struct {
    const RlQuestion *question;
    const RolloutLayout *layouts;
    int count;
    KnownCurve *curves; /* by answers and slots */
    int64_t *keys;
    double *room;   /* to lay out lengths in */
    int64_t domain; /* devices that fast links join */
} RolloutSpace;
bool rollout_space(const RlQuestion *question, Arena *arena, RolloutSpace *out, Error *error);

typedef struct {
    const RolloutLayout *layout; /* NULL: none fits */
    bool shared;
    int64_t replicas, answers, slots;             /* answers of the replica with most; those at once at most */
    int lag;                                      /* batches whose answers are in flight together; 0 and 1: one */
    bool partial;                                 /* answers go on after weights came */
    double seconds;                               /* of all answers of a step, prompts included */
    double prompt_seconds, tail_seconds;          /* of them: prompts; fewer than a tenth of the answers left */
    double first_step_seconds, last_step_seconds; /* of a token: all in flight, and the longest alone */
    double steps;                                 /* of decode, until the longest ends */
} Rollout;

/* One layout on a pool. seconds is INFINITY where it does not fit. */
Rollout rollout_of(RolloutSpace *space, const RolloutLayout *layout, RolloutPool pool);

/* Of a rollout that rollout_of() made, one batch by itself: who is in flight, and into `step_seconds` (of
 * IN_FLIGHT_SEGMENTS_MAX) the seconds of a step in each segment. */
const AnswersInFlight *rollout_curve(RolloutSpace *space, const Rollout *rollout, double *step_seconds);

/* The quickest; of equals the first of the space. */
Rollout rollout_best(RolloutSpace *space, RolloutPool pool);

/* No layout takes less on so many chips: tokens at the most of any, and the longest at the least per token. */
double rollout_floor(const RlQuestion *question, RolloutPool pool);
