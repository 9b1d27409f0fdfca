/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Laws that every model of the zoo obeys under every way to cut it: chips share the work and the parameters without a
 * remainder, weight gradients fit into the bubble that a schedule fills with them, and no step is shorter than what any
 * of its stages computes. */
#include "tests/cost/workbench.h"

#include "cost/estimate.h"
#include "mesh/chip_json.h"
#include "mesh/machine.h"
#include "models/config/model_json.h"
#include "tests/problems.h"

#include <criterion/criterion.h>
#include <string.h>

static Arena arena;
static Zoo zoo;

static void load(void) {
    Error error = {0};
    cr_assert(zoo_load(&arena, &zoo, &error), "%s: %s", error.where, error.text);
}

static void unload(void) { arena_free(&arena); }

TestSuite(zoo_laws, .init = load, .fini = unload);

static uint64_t random_word(uint64_t *state) { /* SplitMix64 */
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static int64_t random_power(uint64_t *state, int values) { return (int64_t)1 << random_word(state) % (uint64_t)values; }

enum { SEQ = 4096 };

typedef struct {
    Degrees degrees;
    Bench bench;
} Cut;

/* Draws one sequence for each microbatch; false means that these degrees do not divide the model. */
static bool random_cut(const Model *model, uint64_t *state, Cut *out) {
    int64_t experts = 0;
    for (int i = 0; i < model->kind_count; i++) experts = max_whole(experts, model->kinds[i].experts);
    Degrees degrees = {
        {random_power(state, 4), 1, random_power(state, 3), random_power(state, 4), random_power(state, 3), 1}};
    Methods methods = {.sequence_replicates = random_word(state) % 2 == 0};
    int64_t sequence = degrees.of[ROLE_SEQUENCE];
    if (sequence > 1) {
        methods.context = (ContextMethod)(CONTEXT_RING + random_word(state) % 4);
        if (methods.context == CONTEXT_ULYSSES) methods.ulysses = sequence;
        if (methods.context == CONTEXT_ULYSSES_RING) methods.ulysses = sequence / 2;
    }
    if (experts > 0) {
        int64_t ways = random_power(state, 7);
        if (random_word(state) % 2)
            methods.grid = (ExpertGrid){ways, random_word(state) % 2 ? degrees.of[ROLE_TENSOR] : 1};
        else
            degrees.of[ROLE_EXPERT] = ways;
    }
    int64_t replicas = degrees.of[ROLE_FSDP] * degrees.of[ROLE_DATA] * degrees.of[ROLE_EXPERT];
    *out = (Cut){.degrees = degrees,
                 .bench = {.model = *model,
                           .chip = bench_chip(1e15, 3e12),
                           .knobs = {.microbatches = 1,
                                     .microbatch_sequences = 1,
                                     .virtual_stages = 1,
                                     .regather = true,
                                     .methods = methods}}};
    Work work = {.sequences = replicas, .seq = SEQ};
    if (!shard_of_plan(model, &work, &degrees, &out->bench.knobs, PADDING_NONE, &out->bench.shard)) return false;
    CostContext setting = bench_setting(&out->bench);
    Sharding shardings[SHARDINGS_MAX];
    cr_assert_gt(shardings_of(&setting, &out->bench.shard, shardings), 0, "%s", model->name);
    out->bench.sharding = shardings[0];
    return true;
}

typedef struct {
    double matmul[2], expert[2], attention[2], expert_weights;
} LayersWork;

static LayersWork layers_work(const Bench *bench) {
    LayersWork sum = {{0, 0}, {0, 0}, {0, 0}, 0};
    Op ops[OPS_MAX];
    for (int i = 0; i < bench->model.kind_count; i++) {
        const LayerKind *kind = &bench->model.kinds[i];
        int count = ops_of_layer(&(ShardedLayer){&bench->model, kind, &bench->shard, &bench->sharding},
                                 &bench->knobs.methods, 1, ops);
        for (int j = 0; j < count; j++) {
            double times = (double)kind->count;
            double *to = ops[j].kind == OP_ATTENTION        ? sum.attention
                         : ops[j].kind == OP_GROUPED_MATMUL ? sum.expert
                                                            : sum.matmul;
            for (int phase = 0; phase < PHASE_COUNT; phase++) to[phase] += times * ops[j].flops[phase];
            if (ops[j].expert_weights) sum.expert_weights += times * ops[j].weights;
        }
    }
    return sum;
}

/* tensor x sequence chips do the work of a sequence between them, whatever exchanges heads or keys, and wherever its
 * experts lie; the experts' FLOPs are those of top_k experts for every token. All ranks of a stage together hold each
 * expert once for each of its replicas. */
Test(zoo_laws, chips_share_work_and_experts) {
    uint64_t state = 1;
    int seen = 0, folded = 0;
    for (int i = 0; i < zoo.count; i++) {
        const Model *model = &zoo.models[i];
        double expert_flops = 0, expert_weights = 0;
        for (int k = 0; k < model->kind_count; k++) {
            const LayerKind *kind = &model->kinds[k];
            double width = (double)(kind->expert_width > 0 ? kind->expert_width : model->d_model);
            double matrices = (double)(kind->gated ? 3 : 2) * width * (double)kind->d_ff_expert;
            expert_flops += (double)kind->count * 2 * SEQ * (double)kind->top_k * (kind->experts > 0 ? matrices : 0);
            double biases =
                kind->expert_bias ? (double)((kind->gated ? 2 : 1) * kind->d_ff_expert + model->d_model) : 0;
            expert_weights += (double)kind->count * (double)kind->experts * (matrices + biases);
        }
        Bench alone = {.model = *model};
        Work one = {.sequences = 1, .seq = SEQ};
        Degrees single = {{1, 1, 1, 1, 1, 1}};
        Knobs plain = {.microbatches = 1, .microbatch_sequences = 1, .virtual_stages = 1};
        cr_assert(shard_of_plan(model, &one, &single, &plain, PADDING_NONE, &alone.shard), "%s", model->name);
        alone.knobs = plain;
        LayersWork whole = layers_work(&alone);
        cr_expect_float_eq(whole.expert[0], expert_flops, 1e-9 * expert_flops, "%s", model->name);
        for (int turn = 0; turn < 40; turn++) {
            Cut cut;
            if (!random_cut(model, &state, &cut)) continue;
            const Shard *shard = &cut.bench.shard;
            LayersWork part = layers_work(&cut.bench);
            double chips = shard->tensor * shard->sequence, ranks = chips * shard->fsdp * shard->data * shard->expert;
            bool copies = false, whole_indexer = false; /* each chip of a tensor group has one */
            for (int k = 0; k < model->kind_count; k++)
                copies = copies || (model->kinds[k].attention == ATTENTION_HEADS &&
                                    model->kinds[k].kv_heads < cut.degrees.of[ROLE_TENSOR]),
                whole_indexer = whole_indexer || (model->kinds[k].index_heads > 0 && cut.degrees.of[ROLE_TENSOR] > 1);
            for (int phase = 0; phase < PHASE_COUNT; phase++) {
                if (!copies && !whole_indexer) /* copies of keys and values mean more work */
                    cr_expect_float_eq(chips * part.matmul[phase], whole.matmul[phase], 1e-9 * whole.matmul[phase],
                                       "%s, turn %d: matmuls %.12g of %.12g", model->name, turn,
                                       chips * part.matmul[phase], whole.matmul[phase]);
                if (!whole_indexer)
                    cr_expect_float_eq(chips * part.attention[phase], whole.attention[phase],
                                       1e-9 * whole.attention[phase], "%s, turn %d", model->name, turn);
                cr_expect_float_eq(chips * part.expert[phase], whole.expert[phase], 1e-9 * whole.expert[phase],
                                   "%s, turn %d: experts %.12g of %.12g", model->name, turn, chips * part.expert[phase],
                                   whole.expert[phase]);
            }
            bool biased = false;
            for (int k = 0; k < model->kind_count; k++) biased = biased || model->kinds[k].expert_bias;
            if (!biased || shard_expert_tensor(shard) == 1) /* every part of the width has the bias of d_model */
                cr_expect_float_eq(part.expert_weights / shard_expert_ways(shard) * ranks,
                                   expert_weights * shard_expert_data_ways(shard),
                                   1e-9 * expert_weights * shard_expert_data_ways(shard), "%s, turn %d: held %.12g",
                                   model->name, turn, part.expert_weights / shard_expert_ways(shard) * ranks);
            seen++, folded += shard->grid_expert > 0;
        }
    }
    cr_expect(seen > 1000 && folded > 100, "%d cuts, %d folded", seen, folded);
}

/* Weight gradients, the part of backward that a schedule moves into its bubble, are FLOPs at the matrix units' rate: at
 * most the time of forward, half of backward, and a third of both (the most that bounds assume), whichever the layout;
 * so no bubble is negative. This holds under the machine of rates alone, and under slow kernels. */
Test(zoo_laws, weight_gradients_fit) {
    uint64_t state = 2;
    Profile slow = IDEAL;
    slow.matrix_efficiency = slow.linear_efficiency = 0.7, slow.grouped_efficiency = 0.6,
    slow.attention_efficiency = 0.5;
    slow.attention_backward_rate = 0.8, slow.matmul_traffic = 0.6, slow.elementwise_traffic = 1;
    slow.hbm_efficiency = 0.9, slow.expert_imbalance = 1.2;
    const Profile *profiles[] = {&IDEAL, &slow};
    int seen = 0;
    for (int i = 0; i < zoo.count; i++)
        for (int turn = 0; turn < 12; turn++) {
            Cut cut;
            if (!random_cut(&zoo.models[i], &state, &cut)) continue;
            Bench *bench = &cut.bench;
            /* 4 stages of it: the same shard with a quarter of the layers and no vocabulary to set the pace */
            bench->shard.pipeline = 4, bench->shard.microbatches = 8;
            bench->shard.layers = bench->shard.layers_last = (double)zoo.models[i].layers / 4;
            bench->model.vocab = 1, bench->shard.vocab = 1;
            for (int p = 0; p < 2; p++)
                for (int way = 0; way < 2; way++) {
                    bench->knobs.schedule = way ? SCHEDULE_DUALPIPE : SCHEDULE_ZB_H1;
                    CostContext setting = bench_setting(bench);
                    setting.profile = profiles[p];
                    StepRule rule;
                    step_rule(&setting, &bench->shard, &bench->knobs, &rule);
                    /* others x 2 W, or others x (p/2 - 1)/(p - 1) x 3 W; the bubbles say how many others */
                    double W = rule.bubble_saved_seconds / (way ? 3 * rule.bubble[0] : 2 * rule.bubble[0]);
                    Sharding shardings[SHARDINGS_MAX];
                    int count = shardings_of(&setting, &bench->shard, shardings);
                    for (int s = 0; s < count; s++) {
                        Resources resources;
                        StepTime time;
                        Rates rates = {.axis_count = 1};
                        stage_resources(&setting, &bench->shard, &bench->knobs, &shardings[s], &resources);
                        double F = resources.of[RES_COMPUTE_FORWARD] + resources.of[RES_ATTENTION_FORWARD],
                               B = resources.of[RES_COMPUTE_BACKWARD] + resources.of[RES_ATTENTION_BACKWARD];
                        cr_expect(W > 0 && W <= F && 2 * W <= B && 3 * W <= F + B,
                                  "%s, turn %d, %d: W %.9g of F %.9g, B %.9g", zoo.models[i].name, turn, p, W, F, B);
                        cr_expect_geq(B, F, "%s: a backward is no shorter", zoo.models[i].name);
                        step_time(&rule, &resources, &rates, &time);
                        cr_expect_geq(time.bubble_seconds, 0, "%s, turn %d", zoo.models[i].name, turn);
                        seen++;
                    }
                }
        }
    cr_expect_gt(seen, 5000, "%d layouts", seen);
}

/* A pipeline of the zoo on chips of the catalog, with a layout. */
typedef struct {
    Model model;
    Chip chip;
    Mesh mesh;
    Profile profile;
    CostContext setting;
    Plan plan;
    Shard shard;
} Pipeline;

enum { CHIPS = 6 };
static struct {
    Chip chip;
    Profile profile;
    Machine machine;
} machines[CHIPS];

static void load_machines(void) {
    static const char *const NAMES[CHIPS] = {"h100", "b200", "gb300", "mi300x", "tpu-v5p", "a100-80g"};
    Error error = {0};
    Catalog catalog;
    cr_assert(catalog_load(&arena, &catalog, &error), "%s", error.text);
    for (int i = 0; i < CHIPS; i++) {
        for (int j = 0; j < catalog.count; j++)
            if (strcmp(catalog.chips[j].name, NAMES[i]) == 0) machines[i].chip = catalog.chips[j];
        cr_assert(profile_load("default", NULL, &machines[i].chip, &arena, &machines[i].profile, &error), "%s: %s",
                  NAMES[i], error.text);
        MachineRequest request = {.chips = 64};
        cr_assert(machine_from_request(&machines[i].chip, &request, &machines[i].machine, &error), "%s: %s", NAMES[i],
                  error.text);
    }
}

/* Some layers of some activations are recomputed. */
static void random_layout(uint64_t *state, Pipeline *out) {
    Sharding shardings[SHARDINGS_MAX];
    int count = shardings_of(&out->setting, &out->shard, shardings);
    out->plan.layout = (Layout){.sharding = shardings[random_word(state) % (uint64_t)count]};
    ActivationCost costs[ACTIVATION_COUNT];
    stage_activations(&out->setting, &out->shard, &out->plan.knobs, &out->plan.layout.sharding, costs);
    int kind = (int)(random_word(state) % 3); /* none, all, some */
    for (int a = 0; a < ACTIVATION_COUNT; a++) {
        int64_t layers = (int64_t)out->shard.layers, *of = out->plan.layout.layers[a];
        bool may = costs[a].exists && costs[a].recomputable && kind > 0;
        int64_t some = (int64_t)(random_word(state) % (uint64_t)(layers + 1));
        of[STATE_RECOMPUTED] = !may ? 0 : kind == 1 ? layers : some;
        of[STATE_SAVED] = layers - of[STATE_RECOMPUTED];
    }
}

/* False: the sizes do not allow it. */
static bool random_pipeline(uint64_t *state, Pipeline *out) {
    const int machine = (int)(random_word(state) % CHIPS);
    memset(out, 0, sizeof *out);
    out->model = zoo.models[random_word(state) % (uint64_t)zoo.count];
    out->chip = machines[machine].chip;
    Precision precision =
        random_word(state) % 2 && precision_peak(&out->chip, PRECISION_FP8) > 0 ? PRECISION_FP8 : PRECISION_BF16;
    Degrees degrees = {{random_power(state, 4), 1, 1, random_power(state, 3), random_power(state, 3),
                        2 + (int64_t)(random_word(state) % 31)}};
    Knobs knobs = {.microbatches = (int64_t)(1 + random_word(state) % 64),
                   .microbatch_sequences = random_power(state, 3),
                   .virtual_stages = 1,
                   .regather = random_word(state) % 2 == 0,
                   .schedule = (Schedule)(SCHEDULE_GPIPE + random_word(state) % (SCHEDULE_COUNT - SCHEDULE_GPIPE)),
                   .stages = (StageSplit)(random_word(state) % 3)};
    int64_t stages = degrees.of[ROLE_PIPELINE], ways = random_power(state, 7);
    for (int i = 0; i < out->model.kind_count; i++)
        if (out->model.kinds[i].experts > 0) knobs.methods.grid = (ExpertGrid){ways, 1};
    if (knobs.schedule == SCHEDULE_INTERLEAVED || knobs.schedule == SCHEDULE_CIRCULAR)
        knobs.virtual_stages = 2 + (int64_t)(random_word(state) % 4);
    if (!schedule_allowed(knobs.schedule, stages, knobs.microbatches, knobs.virtual_stages)) return false;
    Work work = {.sequences = knobs.microbatches * knobs.microbatch_sequences * degrees_replicas(&degrees), .seq = SEQ};
    out->plan = (Plan){.degrees = degrees, .knobs = knobs};
    out->profile = profile_of_work(&machines[machine].profile, &out->chip, precision, &out->model, 64, 1);
    out->setting = (CostContext){.model = &out->model,
                                 .chip = &out->chip,
                                 .profile = &out->profile,
                                 .work = work,
                                 .precision_flops_per_second = out->chip.bf16_flops_per_second.value};
    out->setting.work.layer_weight = stage_layer_weight(&out->setting, SEQ);
    if (!shard_of_plan(&out->model, &out->setting.work, &degrees, &knobs, PADDING_ANY, &out->shard)) return false;
    random_layout(state, out);
    /* all chips on one axis, like the machine's innermost */
    out->mesh = machines[machine].machine.mesh;
    out->mesh.axis_count = 1;
    out->mesh.axes[0].size = 1;
    for (int role = 0; role < ROLE_COUNT; role++) {
        out->plan.placement.factor[0][role] = (int32_t)degrees.of[role];
        out->mesh.axes[0].size *= degrees.of[role];
    }
    out->mesh.chips = out->mesh.devices = out->mesh.axes[0].size;
    return true;
}

static double seconds_of_ops(const Pipeline *of, const Op *ops, int count) {
    double seconds = 0;
    for (int i = 0; i < count; i++)
        for (int phase = 0; phase < PHASE_COUNT; phase++) {
            bool by_memory;
            seconds += op_seconds(&ops[i], (Phase)phase, &of->chip, &of->profile, &by_memory);
        }
    return seconds;
}

/* What a stage computes in one microbatch, op by op, with the layers that launchers deal to it: what is left over goes
 * to the stages behind, the last apart. */
static double stage_computes(const Pipeline *of, int64_t stage) {
    const Sharding *sharding = &of->plan.layout.sharding;
    const LayerSoftware software = cost_context_software(&of->setting);
    int64_t stages = of->plan.degrees.of[ROLE_PIPELINE], last = (int64_t)of->shard.layers_last,
            rest = of->model.layers - last, others = stages - 1, layers = rest / others;
    Op ops[OPS_MAX];
    double seconds = 0;
    if (of->plan.knobs.stages == STAGES_SLOTS)
        layers = (int64_t)of->shard.layers - (stage == 0);
    else
        layers += others - stage <= rest % others;
    if (stage == others) layers = last;
    for (int i = 0; i < of->model.kind_count; i++) {
        int count = ops_of_layer_under(&(ShardedLayer){&of->model, &of->model.kinds[i], &of->shard, sharding},
                                       &of->plan.knobs.methods, &software, ops);
        seconds += (double)layers * (double)of->model.kinds[i].count / (double)of->model.layers *
                   seconds_of_ops(of, ops, count);
    }
    if (stage == 0) seconds += seconds_of_ops(of, ops, ops_of_embedding(&of->model, &of->shard, sharding, NULL, ops));
    if (stage == others) seconds += seconds_of_ops(of, ops, ops_of_logits(&of->model, &of->shard, sharding, NULL, ops));
    ActivationCost costs[ACTIVATION_COUNT];
    stage_activations(&of->setting, &of->shard, &of->plan.knobs, sharding, costs);
    for (int a = 0; a < ACTIVATION_COUNT; a++)
        seconds += (double)min_whole(layers, of->plan.layout.layers[a][STATE_RECOMPUTED]) * costs[a].recompute_seconds;
    return seconds;
}

/* The step of a plan is never below what all microbatches take on any of its stages, by their own ops.
 * SHARDOPT_PROBLEMS draws so many. */
Test(zoo_laws, no_step_below_a_stage) {
    int priced = 0, by_last = 0, by_other = 0, asked = problems_asked(3000);
    load_machines();
    for (uint64_t seed = problems_first(); priced < asked; seed++) {
        static Pipeline of;
        uint64_t state = seed;
        if (!random_pipeline(&state, &of)) continue;
        NestedMesh nested_mesh = {&of.mesh, nesting_canonical()};
        double step = estimate_seconds(&of.setting, &nested_mesh, &of.plan);
        double first = stage_computes(&of, 0), longest = 0;
        int64_t stages = of.plan.degrees.of[ROLE_PIPELINE];
        for (int64_t stage = 0; stage < stages; stage++) {
            double all = (double)of.plan.knobs.microbatches * stage_computes(&of, stage);
            cr_expect(all <= step * (1 + 1e-12), "%llu: %s on %s, %lld stages, %s: %.9g s of a step, stage %lld %.9g s",
                      (unsigned long long)seed, of.model.name, of.chip.name, (long long)stages,
                      stage_split_name(of.plan.knobs.stages), step, (long long)stage, all);
            longest = max_real(longest, all);
        }
        priced++;
        by_last += stage_computes(&of, stages - 1) > first;
        by_other += stage_pace(&of.setting, &of.shard).logits != (stage_computes(&of, stages - 1) > first);
    }
    cr_expect(by_last > asked / 20 && by_other > asked / 1000, "%d by the last stage, %d other than by FLOPs", by_last,
              by_other);
}

/* Stages that are alike by their own ops, to a part in a hundred (a matmul of one column, as the logits are here, may
 * take long on a wide unit), without replicas and shards: the played step is the formula's, to what that takes.
 * (ZB-H1's and DualPipe's bubbles are not filled to the last slot, and a rank of DualPipe has two stages.) */
Test(zoo_laws, played_as_the_formula_where_stages_are_alike) {
    int seen[SCHEDULE_COUNT] = {0}, chunked = 0;
    load_machines();
    for (int i = 0; i < zoo.count; i++) zoo.models[i].vocab = 1, zoo.models[i].tied = false;
    for (uint64_t seed = problems_first(); seed < 300000; seed++) {
        static Pipeline of;
        static Estimate priced;
        Error error = {0};
        uint64_t state = seed;
        if (!random_pipeline(&state, &of)) continue;
        const Knobs *knobs = &of.plan.knobs;
        int64_t stages = of.plan.degrees.of[ROLE_PIPELINE];
        bool alike = of.model.layers % (stages * knobs->virtual_stages) == 0 && of.shard.slots_first == 0 &&
                     of.shard.layers == of.shard.layers_last;
        bool full = knobs->schedule != SCHEDULE_INTERLEAVED || knobs->microbatches % stages == 0;
        if (!alike || !full || of.plan.degrees.of[ROLE_DATA] > 1 || of.plan.degrees.of[ROLE_FSDP] > 1 ||
            of.plan.degrees.of[ROLE_TENSOR] > 1 || of.shard.grid_data > 1 || of.shard.grid_weights > 1)
            continue;
        double others = stage_computes(&of, 0), last = stage_computes(&of, stages - 1);
        if (fabs(last - others) > 0.01 * others) continue;
        NestedMesh nested_mesh = {&of.mesh, nesting_canonical()};
        cr_assert(estimate_plan(&of.setting, &nested_mesh, &of.plan, PADDING_ANY, &priced, &error), "%s", error.text);
        double formula = priced.formula_seconds, close = 1e-2;
        if (knobs->schedule == SCHEDULE_ZB_H1 || knobs->schedule == SCHEDULE_DUALPIPE) close = 0.03;
        cr_expect_float_eq(priced.played_seconds, formula, close * formula,
                           "%llu: %s on %s, %s, %lld stages: %.9g, played %.9g", (unsigned long long)seed,
                           of.model.name, of.chip.name, schedule_name(knobs->schedule), (long long)stages, formula,
                           priced.played_seconds);
        seen[knobs->schedule]++, chunked += knobs->virtual_stages > 1;
    }
    for (int schedule = SCHEDULE_GPIPE; schedule < SCHEDULE_COUNT; schedule++)
        cr_expect_gt(seen[schedule], 2, "%s: %d", schedule_name((Schedule)schedule), seen[schedule]);
    cr_expect_gt(chunked, 10, "%d", chunked);
}

/* No played step is below what a stage computes by its own ops, its first microbatch's way to it and its last one's way
 * back included. */
Test(zoo_laws, no_played_step_below_a_stage) {
    int priced = 0, longer = 0, asked = problems_asked(1500);
    load_machines();
    for (uint64_t seed = problems_first(); priced < asked; seed++) {
        static Pipeline of;
        static Estimate estimate;
        Error error = {0};
        uint64_t state = seed;
        if (!random_pipeline(&state, &of) || of.plan.knobs.schedule == SCHEDULE_DUALPIPE) continue;
        NestedMesh nested_mesh = {&of.mesh, nesting_canonical()};
        cr_assert(estimate_plan(&of.setting, &nested_mesh, &of.plan, PADDING_ANY, &estimate, &error), "%s", error.text);
        int64_t stages = of.plan.degrees.of[ROLE_PIPELINE];
        double way = 0; /* of one microbatch through all chunks of all stages */
        for (int64_t stage = 0; stage < stages; stage++) way += stage_computes(&of, stage);
        for (int64_t stage = 0; stage < stages; stage++) {
            double all = (double)of.plan.knobs.microbatches * stage_computes(&of, stage);
            cr_expect(max_real(all, way) <= estimate.played_seconds * (1 + 1e-12),
                      "%llu: %s on %s, %lld stages: %.9g s played, stage %lld %.9g s, one way %.9g s",
                      (unsigned long long)seed, of.model.name, of.chip.name, (long long)stages, estimate.played_seconds,
                      (long long)stage, all, way);
        }
        priced++;
        longer += estimate.time.seconds > estimate.formula_seconds;
    }
    cr_expect(longer > asked / 20, "%d of %d are longer played", longer, asked);
}
