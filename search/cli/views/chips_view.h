/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/views/chips_view.h: what `shardopt chips` prints: the catalog as a table, one chip in full, either as
 * JSON. */
#pragma once

#include "base/text/terminal.h"
#include "mesh/chip_json.h"
#include "mesh/slice.h"

#include <stdio.h>

static inline const Figure *chip_figure(const Chip *chip, int index) {
    return (const Figure *)((const char *)chip + CHIP_FIGURES[index].offset);
}

static inline bool figure_is_known(const Figure *figure) { return figure->source[0] != '\0'; }

/* Where the figures of a chip stand. */
typedef struct {
    int known, checked;
    bool plans; /* the smallest machine of it can be planned */
} ChipStanding;
ChipStanding chip_standing(const Chip *chip);

/* The slices that a chip offers by count: each count of chips once, ascending, in the shape that the bare count
 * means. */
typedef struct {
    SliceShape shape;
    int64_t chips, vms; /* vms 0: not known */
    bool vendor, only;  /* the vendor's default of the count; the only shape of it. Neither: the most cubic offered */
    char name[2 * CHIP_NAME_SIZE]; /* "v5p-1024"; empty: slices of this chip have no names */
    char rings[16];                /* "x y z": the axes that close; "-": none */
    bool twisted;
} OfferedSlice;
bool chip_offered(const Chip *chip, Arena *arena, OfferedSlice **out, int *count); /* false: memory is out */

/* False: memory is out; of one chip also that its profile cannot be read, which is in *error then. */
bool chips_write_table(const Catalog *catalog, TextOut out);
bool chips_write_one(const Chip *chip, TextOut out, Arena *arena, Error *error);
bool chips_write_json(const Catalog *catalog, const Chip *one, FILE *out, Arena *arena); /* `one` NULL: all */
