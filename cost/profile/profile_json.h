/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/profile/profile_json.h: reads one whole Profile from its file, such as cost/profiles/ideal.json: "name",
 * "source", perhaps "note", and each figure {"value", "source"}. Sets of profiles: cost/profile/profile_set_json.h. */
#pragma once

#include "cost/profile/profile.h"

#include <cjson/cJSON.h>

/* Reads strictly: a key that is missing, unknown, without a source or out of its range is an error. Pure. */
bool profile_from_json(const cJSON *json, const char *where, Profile *out, Error *error);
