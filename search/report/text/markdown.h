/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/report/text/markdown.h: a report as Markdown for a pull request, and as CSV for a spreadsheet. Names are text
 * in both. Pure but for the stream. */
#pragma once

#include "search/report/report.h"

/* The verdict, the plans, why, where a step goes, the ways out, the assumptions folded away. */
bool report_write_markdown(const Report *report, FILE *out, Error *error);

/* A line of names, then one line for each plan; docs/json.md has the columns. */
bool report_write_csv(const Report *report, FILE *out, Error *error);
