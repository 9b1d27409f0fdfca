/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mesh/host_link.h: how fast a chip copies to and from the memory of its host while every chip of that host does the
 * same. Pure; rates are bytes per second of one chip, from the catalog alone: what software reaches of them is the
 * profile's. docs/model.md, "The host link", has the measurements. */
#pragma once

#include "mesh/chip.h"

/* Whether anything can be offloaded: the host's memory and the link to it are known. */
bool host_is_known(const Chip *chip);

/* Makes hosts of 1 to chips_per_host GPUs, joined as before. Such a host has its share of what a host of the catalog
 * has: network cards, memory, and the rates at which memory is copied and read; so nothing of one chip changes. */
void host_set_chips(Chip *chip, int64_t chips);

/* Notes that a job has this many chips: where they are fewer than a host has, the others copy nothing. */
void host_set_job(Chip *chip, int64_t chips);

/* Chips of a host that copy at the same time: those of the job, >= 1. */
double host_chips(const Chip *chip);

/* One direction at a time: the link, or the chip's part of what the host's memory gives to all copies. */
double host_one_way_rate(const Chip *chip);

/* Both directions at once, added: never more than the chip's part of what the host gives. */
double host_both_ways_rate(const Chip *chip);

/* Bytes that leave in forward and come back in backward, added, for each second of a step. Forward is a third of a
 * step, and HBM is short when backward begins, so that what leaves has to leave in that third: two thirds of the
 * one-way rate, which is exact where forward just suffices and on the safe side beyond. A pipeline sends and fetches at
 * the same time; no run was found in which that gave it more, so it gets no more. */
double host_offload_rate(const Chip *chip);

/* Peak of the host's memory, the chip's part; where the catalog does not know it, what copies reach of it. */
double host_memory_rate(const Chip *chip);
