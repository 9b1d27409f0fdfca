/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/serving/places.h: where the workers of a point lie: on which hosts, on which of their devices, in which part
 * of a torus. Pure. */
#pragma once

#include "search/serving/point.h"

typedef struct {
    int pool;             /* of the point */
    int64_t host, hosts;  /* the first, and how many */
    int64_t first, count; /* devices on each of them, by their numbers on the host */
} WorkerPlace;

typedef struct {
    WorkerPlace *workers; /* pool by pool */
    int64_t count, hosts; /* hosts: those that are used, from 0 on */
} WorkerPlaces;

/* Fills domains with the larger workers first; a worker that is larger than a domain takes whole ones. False: a worker
 * would take parts of several hosts, or they do not lie side by side: *error says so in one line. */
bool workers_place(const ServingQuestion *question, const ServingPoint *point, const char *where, Arena *arena,
                   WorkerPlaces *out, Error *error);

/* By device of the machine, the axes from the inside: which worker holds it, numbered pool by pool from `from` on. What
 * is not -1 in `holder` before is held by others. Domains are filled as above; on a torus workers are boxes
 * side by side. False: they have no room, or memory is out. */
bool workers_hold(const ServingQuestion *question, const ServingPoint *point, int32_t from, Arena *arena,
                  int32_t *holder);
