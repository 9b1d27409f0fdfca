/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine/bound/admitted.h: what the launchers of a search refuse whatever the knobs, so that nothing has to be bounded
 * there (docs/search.md, "Range bound"). */
#pragma once

#include "search/engine/bound/totals_cache.h"

/* Whether a launcher asked for may take these degrees with any methods and knobs; true where none is asked for. */
bool degrees_admitted(const Bounds *bounds, const Degrees *degrees);

/* Whether a launcher asked for may take any knob setting of these degrees with these methods and this split of the
 * layers; true where none is asked for. */
bool methods_admitted(const Bounds *bounds, const Degrees *degrees, const Methods *methods, StageSplit split);

/* The same with any of the context methods of a space in place of that of `methods`. */
bool contexts_admitted(const Bounds *bounds, const Degrees *degrees, const MethodSpace *space, const Methods *methods,
                       StageSplit split);
