/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/rl/recipes.h: what NeMo RL's own recipes for this model and as many of these chips take for the same work
 * (cost/rl/profiles/recipes.json). */
#pragma once

#include "search/rl/rl_answer.h"

enum { RECIPES_MAX = 2 };

typedef struct {
    const char *name;
    RlStep step; /* fits: false where it does not */
} Recipe;

typedef struct {
    Recipe of[RECIPES_MAX];
    int count;
} Recipes;

/* None where the request fixes a split, a plan or engines itself, or has another kind of chip. */
bool recipes_price(const RlQuestion *question, Arena *arena, Recipes *out, Error *error);
