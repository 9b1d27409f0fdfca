/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/profile/profile_set_json.h: a ProfileSet from its file and back. cost/profiles/default.json is one:
 *  { "name", "date", "source", "runs_file"?, "runs_sha256"?, "runs"?,
 *    "profiles": { NAME: {"source", "title"?, "kin"?, "chips"?, "scaleup"?, "tile_padding"?, FIGURES of the chip} },
 *    "stacks": { NAME: {"source", "title"?, "aliases"?, "kin"?, "released"?, "chips"?, "launchers"?,
 *                       "scaleup"?, "matches"?, FIGURES of the software} } }
 * "kin" names the parent; "scaleup" is ["torus"], ["switch"] or both. A figure is {"value", "source"}. A figure that
 * a fit may move has "prior" as well, perhaps "of" (the figure that the prior is a share of) and "sigma" (else the
 * table's, cost/profile/profile_figure.c). A figure that a fit has moved, or tried to move, has "deviation", "runs" and
 * "determined". */
#pragma once

#include "cost/profile/profile_set.h"

#include <cjson/cJSON.h>
#include <stdio.h>

/* Whether a document is a set and not one whole profile. */
bool profile_set_is(const cJSON *json);

/* Reads strictly: a key that is missing, unknown, without a source or out of its range is an error, as are two entries
 * of one name, or two that are made for the same chip. `file` begins the place that errors name. Pure; the set lies in
 * the arena. */
bool profile_set_from_json(const cJSON *json, const char *file, Arena *arena, ProfileSet *out, Error *error);

/* Writes in one form: keys in the order above, figures in the order of their table, numbers as the shortest text that
 * reads back the same. A set that was read from a file in this form is written with the same bytes. False means that
 * the stream failed. */
bool profile_set_write(FILE *out, const ProfileSet *set);
