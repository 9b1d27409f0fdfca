/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/commands/serving_tables.h: what validate and calibrate do with a table of serving runs. */
#pragma once

#include "search/cli/commands/calibrate_options.h"
#include "search/cli/commands/validate_options.h"

/* Whether a file is one, told by its columns; a file that cannot be read is none. */
bool serving_table_is(const char *path, Arena *arena);

/* Replays it, and writes how wrong that is. */
bool serving_validate(const ValidateOptions *options, Arena *arena, Streams streams, Error *error);

/* Fits the profile of serving to it, says what that is worth on rows that the fit has not seen, and writes it. */
bool serving_calibrate(const CalibrateWords *words, Arena *arena, Streams streams, Error *error);
