/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/answer/doubts.h: how far plans may be off because the figures that they rest on are not known better, and
 * which of them is then the fastest. */
#pragma once

#include "search/answer/ranked_plan.h"

/* Fills `doubt` of plans that answer `request` (each its own request where it has one): effects of the figures, its
 * chance of being the fastest of these plans, its own likely range. Where the profile does not know its errors, all
 * stay 0 but the range, which is the profile's. False means that memory is out. */
bool plans_doubt(const Request *request, RankedPlan *plans, int count, Error *error);

/* The same of one plan alone, without its chance. False: nothing is known of its doubts. */
bool plan_doubt(const Request *request, RankedPlan *ranked);

/* What a deviation of each figure in doubt changes the logarithm of the step by. Returns their number; -1 means that
 * nothing is known. */
int plan_effects(const Request *request, const RankedPlan *ranked, DoubtEffect out[SET_FIGURES_MAX]);

/* Between which seconds its measured step lies nine times in ten: its own range where it has one, else the profile's.
 * False means that it is not known. */
bool plan_likely(const Request *request, const RankedPlan *ranked, double *low, double *high);
