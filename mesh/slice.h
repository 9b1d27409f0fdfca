/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mesh/slice.h: the slices that a torus generation offers, how they are written, which comes next. Pure. */
#ifndef SHARDOPT_MESH_SLICE_H
#define SHARDOPT_MESH_SLICE_H

#include "mesh/chip.h"

enum { SLICE_TEXT_SIZE = 72, SLICE_SIZE_MAX = 1000000000 };

/* Steps through every offered shape once: the listed ones, then (3-D) all whole cubes in lexicographic order.
 *     for (SliceWalk walk = {.chip = chip}; slice_next(&walk);) ... walk.shape ...
 * Ends at once for a chip that has no slices. */
typedef struct {
    const Chip *chip;
    SliceShape shape;
    int listed;       /* listed shapes already given */
    int64_t cubes[3]; /* zeros before the first shape of cubes */
} SliceWalk;
bool slice_next(SliceWalk *walk);

/* Product of the sizes; sizes are 1 to SLICE_SIZE_MAX. INT64_MAX: does not fit. */
int64_t slice_chips(SliceShape shape);

/* By size, x first: negative, zero, positive, as strcmp. */
int slice_compare(SliceShape a, SliceShape b);

/* The same sizes, the smallest first. */
SliceShape slice_sorted(SliceShape shape);

/* "16x20x28"; two sizes for a 2-D generation. Returns `text` (SLICE_TEXT_SIZE bytes). */
const char *slice_text(const Chip *chip, SliceShape shape, char *text);

/* "16x20x28" or "8x16" (the third size is 1), digits and x alone; sizes 1 to SLICE_SIZE_MAX. *sizes: how many.
 * False: not a shape. */
bool slice_parse(const char *text, SliceShape *out, int *sizes);

/* Whether every axis (3-D), or this axis (2-D), of the slice is a ring: optical switches join whole 4x4x4 cubes,
 * and a 2-D generation closes an axis only over its full length. */
bool slice_wraps(const Chip *chip, SliceShape shape, int axis);

/* k x k x 2k or k x 2k x 2k of whole cubes, in any order, of a chip that twists such: by how much that speeds up an
 * all_to_all over the whole slice (value 0: not known). NULL: not twisted. */
const Figure *slice_twist(const Chip *chip, SliceShape shape);

/* The shape that a bare chip count means: the vendor's default, else the most cubic offered one. False: none. */
bool slice_default(const Chip *chip, int64_t chips, SliceShape *out);

/* The offered shape nearest to one that is not: least sum of size differences, then fewer chips. False: no slices. */
bool slice_nearest(const Chip *chip, SliceShape shape, SliceShape *out);

#endif
