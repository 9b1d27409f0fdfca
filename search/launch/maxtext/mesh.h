/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/launch/maxtext/mesh.h: the degrees of a plan as MaxText's two networks, and what puts them where they were costed.
 */
#pragma once

#include "search/launch/emit.h"

/* What of a role lies inside a slice or node, and what across. */
typedef struct {
    int64_t inside[ROLE_COUNT], across[ROLE_COUNT];
} MaxtextDivision;
MaxtextDivision maxtext_division(const RankedPlan *ranked);

/* Every ici_* and dcn_* degree, and how physical axes may be split. False: two axes of the mesh for one role (usp) would
 * land elsewhere than it was costed. */
bool maxtext_write_mesh(const RankedPlan *ranked, bool tpu, FILE *out, Error *error);

/* "a=b c=d" as keys, a line each. */
void maxtext_write_pairs(const char *pairs, FILE *out);
