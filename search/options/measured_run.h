/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/options/measured_run.h: what a report says of the measured run that is nearest to it. */
#pragma once

#include "search/report/report.h"

/* Sets report->measured from cost/measured/data/train.tsv; leaves it NULL where no run is near, where no plan was found
 * and where the profile is not the default set, which is what measured runs say something about. */
bool measured_run_add(Report *report, Arena *arena, Error *error);
