/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/profile/profile_figure.h: the figures of a profile as a table: what files spell, what a fit may move, and what
 * each belongs to. */
#ifndef SHARDOPT_COST_PROFILE_PROFILE_FIGURE_H
#define SHARDOPT_COST_PROFILE_PROFILE_FIGURE_H

#include "cost/profile/profile.h"

#include <stddef.h>

typedef enum { FIGURE_OF_CHIP, FIGURE_OF_STACK } FigureOwner;

typedef struct {
    const char *key; /* "matrix_efficiency" */
    size_t offset;   /* of the double in Profile */
    FigureOwner owner;
    double ideal;     /* its value in `ideal` */
    double low, high; /* of a file: beyond them it is a mistake of unit */
    /* Of a fit: physical bounds, and how far a prior reaches (standard deviation of the logarithm); sigma 0: the data
     * never move it */
    double fit_low, fit_high, sigma;
    const char *meaning; /* one line, for people */
} ProfileFigure;

/* All of them but tile_padding; *count says how many. */
const ProfileFigure *profile_figures(int *count);
/* By its key; NULL: there is none. */
const ProfileFigure *profile_figure(const char *key);

static inline double *figure_of(Profile *profile, const ProfileFigure *figure) {
    return (double *)((char *)profile + figure->offset);
}
static inline double figure_value_of(const Profile *profile, const ProfileFigure *figure) {
    return *(const double *)((const char *)profile + figure->offset);
}

#endif
