/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/launch/rules.h: which degrees, knobs and padding each launcher takes. Pure. */
#ifndef SHARDOPT_SEARCH_LAUNCH_RULES_H
#define SHARDOPT_SEARCH_LAUNCH_RULES_H

#include "search/answer/ranked_plan.h"

/* Which launchers take the degrees, knobs and padding of a plan (divisibility, schedule, context method:
 * reference/exports.md, "Enforced"), wherever its roles lie: that is search/launch/placement.h. Pure. */
LauncherSet plan_launchers(const Model *model, const Work *work, const Plan *plan, PaddingSet padding,
                           const Mesh *mesh);

/* Why a launcher does not take the degrees, knobs or padding of a plan: a sentence that names the rule; NULL: it takes
 * them. Pure. */
const char *launch_refusal(Launcher launcher, const Model *model, const Work *work, const Plan *plan,
                           PaddingSet padding, const Mesh *mesh);

/* The padding rule of a request as it is on a mesh: where a plan must be launched by somebody (PADDING_LAUNCHABLE, or
 * `launchers`, of which one is asked for; 0: none is) and none of them pads anything there, nothing is padded. */
PaddingRule padding_on(PaddingRule rule, LauncherSet launchers, const Mesh *mesh);

#endif
