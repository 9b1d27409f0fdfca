/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/sweep/grid.h: the options of `sweep` as a grid, and a point of the grid as the options of `plan`, or
 * of `inference`. */
#pragma once

#include "search/options/options.h"
#include "search/sweep/sweep.h"

/* Every option of the table that is an input of a search, in the order of the help, each with its list: values between
 * commas; between semicolons where a value has commas of its own (require, for, schedules, state-dtypes, remat); one
 * value where a list makes no sense (time-limit, brute-force). Counts (pods, slices, chips, nodes, sequences) may be
 * ranges, "1..8". Empty values and the same value twice are errors; what a value means is the point's to find out. In
 * the arena. */
bool sweep_grid_from_options(const CommandOption *table, const Options *options, Arena *arena, SweepGrid *out,
                             Error *error);

/* What `plan` would be given for a point; the rest (--threads) as in `base`. */
void sweep_point_options(const CommandOption *table, const Options *base, const SweepGrid *grid, int64_t point,
                         Options *out);

/* Names the user's own files among the values (a config.json, a profile, an optimizer): the SHA-256 of the lines
 * "<SHA-256 of the file>  <value>\n" in the grid's order, "-" for what cannot be read. "" when there are none. */
bool sweep_files_sha256(const SweepGrid *grid, char hex[SHA256_HEX_SIZE], Error *error);
