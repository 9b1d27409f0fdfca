/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/report/text/brief_bars.h: the largest parts of a step next to the largest parts of the memory. */
#pragma once

#include "search/answer/plan_words.h"

/* A heading and `rows` lines (at least 2): the largest parts, what is left of them together, and in the memory's column
 * what is free. Fits 78 columns; where a terminal has fewer, one list stands below the other. */
void brief_bars_write(const RankedPlan *ranked, int rows, TextOut out);
