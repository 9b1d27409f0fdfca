/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/report/json/around.h: what accompanies the plans of a JSON report: other launchers, a free layout, headroom,
 * a measured run. Internal to the report. */
#pragma once

#include "search/report/report.h"

/* `launchers`, `free_layout` and `headroom`, each where there is something to say. False: memory is out. */
bool around_add_json(cJSON *to, const Report *report);

/* `nearest_run`, where one is near. */
bool measured_add_json(cJSON *to, const Report *report);
