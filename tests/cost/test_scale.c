/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The costs that grow with the machine and those that are left when the work is small: jitter, slices, ranks of the
 * optimizer, layers with experts, and steps that are nothing but latency. */
#include "tests/cost/workbench.h"

#include "cost/estimate.h"
#include "mesh/machine.h"

#include <criterion/criterion.h>

/* A step on a number of chips and slices is (1 + jitter log2(chips / 8)) (1 + loss log2(slices)) times as long,
 * whatever it is made of: compute, HBM, links, host, overheads. 512 chips of 4 slices: 1 + 6 j and 1 + 2 l. */
Test(scale, jitter_and_slices_stretch_the_step) {
    static const struct {
        const char *name;
        double chips, slices, doublings, slice_doublings;
    } rows[] = {{"one node", 8, 1, 0, 0},
                {"less than a node", 2, 1, 0, 0},
                {"a node and a chip: log2(9 / 8)", 9, 1, 0.16992500144231237, 0},
                {"two slices of one chip", 2, 2, 0, 1},
                {"64 nodes", 512, 1, 6, 0},
                {"4 slices of 128", 512, 4, 6, 2},
                {"32 slices of 256, as MaxText's table", 8192, 32, 10, 5}};
    const double jitter = 0.004, loss = 0.03;
    Profile profile = IDEAL;
    profile.jitter = jitter, profile.slice_loss = loss;
    profile.matrix_efficiency = profile.linear_efficiency = 0.7, profile.attention_efficiency = 0.6;
    profile.hbm_efficiency = profile.network_efficiency = profile.nvlink_efficiency = 0.9;
    profile.elementwise_traffic = 0.8, profile.matmul_traffic = 1.4;
    profile.fsdp_exposed = 0.3, profile.data_exposed = 0.2;
    profile.layer_seconds = 1e-4, profile.microbatch_seconds = 1e-3, profile.step_overhead_seconds = 0.1;
    Mesh mesh = {.axes = {{"nvlink", AXIS_SWITCH, LEVEL_NVLINK, 8, 450e9, 0},
                          {"network", AXIS_SWITCH, LEVEL_NETWORK, 4, 50e9, 0}},
                 .axis_count = 2,
                 .chips = 32,
                 .devices = 32};
    Model model = llama3_70b();
    Chip chip = bench_chip(1e15, 3e12);
    Plan plan = {.degrees = {{4, 1, 1, 4, 2, 1}},
                 .placement = {{{4, 1, 1, 2, 1, 1}, {1, 1, 1, 2, 2, 1}}},
                 .knobs = {.microbatches = 2, .microbatch_sequences = 1, .virtual_stages = 1, .regather = true},
                 .layout = {.sharding = {.residual = RESIDUAL_SEQUENCE}}};
    for (int a = 0; a < ACTIVATION_COUNT; a++) plan.layout.layers[a][STATE_SAVED] = 80;
    double alone = 0;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Profile scaled = profile_at_scale(&profile, rows[i].chips, rows[i].slices);
        CostContext setting = {
            .model = &model, .chip = &chip, .profile = &scaled, .work = {16, 4096}, .precision_flops_per_second = 1e15};
        Nesting nesting = nesting_canonical();
        Estimate estimate;
        Error error = {0};
        cr_assert(estimate_plan(&setting, &(NestedMesh){&mesh, nesting}, &plan, PADDING_NONE, &estimate, &error), "%s",
                  error.text);
        if (i == 0) alone = estimate.time.seconds;
        double stretch = (1 + jitter * rows[i].doublings) * (1 + loss * rows[i].slice_doublings);
        cr_expect_float_eq(estimate.time.seconds, alone * stretch, 1e-9 * alone, "%s: %.9g, not %.9g", rows[i].name,
                           estimate.time.seconds, alone * stretch);
    }
}

/* A step also takes a fixed time for each chip that shares the optimizer's state, one after the other (InternEvo's
 * broadcasts: 2.7 ms a rank; docs/model.md, "Profiles"), only where it is shared; for each layer of the stage and
 * microbatch; and for each of the layers that have experts: 58 of DeepSeek-V3's 61. */
Test(scale, other_seconds) {
    static const struct {
        const char *name;
        int zero_stage;
        double data, context; /* a context that replicates parameters shares the state too */
        bool experts;
        double expected;
    } rows[] = {
        {"nothing is shared", 0, 128, 1, false, 0.05 + 4 * (0.01 + 61 * 1e-4)},
        {"ZeRO-1 over 128", 1, 128, 1, false, 0.05 + 128 * 0.0027 + 4 * (0.01 + 61 * 1e-4)},
        {"and over 2 context ranks", 1, 64, 2, false, 0.05 + 128 * 0.0027 + 4 * (0.01 + 61 * 1e-4)},
        {"58 layers of 61 with experts", 0, 1, 1, true, 0.05 + 4 * (0.01 + 61 * 1e-4 + 58 * 1.1e-3)},
    };
    Profile profile = IDEAL;
    profile.step_overhead_seconds = 0.05, profile.microbatch_seconds = 0.01, profile.layer_seconds = 1e-4;
    profile.rank_seconds = 0.0027, profile.expert_layer_seconds = 1.1e-3;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Bench bench = bench_of(dense_model(61, 1024, 4096, 8, 8, 128, 1), 1e15, 1024);
        if (rows[i].experts) {
            bench.model.kind_count = 2;
            bench.model.kinds[1] = bench.model.kinds[0];
            bench.model.kinds[0].count = 3, bench.model.kinds[1].count = 58;
            bench.model.kinds[1].experts = 8, bench.model.kinds[1].top_k = 1, bench.model.kinds[1].d_ff_expert = 512;
            bench.shard.experts = 8, bench.shard.d_ff_expert = 512;
        }
        bench.shard.layers = bench.shard.layers_last = 61, bench.shard.microbatches = 4;
        bench.shard.data = rows[i].data, bench.shard.sequence = rows[i].context, bench.shard.sequence_replicates = true;
        bench.knobs.zero_stage = rows[i].zero_stage, bench.knobs.methods.sequence_replicates = true;
        CostContext setting = bench_setting(&bench);
        setting.profile = &profile;
        StepRule rule;
        step_rule(&setting, &bench.shard, &bench.knobs, &rule);
        cr_expect_float_eq(rule.other_seconds, rows[i].expected, 1e-12, "%s: %.9g", rows[i].name, rule.other_seconds);
    }
}

/* A step of a few milliseconds on a node of H100: 12 layers 768 wide, 128 tokens, 8 tensor ways. NCCL's least for a
 * gather over 8 GPUs: 6.6 us and 7 steps of 0.6 = 10.8 us (mesh/collective.h; test_fabric.c has NCCL's table). There
 * are 4 a layer each way, 1 after the look-up and 1 before the logits each way, and 2 of the softmax: 12 x 8 + 4 + 2 =
 * 102 messages, which carry 128 x 768 x 2 = 197 kB each: bytes at 450 GB/s come on top, 7/8 of each. Compute is 6 x 12
 * x 12 x 768^2 x 128 / 8 FLOPs, 0.8% of the step, and is left out on an endless chip. */
Test(scale, latency_rules_small_steps) {
    Arena arena = {0};
    Error error = {0};
    Catalog catalog;
    cr_assert(catalog_load(&arena, &catalog, &error), "%s", error.text);
    const Chip *h100 = catalog_find(&catalog, "h100");
    Machine machine;
    machine_of_gpus(h100, 8, &machine);
    Chip chip = *h100;
    chip.bf16_flops_per_second.value = chip.hbm_bytes_per_second.value = NO_LIMIT;
    Model model = dense_model(12, 768, 3072, 8, 8, 96, 32000);
    model.kinds[0].gated = false;
    Profile profile = IDEAL;
    profile.layer_seconds = 8e-5, profile.step_overhead_seconds = 0.02;
    Plan plan = {.degrees = {{8, 1, 1, 1, 1, 1}},
                 .placement = {{{8, 1, 1, 1, 1, 1}}},
                 .knobs = {.microbatches = 1, .microbatch_sequences = 1, .virtual_stages = 1, .regather = true},
                 .layout = {.sharding = {.residual = RESIDUAL_SEQUENCE}}};
    for (int a = 0; a < ACTIVATION_COUNT; a++) plan.layout.layers[a][STATE_SAVED] = 12;
    CostContext setting = {
        .model = &model, .chip = &chip, .profile = &profile, .work = {1, 128}, .precision_flops_per_second = 1e15};
    Nesting nesting = nesting_canonical();
    Estimate estimate;
    cr_assert(estimate_plan(&setting, &(NestedMesh){&machine.mesh, nesting}, &plan, PADDING_NONE, &estimate, &error),
              "%s", error.text);
    double latency = 102 * 10.8e-6, bytes = (100 * 2. * 128 * 768 + 2 * 8 * 128) * 7 / 8 / 450e9;
    double waits = estimate.time.group_seconds[GROUP_TENSOR];
    cr_expect_float_eq(waits, latency + bytes, 1e-9, "%.9g s, not %.9g", waits, latency + bytes);
    cr_expect_float_eq(estimate.time.seconds, waits + 0.02 + 12 * 8e-5, 1e-9);
    cr_expect_gt(latency, 10 * bytes, "latency rules");
    cr_expect_eq(estimate.bound_by, BOUND_LATENCY, "%s", bound_name(estimate.bound_by));
    arena_free(&arena);
}

/* Hybrid sharding: 8 shards within a node, 4 replicas across. Each chip gathers all parameters twice from its 7
 * neighbours and scatters their gradient to them, and reduces its eighth over 4: of P parameters 3 x 2 P x 7/8 bytes at
 * NVLink's rate, and 2 x 2 P / 8 x 3/4 over its own NIC. Fully sharded over all 32, each chip takes 3/4 of an eighth
 * of every pass in through its NIC and spreads it over NVLink. */
Test(scale, hybrid_sharding) {
    Mesh mesh = {.axes = {{"nvlink", AXIS_SWITCH, LEVEL_NVLINK, 8, 400e9, 0},
                          {"network", AXIS_SWITCH, LEVEL_NETWORK, 4, 50e9, 0}},
                 .axis_count = 2,
                 .chips = 32,
                 .devices = 32};
    const double P = 2 * 8192. * 28672;
    static const Placement hybrid = {{{1, 1, 1, 8, 1, 1}, {1, 1, 1, 1, 4, 1}}},
                           full = {{{1, 1, 1, 8, 1, 1}, {1, 1, 1, 4, 1, 1}}};
    static const Nesting torch = {{ROLE_TENSOR, ROLE_SEQUENCE, ROLE_EXPERT, ROLE_FSDP, ROLE_DATA, ROLE_PIPELINE}};
    NestedMesh nested_mesh = {&mesh, torch};
    Methods methods = {0};
    for (int all = 0; all < 2; all++) {
        Bench bench = bench_of(book_model(8192, 28672), 1, 1024);
        bench.shard.layers = bench.shard.layers_last = 1000; /* norm and tables are then negligible */
        bench.shard.fsdp = all ? 32 : 8, bench.shard.data = all ? 1 : 4;
        CostContext setting = bench_setting(&bench);
        Resources resources = bench_resources(&bench);
        StepRule rule;
        StepTime time;
        step_rule(&setting, &bench.shard, &bench.knobs, &rule);
        rates_of_placement(&nested_mesh, all ? &full : &hybrid, &methods, &bench.rates);
        step_time(&rule, &resources, &bench.rates, &time);
        double inside = 3 * 2 * P * 7 / 8 / 400e9, across = 2 * 2 * P / 8 * 3 / 4 / 50e9;
        double shards = time.group_seconds[GROUP_WEIGHTS] / 1000, replicas = time.group_seconds[GROUP_DATA] / 1000;
        if (!all) {
            cr_expect_float_eq(shards, inside, 1e-3 * inside, "%.9g s a layer, not %.9g", shards, inside);
            cr_expect_float_eq(replicas, across, 1e-3 * across, "%.9g s a layer, not %.9g", replicas, across);
        } else {
            double nic = 3 * 2 * P / 8 * 3 / 4 / 50e9, nvlink = 3 * 2 * P * 7 / 8 / 400e9;
            cr_expect_float_eq(shards, fmax(nic, nvlink), 1e-3 * shards, "%.9g s a layer, not %.9g", shards,
                               fmax(nic, nvlink));
            cr_expect_eq(replicas, 0);
        }
    }
}
