/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runs/replay_parts.h"

#include "base/util.h"
#include "mesh/machine.h"
#include "mesh/slice.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "8x16x48" or "4x4x4 slice" anywhere in a note, of so many chips. */
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

/* "4 slice(s) of ..." "2 slices of ..." "16 pod(s) of": a count; "one v6e-256 slice": one. What stands before a shape or
 * a name counts; sizes ("v6e-128 slice") do not. */
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
        /* the smallest number of slices that are offered */
        for (slices = 2; slices <= 64 && !found; slices *= 2)
            if (run->chips % slices == 0 && slice_default(&replay->chip, run->chips / slices, &shape)) break;
        if (slices > 64)
            return replay_skip(replay, "%lld chips are no slice of %s", (long long)run->chips, replay->chip.name);
        replay_note(replay, true, "%lld slices assumed", (long long)slices);
    }
    if (replay->chip.scaleup == SCALEUP_TORUS_3D) shape = slice_sorted(shape);
    machine_of_slice(&replay->chip, shape, slices, &machine);
    replay->mesh = machine.mesh;
    replay->slices = slices;
    return true;
}

/* A rate in Gb/s of a whole node: "4x100 Gb/s RoCE per node", "1600 Gb/s RoCE per node"; 0: none. Of a list with parts
 * for storage and management, only what computes. */
static double node_gigabits(const char *text) {
    const char *compute = strstr(text, "Compute:");
    double most = 0;
    for (const char *at = compute ? compute : text; *at; at++) {
        if (!isdigit((unsigned char)*at) || (at > text && (isalnum((unsigned char)at[-1]) || at[-1] == '.'))) continue;
        char *end;
        double first = strtod(at, &end), count = 1;
        if (*end == 'x' && isdigit((unsigned char)end[1])) {
            count = first;
            first = strtod(end + 1, &end);
        } else if (*end == 'x' && end[1] == ' ') {
            /* "8x ConnectX-7 IB NDR 400Gb/s" */
            const char *rate = strstr(end, "Gb/s"), *stop = strpbrk(end, ",;+");
            if (rate && (!stop || rate < stop)) {
                const char *digits = rate;
                while (digits > end && (isdigit((unsigned char)digits[-1]) || digits[-1] == ' ')) digits--;
                count = first;
                first = strtod(digits, &end);
            }
        }
        while (*end == ' ') end++;
        if (strncmp(end, "Gb/s", 4) == 0 || strncmp(end, "Gb/S", 4) == 0 || strncmp(end, "Gbps", 4) == 0)
            if (count * first > most && count <= 64) most = count * first;
        at = end > at ? end - 1 : at;
    }
    return most;
}

static void set_network(Replay *replay) {
    const char *note = replay->run->topology;
    double gigabits = 0, chips = (double)replay->chip.chips_per_host;
    const char *storage = strstr(note, "Storage");
    if (replay->chip.scaleup == SCALEUP_MESH) return; /* its ports are the scale-up network too */
    if (text_has(note, "TCPXO"))
        gigabits = 1600; /* A3 Mega: 8 x 200 Gb/s */
    else if (text_has(note, "TCPX"))
        gigabits = 800; /* A3 High: 4 x 200 Gb/s */
    else if (text_has(note, "Omni-Path"))
        gigabits = 400; /* Jean Zay: 4 x 100 Gb/s */
    else if (text_has(note, "per node") || text_has(note, "ConnectX") || text_has(note, "EFA") ||
             text_has(note, "RoCE"))
        gigabits = storage && !strstr(note, "Compute:") ? 0 : node_gigabits(note);
    if (!(gigabits >= 50)) return;
    for (int a = 0; a < replay->mesh.axis_count; a++)
        if (replay->mesh.axes[a].level == LEVEL_NETWORK)
            replay->mesh.axes[a].bytes_per_second = gigabits / 8 * 1e9 / chips;
}

bool replay_machine(const Catalog *chips, Replay *replay) {
    const Run *run = replay->run;
    const Chip *chip = catalog_find(chips, run->hardware);
    if (!chip) return replay_skip(replay, "the catalog has no %.40s", run->hardware);
    if (chip->scaleup == SCALEUP_UNKNOWN)
        return replay_skip(replay, "the catalog does not know how %.40s are joined", chip->name);
    if (run->chips < 1 || run->chips > MACHINE_CHIPS_MAX) return replay_skip(replay, "it has no number of chips");
    replay->chip = *chip;
    if (chip_has_domains(chip)) {
        Machine machine;
        machine_of_gpus(chip, run->chips, &machine);
        replay->mesh = machine.mesh;
        replay->slices = 1;
        set_network(replay);
    } else if (!torus(replay)) {
        return false;
    }
    for (int a = 0; a < replay->mesh.axis_count; a++)
        if (!(replay->mesh.axes[a].bytes_per_second > 0))
            return replay_skip(replay, "the catalog has no rate of %s between %s", replay->mesh.axes[a].name,
                               chip->name);
    replay->chip = chip_device(chip);
    return true;
}
