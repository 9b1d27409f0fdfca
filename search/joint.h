/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/joint.h: least rates that respect that tensor, expert and sequence cannot all have the best axes.
 *
 * Theorem. These three nest innermost, so their footprints depend on their own factors alone. Whatever the placement of the others, the
 * costs of the three are those of one way to place them, and each of these is component-wise >= one of the points kept here.
 * A bound that is monotone in the rates, minimised over the points with the other groups at their least, is a bound. */
#ifndef SHARDOPT_SEARCH_JOINT_H
#define SHARDOPT_SEARCH_JOINT_H

#include "cost/step.h"

enum { JOINT_POINTS_MAX = 24 };

typedef struct {
    CollectiveCost tensor, expert, sequence[CONTEXT_COUNT]; /* by context method */
} JointPoint;

typedef struct {
    int count;
    JointPoint points[JOINT_POINTS_MAX];
} JointRates;

/* Pareto-least points of the degrees' three inner roles; where there are more than fit, the last one is the component-wise least of the rest.
 * False: memory is out, or the tuple cannot be placed. */
bool joint_rates(const Mesh *mesh, const Degrees *degrees, JointRates *out, Error *error);

/* `least` with the three groups at one point. */
Rates joint_apply(const JointRates *joint, int point, ContextMethod context, const Rates *least);

#endif
