/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/explore/admission.h: whether sizes, requirements and launchers allow a knob setting at all. */
#ifndef SHARDOPT_SEARCH_EXPLORE_ADMISSION_H
#define SHARDOPT_SEARCH_EXPLORE_ADMISSION_H

#include "search/explore/open_tuple.h"

typedef struct {
    Shard shard;                /* of the knobs */
    LauncherSet able_launchers; /* one of them must be able to place roles so; ANY_LAUNCHER means that none has to */
    PruneReason reason;         /* why the knobs are not admitted, where they are not */
} Admission;
bool knobs_admitted(const OpenTuple *tuple, const Knobs *knobs, Admission *out);

/* What sizes say of a knob setting: the same for all that differ in ZeRO, gathering and offloading alone. */
typedef struct {
    bool allow;
    Shard shard;
} SizesVerdict;
SizesVerdict knobs_sizes(const OpenTuple *tuple, const Knobs *knobs);
/* knobs_admitted() with that known. */
bool knobs_admitted_of_sizes(const OpenTuple *tuple, const Knobs *knobs, const SizesVerdict *sizes, Admission *out);

/* Whether a launcher asked for may take any knob setting of these degrees with these methods and this split of the
 * layers; true where none is asked for. */
bool methods_admitted(const ExploreProblem *problem, const Degrees *degrees, const Methods *methods, StageSplit split);

/* The same with any of the context methods of a space in place of that of `methods`. */
bool contexts_admitted(const ExploreProblem *problem, const Degrees *degrees, const MethodSpace *space,
                       const Methods *methods, StageSplit split);

#endif
