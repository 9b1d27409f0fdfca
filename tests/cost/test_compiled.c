/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What real compilers and frameworks send and keep in a training step, against the model under their figures of
 * cost/profiles/default.json. MaxText 0.2.5 was compiled by libtpu 0.0.50.1 for v5p 2x2x2 (bf16, AdamW, splash
 * attention, a layer of width 1024 and 4096, 16 and 8 heads of 64, 4 layers, 32,768 words, 64 Ki tokens of sequences of
 * 2,048); torchtitan 0.3.0 ran a step of Llama 3.1 8B on fake tensors with 512 Ki tokens on 32 GPUs. Bytes were counted
 * in their programs; here they are in MB or GB of the whole array, once a pass. Bytes per chip are a pass's over its
 * chips. */
#include "tests/cost/workbench.h"

#include "base/file.h"
#include "cost/profile/profile_set_json.h"

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
 * back, of which a chip has 16.8. With 4 microbatches the compiler gathers (503.3 + 503.3 + 268.4) and reduces the
 * 192.9 of a pass each time; it does that by an all_reduce here, which is counted as the one pass of a scatter. */
Test(compiled, weights_of_maxtext) {
    static const struct {
        const char *name;
        Ways ways;
        double tokens, expected;
    } rows[] = {
        {"data=2 fsdp=4", {2, 4, 1, 1, 1}, 8192, 377.5 + 134.2 + 2 * 67.1 / 4},
        {"fsdp=8 in 4 microbatches", {1, 8, 1, 1, 4}, 2048, 503.3 + 503.3 + 268.4 + 4 * 192.9 + 2 * 134.2 / 8},
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

/* fp32 master and two moments, nothing else: 195.3 MB over 8 chips, 390.4 over 4. */
Test(compiled, state_of_maxtext) {
    static const struct {
        Ways ways;
        double expected;
    } rows[] = {{{1, 8, 1, 1, 1}, 195.3}, {{2, 4, 1, 1, 1}, 390.4}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Stage stage;
        MemoryRows memory;
        stage_under(maxtext_dense(), "maxtext-tpu", rows[i].ways, 8192, 2048, &stage);
        memory_rows(&(ShardedStage){&stage.setting, &stage.bench.shard, &stage.bench.knobs, &stage.bench.sharding},
                    MOMENT_FIRST_BACKWARD, 0, &memory);
        double megabytes = (memory.parameters_bytes + memory.optimizer_bytes) / MB;
        cr_expect_float_eq(megabytes, rows[i].expected, 0.002 * rows[i].expected, "%g, not %g", megabytes,
                           rows[i].expected);
    }
}

/* Six exchanges a layer of 134.2 MB under full recomputation, three passes of the experts' weights over fsdp (302.0),
 * and the worst case in HBM: 2,417.9 MB at the peak, of which a balanced receive buffer would save hundreds. */
Test(compiled, mixture_of_maxtext) {
    Stage stage;
    stage_under(maxtext_mixture(), "maxtext-tpu", (Ways){1, 2, 1, 4, 1}, 8192, 2048, &stage);
    double exchanged = sent(&stage, "full", GROUP_EXPERT) / MB,
           gathered = sent(&stage, "full", GROUP_EXPERT_WEIGHTS) / MB;
    cr_expect_float_eq(exchanged, 3221, 1, "%g", exchanged);
    cr_expect_float_eq(gathered, 302.0, 0.2, "%g", gathered);

    double peak = 0, input = 2.0 * 8192 * 1024 * 4;
    for (int moment = 0; moment < MOMENT_COUNT; moment++) {
        MemoryRows memory;
        memory_rows(&(ShardedStage){&stage.setting, &stage.bench.shard, &stage.bench.knobs, &stage.bench.sharding},
                    (Moment)moment, moment == MOMENT_UPDATE ? 0 : input, &memory);
        peak = max_real(peak, memory_total(&memory) / MB);
    }
    cr_expect_float_eq(peak, 2417.9, 0.03 * 2417.9, "%g", peak);
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

/* Live memory rises by 6.2 GB during the loss of 16,384 tokens in 8 chunks: one chunk's logits (1.6), the table that is
 * gathered again, a chunk's gradient of it and the fp32 sum, and the fp32 sum of the stream's. */
Test(compiled, loss_of_torchtitan) {
    Stage stage;
    MemoryRows with, without;
    stage_under(llama3_8b(), "torch-fsdp", (Ways){1, 32, 1, 1, 1}, 16384, 8192, &stage);
    const ShardedStage sharded = {&stage.setting, &stage.bench.shard, &stage.bench.knobs, &stage.bench.sharding};
    memory_rows(&sharded, MOMENT_LAST_LOGITS, 0, &with);
    memory_rows(&sharded, MOMENT_FIRST_BACKWARD, 0, &without);
    double rise = with.logits_bytes + with.gathered_bytes - without.gathered_bytes +
                  chunks_gradient_bytes(&stage.setting, 2.0 * 16384 * 4096);
    cr_expect_float_eq(with.logits_bytes / GB, 1.6, 0.05, "%g", with.logits_bytes / GB);
    cr_expect_float_eq(rise / GB, 6.2, 0.2, "%g", rise / GB);
}
