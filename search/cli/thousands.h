/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/thousands.h: lengths and batches that were typed in thousands ("--seq 8k"), where powers of two are usual.
 */
#pragma once

#include "search/cli/output_options.h"
#include "search/report/report.h"

/* One warning on `err` that names the power of two of each; nothing where none was typed so, or with --quiet. */
void thousands_warn(const Request *request, const OutputChoice *choice, FILE *err);

/* The same after an answer, with what it costs: another search says how long a token takes with powers of two. It is
 * left out where no searches around the plan were asked for (--helps none) or a limit ended the first. */
bool thousands_warn_after(const Report *report, const OutputChoice *choice, FILE *err,
                          Error *error);
