/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/commands/asked_run.h: measured runs whose request is a line of options, as reports print it. */
#pragma once

#include "cost/measured/run.h"

/* Prices the plan of every such run as `explain` does, and keeps what was priced with the run. An option or a plan that
 * is wrong is an error that names the place in the file; a plan that has no price is a run that is not replayed. */
bool asked_runs_price(const RunTable *table, const char *path, Arena *arena, Error *error);
