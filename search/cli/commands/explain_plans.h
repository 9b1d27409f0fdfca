/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/commands/explain_plans.h: many plans of one request, a line of JSON for each. */
#pragma once

#include "search/request/request.h"

#include <stdio.h>

/* Writes an object for each plan of the file (one a line, as --plan takes it; empty lines and those of # are passed
 * by): "plan", and its figures or "error". False: the file cannot be read, or memory is out. */
bool explain_plans(const Request *request, const char *path, Arena *arena, FILE *out, Error *error);
