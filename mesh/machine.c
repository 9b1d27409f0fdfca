/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mesh/machine.h"

#include "base/number.h"
#include "base/util.h"
#include "mesh/slice.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An axis of one device is none. */
static void add_axis(Mesh *mesh, const char *name, Axis axis) {
    if (axis.size <= 1) return;
    snprintf(axis.name, sizeof axis.name, "%s", name);
    mesh->axes[mesh->axis_count++] = axis;
}

static void note(Machine *machine, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void note(Machine *machine, const char *format, ...) {
    size_t used = strlen(machine->note);
    if (used > 0) used += (size_t)snprintf(machine->note + used, sizeof machine->note - used, "; ");
    if (used >= sizeof machine->note) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(machine->note + used, sizeof machine->note - used, format, arguments);
    va_end(arguments);
}

/* A slice that no job gets is still hardware, and the book plans on it: we plan it, and say so. */
static void note_unschedulable(const Chip *chip, Machine *machine, const char *shape) {
    char most[NUMBER_TEXT_SIZE];
    if (chip->max_job_chips == 0 || slice_chips(machine->slice) <= chip->max_job_chips) return;
    note(machine, "%s is %s: real hardware, but the largest schedulable slice is %s chips", shape,
         slice_compare(machine->slice, chip->pod) == 0 ? "a whole pod" : "part of a pod",
         number_grouped(chip->max_job_chips, most));
}

/* Slices of k x k x 2k and k x 2k x 2k of whole cubes are twisted: a change of wiring that shortens the way between far
 * chips. The published gains are for 4x4x8 and 4x8x8. They are taken for larger k too: the gain that shortest ways
 * allow at most moves by less than 2% with k (tests/mesh/test_fabric.c). */
static void twist(const Chip *chip, Machine *machine, const char *shape) {
    const Figure *gain = slice_twist(chip, machine->slice);
    if (!gain || gain->value <= 1) return;
    machine->mesh.fabric.twisted_gain = gain->value;
    note(machine, "%s is a twisted torus: all_to_all over the whole slice is credited with %.2f times the plain torus",
         shape, gain->value);
}

/* Two devices on one chip share its links and its way out: each gets its part of the rate. */
void machine_of_slice(const Chip *chip, SliceShape slice, int64_t slices, Machine *out) {
    static const char *const NAMES[] = {"x", "y", "z"};
    Machine machine = {.slice = slice, .slices = slices};
    machine.mesh.fabric.across_shares_host_lane = chip->nic_shares_pcie.value > 0.5;
    double devices = (double)chip->devices_per_chip;
    add_axis(&machine.mesh, "core",
             (Axis){.kind = AXIS_MESH,
                    .level = LEVEL_ICI,
                    .size = chip->devices_per_chip,
                    .bytes_per_second = chip->device_link_bytes_per_second.value,
                    .latency_seconds = chip->hop_seconds.value});
    for (int i = 0; i < 3; i++)
        add_axis(&machine.mesh, NAMES[i],
                 (Axis){.kind = slice_wraps(chip, slice, i) ? AXIS_RING : AXIS_LINE,
                        .level = LEVEL_ICI,
                        .size = slice.size[i],
                        .bytes_per_second = chip->link_bytes_per_second.value / devices,
                        .latency_seconds = chip->hop_seconds.value});
    add_axis(&machine.mesh, "dcn",
             (Axis){.kind = AXIS_SWITCH,
                    .level = LEVEL_DCN,
                    .size = slices,
                    .bytes_per_second = chip->scaleout_bytes_per_second.value / devices,
                    .latency_seconds = chip->scaleout_seconds.value});
    machine.mesh.chips = slice_chips(slice) * slices;
    machine.mesh.devices = machine.mesh.chips * chip->devices_per_chip;
    char shape[SLICE_TEXT_SIZE];
    slice_text(chip, slice, shape);
    if (slices > 1)
        snprintf(machine.text, sizeof machine.text, "%lld x %s", (long long)slices, shape);
    else
        snprintf(machine.text, sizeof machine.text, "%s", shape);
    note_unschedulable(chip, &machine, shape);
    twist(chip, &machine, shape);
    *out = machine;
}

int64_t machine_host_most(const Chip *chip) {
    int64_t host = chip->chips_per_host;
    return chip->scaleup == SCALEUP_PCIE && !chip->usual_host_chips ? max_whole(host, HOST_BOARDS_MAX) : host;
}

/* Parts are equal, so that the mesh is a box: the largest part of whole hosts that fits a domain and divides the
 * chips. */
static int64_t chips_per_domain(const Chip *chip, int64_t chips) {
    if (chips <= machine_host_most(chip) || chips <= chip->domain_chips) return chips;
    int64_t part = chip->domain_chips;
    while (part > chip->chips_per_host && chips % part != 0) part -= chip->chips_per_host;
    return part;
}

static const char *domain_word(const Chip *chip) { return chip->domain_chips > chip->chips_per_host ? "rack" : "node"; }

/* "2 racks of 72", "4 chips of one node", "64 chips of each of 2 racks"; where domains are filled unequally, the text
 * names the parts that stand for them. */
static void name_gpus(const Chip *chip, int64_t part, Machine *machine) {
    const char *domain = domain_word(chip);
    int64_t chips = machine->mesh.chips, parts = machine->nodes, host = chip->chips_per_host;
    int64_t domains = (chips + chip->domain_chips - 1) / chip->domain_chips;
    char *text = machine->text;
    size_t size = sizeof machine->text;
    if (part == chip->domain_chips)
        snprintf(text, size, "%lld %s%s of %lld", (long long)parts, domain, parts > 1 ? "s" : "", (long long)part);
    else if (parts == 1)
        snprintf(text, size, "%lld chip%s %s one %s", (long long)part, part > 1 ? "s" : "",
                 part > chip->domain_chips ? "in" : "of", domain);
    else if (parts == domains)
        snprintf(text, size, "%lld chips of each of %lld %ss", (long long)part, (long long)parts, domain);
    else {
        int64_t below = chips / domains / host * host;
        snprintf(text, size, "%lld chips, planned as %lld x %lld", (long long)chips, (long long)parts, (long long)part);
        note(machine,
             "%lld chips are no equal parts of %lld %ss: planned as %lld parts of %lld with the network between all of "
             "them, slower than the real machine; %lld and %lld chips are equal parts",
             (long long)chips, (long long)domains, domain, (long long)parts, (long long)part,
             (long long)(below * domains), (long long)((below + host) * domains));
    }
}

void machine_of_gpus(const Chip *chip, int64_t chips, Machine *out) {
    int64_t part = chips_per_domain(chip, chips), nodes = chips / part;
    Machine machine = {.slices = 1, .nodes = nodes};
    bool direct = chip->scaleup == SCALEUP_MESH, slots = chip->scaleup == SCALEUP_PCIE;
    double links =
        (double)(direct ? chip->links_per_chip / max_whole(1, chip->domain_chips - 1) : chip->links_per_chip);
    int64_t pairs = slots && chip->bridged_chips > 0 && part % chip->bridged_chips == 0 ? chip->bridged_chips : 1;
    add_axis(&machine.mesh, "nvlink",
             (Axis){.kind = AXIS_SWITCH,
                    .level = LEVEL_NVLINK,
                    .size = pairs,
                    .bytes_per_second = chip->bridge_bytes_per_second.value,
                    .latency_seconds = chip->hop_seconds.value});
    add_axis(&machine.mesh,
             direct  ? "xgmi"
             : slots ? "pcie"
                     : "nvlink",
             (Axis){.kind = direct ? AXIS_MESH : AXIS_SWITCH,
                    .level = slots ? LEVEL_PCIE : LEVEL_NVLINK,
                    .size = part / pairs,
                    .bytes_per_second = chip->link_bytes_per_second.value * links,
                    .latency_seconds = chip->hop_seconds.value});
    add_axis(&machine.mesh, "network",
             (Axis){.kind = AXIS_SWITCH,
                    .level = LEVEL_NETWORK,
                    .size = nodes,
                    .bytes_per_second = chip->scaleout_bytes_per_second.value,
                    .latency_seconds = chip->scaleout_seconds.value});
    machine.mesh.chips = machine.mesh.devices = chips;
    Fabric *fabric = &machine.mesh.fabric;
    fabric->across_shares_host_lane = chip->nic_shares_pcie.value > 0.5;
    fabric->ring_base_seconds = chip->ring_base_seconds.value;
    fabric->tree_base_seconds = chip->tree_base_seconds.value;
    fabric->tree_hop_seconds = chip->tree_hop_seconds.value;
    fabric->tree_scaleout_seconds = chip->tree_scaleout_seconds.value;
    if (nodes > 1 && chip->oversubscription > 1) {
        /* a part of a domain takes a correspondingly smaller share of the leaf */
        fabric->leaf_nodes = chip->leaf_nodes.value * (double)(chip->domain_chips / part);
        fabric->oversubscription = chip->oversubscription;
        note(&machine, "the spine is oversubscribed %g to 1 above leaves of %g %ss", chip->oversubscription,
             chip->leaf_nodes.value, domain_word(chip));
    }
    name_gpus(chip, part, &machine);
    if (chip->usual_host_chips > chip->chips_per_host)
        note(&machine, "a host of %lld has %lld/%lld of the%s memory of a usual host", (long long)chip->chips_per_host,
             (long long)chip->chips_per_host, (long long)chip->usual_host_chips,
             chip_network_typed(chip) ? "" : " network cards and the");
    *out = machine;
}

bool machine_may_scale_out(const Chip *chip) { return chip->scaleout_bytes_per_second.value > 0; }

/* Other machines of the same kind: with fewer chips (a share idles), or with the same number of chips in another
 * shape. */

typedef struct {
    SliceShape slice; /* GPUs: zeros */
    int64_t slices, chips;
} Candidate;

/* Which machines stand in for which. */
typedef struct {
    const Chip *chip;
    const Machine *requested;
    double max_idle; /* of the machines with fewer chips */
} Wanted;

/* The list that candidates go to; they are only counted while `at` is NULL. */
typedef struct {
    Candidate *at;
    int64_t count;
} Candidates;

static void add(Candidates *to, Candidate candidate) {
    if (to->at) to->at[to->count] = candidate;
    to->count++;
}

static int by_chips_then_shape(const void *left, const void *right) {
    const Candidate *a = left, *b = right;
    if (a->chips != b->chips) return a->chips > b->chips ? -1 : 1;
    int shape = slice_compare(a->slice, b->slice);
    return shape ? shape : (a->slices < b->slices) - (a->slices > b->slices);
}

/* The least number of chips that leaves at most this share idle; the slack only forgives the rounding of 1 - share. */
static int64_t least_chips(int64_t chips, double max_idle) {
    double least = ceil((1 - max_idle) * (double)chips - 1e-9 - 1e-12 * (double)chips);
    return least < 1 ? 1 : (int64_t)least;
}

static void add_smaller_tori(const Chip *chip, const Machine *requested, int64_t least, Candidates *to) {
    int64_t asked_chips = slice_chips(requested->slice);
    bool offered = slice_offered(chip, requested->slice);
    for (int64_t slices = requested->slices; slices >= 1 && asked_chips * slices >= least; slices--) {
        if (to->count > IDLE_MACHINES_MAX) return;
        if (!offered && slices < requested->slices)
            add(to, (Candidate){requested->slice, slices, asked_chips * slices});
        for (SliceWalk walk = {.chip = chip}; slice_next(&walk);) {
            int64_t chips = slice_chips(walk.shape);
            if (chips > asked_chips || chips * slices < least || chips * slices >= requested->mesh.chips) continue;
            add(to, (Candidate){walk.shape, slices, chips * slices});
        }
    }
}

static void add_smaller_gpus(const Chip *chip, const Machine *requested, int64_t least, Candidates *to) {
    int64_t host = chip->chips_per_host;
    for (int64_t chips = (requested->mesh.chips - 1) / host * host; chips >= least && chips >= host; chips -= host) {
        if (to->count > IDLE_MACHINES_MAX) return;
        add(to, (Candidate){.slices = 1, .chips = chips});
    }
}

static void add_smaller(const Wanted *wanted, Candidates *to) {
    int64_t least = least_chips(wanted->requested->mesh.chips, wanted->max_idle);
    if (chip_has_domains(wanted->chip))
        add_smaller_gpus(wanted->chip, wanted->requested, least, to);
    else
        add_smaller_tori(wanted->chip, wanted->requested, least, to);
}

static void add_equal_machines(const Wanted *wanted, Candidates *to) {
    const Chip *chip = wanted->chip;
    const Machine *requested = wanted->requested;
    if (chip_has_domains(chip)) return;
    for (SliceWalk walk = {.chip = chip}; slice_next(&walk);)
        if (slice_chips(walk.shape) == slice_chips(requested->slice) &&
            slice_compare(walk.shape, requested->slice) != 0)
            add(to, (Candidate){walk.shape, requested->slices, requested->mesh.chips});
}

typedef void AddCandidates(const Wanted *wanted, Candidates *to);

/* Counts first, then fills: the arena cannot grow an array in place. */
static bool machines_of(AddCandidates *add_all, const Wanted *wanted, Arena *arena, MachineList *out, Error *error) {
    Candidates found = {0};
    add_all(wanted, &found);
    if (found.count > IDLE_MACHINES_MAX)
        return error_set(
            error, ERROR_INPUT, "--max-idle",
            "more than %d smaller machines are within this share of %s (%lld chips); give a smaller share, "
            "or a smaller --nodes or --chips",
            IDLE_MACHINES_MAX, wanted->requested->text, (long long)wanted->requested->mesh.chips);
    found.at = ARENA_NEW(arena, Candidate, (size_t)found.count);
    Machine *machines = ARENA_NEW(arena, Machine, (size_t)found.count);
    if (!found.at || !machines) return error_memory(error);
    found.count = 0;
    add_all(wanted, &found);
    qsort(found.at, (size_t)found.count, sizeof(Candidate), by_chips_then_shape);
    for (int64_t i = 0; i < found.count; i++) {
        const Candidate *at = &found.at[i];
        if (chip_has_domains(wanted->chip))
            machine_of_gpus(wanted->chip, at->chips, &machines[i]);
        else
            machine_of_slice(wanted->chip, at->slice, at->slices, &machines[i]);
    }
    *out = (MachineList){machines, (int)found.count};
    return true;
}

bool machine_idle_shapes(const Chip *chip, const Machine *requested, double max_idle, Arena *arena, MachineList *out,
                         Error *error) {
    if (!(max_idle > 0)) max_idle = 0; /* this catches a NaN too */
    return machines_of(add_smaller, &(Wanted){chip, requested, max_idle}, arena, out, error);
}

bool machines_alike(const Chip *chip, const Machine *requested, Arena *arena, MachineList *out, Error *error) {
    return machines_of(add_equal_machines, &(Wanted){chip, requested, 0}, arena, out, error);
}
