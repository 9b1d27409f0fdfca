/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/util.h"
#include "cost/measured/replay.h"
#include "mesh/host_link.h"
#include "mesh/jax_mesh.h"
#include "mesh/machine.h"
#include "mesh/slice.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { SLICES_MAX = 256 }; /* tried where a source does not say how many */

/* Finds "8x16x48" or "4x4x4 slice" anywhere in a note, with this number of chips. */
static bool slice_in_text(const char *text, int64_t chips, SliceShape *out) {
    for (const char *at = text; *at; at++) {
        if (!isdigit((unsigned char)*at) || (at > text && (isalnum((unsigned char)at[-1]) || at[-1] == '-'))) continue;
        char word[32];
        size_t length = strspn(at, "0123456789x");
        int sizes = 0;
        if (length >= sizeof word || !memchr(at, 'x', length)) continue;
        memcpy(word, at, length);
        word[length] = '\0';
        if (slice_parse(word, out, &sizes) && slice_chips(*out) == chips) return true;
        at += length - 1;
    }
    return false;
}

/* "4 slice(s) of ..." "2 slices of ..." "16 pod(s) of": a count; "one v6e-256 slice": one. A number before a shape or a
 * name counts; sizes ("v6e-128 slice") do not. */
static int64_t slices_in_text(const char *text, const char *notes) {
    static const char *const WORDS[] = {" slice(s)", " slices", " slice ", " pod(s)", " pods"};
    for (int where = 0; where < 2; where++) {
        const char *in = where ? notes : text;
        for (size_t w = 0; w < COUNT_OF(WORDS); w++) {
            const char *at = strstr(in, WORDS[w]);
            if (!at) continue;
            const char *start = at;
            while (start > in && isdigit((unsigned char)start[-1])) start--;
            if (start < at && (start == in || start[-1] == ' ')) return strtoll(start, NULL, 10);
        }
    }
    return 1;
}

static bool torus(Replay *replay) {
    const Run *run = replay->run;
    Machine machine;
    SliceShape shape;
    int64_t slices = slices_in_text(run->topology, run->fsdp);
    if (slices < 1 || run->chips % slices != 0) slices = 1;
    int64_t chips = run->chips / slices;
    bool found = slice_in_text(run->topology, chips, &shape) || slice_default(&replay->chip, chips, &shape);
    if (!found) {
        /* the smallest number of slices that is offered */
        for (slices = 2; slices <= SLICES_MAX; slices++)
            if (run->chips % slices == 0 && slice_default(&replay->chip, run->chips / slices, &shape)) break;
        if (slices > SLICES_MAX)
            return replay_skip(replay, "%lld chips are no slice of %s", (long long)run->chips, replay->chip.name);
        replay_note(replay, true, "%lld slices assumed", (long long)slices);
    }
    if (replay->chip.scaleup == SCALEUP_TORUS_3D) shape = slice_sorted(shape);
    machine_of_slice(&replay->chip, shape, slices, &machine);
    replay->mesh = machine.mesh;
    replay->slices = slices;
    return true;
}

/* The network between nodes: the source's figure replaces the catalog's. */
static void set_network(const Networks *networks, Replay *replay) {
    double chips = (double)replay->chip.chips_per_host;
    if (replay->chip.scaleup == SCALEUP_MESH) return; /* its ports are the scale-up network too */
    double gigabits = network_gigabits(networks, replay->run->topology, chips);
    for (int a = 0; gigabits > 0 && a < replay->mesh.axis_count; a++)
        if (replay->mesh.axes[a].level == LEVEL_NETWORK)
            replay->mesh.axes[a].bytes_per_second = gigabits / 8 * 1e9 / chips;
}

bool replay_machine(const ReplayData *data, Replay *replay) {
    const Run *run = replay->run;
    const Chip *chip = catalog_find(&data->chips, run->hardware);
    if (!chip) return replay_skip(replay, "the catalog has no %.40s", run->hardware);
    if (chip->scaleup == SCALEUP_UNKNOWN)
        return replay_skip(replay, "the catalog does not know how %.40s are joined", chip->name);
    if (run->chips < 1 || run->chips > MACHINE_CHIPS_MAX) return replay_skip(replay, "it has no number of chips");
    replay->chip = *chip;
    if (chip_has_domains(chip)) {
        Machine machine;
        if (run->chips > chip->chips_per_host && run->chips % chip->chips_per_host != 0)
            return replay_skip(replay, "%lld chips are no whole nodes of %d", (long long)run->chips,
                               (int)chip->chips_per_host);
        machine_of_gpus(chip, run->chips, &machine);
        replay->mesh = machine.mesh;
        replay->slices = 1;
        set_network(&data->networks, replay);
    } else if (!torus(replay)) {
        return false;
    }
    for (int a = 0; a < replay->mesh.axis_count; a++)
        if (!(replay->mesh.axes[a].bytes_per_second > 0))
            return replay_skip(replay, "the catalog has no rate of %s between %s", replay->mesh.axes[a].name,
                               chip->name);
    replay->chip = chip_device(chip);
    chip_use_driver_memory(&replay->chip);
    host_set_job(&replay->chip, run->chips);
    return true;
}

/* Consecutive ranks: each role in turn, innermost first, takes from the innermost axes the factor that divides both.
 * Every prime of the axes finds a role, so nothing is left. */
static void fill(const Mesh *mesh, const Nesting *nesting, int64_t left[ROLE_COUNT], int64_t room[MESH_AXES_MAX],
                 Placement *placement) {
    for (int i = 0; i < ROLE_COUNT; i++) {
        Role role = nesting->order[i];
        for (int axis = 0; axis < mesh->axis_count; axis++) {
            int64_t taken = common_divisor(left[role], room[axis]);
            placement->factor[axis][role] = (int32_t)(placement->factor[axis][role] * taken);
            left[role] /= taken;
            room[axis] /= taken;
        }
    }
}

/* The roles on the axis that joins slices: replicas first, then roles that shard parameters, then stages and
 * experts. */
static void fill_outer(int axis, int64_t left[ROLE_COUNT], int64_t room[MESH_AXES_MAX], Placement *placement) {
    static const Role OUTER[] = {ROLE_DATA, ROLE_FSDP, ROLE_PIPELINE, ROLE_EXPERT, ROLE_SEQUENCE, ROLE_TENSOR};
    for (int i = 0; i < ROLE_COUNT; i++) {
        int64_t taken = common_divisor(left[OUTER[i]], room[axis]);
        placement->factor[axis][OUTER[i]] = (int32_t)taken;
        left[OUTER[i]] /= taken;
        room[axis] /= taken;
    }
}

static bool jax_places(const Mesh *mesh, const Nesting *nesting, const int64_t left[ROLE_COUNT], Placement *placement) {
    JaxShape physical = jax_physical_shape(mesh), logical = {.count = ROLE_COUNT};
    JaxAssignment assignment;
    bool split;
    for (int l = 0; l < ROLE_COUNT; l++) logical.size[l] = left[jax_role(nesting, l)];
    if (!jax_mesh_assign(&physical, &logical, &split, &assignment)) return false;
    jax_place(mesh, nesting, &assignment, placement);
    return true;
}

/* How frameworks nest roles: the axes of JAX's meshes as MaxText orders them, from e591f30cb configs/base.yml; ranks as
 * Megatron's parallel_state.py (d98e8a64dd) and torchtitan's parallel_dims.py (b5bcd76c) number them. */
static const Nesting MESH_AXES = {{ROLE_EXPERT, ROLE_TENSOR, ROLE_SEQUENCE, ROLE_FSDP, ROLE_DATA, ROLE_PIPELINE}};
static const Nesting RANKS = {{ROLE_TENSOR, ROLE_SEQUENCE, ROLE_EXPERT, ROLE_FSDP, ROLE_DATA, ROLE_PIPELINE}};

bool replay_placement(Replay *replay) {
    const Mesh *mesh = &replay->mesh;
    Placement *placement = &replay->plan.placement;
    bool torus = !chip_has_domains(&replay->chip);
    int64_t left[ROLE_COUNT], room[MESH_AXES_MAX];
    replay->nesting = torus || replay_on_jax(replay) ? MESH_AXES : RANKS;
    memcpy(left, replay->plan.degrees.of, sizeof left);
    for (int axis = 0; axis < mesh->axis_count; axis++) {
        room[axis] = mesh->axes[axis].size;
        for (int role = 0; role < ROLE_COUNT; role++) placement->factor[axis][role] = 1;
    }
    for (int axis = 0; axis < mesh->axis_count; axis++)
        if (mesh->axes[axis].level == LEVEL_DCN) fill_outer(axis, left, room, placement);
    if (torus && jax_places(mesh, &replay->nesting, left, placement)) return true;
    fill(mesh, &replay->nesting, left, room, placement);
    for (int role = 0; role < ROLE_COUNT; role++)
        if (left[role] != 1) return replay_skip(replay, "its degrees do not divide its machine");
    return true;
}
