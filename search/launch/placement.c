/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/launch/placement.h"

#include "base/util.h"
#include "mesh/jax_mesh.h"

#include <math.h>
#include <string.h>

static const char UNEVEN[] = "its order of ranks spreads a group unevenly over nodes";

bool mesh_of_tpus(const Mesh *mesh) {
    for (int a = 0; a < mesh->axis_count; a++)
        if (mesh->axes[a].level == LEVEL_ICI || mesh->axes[a].level == LEVEL_DCN) return true;
    return false;
}

/* ---- ranks ---- */

/* Consecutive ranks fill the innermost axis, then the next: each role in turn takes what its degree and what is left of
 * the axis have to give. False: a group would begin in the middle of what another fills. */
static bool place_ranks(const Mesh *mesh, const Placement *placement, const Nesting *nesting, LaunchWay *way) {
    *way = (LaunchWay){.nesting = *nesting};
    int axis = 0;
    for (int a = 0; a < MESH_AXES_MAX; a++)
        for (int role = 0; role < ROLE_COUNT; role++) way->placement.factor[a][role] = 1;
    int64_t room = mesh->axis_count > 0 ? mesh->axes[0].size : 1;
    for (int i = 0; i < ROLE_COUNT; i++) {
        Role role = nesting->order[i];
        int64_t left = 1;
        for (int a = 0; a < mesh->axis_count; a++) left *= placement->factor[a][role];
        while (left > 1) {
            while (room == 1 && axis + 1 < mesh->axis_count) room = mesh->axes[++axis].size;
            int64_t taken = min_whole(left, room);
            if (taken == 1 || left % taken != 0 || room % taken != 0) return false;
            way->placement.factor[axis][role] = (int32_t)taken;
            left /= taken;
            room /= taken;
        }
    }
    return true;
}

/* Rank 0, 1, ... in each of the orders that it has, its own first. */
static void add_rank_ways(const Launcher *launcher, const LaunchAsk *ask, LaunchWays *out) {
    for (int n = 0; n < LAUNCHER_NESTINGS_MAX && launcher->nestings[n].name; n++) {
        LaunchWay *way = &out->way[out->count];
        if (place_ranks(ask->mesh, ask->placement, &launcher->nestings[n].order, way)) {
            way->option = launcher->nestings[n].option;
            out->count++;
        } else if (n == 0) {
            out->without_own = true;
            out->unpriced = UNEVEN;
        }
    }
}

/* ---- comparison ---- */

/* The roles that take part in an axis, innermost first, with their factors. */
static int axis_order(const int32_t factors[ROLE_COUNT], const Nesting *nesting, int64_t order[ROLE_COUNT]) {
    int count = 0;
    for (int i = 0; i < ROLE_COUNT; i++) {
        Role role = nesting->order[i];
        if (factors[role] > 1) order[count++] = (int64_t)factors[role] * ROLE_COUNT + (int64_t)role;
    }
    return count;
}

static bool axis_alike(const Axis *axis, const int32_t *a, const Nesting *nesting_a, const int32_t *b,
                       const Nesting *nesting_b) {
    int64_t first[ROLE_COUNT], second[ROLE_COUNT];
    for (int role = 0; role < ROLE_COUNT; role++)
        if (a[role] != b[role]) return false;
    if (axis->kind == AXIS_SWITCH) return true;
    int count = axis_order(a, nesting_a, first);
    axis_order(b, nesting_b, second);
    return memcmp(first, second, (size_t)count * sizeof *first) == 0;
}

bool axes_equal(const Axis *a, const Axis *b) {
    return a->kind == b->kind && a->level == b->level && a->size == b->size &&
           a->bytes_per_second == b->bytes_per_second && a->latency_seconds == b->latency_seconds;
}

/* Whether axes of b from `a` on can be matched with those of a; `used`: axes of b that are taken. */
static bool match(const Mesh *mesh, const Placement *a, const Nesting *nesting_a, const Placement *b,
                  const Nesting *nesting_b, int at, unsigned used) {
    if (at == mesh->axis_count) return true;
    for (int other = 0; other < mesh->axis_count; other++)
        if (!(used >> other & 1) && axes_equal(&mesh->axes[at], &mesh->axes[other]) &&
            axis_alike(&mesh->axes[at], a->factor[at], nesting_a, b->factor[other], nesting_b) &&
            match(mesh, a, nesting_a, b, nesting_b, at + 1, used | 1u << other))
            return true;
    return false;
}

bool placements_alike(const Mesh *mesh, const Placement *a, const Nesting *nesting_a, const Placement *b,
                      const Nesting *nesting_b) {
    return match(mesh, a, nesting_a, b, nesting_b, 0, 0);
}

/* ---- which launchers place a plan so ---- */

void launch_ways(int launcher, const LaunchAsk *ask, LaunchWays *out) {
    const Launcher *requested = launcher_at(launcher);
    out->count = 0;
    out->without_own = out->order_unknown = false;
    out->unpriced = NULL;
    if (requested->ways)
        requested->ways(ask, out);
    else
        add_rank_ways(requested, ask, out);
}

/* Ways by the degrees inside a slice: of one tuple there are few such, and JAX's rule is slow compared with a
 * comparison. */
enum { MEMO_SLOTS = 64 };
typedef struct {
    bool filled;
    int launcher;
    JaxShape inside;
    LaunchWays ways;
} MemoSlot;
struct LaunchMemo {
    MemoSlot slot[MEMO_SLOTS];
};

LaunchMemo *launch_memo_new(Arena *arena) { return ARENA_NEW(arena, LaunchMemo, 1); }

static const LaunchWays *memo_ways(LaunchMemo *memo, int launcher, const LaunchAsk *ask) {
    Nesting any = nesting_canonical();
    JaxShape inside = launch_ici_shape(ask->mesh, ask->placement, &any);
    uint64_t hash = (uint64_t)launcher;
    for (int l = 0; l < ROLE_COUNT; l++) hash = (hash + (uint64_t)inside.size[l]) * 0x9E3779B97F4A7C15u;
    MemoSlot *slot = &memo->slot[hash >> 58];
    if (slot->filled && slot->launcher == launcher &&
        memcmp(slot->inside.size, inside.size, ROLE_COUNT * sizeof inside.size[0]) == 0)
        return &slot->ways;
    slot->filled = true;
    slot->launcher = launcher;
    slot->inside = inside;
    launch_ways(launcher, ask, &slot->ways);
    return &slot->ways;
}

static bool places_so(const LaunchWays *ways, const NestedMesh *nested_mesh, const Placement *placement) {
    bool places = ways->order_unknown; /* there is nothing to hold against a plan */
    for (int w = 0; w < ways->count && !places; w++)
        places = placements_alike(nested_mesh->mesh, placement, &nested_mesh->nesting, &ways->way[w].placement,
                                  &ways->way[w].nesting);
    return places;
}

bool launcher_places_all(const Launcher *launcher, const Mesh *mesh) {
    return launcher->device_order || (launcher->expressible_domains && !mesh_of_tpus(mesh));
}

void launchers_placing(LauncherSet launchers, const NestedMesh *nested_mesh, const char *chip,
                       const Placement *placements, int64_t count, LauncherSet *out) {
    LauncherSet always = 0;
    for (int launcher = 0; launcher < launcher_count(); launcher++)
        if ((launchers >> launcher & 1) && launcher_places_all(launcher_at(launcher), nested_mesh->mesh))
            always |= 1u << launcher;
    for (int64_t i = 0; i < count; i++) out[i] = always;
    for (int launcher = 0; launcher < launcher_count(); launcher++) {
        LaunchMemo memo;
        if (!((launchers & ~always) >> launcher & 1)) continue;
        for (int slot = 0; slot < MEMO_SLOTS; slot++) memo.slot[slot].filled = false;
        for (int64_t i = 0; i < count; i++) {
            LaunchAsk ask = {nested_mesh->mesh, chip, &placements[i]};
            if (places_so(memo_ways(&memo, launcher, &ask), nested_mesh, &placements[i])) out[i] |= 1u << launcher;
        }
    }
}

bool launchers_place(LauncherSet launchers, const NestedMesh *nested_mesh, const char *chip, const Placement *placement,
                     LaunchMemo *memo) {
    LaunchAsk ask = {nested_mesh->mesh, chip, placement};
    for (int launcher = 0; launcher < launcher_count(); launcher++)
        if ((launchers >> launcher & 1) && launcher_places_all(launcher_at(launcher), nested_mesh->mesh)) return true;
    for (int launcher = 0; launcher < launcher_count(); launcher++)
        if ((launchers >> launcher & 1) && places_so(memo_ways(memo, launcher, &ask), nested_mesh, placement))
            return true;
    return false;
}

/* ---- the answer ---- */

static double step_at(const NestedMesh *nested_mesh, const LaunchWay *way, const Plan *plan, const StepRule *rule,
                      const Resources *resources) {
    Rates rates;
    NestedMesh own = {nested_mesh->mesh, way->nesting};
    rates_of_placement(&own, &way->placement, &plan->knobs.methods, &rates);
    return step_seconds(rule, resources, &rates);
}

LaunchAnswer launch_answer(int launcher, const NestedMesh *nested_mesh, const char *chip, const Plan *plan,
                           const StepRule *rule, const Resources *resources) {
    LaunchAnswer answer = {.launcher = launcher, .kind = LAUNCH_IMPOSSIBLE, .default_seconds = -1};
    LaunchAsk ask = {nested_mesh->mesh, chip, &plan->placement};
    LaunchWay here = {plan->placement, nested_mesh->nesting, NULL};
    LaunchWays ways;
    double seconds = step_at(nested_mesh, &here, plan, rule, resources);
    launch_ways(launcher, &ask, &ways);
    bool own = ways.count > 0 && !ways.without_own; /* the first is its own */
    for (int i = ways.count - 1; i >= 0; i--) {
        const LaunchWay *way = &ways.way[i];
        double other = step_at(nested_mesh, way, plan, rule, resources);
        bool alike = placements_alike(nested_mesh->mesh, &plan->placement, &nested_mesh->nesting, &way->placement,
                                      &way->nesting);
        if (i == 0 && own) answer.default_seconds = other, answer.default_needs = way->option;
        if (fabs(other - seconds) <= 1e-12 * seconds) { /* equal axes may be added up in another order */
            answer.kind = way->option ? LAUNCH_OPTION : LAUNCH_DEFAULT;
            answer.needs = way->option;
        } else if (alike && answer.kind == LAUNCH_IMPOSSIBLE) {
            answer.kind = LAUNCH_DEVICE_ORDER;
            answer.needs = "an order of nodes (host file)";
        }
    }
    if (!own) answer.unpriced = ways.unpriced;
    if (ways.order_unknown) answer.kind = LAUNCH_DEFAULT;
    if (launcher_at(launcher)->device_order && answer.kind == LAUNCH_IMPOSSIBLE) {
        answer.kind = LAUNCH_DEVICE_ORDER;
        answer.needs = launcher_at(launcher)->device_order;
    }
    return answer;
}

/* ---- where JAX puts the axes of a mesh of devices on a TPU slice: for launchers that are written in it ---- */

static const char BY_HAND[] = "JAX numbers the devices of so small a slice by hand";

JaxShape launch_ici_shape(const Mesh *mesh, const Placement *placement, const Nesting *nesting) {
    JaxShape shape = {.count = ROLE_COUNT};
    for (int l = 0; l < ROLE_COUNT; l++) {
        shape.size[l] = 1;
        for (int a = 0; a < mesh->axis_count; a++)
            if (jax_physical_index(&mesh->axes[a]) >= 0) shape.size[l] *= placement->factor[a][jax_role(nesting, l)];
    }
    return shape;
}

void launch_add_assignment(const LaunchAsk *ask, const Nesting *nesting, const JaxAssignment *assignment,
                           const char *option, LaunchWays *out) {
    LaunchWay *way = &out->way[out->count++];
    *way = (LaunchWay){.placement = *ask->placement, .nesting = *nesting, .option = option};
    jax_place(ask->mesh, nesting, assignment, &way->placement);
}

void launch_on_device_mesh(const LaunchAsk *ask, const Nesting *nesting, const char *split, LaunchWays *out) {
    if (!mesh_of_tpus(ask->mesh)) {
        out->way[out->count++] = (LaunchWay){*ask->placement, *nesting, NULL};
        return;
    }
    JaxShape physical = jax_physical_shape(ask->mesh), logical = launch_ici_shape(ask->mesh, ask->placement, nesting);
    JaxAssignment assignment;
    bool splits;
    if (jax_small_order(ask->chip, &physical, &logical)) {
        int roles = 0;
        for (int l = 0; l < logical.count; l++) roles += logical.size[l] > 1;
        out->unpriced = BY_HAND;
        out->order_unknown = roles > 1; /* one role has all: whatever the order, that is the whole slice */
        if (out->order_unknown) return;
    }
    if (jax_mesh_assign(&physical, &logical, &splits, &assignment))
        launch_add_assignment(ask, nesting, &assignment, splits ? split : NULL, out);
}
