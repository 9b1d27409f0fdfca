/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/serving/front.h: the Pareto front: the points of which none is beaten, since no other has at least as many
 * tokens per second for each user and for each chip, and more of one of them. Of equals the one with the sooner first
 * token stays, then the one that comes first in the enumeration, so that the front does not depend on the way of a
 * search. */
#pragma once

#include "base/error.h"
#include "search/serving/point.h"

typedef struct {
    ServingPoint *points; /* falling per_user, rising per_chip; malloc'd */
    int count, room;
} ServingFront;

/* Whether a point with these rates, or any worse one, is beaten by one that is there. Equal rates are not beaten. */
bool front_beats(const ServingFront *front, double per_user, double per_chip);

/* Adds a point unless it is beaten, and drops those that it beats. False: memory is out. */
bool front_add(ServingFront *front, const ServingPoint *point, Error *error);

void front_free(ServingFront *front);
