/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The folded expert grid: groups of ranks as Megatron-Core and torchtitan make them, chip by chip; and DeepSeek-V3's
 * own plan by hand. */
#include "tests/cost/workbench.h"
#include "tests/mesh/ranks.h"

#include "cost/plan/grid.h"
#include "models/config/model_json.h"

#include <criterion/criterion.h>
#include <stdio.h>

/* Nodes of 8 on a network, ranks numbered along a node first. */
static Mesh cluster(int64_t nodes) {
    Mesh mesh = {.axes = {{"nvlink", AXIS_SWITCH, LEVEL_NVLINK, 8, 450e9, 1e-6},
                          {"network", AXIS_SWITCH, LEVEL_NETWORK, nodes, 50e9, 5e-6}},
                 .axis_count = nodes > 1 ? 2 : 1,
                 .chips = 8 * nodes,
                 .devices = 8 * nodes};
    return mesh;
}

/* Puts roles on consecutive ranks, in the order of the enum: every role takes all it can of an axis before the next.
 * False means that some role would lie across the end of a node. */
static bool consecutive(const Mesh *mesh, const Degrees *degrees, Placement *out) {
    int64_t left[ROLE_COUNT];
    for (int role = 0; role < ROLE_COUNT; role++) left[role] = degrees->of[role];
    for (int axis = 0; axis < MESH_AXES_MAX; axis++) {
        int64_t room = axis < mesh->axis_count ? mesh->axes[axis].size : 1;
        for (int role = 0; role < ROLE_COUNT; role++) {
            int64_t factor = room < left[role] ? room : left[role];
            if (room % factor != 0 || left[role] % factor != 0) return false;
            out->factor[axis][role] = (int32_t)factor;
            room /= factor, left[role] /= factor;
        }
    }
    return true;
}

/* Returns one of 1, 2, 4 ... (`values` of them), chosen by the next digit of *index. */
static int64_t pick(int *index, int values) {
    int64_t picked = (int64_t)1 << *index % values;
    *index /= values;
    return picked;
}

typedef struct {
    const char *name;
    Group group;
    const int64_t *sizes;
    int which;
} Expected;

static void expect_all(const Mesh *mesh, const Degrees *degrees, const Placement *placement, const Methods *methods,
                       const Expected *expected, size_t count, const char *world) {
    NestedMesh nested_mesh = {mesh, nesting_canonical()};
    for (size_t i = 0; i < count; i++) {
        char name[120];
        snprintf(name, sizeof name, "%s: %s", world, expected[i].name);
        Footprint footprint = group_footprint(&nested_mesh, placement, expected[i].group, methods);
        expect_groups(name, mesh, &footprint, expected[i].sizes, expected[i].which);
        cr_expect_eq(group_degree(expected[i].group, degrees, methods), expected[i].sizes[expected[i].which], "%s",
                     name);
    }
}

/* Megatron-Core, parallel_state.py, order tp-cp-ep-dp-pp (RankGenerator): rank = t + tp (c + cp (d + dp p)) for dense
 * layers; for experts, whose generator has no cp, rank = et + etp (e + ep (ed + edp p)), edp = tp cp dp / (etp ep).
 * Context ranks hold the same parameters as data ranks. All worlds of 8 to 64 ranks. */
Test(grid, ranks_of_megatron) {
    int seen = 0;
    for (int i = 0; i < 4 * 3 * 4 * 3 * 3 * 5; i++) {
        int index = i;
        int64_t tp = pick(&index, 4), cp = pick(&index, 3), dp = pick(&index, 4), pp = pick(&index, 3),
                etp = pick(&index, 3), ep = pick(&index, 5), world = tp * cp * dp * pp, edp = world / pp / (etp * ep);
        if (world < 8 || world > 64 || edp < 1) continue;
        char name[80];
        snprintf(name, sizeof name, "tp%d cp%d dp%d pp%d etp%d ep%d", (int)tp, (int)cp, (int)dp, (int)pp, (int)etp,
                 (int)ep);
        Mesh mesh = cluster(world / 8);
        Degrees degrees = {{tp, 1, cp, 1, dp, pp}};
        Placement placement;
        Methods methods = {
            .context = cp > 1 ? CONTEXT_RING : CONTEXT_NONE, .sequence_replicates = true, .grid = {ep, etp}};
        GridRanks ranks;
        cr_assert(consecutive(&mesh, &degrees, &placement) && grid_ranks(&degrees, &methods, &ranks), "%s", name);
        cr_expect(ranks.expert_tensor == etp && ranks.expert == ep && ranks.weights == 1 && ranks.data == edp, "%s",
                  name);
        cr_expect_eq(ranks.expert_tensor * ranks.expert * ranks.weights * ranks.data * pp, world, "%s", name);

        const int64_t dense[] = {tp, cp, dp, pp}, experts[] = {etp, ep, edp, pp}, replicas[] = {tp, cp * dp, pp};
        GridFootprints at = grid_footprints(&mesh, &placement, &ranks);
        expect_groups(name, &mesh, &at.expert_tensor, experts, 0);
        expect_groups(name, &mesh, &at.expert, experts, 1);
        expect_groups(name, &mesh, &at.data, experts, 2);
        const Expected expected[] = {{"tp", GROUP_TENSOR, dense, 0},           {"cp", GROUP_SEQUENCE, dense, 1},
                                     {"pp", GROUP_PIPELINE, dense, 3},         {"dp-cp", GROUP_DATA, replicas, 1},
                                     {"etp", GROUP_EXPERT_TENSOR, experts, 0}, {"ep", GROUP_EXPERT, experts, 1},
                                     {"edp", GROUP_EXPERT_DATA, experts, 2}};
        expect_all(&mesh, &degrees, &placement, &methods, expected, COUNT_OF(expected), name);
        cr_expect_eq(group_degree(GROUP_WEIGHTS, &degrees, &methods), 1, "%s: nothing is sharded", name);
        seen++;
    }
    cr_expect_gt(seen, 500, "%d worlds", seen);
}

/* torchtitan, parallel_dims.py: efsdp = dp_shard cp tp / (etp ep), beside dp_replicate replicas: the sparse mesh is
 * [pp, dp_replicate, efsdp, ep, etp], outermost first. Context ranks shard parameters as fsdp does. etp is 1 or tp. */
Test(grid, ranks_of_torchtitan) {
    int seen = 0;
    for (int i = 0; i < 4 * 3 * 5 * 3 * 2 * 6; i++) {
        int index = i;
        int64_t tp = pick(&index, 4), cp = pick(&index, 3), shard = pick(&index, 5), replicate = pick(&index, 3),
                etp = pick(&index, 2) > 1 ? tp : 1, ep = pick(&index, 6), world = tp * cp * shard * replicate,
                efsdp = shard * cp * tp / (etp * ep);
        if (world < 8 || world > 128 || efsdp < 1 || shard * cp == 1) continue;
        char name[80];
        snprintf(name, sizeof name, "tp%d cp%d shard%d replicate%d etp%d ep%d", (int)tp, (int)cp, (int)shard,
                 (int)replicate, (int)etp, (int)ep);
        Mesh mesh = cluster(world / 8);
        Degrees degrees = {{tp, 1, cp, shard, replicate, 1}};
        Placement placement;
        Methods methods = {.context = cp > 1 ? CONTEXT_RING : CONTEXT_NONE, .grid = {ep, etp}};
        GridRanks ranks;
        cr_assert(consecutive(&mesh, &degrees, &placement) && grid_ranks(&degrees, &methods, &ranks), "%s", name);
        cr_expect_eq(ranks.weights, efsdp, "%s: efsdp %d", name, (int)ranks.weights);
        cr_expect_eq(ranks.data, replicate, "%s", name);
        cr_expect_eq(ranks.expert_tensor * ranks.expert * ranks.weights * ranks.data, world, "%s", name);

        const int64_t sparse[] = {etp, ep, efsdp, replicate}, dense[] = {tp, cp * shard, replicate};
        const Expected expected[] = {
            {"etp", GROUP_EXPERT_TENSOR, sparse, 0},    {"ep", GROUP_EXPERT, sparse, 1},
            {"efsdp", GROUP_EXPERT_WEIGHTS, sparse, 2}, {"dp_replicate of experts", GROUP_EXPERT_DATA, sparse, 3},
            {"fsdp", GROUP_WEIGHTS, dense, 1},          {"dp_replicate", GROUP_DATA, dense, 2}};
        expect_all(&mesh, &degrees, &placement, &methods, expected, COUNT_OF(expected), name);
        seen++;
    }
    cr_expect_gt(seen, 300, "%d worlds", seen);
}

Test(grid, what_cannot_be) {
    static const struct {
        const char *name;
        Degrees degrees;
        Methods methods;
        bool possible;
    } rows[] = {
        {"3 expert ways over 8 ranks", {{2, 1, 1, 4, 1, 1}}, {.grid = {3, 1}}, false},
        {"more ways than ranks", {{2, 1, 1, 4, 1, 1}}, {.grid = {16, 1}}, false},
        {"expert x expert_tensor beyond them", {{2, 1, 1, 4, 1, 1}}, {.grid = {8, 2}}, false},
        {"all of them", {{2, 1, 1, 4, 1, 1}}, {.grid = {8, 1}}, true},
        {"replicas are no ranks where dense weights are sharded", {{2, 1, 1, 4, 2, 1}}, {.grid = {16, 1}}, false},
        {"they are where these are replicated", {{2, 1, 1, 1, 8, 1}}, {.grid = {16, 1}}, true},
        {"sequence that shards", {{1, 1, 4, 1, 4, 1}}, {.grid = {16, 1}}, false},
        {"sequence that replicates", {{1, 1, 4, 1, 4, 1}}, {.grid = {16, 1}, .sequence_replicates = true}, true},
        {"an expert role beside the grid", {{2, 2, 1, 2, 1, 1}}, {.grid = {2, 1}}, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        GridRanks ranks;
        cr_expect_eq(grid_ranks(&rows[i].degrees, &rows[i].methods, &ranks), rows[i].possible, "%s", rows[i].name);
    }
}

/* ---- DeepSeek-V3 (technical report, section 3.2): 2048 H800, 16 pipeline stages, 64 expert ways over 8 nodes, ZeRO-1
 * over data, no tensor ways: data = 2048 / 16 = 128; 15360 sequences of 4096 are 120 microbatches of one sequence.
 * ---- */

typedef struct {
    Model model;
    Bench bench;
    Mesh mesh;
    Placement placement;
} DeepSeek;

static DeepSeek deepseek_plan(Arena *arena, Schedule schedule) {
    DeepSeek d = {.mesh = cluster(256)};
    Error error = {0};
    cr_assert(model_load("deepseek-v3", arena, &d.model, &error), "%s", error.text);
    Degrees degrees = {{1, 1, 1, 1, 128, 16}};
    d.bench = (Bench){.model = d.model,
                      .chip = bench_chip(1e15, 3e12),
                      .knobs = {.microbatches = 120,
                                .microbatch_sequences = 1,
                                .schedule = schedule,
                                .virtual_stages = 1,
                                .stages = STAGES_BALANCED,
                                .zero_stage = 1,
                                .regather = true,
                                .methods = {.grid = {64, 1}}}};
    Work work = {.sequences = 15360, .seq = 4096};
    cr_assert(shard_of_plan(&d.model, &work, &degrees, &d.bench.knobs, PADDING_LAUNCHABLE, &d.bench.shard));
    cr_assert(consecutive(&d.mesh, &degrees, &d.placement));
    return d;
}

/* Per layer: latent attention 7168 x 1536 + 1536 x 128 x 192 + 7168 x 576 + 512 x 128 x 256 + 128 x 128 x 7168 and
 * norms of 1536 + 512; two norms of 7168; 3 layers in 61 have an MLP of 3 x 7168 x 18432, the others a router of 256 x
 * 7168 with its bias, one shared expert and 256 / 64 = 4 routed ones of 3 x 7168 x 2048. Stages hold equal mean
 * layers. */
static const double MATRIX = 3. * 7168 * 2048;
static double dense_layer(void) {
    double attention = 7168. * 1536 + 1536. * 128 * 192 + 7168. * 576 + 512. * 128 * 256 + 128. * 128 * 7168 + 2048;
    return attention + 2 * 7168 + (3 * 3. * 7168 * 18432 + 58 * (256. * 7168 + 256 + MATRIX)) / 61;
}
static double expert_layer(void) { return 58. / 61 * 4 * MATRIX; }

Test(grid, deepseek_v3_bytes) {
    Arena arena = {0};
    const double table = 129280. * 7168;
    for (int way = 0; way < 2; way++) {
        DeepSeek d = deepseek_plan(&arena, way ? SCHEDULE_DUALPIPE : SCHEDULE_1F1B);
        const Shard *shard = &d.bench.shard;
        cr_expect(shard->layers == 4 && shard->experts == 4 && shard->d_ff_expert == 2048, "4 layers of 4 experts");
        cr_expect(shard_data_ways(shard) == 128 && shard_expert_data_ways(shard) == 2, "128 replicas, 2 of experts");
        cr_expect(shard_weight_ways(shard) == 1 && shard_expert_ways(shard) == 1, "ZeRO-1 shards no parameters");

        CostContext setting = bench_setting(&d.bench);
        MemoryRows rows;
        memory_rows(&(ShardedStage){&setting, shard, &d.bench.knobs, &d.bench.sharding}, MOMENT_FIRST_BACKWARD, 0,
                    &rows);
        /* DualPipe: layers of this stage and of its mirror; the last one has the logits and their norm. */
        double layers = 4 + (way ? shard->layers_last : 0), tables = way ? 2 * table + 7168 : table;
        double dense = layers * dense_layer() + tables, experts = layers * expert_layer();
        cr_expect_float_eq(rows.parameters_bytes, 2 * (dense + experts), 1e-9 * rows.parameters_bytes,
                           "%d: %.12g, not %.12g", way, rows.parameters_bytes, 2 * (dense + experts));
        /* Masters and moments in fp32, 12 bytes, of 1/128 of the dense and 1/2 of the experts' parameters; DualPipe's
         * second copy is on another chip of the same pipeline. */
        double copies = way ? 2 : 1, optimizer = 12 * (dense / 128 + experts / 2) / copies;
        cr_expect_float_eq(rows.optimizer_bytes, optimizer, 1e-9 * optimizer, "%d: %.12g, not %.12g", way,
                           rows.optimizer_bytes, optimizer);

        /* Once per step: fp32 gradients reduced, bf16 parameters gathered, dense over 128, experts over 2. */
        StepRule rule;
        step_rule(&setting, shard, &d.bench.knobs, &rule);
        cr_expect_float_eq(rule.data_end[0].bytes, 4 * dense, 1e-9 * dense * 4, "%d", way);
        cr_expect_float_eq(rule.data_start[0].bytes, 2 * dense, 1e-9 * dense * 2, "%d", way);
        cr_expect_float_eq(rule.data_end[1].bytes, 4 * experts, 1e-9 * experts * 4, "%d", way);
        cr_expect_float_eq(rule.data_start[1].bytes, 2 * experts, 1e-9 * experts * 2, "%d", way);
    }
    arena_free(&arena);
}

/* Some rank holds every parameter, in the number of copies that the grid says: 16 stages x 128 ranks x the parameters
 * of each rank are the dense model 128 times and the experts twice. */
Test(grid, deepseek_v3_holds_the_model) {
    Arena arena = {0};
    DeepSeek d = deepseek_plan(&arena, SCHEDULE_1F1B);
    Parameters whole = model_parameters(&d.model);
    double dense = 61 * dense_layer() + 2 * 129280. * 7168 + 7168, experts = 61 * expert_layer() * 64;
    cr_expect_float_eq(dense + experts, (double)whole.total, 1, "%.12g of %.12g", dense + experts, (double)whole.total);
    cr_expect_float_eq(experts, 58. * 256 * MATRIX, 1);
    arena_free(&arena);
}

/* A token goes to 8 experts over the 64 ranks of 8 nodes, in bf16: every rank sends 4096 x 8 x 7168 x 2 bytes out, 7 of
 * 8 to other nodes, one of 8 stays in the node; back the same way. (DeepSeek sends a token once to each of at most 4
 * nodes: less than this.) */
Test(grid, deepseek_v3_dispatch) {
    Arena arena = {0};
    DeepSeek d = deepseek_plan(&arena, SCHEDULE_DUALPIPE);
    const double sent = 4096. * 8 * 7168 * 2;
    Op ops[OPS_MAX];
    const LayerKind *kind = &d.model.kinds[d.model.kind_count - 1];
    cr_assert_eq(kind->experts, 256);
    int count = ops_of_layer(&(ShardedLayer){&d.model, kind, &d.bench.shard, &d.bench.sharding}, &d.bench.knobs.methods,
                             1, ops);
    Traffic traffic[GROUP_COUNT][PHASE_COUNT] = {{{0, 0}}};
    for (int i = 0; i < count; i++)
        for (int group = 0; group < GROUP_COUNT; group++)
            for (int phase = 0; phase < PHASE_COUNT; phase++) {
                traffic[group][phase].messages += ops[i].traffic[group][phase].messages;
                traffic[group][phase].bytes += ops[i].traffic[group][phase].bytes;
            }
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        cr_expect_float_eq(traffic[GROUP_EXPERT][phase].bytes, 2 * 64 * sent, 1, "dispatch and combine of 64 ranks");
        cr_expect_eq(traffic[GROUP_EXPERT][phase].messages, 2);
        cr_expect_eq(traffic[GROUP_EXPERT_TENSOR][phase].bytes, 0);
    }
    NestedMesh nested_mesh = {&d.mesh, nesting_canonical()};
    Footprint at = group_footprint(&nested_mesh, &d.placement, GROUP_EXPERT, &d.bench.knobs.methods);
    cr_expect(at.on[0].factor == 8 && at.on[1].factor == 8, "8 nodes of 8");
    Rates rates;
    rates_of_placement(&nested_mesh, &d.placement, &d.bench.knobs.methods, &rates);
    double seconds = 64 * sent * rates.cost[GROUP_EXPERT].seconds_per_byte[1];
    cr_expect_float_eq(seconds, sent * 7 / 8 / 50e9, 1e-9 * seconds, "%.9g s over the network, not %.9g", seconds,
                       sent * 7 / 8 / 50e9);
    arena_free(&arena);
}
