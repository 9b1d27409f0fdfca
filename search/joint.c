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
    CollectiveMemo *memo;
    Slot slots[SLOTS]; /* rates.count 0: empty */
};

JointCache *joint_cache_new(CollectiveMemo *memo) {
    JointCache *cache = calloc(1, sizeof(JointCache));
    if (cache) cache->memo = memo;
    return cache;
}
void joint_cache_free(JointCache *cache) { free(cache); }

/* The figures of a point that may differ from way to way: those of groups of more than one chip, of which one that lies on
 * another's chips is left out. */
typedef struct {
    JointRates *joint;
    int groups; /* below it */
    int figures[FIGURES], count;
} Filling;

static bool point_at_most(const Filling *filling, const JointPoint *a, const JointPoint *b) {
    const double *x = (const double *)a, *y = (const double *)b;
    for (int i = 0; i < filling->count; i++)
        if (x[filling->figures[i]] > y[filling->figures[i]]) return false;
    return true;
}

static void take_least(JointPoint *to, const JointPoint *from) {
    double *x = (double *)to;
    const double *y = (const double *)from;
    for (int i = 0; i < FIGURES; i++) x[i] = min_real(x[i], y[i]);
}

static void add_point(const Filling *filling, const JointPoint *point) {
    JointRates *joint = filling->joint;
    int kept = 0;
    for (int i = joint->count - 1; i >= 0; i--) /* the last ones are the nearest */
        if (point_at_most(filling, &joint->points[i], point)) return;
    for (int i = 0; i < joint->count; i++)
        if (!point_at_most(filling, point, &joint->points[i])) joint->points[kept++] = joint->points[i];
    joint->count = kept;
    if (joint->count < JOINT_POINTS_MAX)
        joint->points[joint->count++] = *point;
    else
        take_least(&joint->points[JOINT_POINTS_MAX - 1], point);
}

/* Groups below this one are taken together; the others stay at zero in every point. */
static int joint_groups(JointDepth depth) { return depth == JOINT_WEIGHTS ? JOINT_GROUPS : 4; }

static void list_figures(const Degrees *degrees, const Methods *methods, Filling *filling) {
    for (int g = 0; g < filling->groups; g++) {
        bool twin = GROUPS[g] == GROUP_EXPERT_WEIGHTS && degrees->of[ROLE_EXPERT] == 1;
        if (twin || group_degree(GROUPS[g], degrees, methods) == 1) continue;
        int first = g * (int)(sizeof(CollectiveCost) / sizeof(double));
        for (size_t i = 0; i < sizeof(CollectiveCost) / sizeof(double); i++)
            filling->figures[filling->count++] = first + (int)i;
    }
}

static void take_way(RatesWalk *walk) {
    const Filling *filling = walk->context;
    JointPoint point = {0};
    for (int g = 0; g < filling->groups; g++) point.cost[g] = walk->rates.cost[GROUPS[g]];
    add_point(filling, &point);
}

static bool fill(JointCache *cache, int site, const Wiring *wiring, const Degrees *degrees, const Methods *methods,
                 JointDepth depth, JointRates *out, Error *error) {
    Methods plain = *methods;
    plain.grid = (ExpertGrid){0, 0};
    Filling filling = {.joint = out, .groups = joint_groups(depth)};
    list_figures(degrees, &plain, &filling);
    out->count = 0;
    RatesWalk walk = {.wiring = wiring,
                      .methods = &plain,
                      .memo = cache->memo,
                      .site = site,
                      .levels = depth == JOINT_WEIGHTS ? 4 : 3, /* the innermost: joint_holds() */
                      .visit = take_way,
                      .context = &filling};
    return rates_walk(&walk, degrees) || error_memory(error);
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
    return fill(cache, site, wiring, degrees, methods, depth, &slot->rates, error) ? &slot->rates : NULL;
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
