/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/program/space.h: the machine as one to three logical axes, every way in which they can lie on it, and what
 * moving and computing cost there. */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "cost/profile/profile.h"
#include "mesh/collective.h"
#include "mesh/mesh.h"

enum { LOGICAL_MAX = 3, LOGICAL_SETS = 1 << LOGICAL_MAX };

/* What a program is priced on. */
typedef struct {
    const Chip *chip;
    Profile profile;
    Mesh mesh;               /* with the profile's efficiencies in its rates */
    double flops_per_second; /* of matrix units */
    double hbm_bytes_per_second;
    double hbm_bytes; /* that a program may take */
} ProgramMachine;

/* One way to see the machine: axis 0 is "x", major where two shard one dimension. */
typedef struct {
    int axes;
    int64_t size[LOGICAL_MAX]; /* descending */
    Footprint footprint[LOGICAL_MAX];
    CollectiveCost cost[LOGICAL_SETS][COLLECTIVE_COUNT]; /* of groups along a set of axes, a bit for each */
    int64_t ways[LOGICAL_SETS];                          /* chips of such a group */
} LogicalMesh;

typedef struct {
    LogicalMesh *mesh;
    int count;
} LogicalMeshes;

/* Every factorization of the machine into 1 to `axes` axes, each in every way in which it lies on the physical ones; of
 * those whose collectives are nowhere cheaper than another's only that other. In the arena. */
bool logical_meshes(const ProgramMachine *machine, int axes, Arena *arena, LogicalMeshes *out, Error *error);

/* The chip at a place of the mesh (its axes counted with the last fastest), numbered with the machine's innermost axis
 * fastest. An axis that lies on several of the machine's goes along the outermost of them first. */
int64_t mesh_chip(const Mesh *physical, const LogicalMesh *mesh, int64_t place);

/* What a program sends and computes on one chip: seconds, and bytes by collective. */
typedef struct {
    double bytes[COLLECTIVE_COUNT], seconds[COLLECTIVE_COUNT];
    double work_seconds; /* the larger of matrix units and memory, operation by operation */
    double flops;
} Tally;

/* A sharding: for each axis, in four bits, the dimension that it cuts, counted from 1; 0: none. */
typedef uint16_t Spec;
static inline int spec_dimension(Spec spec, int axis) { return (spec >> (4 * axis) & 15) - 1; }
static inline Spec spec_with(Spec spec, int axis, int dimension) {
    return (Spec)((spec & ~(15u << (4 * axis))) | (unsigned)(dimension + 1) << (4 * axis));
}

/* Sums over these axes that are left to an addition, in the bits above. */
enum { SPEC_BITS = 4 * LOGICAL_MAX };
static inline unsigned spec_open_axes(Spec spec) { return spec >> SPEC_BITS; }
static inline Spec spec_open(Spec spec, unsigned axes) { return (Spec)(spec | axes << SPEC_BITS); }

/* The ways in which a sharding cuts a tensor, and whether every dimension divides. */
int64_t spec_ways(const LogicalMesh *mesh, Spec spec);
bool spec_divides(const LogicalMesh *mesh, int rank, const int64_t *size, Spec spec);

/* Whether a compiler sums over these axes with one all_reduce, whatever is cut out of the sum afterwards: XLA on TPUs
 * does so over a whole slice (Profile.slice_all_reduce), also where each axis is to cut another dimension. */
bool space_sums_whole(const ProgramMachine *machine, const LogicalMesh *mesh, unsigned axes);

/* Seconds of a collective over a set of axes, `bytes` as mesh/collective.h counts them; adds it `times` to the tally,
 * which may be NULL. */
double space_send(const LogicalMesh *mesh, Collective op, unsigned axes, double bytes, double times, Tally *tally);
