/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/sweep/page.h: a sweep as one page that loads nothing: its table, and a picture of it. */
#ifndef SHARDOPT_SEARCH_SWEEP_PAGE_H
#define SHARDOPT_SEARCH_SWEEP_PAGE_H

#include "base/text/table.h"
#include "search/sweep/sweep.h"

/* `lead` says what is swept, `summary` what has come of it. False: memory is out. */
bool sweep_page_write(const SweepGrid *grid, const SweepRow *rows, const Table *table, const char *lead,
                      const char *summary, FILE *out);

#endif
