/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/program/space.h"

#include "base/util.h"
#include "mesh/factorization.h"

#include <string.h>

int64_t spec_ways(const LogicalMesh *mesh, Spec spec) {
    int64_t ways = 1;
    for (int a = 0; a < mesh->axes; a++)
        if (spec_dimension(spec, a) >= 0) ways *= mesh->size[a];
    return ways;
}

bool spec_divides(const LogicalMesh *mesh, int rank, const int64_t *size, Spec spec) {
    for (int a = 0; a < mesh->axes; a++) {
        int dimension = spec_dimension(spec, a);
        if (dimension < 0) continue;
        int64_t ways = 1;
        for (int b = 0; b < mesh->axes; b++)
            if (spec_dimension(spec, b) == dimension) ways *= mesh->size[b];
        if (dimension >= rank || size[dimension] == 0 || size[dimension] % ways != 0) return false;
    }
    return true;
}

bool space_sums_whole(const ProgramMachine *machine, const LogicalMesh *mesh, unsigned axes) {
    return mesh->ways[axes] == machine->mesh.devices && machine->profile.slice_all_reduce > 0;
}

double space_send(const LogicalMesh *mesh, Collective op, unsigned axes, double bytes, double times, Tally *tally) {
    double n = (double)mesh->ways[axes];
    if (n <= 1) return 0;
    double seconds = collective_seconds(mesh->cost[axes][op], 1, bytes);
    double passes = op == COLLECTIVE_ALL_REDUCE ? 2 : op == COLLECTIVE_ALL_TO_ALL ? 1 / n : 1;
    double sent = op == COLLECTIVE_PERMUTE ? bytes : bytes * passes * (n - 1) / n;
    if (tally) tally->bytes[op] += sent * times;
    if (tally) tally->seconds[op] += seconds * times;
    return seconds;
}

int64_t mesh_chip(const Mesh *physical, const LogicalMesh *mesh, int64_t place) {
    int64_t coordinate[MESH_AXES_MAX] = {0}, chip = 0;
    for (int a = mesh->axes - 1; a >= 0; a--)
        for (int p = physical->axis_count - 1; p >= 0; p--) {
            const Span *span = &mesh->footprint[a].on[p];
            coordinate[p] += place % span->factor * span->stride;
            place /= span->factor;
        }
    for (int p = physical->axis_count - 1; p >= 0; p--) chip = chip * physical->axes[p].size + coordinate[p];
    return chip;
}

/* ---- meshes ---- */

/* Axis i of the logical mesh as a role: of one physical axis, roles nest in the order of the enum. */
static const Role NESTED[] = {ROLE_TENSOR, ROLE_FSDP, ROLE_DATA};

typedef struct {
    const ProgramMachine *machine;
    Arena *arena;
    LogicalMeshes *out;
    int room;
    Error *error;
} Listing;

static void price_sets(const Mesh *physical, LogicalMesh *mesh) {
    for (unsigned set = 0; set < 1u << mesh->axes; set++) {
        Footprint both;
        mesh->ways[set] = 1;
        for (int p = 0; p < MESH_AXES_MAX; p++) both.on[p] = (Span){1, 1};
        for (int a = 0; a < mesh->axes; a++) {
            if (!(set >> a & 1)) continue;
            mesh->ways[set] *= mesh->size[a];
            for (int p = 0; p < physical->axis_count; p++) {
                const Span *span = &mesh->footprint[a].on[p];
                both.on[p].stride = both.on[p].factor == 1 ? span->stride
                                    : span->factor == 1    ? both.on[p].stride
                                                           : min_whole(both.on[p].stride, span->stride);
                both.on[p].factor *= span->factor;
            }
        }
        for (int op = 0; op < COLLECTIVE_COUNT; op++)
            mesh->cost[set][op] = collective_cost((Collective)op, physical, &both);
    }
}

/* Axes that change places are another mesh: where both cut one dimension, the first is major. */
static bool is_nowhere_cheaper(const LogicalMesh *mesh, const LogicalMesh *than) {
    if (mesh->axes != than->axes || memcmp(mesh->size, than->size, sizeof mesh->size) != 0) return false;
    for (unsigned set = 1; set < 1u << mesh->axes; set++)
        for (int op = 0; op < COLLECTIVE_COUNT; op++)
            for (int piece = 0; piece < 2; piece++) {
                const CollectiveCost *a = &mesh->cost[set][op], *b = &than->cost[set][op];
                if (a->latency_seconds[piece] < b->latency_seconds[piece] * (1 - 1e-12) ||
                    a->seconds_per_byte[piece] < b->seconds_per_byte[piece] * (1 - 1e-12))
                    return false;
            }
    return true;
}

static bool add_mesh(Listing *listing, const LogicalMesh *mesh) {
    LogicalMeshes *out = listing->out;
    int kept = 0;
    for (int i = 0; i < out->count; i++)
        if (is_nowhere_cheaper(mesh, &out->mesh[i])) return true;
    for (int i = 0; i < out->count; i++)
        if (!is_nowhere_cheaper(&out->mesh[i], mesh)) out->mesh[kept++] = out->mesh[i];
    out->count = kept;
    if (out->count == listing->room) {
        LogicalMesh *larger = ARENA_NEW(listing->arena, LogicalMesh, 2 * (size_t)listing->room + 8);
        if (!larger) return error_memory(listing->error);
        if (out->count > 0) memcpy(larger, out->mesh, sizeof *larger * (size_t)out->count);
        out->mesh = larger;
        listing->room = 2 * listing->room + 8;
    }
    out->mesh[out->count++] = *mesh;
    return true;
}

/* Where the axes lie, the axis nest[0] innermost. */
static void lay(const Mesh *physical, const Placement *placement, const int *nest, LogicalMesh *mesh) {
    for (int a = 0; a < LOGICAL_MAX; a++)
        for (int p = 0; p < MESH_AXES_MAX; p++) mesh->footprint[a].on[p] = (Span){1, 1};
    for (int p = 0; p < physical->axis_count; p++) {
        int64_t stride = 1;
        for (int i = 0; i < mesh->axes; i++) {
            int64_t factor = placement->factor[p][NESTED[i]];
            mesh->footprint[nest[i]].on[p] = (Span){factor, stride};
            stride *= factor;
        }
    }
}

/* Every placement of the sizes with one order of nesting. */
static bool add_nested(Listing *listing, LogicalMesh *mesh, const int *nest) {
    const Mesh *physical = &listing->machine->mesh;
    Degrees degrees;
    Placement *placements;
    int64_t count;
    Arena scratch = {0};
    for (int r = 0; r < ROLE_COUNT; r++) degrees.of[r] = 1;
    for (int i = 0; i < mesh->axes; i++) degrees.of[NESTED[i]] = mesh->size[nest[i]];
    bool ok = placements_enumerate(physical, &degrees, &scratch, &placements, &count, listing->error);
    for (int64_t i = 0; i < count && ok; i++) {
        lay(physical, &placements[i], nest, mesh);
        price_sets(physical, mesh);
        ok = add_mesh(listing, mesh);
    }
    arena_free(&scratch);
    return ok;
}

static bool add_sizes(Listing *listing, LogicalMesh *mesh) {
    static const int NESTS[][LOGICAL_MAX] = {{0, 1, 2}, {1, 0, 2}, {0, 2, 1}, {2, 0, 1}, {1, 2, 0}, {2, 1, 0}};
    static const int COUNTS[] = {1, 1, 2, 6};
    for (int i = 0; i < COUNTS[mesh->axes]; i++)
        if (!add_nested(listing, mesh, NESTS[i])) return false;
    return true;
}

/* Divides what is left over the axes from `axis` on, each at most as large as the one before. */
static bool divide(Listing *listing, LogicalMesh *mesh, int axis, int64_t left) {
    int last = (int)min_whole(mesh->axes, LOGICAL_MAX) - 1;
    int64_t most = axis > 0 ? mesh->size[axis - 1] : left;
    if (axis >= last) {
        mesh->size[last] = left;
        return (axis > 0 && left < 2) || left > most || add_sizes(listing, mesh);
    }
    for (int64_t size = min_whole(most, left / 2); size >= 2; size--) {
        mesh->size[axis] = size;
        if (left % size == 0 && !divide(listing, mesh, axis + 1, left / size)) return false;
    }
    return true;
}

bool logical_meshes(const ProgramMachine *machine, int axes, Arena *arena, LogicalMeshes *out, Error *error) {
    Listing listing = {machine, arena, out, 0, error};
    *out = (LogicalMeshes){0};
    for (int count = 1; count <= axes; count++) {
        LogicalMesh mesh = {.axes = count};
        if (!divide(&listing, &mesh, 0, machine->mesh.devices)) return false;
    }
    return true;
}
