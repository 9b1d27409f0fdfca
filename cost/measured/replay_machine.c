/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/measured/replay_parts.h"

#include "base/util.h"
#include "mesh/host_link.h"
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
