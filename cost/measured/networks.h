/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/measured/networks.h: what a run's topology_note says of the network between its nodes. Words that mean a rate
 * which the note does not give ("GPUDirect-TCPX") are in cost/measured/data/networks.tsv, with sources. */
#ifndef SHARDOPT_COST_MEASURED_NETWORKS_H
#define SHARDOPT_COST_MEASURED_NETWORKS_H

#include "base/arena.h"
#include "base/error.h"

typedef struct {
    const char *word; /* anywhere in the note, case ignored */
    double gigabits;  /* Gb/s of a node, one way */
} Network;

typedef struct {
    Network *networks; /* in the file's order: the first that is found counts */
    int count;
} Networks;

/* Three columns, word, gigabits_per_node and source, under this heading. In the arena. */
bool networks_read(const char *path, Arena *arena, Networks *out, Error *error);

/* Gb/s of a whole node of `chips` chips, one way: of a word, else of a number as in "4x100 Gb/s RoCE per node", "8x
 * ConnectX-7 IB NDR 400Gb/s", "400 Gb/s per GPU", "3.2 Tb/s InfiniBand"; of several the highest, those for storage
 * apart. 0: the note has none, or an absurd one. */
double network_gigabits(const Networks *networks, const char *note, double chips);

#endif
