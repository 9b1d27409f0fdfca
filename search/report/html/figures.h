/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/report/html/figures.h: every figure that an answer rests on, and how a request is with one of them moved. */
#pragma once

#include "search/report/report.h"

/* Figures of the chip first (rates of links with their efficiencies, of which they are products), then those of the
 * profile, which its own table lists. */
int page_figure_count(void);
const char *page_figure_name(const Request *request, int figure); /* "ICI bandwidth", "matrix_efficiency" */
bool page_figure_of_chip(int figure);

/* Whether no plan is faster, and none fits that did not, with the figure times `factor`; false: it is not known. */
bool page_figure_worsens(int figure, double factor);
/* Whether a tenth more of the figure is what a report computes as its sensitivities. */
bool page_figure_of_help(int figure, Help help);
/* Whether no plan of the request is other than before, however the figure is. */
bool page_figure_is_idle(const Request *request, int figure);

/* Times `factor`, shares held below 1. False: the machine has no such figure, or it does not move. */
bool page_figure_move(Request *request, int figure, double factor);

/* The plan as it is, its layout kept, under another request for the same model: its seconds. *fits: in HBM too. False:
 * it cannot be used there. */
bool page_reprice(const Request *changed, const RankedPlan *ranked, double *seconds, bool *fits);
