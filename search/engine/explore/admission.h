/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine/explore/admission.h: whether sizes, requirements and launchers allow a knob setting at all. */
#pragma once

#include "search/engine/explore/open_tuple.h"

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
