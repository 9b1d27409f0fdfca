/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Collective matmul: matmuls in one chunk for each way of tensor, beside their collectives; the cost of the chunks, and
 * the communication that stays exposed. Also the part of dispatch that DualPipe hides. */
#include "tests/cost/workbench.h"

#include <criterion/criterion.h>
#include <string.h>

/* 70B on 8 tensor ways, 8192 tokens; 1e15 FLOP/s, 3e12 B/s, operand traffic 0.6: a matmul [M, K] x [K, N] takes
 * 2 M N K / 1e15 x (1 + 0.6 x 1e15/3e12 x (c/M + 1/N + 1/K)) in c chunks, twice that back. */
static const double FLOPS = 1e15, HBM = 3e12, TRAFFIC = 0.6, T = 8192, D = 8192;

static double matmul_by_hand(double M, double N, double K, double chunks) {
    return 2 * M * N * K / FLOPS * (1 + TRAFFIC * FLOPS / HBM * (chunks / M + 1 / N + 1 / K));
}

static Bench bench_overlap(bool overlap) {
    Bench bench = bench_of(llama3_70b(), FLOPS, T);
    bench.chip = bench_chip(FLOPS, HBM);
    bench_split(&bench, T / 8, 1, 8);
    bench.knobs.methods.tensor_overlap = overlap;
    return bench;
}

/* The four matmuls of a layer that stand beside a collective over tensor: q, k, v [T, D] x [D, (64 + 16) 128 / 8], its
 * output [T, 64 x 128 / 8] x [.., D], gate and up [T, D] x [D, 2 x 28672 / 8], down [T, 28672 / 8] x [.., D]. */
Test(overlap, chunked_matmuls) {
    static const struct {
        const char *name;
        double n, k;
    } rows[] = {{"qkv projection", 1280, 8192},
                {"attention output", 8192, 1024},
                {"mlp gate and up", 7168, 8192},
                {"mlp down", 8192, 3584}};
    Profile profile = IDEAL;
    profile.matmul_traffic = TRAFFIC;
    for (int overlap = 0; overlap < 2; overlap++) {
        Bench bench = bench_overlap(overlap);
        Op ops[OPS_MAX];
        int seen = 0,
            count = ops_of_layer(&(ShardedLayer){&bench.model, &bench.model.kinds[0], &bench.shard, &bench.sharding},
                                 &bench.knobs.methods, 1, ops);
        for (int i = 0; i < count; i++) {
            if (ops[i].kind != OP_MATMUL) {
                cr_expect_eq(ops[i].chunks, 1, "%s", ops[i].name);
                continue;
            }
            for (size_t j = 0; j < COUNT_OF(rows); j++) {
                if (strcmp(ops[i].name, rows[j].name) != 0) continue;
                for (int phase = 0; phase < PHASE_COUNT; phase++) {
                    bool memory_bound;
                    double found = op_seconds(&ops[i], (Phase)phase, &bench.chip, &profile, &memory_bound);
                    double expected = (phase + 1) * matmul_by_hand(T, rows[j].n, rows[j].k, overlap ? 8 : 1);
                    cr_expect_float_eq(found, expected, 1e-12 * expected, "%s, %d: %.12g s, not %.12g", rows[j].name,
                                       overlap, found, expected);
                    cr_expect_not(memory_bound, "%s", rows[j].name);
                }
                seen++;
            }
        }
        cr_expect_eq(seen, 4);
    }
}

/* Where nothing is communicated nothing is cut: with one tensor way, and with weights that are gathered instead. */
Test(overlap, only_beside_collectives) {
    Bench alone = bench_of(llama3_70b(), FLOPS, T), gathered = bench_overlap(true);
    alone.knobs.methods.tensor_overlap = true;
    gathered.sharding.mlp = MLP_GATHERED;
    const Bench *benches[] = {&alone, &gathered};
    for (int b = 0; b < 2; b++) {
        Op ops[OPS_MAX];
        int count = ops_of_layer(
            &(ShardedLayer){&benches[b]->model, &benches[b]->model.kinds[0], &benches[b]->shard, &benches[b]->sharding},
            &benches[b]->knobs.methods, 1, ops);
        for (int i = 0; i < count; i++) {
            bool attention = strcmp(ops[i].name, "qkv projection") == 0 || strcmp(ops[i].name, "attention output") == 0;
            cr_expect_eq(ops[i].chunks, b == 1 && attention ? 8 : 1, "%s", ops[i].name);
        }
    }
}

/* The exposed communication: near, the profile's share for the method chosen, at most the share without it; far, all of
 * it. */
Test(overlap, exposed_near_and_far) {
    static const struct {
        const char *name;
        double plain, overlapped; /* of the profile */
        bool overlap;
        double near;
    } rows[] = {
        {"no overlap asked for", 0.85, 0.18, false, 0.85},
        {"overlap", 0.85, 0.18, true, 0.18},
        {"a machine that has none", 0.6, 0.6, true, 0.6},
        {"worse than nothing is not used", 0.3, 0.5, true, 0.3},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Profile profile = IDEAL;
        profile.tensor_exposed = rows[i].plain, profile.tensor_overlapped = rows[i].overlapped;
        Bench bench = bench_overlap(rows[i].overlap);
        CostContext setting = bench_setting(&bench);
        setting.profile = &profile;
        StepRule rule;
        step_rule(&setting, &bench.shard, &bench.knobs, &rule);
        Rates near = {0}, far = {.leaves_scale_up = 1u << GROUP_TENSOR};
        cr_expect_eq(rule_at(&rule, &near).exposed[GROUP_TENSOR], rows[i].near, "%s", rows[i].name);
        cr_expect_eq(rule_at(&rule, &far).exposed[GROUP_TENSOR], 1, "%s", rows[i].name);
        cr_expect_eq(rule.exposed[GROUP_EXPERT_TENSOR], rows[i].plain, "%s: experts' matmuls are not chunked",
                     rows[i].name);
    }
}

/* The same in a step: 16 messages, 8 streams of 2 T D bytes a layer at 450 GB/s: 8 x 134217728 / 4.5e11 x 7/8 s; the
 * step waits for the exposed share of them, and the rest hides behind compute. Chunks make the matmuls longer by 0.6 x
 * 1e15/3e12 x 7/T of themselves, three times over. */
Test(overlap, of_a_step) {
    Profile profile = IDEAL;
    profile.matmul_traffic = TRAFFIC, profile.tensor_exposed = 0.85, profile.tensor_overlapped = 0.18;
    double seconds[2];
    const double layers = 1000, shapes[4][2] = {{1280, 8192}, {8192, 1024}, {7168, 8192}, {8192, 3584}};
    for (int overlap = 0; overlap < 2; overlap++) {
        Bench bench = bench_overlap(overlap);
        CostContext setting = bench_setting(&bench);
        setting.profile = &profile;
        bench.shard.layers = bench.shard.layers_last = layers;
        GroupAxis axis = switch_axis(8, 450e9);
        bench_rate(&bench, GROUP_TENSOR, group_collective_cost(COLLECTIVE_ALL_GATHER, &axis, 1), 0);
        StepRule rule;
        Resources resources;
        StepTime time;
        step_rule(&setting, &bench.shard, &bench.knobs, &rule);
        stage_resources(&setting, &bench.shard, &bench.knobs, &bench.sharding, &resources);
        step_time(&rule, &resources, &bench.rates, &time);
        seconds[overlap] = time.seconds;
    }
    double streams = 8 * 2 * T * D / 450e9 * 7 / 8, longer = 0;
    for (int i = 0; i < 4; i++)
        longer +=
            3 * (matmul_by_hand(T, shapes[i][0], shapes[i][1], 8) - matmul_by_hand(T, shapes[i][0], shapes[i][1], 1));
    /* There is a stream each way after the look-up and before the logits, and the softmax sends two numbers a token,
     * twice. */
    double tables = (4 * 2 * T * D + 2 * 8 * T) / 450e9 * 7 / 8;
    double expected = (0.85 - 0.18) * (layers * streams + tables) - layers * longer;
    cr_expect_float_eq(seconds[0] - seconds[1], expected, 1e-9 * expected, "%.9g s saved, not %.9g",
                       seconds[0] - seconds[1], expected);
    cr_expect_gt(expected, 0, "it pays here");
}

/* DualPipe runs a forward beside a backward; the profile says which share of dispatch that hides. Other schedules do
 * not hide it. */
Test(overlap, dispatch_beside_dualpipe) {
    Profile profile = IDEAL;
    profile.expert_exposed = 0.57, profile.expert_overlapped = 0.31;
    for (int schedule = SCHEDULE_GPIPE; schedule < SCHEDULE_COUNT; schedule++) {
        Bench bench = bench_of(llama3_70b(), FLOPS, T);
        bench.shard.pipeline = 4, bench.shard.microbatches = 8;
        bench.knobs.schedule = (Schedule)schedule;
        bench.knobs.virtual_stages = schedule == SCHEDULE_INTERLEAVED || schedule == SCHEDULE_CIRCULAR ? 2 : 1;
        CostContext setting = bench_setting(&bench);
        setting.profile = &profile;
        StepRule rule;
        step_rule(&setting, &bench.shard, &bench.knobs, &rule);
        cr_expect_eq(rule.exposed[GROUP_EXPERT], schedule == SCHEDULE_DUALPIPE ? 0.31 : 0.57, "%s",
                     schedule_name((Schedule)schedule));
    }
}
