/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/report/html/figures.h: every figure that an answer rests on, and how a request is with one of them moved. */
#ifndef SHARDOPT_SEARCH_REPORT_HTML_FIGURES_H
#define SHARDOPT_SEARCH_REPORT_HTML_FIGURES_H

#include "search/walk/search.h"

/* Figures of the chip first (rates of links with their efficiencies, of which they are products), then those of the
 * profile, which its own table lists. */
int page_figure_count(void);
const char *page_figure_name(const Request *request, int figure); /* "ICI bandwidth", "matrix_efficiency" */
bool page_figure_of_chip(int figure);

/* Times `factor`, shares held below 1. False: the machine has no such figure, or it does not move. */
bool page_figure_move(Request *request, int figure, double factor);

/* The plan as it is, its layout kept, under another request for the same model: its seconds. *fits: in HBM too. False:
 * it cannot be used there. */
bool page_reprice(const Request *changed, const RankedPlan *ranked, double *seconds, bool *fits);

#endif
