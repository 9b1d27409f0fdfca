/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/report/html/write.h: a report to be looked at: as a page with pictures, as Markdown for a pull request, as
 * CSV for a spreadsheet. Names are text in all of them. Pure but for the stream. */
#pragma once

#include "search/report/html/facts.h"

/* One file that loads nothing. `facts` NULL: without the pictures that need searches of their own. */
bool report_write_html(const Report *report, const PageFacts *facts, FILE *out, Error *error);

/* The verdict, the plans, why, where a step goes, the ways out, the assumptions folded away. */
bool report_write_markdown(const Report *report, FILE *out, Error *error);

/* A line of names, then one line for each plan; docs/json.md has the columns. */
bool report_write_csv(const Report *report, FILE *out, Error *error);
