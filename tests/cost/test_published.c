/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compares kernels and collectives together with the measurements of others: one layer on a node of A100, Megatron-LM
 * of 2022. No figure of any profile was fitted to this table. */
#include "tests/cost/workbench.h"

#include "cost/profile/profile_set.h"
#include "mesh/machine.h"

#include <criterion/criterion.h>

/* Korthikanti et al. 2022, table 4: milliseconds of one layer of their 22B (h = 6144, 64 heads, s = 2048, 4 sequences)
 * on 8 tensor ways: forward, backward with recomputation. */
static const struct {
    const char *name;
    bool along;           /* residual stream along the sequence */
    bool full, selective; /* recomputation: of the layer, of attention between projections */
    double forward, backward;
} TABLE[] = {
    {"baseline", false, false, false, 7.7, 11.9},
    {"sequence parallel", true, false, false, 7.2, 11.8},
    {"full recomputation", false, true, false, 7.7, 19.5},
    {"selective recomputation", false, false, true, 7.7, 13.2},
    {"selective and sequence parallel", true, false, true, 7.2, 13.1},
};

typedef struct {
    double forward, backward;
} Layer;

static Layer layer_of(const Chip *chip, const Mesh *mesh, const Profile *profile, bool along, bool full,
                      bool selective) {
    Bench bench = bench_of(dense_model(48, 6144, 4 * 6144, 64, 64, 96, 51200), 1, 4 * 2048);
    bench.model.kinds[0].gated = false;
    bench.chip = *chip;
    bench_split(&bench, 1024, 1, 8);
    bench.shard.seq = 2048, bench.shard.sequences = 4;
    bench.sharding.residual = along ? RESIDUAL_SEQUENCE : RESIDUAL_REPLICATED;
    CostContext setting = bench_setting(&bench);
    setting.profile = profile;
    Mesh effective = profile_mesh(profile, mesh);
    Footprint node = {{{8, 1}}};
    CollectiveCost cost = collective_cost(COLLECTIVE_ALL_GATHER, &effective, &node);
    PartSums sums;
    layer_sums(&setting, &bench.shard, &bench.knobs.methods, &bench.sharding, &sums);
    double seconds[PHASE_COUNT];
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        Traffic traffic = sums.traffic[GROUP_TENSOR][phase];
        seconds[phase] = sums.compute[phase] + sums.attention[phase] +
                         profile->tensor_exposed * collective_seconds(cost, traffic.messages, traffic.bytes);
    }
    ActivationCost costs[ACTIVATION_COUNT];
    stage_activations(&setting, &bench.shard, &bench.knobs, &bench.sharding, costs);
    for (int a = 1; a < ACTIVATION_COUNT; a++)
        if (full || (selective && a == ACTIVATION_CONTEXT))
            seconds[PHASE_BACKWARD] +=
                costs[a].recompute_seconds +
                profile->tensor_exposed * collective_seconds(cost, costs[a].recompute_messages[GROUP_TENSOR],
                                                             costs[a].recompute_bytes[GROUP_TENSOR]);
    return (Layer){seconds[0] * 1e3, seconds[1] * 1e3};
}

Test(published, korthikanti_table_4) {
    Arena arena = {0};
    Error error = {0};
    Catalog catalog;
    ProfileSet set;
    cr_assert(catalog_load(&arena, &catalog, &error) && profile_set_default(&arena, &set, &error), "%s", error.text);
    const Chip *a100 = catalog_find(&catalog, "a100-80g");
    Machine machine;
    machine_of_gpus(a100, 8, &machine);
    Profile profile;
    profile_compose(&set, profile_set_chip(&set, a100), profile_set_stack(&set, "megatron-2022"), &profile);
    profile = profile_in_precision(&profile, a100, PRECISION_BF16);
    Layer baseline = layer_of(a100, &machine.mesh, &profile, false, false, false);
    for (size_t i = 0; i < COUNT_OF(TABLE); i++) {
        Layer found = layer_of(a100, &machine.mesh, &profile, TABLE[i].along, TABLE[i].full, TABLE[i].selective);
        cr_expect_float_eq(found.forward, TABLE[i].forward, 0.12 * TABLE[i].forward,
                           "%s: forward %.2f ms, measured %.2f", TABLE[i].name, found.forward, TABLE[i].forward);
        cr_expect_float_eq(found.backward, TABLE[i].backward, 0.12 * TABLE[i].backward,
                           "%s: backward %.2f ms, measured %.2f", TABLE[i].name, found.backward, TABLE[i].backward);
        /* over the baseline: -3%, 39%, 7%, 4% */
        double more = (found.forward + found.backward) / (baseline.forward + baseline.backward) - 1;
        double measured = (TABLE[i].forward + TABLE[i].backward) / (7.7 + 11.9) - 1;
        cr_expect_float_eq(more, measured, 0.14, "%s: %.3f over the baseline, measured %.3f", TABLE[i].name, more,
                           measured);
        if (!TABLE[i].along)
            cr_expect_float_eq(more, measured, 0.05, "%s: %.3f over the baseline, measured %.3f", TABLE[i].name, more,
                               measured);
    }
    arena_free(&arena);
}

/* The same paper, equation (7): a model of theirs has 72 B L s h^2 (1 + s/6h + v/12hL) FLOPs a step, forward and
 * backward, squares whole; recomputing the part between the projections adds two matmuls of 2 s^2 h each forward. On a
 * chip of 1 FLOP/s seconds are FLOPs. The models are GPT-3 and MT-NLG; norms, which 6 N counts too, are a part in
 * 50000. */
Test(published, korthikanti_flops) {
    static const struct {
        const char *name;
        int64_t L, h, heads;
    } rows[] = {{"GPT-3", 96, 12288, 96}, {"MT-NLG", 105, 20480, 128}};
    Profile profile = IDEAL;
    profile.unfused_attention = 1;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        double h = (double)rows[i].h, L = (double)rows[i].L, s = 2048, v = 51200;
        int64_t d = rows[i].h / rows[i].heads;
        Model model = dense_model(rows[i].L, rows[i].h, 4 * rows[i].h, rows[i].heads, rows[i].heads, d, 51200);
        model.kinds[0].gated = false;
        double expected = 72 * L * h * h * (1 + s / (6 * h) + v / (12 * h * L));
        double found = model_flops_per_token(&model, FLOPS_FULL_ATTENTION, 2048);
        cr_expect_float_eq(found, expected, 1e-4 * expected, "%s: %.9g, not %.9g", rows[i].name, found, expected);
        Bench bench = bench_of(model, 1, s);
        CostContext setting = bench_setting(&bench);
        setting.profile = &profile;
        ActivationCost costs[ACTIVATION_COUNT];
        stage_activations(&setting, &bench.shard, &bench.knobs, &bench.sharding, costs);
        double again = costs[ACTIVATION_CONTEXT].recompute_seconds * 0.6; /* of the rate of large matmuls: roofline.c */
        cr_expect_float_eq(again, 4 * s * s * h, 1e-9 * again, "%s", rows[i].name);
    }
}

/* NVIDIA nccl-tests, PERFORMANCE.md: seconds x bus bandwidth = S x 2 (n - 1)/n of an all_reduce of S bytes, S x (n -
 * 1)/n of an all_gather or reduce_scatter (S: of the whole), of an all_to_all (S: of a rank), S of a send and
 * receive. */
Test(published, bus_bandwidth_of_nccl) {
    static const struct {
        Collective op;
        double factor;
        bool of_all;
    } rows[] = {{COLLECTIVE_ALL_REDUCE, 2, false},
                {COLLECTIVE_ALL_GATHER, 1, false},
                {COLLECTIVE_REDUCE_SCATTER, 1, false},
                {COLLECTIVE_ALL_TO_ALL, 1, true}};
    const double S = 1e9, bus = 370e9;
    for (int n = 2; n <= 72; n = n < 8 ? 2 * n : 9 * n) {
        GroupAxis axis = switch_axis(n, bus);
        for (size_t i = 0; i < COUNT_OF(rows); i++) {
            CollectiveCost cost = group_collective_cost(rows[i].op, &axis, 1);
            double found = collective_seconds(cost, 1, rows[i].of_all ? n * S : S);
            double expected = S * rows[i].factor * (n - 1) / n / bus;
            cr_expect_float_eq(found, expected, 1e-9 * expected, "%s of %d", collective_name(rows[i].op), n);
        }
        CollectiveCost send = group_collective_cost(COLLECTIVE_PERMUTE, &axis, 1);
        cr_expect_float_eq(collective_seconds(send, 1, S), S / bus, 1e-12);
    }
}
