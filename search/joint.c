/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/joint.h"

#include "base/util.h"

#include <stdlib.h>
#include <string.h>

enum { FIGURES = sizeof(JointPoint) / sizeof(double), SLOTS = 4096 };
_Static_assert(sizeof(JointPoint) % sizeof(double) == 0, "a point is doubles alone");

static const Group GROUPS[JOINT_GROUPS] = {GROUP_TENSOR,  GROUP_EXPERT,  GROUP_SEQUENCE,
                                           GROUP_ULYSSES, GROUP_WEIGHTS, GROUP_EXPERT_WEIGHTS};

bool joint_holds(const Nesting *nesting, JointDepth depth) {
    RoleSet inner = 1u << ROLE_TENSOR | 1u << ROLE_EXPERT | 1u << ROLE_SEQUENCE;
    return nesting_innermost(nesting, depth == JOINT_WEIGHTS ? inner | 1u << ROLE_FSDP : inner);
}

typedef struct {
    int64_t site, context, depth, ulysses, replicates;
    int64_t tensor, expert, sequence, fsdp;
} Key;

typedef struct {
    Key key;
    JointRates rates;
} Slot;

struct JointCache {
    Slot slots[SLOTS]; /* rates.count 0: empty */
};

JointCache *joint_cache_new(void) { return calloc(1, sizeof(JointCache)); }
void joint_cache_free(JointCache *cache) { free(cache); }

static bool point_at_most(const JointPoint *a, const JointPoint *b) {
    const double *x = (const double *)a, *y = (const double *)b;
    for (int i = 0; i < FIGURES; i++)
        if (x[i] > y[i]) return false;
    return true;
}

static void take_least(JointPoint *to, const JointPoint *from) {
    double *x = (double *)to;
    const double *y = (const double *)from;
    for (int i = 0; i < FIGURES; i++) x[i] = min_real(x[i], y[i]);
}

static void add_point(JointRates *joint, const JointPoint *point) {
    int kept = 0;
    for (int i = 0; i < joint->count; i++)
        if (point_at_most(&joint->points[i], point)) return;
    for (int i = 0; i < joint->count; i++)
        if (!point_at_most(point, &joint->points[i])) joint->points[kept++] = joint->points[i];
    joint->count = kept;
    if (joint->count < JOINT_POINTS_MAX)
        joint->points[joint->count++] = *point;
    else
        take_least(&joint->points[JOINT_POINTS_MAX - 1], point);
}

/* Groups below this one are taken together; the others stay at zero in every point. */
static int joint_groups(JointDepth depth) { return depth == JOINT_WEIGHTS ? JOINT_GROUPS : 4; }

/* The outer roles as one: where they go makes no difference to the inner ones. */
static Degrees merge_outer(const Degrees *degrees, JointDepth depth) {
    Degrees merged = *degrees;
    Role into = depth == JOINT_WEIGHTS ? ROLE_DATA : ROLE_FSDP;
    for (int role = (int)into + 1; role < ROLE_COUNT; role++) {
        merged.of[into] *= degrees->of[role];
        merged.of[role] = 1;
    }
    return merged;
}

static bool fill(const Wiring *wiring, const Degrees *degrees, const Methods *methods, JointDepth depth,
                 JointRates *out, Error *error) {
    Methods plain = *methods;
    plain.grid = (ExpertGrid){0, 0};
    Degrees merged = merge_outer(degrees, depth);
    Arena arena = {0};
    Placement *placements;
    int64_t count;
    out->count = 0;
    bool ok = placements_enumerate(wiring->mesh, &merged, &arena, &placements, &count, error);
    for (int64_t i = 0; ok && i < count; i++) {
        Rates rates;
        JointPoint point = {0};
        rates_of_placement(wiring, &placements[i], &plain, &rates);
        for (int g = 0; g < joint_groups(depth); g++) point.cost[g] = rates.cost[GROUPS[g]];
        add_point(out, &point);
    }
    arena_free(&arena);
    return ok;
}

const JointRates *joint_rates(JointCache *cache, int site, const Wiring *wiring, const Degrees *degrees,
                              const Methods *methods, JointDepth depth, Error *error) {
    Key key = {.site = site,
               .context = methods->context,
               .depth = depth,
               .ulysses = methods->ulysses,
               .replicates = methods->sequence_replicates,
               .tensor = degrees->of[ROLE_TENSOR],
               .expert = degrees->of[ROLE_EXPERT],
               .sequence = degrees->of[ROLE_SEQUENCE],
               .fsdp = depth == JOINT_WEIGHTS ? degrees->of[ROLE_FSDP] : 0};
    const int64_t *words = (const int64_t *)&key;
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof(key) / sizeof(int64_t); i++) hash = hash * 1000003u + (uint64_t)words[i];
    hash ^= hash >> 29;
    Slot *slot = &cache->slots[(hash * 0x9E3779B97F4A7C15u) >> 52];
    if (slot->rates.count > 0 && memcmp(&slot->key, &key, sizeof(key)) == 0) return &slot->rates;
    slot->rates.count = 0;
    slot->key = key;
    return fill(wiring, degrees, methods, depth, &slot->rates, error) ? &slot->rates : NULL;
}

Rates joint_apply(const JointRates *joint, int point, const Methods *methods, JointDepth depth, const Rates *least) {
    Rates rates = *least;
    for (int g = 0; g < joint_groups(depth); g++) {
        bool elsewhere = methods->grid.expert > 0 && (GROUPS[g] == GROUP_EXPERT || GROUPS[g] == GROUP_EXPERT_WEIGHTS);
        if (!elsewhere) rates.cost[GROUPS[g]] = joint->points[point].cost[g];
    }
    rates.cost[GROUP_TENSOR_WEIGHTS] = rates.cost[GROUP_TENSOR];
    return rates;
}
