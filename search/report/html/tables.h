/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/report/html/tables.h: what the page and the Markdown share: tables, and what the text report says, as one line of text
 * each. All in the arena of the view; NULL, or a failed sheet: memory is out. */
#ifndef SHARDOPT_SEARCH_REPORT_HTML_TABLES_H
#define SHARDOPT_SEARCH_REPORT_HTML_TABLES_H

#include "search/report/html/pictures.h"

Sheet plans_sheet(const LookView *view);
Sheet ways_sheet(const LookView *view);    /* without rows: no way out was tried */
Sheet misses_sheet(const LookView *view);  /* plans 2 to k, and what would make them win; needs facts */
Sheet closest_sheet(const LookView *view); /* degrees that were cut, by their bound */
Sheet nearest_sheet(const LookView *view); /* machines that fit, where nothing does */
Sheet chip_sheet(const LookView *view);    /* every figure, with its source */
Sheet profile_sheet(const LookView *view);
Sheet request_sheet(const LookView *view); /* options in force */

const char *verdict_text(const LookView *view);           /* of plan 1, or how far off the nearest is */
const char *why_not_text(const LookView *view, int rank); /* plan `rank` > 1 against plan 1 */
const char *assumed_text(const LookView *view);
const char *searched_text(const LookView *view);
const char *helps_text(const LookView *view); /* "": nothing was asked */
const char *title_text(const LookView *view); /* "llama3.1-405b on 8 pods of TPU v5p" */

#endif
