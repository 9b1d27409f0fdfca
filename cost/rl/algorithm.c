/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/rl/algorithm.h"

#include <string.h>

const RlAlgorithm RL_ALGORITHM[RL_ALGORITHMS] = {
    {.name = "grpo", .title = "GRPO", .groups = true, .reference = true},
    {.name = "dapo", .title = "DAPO", .groups = true, .throws_away = true},
    {.name = "ppo", .title = "PPO", .reference = true, .critic = true},
    {.name = "rloo", .title = "RLOO", .groups = true, .reference = true},
    {.name = "reinforce++", .title = "REINFORCE++", .reference = true},
    {.name = "distillation", .title = "on-policy distillation", .teacher = true},
};

int rl_algorithm_named(const char *name) {
    for (int i = 0; i < RL_ALGORITHMS; i++)
        if (strcmp(RL_ALGORITHM[i].name, name) == 0) return i;
    return -1;
}
