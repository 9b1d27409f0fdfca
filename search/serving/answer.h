/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/serving/answer.h: the whole answer: the Pareto front of what engines can launch, that of what divides and
 * fits, the best point for the limits, points that differ in kind, and what the usual layout loses. */
#pragma once

#include "search/serving/explore.h"

/* The most that any way to serve a question could give, without a search: every byte and FLOP in perfect balance over
 * all chips, the floors of kernels once, messages for nothing. A search that was cut short says by it how far its best
 * can be from the best of all.
 *
 * Output tokens per second: no point of the question's engines, types and modes has more for each chip, if its time of
 * a token is within `tpot_seconds` (0: any), nor more for a user. Both 0: nothing can fit. */
typedef struct {
    double per_chip, per_user;
} ServingUpperBound;
ServingUpperBound serving_upper_bound(const ServingQuestion *question, double tpot_seconds);

enum { SERVING_KINDS_MAX = 5 };

/* The limits by which the best point is chosen where none are requested: users read some 20 tokens a second, and MLPerf
 * Inference v5.1 gives the server scenario of Llama-2-70B 2 s to the first token (mlcommons, 2025). */
static const double TPOT_GOAL_SECONDS = 0.05, TTFT_GOAL_SECONDS = 2;

typedef struct {
    const char *kind; /* "lowest latency" */
    ServingPoint point;
} ServingKind;

typedef struct {
    ServingFront front;    /* of the requested engines; of none with any_engine */
    ServingFront physical; /* of what divides and fits; empty with any_engine */
    ServingCount count, physical_count;
    SubMeshList submeshes;
    double ttft_goal_seconds, tpot_goal_seconds; /* by which the best was chosen */
    bool has_best, with_margin;                  /* with_margin: nine in ten by the model's own error keep the goals */
    bool loosened; /* nobody requested limits and nothing keeps the usual ones: goals are twice the shortest times */
    ServingPoint best;
    bool has_two_pools; /* two pools on one host are better than the best, by less than the model's error */
    ServingPoint two_pools;
    bool has_seldom; /* a layout that hardly anybody runs is better than the best, by less than the model can tell */
    ServingPoint seldom;
    bool has_nearest; /* nothing keeps the limits: what comes nearest */
    ServingPoint nearest;
    ServingKind kinds[SERVING_KINDS_MAX];
    int kind_count;
    bool has_usual; /* all chips of a domain in tensor */
    ServingPoint usual;
    double likely_factor;
    /* Of a search that was cut short (count.complete is false): what nothing exceeds, and how far the best so far can
     * be from it, as a share, by the objective. INFINITY: there is no best. 0: the search is complete. */
    ServingUpperBound upper_bound;
    double gap;
} ServingAnswer;

/* Searches. Points refer to sub-meshes in the arena and to the question. Where the search of the front is cut short,
 * the best is that of the front so far, and what else would be searched (the usual layout, the front of no engine's
 * rules) is left out. */
bool serving_answer(const ServingQuestion *question, Arena *arena, ServingAnswer *out, Error *error);

/* The rank in the front, from 1, of its best point within the goals: with the margin of the model's error where one
 * keeps them so, else by the mean, else the one that exceeds them least. `best` itself may be missing from the front:
 * the first token's wait, which is no rate, can make it the best. 0: the front is empty. */
int answer_best_rank(const ServingQuestion *question, const ServingAnswer *answer);

void serving_answer_free(ServingAnswer *answer);

/* The engines that take a point as it is: each pool in the rules of one. */
EngineSet point_launchable_by(const ServingQuestion *question, const ServingPoint *point);
