/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/answer/doubts.h: how far plans may be off because the figures that they rest on are not known better, and
 * which of them is then the fastest. */
#pragma once

#include "search/answer/ranked_plan.h"

/* By how much the model FLOP/s of a chip under this plan are above `measured` ones, as a share; 0 where they are not,
 * or `measured` is 0. */
double plan_claim(const Request *request, const RankedPlan *ranked, double measured);

/* Fills `doubt` of plans that answer `request` (each its own request where it has one): effects of the figures, its
 * chance of being the fastest of these plans, its own likely range. `measured`: model FLOP/s of a chip in the nearest
 * measured run, 0 where none is known; by what a plan claims over it beyond its likely range its own error is larger,
 * which the chance counts. Where the profile does not know its errors, all
 * stay 0 but the range, which is the profile's. False means that memory is out. */
bool plans_doubt(const Request *request, RankedPlan *plans, int count, double measured, Error *error);

/* The same of one plan alone, without its chance. False: nothing is known of its doubts. */
bool plan_doubt(const Request *request, RankedPlan *ranked);

/* What a deviation of each figure in doubt changes the logarithm of the step by. Returns their number; -1 means that
 * nothing is known. */
int plan_effects(const Request *request, const RankedPlan *ranked, DoubtEffect out[SET_FIGURES_MAX]);

/* Between which seconds its measured step lies nine times in ten: its own range where it has one, else the profile's.
 * False means that it is not known. */
bool plan_likely(const Request *request, const RankedPlan *ranked, double *low, double *high);
