/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which chips a group is made of, and what that costs where it lies. */
#include "base/arena.h"
#include "base/util.h"
#include "cost/plan/grid.h"
#include "cost/time/step.h"

#include <criterion/criterion.h>

static const Mesh MESH = {.axes = {{"x", AXIS_RING, LEVEL_ICI, 16, 9e10, 1e-6},
                                   {"y", AXIS_RING, LEVEL_ICI, 8, 9e10, 1e-6},
                                   {"dcn", AXIS_SWITCH, LEVEL_DCN, 4, 6e9, 1e-5}},
                          .axis_count = 3,
                          .chips = 512,
                          .devices = 512};

/* x: tensor 2, fsdp 8; y: expert 2, sequence 4; dcn: data 4. What nests inside is the stride of what is outside. */
static const Placement PLACEMENT = {{{2, 1, 1, 8, 1, 1}, {1, 2, 4, 1, 1, 1}, {1, 1, 1, 1, 4, 1}}};

#define NOT_HERE                                                                                                       \
    { 1, 1, AXIS_RING, 1, 0 }

Test(rates, groups_of_a_placement) {
    static const struct {
        const char *name;
        struct {
            Group group;
            ContextMethod context;
            Collective op;
        } of;
        GroupAxis axes[3];
        unsigned on;
        Role role;
    } rows[] = {
        {"tensor: two neighbours",
         {GROUP_TENSOR, CONTEXT_RING, COLLECTIVE_ALL_GATHER},
         {{2, 1, AXIS_LINE, 9e10, 1e-6}, NOT_HERE, NOT_HERE},
         1,
         ROLE_TENSOR},
        {"its weights",
         {GROUP_TENSOR_WEIGHTS, CONTEXT_RING, COLLECTIVE_ALL_GATHER},
         {{2, 1, AXIS_LINE, 9e10, 1e-6}, NOT_HERE, NOT_HERE},
         1,
         ROLE_TENSOR},
        {"expert",
         {GROUP_EXPERT, CONTEXT_RING, COLLECTIVE_ALL_TO_ALL},
         {NOT_HERE, {2, 1, AXIS_LINE, 9e10, 1e-6}, NOT_HERE},
         2,
         ROLE_EXPERT},
        {"sequence, ring",
         {GROUP_SEQUENCE, CONTEXT_RING, COLLECTIVE_PERMUTE},
         {NOT_HERE, {4, 2, AXIS_RING, 9e10, 1e-6}, NOT_HERE},
         2,
         ROLE_SEQUENCE},
        {"sequence, gathered",
         {GROUP_SEQUENCE, CONTEXT_ALL_GATHER, COLLECTIVE_ALL_GATHER},
         {NOT_HERE, {4, 2, AXIS_RING, 9e10, 1e-6}, NOT_HERE},
         2,
         ROLE_SEQUENCE},
        {"weights: expert, sequence and fsdp",
         {GROUP_WEIGHTS, CONTEXT_RING, COLLECTIVE_ALL_GATHER},
         {{8, 2, AXIS_RING, 9e10, 1e-6}, {8, 1, AXIS_RING, 9e10, 1e-6}, NOT_HERE},
         3,
         ROLE_FSDP},
        {"experts' weights: sequence and fsdp",
         {GROUP_EXPERT_WEIGHTS, CONTEXT_RING, COLLECTIVE_ALL_GATHER},
         {{8, 2, AXIS_RING, 9e10, 1e-6}, {4, 2, AXIS_RING, 9e10, 1e-6}, NOT_HERE},
         3,
         ROLE_FSDP},
        {"data",
         {GROUP_DATA, CONTEXT_RING, COLLECTIVE_ALL_GATHER},
         {NOT_HERE, NOT_HERE, {4, 1, AXIS_SWITCH, 6e9, 1e-5}},
         4,
         ROLE_DATA},
        {"no pipeline",
         {GROUP_PIPELINE, CONTEXT_RING, COLLECTIVE_PERMUTE},
         {NOT_HERE, NOT_HERE, NOT_HERE},
         0,
         ROLE_PIPELINE},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Rates rates;
        NestedMesh nested_mesh = {&MESH, nesting_canonical()};
        Methods methods = {.context = rows[i].of.context};
        rates_of_placement(&nested_mesh, &PLACEMENT, &methods, &rates);
        CollectiveCost expected = group_collective_cost(rows[i].of.op, rows[i].axes, 3),
                       found = rates.cost[rows[i].of.group];
        for (int piece = 0; piece < 2; piece++) {
            cr_expect_float_eq(found.seconds_per_byte[piece], expected.seconds_per_byte[piece], 1e-22, "%s",
                               rows[i].name);
            cr_expect_float_eq(found.latency_seconds[piece], expected.latency_seconds[piece], 1e-15, "%s",
                               rows[i].name);
        }
        cr_expect_eq(rates.axes[rows[i].of.group], rows[i].on, "%s", rows[i].name);
        cr_expect_eq(group_role(rows[i].of.group), rows[i].role, "%s", rows[i].name);
    }
}

enum { METHODS_MAX = 512 };

/* Every way that these degrees allow: context methods with their heads ways, sequence that shards or replicates, every
 * grid over the ranks. */
static int methods_of(const Degrees *degrees, Methods out[METHODS_MAX]) {
    int64_t sequence = degrees->of[ROLE_SEQUENCE],
            ranks = sequence * degrees->of[ROLE_TENSOR] * degrees->of[ROLE_FSDP] * degrees->of[ROLE_DATA];
    int count = 0;
    for (int context = CONTEXT_NONE; context < CONTEXT_COUNT; context++)
        for (int64_t heads = 1; heads <= sequence; heads++)
            for (int replicates = 0; replicates < (sequence > 1 ? 2 : 1); replicates++)
                for (int64_t expert = 0; expert <= ranks; expert = expert > 0 ? 2 * expert : 1)
                    for (int64_t width = expert > 0; width <= (expert > 0 ? 2 : 0); width++) {
                        bool plain = context <= CONTEXT_ALL_GATHER;
                        if ((context == CONTEXT_NONE) != (sequence == 1) || sequence % heads != 0) continue;
                        if (plain ? heads != 1 : context == CONTEXT_ULYSSES ? heads != sequence : heads == sequence)
                            continue;
                        if (context == CONTEXT_ULYSSES_RING && heads == 1) continue;
                        Methods methods = {.context = (ContextMethod)context,
                                           .ulysses = heads,
                                           .sequence_replicates = replicates,
                                           .grid = {expert, width}};
                        GridRanks grid;
                        if (expert > 0 && !grid_ranks(degrees, &methods, &grid)) continue;
                        cr_assert_lt(count, METHODS_MAX);
                        out[count++] = methods;
                    }
    return count;
}

static Mesh small_mesh(void) {
    Mesh mesh = MESH;
    mesh.axes[0].size = mesh.axes[1].size = 4;
    mesh.axes[2].size = 2;
    mesh.chips = mesh.devices = 32;
    return mesh;
}

/* Bounds rest on this: no placement of the degrees is cheaper, in any figure of any group. */
Test(rates, least_is_least) {
    Mesh mesh = small_mesh();
    NestedMesh nested_mesh = {&mesh, nesting_canonical()};
    Arena arena = {0};
    Error error = {0};
    Degrees *degrees;
    Methods methods[METHODS_MAX];
    int64_t count, seen = 0, plain = 0;
    DegreesList listed = {0};
    cr_assert(degrees_enumerate(&mesh, ROLES_ALL, 100000, &arena, &listed, &error), "%s", error.text);
    degrees = listed.tuples, count = listed.count;
    for (int64_t i = 0; i < count; i++) {
        Placement *placements;
        int64_t places;
        int ways = methods_of(&degrees[i], methods);
        cr_assert(placements_enumerate(&mesh, &degrees[i], &arena, &placements, &places, &error), "%s", error.text);
        plain += places;
        for (int way = 0; way < ways; way++) {
            Rates least, rates;
            rates_least(&mesh, &degrees[i], &methods[way], &least);
            for (int64_t j = 0; j < places; j++, seen++) {
                rates_of_placement(&nested_mesh, &placements[j], &methods[way], &rates);
                bool below = false;
                for (int group = 0; group < GROUP_COUNT; group++) {
                    for (int piece = 0; piece < 2; piece++)
                        below = below ||
                                rates.cost[group].seconds_per_byte[piece] < least.cost[group].seconds_per_byte[piece] ||
                                rates.cost[group].latency_seconds[piece] < least.cost[group].latency_seconds[piece];
                    Footprint at = group_footprint(&nested_mesh, &placements[j], (Group)group, &methods[way]);
                    int64_t degree = group_degree((Group)group, &degrees[i], &methods[way]);
                    if (footprint_degree(&mesh, &at) != degree)
                        cr_expect(false, "degrees %d, placement %d, way %d, group %d: %d chips, not %d", (int)i, (int)j,
                                  way, group, (int)footprint_degree(&mesh, &at), (int)degree);
                }
                if (below) cr_expect(false, "degrees %d, placement %d, way %d", (int)i, (int)j, way);
            }
        }
    }
    cr_expect_eq(plain, 21 * 21 * 6, "every ordered factorization: 4 = 2^2 has C(7, 5) = 21 into six roles, 2 has 6");
    cr_expect_gt(seen, 10 * plain);
    arena_free(&arena);
}

/* Heads take neighbours, the ring what is left: on x of 16 with 8 ways of sequence outside 2 of tensor, u = 4: heads
 * stand 2 apart, ring members 2 x 4 = 8; both lie on a ring of 16 that shares its links. */
Test(rates, heads_inside_rings) {
    static const Placement placement = {{{2, 1, 8, 1, 1, 1}, {1, 1, 1, 8, 1, 1}, {1, 1, 1, 1, 4, 1}}};
    NestedMesh nested_mesh = {&MESH, nesting_canonical()};
    for (int64_t u = 1; u <= 8; u *= 2) {
        Methods methods = {.context = u == 8   ? CONTEXT_ULYSSES
                                      : u == 1 ? CONTEXT_RING
                                               : CONTEXT_ULYSSES_RING,
                           .ulysses = u};
        Footprint heads = group_footprint(&nested_mesh, &placement, GROUP_ULYSSES, &methods),
                  ring = group_footprint(&nested_mesh, &placement, GROUP_SEQUENCE, &methods);
        cr_expect(heads.on[0].factor == u && (u == 1 || heads.on[0].stride == 2), "u=%d: %d, %d apart", (int)u,
                  (int)heads.on[0].factor, (int)heads.on[0].stride);
        cr_expect(ring.on[0].factor == 8 / u && (u == 8 || ring.on[0].stride == 2 * u), "u=%d: %d, %d apart", (int)u,
                  (int)ring.on[0].factor, (int)ring.on[0].stride);
        for (int axis = 1; axis < 3; axis++)
            cr_expect(heads.on[axis].factor == 1 && ring.on[axis].factor == 1, "u=%d", (int)u);
    }
}

/* Tensor that leaves NVLink or ICI is exposed whole; weights are so as gradients are, and only over DCN. */
Test(rates, far) {
    static const struct {
        const char *name;
        AxisLevel level;
        Role role;
        unsigned far;
    } rows[] = {
        {"tensor over the network", LEVEL_NETWORK, ROLE_TENSOR, 1u << GROUP_TENSOR},
        {"tensor over DCN", LEVEL_DCN, ROLE_TENSOR, 1u << GROUP_TENSOR | 1u << GROUP_TENSOR_WEIGHTS},
        {"tensor inside", LEVEL_NVLINK, ROLE_TENSOR, 0},
        {"fsdp over the network", LEVEL_NETWORK, ROLE_FSDP, 0},
        {"fsdp over DCN", LEVEL_DCN, ROLE_FSDP, 1u << GROUP_WEIGHTS | 1u << GROUP_EXPERT_WEIGHTS},
        {"data over DCN", LEVEL_DCN, ROLE_DATA, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Mesh mesh = {.axes = {{.name = "a",
                               .kind = AXIS_SWITCH,
                               .level = rows[i].level,
                               .size = 4,
                               .bytes_per_second = 1e10,
                               .latency_seconds = 1e-6}},
                     .axis_count = 1,
                     .chips = 4,
                     .devices = 4};
        Placement placement;
        for (int axis = 0; axis < MESH_AXES_MAX; axis++)
            for (int role = 0; role < ROLE_COUNT; role++) placement.factor[axis][role] = 1;
        placement.factor[0][rows[i].role] = 4;
        Rates rates;
        NestedMesh nested_mesh = {&mesh, nesting_canonical()};
        Methods methods = {0};
        rates_of_placement(&nested_mesh, &placement, &methods, &rates);
        cr_expect_eq(rates.leaves_scale_up, rows[i].far, "%s: %x", rows[i].name, rates.leaves_scale_up);
        StepRule rule = {0};
        for (int group = 0; group < GROUP_COUNT; group++)
            rule.exposed[group] = 0.05 * (group + 1), rule.exposed_scale_out[group] = 1;
        StepRule at = rule_at(&rule, &rates);
        for (int group = 0; group < GROUP_COUNT; group++)
            cr_expect_eq(at.exposed[group], rows[i].far >> group & 1 ? 1 : rule.exposed[group], "%s: group %d",
                         rows[i].name, group);
    }
}
