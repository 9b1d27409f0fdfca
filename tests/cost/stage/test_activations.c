/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bytes that a layer saves and the cost of having them again, in closed form. T tokens of the tensor group, t ways,
 * bf16 except for the log-sum-exp; after Korthikanti et al. 2022, section 4, for flash attention, grouped queries, a
 * gated MLP and inputs that are saved gathered:
 *    layer input 2TD/t + attention input 2TD + q, k, v 2T(N + 2K)H/t + context 2TNH/t + 4TN/t + middle 2TD/t
 *    + MLP input 2TD + gate and up 4TF/t + product 2TF/t. */
#include "tests/cost/workbench.h"

#include <criterion/criterion.h>

static const double T = 4096, D = 8192, F = 28672, N = 64, K = 8, H = 128;

static Bench bench_70b(double t) {
    Bench bench = bench_of(llama3_70b(), 1, T);
    bench_split(&bench, T / t, 1, t);
    bench.shard.seq = T;
    return bench;
}

static void costs_of(const Bench *bench, ActivationCost costs[ACTIVATION_COUNT]) {
    CostContext setting = bench_setting(bench);
    stage_activations(&setting, &bench->shard, &bench->knobs, &bench->sharding, costs);
}

Test(activations, bytes_of_a_dense_layer) {
    static const struct {
        const char *name;
        double t;
        Sharding sharding;
    } rows[] = {
        {"one chip", 1, {.residual = RESIDUAL_REPLICATED}},
        {"8 ways, along the sequence", 8, {.residual = RESIDUAL_SEQUENCE}},
        {"8 ways, replicated", 8, {.residual = RESIDUAL_REPLICATED}},
        {"2 ways, MLP weights gathered", 2, {.residual = RESIDUAL_SEQUENCE, .mlp = MLP_GATHERED}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        double t = rows[i].t, r = rows[i].sharding.residual == RESIDUAL_SEQUENCE ? t : 1,
               g = rows[i].sharding.mlp == MLP_GATHERED ? t : 1;
        const double expected[ACTIVATION_COUNT] = {
            [ACTIVATION_LAYER_INPUT] = 2 * T * D / r,
            [ACTIVATION_ATTENTION_INPUT] = 2 * T * D,
            [ACTIVATION_QKV] = 2 * T * (N + 2 * K) * H / t,
            [ACTIVATION_CONTEXT] = 2 * T * N * H / t + 4 * T * N / t,
            [ACTIVATION_MIDDLE] = 2 * T * D / r,
            [ACTIVATION_MLP_INPUT] = 2 * T * D / g,
            [ACTIVATION_GATE_UP] = 4 * T * F / t,
            [ACTIVATION_PRODUCT] = 2 * T * F / t,
        };
        Bench bench = bench_70b(t);
        bench.sharding = rows[i].sharding;
        ActivationCost costs[ACTIVATION_COUNT];
        StageTotals sums;
        CostContext setting = bench_setting(&bench);
        costs_of(&bench, costs);
        stage_sums(&setting, &bench.shard, &bench.knobs.methods, &bench.sharding, &sums);
        for (int a = 0; a < ACTIVATION_COUNT; a++) {
            cr_expect(costs[a].exists, "%s, %s", rows[i].name, activation_name((Activation)a));
            cr_expect_eq(costs[a].recomputable, a != ACTIVATION_LAYER_INPUT, "%s, %s", rows[i].name,
                         activation_name((Activation)a));
            cr_expect_float_eq(costs[a].bytes, expected[a], 1e-3, "%s, %s: %.9g, not %.9g", rows[i].name,
                               activation_name((Activation)a), costs[a].bytes, expected[a]);
            cr_expect_eq(costs[a].bytes, sums.layer.saved[a], "%s: the stage's sums have another %s", rows[i].name,
                         activation_name((Activation)a));
        }
    }
}

/* Latents are made of a chip's own tokens, and gathered; queries that have no rank are made head by head, of all. */
Test(activations, input_of_latent_attention) {
    for (int64_t rank = 0; rank <= 1536; rank += 1536) {
        Bench bench = bench_70b(8);
        LayerKind *kind = &bench.model.kinds[0];
        ActivationCost costs[ACTIVATION_COUNT];
        kind->attention = ATTENTION_LATENT;
        kind->q_lora_rank = rank, kind->kv_lora_rank = 512;
        kind->qk_nope_head_dim = 128, kind->qk_rope_head_dim = 64, kind->v_head_dim = 128;
        bench.sharding.residual = RESIDUAL_SEQUENCE;
        costs_of(&bench, costs);
        cr_expect_float_eq(costs[ACTIVATION_ATTENTION_INPUT].bytes, 2 * T * D / (rank > 0 ? 8 : 1), 1e-3,
                           "rank %d: %.9g", (int)rank, costs[ACTIVATION_ATTENTION_INPUT].bytes);
    }
}

/* Mixtures save the router's input, the dispatched tokens (k copies of a token), and the experts' widths; the sums of a
 * mean layer are weighted by its kinds. */
Test(activations, bytes_of_a_mixture) {
    Model model = dense_model(2, 4096, 14336, 32, 8, 128, 1);
    model.kind_count = 2;
    model.kinds[0].count = 1;
    model.kinds[1] = model.kinds[0];
    model.kinds[1].d_ff = 0;
    model.kinds[1].experts = 8, model.kinds[1].top_k = 2, model.kinds[1].d_ff_expert = 1024;
    Bench bench = bench_of(model, 1, 1000);
    bench.shard.experts = 8, bench.shard.d_ff_expert = 1024;
    ActivationCost costs[ACTIVATION_COUNT];
    costs_of(&bench, costs);
    cr_expect_float_eq(costs[ACTIVATION_MLP_INPUT].bytes, (2. * 1000 * 4096 + 2. * (1000 + 2000) * 4096) / 2, 1e-3);
    cr_expect_float_eq(costs[ACTIVATION_GATE_UP].bytes, (4. * 1000 * 14336 + 4. * 2000 * 1024) / 2, 1e-3);
    cr_expect_float_eq(costs[ACTIVATION_PRODUCT].bytes, (2. * 1000 * 14336 + 2. * 2000 * 1024) / 2, 1e-3);
}

/* Everything but the layer's input is made again: one forward pass less the last matmul, whose product is the next
 * layer's input; on a chip of 1 FLOP/s seconds are FLOPs. Tensor repeats the gather into the attention, the scatter out
 * of it and the gather into the MLP: 3 of 4 streams. */
Test(activations, full_recomputation) {
    for (double t = 1; t <= 8; t *= 2) {
        Bench bench = bench_70b(t);
        ActivationCost costs[ACTIVATION_COUNT];
        costs_of(&bench, costs);
        double seconds = 0, messages = 0, bytes = 0;
        for (int a = 0; a < ACTIVATION_COUNT; a++) {
            seconds += costs[a].recompute_seconds;
            messages += costs[a].recompute_messages[GROUP_TENSOR];
            bytes += costs[a].recompute_bytes[GROUP_TENSOR];
        }
        double flops = T / t * (2 * (D * H * (2 * N + 2 * K) + 2 * D * F) + 2 * T * N * H);
        cr_expect_float_eq(seconds, flops, 1e-12 * flops, "t=%g: %.12g of %.12g", t, seconds, flops);
        cr_expect_float_eq(messages, t > 1 ? 3 : 0, 1e-12, "t=%g", t);
        cr_expect_float_eq(bytes, t > 1 ? 3 * 2 * T * D : 0, 1e-3, "t=%g", t);
    }
}

/* torch and Megatron checkpoint the call of a layer: the whole forward runs again, with the last matmul and the scatter
 * after it: P of 2 P FLOPs a token and all 4 streams. */
Test(activations, full_recomputation_of_a_whole_call) {
    Profile profile = IDEAL;
    profile.recompute_whole = 1;
    for (double t = 1; t <= 8; t *= 2) {
        Bench bench = bench_70b(t);
        CostContext setting = bench_setting(&bench);
        setting.profile = &profile;
        ActivationCost costs[ACTIVATION_COUNT];
        stage_activations(&setting, &bench.shard, &bench.knobs, &bench.sharding, costs);
        double seconds = 0, bytes = 0;
        for (int a = 0; a < ACTIVATION_COUNT; a++)
            seconds += costs[a].recompute_seconds, bytes += costs[a].recompute_bytes[GROUP_TENSOR];
        double flops = T / t * (2 * (D * H * (2 * N + 2 * K) + 3 * D * F) + 2 * T * N * H);
        cr_expect_float_eq(seconds, flops, 1e-12 * flops, "t=%g: %.12g of %.12g", t, seconds, flops);
        cr_expect_float_eq(bytes, t > 1 ? 4 * 2 * T * D : 0, 1e-3, "t=%g", t);
    }
}

/* The cost of having each activation again, one by one. Saved inputs are saved gathered, so the projections themselves
 * repeat no gather. */
Test(activations, each_recomputation) {
    const struct {
        Activation activation;
        double flops, streams;
    } rows[] = {
        {ACTIVATION_ATTENTION_INPUT, 0, 1},
        {ACTIVATION_QKV, 2 * T * D * (N + 2 * K) * H, 0},
        {ACTIVATION_CONTEXT, 2 * T * T * N * H, 0},
        {ACTIVATION_MIDDLE, 2 * T * D * N * H, 1},
        {ACTIVATION_MLP_INPUT, 0, 1},
        {ACTIVATION_GATE_UP, 4 * T * D * F, 0},
        {ACTIVATION_PRODUCT, 0, 0},
    };
    Bench bench = bench_70b(4);
    ActivationCost costs[ACTIVATION_COUNT];
    costs_of(&bench, costs);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const ActivationCost *cost = &costs[rows[i].activation];
        const char *name = activation_name(rows[i].activation);
        cr_expect_float_eq(cost->recompute_seconds, rows[i].flops / 4, 1e-12 * rows[i].flops, "%s: %.9g", name,
                           cost->recompute_seconds);
        cr_expect_float_eq(cost->recompute_bytes[GROUP_TENSOR], rows[i].streams * 2 * T * D, 1e-3, "%s", name);
        for (int group = GROUP_PIPELINE; group < GROUP_DATA; group++)
            cr_expect_eq(cost->recompute_bytes[group], 0, "%s: weights are there for backward, stages wait for nobody",
                         name);
    }
}

/* Ring attention repeats its forward exchange with the context; a mixture repeats its dispatch with the dispatched
 * tokens. */
Test(activations, recomputation_repeats_exchanges) {
    Bench ring = bench_70b(1);
    ring.shard.sequence = 8, ring.shard.seq = 8 * T, ring.knobs.methods.context = CONTEXT_RING;
    ActivationCost costs[ACTIVATION_COUNT];
    costs_of(&ring, costs);
    cr_expect_float_eq(costs[ACTIVATION_CONTEXT].recompute_messages[GROUP_SEQUENCE], 7, 1e-12);
    cr_expect_float_eq(costs[ACTIVATION_CONTEXT].recompute_bytes[GROUP_SEQUENCE], 2 * T * 2 * K * H * 7, 1e-3);
    cr_expect_eq(costs[ACTIVATION_QKV].recompute_bytes[GROUP_SEQUENCE], 0);

    Model model = dense_model(1, 4096, 0, 32, 8, 128, 1);
    model.kinds[0].experts = 8, model.kinds[0].top_k = 2, model.kinds[0].d_ff_expert = 14336;
    Bench mixture = bench_of(model, 1, 1000);
    mixture.shard.expert = 8, mixture.shard.experts = 1;
    costs_of(&mixture, costs);
    cr_expect_float_eq(costs[ACTIVATION_MLP_INPUT].recompute_bytes[GROUP_EXPERT], 2. * 1000 * 2 * 4096 * 8, 1e-3);
    cr_expect_eq(costs[ACTIVATION_GATE_UP].recompute_bytes[GROUP_EXPERT], 0);
    cr_expect_eq(costs[ACTIVATION_PRODUCT].recompute_bytes[GROUP_EXPERT], 0,
                 "the combine belongs to the layer's output, which is kept");

    /* Folded over 8 ranks, with each expert's width over 2 of them: the arriving tokens are gathered from 2 x 1000
     * tokens and saved gathered, so their gather belongs to the dispatched tokens, as it does where tensor splits an
     * expert. */
    mixture.knobs.methods.grid = (ExpertGrid){8, 2};
    mixture.shard.expert = 1, mixture.shard.d_ff_expert = 7168;
    mixture.shard.grid_expert = 8, mixture.shard.grid_expert_tensor = 2;
    mixture.shard.grid_weights = mixture.shard.grid_data = 1;
    costs_of(&mixture, costs);
    double gathered = 2. * 2000 * 2 * 4096;
    cr_expect_float_eq(costs[ACTIVATION_MLP_INPUT].bytes, gathered + 2. * 1000 * 4096, 1e-3,
                       "beside the router's input");
    cr_expect_float_eq(costs[ACTIVATION_MLP_INPUT].recompute_bytes[GROUP_EXPERT_TENSOR], gathered, 1e-3);
    cr_expect_eq(costs[ACTIVATION_GATE_UP].recompute_bytes[GROUP_EXPERT_TENSOR], 0);
}

/* With a shared expert beside them, both down projections end in the layer's output and are not made again. Of 1000
 * tokens, top 2, D = 4096, widths 1024 (routed) and 2048 (shared), these are made again: gate and up of both,
 * attention, router; seconds are FLOPs. */
Test(activations, full_recomputation_of_a_mixture) {
    Model model = dense_model(1, 4096, 0, 32, 8, 128, 1);
    model.kinds[0].experts = 8, model.kinds[0].top_k = 2, model.kinds[0].d_ff_expert = 1024,
    model.kinds[0].d_ff_shared = 2048;
    Bench bench = bench_of(model, 1, 1000);
    ActivationCost costs[ACTIVATION_COUNT];
    costs_of(&bench, costs);
    double seconds = 0;
    for (int a = 0; a < ACTIVATION_COUNT; a++) seconds += costs[a].recompute_seconds;
    double per_token = 2 * 4096. * (128 * 80 + 8 + 2 * 2 * 1024 + 2 * 2048) + 2 * 1000. * 4096;
    cr_expect_float_eq(seconds, 1000 * per_token, 1e-6 * seconds, "%.9g, not %.9g", seconds, 1000 * per_token);
}

/* The effect of some layers' states on a stage's resources. */
Test(activations, states) {
    const double weights[MOMENT_COUNT] = {8, 1, 1, 0};
    const ActivationCost cost = {.bytes = 100,
                                 .recompute_seconds = 3,
                                 .recompute_messages = {[GROUP_TENSOR] = 1},
                                 .recompute_bytes = {[GROUP_TENSOR] = 50},
                                 .exists = true,
                                 .recomputable = true};
    const struct {
        ActivationState state;
        double seconds, bytes, offload, memory;
    } rows[] = {{STATE_SAVED, 0, 0, 0, 0}, {STATE_RECOMPUTED, 30, 500, 0, -8000}, {STATE_OFFLOADED, 0, 0, 2000, -8000}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Resources resources = {0};
        resources_add_state(&cost, rows[i].state, 10, weights, &resources);
        const char *name = activation_state_name(rows[i].state);
        cr_expect_eq(resources.of[RES_COMPUTE_BACKWARD], rows[i].seconds, "%s", name);
        cr_expect_eq(resources.of[RES_COMPUTE_FORWARD], 0, "%s", name);
        cr_expect_eq(resources.of[res_bytes(GROUP_TENSOR, PHASE_BACKWARD)], rows[i].bytes, "%s", name);
        cr_expect_eq(resources.of[RES_OFFLOAD_BYTES], rows[i].offload, "%s: out and back", name);
        cr_expect_eq(resources.of[RES_MEMORY + MOMENT_FIRST_BACKWARD], rows[i].memory, "%s", name);
        cr_expect_eq(resources.of[RES_MEMORY + MOMENT_LAST_BACKWARD], rows[i].memory / 8, "%s", name);
        cr_expect_eq(resources.of[RES_MEMORY + MOMENT_UPDATE], 0, "%s", name);
    }
}

/* A host with room for some activations takes those that cost most to compute again; activations that may not be
 * recomputed come before all others. */
Test(activations, offloaded_within_the_host) {
    static const struct {
        const char *name;
        double host_bytes_of_layer_inputs; /* room, in layer inputs of all layers and microbatches in flight */
        bool layer_input, any_other;
    } rows[] = {
        {"no host memory known", 0, false, false},
        {"room for less than the layer inputs", 0.99, false, true},
        {"room for them alone", 1.0, true, false},
        {"room for everything", 1000, true, true},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Bench bench = bench_70b(4);
        ActivationCost costs[ACTIVATION_COUNT];
        CostContext setting = bench_setting(&bench);
        double bytes = 2 * bench.shard.tokens * (double)bench.model.d_model * bench.shard.layers;
        bench.chip.host_bytes.value = rows[i].host_bytes_of_layer_inputs * bytes;
        stage_activations(&setting, &bench.shard, &bench.knobs, &bench.sharding, costs);
        bool other = false;
        for (int a = ACTIVATION_LAYER_INPUT + 1; a < ACTIVATION_COUNT; a++) other = other || costs[a].offloadable;
        cr_expect_eq(costs[ACTIVATION_LAYER_INPUT].offloadable, rows[i].layer_input, "%s", rows[i].name);
        cr_expect_eq(other, rows[i].any_other, "%s", rows[i].name);
    }
}

/* Korthikanti et al. 2022, on a layer of theirs: MHA, GELU, hidden width 4h. They count sbh (34 + 5as/h) bytes of one
 * chip, sbh (10 + 24/t + 5as/(ht)) of t tensor ways, sbh/t (34 + 5as/h) along the sequence, 2sbh with full
 * recomputation. Our counts differ by the tensors that are absent and by those that are kept:
 *  no dropout: two masks of a byte, 2 sbh;  flash attention: no scores, 5 as^2b, but their log-sum-exp, 4 asb;
 *  along the sequence the inputs of both blocks are kept gathered, 2 sbh in place of 2 sbh/t each; a layout that
 *  recomputes them has neither. */
Test(activations, korthikanti) {
    const double s = 2048, h = 12288, a = 96, sbh = s * h;
    for (int t = 1; t <= 8; t *= 2)
        for (int along = 0; along <= (t > 1); along++) {
            Model model = dense_model(1, 12288, 4 * 12288, 96, 96, 128, 51200);
            model.kinds[0].gated = false;
            Bench bench = bench_of(model, 1, s);
            bench_split(&bench, s / t, 1, t);
            bench.shard.seq = s;
            bench.sharding.residual = along ? RESIDUAL_SEQUENCE : RESIDUAL_REPLICATED;
            ActivationCost costs[ACTIVATION_COUNT];
            costs_of(&bench, costs);
            double saved = 0, inputs = costs[ACTIVATION_ATTENTION_INPUT].bytes + costs[ACTIVATION_MLP_INPUT].bytes;
            for (int i = 0; i < ACTIVATION_COUNT; i++) saved += costs[i].bytes;
            double scores = 5 * a * s / h, masks = 2, log_sum_exp = 4 * a * s / t;
            double theirs = sbh * (along ? (34 + scores) / t : 10 + 24. / t + scores / t);
            double gathered = along ? 2 * (2 - 2. / t) * sbh : 0;
            double ours = theirs - scores / t * sbh - masks * sbh / (along ? t : 1) + log_sum_exp + gathered;
            cr_expect_float_eq(saved, ours, 1e-9 * ours, "t=%d: %g sbh, not %g", t, saved / sbh, ours / sbh);
            cr_expect_float_eq(inputs, 4 * sbh, 1e-9 * inputs, "t=%d", t);
            cr_expect_float_eq(costs[ACTIVATION_LAYER_INPUT].bytes, 2 * sbh / (along ? t : 1), 1, "full recomputation");
        }
}

/* The same paper, section 4.2.3: 1F1B keeps p microbatches of L/p layers on the first stage, which is L layers' worth
 * whatever p is; with v chunks a stage L (1 + (p - 1)/(p v)); on the last stage one microbatch. */
Test(activations, korthikanti_in_flight) {
    const double L = 96;
    for (int p = 2; p <= 16; p *= 2)
        for (int v = 1; v <= 3; v++) {
            Bench bench = bench_70b(1);
            bench.shard.pipeline = p, bench.shard.layers = bench.shard.layers_last = L / p;
            bench.shard.microbatches = 4 * p;
            bench.knobs.virtual_stages = v, bench.knobs.schedule = v > 1 ? SCHEDULE_INTERLEAVED : SCHEDULE_1F1B;
            double weights[MOMENT_COUNT];
            CostContext setting = bench_setting(&bench);
            microbatches_in_flight(&setting, &bench.shard, &bench.knobs, weights);
            double factor = v > 1 ? 1 + (p - 1.) / (p * (double)v) : 1;
            cr_expect_float_eq(weights[MOMENT_FIRST_BACKWARD] * bench.shard.layers, L * factor, 1e-9 * L, "p=%d v=%d",
                               p, v);
        }
}
