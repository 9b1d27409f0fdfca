/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Laws that every model of the zoo obeys under every way to cut it: chips share the work and the parameters without a
 * remainder, and weight gradients fit into the bubble that a schedule fills with them. */
#include "tests/cost/workbench.h"

#include "models/config/model_json.h"

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
            double matrices = (double)(kind->gated ? 3 : 2) * (double)(model->d_model * kind->d_ff_expert);
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
            bool copies = false;
            for (int k = 0; k < model->kind_count; k++)
                copies = copies || (model->kinds[k].attention == ATTENTION_HEADS &&
                                    model->kinds[k].kv_heads < cut.degrees.of[ROLE_TENSOR]);
            for (int phase = 0; phase < PHASE_COUNT; phase++) {
                if (!copies) /* copies of keys and values mean more work */
                    cr_expect_float_eq(chips * part.matmul[phase], whole.matmul[phase], 1e-9 * whole.matmul[phase],
                                       "%s, turn %d: matmuls %.12g of %.12g", model->name, turn,
                                       chips * part.matmul[phase], whole.matmul[phase]);
                cr_expect_float_eq(chips * part.attention[phase], whole.attention[phase], 1e-9 * whole.attention[phase],
                                   "%s, turn %d", model->name, turn);
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
