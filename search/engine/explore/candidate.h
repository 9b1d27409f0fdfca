/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine/explore/candidate.h: one knob setting of a degree tuple: its best placement and layout. */
#pragma once

#include "search/engine/explore/admission.h"

/* Finds the best placement and layout of knob setting `index` of the space, and keeps it in *best where it beats what
 * is there. A plan above `limit` (ranked) is of no use. */
bool candidate_explore(TupleNode *tuple, int64_t index, const Admission *admission, double limit, BestPlan *best);

/* Adds how many placements of one knob setting have a relaxed time within the limit (ranked). */
bool candidate_count_within(TupleNode *tuple, int64_t index, const Admission *admission, double limit, Count *within);
