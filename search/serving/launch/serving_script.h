/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/serving/launch/serving_script.h: one way to serve as a script that starts it: each worker on its devices, the
 * program before them, the numbers to expect, and the load test that would confirm them. Pure but for the stream. */
#pragma once

#include "search/serving/report/serving_report.h"

/* False: the engine cannot start this point (*error has the rule), or memory is out. */
bool serving_script_write(const ServingReport *report, const ServingPoint *point, FILE *out, Error *error);
