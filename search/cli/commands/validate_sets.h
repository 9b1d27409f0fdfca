/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/commands/validate_sets.h: `shardopt validate FILE --sets -`: runs priced under one set of profiles after
 * another, for programs that fit them. */
#pragma once

#include "search/cli/commands/kinds.h"

/* The first line that it writes is an object: `file`, `sha256`, `set` (that the runs were prepared with), `figures`
 * (of the table of figures: owner, bounds, bounds and deviation of a fit) and `runs`. For each line that it reads, the
 * JSON of a set, it writes an array with the seconds of every run, null where it has none. */
bool validate_sets(const ValidateOptions *options, Arena *arena, Streams streams, Error *error);
