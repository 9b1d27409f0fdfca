/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/profile_json.h: a Profile from its file: "name", "source", whom it is for, and each figure {"value", "source"}.
 * */
#ifndef SHARDOPT_COST_PROFILE_JSON_H
#define SHARDOPT_COST_PROFILE_JSON_H

#include "cost/profile.h"

#include <cjson/cJSON.h>

enum { PROFILE_CHIPS_MAX = 16 };

/* For which chips a profile is the default: those it names ("chips"), else every one joined like this ("scaleup":
 * "torus" or "switch"). A file with neither ("ideal") is taken by name only. */
typedef struct {
    char chips[PROFILE_CHIPS_MAX][CHIP_NAME_SIZE];
    int chip_count;
    bool torus, nvlink;
} ProfileUse;

/* Strict: a key that is missing, unknown, without a source or out of its range is an error. `use` may be NULL. Pure. */
bool profile_from_json(const cJSON *json, const char *where, Profile *out, ProfileUse *use, Error *error);

#endif
