/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/played.h: a plan's step, played: every pass of every microbatch on every stage at that stage's own seconds, with
 * what it exchanges, and reductions behind it (cost/time/schedule_simulation.h). Where the formula (cost/time/step.h)
 * takes one stage's seconds for all, here each has its own layers, embedding or logits, and each chunk. docs/model.md,
 * "The played step", says what differs. Pure. */
#pragma once

#include "cost/stage/stage.h"
#include "cost/time/schedule_simulation.h"

/* One stage over the step, in seconds; sums of its passes, and what is between and behind them. */
typedef struct {
    double forward, backward; /* compute, without what follows */
    double exchange;          /* of its passes: communication that they wait for */
    double idle;              /* until the last stage's passes are over */
    double reduction;         /* behind its own last pass: gradients over replicas that nothing hides */
    double held;              /* microbatches whose activations it has at most, in layers of its own */
    double memory_bytes;      /* with these, at most */
} PlayedStage;

typedef struct {
    double seconds;        /* of the step */
    double passes_seconds; /* until the last pass ends; of as many microbatches as there are */
    Play play;             /* of `play.microbatches`: those of a long step are fewer, as what is between repeats */
    Played played;
    PlayedStage *stages; /* play.ranks of them, of the microbatches that were played */
} PlayedStep;

/* What a plan is played with: its shard and its rates, as estimate_plan() has them. */
typedef struct {
    const CostContext *setting;
    const Shard *shard;
    const Plan *plan;
    const Rates *rates;
} PlayedPlan;

/* Plays the step. False: memory is out, or it cannot be played (more than PLAY_PASSES_MAX passes in a few rounds). */
bool step_play(const PlayedPlan *plan, Arena *arena, PlayedStep *out);

/* The seconds alone; 0: it cannot be played. */
double played_seconds(const PlayedPlan *plan);

/* What a plan takes, of the formula's seconds and the played ones: the formula's, unless the played step is longer by
 * more than a hundredth. */
double step_of_both(double formula, double played);
