/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mesh/mesh.h: a machine as an ordered list of physical axes, innermost first. Eight v5p pods: x=16 y=20 z=28 (rings),
 * dcn=8 (switch). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { MESH_AXES_MAX = 5 };

typedef enum {
    AXIS_RING,   /* a torus axis whose ends are joined */
    AXIS_LINE,   /* a torus axis whose ends are not */
    AXIS_SWITCH, /* non-blocking: any permutation at full rate */
    AXIS_MESH,   /* every pair has a link of its own (xGMI, two cores of one chip): each of g chips has g - 1 links */
} AxisKind;

/* The technology of an axis; it decides the axis's name, its word in bound_by, and which efficiency of the profile
 * applies. */
typedef enum { LEVEL_ICI, LEVEL_NVLINK, LEVEL_PCIE, LEVEL_NETWORK, LEVEL_DCN } AxisLevel;

typedef struct {
    char name[12]; /* core x y z nvlink xgmi pcie network dcn */
    AxisKind kind;
    AxisLevel level;
    int64_t size;            /* >= 2: axes of size 1 are left out */
    double bytes_per_second; /* torus, mesh: one link, one way; switch: one way per chip */
    double latency_seconds;  /* torus, mesh: one hop; switch: one message */
} Axis;

/* Whether the axis joins slices or domains, outside the scale-up network. */
static inline bool axis_is_across(const Axis *axis) { return axis->level == LEVEL_NETWORK || axis->level == LEVEL_DCN; }

/* Facts about a machine beyond its axes. All zeros mean that none apply. */
typedef struct {
    /* NCCL's tuner (src/graph/tuning.cc), protocol LL, the quickest for small payloads: the fixed part of a ring and of
     * a tree, and one step of a tree inside a domain and between domains. One step of a ring is the axis's own latency.
     * ring_base_seconds 0 means that NCCL is not used. */
    double ring_base_seconds, tree_base_seconds, tree_hop_seconds, tree_scaleout_seconds;
    double ring_step_seconds; /* of each step of a ring that leaves the domain, one a rank, in addition to these;
                               * 0: none */
    double leaf_nodes;        /* nodes (domains) under one leaf of the network; neighbours share a leaf */
    double oversubscription;  /* of leaf uplinks: bytes that nodes can send over bytes that leave the leaf; <= 1
                               * means full bisection */
    /* Copies of a token that a dispatch would send, one for each of its experts, where it sends one to each domain that
     * needs any; 0 means that it sends them all (as on tori). */
    double routed_copies;
    double twisted_gain;          /* an all_to_all over the whole slice is this much faster than untwisted; 0 means not
                          * twisted */
    bool across_shares_host_lane; /* traffic between slices or domains uses the lane of the chip's host link */
} Fabric;

typedef struct {
    Axis axes[MESH_AXES_MAX];
    int axis_count;
    int64_t chips;   /* product of the sizes / devices_per_chip */
    int64_t devices; /* product of the sizes; the degrees of the roles multiply to it */
    Fabric fabric;
} Mesh;

const char *axis_kind_name(AxisKind kind); /* "ring" "line" "switch" "mesh" */

/* Where a group of chips lies: on every physical axis it has a factor (the number of its chips along
 * the axis) and a stride (the distance between them). All collective costs of a group depend on its footprint alone. */

typedef struct {
    int64_t factor; /* >= 1; 1 means that the group is not on this axis */
    int64_t stride; /* >= 1; the product of the factors that nest inside */
} Span;

typedef struct {
    Span on[MESH_AXES_MAX];
} Footprint;

/* Chips of the group: the product of the factors. */
int64_t footprint_degree(const Mesh *mesh, const Footprint *footprint);

/* The axes that the group lies on: bit a for axis a of the mesh. */
unsigned footprint_axes(const Mesh *mesh, const Footprint *footprint);
