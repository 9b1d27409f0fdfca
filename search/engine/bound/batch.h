/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine/bound/batch.h: the relaxed time of many placements at once: rates as arrays, loops that the compiler
 * vectorises, and only over what a knob setting moves. The same sums as cost/time/step.h in another order, so results
 * carry a directed slack and serve for cuts and order alone. */
#pragma once

#include "search/engine/bound/rate_table.h"
#include "search/engine/layout/layout.h"

/* out[i] <= relaxed_seconds(rule, relaxation, rates of placement i), by less than 1e-11 of it. */
void batch_relaxed_seconds(const StepRule *rule, const Relaxation *relaxation, const RateTable *table, double *out);
