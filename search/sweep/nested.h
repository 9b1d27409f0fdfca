/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/sweep/nested.h: points of a sweep whose spaces lie in each other. More HBM, more chips that may stay idle or a
 * wider tolerance of the batch only add plans; so a plan of the narrower point that is faster than the proven best of
 * the wider one is a defect of the search, like that of search/answer/contradiction.h. */
#pragma once

#include "search/sweep/sweep.h"

/* Whether all pairs of such points that differ in one option agree; rows without a line are passed over. Points are
 * compared where the same launcher and software have their plans. False: *error is ERROR_INTERNAL, and names the
 * points. */
bool sweep_rows_agree(const SweepGrid *grid, const SweepRow *rows, Error *error);
