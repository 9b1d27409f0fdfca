/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine/layout/counts.h: whole layer counts near given ones: made to fit, then improved, in exact doubles. What the
 * solver returns passes through here, so that its tolerances decide nothing. Internal to engine/layout. */
#pragma once

#include "search/engine/layout/branch.h"

/* Rounds `values` (one per item) down, takes layers as they cost least per missing byte until memory fits, then gives
 * back and exchanges single layers while the step gets shorter. False: it does not come to fit. */
bool counts_near(const StepRule *rule, const Branch *branch, const Rates *rates, const double *values,
                 int64_t counts[ITEMS_MAX], double *seconds);
