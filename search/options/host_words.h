/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/options/host_words.h: the hosts of GPUs as they were typed: how many GPUs each has, and how much memory. */
#pragma once

#include "search/options/machine_words.h"

/* Gives the chip hosts of as many GPUs as --gpus-per-node says, --chips over --nodes, or an instance's name (`each`; 0:
 * none). Hosts of the catalog stay as they are. */
bool hosts_from_words(const Words *words, int64_t each, Chip *chip);

/* Gives the chip its part of --host-memory: of the chips that this machine has on a host. */
bool host_memory_from_words(const Words *words, const Machine *machine, Chip *chip);
