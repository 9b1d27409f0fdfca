/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/launch/role_key.h: where a launch file sets the degree of a role, for those who point at what to change. */
#pragma once

#include "mesh/factorization.h"
#include "search/launch/syntax/config_file.h"

/* The line of the key that sets the degree, from 1, given by the words that launchers name roles by; of several keys
 * the first that does not say 1. 0: the file leaves the role to its launcher, or has no lines (JSON). */
int64_t role_key_line(const ConfigFile *file, Role role);

/* The role to change first in a plan that is to become another: the one whose degree is farthest from the other's among
 * those with a line; of two as far the one that comes first in the line of roles. ROLE_COUNT: none. */
Role role_to_change(const Degrees *have, const Degrees *want, const int64_t lines[ROLE_COUNT]);
