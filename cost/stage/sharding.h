/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/stage/sharding.h: lists the shardings that a stage may use over its tensor group. */
#pragma once

#include "cost/stage/cost_context.h"

/* The strategies that a node of the layout may take under these degrees: SEQUENCE needs tensor > 1 and tokens that
 * divide; GATHERED mlp needs SEQUENCE; kv is SPLIT when tensor <= kv heads, else REPLICATED or GATHERED; tables take
 * both when tensor > 1. Lists every allowed combination (<= 32); the first is the default (sequence, tensor, split or
 * replicated, vocabulary, vocabulary). */
enum { SHARDINGS_MAX = 32 };
int shardings_of(const CostContext *setting, const Shard *shard, Sharding out[SHARDINGS_MAX]);
bool sharding_allowed(const CostContext *setting, const Shard *shard, const Sharding *sharding);

/* The choices of a sharding by number: nodes of the strategy graph. */
enum { NODE_RESIDUAL, NODE_MLP, NODE_KV, NODE_EMBEDDING, NODE_LOGITS, CHOICE_COUNT };
int sharding_choice(const Sharding *sharding, int node);
void sharding_choose(Sharding *sharding, int node, int choice);
