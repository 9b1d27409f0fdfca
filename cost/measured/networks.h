/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/measured/networks.h: reads the network between a run's nodes from its topology_note. Words that imply a rate
 * which the note does not give ("GPUDirect-TCPX") are in cost/measured/data/networks.tsv, with sources. */
#pragma once

#include "base/arena.h"
#include "base/error.h"

typedef struct {
    const char *word; /* anywhere in the note, case ignored */
    double gigabits;  /* Gb/s of a node, one way */
} Network;

typedef struct {
    Network *networks; /* in the file's order: the first that matches counts */
    int count;
} Networks;

/* Reads three columns, word, gigabits_per_node and source, under this heading, into the arena. */
bool networks_read(const char *path, Arena *arena, Networks *out, Error *error);

/* Gb/s of a whole node of `chips` chips, one way: from a word, else from a number as in "4x100 Gb/s RoCE per node", "8x
 * ConnectX-7 IB NDR 400Gb/s", "400 Gb/s per GPU", "3.2 Tb/s InfiniBand"; the highest of several counts, those for
 * storage aside. 0 means that the note has none, or an absurd one. */
double network_gigabits(const Networks *networks, const char *note, double chips);
