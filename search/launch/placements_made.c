/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every placement that launchers make of a tuple of degrees. A launcher makes one or two of a division of the degrees
 * over slices, so that asking it for each division lists what a walk over all placements would have to be searched
 * for: of 405B on eight pods, one placement in a hundred. */
#include "search/launch/placement.h"

#include "base/util.h"

#include <stdlib.h>
#include <string.h>

/* More divisions over slices, or more slices, than this are not requested one by one, and a longer list is not kept. */
enum { DIVISIONS_MOST = 64, SLICES_MOST = 256, LISTED_MOST = 512 };

typedef struct {
    const NestedMesh *nested_mesh;
    const char *chip;
    const Degrees *degrees;
    Arena *arena;
    MadePlacements *out;
    int launcher;
    int64_t room;
    int divisions;
    bool no_memory;
} Listing;

/* ---- what is listed ---- */

/* Whether the factors multiply to the mesh and to the degrees. */
static bool is_whole(const Listing *listing, const Placement *placement) {
    const Mesh *mesh = listing->nested_mesh->mesh;
    int64_t degree[ROLE_COUNT];
    for (int role = 0; role < ROLE_COUNT; role++) degree[role] = 1;
    for (int axis = 0; axis < mesh->axis_count; axis++) {
        int64_t size = 1;
        for (int role = 0; role < ROLE_COUNT; role++) {
            size *= placement->factor[axis][role];
            degree[role] *= placement->factor[axis][role];
        }
        if (size != mesh->axes[axis].size) return false;
    }
    return memcmp(degree, listing->degrees->of, sizeof degree) == 0;
}

static void add(Listing *listing, const Placement *placement) {
    MadePlacements *out = listing->out;
    if (out->count == LISTED_MOST) {
        out->too_many = true;
        return;
    }
    if (out->count == listing->room) {
        int64_t room = listing->room ? 2 * listing->room : 16;
        MadePlacement *grown = ARENA_NEW(listing->arena, MadePlacement, (size_t)room);
        if (!grown) {
            listing->no_memory = true;
            return;
        }
        if (out->count > 0) memcpy(grown, out->made, (size_t)out->count * sizeof *grown);
        out->made = grown;
        listing->room = room;
    }
    out->made[out->count++] = (MadePlacement){*placement, 1u << listing->launcher};
}

/* Adds the placements that are alike to a way: equal axes trade places. `used`: axes of the way that are taken. */
static void add_alike(Listing *listing, const LaunchWay *way, int axis, unsigned used, Placement *placement) {
    const NestedMesh *nested = listing->nested_mesh;
    const Mesh *mesh = nested->mesh;
    if (axis == mesh->axis_count) {
        if (is_whole(listing, placement) &&
            placements_alike(mesh, placement, &nested->nesting, &way->placement, &way->nesting))
            add(listing, placement);
        return;
    }
    for (int other = 0; other < mesh->axis_count && !listing->no_memory; other++) {
        if (used >> other & 1 || !axes_equal(&mesh->axes[axis], &mesh->axes[other])) continue;
        memcpy(placement->factor[axis], way->placement.factor[other], sizeof placement->factor[axis]);
        add_alike(listing, way, axis + 1, used | 1u << other, placement);
    }
}

/* ---- what is requested ---- */

static void ask(Listing *listing, const Placement *division) {
    LaunchAsk words = {listing->nested_mesh->mesh, listing->chip, division};
    LaunchWays ways;
    listing->out->too_many = listing->out->too_many || ++listing->divisions > DIVISIONS_MOST;
    if (listing->out->too_many) return;
    launch_ways(listing->launcher, &words, &ways);
    if (ways.order_unknown) listing->out->any |= 1u << listing->launcher;
    for (int w = 0; w < ways.count; w++) {
        Placement placement = *division;
        add_alike(listing, &ways.way[w], 0, 0, &placement);
    }
}

/* What is left of the degrees lies inside of slices; a launcher needs no more of it than that. */
static void ask_inside(Listing *listing, int inside, Placement *division, const int64_t left[ROLE_COUNT]) {
    Placement whole = *division;
    for (int role = 0; role < ROLE_COUNT; role++) {
        if (inside < 0 && left[role] > 1) return;
        if (inside >= 0) whole.factor[inside][role] = (int32_t)left[role];
    }
    ask(listing, &whole);
}

/* Divides the degrees over the axes between slices from `axis` on; `room`: of that axis, for roles from `role` on. */
static void divide(Listing *listing, int axis, int role, int64_t room, Placement *division, int64_t left[ROLE_COUNT]) {
    const Mesh *mesh = listing->nested_mesh->mesh;
    if (listing->out->too_many) return;
    if (role == ROLE_COUNT && room > 1) return;
    if (role == ROLE_COUNT) axis++, role = 0;
    while (role == 0 && axis < mesh->axis_count && jax_physical_index(&mesh->axes[axis]) >= 0) axis++;
    if (axis == mesh->axis_count) {
        int inside = 0;
        while (inside < mesh->axis_count && jax_physical_index(&mesh->axes[inside]) < 0) inside++;
        ask_inside(listing, inside < mesh->axis_count ? inside : -1, division, left);
        return;
    }
    if (role == 0) room = mesh->axes[axis].size;
    for (int64_t factor = 1; factor <= min_whole(room, left[role]); factor++) {
        if (room % factor != 0 || left[role] % factor != 0) continue;
        division->factor[axis][role] = (int32_t)factor;
        left[role] /= factor;
        divide(listing, axis, role + 1, room / factor, division, left);
        left[role] *= factor;
        division->factor[axis][role] = 1;
    }
}

/* Asks one launcher for all that it makes. */
static void ask_launcher(Listing *listing) {
    const Mesh *mesh = listing->nested_mesh->mesh;
    Placement division;
    int64_t left[ROLE_COUNT];
    const bool tpus = mesh_of_tpus(mesh);
    for (int axis = 0; axis < MESH_AXES_MAX; axis++)
        for (int role = 0; role < ROLE_COUNT; role++) division.factor[axis][role] = 1;
    for (int axis = 0; axis < mesh->axis_count; axis++)
        if (tpus && jax_physical_index(&mesh->axes[axis]) < 0 && mesh->axes[axis].size > SLICES_MOST)
            listing->out->too_many = true;
    /* Which ways it has on GPUs by a rule of its own may depend on all factors. */
    if (!tpus && launcher_at(listing->launcher)->ways) listing->out->too_many = true;
    memcpy(left, listing->degrees->of, sizeof left);
    for (int role = 0; role < ROLE_COUNT; role++)
        if (left[role] > INT32_MAX) listing->out->too_many = true;
    listing->divisions = 0;
    if (tpus)
        divide(listing, 0, 0, 1, &division, left);
    else if (!listing->out->too_many)
        ask_inside(listing, 0, &division, left); /* ranks in order, whatever lies where */
}

/* ---- the list ---- */

/* The order of rates_walk(): by the innermost role first, and of a role by the first axis. */
static int by_walk(const void *left, const void *right, void *of) {
    const MadePlacement *a = left, *b = right;
    const Nesting *nesting = of;
    for (int level = 0; level < ROLE_COUNT; level++)
        for (int axis = 0; axis < MESH_AXES_MAX; axis++) {
            int32_t x = a->placement.factor[axis][nesting->order[level]];
            int32_t y = b->placement.factor[axis][nesting->order[level]];
            if (x != y) return x < y ? -1 : 1;
        }
    return 0;
}

/* Sorts the list; what several made, or one in several ways, stands there once. */
static void sort_and_merge(MadePlacements *list, Nesting nesting) {
    int64_t count = 0;
    if (list->count == 0) return;
    qsort_r(list->made, (size_t)list->count, sizeof *list->made, by_walk, &nesting);
    for (int64_t i = 1; i < list->count; i++) {
        if (by_walk(&list->made[i], &list->made[count], &nesting) != 0)
            list->made[++count] = list->made[i];
        else
            list->made[count].launchers |= list->made[i].launchers;
    }
    list->count = count + 1;
}

bool launch_placements(LauncherSet launchers, const NestedMesh *nested_mesh, const char *chip, const Degrees *degrees,
                       Arena *arena, MadePlacements *out) {
    *out = (MadePlacements){0};
    Listing listing = {.nested_mesh = nested_mesh, .chip = chip, .degrees = degrees, .arena = arena, .out = out};
    for (listing.launcher = 0; listing.launcher < launcher_count(); listing.launcher++) {
        if (!(launchers >> listing.launcher & 1)) continue;
        if (launcher_places_all(launcher_at(listing.launcher), nested_mesh->mesh))
            out->any |= 1u << listing.launcher;
        else
            ask_launcher(&listing);
    }
    if (listing.no_memory) return false;
    sort_and_merge(out, nested_mesh->nesting);
    return true;
}
