/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/sweep/pictures.h: pictures of a sweep, each a panel of its page. Each draws one SVG; false: the sweep has
 * nothing to show of it, and nothing was written. Pure but for the stream. */
#pragma once

#include "search/sweep/sweep.h"

enum { SWEEP_LABEL_SIZE = 256 };

/* The days of the training against its dollars on demand, failures included: which points nothing beats in both, among
 * those that train the same (model, tokens, sequences). */
bool sweep_draw_cost(const SweepGrid *grid, const SweepRow *rows, const char *words, FILE *out);

/* front[point]: it has a plan and a price, and no point that trains the same takes at most as long for at most as much
 * (of equals the first). `same` is room for as many numbers as there are points: which points train the same. */
void sweep_front(const SweepGrid *grid, const SweepRow *rows, bool *front, int *same);
