/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/answer/gap.h: how far a search that did not end is from having proven its first plan. */
#pragma once

#include "search/answer/search_result.h"

/* By how much what is undecided might be faster than the fastest plan, as a share of its time: 0 where that is proven,
 * though a row below may be open; 1 where there is no plan. Certificate.gap is that of the last row. */
double search_gap(const SearchResult *result);

/* The same of one row that takes `seconds` (ranked), where nothing that is undecided takes less than `open` (INFINITY:
 * nothing is). What a layout may be off by and count as solved is no gap. */
double row_gap(double seconds, double open);

/* Whether a limit that was asked for, an interrupt, or a machine with more plans than can be listed left the first plan
 * open by more than counts as proven. */
bool search_left_open(const SearchResult *result);
