/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/report/html/chip_map.h: which group holds which chip of a machine: a cell for each device, host by host, or on
 * a torus plane by plane. Pure but for the stream. */
#pragma once

#include "base/text/svg.h"
#include "base/text/table.h"
#include "mesh/mesh.h"

/* Groups of one kind: workers that decode. */
typedef struct {
    const char *name, *how; /* "decode", and for the table how each is cut: "tensor=4" */
    Paint paint;
    int64_t count;
} ChipKind;

enum { CHIP_KINDS_MAX = 2 };
typedef struct {
    const Mesh *mesh;
    int64_t host; /* devices of one */
    /* By device, the axes from the inside: the group that holds it, numbered kind after kind from 0 on; -1: none.
     * The second is of what takes turns on the same chips; NULL: nothing does. */
    const int32_t *group[2];
    ChipKind kinds[CHIP_KINDS_MAX];
    int kind_count;
} ChipMap;

/* Pixels that it takes, its legend included, in a picture of SVG_PANEL. What has no room is left out, in words. */
double chip_map_height(const ChipMap *map);
void chip_map_draw(Svg *svg, const ChipMap *map, double top);

/* The groups, as many as have room, with the part of each axis that they lie on: rows of such a table. */
#define CHIP_MAP_COLUMNS "group|>devices|where|how it is cut"
bool chip_map_list(const ChipMap *map, Arena *arena, Table *table);
