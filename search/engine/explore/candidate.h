/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine/explore/candidate.h: one knob setting of a degree tuple: its best placement and layout. */
#pragma once

#include "search/engine/explore/tuple_node.h"

/* Whether sizes, requirements and launchers allow a knob setting at all. */

typedef struct {
    Shard shard;                /* of the knobs */
    LauncherSet able_launchers; /* one of them must be able to place roles so; ANY_LAUNCHER means that none has to */
    PruneReason reason;         /* why the knobs are not admitted, where they are not */
} Admission;
bool knobs_admitted(const TupleNode *tuple, const Knobs *knobs, Admission *out);

/* What sizes say of a knob setting: the same for all that differ in ZeRO, gathering and offloading alone. */
typedef struct {
    bool allow;
    Shard shard;
} SizesVerdict;
SizesVerdict knobs_sizes(const TupleNode *tuple, const Knobs *knobs);
/* knobs_admitted() with that known. */
bool knobs_admitted_of_sizes(const TupleNode *tuple, const Knobs *knobs, const SizesVerdict *sizes, Admission *out);

/* Finds the best placement and layout of knob setting `index` of the space, and keeps it in *best where it beats what
 * is there. A plan above `limit` (ranked) is of no use. */
bool candidate_explore(TupleNode *tuple, int64_t index, const Admission *admission, double limit, BestPlan *best);

/* Adds how many placements of one knob setting have a relaxed time within the limit (ranked). */
bool candidate_count_within(TupleNode *tuple, int64_t index, const Admission *admission, double limit, Count *within);
