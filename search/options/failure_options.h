/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/options/failure_options.h: --mtbf, --restart and --storage. */
#pragma once

#include "search/options/options.h"
#include "search/request/request.h"

/* What the user says of failures, which no plan depends on. False means that an option is wrong, and *error says
 * which. */
bool failures_from_options(const Options *options, FailuresAsked *out, Error *error);
