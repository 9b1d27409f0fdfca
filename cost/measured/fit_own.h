/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/measured/fit_own.h: a few runs of one cluster tell about its chip and its software alone. Other entries take the
 * figures that these inherit: before such runs are fitted (FIT_VALUES) every inherited figure becomes one of the
 * entry's own, believed to equal its parent's, and afterwards the figures that the runs did not move are its parent's
 * again. */
#pragma once

#include "cost/measured/fit.h"

/* Gives the entries of these runs, which belong to the set, figures of their own, and resolves the set again. */
bool fit_own_figures(ProfileSet *set, const FitRun *runs, int32_t count, Error *error);

/* Removes those of them that are not determined. Places of figures in entries change. */
bool fit_drop_own(ProfileSet *set, Error *error);
