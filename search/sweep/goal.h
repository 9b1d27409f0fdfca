/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/sweep/goal.h: which point of a sweep to buy: the cheapest whose training ends within a deadline and a budget,
 * failures and the chips that stay idle counted. Pure. */
#pragma once

#include "base/text/prose.h"
#include "search/sweep/sweep.h"

/* Reads "30d" and "5M" (dollars); NULL: not asked. */
bool sweep_goal_read(const char *deadline, const char *budget, SweepGoal *out, Error *error);

/* Whether anything is asked. */
static inline bool sweep_goal_is(const SweepGoal *goal) { return goal->deadline_seconds > 0 || goal->budget_usd > 0; }

/* The points that reach a goal. A budget is kept by a price on demand, or by a reserved one; a point without the price
 * that it takes is in no budget, and is not the cheapest. */
typedef struct {
    int64_t on_demand, reserved; /* the cheapest; -1: none. Of points that cost the same, the one that ends first. */
    int64_t soonest;             /* of all points, whatever they cost; -1: no point has a plan */
    int64_t reach;               /* how many reach it at either price */
} SweepChoice;
void sweep_choose(const SweepGrid *grid, const SweepRow *rows, const SweepGoal *goal, SweepChoice *out);

/* What a point is under a goal: "cheapest on demand", "in time", "3.20 days late", "$1.2 M over the budget". */
enum { GOAL_WORDS_SIZE = 160 };
char *sweep_goal_words(const SweepRow *row, const SweepGoal *goal, const SweepChoice *choice,
                       char text[GOAL_WORDS_SIZE]);

/* Sentences: how many points reach the goal, the cheapest at each kind of price with where the price is from; where
 * none does, the soonest. */
void sweep_goal_summary(const SweepGrid *grid, const SweepRow *rows, const SweepGoal *goal, Prose *to);
