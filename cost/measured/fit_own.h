/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/measured/fit_own.h: a few runs of one cluster speak of its chip and its software alone. What these inherit,
 * others take too: before such runs are fitted (FIT_VALUES) every inherited figure becomes one of the entry's own,
 * believed to be its kin's, and afterwards those that the runs did not move are its kin's again. */
#ifndef SHARDOPT_COST_MEASURED_FIT_OWN_H
#define SHARDOPT_COST_MEASURED_FIT_OWN_H

#include "cost/measured/fit.h"

/* Gives the entries of these runs, which are the set's, figures of their own, and resolves the set again. */
bool fit_own_figures(ProfileSet *set, const FitRun *runs, int32_t count, Error *error);

/* Takes those away again that are not determined. Places of figures in entries change. */
bool fit_drop_own(ProfileSet *set, Error *error);

#endif
