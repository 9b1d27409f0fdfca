/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/serving/point.h: one way to serve, priced: its pools, what a user and a chip get, and the first token's wait;
 * and the Pareto front of such points. */
#pragma once

#include "base/error.h"
#include "search/serving/space.h"

/* What of a prompt need not be computed, and what of that comes from the host's memory; shares of it. */
typedef struct {
    double cached, copied;
} PrefixHit;

typedef struct {
    ServingPhase phase;
    ServingLayout on;
    int64_t workers;
    int64_t batch;       /* sequences in flight of one worker */
    int64_t step_tokens; /* the most tokens of a step */
    StepCost step;       /* the mean step; of prompts, one step of a prompt */
    WorkerMemory memory;
    PrefixHit hit;
} ServingPool;

typedef struct {
    ServingMode mode;
    ServingPool pools[2];
    int pool_count;
    int64_t chips_used;
    double ttft_seconds, tpot_seconds;
    double per_user,
        per_chip; /* output tokens per second; per_chip: of the whole machine, with --rate of what is used */
    double tokens_per_second;   /* output, of all copies */
    double requests_per_second; /* of all copies */
    double prefill_load;        /* share of the capacity for prompts that is taken */
    double transfer_seconds;    /* of a cache between two pools */
    double prompt_seconds;      /* of ttft_seconds: the prompt's own steps */
} ServingPoint;

/* A layout with everything that no batch changes. */
typedef struct {
    const ServingLayout *on;
    StepPlan step;
    MemoryPlan memory;
    double prefixes_bytes, copy_seconds; /* on a chip: all that its rank should have, and to copy one from the host */
} PricedLayout;

void price_layout(const ServingQuestion *question, const ServingLayout *layout, const WorkerLinks *links,
                  PricedLayout *out);

/* Room of a layout: how many sequences of full length a worker holds next to a step of `step_tokens`; 0: none. */
int64_t layout_room(const MemoryPlan *plan, int64_t step_tokens);

/* The chips that some devices are. */
int64_t question_chips(const ServingQuestion *question, int64_t devices);

/* One pool at a batch, into `out`: everything but the first token's wait. */
void point_of_batch(const ServingQuestion *question, const PricedLayout *layout, int64_t batch, ServingMode mode,
                    ServingPoint *out);

/* The step of `batch` sequences: steady, with as many prompt tokens as they finish and bring, or of decode alone. */
StepLoad load_of_batch(const ServingQuestion *question, int64_t batch, ServingMode mode);

/* What a first token of two pools takes besides its prompt and the transfer of its cache: the host of both servers, and
 * half of a step of the one that decodes, which it joins between two. */
static inline double hand_over_seconds(const ServingProfile *profile, const StepCost *decode) {
    return 2 * profile->first_token_seconds + profile->queue * decode->seconds / 2;
}

/* Seconds that a request waits for a slot where more are in flight than those that decode; 0: none waits. */
double point_slot_wait(const ServingQuestion *question, const ServingPoint *point);

/* Picks the budget of a step at which the first token comes soonest and memory suffices, and fills in what follows from
 * it. False: no budget keeps up with the prompts. */
bool point_first_token(const ServingQuestion *question, const PricedLayout *layout, ServingPoint *point);

/* The parts of ttft_seconds, which add up to it: the wait for a slot and others; the prompt's own steps; its cache
 * to the pool that decodes; what the host takes, and until a step of that pool begins. */
typedef struct {
    double queue, prompt, transfer, hand_over;
} FirstTokenParts;
FirstTokenParts point_first_token_parts(const ServingQuestion *question, const ServingPoint *point);

/* Whether it keeps the requested limits. */
bool point_keeps_limits(const ServingQuestion *question, const ServingPoint *point);

/* What a prompt takes in a worker for prompts. Each rank of attention data has a prompt of its own, so that `ranks` of
 * them go through together: one is done after `wait_seconds`, and the worker takes `seconds` for each. */
typedef struct {
    double wait_seconds, seconds;
} PromptTime;

/* Chunks of at most `step_tokens` for each rank, as many as go through quickest. Fills in step and memory; infinite
 * where memory lacks. */
PromptTime prompt_time(const ServingQuestion *question, const PricedLayout *layout, ServingPool *pool);

/* The chips that its rate per chip and its cost are over: those that it uses where a rate is requested, else all. */
double point_chips_paid(const ServingQuestion *question, const ServingPoint *point);
/* USD for a million tokens at so many a second; negative: no price is known, or there are no tokens. */
double point_usd_per_million(const ServingQuestion *question, const ServingPoint *point, double tokens_per_second);

/* Joules for an output token where every board that is paid for takes what it takes at most, without hosts and network;
 * negative: the chip's is not known, or there are no tokens. */
double point_joules_per_token(const ServingQuestion *question, const ServingPoint *point);

/* The points of which none is beaten, since no other has at least as many tokens per second for each user and for each
 * chip, and more of one of them. Of equals the one with the sooner first token stays, then the one that comes first in
 * the enumeration, so that the front does not depend on the way of a search. */
typedef struct {
    ServingPoint *points; /* falling per_user, rising per_chip, once settled; malloc'd */
    int count, room;
    int *order; /* where each of them lies while points are added, which are large: they are not shifted; malloc'd */
} ServingFront;

/* Whether a point with these rates, or any worse one, is beaten by one that is there. Equal rates are not beaten. */
bool front_beats(const ServingFront *front, double per_user, double per_chip);

/* Adds a point unless it is beaten, and drops those that it beats. False: memory is out. */
bool front_add(ServingFront *front, const ServingPoint *point, Error *error);

/* Lays the points in their order. To be called before they are read; more can be added afterwards. */
void front_settle(ServingFront *front);

void front_free(ServingFront *front);
