/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/rl/algorithm.h: what one step of an algorithm computes in addition to generation and training: a row of data for
 * each. Sources: GRPO, DeepSeekMath (arXiv 2402.03300); DAPO (2503.14476); PPO for language models, InstructGPT
 * (2203.02155); RLOO (2402.14740); REINFORCE++ (2501.03262); on-policy distillation, GKD (2306.13649). */
#pragma once

#include <stdbool.h>

typedef struct {
    const char *name, *title; /* "grpo", "GRPO" */
    bool groups;              /* the baseline is that of the other answers to a prompt: two or more are needed */
    bool reference;           /* log-probabilities of a frozen copy, for the KL term */
    bool critic;              /* a value model: values of the answers, and its own training */
    bool teacher;             /* log-probabilities of another model are what is learned from */
    bool throws_away;         /* groups whose answers are all right or all wrong are generated and thrown away */
} RlAlgorithm;

enum { RL_ALGORITHMS = 6 };
extern const RlAlgorithm RL_ALGORITHM[RL_ALGORITHMS];
