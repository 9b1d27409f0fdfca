/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mesh/mesh.h: a machine as an ordered list of physical axes, innermost first. Eight v5p pods: x=16 y=20 z=28 (rings),
 * dcn=8 (switch). */
#ifndef SHARDOPT_MESH_MESH_H
#define SHARDOPT_MESH_MESH_H

#include <stdbool.h>
#include <stdint.h>

enum { MESH_AXES_MAX = 5 };

typedef enum {
    AXIS_RING,   /* a torus axis whose ends are joined */
    AXIS_LINE,   /* a torus axis whose ends are not */
    AXIS_SWITCH, /* non-blocking: any permutation at full rate */
} AxisKind;

/* What it is made of; decides its name, its word in bound_by, and which efficiency of the profile applies. */
typedef enum { LEVEL_ICI, LEVEL_NVLINK, LEVEL_NETWORK, LEVEL_DCN } AxisLevel;

typedef struct {
    char name[12]; /* x y z nvlink network dcn */
    AxisKind kind;
    AxisLevel level;
    int64_t size;            /* >= 2: axes of size 1 are left out */
    double bytes_per_second; /* torus: one link, one way; switch: one way per chip */
    double latency_seconds;  /* torus: one hop; switch: one message */
} Axis;

typedef struct {
    Axis axes[MESH_AXES_MAX];
    int axis_count;
    int64_t chips;   /* product of the sizes / devices_per_chip */
    int64_t devices; /* product of the sizes: what role degrees multiply to */
} Mesh;

const char *axis_kind_name(AxisKind kind);    /* "ring" "line" "switch" */
const char *axis_level_name(AxisLevel level); /* "ici" "nvlink" "network" "dcn" */

#endif
