/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mesh/host_link.h"

#include "base/util.h"

#include <math.h>

bool host_is_known(const Chip *chip) { return chip->host_bytes.value > 0 && chip->pcie_bytes_per_second.value > 0; }

void host_set_chips(Chip *chip, int64_t chips) {
    double part = (double)chips / (double)chip->chips_per_host;
    int64_t domain = chip->domain_chips / chip->chips_per_host * chips;
    if (chip->scaleup == SCALEUP_MESH) /* a link to each other chip of the domain */
        chip->links_per_chip = chip->links_per_chip / (chip->domain_chips - 1) * max_whole(1, domain - 1);
    chip->usual_host_chips = chip->chips_per_host;
    chip->chips_per_host = chips;
    chip->domain_chips = domain;
    chip->host_copies_bytes_per_second.value *= part;
    chip->host_memory_bytes_per_second.value *= part;
    chip->leaf_nodes.value /= part; /* a leaf has as many chips as before */
}

void host_set_job(Chip *chip, int64_t chips) { chip->chips_copying = min_whole(chip->chips_per_host, chips); }

double host_chips(const Chip *chip) {
    int64_t chips = chip->chips_copying > 0 ? chip->chips_copying : chip->chips_per_host;
    return (double)max_whole(1, chips);
}

/* The chip's part of what all copies of its host get together. */
static double part_of_ceiling(const Chip *chip) {
    double ceiling = chip->host_copies_bytes_per_second.value;
    return ceiling > 0 ? ceiling / host_chips(chip) : INFINITY;
}

double host_one_way_rate(const Chip *chip) {
    return min_real(chip->pcie_bytes_per_second.value, part_of_ceiling(chip));
}

double host_both_ways_rate(const Chip *chip) {
    double alone = max_real(chip->pcie_bytes_per_second.value, chip->pcie_both_bytes_per_second.value);
    return min_real(alone, part_of_ceiling(chip));
}

double host_offload_rate(const Chip *chip) {
    return min_real(host_both_ways_rate(chip), 2.0 / 3 * host_one_way_rate(chip));
}

double host_memory_rate(const Chip *chip) {
    double peak = chip->host_memory_bytes_per_second.value / host_chips(chip);
    return peak > 0 ? peak : host_both_ways_rate(chip);
}
