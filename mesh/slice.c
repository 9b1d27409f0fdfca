/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mesh/slice.h"

#include "mesh/machine.h"

#include <stdio.h>
#include <stdlib.h>

enum { CUBE = 4, AXIS_CUBES_MAX = 64 }; /* cubes of 4x4x4, an axis of at most 256 chips (xpk) */

static bool is_cubes(SliceShape shape) {
    return shape.size[0] % CUBE == 0 && shape.size[1] % CUBE == 0 && shape.size[2] % CUBE == 0;
}

int64_t slice_chips(SliceShape shape) {
    int64_t chips = 0;
    if (__builtin_mul_overflow(shape.size[0], shape.size[1], &chips)) return INT64_MAX;
    return __builtin_mul_overflow(chips, shape.size[2], &chips) ? INT64_MAX : chips;
}

int slice_compare(SliceShape a, SliceShape b) {
    for (int i = 0; i < 3; i++)
        if (a.size[i] != b.size[i]) return a.size[i] < b.size[i] ? -1 : 1;
    return 0;
}

SliceShape slice_sorted(SliceShape shape) {
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < 2; i++) {
            int64_t a = shape.size[i], b = shape.size[i + 1];
            shape.size[i] = a < b ? a : b;
            shape.size[i + 1] = a < b ? b : a;
        }
    return shape;
}

const char *slice_text(const Chip *chip, SliceShape shape, char *text) {
    if (chip->scaleup == SCALEUP_TORUS_2D && shape.size[2] == 1)
        snprintf(text, SLICE_TEXT_SIZE, "%lldx%lld", (long long)shape.size[0], (long long)shape.size[1]);
    else
        snprintf(text, SLICE_TEXT_SIZE, "%lldx%lldx%lld", (long long)shape.size[0], (long long)shape.size[1],
                 (long long)shape.size[2]);
    return text;
}

bool slice_parse(const char *text, SliceShape *out, int *sizes) {
    SliceShape shape = {{1, 1, 1}};
    int count = 0;
    for (const char *at = text;; at++) {
        if (count == 3 || *at < '0' || *at > '9') return false;
        int64_t size = 0;
        for (; *at >= '0' && *at <= '9'; at++) {
            size = size * 10 + (*at - '0');
            if (size > SLICE_SIZE_MAX) return false;
        }
        if (size == 0) return false;
        shape.size[count++] = size;
        if (*at == '\0') break;
        if (*at != 'x' && *at != 'X') return false;
    }
    if (count < 2) return false;
    *out = shape;
    *sizes = count;
    return true;
}

bool slice_wraps(const Chip *chip, SliceShape shape, int axis) {
    if (chip->scaleup == SCALEUP_TORUS_3D) return is_cubes(shape);
    return chip->scaleup == SCALEUP_TORUS_2D && chip->closed_size > 0 && shape.size[axis] == chip->closed_size;
}

const Figure *slice_twist(const Chip *chip, SliceShape shape) {
    if (!chip->twisted || !is_cubes(shape)) return NULL;
    SliceShape sorted = slice_sorted(shape);
    if (sorted.size[2] != 2 * sorted.size[0]) return NULL;
    return sorted.size[1] == sorted.size[0]   ? &chip->twisted_gain_k_k_2k
           : sorted.size[1] == sorted.size[2] ? &chip->twisted_gain_k_2k_2k
                                              : NULL;
}

bool slice_offered(const Chip *chip, SliceShape slice) {
    for (int i = 0; i < chip->shape_count; i++)
        if (slice_compare(chip->shapes[i], slice) == 0) return true;
    if (chip->scaleup != SCALEUP_TORUS_3D || !is_cubes(slice)) return false;
    int64_t cubes = 1;
    for (int i = 0; i < 3; i++) {
        int64_t size = slice.size[i] / CUBE;
        if (size < 1 || size > AXIS_CUBES_MAX) return false;
        if (chip->sorted_shapes && i > 0 && slice.size[i] < slice.size[i - 1]) return false;
        cubes *= size;
    }
    return cubes <= chip->max_cubes;
}

/* The next triple of cubes in lexicographic order, within max_cubes; ascending where only sorted shapes are offered. */
static bool next_cubes(const Chip *chip, int64_t cubes[3]) {
    int64_t most = chip->max_cubes;
    if (most < 1) return false;
    if (cubes[0] == 0) {
        cubes[0] = cubes[1] = cubes[2] = 1;
        return true;
    }
    for (int i = 2; i >= 0; i--) {
        /* raise size i, and start the later ones at their least value */
        int64_t next = cubes[i] + 1, product = 1;
        for (int j = 0; j < i; j++) product *= cubes[j];
        int64_t least = chip->sorted_shapes ? next : 1;
        for (int j = i; j < 3; j++) product *= j == i ? next : least;
        if (next > AXIS_CUBES_MAX || product > most) continue;
        cubes[i] = next;
        for (int j = i + 1; j < 3; j++) cubes[j] = least;
        return true;
    }
    return false;
}

bool slice_next(SliceWalk *walk) {
    const Chip *chip = walk->chip;
    if (walk->listed < chip->shape_count) {
        walk->shape = chip->shapes[walk->listed++];
        return true;
    }
    if (chip->scaleup != SCALEUP_TORUS_3D || !next_cubes(chip, walk->cubes)) return false;
    for (int i = 0; i < 3; i++) walk->shape.size[i] = CUBE * walk->cubes[i];
    return true;
}

/* Among shapes with equal chips, the least sum of sizes is the most cubic box; between equal sums, the walk's first
 * wins. */
bool slice_default(const Chip *chip, int64_t chips, SliceShape *out) {
    for (int i = 0; i < chip->default_count; i++) {
        if (slice_chips(chip->defaults[i]) != chips) continue;
        *out = chip->defaults[i];
        return true;
    }
    int64_t best = INT64_MAX;
    for (SliceWalk walk = {.chip = chip}; slice_next(&walk);) {
        int64_t sum = walk.shape.size[0] + walk.shape.size[1] + walk.shape.size[2];
        if (slice_chips(walk.shape) != chips || sum >= best) continue;
        best = sum;
        *out = walk.shape;
    }
    return best < INT64_MAX;
}

/* Generations with sorted shapes and the listed 2-D ones are compared in ascending order: 28x20x16 means 16x20x28. */
bool slice_nearest(const Chip *chip, SliceShape shape, SliceShape *out) {
    bool flat = chip->scaleup == SCALEUP_TORUS_2D, found = false;
    if (flat && shape.size[0] > shape.size[1]) shape = (SliceShape){{shape.size[1], shape.size[0], shape.size[2]}};
    if (!flat && chip->sorted_shapes) shape = slice_sorted(shape);
    int64_t best = INT64_MAX;
    for (SliceWalk walk = {.chip = chip}; slice_next(&walk);) {
        int64_t distance = 0;
        for (int i = 0; i < 3; i++) distance += llabs(walk.shape.size[i] - shape.size[i]);
        if (distance > best || (distance == best && slice_chips(walk.shape) >= slice_chips(*out))) continue;
        best = distance;
        *out = walk.shape;
        found = true;
    }
    return found;
}
