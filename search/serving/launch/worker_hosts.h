/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/serving/launch/worker_hosts.h: on which hosts, and on which of their devices, the workers of a point lie. */
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

/* Devices of a host of the machine; a machine of fewer is one host. */
int64_t devices_of_host(const ServingQuestion *question);

/* Fills domains with the larger workers first; a worker that is larger than a domain takes whole ones. False: a worker
 * would take parts of several hosts, or they do not lie side by side: *error says so in one line. */
bool workers_place(const ServingQuestion *question, const ServingPoint *point, const char *where, Arena *arena,
                   WorkerPlaces *out, Error *error);
