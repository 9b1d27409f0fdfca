/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What real compilers and frameworks send and keep in a training step, against the model under their figures of
 * cost/profiles/default.json. MaxText 0.2.5 was compiled by libtpu 0.0.50.1 for v5p 2x2x2 (bf16, AdamW, splash
 * attention, a layer of width 1024 and 4096, 16 and 8 heads of 64, 4 layers, 32,768 words, 64 Ki tokens of sequences of
 * 2,048); torchtitan 0.3.0 ran a step of Llama 3.1 8B on fake tensors with 512 Ki tokens on 32 GPUs. Bytes were counted
 * in their programs; here they are in MB or GB of the whole array, once a pass. Bytes per chip are a pass's over its
 * chips. */
#include "tests/cost/workbench.h"

#include "base/file.h"
#include "cost/profile/profile_set.h"
#include "cost/stage/stage_totals.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static const double MB = 1e6, GB = 1e9;

/* The facts of a stack beside rates that are all whole. */
static Profile software(const char *stack) {
    Arena arena = {0};
    Error error = {0};
    ProfileSet *set = malloc(sizeof *set);
    Profile of_set, profile = IDEAL;
    cr_assert(set && profile_set_default(&arena, set, &error), "%s: %s", error.where, error.text);
    const SetEntry *entry = profile_set_stack(set, stack);
    cr_assert(entry, "%s", stack);
    profile_compose(set, &set->profiles[0], entry, &of_set);
    int count;
    const ProfileFigure *figures = profile_figures(&count);
    for (int i = 0; i < count; i++)
        if (figures[i].sigma == 0 && figures[i].owner == FIGURE_OF_STACK)
            *(double *)((char *)&profile + figures[i].offset) = *(double *)((char *)&of_set + figures[i].offset);
    profile.expert_imbalance = profile.sequence_exposed = 1;
    arena_free(&arena);
    free(set);
    return profile;
}

typedef struct {
    double data, fsdp, sequence, expert, microbatches;
} Ways;

typedef struct {
    Bench bench;
    Profile profile;
    CostContext setting;
} Stage;

/* `tokens` of a chip in one microbatch. */
static void stage_under(Model model, const char *stack, Ways ways, double tokens, double seq, Stage *out) {
    *out = (Stage){.bench = bench_of(model, 1, tokens), .profile = software(stack)};
    Shard *shard = &out->bench.shard;
    shard->data = ways.data, shard->fsdp = ways.fsdp, shard->sequence = ways.sequence, shard->expert = ways.expert;
    shard->microbatches = ways.microbatches;
    shard->experts /= ways.expert;
    shard->seq = seq;
    shard->vocab = (double)model.vocab;
    shard->layers = shard->layers_last = (double)model.layers;
    out->bench.knobs.microbatches = (int64_t)ways.microbatches;
    out->setting = bench_setting(&out->bench);
    out->setting.profile = &out->profile;
}

static void resources_under(const Stage *stage, const RematRule *rule, Resources *out) {
    const Bench *bench = &stage->bench;
    ActivationCost costs[ACTIVATION_COUNT];
    double none[MOMENT_COUNT] = {0};
    stage_resources(&stage->setting, &bench->shard, &bench->knobs, &bench->sharding, out);
    activation_costs(&stage->setting, &bench->shard, &bench->knobs, &bench->sharding, costs);
    for (int a = 0; a < ACTIVATION_COUNT; a++)
        if (costs[a].exists) resources_add_state(&costs[a], rule->state[a], bench->shard.layers, none, out);
}

static double sent(const Stage *stage, const char *policy, Group group) {
    Resources resources;
    RematRule rule;
    Error error = {0};
    cr_assert(remat_parse(policy, "remat", &rule, &error), "%s", error.text);
    resources_under(stage, &rule, &resources);
    return stage->bench.shard.microbatches *
           (resources.of[res_bytes(group, PHASE_FORWARD)] + resources.of[res_bytes(group, PHASE_BACKWARD)]);
}

static Model maxtext_dense(void) { return dense_model(4, 1024, 4096, 16, 8, 64, 32768); }

static Model maxtext_mixture(void) {
    Model model = maxtext_dense();
    LayerKind *kind = &model.kinds[0];
    kind->d_ff = 0, kind->experts = 8, kind->top_k = 2, kind->d_ff_expert = 2048;
    return model;
}

static Model llama3_8b(void) { return dense_model(32, 4096, 14336, 32, 8, 128, 128256); }

/* Three passes of the layers, two of the logits' table (MB: 377.5 + 134.2), and the look-up's activations there and
 * back, of which a chip has 16.8. Over a whole slice of n chips the compiler makes rings of the matmuls of layers, and
 * of the gradient of the logits' table, with 4 microbatches each time: (n + 1)/(n - 1) passes of 3 x 125.8 + 67.1; or,
 * over 64 chips, it all_reduces gradients, which is two passes. Under context the embedding's table is gathered, and
 * its gradient all_reduced. */
Test(compiled, weights_of_maxtext) {
    static const struct {
        const char *name;
        Ways ways;
        double tokens, expected;
    } rows[] = {
        {"data=2 fsdp=4", {2, 4, 1, 1, 1}, 8192, 377.5 + 134.2 + 2 * 67.1 / 4},
        {"fsdp=8 in 4 microbatches", {1, 8, 1, 1, 4}, 2048, 4 * 444.6 * 9 / 7 + 268.4 + 2 * 134.2 / 8},
        {"fsdp=16", {1, 16, 1, 1, 1}, 8192, 444.6 * 17 / 15 + 67.1 + 2 * 16.8},
        {"fsdp=64", {1, 64, 1, 1, 1}, 8192, 4 * 125.8 + 3 * 67.1 + 2 * 16.8},
        {"fsdp=4 sequence=2", {1, 4, 2, 1, 1}, 8192, 444.6 * 9 / 7 + 67.1 + 3 * 67.1},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Stage stage;
        stage_under(maxtext_dense(), "maxtext-tpu", rows[i].ways, rows[i].tokens, 2048, &stage);
        double megabytes = sent(&stage, "minimal_with_context", GROUP_WEIGHTS) / MB;
        cr_expect_float_eq(megabytes, rows[i].expected, 0.005 * rows[i].expected, "%s: %g, not %g", rows[i].name,
                           megabytes, rows[i].expected);
    }
}

/* Replicas reduce bf16 gradients of what a chip holds: two passes of 65.0 MB. */
Test(compiled, replicas_of_maxtext) {
    Stage stage;
    StepRule rule;
    stage_under(maxtext_dense(), "maxtext-tpu", (Ways){2, 4, 1, 1, 1}, 8192, 2048, &stage);
    step_rule(&stage.setting, &stage.bench.shard, &stage.bench.knobs, &rule);
    cr_expect_float_eq(rule.data_end[0].bytes / MB, 130.0, 0.2, "%g", rule.data_end[0].bytes / MB);
}

/* Keys and values twice all the way round, their gradients once without the last step, in fp32: 3 x 134.2. */
Test(compiled, ring_of_maxtext) {
    Stage stage;
    stage_under(maxtext_dense(), "maxtext-tpu", (Ways){1, 4, 2, 1, 1}, 8192, 4096, &stage);
    stage.bench.knobs.methods.context = CONTEXT_RING;
    double megabytes = sent(&stage, "minimal_with_context", GROUP_SEQUENCE) / MB;
    cr_expect_float_eq(megabytes, 402.7, 0.5, "%g", megabytes);
}

/* fp32 master and two moments, nothing else: 195.3 MB over 8 chips, 390.4 over 4; of 8 replicas each has the whole
 * master and an eighth of the moments under ZeRO-1, 650.3, and gathers the master in fp32 (520.1). */
Test(compiled, state_of_maxtext) {
    static const struct {
        Ways ways;
        double expected;
    } rows[] = {{{1, 8, 1, 1, 1}, 195.3}, {{2, 4, 1, 1, 1}, 390.4}, {{8, 1, 1, 1, 1}, 650.3}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Stage stage;
        MemoryRows memory;
        stage_under(maxtext_dense(), "maxtext-tpu", rows[i].ways, 8192, 2048, &stage);
        stage.bench.knobs.zero_stage = rows[i].ways.fsdp > 1 ? 0 : 1;
        memory_rows(&(ShardedStage){&stage.setting, &stage.bench.shard, &stage.bench.knobs, &stage.bench.sharding},
                    MOMENT_UPDATE, 0, &memory);
        double megabytes = (memory.parameters_bytes + memory.optimizer_bytes) / MB;
        cr_expect_float_eq(megabytes, rows[i].expected, 0.002 * rows[i].expected, "%g, not %g", megabytes,
                           rows[i].expected);
        StepRule rule;
        step_rule(&stage.setting, &stage.bench.shard, &stage.bench.knobs, &rule);
        double gathered = rule.data_start[0].bytes / MB;
        cr_expect_float_eq(gathered, rows[i].ways.fsdp > 1 ? 0 : 520.1, 0.5, "%g", gathered);
    }
}

/* Heads of 64 are kept in tiles of 128 lanes: queries, keys, values and attention's output of 4 layers take 201.3 MB
 * more than their numbers; heads of 128 do not. */
Test(compiled, padded_heads_of_maxtext) {
    for (int64_t head = 64; head <= 128; head *= 2) {
        Stage stage;
        ActivationCost costs[ACTIVATION_COUNT];
        Model model = dense_model(4, 1024, 4096, 1024 / head, 512 / head, head, 32768);
        stage_under(model, "maxtext-tpu", (Ways){1, 8, 1, 1, 1}, 8192, 2048, &stage);
        activation_costs(&stage.setting, &stage.bench.shard, &stage.bench.knobs, &stage.bench.sharding, costs);
        double statistics = 4.0 * 8192 * (double)(1024 / head);
        double megabytes = 4 * (costs[ACTIVATION_QKV].bytes + costs[ACTIVATION_CONTEXT].bytes - statistics) / MB;
        cr_expect_float_eq(megabytes, head == 64 ? 402.7 : 201.3, 0.1, "%g", megabytes);
    }
}

/* Six exchanges a layer of 134.2 MB under full recomputation, three passes of the experts' weights over fsdp (302.0),
 * and the worst case in HBM: 65,536 rows on each of 4 chips with two experts, and no more on each of 8 with one, which
 * no token can choose twice: 2,956 and 2,990 MB at the peak. */
Test(compiled, mixture_of_maxtext) {
    Stage stage;
    stage_under(maxtext_mixture(), "maxtext-tpu", (Ways){1, 2, 1, 4, 1}, 8192, 2048, &stage);
    double exchanged = sent(&stage, "full", GROUP_EXPERT) / MB,
           gathered = sent(&stage, "full", GROUP_EXPERT_WEIGHTS) / MB;
    cr_expect_float_eq(exchanged, 3221, 1, "%g", exchanged);
    cr_expect_float_eq(gathered, 302.0, 0.2, "%g", gathered);

    static const struct {
        Ways ways;
        double expected;
    } rows[] = {{{1, 2, 1, 4, 1}, 2956}, {{1, 1, 1, 8, 1}, 2990}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        double peak = 0, input = 2.0 * 8192 * 1024 * 3; /* of 4 layers, one at work */
        stage_under(maxtext_mixture(), "maxtext-tpu", rows[i].ways, 8192, 2048, &stage);
        for (int moment = 0; moment < MOMENT_COUNT; moment++) {
            MemoryRows memory;
            memory_rows(&(ShardedStage){&stage.setting, &stage.bench.shard, &stage.bench.knobs, &stage.bench.sharding},
                        (Moment)moment, moment == MOMENT_UPDATE ? 0 : input, &memory);
            peak = max_real(peak, memory_total(&memory) / MB);
        }
        cr_expect_float_eq(peak, rows[i].expected, 0.05 * rows[i].expected, "%g, not %g", peak, rows[i].expected);
    }
}

/* Buffers of XLA's schedule at the peak in backward. Llama 3.1 70B over 64 chips, 16,384 tokens each: casts of the
 * layers' weights 3 x 587.2 + 2 x 167.8 + 2 x 21.0, as much of their gradients, the logits' gradient 4,202.7 with the
 * input of its table's 268.4, and no cast of tables. A quarter of the small model's batch at a time: casts of tables
 * too, 2 x 8.4 and 15.7. Replicas under ZeRO-1 copy the master, 520.1, until its update. */
Test(compiled, program_of_maxtext) {
    enum { LARGE, SMALL };
    static const struct {
        int model;
        Ways ways;
        double tokens, casts, gradients, master, logits;
    } rows[] = {{LARGE, {1, 64, 1, 1, 1}, 16384, 2139, 2139, 0, 4202.7 + 268.4},
                {SMALL, {1, 8, 1, 1, 4}, 2048, 32.5, 15.7, 0, 134.2 + 4.2},
                {SMALL, {8, 1, 1, 1, 1}, 8192, 125.8, 125.8, 520.1, 536.9 + 16.8}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Stage of;
        StageTotals sums;
        stage_under(rows[i].model == LARGE ? llama3_70b() : maxtext_dense(), "maxtext-tpu", rows[i].ways,
                    rows[i].tokens, 2048, &of);
        of.bench.knobs.zero_stage = rows[i].master > 0 ? 1 : 0;
        const ShardedStage stage = {&of.setting, &of.bench.shard, &of.bench.knobs, &of.bench.sharding};
        stage_sums(&of.setting, &of.bench.shard, &of.bench.knobs.methods, &of.bench.sharding, &sums);
        LocalParameters local = local_parameters(&of.setting, &of.bench.shard, &of.bench.knobs, &sums, false);
        ProgramBytes found = program_bytes(&stage, &local, MOMENT_FIRST_BACKWARD);
        const double pairs[4][2] = {{found.casts, rows[i].casts},
                                    {found.gradients, rows[i].gradients},
                                    {found.master, rows[i].master},
                                    {found.logits, rows[i].logits}};
        for (int j = 0; j < 4; j++)
            cr_expect_float_eq(pairs[j][0] / MB, pairs[j][1], 0.005 * pairs[j][1] + 0.05, "%zu, %d: %g, not %g", i, j,
                               pairs[j][0] / MB, pairs[j][1]);
    }
}

/* A pipeline of two stages of two layers in 4 microbatches, over 4 chips of fsdp each: 5 iterations keep their inputs
 * (83.9 MB of two layers), send 8.4 MB to the next stage and as much round the queue, forward and backward (167.8), and
 * each chip has logits of an eighth of the batch (1,073.7 with their gradient). */
Test(compiled, pipeline_of_maxtext) {
    Stage of;
    MemoryRows rows;
    double weights[MOMENT_COUNT];
    stage_under(maxtext_dense(), "maxtext-tpu", (Ways){1, 4, 1, 1, 4}, 4096, 2048, &of);
    Shard *shard = &of.bench.shard;
    shard->pipeline = 2, shard->layers = shard->layers_last = 2;
    of.bench.knobs.schedule = SCHEDULE_GPIPE, of.bench.knobs.virtual_stages = 1;
    double megabytes = sent(&of, "full", GROUP_PIPELINE) / MB;
    cr_expect_float_eq(megabytes, 167.8, 0.1, "%g", megabytes);
    microbatches_in_flight(&of.setting, shard, &of.bench.knobs, weights);
    double inputs = weights[MOMENT_LAST_LOGITS] * shard->layers * 2 * 4096 * 1024 / MB;
    cr_expect_float_eq(inputs, 83.9, 0.1, "%g", inputs);
    memory_rows(&(ShardedStage){&of.setting, shard, &of.bench.knobs, &of.bench.sharding}, MOMENT_LAST_LOGITS, 0, &rows);
    cr_expect_float_eq(rows.logits_bytes / MB, 1073.7, 0.1, "%g", rows.logits_bytes / MB);
}

/* Gathers in bf16, with the logits' table once more for the loss in chunks (16.06 + 1.05, or + 16.06), and a
 * reduce_scatter in fp32 (32.12): 49.23 GB with weights that are kept, 65.29 without. Replicas of 8 reduce in fp32: two
 * passes, 8.03. */
Test(compiled, weights_of_torchtitan) {
    Stage stage;
    StepRule rule;
    stage_under(llama3_8b(), "torch-fsdp", (Ways){1, 32, 1, 1, 1}, 16384, 8192, &stage);
    double again = sent(&stage, "full", GROUP_WEIGHTS) / GB;
    cr_expect_float_eq(again, 65.29, 0.03, "%g", again);
    stage.bench.knobs.regather = false;
    double kept = sent(&stage, "full", GROUP_WEIGHTS) / GB;
    cr_expect_float_eq(kept, 49.23, 0.03, "%g", kept);
    stage_under(llama3_8b(), "torch-fsdp", (Ways){4, 8, 1, 1, 1}, 16384, 8192, &stage);
    step_rule(&stage.setting, &stage.bench.shard, &stage.bench.knobs, &rule);
    cr_expect_float_eq(rule.data_end[0].bytes / GB, 8.03, 0.01, "%g", rule.data_end[0].bytes / GB);
}

/* Keys and values: gathered, gathered again in recomputation, and scattered: 25.77 GB over 4 chips in 32 layers. */
Test(compiled, context_of_torchtitan) {
    Stage stage;
    stage_under(llama3_8b(), "torch-fsdp", (Ways){1, 8, 4, 1, 1}, 16384, 65536, &stage);
    stage.bench.knobs.methods.context = CONTEXT_ALL_GATHER;
    double gigabytes = sent(&stage, "full", GROUP_SEQUENCE) / GB;
    cr_expect_float_eq(gigabytes, 25.77, 0.01, "%g", gigabytes);
}

/* MB of a layer of 16,384 tokens: all of it 2,292 (what the CPU adds is taken out), selective checkpointing 1,076
 * (input, attention's output, qkv, gate, down), full 134. Selective makes the attention's output projection and up
 * again: 35% of the forward matmuls of Llama 3.1 70B. */
Test(compiled, checkpoints_of_torchtitan) {
    static const struct {
        const char *policy;
        double expected;
    } rows[] = {{"none", 2292}, {"selective_by_op", 1076}, {"full", 134.2}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Stage stage;
        ActivationCost costs[ACTIVATION_COUNT];
        RematRule rule;
        Error error = {0};
        double bytes = 0;
        stage_under(llama3_8b(), "torch-fsdp", (Ways){1, 32, 1, 1, 1}, 16384, 8192, &stage);
        activation_costs(&stage.setting, &stage.bench.shard, &stage.bench.knobs, &stage.bench.sharding, costs);
        cr_assert(remat_parse(rows[i].policy, "remat", &rule, &error), "%s", error.text);
        for (int a = 0; a < ACTIVATION_COUNT; a++) bytes += activation_kept_bytes(&costs[a], rule.state[a]);
        cr_expect_float_eq(bytes / MB, rows[i].expected, 0.005 * rows[i].expected, "%s: %g, not %g", rows[i].policy,
                           bytes / MB, rows[i].expected);
    }
    Stage stage;
    RematRule rule = {.required = true};
    Resources none, selective;
    stage_under(llama3_70b(), "torch-fsdp", (Ways){1, 256, 1, 1, 1}, 16384, 8192, &stage);
    stage.profile.elementwise_traffic = stage.profile.recompute_whole = 0;
    resources_under(&stage, &rule, &none);
    for (Activation a = 0; a < ACTIVATION_COUNT; a++) rule.state[a] = remat_selective_by_op(a);
    resources_under(&stage, &rule, &selective);
    double logits = 2.0 * 16384 * 8192 * 128256;
    double share =
        (selective.of[RES_COMPUTE_BACKWARD] - none.of[RES_COMPUTE_BACKWARD]) / (none.of[RES_COMPUTE_FORWARD] - logits);
    cr_expect_float_eq(share, 0.35, 0.005, "%g", share);
}

/* Llama 3.1 8B over 32 GPUs at the loss of 16,384 tokens in 8 chunks, every layer's input saved: 29.95 GB are alive
 * with weights that are kept, 14.94 with weights that are gathered again. One chunk's logits are 1.6 of it. */
Test(compiled, loss_of_torchtitan) {
    for (int regather = 0; regather < 2; regather++) {
        Stage stage;
        MemoryRows rows;
        stage_under(llama3_8b(), "torch-fsdp", (Ways){1, 32, 1, 1, 1}, 16384, 8192, &stage);
        stage.bench.knobs.regather = regather;
        const ShardedStage sharded = {&stage.setting, &stage.bench.shard, &stage.bench.knobs, &stage.bench.sharding};
        memory_rows(&sharded, MOMENT_LAST_LOGITS, 32 * 2.0 * 16384 * 4096, &rows);
        double all = memory_total(&rows) / GB, expected = regather ? 14.94 : 29.95;
        cr_expect_float_eq(rows.logits_bytes / GB, 1.6, 0.05, "%g", rows.logits_bytes / GB);
        cr_expect_float_eq(all, expected, 0.015 * expected, "%g, not %g", all, expected);
    }
}
