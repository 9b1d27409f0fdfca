/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mesh/machine.h: turns a user's request (--pods, --slice, --slices, --chips, --nodes, --chip) into a mesh, with the
 * real wrap rule of each generation; and finds the other shapes of the same machine that leave a share of the chips
 * idle. Pure. */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "mesh/chip_json.h"
#include "mesh/mesh.h"

typedef struct {
    Mesh mesh;
    SliceShape slice; /* tori: chips along x, y, z of one slice; else zeros */
    int64_t slices;   /* tori: slices over DCN; GPUs: 1 */
    int64_t nodes;    /* GPUs: hosts (or racks of an NVL72); tori: 0 */
    char text[96];    /* for people: "8 x 16x20x28" / "64 nodes of 8" / "16x16" */
    /* A fact that a reader would not expect, e.g. "16x20x28 is a whole pod: real hardware, but the largest schedulable
     * slice is 6,144 chips"; empty means nothing */
    char note[384];
} Machine;

/* The values of the options; NULL or 0 means not given. At most one of pods, slice, chips, nodes is given (the parser
 * of options checks that). */
typedef struct {
    int64_t pods;
    const char *slice; /* "16x20x28", "v5p-1024", "v6e-16", "v5p-4x4x8" */
    int64_t slices;    /* 0 means 1 */
    int64_t chips;
    int64_t nodes;
} MachineRequest;

/* A vendor's slice name implies its chip: "v5p-1024" gives the v5p of the catalog. NULL means a plain shape, or not a
 * slice name. */
const Chip *machine_chip_of_slice(const Catalog *catalog, const char *slice);

/* Makes the requested machine. A request that is not a machine (pods of GPUs, half a node, a slice that is not offered,
 * zero, more than 2^31 chips) is an error that names the nearest machine; so is a machine that needs a figure missing
 * from the catalog. An empty request means one pod (TPU) or one node (GPU). */
bool machine_from_request(const Chip *chip, const MachineRequest *request, Machine *out, Error *error);

/* Lists every machine of the same kind with fewer chips that may stand in for `requested` when a share of at most
 * `max_idle` of its chips may idle: chips >= ceil((1 - max_idle) * requested->mesh.chips - 1e-9) and fewer than
 * requested; another offered shape with the same count is NOT included. 3-D tori: any offered shape with fewer cubes,
 * the same slices, and its own wraps (at most the whole pod's cubes); 2-D: any offered shape; GPUs: fewer whole nodes;
 * also fewer slices. Sorted by chips, descending, then by shape. In the arena. */
typedef struct {
    Machine *machines;
    int count;
} MachineList;
bool machine_idle_shapes(const Chip *chip, const Machine *requested, double max_idle, Arena *arena, MachineList *out,
                         Error *error);

/* Other offered shapes with the same number of chips (not `requested` itself) and the same slices. */
bool machines_alike(const Chip *chip, const Machine *requested, Arena *arena, MachineList *out, Error *error);

/* One machine of exactly this slice shape and number of slices, without checking whether it is offered. */
void machine_of_slice(const Chip *chip, SliceShape slice, int64_t slices, Machine *out);

/* The most chips of one host: `chips_per_host`, or, where nobody said how many, as many boards as it has slots for. */
int64_t machine_host_most(const Chip *chip);

/* GPUs: this many chips in equal parts over the smallest number of NVLink domains that whole hosts allow (128 chips of
 * NVL72: 2 racks, 64 of each). `chips` fit into one host or are a multiple of it. Where equal parts cannot fill the
 * fewest domains (76 chips, 36 and 40 of two racks of 72), smaller equal parts with the network between them stand for
 * it (19 hosts of 4), and the note says so: the model is never faster than the real machine. */
void machine_of_gpus(const Chip *chip, int64_t chips, Machine *out);

/* Whether the catalog has the rate of the network that joins domains or slices, so that there can be more than one. */
bool machine_may_scale_out(const Chip *chip);

enum { IDLE_MACHINES_MAX = 1 << 14 }; /* more machines than this from machine_idle_shapes are an error */
static const int64_t MACHINE_CHIPS_MAX = INT64_C(1) << 31;

/* Whether this slice shape is offered for the chip. */
bool slice_offered(const Chip *chip, SliceShape slice);
