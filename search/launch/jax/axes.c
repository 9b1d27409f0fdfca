/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/launch/jax/axes.h"

#include "base/util.h"
#include "cost/plan/grid.h"
#include "mesh/jax_mesh.h"

#include <stdio.h>
#include <string.h>

/* A run of neighbours on one physical axis. */
typedef struct {
    Role role;
    RolePart part;
    int64_t size;
} Piece;

typedef struct {
    Piece pieces[MESH_AXES_MAX][JAX_PIECES_MAX]; /* innermost first */
    int count[MESH_AXES_MAX];
} Pieces;

static bool add_piece(Pieces *to, int axis, Role role, RolePart part, int64_t size) {
    if (size == 1) return true;
    if (to->count[axis] == JAX_PIECES_MAX) return false;
    to->pieces[axis][to->count[axis]++] = (Piece){role, part, size};
    return true;
}

/* The grid's ways run over the ranks that the pipeline leaves, from the inside, across the roles' borders. */
static bool cut_by_grid(const RankedPlan *ranked, const GridFootprints *grid, int axis, Pieces *to) {
    const Footprint *const ways[] = {&grid->expert_tensor, &grid->expert, &grid->weights, &grid->data};
    const int32_t *factors = ranked->plan.placement.factor[axis];
    int part = 0;
    int64_t room = ways[0]->on[axis].factor;
    for (int i = 0; i < ROLE_COUNT; i++) {
        Role role = ranked->nesting.order[i];
        int64_t left = factors[role];
        if (role == ROLE_PIPELINE) {
            if (!add_piece(to, axis, role, PART_ALL, left)) return false;
            continue;
        }
        while (left > 1) {
            while (room == 1 && part < 3) room = ways[++part]->on[axis].factor;
            int64_t taken = min_whole(left, room);
            if (taken == 1 || left % taken != 0 || room % taken != 0) return false;
            if (!add_piece(to, axis, role, (RolePart)part, taken)) return false;
            left /= taken;
            room /= taken;
        }
    }
    return true;
}

/* `heads`: ways of sequence that exchange heads and have found no place yet; they take neighbours, axis by axis. */
static bool cut_by_role(const RankedPlan *ranked, int axis, int64_t *heads, Pieces *to) {
    for (int i = 0; i < ROLE_COUNT; i++) {
        Role role = ranked->nesting.order[i];
        int64_t factor = ranked->plan.placement.factor[axis][role];
        bool usp = role == ROLE_SEQUENCE && ranked->plan.knobs.methods.context == CONTEXT_ULYSSES_RING;
        int64_t inner = usp ? common_divisor(*heads, factor) : 1;
        *heads /= inner;
        if (!add_piece(to, axis, role, PART_ULYSSES, inner) ||
            !add_piece(to, axis, role, usp ? PART_RING : PART_ALL, factor / inner))
            return false;
    }
    return true;
}

static int find_axis(const JaxAxes *axes, Role role, RolePart part) {
    for (int i = 0; i < axes->axis_count; i++)
        if (axes->axes[i].role == role && axes->axes[i].part == part) return i;
    return -1;
}

/* One axis for each role and part that occurs, the outermost role first, within a role the outer part. */
static void collect_axes(const RankedPlan *ranked, const Pieces *pieces, JaxAxes *out) {
    static const char *const PARTS[] = {"expert_tensor", "expert", "weights", "copies", "ulysses", "ring", ""};
    for (int i = ROLE_COUNT - 1; i >= 0; i--) {
        Role role = ranked->nesting.order[i];
        int first = out->axis_count;
        for (int part = PART_ALL; part >= 0; part--) {
            int64_t size = 1;
            for (int a = 0; a < ranked->machine.mesh.axis_count; a++)
                for (int p = 0; p < pieces->count[a]; p++)
                    if (pieces->pieces[a][p].role == role && (int)pieces->pieces[a][p].part == part)
                        size *= pieces->pieces[a][p].size;
            if (size > 1 && out->axis_count < JAX_AXES_MAX)
                out->axes[out->axis_count++] = (JaxAxis){.role = role, .part = (RolePart)part, .size = size};
        }
        for (int a = first; a < out->axis_count; a++) {
            bool alone = out->axis_count == first + 1;
            snprintf(out->axes[a].name, JAX_NAME_SIZE, "%s%s%s", role_name(role), alone ? "" : "_",
                     alone ? "" : PARTS[out->axes[a].part]);
        }
    }
}

/* JAX numbers a slice's chips x, y, z and then cores, the last fastest, and slices outside of all. */
static int jax_rank(const Axis *axis) {
    if (axis_is_across(axis)) return -1;
    return axis->level == LEVEL_ICI ? jax_physical_index(axis) : 0;
}

bool jax_axes_of(const RankedPlan *ranked, JaxAxes *out) {
    const Mesh *mesh = &ranked->machine.mesh;
    const Methods *methods = &ranked->plan.knobs.methods;
    GridRanks ranks;
    GridFootprints grid;
    Pieces pieces = {.count = {0}};
    int64_t heads = max_whole(1, methods->ulysses);
    bool folded = methods->grid.expert > 0;
    *out = (JaxAxes){.axis_count = 0};
    if (folded && (!grid_ranks(&ranked->plan.degrees, methods, &ranks) || methods->context == CONTEXT_ULYSSES_RING))
        return false;
    if (folded) grid = grid_footprints(mesh, &ranked->plan.placement, &ranks);
    for (int a = 0; a < mesh->axis_count; a++)
        if (folded ? !cut_by_grid(ranked, &grid, a, &pieces) : !cut_by_role(ranked, a, &heads, &pieces)) return false;
    collect_axes(ranked, &pieces, out);
    for (int rank = -1; rank <= 3; rank++)
        for (int a = 0; a < mesh->axis_count; a++) {
            if (jax_rank(&mesh->axes[a]) != rank) continue;
            int at = out->physical_count++;
            out->physical[at].name = mesh->axes[a].name;
            out->physical[at].size = mesh->axes[a].size;
            for (int p = pieces.count[a] - 1; p >= 0; p--) {
                int next = out->physical[at].piece_count++;
                out->physical[at].pieces[next].axis =
                    find_axis(out, pieces.pieces[a][p].role, pieces.pieces[a][p].part);
                out->physical[at].pieces[next].size = pieces.pieces[a][p].size;
            }
        }
    return true;
}
