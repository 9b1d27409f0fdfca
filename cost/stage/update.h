/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/stage/update.h: the time of the optimizer's update, once a step: on the chip, or, where its state lies on the
 * host, by whichever way the launcher has (cost/state/state.h). docs/model.md, "The optimizer". */
#pragma once

#include "cost/stage/stage_totals.h"

/* Seconds of the update of the parameters that a chip owns. With state on the host it is never less than the same
 * update with state in HBM. */
double update_seconds(const CostContext *setting, const Shard *shard, const Knobs *knobs, const LocalParameters *owned);

/* The least time in seconds that the weight gradients of one microbatch take on this many layers: their FLOPs at the
 * matrix units' rate. */
double weight_gradient_seconds(const CostContext *setting, const Shard *shard, double layers);
