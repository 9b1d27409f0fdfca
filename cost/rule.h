/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/rule.h: what of a step neither layout nor placement changes: bubble, optimizer, gradients over data,
 * overheads. */
#ifndef SHARDOPT_COST_RULE_H
#define SHARDOPT_COST_RULE_H

#include "cost/setting.h"
#include "cost/step.h"

/* What of the bubble of one pass through all other stages is left with v virtual stages and m microbatches.
 * Microbatches go through the chunks in groups of as many as there are stages: (p - 1) / v of a microbatch when groups
 * are full; the last group, of r <= p microbatches, leaves p - r slots empty in each of its first v - 1 rounds: factor
 * (1 + (v - 1) (p - r) / (p - 1)) / v. One microbatch gains nothing from interleaving. Pure, for p >= 2. */
double bubble_factor(double stages, double microbatches, double virtual_stages);

/* The rule of a plan's step. */
void step_rule(const Setting *setting, const Shard *shard, const Knobs *knobs, StepRule *out);

#endif
