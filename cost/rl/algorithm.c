/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/rl/algorithm.h"

const RlAlgorithm RL_ALGORITHM[RL_ALGORITHMS] = {
    {.name = "grpo", .title = "GRPO", .groups = true, .reference = true},
    {.name = "dapo", .title = "DAPO", .groups = true, .throws_away = true},
    {.name = "ppo", .title = "PPO", .reference = true, .critic = true},
    {.name = "rloo", .title = "RLOO", .groups = true, .reference = true},
    {.name = "reinforce++", .title = "REINFORCE++", .reference = true},
    {.name = "distillation", .title = "on-policy distillation", .teacher = true},
};
