/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Other machines of the same kind: with fewer chips (a share idles), or with the same number of chips in another
 * shape. */
#include "mesh/machine.h"
#include "mesh/slice.h"

#include <math.h>
#include <stdlib.h>

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
