/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/commands/serving_sets.h: `shardopt validate FILE --sets -` of serving runs: replayed under one profile
 * after another, for programs that fit them. */
#pragma once

#include "search/cli/commands/kinds.h"

/* The first line that it writes is an object: `file`, `profile` (the document that the runs were prepared with),
 * `figures` (that may be fitted: the scale of an effect, bounds, whether the first token says it too), `engines`,
 * `cells` (an engine on the chips of one entry, with its figures in the order of `figures`: `begun`, and `unfitted`
 * without `fits`) and `runs`. For each line that it reads, the JSON of a profile, it writes an object of arrays, `tpot`
 * `ttft` `rate` `resident`, with a figure of every run, null where it has none. `rows` in the profile, an array of
 * numbers of runs: replay these alone. */
bool serving_sets(const ValidateOptions *options, Arena *arena, Streams streams, Error *error);
