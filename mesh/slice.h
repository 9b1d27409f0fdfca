/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mesh/slice.h: the slices that a torus generation has, how they are written, and which comes next. Pure. */
#pragma once

#include "mesh/chip.h"

enum { SLICE_TEXT_SIZE = 72, SLICE_SIZE_MAX = 1000000000 };

/* Steps through every offered shape once: the listed ones, then (3-D) all whole cubes in lexicographic order.
 *    for (SliceWalk walk = {.chip = chip}; slice_next(&walk);) ... walk.shape ...
 * The walk ends at once for a chip that has no slices. */
typedef struct {
    const Chip *chip;
    SliceShape shape;
    int listed;       /* listed shapes already given */
    int64_t cubes[3]; /* zeros before the first shape of cubes */
} SliceWalk;
bool slice_next(SliceWalk *walk);

/* Product of the sizes; sizes are 1 to SLICE_SIZE_MAX. INT64_MAX means that the product does not fit. */
int64_t slice_chips(SliceShape shape);

/* Compares by size, x first: negative, zero, positive, as strcmp does. */
int slice_compare(SliceShape a, SliceShape b);

/* The same sizes, the smallest first. */
SliceShape slice_sorted(SliceShape shape);

/* "16x20x28"; two sizes for a 2-D generation. Returns `text` (SLICE_TEXT_SIZE bytes). */
const char *slice_text(const Chip *chip, SliceShape shape, char *text);

/* Reads "16x20x28" or "8x16" (the third size is 1), digits and x alone; sizes are 1 to SLICE_SIZE_MAX. *sizes is their
 * number. False means that the text is not a shape. */
bool slice_parse(const char *text, SliceShape *out, int *sizes);

/* Whether every axis (3-D), or this axis (2-D), of the slice is a ring: optical switches join whole 4x4x4 cubes, and a
 * 2-D generation closes an axis only over its full length. */
bool slice_wraps(const Chip *chip, SliceShape shape, int axis);

/* For k x k x 2k or k x 2k x 2k of whole cubes, in any order, of a chip that twists such slices: how much that speeds
 * up an all_to_all over the whole slice (value 0 means not known). NULL means that the slice is not twisted. */
const Figure *slice_twist(const Chip *chip, SliceShape shape);

/* The shape that a bare chip count means: the vendor's default, else the most cubic offered one. False means that there
 * is no such shape. */
bool slice_default(const Chip *chip, int64_t chips, SliceShape *out);

/* The offered shape nearest to one that is not offered: the least sum of size differences, then fewer chips. False
 * means that the chip has no slices. */
bool slice_nearest(const Chip *chip, SliceShape shape, SliceShape *out);
