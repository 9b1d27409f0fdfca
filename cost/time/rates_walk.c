/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/time/rates_walk.h"

#include "base/arena.h"
#include "base/util.h"
#include "mesh/factorization.h"

#include <string.h>

static bool is_member(const RatesWalk *walk, RoleSet roles, int level) {
    return roles >> walk->nested_mesh->nesting.order[level] & 1;
}

/* Where a group lies whose roles are placed up to `level`: factors of its roles multiply, and its stride is what the
 * other roles inside the outermost of them have (nesting_stride). */
static unsigned footprint_at(const RatesWalk *walk, Group group, int level, bool alone, Footprint *out) {
    RoleSet roles = group_roles(group, walk->methods);
    unsigned axes = 0;
    for (int axis = 0; axis < walk->rates.axis_count; axis++) {
        const int32_t *factors = walk->placement.factor[axis];
        int64_t factor = factors[walk->nested_mesh->nesting.order[level]], others = 1, stride = 1;
        if (alone) {
            stride = factor > 1 ? walk->inside[level][axis] : 1;
        } else {
            factor = 1;
            for (int i = 0; i <= level; i++) {
                int64_t here = factors[walk->nested_mesh->nesting.order[i]];
                if (!is_member(walk, roles, i)) {
                    others *= here;
                } else if (here > 1) {
                    factor *= here;
                    stride = others;
                }
            }
        }
        out->on[axis] = (Span){factor, stride};
        if (factor > 1) axes |= 1u << axis;
    }
    return axes;
}

/* Heads are exchanged among some of a sequence group's chips, or ranks are dealt anew: the long way. */
static bool is_plain(const RatesWalk *walk, Group group) {
    bool split = walk->methods->ulysses > 1 && (group == GROUP_SEQUENCE || group == GROUP_ULYSSES);
    return !split && group_roles(group, walk->methods) != 0;
}

static void settle(RatesWalk *walk, int level) {
    for (int i = 0; i < walk->settled_count[level]; i++) {
        Group group = walk->settled[level][i].group;
        Footprint footprint;
        unsigned axes;
        if (is_plain(walk, group)) {
            axes = footprint_at(walk, group, level, walk->settled[level][i].alone, &footprint);
        } else {
            footprint = group_footprint(walk->nested_mesh, &walk->placement, group, walk->methods);
            axes = footprint_axes(walk->nested_mesh->mesh, &footprint);
        }
        walk->rates.axes[group] = axes;
        walk->rates.cost[group] = (CollectiveCost){{0, 0}, {0, 0}};
        if (axes)
            walk->rates.cost[group] =
                collective_cost_kept(walk->memo, walk->site, group_collective(group, walk->methods->context),
                                     walk->nested_mesh->mesh, &footprint);
        Group alias = walk->settled[level][i].alias;
        walk->rates.axes[alias] = axes;
        walk->rates.cost[alias] = walk->rates.cost[group];
    }
}

static void finish(RatesWalk *walk) {
    walk->rates.leaves_scale_up = rates_far(walk->nested_mesh->mesh, &walk->rates);
    walk->rates.host_lane = rates_host_lane(walk->nested_mesh->mesh);
    walk->visit(walk);
}

static void place_level(RatesWalk *walk, int level);

static void set_factor(RatesWalk *walk, int level, int axis, int64_t factor) {
    walk->placement.factor[axis][walk->nested_mesh->nesting.order[level]] = (int32_t)factor;
    walk->rest[level + 1][axis] = walk->rest[level][axis] / factor;
    walk->inside[level + 1][axis] = walk->inside[level][axis] * factor;
}

static void level_placed(RatesWalk *walk, int level) {
    settle(walk, level);
    if (walk->enter && walk->settled_count[level] > 0 && !walk->enter(walk, level)) return;
    place_level(walk, level + 1);
}

/* `left` of the level's degree for this axis and those behind, whose rests multiply to `behind`. A factor is taken only
 * if those can hold what it leaves: they can as soon as it divides them all together, prime by prime. */
static void place_axis(RatesWalk *walk, int level, int axis, int64_t left, int64_t behind) {
    int last = walk->rates.axis_count - 1;
    int64_t rest = walk->rest[level][axis];
    if (left == 1 || axis == last) {
        set_factor(walk, level, axis, left);
        for (int other = axis + 1; other <= last; other++) set_factor(walk, level, other, 1);
        level_placed(walk, level);
        return;
    }
    int64_t later = behind / walk->rest[level][axis + 1], most = min_whole(left, rest);
    for (const int64_t *factor = walk->divisors[axis]; *factor <= most; factor++) {
        if (rest % *factor || left % *factor || behind % (left / *factor)) continue;
        set_factor(walk, level, axis, *factor);
        place_axis(walk, level, axis + 1, left / *factor, later);
    }
}

static void place_level(RatesWalk *walk, int level) {
    int axes = walk->rates.axis_count;
    if (axes == 0) {
        finish(walk);
        return;
    }
    if (level == walk->last) { /* all that is left */
        for (int axis = 0; axis < axes; axis++) set_factor(walk, level, axis, walk->rest[level][axis]);
        settle(walk, level);
        finish(walk);
        return;
    }
    int64_t behind = 1;
    for (int axis = 1; axis < axes; axis++) behind *= walk->rest[level][axis];
    place_axis(walk, level, 0, walk->degree[level], behind);
}

/* The group that always is the same chips under another name; itself where there is none. Weights of experts lie on the
 * others' chips where no role holds experts apart. */
static Group alias_of(Group group, bool alike) {
    return group == GROUP_TENSOR             ? GROUP_TENSOR_WEIGHTS
           : group == GROUP_WEIGHTS && alike ? GROUP_EXPERT_WEIGHTS
                                             : group;
}

/* Groups by the level at which their outermost role of more than one chip stands. Ranks that are no roles are known
 * when all is placed. */
static void list_groups(RatesWalk *walk, const Degrees *degrees) {
    bool folded = walk->methods->grid.expert > 0, alike = !folded && degrees->of[ROLE_EXPERT] == 1;
    for (Group group = 0; group < GROUP_COUNT; group++) {
        RoleSet roles = group_roles(group, walk->methods);
        int level = -1, members = 0;
        if (group == alias_of(GROUP_TENSOR, alike) || (alike && group == alias_of(GROUP_WEIGHTS, alike))) continue;
        for (int i = 0; i < ROLE_COUNT; i++)
            if (is_member(walk, roles, i) && walk->degree[i] > 1) level = i, members++;
        if (folded && roles == 0) level = walk->last;
        if (level < 0) continue;
        int at = walk->settled_count[level]++;
        walk->settled[level][at].group = group;
        walk->settled[level][at].alias = alias_of(group, alike);
        walk->settled[level][at].alone = members == 1;
    }
}

bool rates_walk(RatesWalk *walk, const Degrees *degrees) {
    const Mesh *mesh = walk->nested_mesh->mesh;
    int64_t product = 1;
    Arena arena = {0};
    walk->rates = (Rates){.axis_count = mesh->axis_count};
    walk->last = 0;
    memset(walk->settled_count, 0, sizeof walk->settled_count);
    for (int i = 0; i < ROLE_COUNT; i++) {
        walk->degree[i] = degrees->of[walk->nested_mesh->nesting.order[i]];
        if (walk->degree[i] < 1 || __builtin_mul_overflow(product, walk->degree[i], &product)) return false;
        if (walk->degree[i] > 1) walk->last = i;
    }
    for (int axis = 0; axis < MESH_AXES_MAX; axis++) {
        for (int role = 0; role < ROLE_COUNT; role++) walk->placement.factor[axis][role] = 1;
        walk->rest[0][axis] = axis < mesh->axis_count ? mesh->axes[axis].size : 1;
        walk->inside[0][axis] = 1;
        if (walk->rest[0][axis] > INT32_MAX) return false;
    }
    list_groups(walk, degrees);
    bool ok = product == mesh->devices;
    for (int axis = 0; ok && axis < mesh->axis_count; axis++)
        ok = (walk->divisors[axis] = divisors_of(mesh->axes[axis].size, &arena)) != NULL;
    if (ok) place_level(walk, 0);
    arena_free(&arena);
    return ok;
}
