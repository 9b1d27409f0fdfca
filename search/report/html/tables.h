/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/report/html/tables.h: tables of the Markdown report. All are in the arena; a failed table, or NULL, means that
 * memory is out. */
#pragma once

#include "base/text/table.h"
#include "search/report/report.h"

Table plans_table(const Report *report, Arena *arena);
Table alternatives_table(const Report *report, Arena *arena); /* without rows: no way out was tried */
Table nearest_table(const Report *report, Arena *arena);      /* machines that fit, where nothing does */
Table request_table(const Report *report, Arena *arena);      /* options in force */

/* Plan `rank` > 1 against plan 1. */
const char *compare_to_best_text(const Report *report, int rank, Arena *arena);
