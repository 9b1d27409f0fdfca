/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/stage/rule.h: the part of a step that neither layout nor placement changes: bubble, optimizer, gradients over
 * data, overheads. */
#pragma once

#include "cost/stage/cost_context.h"
#include "cost/time/schedule.h"
#include "cost/time/step.h"

/* The rule of a plan's step. */
void step_rule(const CostContext *setting, const Shard *shard, const Knobs *knobs, StepRule *out);
