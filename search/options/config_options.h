/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/options/config_options.h: a launch configuration read back: as options, and as one plan. */
#pragma once

#include "search/options/report_options.h"

/* Reads the file that --from-config names. What `given` says counts before what the file says. `plan`: its plan, with its
 * launcher's own placement. `of_plan`: the options that price it, whatever shardopt thinks of what its launcher takes: it
 * runs. `open` (or NULL): those of the search that it is held against, what its launcher can launch (unless --for says
 * otherwise), with the file's work and without its recomputation. */
bool options_from_config(const Options *given, Arena *arena, Options *open, Options *of_plan, ReportPlan *plan,
                         Error *error);
