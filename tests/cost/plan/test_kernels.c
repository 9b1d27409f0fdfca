/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Seconds of the ops of real layers under a profile: attention fused and not, matmuls of fewer bits with their casts,
 * grouped matmuls and dispatch. test_roofline.c has the plain ones. All numbers are worked out by hand, on a chip of
 * 1e15 FLOP/s and 4e12 B/s. */
#include "tests/cost/workbench.h"

#include <criterion/criterion.h>
#include <string.h>

static const double PEAK = 1e15, HBM = 4e12;

static Chip kernel_chip(void) {
    Chip chip = bench_chip(PEAK, HBM);
    chip.fp8_flops_per_second.value = chip.int8_ops_per_second.value = 2 * PEAK;
    chip.fp4_flops_per_second.value = 5 * PEAK;
    return chip;
}

/* The op of that name in the model's first kind of layer; tokens of one sequence. */
static Op op_named(const Bench *bench, const char *name, double imbalance) {
    Op ops[OPS_MAX];
    int count = ops_of_layer(&(ShardedLayer){&bench->model, &bench->model.kinds[0], &bench->shard, &bench->sharding},
                             &bench->knobs.methods, imbalance, ops);
    for (int i = 0; i < count; i++)
        if (strcmp(ops[i].name, name) == 0) return ops[i];
    cr_assert_fail("no %s", name);
    return ops[0];
}

static double seconds_of(const Op *op, Phase phase, const Profile *profile) {
    Chip chip = kernel_chip();
    bool memory_bound;
    return op_seconds(op, phase, &chip, profile, &memory_bound);
}

/* ---- attention ---- */

/* Flash: 2 matmuls forward, 5 back (dQ, dK, dV, dP and the scores again), over half of the square; a window of W leaves
 * of s keys W - W^2 / 2s in the mean (the first W queries see fewer). Latent attention: keys 192 wide, values 128. */
Test(kernels, flash_attention) {
    const double s = 8192;
    Model gqa = dense_model(1, 4096, 14336, 32, 8, 128, 1), windowed = gqa, latent = gqa;
    windowed.kinds[0].window = 1024;
    latent.kinds[0].attention = ATTENTION_LATENT;
    latent.kinds[0].kv_heads = 32, latent.kinds[0].q_lora_rank = 1536, latent.kinds[0].kv_lora_rank = 512;
    latent.kinds[0].qk_nope_head_dim = 128, latent.kinds[0].qk_rope_head_dim = 64, latent.kinds[0].v_head_dim = 128;
    const struct {
        const char *name;
        const Model *model;
        double forward; /* FLOPs */
    } rows[] = {
        {"causal half, whatever the number of key heads", &gqa, 2 * s * (s / 2) * 32 * (128 + 128)},
        {"window of 1024: 960 keys", &windowed, 2 * s * 960 * 32 * (128 + 128)},
        {"latent: 192 and 128 wide", &latent, 2 * s * (s / 2) * 32 * (192 + 128)},
    };
    Profile profile = IDEAL;
    profile.attention_efficiency = 0.5, profile.attention_factor = 0.8, profile.attention_backward_rate = 0.7;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Bench bench = bench_of(*rows[i].model, PEAK, s);
        Op op = op_named(&bench, "attention", 1);
        double forward = rows[i].forward / (PEAK * 0.5 * 0.8), backward = 2.5 * forward / 0.7;
        cr_expect_float_eq(seconds_of(&op, PHASE_FORWARD, &profile), forward, 1e-9 * forward, "%s", rows[i].name);
        cr_expect_float_eq(seconds_of(&op, PHASE_BACKWARD, &profile), backward, 1e-9 * backward, "%s", rows[i].name);
        cr_expect_eq(op_saved_bytes(&op, &profile), op.saved_bytes, "%s: no scores are kept", rows[i].name);
    }
}

/* Unfused, kernel by kernel, bytes a score of the whole square. Forward: scores out 2; softmax in 2, out 2; dropout in
 * 2, out 2, its mask 1; into the values 2: 13. Backward: dropped probabilities into dV 2; their gradient out 2; dropout
 * in 2, mask 1, out 2; softmax in 2 + 2, out 2; into dQ 2 and into dK 2: 19. The matmuls: 2 x 2 s^2 d a head, twice
 * that back. Kept: probabilities 2, what dropout leaves 2, mask 1 (Korthikanti et al. 2022, section 4.1: 5 a s^2 b). */
Test(kernels, unfused_attention) {
    const double s = 2048, heads = 16, width = 96, square = s * s * heads;
    Profile profile = IDEAL;
    profile.unfused_attention = 1, profile.matrix_efficiency = 0.8, profile.hbm_efficiency = 0.5;
    profile.score_traffic = 0.25, profile.unaligned_attention_rate = 0.1;
    for (int narrow = 0; narrow < 2; narrow++) {
        double d = narrow ? 90 : width; /* this is not a multiple of 8: off the matrix units */
        Bench bench = bench_of(dense_model(1, 1536, 6144, 16, 16, (int64_t)d, 1), PEAK, s);
        Op op = op_named(&bench, "attention", 1);
        double matmul = 4 * square * d / (PEAK * 0.8 * 0.6) / (narrow ? 0.1 : 1), stream = HBM * 0.5 / 0.25;
        double forward = matmul + 13 * square / stream, backward = 2 * matmul + 19 * square / stream;
        cr_expect_float_eq(seconds_of(&op, PHASE_FORWARD, &profile), forward, 1e-9 * forward, "%g wide: %g, not %g", d,
                           seconds_of(&op, PHASE_FORWARD, &profile), forward);
        cr_expect_float_eq(seconds_of(&op, PHASE_BACKWARD, &profile), backward, 1e-9 * backward, "%g wide: %g, not %g",
                           d, seconds_of(&op, PHASE_BACKWARD, &profile), backward);
        cr_expect_float_eq(op_saved_bytes(&op, &profile) - op.saved_bytes, 5 * square, 1e-3);
    }
}

/* ---- fewer bits ---- */

/* Each precision has a peak and an efficiency of its own; operand traffic is counted against its own peak. Casts: every
 * operand is read in bf16 and written twice, as it lies and transposed: 2 + 2 x 1 bytes of 8 bits, 2 + 2 x 1/2 of 4.
 * Forward casts the input and the weights, backward the output's gradient. */
Test(kernels, precisions) {
    static const struct {
        const char *name;
        Precision precision;
        double peak, efficiency, cast_bytes; /* peak: over bf16's */
    } rows[] = {
        {"bf16: nothing is cast", PRECISION_BF16, 1, 0.8, 0},
        {"fp8, a scale a tensor or row", PRECISION_FP8, 2, 0.7, 4},
        {"mxfp8, a scale for each 32", PRECISION_MXFP8, 2, 0.6, 4},
        {"nvfp4", PRECISION_NVFP4, 5, 0.5, 3},
        {"int8", PRECISION_INT8, 2, 0.75, 4},
    };
    Profile profile = IDEAL;
    profile.matrix_efficiency = 0.8, profile.fp8_efficiency = 0.7, profile.mxfp8_efficiency = 0.6;
    profile.nvfp4_efficiency = 0.5, profile.int8_efficiency = 0.75;
    profile.matmul_traffic = 1.4, profile.cast_traffic = 0.4, profile.hbm_efficiency = 0.9,
    profile.compute_factor = 1.1;
    const double M = 8192, K = 4096, N = 2 * 14336, flops = 2 * M * N * K;
    Bench bench = bench_of(dense_model(1, 4096, 14336, 32, 8, 128, 1), PEAK, M);
    Chip chip = kernel_chip();
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Profile made = profile_in_precision(&profile, &chip, rows[i].precision);
        Op op = op_named(&bench, "mlp gate and up", 1);
        double peak = rows[i].peak * PEAK, rate = peak * rows[i].efficiency * 1.1;
        double traffic = 1 + 1.4 * peak / HBM * (1 / M + 1 / N + 1 / K);
        double casts[PHASE_COUNT] = {rows[i].cast_bytes * (M * K + K * N), rows[i].cast_bytes * M * N};
        for (int phase = 0; phase < PHASE_COUNT; phase++) {
            double expected = (phase + 1) * flops / rate * traffic + 0.4 * casts[phase] / (HBM * 0.9);
            double found = seconds_of(&op, (Phase)phase, &made);
            cr_expect_float_eq(found, expected, 1e-9 * expected, "%s: %.9g, not %.9g", rows[i].name, found, expected);
        }
    }
}

/* Only linear layers use fewer bits: router, logits and attention stay bf16. */
Test(kernels, what_stays_bf16) {
    Model model = dense_model(1, 4096, 0, 32, 8, 128, 32000);
    model.kinds[0].experts = 8, model.kinds[0].top_k = 2, model.kinds[0].d_ff_expert = 14336;
    Bench bench = bench_of(model, PEAK, 1024);
    Op ops[2 * OPS_MAX];
    int count = ops_of_layer(&(ShardedLayer){&bench.model, &bench.model.kinds[0], &bench.shard, &bench.sharding},
                             &bench.knobs.methods, 1, ops);
    count += ops_of_logits(&bench.model, &bench.shard, &bench.sharding, NULL, ops + count);
    int low = 0;
    for (int i = 0; i < count; i++) {
        bool block = strstr(ops[i].name, "projection") || strstr(ops[i].name, "attention output") ||
                     strstr(ops[i].name, "expert gate and up") || strstr(ops[i].name, "expert down");
        cr_expect_eq(ops[i].runs_in_precision, block, "%s", ops[i].name);
        low += ops[i].runs_in_precision;
    }
    cr_expect_eq(low, 4);
}

/* ---- experts ---- */

/* 4096 tokens to 2 of 8 experts each, all on this chip: groups of 1024. They lose seven eighths of the loss of many
 * groups; a software's factor comes on top, which never takes them past the peak; biases and a clamped activation by a
 * factor of their own. */
Test(kernels, grouped_matmuls) {
    Model model = dense_model(1, 4096, 0, 32, 8, 128, 1);
    model.kinds[0].experts = 8, model.kinds[0].top_k = 2, model.kinds[0].d_ff_expert = 1792;
    const double flops = 2. * 4096 * 2 * 4096 * 2 * 1792;
    for (int biased = 0; biased < 2; biased++) {
        model.kinds[0].expert_bias = biased;
        Bench bench = bench_of(model, PEAK, 4096);
        Op op = op_named(&bench, "expert gate and up", 1);
        cr_expect_eq(op.m, 1024);
        Profile profile = IDEAL;
        profile.matrix_efficiency = profile.linear_efficiency = 0.75, profile.grouped_efficiency = 0.8,
        profile.grouped_factor = 0.9, profile.biased_expert_efficiency = 0.4;
        double many = 0.8 * 0.9, rate = 1 / (1 + (1 / many - 1) * 7 / 8) * 0.75 * (biased ? 0.4 : 1);
        double found = seconds_of(&op, PHASE_FORWARD, &profile);
        cr_expect_float_eq(found, flops / PEAK / rate, 1e-9 * found, "%d: %.9g, not %.9g", biased, found,
                           flops / PEAK / rate);
    }
    Chip chip = kernel_chip();
    Profile fast = IDEAL;
    fast.matrix_efficiency = 0.8, fast.grouped_efficiency = 0.9, fast.grouped_factor = 2;
    Profile made = profile_in_precision(&fast, &chip, PRECISION_BF16);
    cr_expect_float_eq(made.linear_efficiency * made.grouped_efficiency * made.grouped_factor, 1, 1e-12,
                       "the peak is the most");
}

/* Capacity pads every expert to factor x mean, whatever the router does; without a capacity the busiest expert is
 * fuller than the mean by the imbalance, and the others wait for it. Routed FLOPs, dispatched bytes and the experts'
 * saved activations grow by it; the shared expert and the router do not. DeepSeek-like: top 8 of 64 on 8 ways, 8 here,
 * a shared expert of one width. */
Test(kernels, imbalance_and_capacity) {
    static const struct {
        const char *name;
        double imbalance, capacity, load;
    } rows[] = {{"balanced", 1, 0, 1},
                {"dropless, the busiest 1.5 x the mean", 1.5, 0, 1.5},
                {"capacity 1.25", 1.5, 1.25, 1.25}};
    const double T = 1024, D = 4096, F = 1408;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Model model = dense_model(1, 4096, 0, 32, 8, 128, 1);
        model.kinds[0].experts = 64, model.kinds[0].top_k = 8,
        model.kinds[0].d_ff_expert = model.kinds[0].d_ff_shared = 1408;
        model.training.capacity_factor = rows[i].capacity;
        Bench bench = bench_of(model, PEAK, T);
        bench.shard.expert = 8, bench.shard.experts = 8;
        Profile profile = IDEAL;
        profile.expert_imbalance = rows[i].imbalance;
        CostContext setting = bench_setting(&bench);
        setting.profile = &profile;
        double load = cost_context_imbalance(&setting);
        cr_expect_eq(load, rows[i].load, "%s", rows[i].name);
        Op up = op_named(&bench, "expert gate and up", load), shared = op_named(&bench, "mlp gate and up", load),
           dispatch = op_named(&bench, "expert dispatch", load), router = op_named(&bench, "router", load);
        cr_expect_float_eq(up.flops[0], 2 * T * 8 * load * D * 2 * F, 1, "%s", rows[i].name);
        cr_expect_float_eq(up.m, T * 8 * load / 8, 1e-9, "%s: tokens of one expert", rows[i].name);
        cr_expect_float_eq(shared.flops[0], 2 * T * D * 2 * F, 1, "%s", rows[i].name);
        cr_expect_float_eq(router.flops[0], 2 * T * D * 64, 1, "%s", rows[i].name);
        cr_expect_float_eq(dispatch.traffic[GROUP_EXPERT][0].bytes, 2 * T * 8 * load * D * 8, 1, "%s", rows[i].name);
        cr_expect_float_eq(dispatch.saved_bytes, 2 * T * 8 * load * D, 1, "%s", rows[i].name);
    }
}

/* Permutation in software takes a fixed time for each byte of routed tokens and layer, a quarter of it in each of
 * dispatch and combine, forward and backward; the ops also have their own traffic, in and out. It is 33 ps a byte
 * (plain all_to_all dispatchers of 2025; docs/model.md, "Profiles"). */
Test(kernels, dispatchers) {
    Model model = dense_model(1, 4096, 0, 32, 8, 128, 1);
    model.kinds[0].experts = 64, model.kinds[0].top_k = 8, model.kinds[0].d_ff_expert = 1408;
    Bench bench = bench_of(model, PEAK, 1024);
    const double payload = 2 * 1024. * 8 * 4096;
    Profile profile = IDEAL;
    profile.elementwise_traffic = 0.5, profile.dispatch_seconds_per_byte = 33e-12;
    double seconds = 0;
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        Op dispatch = op_named(&bench, "expert dispatch", 1), combine = op_named(&bench, "expert combine", 1);
        seconds += seconds_of(&dispatch, (Phase)phase, &profile) + seconds_of(&combine, (Phase)phase, &profile);
    }
    double expected = 4 * 0.5 * 2 * payload / HBM + 33e-12 * payload;
    cr_expect_float_eq(seconds, expected, 1e-9 * expected, "%.9g, not %.9g", seconds, expected);
}
