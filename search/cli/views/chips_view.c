/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/views/chips_view.h"

#include "mesh/machine.h"

#include <stdlib.h>
#include <string.h>

ChipStanding chip_standing(const Chip *chip) {
    ChipStanding standing = {0};
    Machine machine;
    Error error = {0};
    for (int i = 0; i < CHIP_FIGURE_COUNT; i++) {
        const Figure *figure = chip_figure(chip, i);
        standing.known += figure_is_known(figure);
        standing.checked += figure_is_known(figure) && figure->verified;
    }
    standing.plans = machine_from_request(chip, &(MachineRequest){0}, &machine, &error);
    return standing;
}

static int by_chips(const void *left, const void *right) {
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static bool is_vendors(const Chip *chip, SliceShape shape) {
    for (int i = 0; i < chip->default_count; i++)
        if (slice_compare(chip->defaults[i], shape) == 0) return true;
    return false;
}

static OfferedSlice offered_slice(const Chip *chip, int64_t chips, int of_count) {
    OfferedSlice slice = {.chips = chips};
    slice_default(chip, chips, &slice.shape);
    slice.vendor = is_vendors(chip, slice.shape);
    slice.only = of_count == 1;
    if (chip->chips_per_vm > 0) slice.vms = chips < chip->chips_per_vm ? 1 : chips / chip->chips_per_vm;
    if (chip->name_prefix[0][0])
        snprintf(slice.name, sizeof slice.name, "%s-%lld", chip->name_prefix[0],
                 (long long)(chips * chip->cores_in_name));
    for (int axis = 0; axis < 3; axis++)
        if (slice.shape.size[axis] > 1 && slice_wraps(chip, slice.shape, axis))
            snprintf(slice.rings + strlen(slice.rings), sizeof slice.rings - strlen(slice.rings), "%s%c",
                     slice.rings[0] ? " " : "", "xyz"[axis]);
    if (slice.rings[0] == '\0') strcpy(slice.rings, "-");
    slice.twisted = slice_twist(chip, slice.shape) != NULL;
    return slice;
}

bool chip_offered(const Chip *chip, Arena *arena, OfferedSlice **out, int *count) {
    size_t shapes = 0, at = 0;
    for (SliceWalk walk = {.chip = chip}; slice_next(&walk);) shapes++;
    int64_t *chips = ARENA_NEW(arena, int64_t, shapes + 1);
    *out = ARENA_NEW(arena, OfferedSlice, shapes + 1);
    *count = 0;
    if (!chips || !*out) return false;
    for (SliceWalk walk = {.chip = chip}; slice_next(&walk);) chips[at++] = slice_chips(walk.shape);
    qsort(chips, shapes, sizeof *chips, by_chips);
    for (size_t i = 0, next; i < shapes; i = next) {
        for (next = i + 1; next < shapes && chips[next] == chips[i];) next++;
        (*out)[(*count)++] = offered_slice(chip, chips[i], (int)(next - i));
    }
    return true;
}
