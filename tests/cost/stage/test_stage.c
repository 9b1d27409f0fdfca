/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stage that sets the pace, the tables on it beside layers, and the rule that a profile makes. The model is LLaMA-3
 * 70B unless said otherwise: a layer is 855,638,016 parameters in matrices and 16,384 in norms; a table 128,256 x 8192;
 * at 4096 tokens a layer's forward pass takes 2 x 855,654,400 + 67,108,864 FLOPs a token (1.778e9), logits 2.101e9, the
 * same as 1.18 layers. */
#include "cost/stage/stage_totals.h"
#include "tests/cost/workbench.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static Bench staged(double stages, double layers, double layers_last) {
    Bench bench = bench_of(llama3_70b(), 1, 4096);
    bench.shard.vocab = 128256;
    bench.shard.pipeline = stages, bench.shard.layers = layers, bench.shard.layers_last = layers_last;
    bench.shard.microbatches = 16;
    return bench;
}

Test(stage, pace) {
    const double layer = 2 * 855654400. + 67108864, head = 2 * 128256. * 8192;
    const struct {
        const char *name;
        double stages, layers, layers_last;
        Schedule schedule;
        int64_t chunks;
        double paced, ratio;
        bool embedding, logits;
    } rows[] = {
        {"one stage", 1, 80, 80, SCHEDULE_NONE, 1, 80, 0, true, true},
        {"equal stages: logits make the last one slower", 4, 20, 20, SCHEDULE_1F1B, 1, 20,
         60 * layer / (20 * layer + head), false, true},
        {"in two chunks, half the bubble", 4, 20, 20, SCHEDULE_INTERLEAVED, 2, 20, 60 * layer / (20 * layer + head) / 2,
         false, true},
        {"a layer less leaves the last slower by a fifth of one", 3, 27, 26, SCHEDULE_GPIPE, 1, 26,
         54 * layer / (26 * layer + head), false, true},
        {"two less do not", 2, 41, 39, SCHEDULE_1F1B, 1, 41, (39 * layer + head) / (41 * layer), true, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Bench bench = staged(rows[i].stages, rows[i].layers, rows[i].layers_last);
        if (rows[i].stages == 3) bench.shard.microbatches = 15;
        bench.knobs.virtual_stages = rows[i].chunks, bench.knobs.schedule = rows[i].schedule;
        CostContext setting = bench_setting(&bench);
        StagePace pace = stage_pace(&setting, &bench.shard);
        cr_expect_eq(pace.layers, rows[i].paced, "%s", rows[i].name);
        StepRule rule;
        step_rule(&setting, &bench.shard, &bench.knobs, &rule);
        for (int phase = 0; phase < PHASE_COUNT; phase++)
            cr_expect_float_eq(rule.bubble[phase], rows[i].ratio, 1e-12, "%s: %.12g, not %.12g", rows[i].name,
                               rule.bubble[phase], rows[i].ratio);
        cr_expect_eq(pace.embedding, rows[i].embedding, "%s", rows[i].name);
        cr_expect_eq(pace.logits, rows[i].logits, "%s", rows[i].name);
    }
}

/* What each stage computes over the fullest one. The last has a number of its own; what the others' equal numbers leave
 * over goes to those behind, a layer each. Slots take the embedding's from the first and the logits' from the last. */
Test(stage, shares) {
    const double layer = 2 * 855654400. + 67108864, head = 2 * 128256. * 8192;
    const struct {
        const char *name;
        int64_t stages;
        double slots_first, fullest, layers[6];
    } rows[] = {
        {"equal", 4, 0, 20, {20, 20, 20, 20}},
        {"a layer less on the last", 3, 0, 27, {27, 27, 26}},
        {"two of four others have one more", 5, 0, 17, {16, 16, 17, 17, 14}},
        {"three of five have one more", 6, 0, 14, {13, 13, 14, 14, 14, 12}},
        {"41 slots, the first and last of which are tables", 2, 1, 41, {40, 40}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        int64_t last = rows[i].stages - 1;
        Bench bench = staged((double)rows[i].stages, rows[i].fullest, rows[i].layers[last]);
        bench.shard.slots_first = rows[i].slots_first;
        bench.knobs.schedule = SCHEDULE_1F1B;
        CostContext setting = bench_setting(&bench);
        double most = fmax(rows[i].fullest * layer, rows[i].layers[last] * layer + head);
        for (int64_t stage = 0; stage <= last; stage++) {
            double share = (rows[i].layers[stage] * layer + (stage == last ? head : 0)) / most;
            double found = stage_share(&setting, &bench.shard, &bench.knobs, stage);
            cr_expect_float_eq(found, share, 1e-12, "%s, stage %d: %.12g, not %.12g", rows[i].name, (int)stage, found,
                               share);
        }
    }
    Bench alone = staged(1, 80, 80);
    CostContext setting = bench_setting(&alone);
    cr_expect_eq(stage_share(&setting, &alone.shard, &alone.knobs, 0), 1);
}

/* bf16 bytes that fsdp gathers in one forward pass of the stage that sets the pace, and in how many messages. */
Test(stage, gathers) {
    const double layer = 855638016 + 16384, table = 128256. * 8192, norm = 8192;
    const struct {
        const char *name;
        double stages, layers, layers_last;
        bool tied;
        double messages, weights;
    } rows[] = {
        {"one stage: both tables", 1, 80, 80, false, 82, 80 * layer + 2 * table + norm},
        {"tied: one", 1, 80, 80, true, 81, 80 * layer + table + norm},
        {"the last of four: logits", 4, 20, 20, false, 21, 20 * layer + table + norm},
        {"the last of four, tied: its own copy", 4, 20, 20, true, 21, 20 * layer + table + norm},
        {"the first of two: the embedding", 2, 41, 39, false, 42, 41 * layer + table},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Bench bench = staged(rows[i].stages, rows[i].layers, rows[i].layers_last);
        bench.model.tied = rows[i].tied;
        bench.shard.fsdp = 8;
        Resources resources = bench_resources(&bench);
        cr_expect_eq(resources.of[res_messages(GROUP_WEIGHTS, PHASE_FORWARD)], rows[i].messages, "%s", rows[i].name);
        cr_expect_eq(resources.of[res_bytes(GROUP_WEIGHTS, PHASE_FORWARD)], 2 * rows[i].weights, "%s", rows[i].name);
        cr_expect_eq(resources.of[res_bytes(GROUP_WEIGHTS, PHASE_BACKWARD)], 4 * rows[i].weights, "%s", rows[i].name);
    }
}

/* Layers of two kinds count by their number: 3 dense of 2 x 3 x 4096 x 14336 x 1000 FLOPs forward, 1 with 2 of 8
 * experts of half that width each. */
Test(stage, mean_layer) {
    Model model = dense_model(4, 4096, 14336, 32, 8, 128, 1);
    model.kind_count = 2;
    model.kinds[0].count = 3;
    model.kinds[1] = model.kinds[0];
    model.kinds[1].count = 1, model.kinds[1].d_ff = 0;
    model.kinds[1].experts = 8, model.kinds[1].top_k = 2, model.kinds[1].d_ff_expert = 14336 / 4;
    Bench bench = bench_of(model, 1, 1000);
    bench.shard.experts = 8, bench.shard.d_ff_expert = 14336 / 4;
    CostContext setting = bench_setting(&bench);
    StageTotals sums;
    stage_sums(&setting, &bench.shard, &bench.knobs.methods, &bench.sharding, &sums);
    double mlp = 2 * 3. * 4096 * 14336 * 1000, attention = 2 * 4096. * 128 * 80 * 1000, router = 2 * 4096. * 8 * 1000;
    double expected = attention + (3 * mlp + mlp / 2 + router) / 4;
    cr_expect_float_eq(sums.layer.compute[PHASE_FORWARD], expected, 1e-12 * expected);
    cr_expect_float_eq(sums.layer.expert_weights, 8 * 3. * 4096 * (14336 / 4) / 4, 1e-3);
    cr_expect_float_eq(sums.layer.dense_weights, 4096. * 128 * 80 + 2 * 4096 + (3 * 3. * 4096 * 14336 + 8 * 4096) / 4,
                       1e-3);
}

/* Weights that the layout gathers over tensor stand in memory whole: the MLP's 3DF, two layers of them and a
 * gradient. */
Test(stage, weights_gathered_over_tensor) {
    Bench bench = staged(1, 80, 80);
    bench_split(&bench, 1024, 1, 4);
    bench.sharding.mlp = MLP_GATHERED;
    CostContext setting = bench_setting(&bench);
    MemoryRows rows;
    memory_rows(&(ShardedStage){&setting, &bench.shard, &bench.knobs, &bench.sharding}, MOMENT_FIRST_BACKWARD, 0,
                &rows);
    cr_expect_float_eq(rows.gathered_bytes, 3 * 2 * 704643072., 1e-3, "%.12g", rows.gathered_bytes);
}

/* They are gathered for forward and again for backward, and their gradient is scattered: three passes a layer; two
 * where they are kept, as their memory says. */
Test(stage, weights_kept_over_tensor) {
    for (int regather = 0; regather < 2; regather++) {
        Bench bench = staged(1, 80, 80);
        bench_split(&bench, 1024, 1, 4);
        bench.sharding.mlp = MLP_GATHERED;
        bench.knobs.regather = regather;
        CostContext setting = bench_setting(&bench);
        Resources resources;
        stage_resources(&setting, &bench.shard, &bench.knobs, &bench.sharding, &resources);
        double forward = resources.of[res_bytes(GROUP_TENSOR_WEIGHTS, PHASE_FORWARD)];
        double backward = resources.of[res_bytes(GROUP_TENSOR_WEIGHTS, PHASE_BACKWARD)];
        cr_expect_float_eq(forward, 80 * 2 * 704643072., 1, "%.12g", forward);
        cr_expect_float_eq(backward, (1 + regather) * forward, 1, "%.12g, regather %d", backward, regather);
        cr_expect_float_eq(resources.of[res_messages(GROUP_TENSOR_WEIGHTS, PHASE_BACKWARD)],
                           (1 + regather) * resources.of[res_messages(GROUP_TENSOR_WEIGHTS, PHASE_FORWARD)], 1e-9);
    }
}

/* One layer at work in backward: all that it saves, gradients of the wider of its two blocks' inner tensors, and of the
 * stream; with logits in place, two streams of the chip and the gathered one. T = 4096, 8 ways along the sequence. */
Test(stage, transient) {
    const double T = 4096, D = 8192, F = 28672, t = 8, stream = 2 * T * D / t;
    double mlp = 6 * T * F / t, attention = 2 * T * 80 * 128 / t + (2 * T * 8192 + 4 * T * 64) / t,
           saved = 2 * stream + 4 * T * D + mlp + attention;
    const struct {
        const char *name;
        int64_t d_ff;
        Moment moment;
        double expected;
    } rows[] = {
        {"the MLP is wider", 28672, MOMENT_FIRST_BACKWARD, saved + mlp + stream},
        {"the same on the last stage", 28672, MOMENT_LAST_BACKWARD, saved + mlp + stream},
        {"and when all is done", 28672, MOMENT_UPDATE, saved + mlp + stream},
        {"attention is wider", 8, MOMENT_FIRST_BACKWARD, saved - mlp + 6 * T * 8 / t + attention + stream},
        {"logits", 28672, MOMENT_LAST_LOGITS, 2 * stream + 2 * T * D},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Bench bench = staged(1, 80, 80);
        bench.model.kinds[0].d_ff = rows[i].d_ff;
        bench_split(&bench, T / t, 1, t);
        CostContext setting = bench_setting(&bench);
        MemoryRows found;
        memory_rows(&(ShardedStage){&setting, &bench.shard, &bench.knobs, &bench.sharding}, rows[i].moment, 0, &found);
        cr_expect_float_eq(found.transient_bytes, rows[i].expected, 1e-3, "%s: %.12g, not %.12g", rows[i].name,
                           found.transient_bytes, rows[i].expected);
    }
}

/* The host's launches are the least that a layer's compute takes: of 3 s a forward pass gets 1 and a backward pass 2,
 * on each of 20 layers; each further tensor rank adds 0.6 s in a pipeline of 4 x 2 chips on domains of 4, and none
 * where the domain holds them all. A message between stages of 0.5 s is waited for half in each pass. */
Test(stage, launches_are_the_least) {
    const struct {
        const char *name;
        double host, tensor, message;
        int64_t domain;
        double forward, backward;
    } rows[] = {
        {"the host alone", 3, 0, 0, 4, 20, 40},
        {"ranks of a far pipeline", 3, 0.6, 0, 4, 24, 48},
        {"in one domain", 3, 0.6, 0, 8, 20, 40},
        {"messages too", 3, 0, 0.5, 4, 20.25, 40.25},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Profile profile = IDEAL;
        Bench bench = staged(4, 20, 20);
        Resources plain, found;
        bench.chip.domain_chips = rows[i].domain;
        bench.chip.bf16_flops_per_second.value = bench.chip.hbm_bytes_per_second.value = 1e18;
        bench.shard.tensor = 2;
        CostContext setting = bench_setting(&bench);
        setting.profile = &profile;
        stage_resources(&setting, &bench.shard, &bench.knobs, &bench.sharding, &plain);
        double attention[] = {plain.of[RES_ATTENTION_FORWARD], plain.of[RES_ATTENTION_BACKWARD]};
        profile.host_layer_seconds = rows[i].host, profile.host_tensor_seconds = rows[i].tensor,
        profile.stage_message_seconds = rows[i].message;
        stage_resources(&setting, &bench.shard, &bench.knobs, &bench.sharding, &found);
        StagePace pace = stage_pace(&setting, &bench.shard);
        cr_expect_eq(pace.layers, 20);
        /* beside the layers the stage has logits, which their own compute takes */
        Bench lone = bench;
        double logits[PHASE_COUNT];
        StageTotals sums;
        stage_sums(&setting, &lone.shard, &lone.knobs.methods, &lone.sharding, &sums);
        for (int phase = 0; phase < PHASE_COUNT; phase++) logits[phase] = pace.logits ? sums.logits.compute[phase] : 0;
        cr_expect_float_eq(found.of[RES_COMPUTE_FORWARD] + attention[0] - logits[0], rows[i].forward, 1e-9, "%s: %g",
                           rows[i].name, found.of[RES_COMPUTE_FORWARD] + attention[0] - logits[0]);
        cr_expect_float_eq(found.of[RES_COMPUTE_BACKWARD] + attention[1] - logits[1], rows[i].backward, 1e-9, "%s: %g",
                           rows[i].name, found.of[RES_COMPUTE_BACKWARD] + attention[1] - logits[1]);
    }
}

Test(stage, rule_of_a_profile) {
    Profile profile = IDEAL;
    profile.tensor_exposed = 0.1, profile.expert_exposed = 0.2, profile.sequence_exposed = 0.3,
    profile.pipeline_exposed = 0.4;
    profile.fsdp_exposed = 0.5, profile.data_exposed = 0.6, profile.ring_attention_exposed = 0.7;
    profile.layer_seconds = 1e-3, profile.microbatch_seconds = 1e-2, profile.step_overhead_seconds = 0.1,
    profile.hbm_efficiency = 0.5;
    profile.pcie_efficiency = 0.8, profile.host_exposed = 0.05;
    for (int context = CONTEXT_RING; context < CONTEXT_COUNT; context++) {
        bool ring = context == CONTEXT_RING || context == CONTEXT_ULYSSES_RING;
        Bench bench = staged(4, 20, 20);
        bench.chip.hbm_bytes_per_second.value = 1e12, bench.chip.hbm_bytes.value = 100e9,
        bench.chip.pcie_bytes_per_second.value = 1e10, bench.chip.host_bytes.value = 1e12;
        bench.shard.sequence = 2, bench.knobs.methods.context = (ContextMethod)context;
        CostContext setting = bench_setting(&bench);
        setting.profile = &profile, setting.hbm_reserve = 0.08;
        StepRule rule;
        step_rule(&setting, &bench.shard, &bench.knobs, &rule);
        const double expected[GROUP_COUNT] = {[GROUP_TENSOR] = 0.1,
                                              [GROUP_EXPERT_TENSOR] = 0.1,
                                              [GROUP_EXPERT] = 0.2,
                                              [GROUP_ULYSSES] = 0.3,
                                              [GROUP_SEQUENCE] = ring ? 0.7 : 0.3,
                                              [GROUP_PIPELINE] = 0.4,
                                              [GROUP_WEIGHTS] = 0.5,
                                              [GROUP_EXPERT_WEIGHTS] = 0.5,
                                              [GROUP_TENSOR_WEIGHTS] = 0.5,
                                              [GROUP_DATA] = 0.6,
                                              [GROUP_EXPERT_DATA] = 0.6};
        for (int group = 0; group < GROUP_COUNT; group++)
            cr_expect_eq(rule.exposed[group], expected[group], "group %d", group);
        cr_expect_eq(rule.ring, ring);
        cr_expect_eq(rule.microbatches, 16);
        cr_expect_float_eq(rule.other_seconds, 0.1 + 16 * (1e-2 + 20 * 1e-3), 1e-12);
        cr_expect_float_eq(rule.host_exposed, 0.05, 1e-12);
        /* A third of the step is forward, in which all that leaves has to leave: 2/3 of the rate, out and back added,
         * and no schedule, and no number of stages, has more. */
        for (int stages = 1; stages <= 4; stages *= 4)
            for (Schedule schedule = SCHEDULE_GPIPE; schedule < SCHEDULE_COUNT; schedule++) {
                Knobs other = bench.knobs;
                StepRule same;
                other.schedule = schedule, bench.shard.pipeline = stages;
                step_rule(&setting, &bench.shard, &other, &same);
                cr_expect_float_eq(same.offload_bytes_per_second, 8e9 * 2 / 3, 1e-3, "%s, %d stages",
                                   schedule_name(schedule), stages);
            }
        cr_expect_float_eq(rule.memory_limit_bytes, 92e9, 1e-3);
        /* The first stage's half: 20 layers and the embedding over 2 context ways, 30 bytes each at half of 1e12. */
        double updated = (20 * (855638016. + 16384) + 128256. * 8192) / 2 / 5e11;
        cr_expect_float_eq(rule.optimizer_seconds, 30 * updated, 1e-9);
        /* Of one microbatch the gradient that the update reads is the bf16 one that is kept, 2 bytes and not 4. */
        bench.shard.pipeline = 2, bench.shard.microbatches = 1;
        step_rule(&setting, &bench.shard, &bench.knobs, &rule);
        cr_expect_float_eq(rule.optimizer_seconds, 28 * updated, 1e-9);
    }
}

/* Of FSDP's traffic the exposed share grows with each doubling of the ranks beyond 64, up to all of it: 16 shards of 8
 * tensor ranks span 128 of them, 32 span 256. */
Test(stage, exposure_grows_with_ranks) {
    Profile profile = IDEAL;
    profile.fsdp_exposed = 0.2, profile.data_exposed = 0.5, profile.fsdp_growth = 0.1;
    static const double ROWS[][2] = {{1, 0}, {8, 0}, {16, 0.1}, {32, 0.2}, {8 * 1024., 1}};
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Bench bench = staged(1, 20, 20);
        bench.shard.tensor = 8, bench.shard.fsdp = ROWS[i][0];
        CostContext setting = bench_setting(&bench);
        setting.profile = &profile;
        StepRule rule;
        step_rule(&setting, &bench.shard, &bench.knobs, &rule);
        cr_expect_float_eq(rule.exposed[GROUP_WEIGHTS], fmin(1, 0.2 + ROWS[i][1]), 1e-12, "%g shards", ROWS[i][0]);
        cr_expect_float_eq(rule.exposed_scale_out[GROUP_EXPERT_WEIGHTS], fmin(1, 0.5 + ROWS[i][1]), 1e-12);
        cr_expect_float_eq(rule.exposed[GROUP_TENSOR_WEIGHTS], 0.2, 1e-12);
        cr_expect_float_eq(rule.exposed[GROUP_DATA], 0.5, 1e-12);
    }
}

/* Every combination once, the default first. */
Test(stage, shardings) {
    static const struct {
        const char *name;
        double tensor, seq;
        int count;
        Sharding first;
    } rows[] = {
        {"one chip has no choice",
         1,
         4096,
         1,
         {RESIDUAL_REPLICATED, MLP_TENSOR, KV_SPLIT, TABLE_VOCABULARY, TABLE_VOCABULARY}},
        {"8 ways: (2 along + 1) x 1 x 4",
         8,
         4096,
         12,
         {RESIDUAL_SEQUENCE, MLP_TENSOR, KV_SPLIT, TABLE_VOCABULARY, TABLE_VOCABULARY}},
        {"16 ways: KV heads copied or gathered",
         16,
         4096,
         24,
         {RESIDUAL_SEQUENCE, MLP_TENSOR, KV_REPLICATED, TABLE_VOCABULARY, TABLE_VOCABULARY}},
        {"tokens that do not divide",
         8,
         4100,
         4,
         {RESIDUAL_REPLICATED, MLP_TENSOR, KV_SPLIT, TABLE_VOCABULARY, TABLE_VOCABULARY}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Bench bench = staged(1, 80, 80);
        bench_split(&bench, 512, 1, rows[i].tensor);
        bench.shard.seq = rows[i].seq;
        CostContext setting = bench_setting(&bench);
        Sharding found[SHARDINGS_MAX];
        int count = shardings_of(&setting, &bench.shard, found);
        cr_expect_eq(count, rows[i].count, "%s: %d", rows[i].name, count);
        cr_expect_eq(memcmp(&found[0], &rows[i].first, sizeof found[0]), 0, "%s", rows[i].name);
        for (int a = 0; a < count; a++)
            for (int b = 0; b < a; b++)
                cr_expect_neq(memcmp(&found[a], &found[b], sizeof found[a]), 0, "%s: %d is %d again", rows[i].name, a,
                              b);
    }
}

/* ---- weights and gradients, by stage_resources and step_rule: D, F of two matrices, P = 2DF ---- */
Test(stage, weight_traffic) {
    const double P = 2. * 8192 * 28672;
    const struct {
        const char *name;
        double fsdp, data, microbatches;
        int zero_stage;
        bool regather;
        double forward, backward; /* fsdp, one microbatch, in bytes for each parameter */
        double start, end;        /* data, one step */
    } rows[] = {
        {"fsdp: 12DF", 64, 1, 1, 0, true, 2, 4, 0, 0},
        {"fsdp, kept for backward: 8DF", 64, 1, 1, 0, false, 2, 2, 0, 0},
        {"data: all_reduce in bf16, 8DF", 1, 64, 1, 0, true, 0, 0, 0, 4},
        {"accumulated: in fp32", 1, 64, 4, 0, true, 0, 0, 0, 8},
        {"ZeRO-1: scatter, and gather the new weights", 1, 64, 1, 1, true, 0, 0, 2, 2},
        {"ZeRO-1, accumulated", 1, 64, 4, 1, true, 0, 0, 2, 4},
        {"ZeRO-2 scatters with every microbatch", 1, 64, 4, 2, true, 0, 0, 2 + 3 * 4, 4},
        {"both: replicas reduce what fsdp left them", 64, 8, 1, 0, true, 2, 4, 0, 4. / 64},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Bench bench = bench_of(book_model(8192, 28672), 1, 4096);
        bench.shard.fsdp = rows[i].fsdp, bench.shard.data = rows[i].data,
        bench.shard.microbatches = rows[i].microbatches;
        bench.knobs.zero_stage = rows[i].zero_stage, bench.knobs.regather = rows[i].regather;
        CostContext setting = bench_setting(&bench);
        Resources resources = bench_resources(&bench);
        StepRule rule;
        step_rule(&setting, &bench.shard, &bench.knobs, &rule);
        const double found[] = {resources.of[res_bytes(GROUP_WEIGHTS, PHASE_FORWARD)],
                                resources.of[res_bytes(GROUP_WEIGHTS, PHASE_BACKWARD)], rule.data_start[0].bytes,
                                rule.data_end[0].bytes};
        const double expected[] = {rows[i].forward, rows[i].backward, rows[i].start, rows[i].end};
        for (size_t j = 0; j < COUNT_OF(found); j++)
            cr_expect_float_eq(found[j] / LAYERS / P, expected[j], 1e-9, "%s: %zu is %g", rows[i].name, j,
                               found[j] / LAYERS / P);
    }
}

/* ---- pipeline ---- */

/* Share of compute and bubble together that is bubble: (p - 1) / (v m + p - 1). Equal stages, no vocabulary. A last
 * group of 4 microbatches on 8 stages with 4 chunks waits 4 slots in each of 3 rounds more: (7 + 12) / 4 of a
 * microbatch. */
Test(stage, pipeline) {
    static const struct {
        const char *name;
        double stages, microbatches;
        Schedule schedule;
        int64_t chunks;
        double expected;
    } rows[] = {
        {"one stage", 1, 32, SCHEDULE_NONE, 1, 0},
        {"D08", 8, 32, SCHEDULE_1F1B, 1, 7. / 39},
        {"a microbatch per stage", 8, 8, SCHEDULE_1F1B, 1, 7. / 15},
        {"interleaved", 8, 32, SCHEDULE_INTERLEAVED, 4, 7. / 135},
        {"one microbatch gains nothing", 4, 1, SCHEDULE_INTERLEAVED, 8, 3. / 4},
        {"half a group at the end", 8, 12, SCHEDULE_INTERLEAVED, 4, 4.75 / 16.75},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Model model = book_model(8192, 28672);
        model.layers = model.kinds[0].count = 16000 * (int64_t)rows[i].stages;
        Bench bench = bench_of(model, 1e15, 4096);
        bench_split(&bench, 1024, 1, 4);
        bench.shard.pipeline = rows[i].stages, bench.shard.microbatches = rows[i].microbatches;
        bench.shard.layers = bench.shard.layers_last = 16000;
        bench.knobs.virtual_stages = rows[i].chunks, bench.knobs.schedule = rows[i].schedule;
        CostContext setting = bench_setting(&bench);
        Resources resources = bench_resources(&bench);
        StepRule rule;
        StepTime time;
        step_rule(&setting, &bench.shard, &bench.knobs, &rule);
        step_time(&rule, &resources, &bench.rates, &time);
        double share = time.bubble_seconds / (time.bubble_seconds + time.compute_seconds);
        cr_expect_float_eq(share, rows[i].expected, 1e-6, "%s: %.9g", rows[i].name, share);
        /* A chunk's boundary: the chip's part of the stream, 2 T/t D bytes each way. */
        double boundary = rows[i].stages > 1 ? (double)rows[i].chunks * 2 * 1024 * 8192 : 0;
        for (int phase = 0; phase < PHASE_COUNT; phase++)
            cr_expect_float_eq(resources.of[res_bytes(GROUP_PIPELINE, (Phase)phase)], boundary, 1e-3, "%s",
                               rows[i].name);
    }
}

/* Where no byte takes time FLOPs weigh the same in `ideal`, but for attention's, whose backward is 2.5 forwards, of
 * which 2 count. With plain matmuls, the router's too, at 0.8, the blocks' in fp8 at 1.2 of the bf16 peak, experts at
 * half of that and attention at 0.4 forward and 0.2 backward, by hand: a layer of 4 d^2 + experts of 2 x 3 d f, as many
 * on a chip as a token meets, so that half of what groups cost is there, and a full square of d x seq / 2 keys. A
 * layer's fixed seconds count too, and a host that launches slower. */
Test(stage, layers_against_logits) {
    Bench bench = {.model = {.layers = 4, .d_model = 64, .vocab = 1000, .kind_count = 1},
                   .chip = bench_chip(1e12, 1e30)};
    bench.model.kinds[0] = (LayerKind){.count = 4,
                                       .heads = 4,
                                       .kv_heads = 4,
                                       .head_dim = 16,
                                       .gated = true,
                                       .experts = 8,
                                       .top_k = 2,
                                       .d_ff_expert = 32};
    CostContext setting = {.model = &bench.model, .chip = &bench.chip, .profile = &IDEAL};
    double d = 64, router = 2 * d * 8, dense = 2 * 4 * d * d, experts = 2 * 2 * 3 * d * 32, attention = 4 * 128 * d,
           flops = router + dense + experts + attention, weight = stage_layer_weight(&setting, 256);
    cr_expect_float_eq(weight, (flops + attention * 0.5 / 3) / flops, 1e-9, "%.12g", weight);
    Profile profile = IDEAL;
    profile.matrix_efficiency = 0.8, profile.linear_efficiency = 1.2, profile.grouped_efficiency = 0.5;
    profile.attention_efficiency = 0.4, profile.attention_backward_rate = 0.5;
    setting.profile = &profile;
    double seconds = router / 0.8 + dense / 1.2 + experts / 0.8 + attention * (1 + 2.5 / 0.5) / 3 / 0.4,
           all = flops / 0.8;
    weight = stage_layer_weight(&setting, 256);
    cr_expect_float_eq(weight, seconds / all, 1e-9, "%.12g, not %.12g", weight, seconds / all);
    double once = 3 * 256 / 1e12; /* forward and backward of a FLOP of each token */
    profile.layer_seconds = 0.25 * once * all, profile.expert_layer_seconds = 0.5 * once * all;
    weight = stage_layer_weight(&setting, 256);
    cr_expect_float_eq(weight, seconds / all + 0.75, 1e-9, "%.12g", weight);
    profile.host_layer_seconds = 3 * once * all;
    weight = stage_layer_weight(&setting, 256);
    cr_expect_float_eq(weight, 3.75, 1e-9, "%.12g", weight);
}
