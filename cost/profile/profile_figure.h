/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/profile/profile_figure.h: the figures of a profile as a table: their keys in files, the range in which a fit may
 * move them, and whether the chip or the software owns them. */
#pragma once

#include "cost/profile/profile.h"

#include <cjson/cJSON.h>
#include <stddef.h>

typedef enum { FIGURE_OF_CHIP, FIGURE_OF_STACK } FigureOwner;

typedef struct {
    const char *key; /* "matrix_efficiency" */
    size_t offset;   /* of the double in Profile */
    FigureOwner owner;
    double ideal;     /* its value in `ideal` */
    double low, high; /* of a file: a value beyond them is a mistake of unit */
    /* of a fit: physical bounds, and how far a prior reaches (standard deviation of the logarithm); sigma 0 means that
     * the data never move it */
    double fit_low, fit_high, sigma;
    const char *meaning; /* one line, for people */
} ProfileFigure;

/* All figures except tile_padding; *count is their number. */
const ProfileFigure *profile_figures(int *count);
/* Finds a figure by its key; NULL means that there is none. */
const ProfileFigure *profile_figure(const char *key);

static inline double *figure_of(Profile *profile, const ProfileFigure *figure) {
    return (double *)((char *)profile + figure->offset);
}
static inline double figure_value_of(const Profile *profile, const ProfileFigure *figure) {
    return *(const double *)((const char *)profile + figure->offset);
}

/* Reads one whole Profile from its file, such as cost/profiles/ideal.json: "name",
 * "source", perhaps "note", and each figure {"value", "source"}. Sets of profiles: cost/profile/profile_set.h. */

/* Reads strictly: a key that is missing, unknown, without a source or out of its range is an error. Pure. */
bool profile_from_json(const cJSON *json, const char *where, Profile *out, Error *error);
