/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/report/html/tables.h: what the page and the Markdown share: tables, and what the text report says, as
 * one line of text each. Everything is in the arena of the view; NULL, or a failed table, means that memory is out. */
#pragma once

#include "search/report/html/pictures.h"

Table plans_table(const PageView *view);
Table alternatives_table(const PageView *view); /* without rows: no way out was tried */
Table misses_table(const PageView *view);       /* plans 2 to k, and what would make them win; needs facts */
Table closest_table(const PageView *view);      /* degrees that were cut, by their bound */
Table nearest_table(const PageView *view);      /* machines that fit, where nothing does */
Table chip_table(const PageView *view);         /* every figure, with its source */
Table profile_table(const PageView *view);
Table request_table(const PageView *view); /* options in force */

const char *verdict_text(const PageView *view);                   /* of plan 1, or how far off the nearest is */
const char *compare_to_best_text(const PageView *view, int rank); /* plan `rank` > 1 against plan 1 */
const char *assumed_text(const PageView *view);
const char *searched_text(const PageView *view);
const char *sensitivities_text(const PageView *view); /* "": nothing was requested */
const char *title_text(const PageView *view);         /* "llama3.1-405b on 8 pods of TPU v5p" */
