/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mesh/collective_memo.h: collective costs kept by footprint. A search asks for the same few thousand footprints some
 * millions of times; one look here takes a tenth of the time of the formulas. */
#pragma once

#include "mesh/collective.h"

/* Each thread has one memo. */
typedef struct CollectiveMemo CollectiveMemo;
CollectiveMemo *collective_memo_new(void); /* NULL means that memory is out; free with collective_memo_free */
void collective_memo_free(CollectiveMemo *memo);

/* The same as collective_cost(). `site` is a number >= 0 that stands for the mesh as long as the memo lives. */
CollectiveCost collective_cost_kept(CollectiveMemo *memo, int site, Collective op, const Mesh *mesh,
                                    const Footprint *footprint);
