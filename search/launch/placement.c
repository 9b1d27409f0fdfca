/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/launch/placement.h"

#include "base/util.h"
#include "mesh/jax_placement.h"

#include <math.h>
#include <string.h>

const char *launch_kind_name(LaunchKind kind) {
    static const char *const NAMES[] = {"default", "option", "device_order", "impossible"};
    return NAMES[kind];
}

static const char SPLIT_MAXTEXT[] = "allow_split_physical_axes=true";
static const char SPLIT_JAX[] = "allow_split_physical_axes=True";
static const char BY_HAND[] = "JAX numbers the devices of so small a slice by hand";
static const char UNEVEN[] = "its order of ranks spreads a group unevenly over nodes";

/* ---- JAX ---- */

/* The degrees inside a slice as mesh_shape has them: the outermost role first. */
static JaxShape ici_shape(const Mesh *mesh, const Placement *placement, const Nesting *nesting) {
    JaxShape shape = {.count = ROLE_COUNT};
    for (int l = 0; l < ROLE_COUNT; l++) {
        shape.size[l] = 1;
        for (int a = 0; a < mesh->axis_count; a++)
            if (jax_physical_index(&mesh->axes[a]) >= 0) shape.size[l] *= placement->factor[a][jax_role(nesting, l)];
    }
    return shape;
}

/* The assignment inside every slice, and the DCN as it was. */
static LaunchWay way_of(const Mesh *mesh, const Placement *placement, const Nesting *nesting,
                        const JaxAssignment *assignment, const char *option) {
    LaunchWay way = {.placement = *placement, .nesting = *nesting, .option = option};
    jax_place(mesh, nesting, assignment, &way.placement);
    return way;
}

static int jax_ways(Launcher launcher, const Mesh *mesh, const char *chip, const Placement *placement,
                    const Nesting *nesting, LaunchWay *ways, const char **unpriced) {
    JaxShape physical = jax_physical_shape(mesh), logical = ici_shape(mesh, placement, nesting);
    JaxAssignment assignment;
    int count = 0;
    if (jax_small_order(chip, &physical, &logical)) {
        int roles = 0;
        for (int l = 0; l < logical.count; l++) roles += logical.size[l] > 1;
        *unpriced = BY_HAND;
        if (roles > 1) return 0; /* one role has all: whatever the order, that is the whole slice */
    }
    bool maxtext = launcher == LAUNCHER_MAXTEXT;
    if (jax_mesh_assign(&physical, &logical, false, &assignment) == JAX_MESH_PLACED)
        ways[count++] = way_of(mesh, placement, nesting, &assignment, NULL);
    else if (jax_mesh_assign(&physical, &logical, true, &assignment) == JAX_MESH_PLACED)
        ways[count++] = way_of(mesh, placement, nesting, &assignment, maxtext ? SPLIT_MAXTEXT : SPLIT_JAX);
    const char *custom = maxtext ? maxtext_custom_mesh(&physical, &logical, &assignment) : NULL;
    if (custom)
        ways[count++] = way_of(mesh, placement, nesting, &assignment,
                               strcmp(custom, "hybrid_ring_64x4") == 0
                                   ? "allow_split_physical_axes=true custom_mesh=hybrid_ring_64x4"
                                   : "allow_split_physical_axes=true custom_mesh=hybrid_ring_32x8");
    return count;
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

static int rank_ways(Launcher launcher, const Mesh *mesh, const Placement *placement, const Nesting *nesting,
                     LaunchWay *ways, const char **unpriced) {
    int count = 0;
    Nesting stages_inside;
    if (place_ranks(mesh, placement, nesting, &ways[count]))
        count++;
    else
        *unpriced = UNEVEN;
    if (launcher == LAUNCHER_MEGATRON && nesting_named("megatron-pp-dp", &stages_inside) &&
        place_ranks(mesh, placement, &stages_inside, &ways[count]))
        ways[count++].option = "--use-tp-pp-dp-mapping";
    return count;
}

static bool is_torus(const Mesh *mesh) {
    for (int a = 0; a < mesh->axis_count; a++)
        if (mesh->axes[a].level == LEVEL_ICI || mesh->axes[a].level == LEVEL_DCN) return true;
    return false;
}

const char *launcher_nesting(Launcher launcher) {
    static const char *const NAMES[LAUNCHER_COUNT] = {[LAUNCHER_MAXTEXT] = "maxtext",
                                                      [LAUNCHER_JAX] = "jax",
                                                      [LAUNCHER_MEGATRON] = "megatron",
                                                      [LAUNCHER_TORCHTITAN] = "torchtitan",
                                                      /* runtime/pipe/topology.py: pipe, data, model */
                                                      [LAUNCHER_DEEPSPEED] = "megatron"};
    return NAMES[launcher];
}

int launch_ways(Launcher launcher, const Mesh *mesh, const char *chip, const Placement *placement,
                LaunchWay ways[LAUNCH_WAYS_MAX], const char **unpriced) {
    Nesting nesting = nesting_canonical();
    nesting_named(launcher_nesting(launcher), &nesting);
    *unpriced = NULL;
    if (launcher != LAUNCHER_MAXTEXT && launcher != LAUNCHER_JAX)
        return rank_ways(launcher, mesh, placement, &nesting, ways, unpriced);
    if (is_torus(mesh)) return jax_ways(launcher, mesh, chip, placement, &nesting, ways, unpriced);
    ways[0] = (LaunchWay){*placement, nesting, NULL};
    return 1;
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

static bool axes_equal(const Axis *a, const Axis *b) {
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

/* Its own order of devices is one that factors do not write, so that there is nothing to hold against a plan. */
static bool unknown_order(const char *unpriced, int count) { return count == 0 && unpriced == BY_HAND; }

/* Whether a launcher is told the whole placement by its degrees inside and outside of a domain. */
static bool told_all(Launcher launcher, const Mesh *mesh) { return launcher == LAUNCHER_MAXTEXT && !is_torus(mesh); }

/* Ways by the degrees inside a slice: of one tuple there are few such, and JAX's rule is slow beside a comparison. */
enum { MEMO_SLOTS = 64 };
typedef struct {
    bool filled;
    JaxShape inside;
    int count;
    const char *unpriced;
    LaunchWay ways[LAUNCH_WAYS_MAX];
} MemoSlot;

static const MemoSlot *memo_ways(MemoSlot *memo, Launcher launcher, const Mesh *mesh, const char *chip,
                                 const Placement *placement) {
    Nesting any = nesting_canonical();
    JaxShape inside = ici_shape(mesh, placement, &any);
    uint64_t hash = 0;
    for (int l = 0; l < ROLE_COUNT; l++) hash = (hash + (uint64_t)inside.size[l]) * 0x9E3779B97F4A7C15u;
    MemoSlot *slot = &memo[hash >> 58];
    if (slot->filled && memcmp(slot->inside.size, inside.size, ROLE_COUNT * sizeof inside.size[0]) == 0) return slot;
    slot->filled = true;
    slot->inside = inside;
    slot->count = launch_ways(launcher, mesh, chip, placement, slot->ways, &slot->unpriced);
    return slot;
}

void launchers_placing(LauncherSet launchers, const NestedMesh *nested_mesh, const char *chip,
                       const Placement *placements, int64_t count, LauncherSet *out) {
    const Mesh *mesh = nested_mesh->mesh;
    for (int64_t i = 0; i < count; i++) out[i] = launchers & 1u << LAUNCHER_JAX;
    for (Launcher launcher = 0; launcher < LAUNCHER_COUNT; launcher++) {
        MemoSlot memo[MEMO_SLOTS];
        if (!(launchers >> launcher & 1) || launcher == LAUNCHER_JAX) continue;
        for (int slot = 0; slot < MEMO_SLOTS; slot++) memo[slot].filled = false;
        for (int64_t i = 0; i < count; i++) {
            if (told_all(launcher, mesh)) {
                out[i] |= 1u << launcher;
                continue;
            }
            const MemoSlot *own = memo_ways(memo, launcher, mesh, chip, &placements[i]);
            bool takes = unknown_order(own->unpriced, own->count);
            for (int w = 0; w < own->count && !takes; w++)
                takes = placements_alike(mesh, &placements[i], &nested_mesh->nesting, &own->ways[w].placement,
                                         &own->ways[w].nesting);
            if (takes) out[i] |= 1u << launcher;
        }
    }
}

/* ---- the answer ---- */

static double step_at(const NestedMesh *nested_mesh, const LaunchWay *way, const Plan *plan, const StepRule *rule,
                      const Resources *resources) {
    Rates rates;
    NestedMesh own = {nested_mesh->mesh, way->nesting};
    rates_of_placement(&own, &way->placement, &plan->knobs.methods, &rates);
    return step_seconds(rule, resources, &rates);
}

LaunchAnswer launch_answer(Launcher launcher, const NestedMesh *nested_mesh, const char *chip, const Plan *plan,
                           const StepRule *rule, const Resources *resources) {
    LaunchAnswer answer = {.launcher = launcher, .kind = LAUNCH_IMPOSSIBLE, .default_seconds = -1};
    LaunchWay ways[LAUNCH_WAYS_MAX], here = {plan->placement, nested_mesh->nesting, NULL};
    double seconds = step_at(nested_mesh, &here, plan, rule, resources);
    int count = launch_ways(launcher, nested_mesh->mesh, chip, &plan->placement, ways, &answer.unpriced);
    bool own = count > 0 && answer.unpriced != UNEVEN; /* the first is its own */
    for (int i = count - 1; i >= 0; i--) {
        double other = step_at(nested_mesh, &ways[i], plan, rule, resources);
        bool alike = placements_alike(nested_mesh->mesh, &plan->placement, &nested_mesh->nesting, &ways[i].placement,
                                      &ways[i].nesting);
        if (i == 0 && own) answer.default_seconds = other, answer.default_needs = ways[0].option;
        if (fabs(other - seconds) <= 1e-12 * seconds) { /* equal axes may be added up in another order */
            answer.kind = ways[i].option ? LAUNCH_OPTION : LAUNCH_DEFAULT;
            answer.needs = ways[i].option;
        } else if (alike && answer.kind == LAUNCH_IMPOSSIBLE) {
            answer.kind = LAUNCH_DEVICE_ORDER;
            answer.needs = "an order of nodes (host file)";
        }
    }
    if (own) answer.unpriced = NULL;
    if (unknown_order(answer.unpriced, count)) answer.kind = LAUNCH_DEFAULT;
    if (launcher == LAUNCHER_JAX && answer.kind == LAUNCH_IMPOSSIBLE) {
        answer.kind = LAUNCH_DEVICE_ORDER;
        answer.needs = "an array of devices in the plan's order";
    }
    return answer;
}
