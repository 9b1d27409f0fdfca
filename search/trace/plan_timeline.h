/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/trace/plan_timeline.h: the step of a plan moment by moment, beside which a measured one is drawn. A report has
 * the terms of a step and no order of them: passes are laid out as the schedule plays them, each with its share of the
 * terms, backward twice as long as forward; what is hidden lies beneath the pass that hides it, and what comes once a
 * step stands at its end. Pure. */
#pragma once

#include "cost/trace/timeline.h"
#include "search/trace/beside.h"

/* `beside` has a plan; stage -1 is the first. Without a step the timeline has no seconds. False: memory is
 * out. */
bool plan_timeline(const Beside *beside, int64_t stage, TraceTimeline *out);
