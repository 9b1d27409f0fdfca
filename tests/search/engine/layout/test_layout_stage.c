/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Layouts of real stages: the graph says what cost/stage/stage.h says, and the best layout is the best of all. */
#include "base/util.h"
#include "cost/estimate.h"
#include "cost/stage/memory_detail.h"
#include "cost/stage/stage.h"
#include "mesh/chip_json.h"
#include "mesh/machine.h"
#include "models/config/model_json.h"
#include "tests/search/layout_random.h"

#include <criterion/criterion.h>

typedef struct {
    Arena arena;
    Model model;
    Chip chip;
    Profile profile;
    Mesh mesh;
    CostContext setting;
} Environment;

static void world_open(Environment *world, const char *model, const char *chip, const char *slice, int nodes,
                       const char *profile, int64_t sequences) {
    Error error = {0};
    Catalog catalog;
    Machine machine;
    MachineRequest request = {.slice = slice, .nodes = nodes};
    memset(world, 0, sizeof(*world));
    cr_assert(model_load(model, &world->arena, &world->model, &error), "%s: %s", error.where, error.text);
    cr_assert(catalog_load(&world->arena, &catalog, &error), "%s: %s", error.where, error.text);
    const Chip *found = NULL;
    for (int i = 0; i < catalog.count; i++)
        if (strcmp(catalog.chips[i].name, chip) == 0) found = &catalog.chips[i];
    cr_assert(found, "%s", chip);
    world->chip = *found;
    cr_assert(profile_load(profile, NULL, &world->chip, &world->arena, &world->profile, &error), "%s: %s", error.where,
              error.text);
    cr_assert(machine_from_request(&world->chip, &request, &machine, &error), "%s: %s", error.where, error.text);
    world->mesh = profile_mesh(&world->profile, &machine.mesh);
    world->setting = (CostContext){.model = &world->model,
                                   .chip = &world->chip,
                                   .profile = &world->profile,
                                   .work = {sequences, 8192},
                                   .hbm_reserve = 0.08,
                                   .precision_flops_per_second = world->chip.bf16_flops_per_second.value};
}

/* Few layers, so that all layouts can be tried: the first kinds keep one each. */
static void keep_layers(Model *model, int64_t layers) {
    model->kind_count = (int)min_whole(model->kind_count, layers);
    for (int i = 0; i < model->kind_count; i++) model->kinds[i].count = 1;
    model->kinds[0].count += layers - model->kind_count;
    model->layers = layers;
}

/* Random degrees (a power of two of chips each), knobs and placement that the sizes allow. */
static bool random_plan(Random *random, const Environment *world, Degrees *degrees, Knobs *knobs, Shard *shard) {
    *degrees = (Degrees){{1, 1, 1, 1, 1, 1}};
    *knobs = (Knobs){.virtual_stages = 1};
    bool experts = world->model.kinds[world->model.kind_count - 1].experts > 0;
    for (int64_t chips = world->mesh.devices; chips % 2 == 0; chips /= 2) {
        int role = random_below(random, ROLE_COUNT);
        if (role == ROLE_EXPERT && !experts) role = ROLE_TENSOR;
        if ((role == ROLE_TENSOR && degrees->of[role] >= 16) ||
            (role == ROLE_PIPELINE && degrees->of[role] >= world->model.layers))
            role = ROLE_FSDP;
        degrees->of[role] *= 2;
    }
    int64_t replica =
        world->setting.work.sequences / (degrees->of[ROLE_DATA] * degrees->of[ROLE_FSDP] * degrees->of[ROLE_EXPERT]);
    if (replica < 1) return false;
    knobs->microbatch_sequences = replica % 2 == 0 ? 1 + random_below(random, 2) : 1;
    knobs->microbatches = replica / knobs->microbatch_sequences;
    knobs->schedule = degrees->of[ROLE_PIPELINE] > 1 ? SCHEDULE_1F1B : SCHEDULE_NONE;
    knobs->zero_stage = degrees->of[ROLE_DATA] > 1 ? random_below(random, 3) : 0;
    knobs->methods.context = degrees->of[ROLE_SEQUENCE] > 1
                                 ? (random_chance(random, 0.5) ? CONTEXT_RING : CONTEXT_ALL_GATHER)
                                 : CONTEXT_NONE;
    knobs->regather = random_chance(random, 0.5);
    return shard_of_plan(&world->model, &world->setting.work, degrees, knobs, PADDING_ANY, shard);
}

static void random_placement_rates(Random *random, const Environment *world, const Degrees *degrees, const Knobs *knobs,
                                   Arena *arena, Rates *out) {
    Placement *placements;
    int64_t count;
    Error error = {0};
    cr_assert(placements_enumerate(&world->mesh, degrees, arena, &placements, &count, &error), "%s", error.text);
    NestedMesh nested_mesh = {&world->mesh, nesting_canonical()};
    rates_of_placement(&nested_mesh, &placements[random_next(random) % (uint64_t)count], &knobs->methods, out);
}

static const struct {
    const char *model, *chip, *slice;
    int nodes;
    const char *profile;
    int64_t sequences;
} WORLDS[] = {
    {"llama3.1-405b", "tpu-v5p", "8x8x8", 0, "ideal", 512}, {"llama3-70b", "tpu-v5e", "8x8", 0, "default", 128},
    {"mixtral-8x7b", "h100", NULL, 8, "default", 128},      {"deepseek-v3", "h100", NULL, 16, "default", 256},
    {"gpt3-175b", "tpu-v4", "4x4x8", 0, "default", 256},
};

/* No sharding and no state of an activation changes the seconds of attention: recomputing it is other compute. */
static void expect_same_attention(const LayoutGraph *graph, const char *name) {
    for (int node = 0; node < NODE_COUNT; node++)
        for (int i = 0; i < graph->nodes[node].strategy_count; i++)
            for (int phase = 0; phase < PHASE_COUNT; phase++)
                cr_expect_eq(graph->nodes[node].strategies[i].adds.of[RES_ATTENTION_FORWARD + phase], 0, "%s: %d %d",
                             name, node, i);
    for (int edge = 0; edge < graph->edge_count; edge++)
        for (int i = 0; i < STRATEGIES_MAX * STRATEGIES_MAX; i++)
            for (int phase = 0; phase < PHASE_COUNT; phase++)
                cr_expect_eq(
                    graph->edges[edge].adds[i / STRATEGIES_MAX][i % STRATEGIES_MAX].of[RES_ATTENTION_FORWARD + phase],
                    0, "%s: edge %d", name, edge);
}

/* Every allowed sharding with random states: the graph's sums are the stage's, to rounding. */
Test(layout_stage, graph) {
    for (size_t w = 0; w < COUNT_OF(WORLDS); w++) {
        static Environment world;
        world_open(&world, WORLDS[w].model, WORLDS[w].chip, WORLDS[w].slice, WORLDS[w].nodes, WORLDS[w].profile,
                   WORLDS[w].sequences);
        Random random = {w};
        for (int i = 0; i < 60; i++) {
            Degrees degrees;
            Knobs knobs;
            Shard shard;
            Arena arena = {0};
            LayoutGraph graph;
            Error error = {0};
            if (!random_plan(&random, &world, &degrees, &knobs, &shard)) continue;
            shard.pace = random_chance(&random, 0.5) ? PACE_FIRST : PACE_LAST;
            cr_assert(layout_graph(&world.setting, &shard, &knobs, &arena, &graph, &error), "%s", error.text);
            expect_same_attention(&graph, WORLDS[w].model);
            Sharding shardings[SHARDINGS_MAX];
            double weights[MOMENT_COUNT];
            microbatches_in_flight(&world.setting, &shard, &knobs, weights);
            int count = shardings_of(&world.setting, &shard, shardings);
            for (int s = 0; s < count; s++) {
                Layout layout = {.sharding = shardings[s]};
                ActivationCost costs[ACTIVATION_COUNT];
                Resources wanted, got;
                stage_resources(&world.setting, &shard, &knobs, &shardings[s], &wanted);
                stage_activations(&world.setting, &shard, &knobs, &shardings[s], costs);
                for (int a = 0; a < ACTIVATION_COUNT; a++) {
                    int64_t changed = random_below(&random, (int)graph.layers + 1);
                    ActivationState state = random_chance(&random, 0.5) ? STATE_RECOMPUTED : STATE_OFFLOADED;
                    bool can = state == STATE_RECOMPUTED
                                   ? costs[a].recomputable
                                   : graph.rule.offload_bytes_per_second > 0 && costs[a].offloadable;
                    if (!costs[a].exists || !can) changed = 0;
                    layout.layers[a][state] = changed;
                    layout.layers[a][STATE_SAVED] += (int64_t)graph.layers - changed;
                    resources_add_state(&costs[a], state, (double)changed, weights, &wanted);
                }
                layout_resources(&graph, &layout, &got);
                for (int r = 0; r < RESOURCE_COUNT; r++)
                    cr_expect_float_eq(got.of[r], wanted.of[r], 1e-11 * fabs(wanted.of[r]) + 1e-15,
                                       "%s case %d sharding %d resource %d: %.17g, %.17g", WORLDS[w].model, i, s, r,
                                       got.of[r], wanted.of[r]);
            }
            arena_free(&arena);
        }
        arena_free(&world.arena);
    }
}

/* Ways to choose all layers' states and all shardings. */
static double layouts_of(const LayoutGraph *graph) {
    double count = 1, layers = graph->layers;
    for (int node = 0; node < NODE_COUNT; node++) {
        int strategies = graph->nodes[node].strategy_count;
        count *= node < NODE_ACTIVATION ? strategies
                 : strategies == 1      ? 1
                 : strategies == 2      ? layers + 1
                                        : (layers + 1) * (layers + 2) / 2;
    }
    return count;
}

/* Two layers and a limit between everything freed and everything saved: all layouts are tried. */
Test(layout_stage, exhaustive) {
    int solved = 0;
    for (size_t w = 0; w < COUNT_OF(WORLDS); w++) {
        static Environment world;
        world_open(&world, WORLDS[w].model, WORLDS[w].chip, WORLDS[w].slice, WORLDS[w].nodes, WORLDS[w].profile,
                   WORLDS[w].sequences);
        keep_layers(&world.model, 2);
        Random random = {w + 40};
        for (int i = 0, done = 0; i < 400 && done < 8; i++) {
            Degrees degrees;
            Knobs knobs;
            Shard shard;
            Arena arena = {0};
            static RandomCase of;
            Error error = {0};
            if (!random_plan(&random, &world, &degrees, &knobs, &shard)) continue;
            cr_assert(layout_graph(&world.setting, &shard, &knobs, &arena, &of.graph, &error), "%s", error.text);
            if (layouts_of(&of.graph) > 500000) {
                arena_free(&arena);
                continue;
            }
            double weights[MOMENT_COUNT], freed = 0, peak = 0;
            microbatches_in_flight(&world.setting, &shard, &knobs, weights);
            for (int node = NODE_ACTIVATION; node < NODE_COUNT; node++)
                if (of.graph.nodes[node].strategy_count > 1)
                    freed -= of.graph.layers *
                             of.graph.nodes[node].strategies[1].adds.of[RES_MEMORY + MOMENT_FIRST_BACKWARD];
            for (int moment = 0; moment < MOMENT_COUNT; moment++)
                peak = max_real(peak, of.graph.base.of[RES_MEMORY + moment]);
            of.graph.rule.memory_limit_bytes = peak - freed * random_real(&random, 0, 1);
            if (of.graph.other)
                ((LayoutGraph *)of.graph.other)->rule.memory_limit_bytes = of.graph.rule.memory_limit_bytes;
            random_placement_rates(&random, &world, &degrees, &knobs, &arena, &of.rates);
            Rates least;
            rates_least(&world.mesh, &degrees, &knobs.methods, &least);

            double best = exhaustive_best(&of, &of.rates);
            LayoutSolution solution;
            Relaxation relaxation;
            cr_assert(layout_solve(&of.graph, &of.rates, &solution, &error), "%s", error.text);
            layout_relax(&of.graph, &least, &relaxation);
            cr_expect_eq(solution.found, !isinf(best), "%s %d", WORLDS[w].model, i);
            if (solution.found) {
                cr_expect_float_eq(solution.seconds, best, 1e-9 * best, "%s %d: %.17g, tried %.17g", WORLDS[w].model, i,
                                   solution.seconds, best);
                cr_expect(relaxation.fits, "%s %d", WORLDS[w].model, i);
                cr_expect_leq(relaxed_seconds(&of.graph.rule, &relaxation, &of.rates), best, "%s %d", WORLDS[w].model,
                              i);
            }
            solved += solution.solver_calls > 0;
            done++;
            arena_free(&arena);
        }
        arena_free(&world.arena);
    }
    cr_expect_gt(solved, 15, "%d", solved);
}

/* The parts of each row of memory add up to it, at every moment. */
static void expect_parts(const CostContext *setting, const Shard *shard, const Plan *plan, const char *name) {
    for (int moment = 0; moment < MOMENT_COUNT; moment++) {
        MemoryPart parts[MEMORY_PARTS_MAX];
        MemoryRows rows;
        double in_flight, sum[MEMORY_ROW_COUNT] = {0};
        plan_memory(setting, shard, plan, (Moment)moment, &rows);
        int count = memory_parts(setting, shard, plan, (Moment)moment, parts, &in_flight);
        for (int i = 0; i < count; i++) sum[parts[i].row] += parts[i].bytes;
        for (MemoryRow row = MEMORY_PARAMETERS; row <= MEMORY_TRANSIENT; row++)
            cr_expect_float_eq(sum[row], memory_row_bytes(&rows, row), 1e-9 * memory_row_bytes(&rows, row),
                               "%s: %s at moment %d: %.12g of %.12g", name, memory_row_name(row), moment, sum[row],
                               memory_row_bytes(&rows, row));
    }
}

/* The seconds of a plan's longer stage, and the bytes at its fullest moment. */
static double longer_stage(const Environment *world, const Shard *shard, const Plan *plan, const Rates *rates,
                           double *peak) {
    double longest = 0;
    for (Pace pace = PACE_FIRST; pace <= PACE_LAST; pace++) {
        Shard paced = *shard;
        Resources resources;
        StepRule rule;
        paced.pace = pace;
        step_rule(&world->setting, &paced, &plan->knobs, &rule);
        plan_resources(&world->setting, &paced, plan, &resources);
        longest = max_real(longest, step_seconds(&rule, &resources, rates));
        *peak = resources_peak(&resources);
    }
    return longest;
}

/* A required policy leaves the shardings to choose from: each is priced with the policy's states, without the graph. */
Test(layout_stage, required) {
    static const char *const POLICIES[] = {"none",
                                           "full",
                                           "full:1",
                                           "save_qkv_proj",
                                           "minimal",
                                           "save_out_proj:2",
                                           "minimal_offloaded",
                                           "layer_input=offloaded"};
    int found = 0, impossible = 0, tight = 0;
    for (size_t w = 0; w < COUNT_OF(WORLDS); w++) {
        static Environment world;
        world_open(&world, WORLDS[w].model, WORLDS[w].chip, WORLDS[w].slice, WORLDS[w].nodes, WORLDS[w].profile,
                   WORLDS[w].sequences);
        Random random = {w + 120};
        for (int i = 0; i < 200; i++) {
            Degrees degrees;
            Knobs knobs;
            Shard shard;
            Arena arena = {0};
            LayoutGraph graph;
            Rates rates, least;
            LayoutSolution solution;
            Relaxation relaxation;
            RematRule remat;
            Error error = {0};
            cr_assert(remat_parse(POLICIES[i % COUNT_OF(POLICIES)], "test", &remat, &error), "%s", error.text);
            world.setting.remat = &remat;
            if (!random_plan(&random, &world, &degrees, &knobs, &shard)) continue;
            cr_assert(layout_graph(&world.setting, &shard, &knobs, &arena, &graph, &error), "%s", error.text);
            random_placement_rates(&random, &world, &degrees, &knobs, &arena, &rates);
            rates_least(&world.mesh, &degrees, &knobs.methods, &least);
            layout_relax(&graph, &least, &relaxation);
            cr_assert(layout_solve(&graph, &rates, &solution, &error), "%s", error.text);

            Sharding shardings[SHARDINGS_MAX];
            ActivationCost costs[ACTIVATION_COUNT];
            StepRule rule;
            double best = INFINITY, tightest = INFINITY;
            int count = shardings_of(&world.setting, &shard, shardings);
            step_rule(&world.setting, &shard, &knobs, &rule);
            bool possible = true;
            for (int s = 0; s < count; s++) {
                Plan tried = {.degrees = degrees, .knobs = knobs, .layout = {.sharding = shardings[s]}};
                stage_activations(&world.setting, &shard, &knobs, &shardings[s], costs);
                int64_t in = remat.layers > 0 ? min_whole(remat.layers, (int64_t)shard.layers) : (int64_t)shard.layers;
                for (int a = 0; a < ACTIVATION_COUNT; a++) {
                    if (!costs[a].exists || remat.state[a] == STATE_SAVED) continue;
                    possible = possible && (remat.state[a] != STATE_OFFLOADED || costs[a].offloadable);
                    tried.layout.layers[a][remat.state[a]] = in;
                }
                double peak, seconds = longer_stage(&world, &shard, &tried, &rates, &peak);
                tightest = min_real(tightest, peak);
                if (possible && peak <= rule.memory_limit_bytes) best = min_real(best, seconds);
            }
            impossible += !possible, tight += possible && tightest > rule.memory_limit_bytes;
            const char *name = POLICIES[i % COUNT_OF(POLICIES)];
            cr_expect_eq(solution.found, !isinf(best), "%s %d %s: found %d, possible %d, at least %.17g of %.17g",
                         WORLDS[w].model, i, name, solution.found, possible, tightest, rule.memory_limit_bytes);
            if (solution.found) {
                found++;
                cr_expect_float_eq(solution.seconds, best, 1e-9 * best, "%s %d %s: %.17g, tried %.17g", WORLDS[w].model,
                                   i, name, solution.seconds, best);
                cr_expect(relaxation.fits && relaxed_seconds(&graph.rule, &relaxation, &rates) <= solution.seconds,
                          "%s %d %s", WORLDS[w].model, i, name);
                Plan plan = {.degrees = degrees, .knobs = knobs, .layout = solution.layout};
                double peak, again = longer_stage(&world, &shard, &plan, &rates, &peak);
                expect_parts(&world.setting, &shard, &plan, name);
                cr_expect_float_eq(again, best, 1e-9 * best, "%s %d %s", WORLDS[w].model, i, name);
            }
            arena_free(&arena);
        }
        arena_free(&world.arena);
    }
    cr_expect(found > 50 && impossible > 0 && tight > 20, "%d %d %d", found, impossible, tight);
}

/* Real stages with all their layers, memory tight: always proven, and the relaxation never above. */
Test(layout_stage, proven) {
    /* layouts whose proof the limit on work ends, and those that lie between the best of both stages: the report says
     * so */
    int open = 0, between = 0;
    for (size_t w = 0; w < COUNT_OF(WORLDS); w++) {
        static Environment world;
        world_open(&world, WORLDS[w].model, WORLDS[w].chip, WORLDS[w].slice, WORLDS[w].nodes, WORLDS[w].profile,
                   WORLDS[w].sequences);
        Random random = {w + 80};
        for (int i = 0; i < 150; i++) {
            Degrees degrees;
            Knobs knobs;
            Shard shard;
            Arena arena = {0};
            LayoutGraph graph;
            Rates rates, least;
            LayoutSolution solution;
            Relaxation relaxation;
            Error error = {0};
            if (!random_plan(&random, &world, &degrees, &knobs, &shard)) continue;
            cr_assert(layout_graph(&world.setting, &shard, &knobs, &arena, &graph, &error), "%s", error.text);
            random_placement_rates(&random, &world, &degrees, &knobs, &arena, &rates);
            rates_least(&world.mesh, &degrees, &knobs.methods, &least);
            layout_relax(&graph, &least, &relaxation);
            cr_assert(layout_solve(&graph, &rates, &solution, &error), "%s", error.text);
            if (!relaxation.fits) cr_expect_not(solution.found, "%s %d", WORLDS[w].model, i);
            if (solution.found) {
                cr_expect_leq(relaxed_seconds(&graph.rule, &relaxation, &rates), solution.seconds, "%s %d",
                              WORLDS[w].model, i);
                cr_expect_geq(solution.bound_seconds, solution.seconds * (1 - 6e-3), "%s %d", WORLDS[w].model, i);
                graph.other = NULL;
                LayoutSolution alone;
                cr_assert(layout_solve(&graph, &rates, &alone, &error), "%s", error.text);
                cr_expect_geq(solution.bound_seconds, alone.bound_seconds, "%s %d", WORLDS[w].model, i);
                cr_expect_geq(alone.bound_seconds, alone.seconds * (1 - 5e-4), "%s %d", WORLDS[w].model, i);
                open += alone.bound_seconds < alone.seconds * (1 - 1e-9);
                between += solution.bound_seconds < solution.seconds * (1 - 1e-9);
            }
            arena_free(&arena);
        }
        arena_free(&world.arena);
    }
    cr_expect_leq(open, 3, "%d", open);
    cr_expect_leq(between, 10, "%d", between);
}
