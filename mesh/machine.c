/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mesh/machine.h"

#include "base/number.h"
#include "mesh/slice.h"

#include <stdio.h>

static void add_axis(Mesh *mesh, const char *name, AxisKind kind, AxisLevel level, int64_t size, double rate,
                     double latency) {
    if (size <= 1) return;
    Axis *axis = &mesh->axes[mesh->axis_count++];
    *axis = (Axis){.kind = kind, .level = level, .size = size, .bytes_per_second = rate, .latency_seconds = latency};
    snprintf(axis->name, sizeof axis->name, "%s", name);
}

/* A slice that no job gets is still hardware, and the book plans on it: planned, and said. */
static void note_unschedulable(const Chip *chip, Machine *machine, const char *shape) {
    char most[NUMBER_TEXT_SIZE];
    if (chip->max_job_chips == 0 || slice_chips(machine->slice) <= chip->max_job_chips) return;
    snprintf(machine->note, sizeof machine->note,
             "%s is %s: real hardware, but the largest schedulable slice is %s chips", shape,
             slice_compare(machine->slice, chip->pod) == 0 ? "a whole pod" : "part of a pod",
             number_grouped(chip->max_job_chips, most));
}

/* Two devices on one chip share its links and its way out: each gets its part of the rate. */
void machine_of_slice(const Chip *chip, SliceShape slice, int64_t slices, Machine *out) {
    static const char *const NAMES[] = {"x", "y", "z"};
    Machine machine = {.slice = slice, .slices = slices};
    double devices = (double)chip->devices_per_chip;
    add_axis(&machine.mesh, "core", AXIS_LINE, LEVEL_ICI, chip->devices_per_chip,
             chip->device_link_bytes_per_second.value, chip->hop_seconds.value);
    for (int i = 0; i < 3; i++)
        add_axis(&machine.mesh, NAMES[i], slice_wraps(chip, slice, i) ? AXIS_RING : AXIS_LINE, LEVEL_ICI, slice.size[i],
                 chip->link_bytes_per_second.value / devices, chip->hop_seconds.value);
    add_axis(&machine.mesh, "dcn", AXIS_SWITCH, LEVEL_DCN, slices, chip->scaleout_bytes_per_second.value / devices,
             chip->scaleout_seconds.value);
    machine.mesh.chips = slice_chips(slice) * slices;
    machine.mesh.devices = machine.mesh.chips * chip->devices_per_chip;
    char shape[SLICE_TEXT_SIZE];
    slice_text(chip, slice, shape);
    if (slices > 1)
        snprintf(machine.text, sizeof machine.text, "%lld x %s", (long long)slices, shape);
    else
        snprintf(machine.text, sizeof machine.text, "%s", shape);
    note_unschedulable(chip, &machine, shape);
    *out = machine;
}

/* Equal parts, so that the mesh is a box: the largest part of whole hosts that fits a domain and divides the chips. */
static int64_t chips_per_domain(const Chip *chip, int64_t chips) {
    if (chips <= chip->domain_chips) return chips;
    int64_t part = chip->domain_chips;
    while (part > chip->chips_per_host && chips % part != 0) part -= chip->chips_per_host;
    return part;
}

void machine_of_gpus(const Chip *chip, int64_t chips, Machine *out) {
    int64_t part = chips_per_domain(chip, chips), nodes = chips / part;
    Machine machine = {.slices = 1, .nodes = nodes};
    add_axis(&machine.mesh, "nvlink", AXIS_SWITCH, LEVEL_NVLINK, part,
             chip->link_bytes_per_second.value * (double)chip->links_per_chip, chip->hop_seconds.value);
    add_axis(&machine.mesh, "network", AXIS_SWITCH, LEVEL_NETWORK, nodes, chip->scaleout_bytes_per_second.value,
             chip->scaleout_seconds.value);
    machine.mesh.chips = machine.mesh.devices = chips;
    const char *domain = chip->domain_chips > chip->chips_per_host ? "rack" : "node";
    if (part == chip->domain_chips)
        snprintf(machine.text, sizeof machine.text, "%lld %s%s of %lld", (long long)nodes, domain, nodes > 1 ? "s" : "",
                 (long long)part);
    else if (nodes == 1)
        snprintf(machine.text, sizeof machine.text, "%lld chip%s of one %s", (long long)part, part > 1 ? "s" : "",
                 domain);
    else
        snprintf(machine.text, sizeof machine.text, "%lld chips of each of %lld %ss", (long long)part, (long long)nodes,
                 domain);
    *out = machine;
}

void machine_of_nodes(const Chip *chip, int64_t nodes, Machine *out) {
    machine_of_gpus(chip, nodes * chip->domain_chips, out);
}
