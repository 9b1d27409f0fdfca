/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tests/cost/workbench.h: stages priced by hand: the book's conditions as the planner sees them. A bench holds a model,
 * a chip, degrees and link rates; everything else comes out of stage_resources, step_rule and step_time, and break-even
 * points are searched, never computed. */
#pragma once

#include "base/util.h"
#include "cost/stage/stage.h"
#include "cost/stage/stage_totals.h"

#include <math.h>
#include <stdbool.h>

/* cost/profiles/ideal.json; test_step.c checks that they are equal. */
static const Profile IDEAL = {.name = "ideal",
                              .lanes = 1,
                              .matrix_efficiency = 1,
                              .fp8_efficiency = 1,
                              .mxfp8_efficiency = 1,
                              .nvfp4_efficiency = 1,
                              .int8_efficiency = 1,
                              .biased_expert_efficiency = 1,
                              .network_factor = 1,
                              .optimizer_traffic = 1,
                              .chunk_traffic = 1,
                              .compute_factor = 1,
                              .attention_factor = 1,
                              .grouped_factor = 1,
                              .unaligned_attention_rate = 1,
                              .linear_efficiency = 1,
                              .scan_efficiency = 1,
                              .vector_efficiency = 1,
                              .logit_bytes = 6,
                              .logit_chunks = 1,
                              .kept_factor = 1,
                              .reduced_tensors = 1,
                              .linear_peak_ratio = 1,
                              .grouped_efficiency = 1,
                              .attention_efficiency = 1,
                              .attention_backward_rate = 1,
                              .hbm_efficiency = 1,
                              .ici_efficiency = 1,
                              .nvlink_efficiency = 1,
                              .network_efficiency = 1,
                              .dcn_efficiency = 1,
                              .pcie_efficiency = 1,
                              .host_memory_share = 1,
                              .host_update_efficiency = 1,
                              .expert_imbalance = 1,
                              .tensor_exposed = 1,
                              .expert_exposed = 1,
                              .sequence_exposed = 1,
                              .pipeline_exposed = 1,
                              .tensor_overlapped = 1,
                              .ring_attention_exposed = 1};

static const double NO_LIMIT = 1e300;

/* The number of layers is so large that an embedding look-up, a final norm and logits beside them are negligible: the
 * stage is its layers. */
static const double LAYERS = 1e12;

typedef struct {
    Model model;
    Chip chip;
    Shard shard;
    Knobs knobs;
    Sharding sharding;
    Rates rates;
} Bench;

static inline Chip bench_chip(double flops_per_second, double hbm_bytes_per_second) {
    return (Chip){.bf16_flops_per_second = {.value = flops_per_second},
                  .hbm_bytes_per_second = {.value = hbm_bytes_per_second},
                  .hbm_bytes = {.value = 96e9}};
}

static inline CostContext bench_setting(const Bench *bench) {
    return (CostContext){.model = &bench->model, .chip = &bench->chip, .profile = &IDEAL};
}

/* The layer of the book's part 5: two matrices and nothing else. */
static inline Model book_model(int64_t d_model, int64_t d_ff) {
    Model model = {.layers = 1, .d_model = d_model, .vocab = 1, .kind_count = 1, .positions = POSITIONS_NONE};
    model.kinds[0] = (LayerKind){.count = 1, .d_ff = d_ff};
    return model;
}

/* A dense transformer of today: gated, grouped queries, two norms, its tables apart. */
static inline Model dense_model(int64_t L, int64_t D, int64_t F, int64_t N, int64_t K, int64_t H, int64_t V) {
    Model model = {
        .layers = L, .d_model = D, .vocab = V, .max_seq = 8192, .kind_count = 1, .positions = POSITIONS_ROTARY};
    model.kinds[0] =
        (LayerKind){.count = L, .heads = N, .kv_heads = K, .head_dim = H, .gated = true, .d_ff = F, .norms = 2};
    return model;
}

static inline Model llama3_70b(void) { return dense_model(80, 8192, 28672, 64, 8, 128, 128256); }

/* One chip that has all of the model's layer and `tokens` in one microbatch, sequence by sequence. */
static inline Bench bench_of(Model model, double flops_per_second, double tokens) {
    const LayerKind *kind = &model.kinds[0];
    return (Bench){.model = model,
                   .chip = bench_chip(flops_per_second, NO_LIMIT),
                   .shard = {.tensor = 1,
                             .expert = 1,
                             .sequence = 1,
                             .fsdp = 1,
                             .data = 1,
                             .pipeline = 1,
                             .sequences = 1,
                             .seq = tokens,
                             .tokens = tokens,
                             .heads = (double)kind->heads,
                             .d_ff = (double)kind->d_ff,
                             .d_ff_shared = (double)kind->d_ff_shared,
                             .d_ff_expert = (double)kind->d_ff_expert,
                             .experts = (double)kind->experts,
                             .vocab = 1,
                             .layers = LAYERS,
                             .layers_last = LAYERS,
                             .microbatches = 1},
                   .knobs = {.microbatches = 1, .microbatch_sequences = 1, .virtual_stages = 1, .regather = true}};
}

/* fsdp x tensor: tokens are those of a chip, and its tensor group has `tensor` times that number. */
static inline void bench_split(Bench *bench, double tokens_per_chip, double fsdp, double tensor) {
    const LayerKind *kind = &bench->model.kinds[0];
    bench->shard.fsdp = fsdp;
    bench->shard.tensor = tensor;
    bench->shard.tokens = tokens_per_chip * tensor;
    bench->shard.heads = (double)kind->heads / tensor;
    bench->shard.d_ff = (double)kind->d_ff / tensor;
    if (tensor > 1) bench->sharding.residual = RESIDUAL_SEQUENCE;
}

static inline GroupAxis ring_axis(double factor, double link) { return (GroupAxis){factor, 1, AXIS_RING, link, 0}; }
static inline GroupAxis line_axis(double factor, double link) { return (GroupAxis){factor, 1, AXIS_LINE, link, 0}; }
static inline GroupAxis switch_axis(double factor, double rate) { return (GroupAxis){factor, 1, AXIS_SWITCH, rate, 0}; }

/* The book's limit on `count` closed axes (part 3: V over count times both directions of an axis). */
static inline CollectiveCost closed_axes(Collective op, int count, double both_directions) {
    GroupAxis axes[3];
    for (int i = 0; i < count; i++) axes[i] = ring_axis(16, both_directions / 2);
    return limit_collective_cost(op, axes, count);
}

/* The group's communication lies on this axis of the machine: groups on one axis take turns, groups on several run
 * beside each other. */
static inline void bench_rate(Bench *bench, Group group, CollectiveCost cost, int axis) {
    bench->rates.cost[group] = cost;
    bench->rates.axes[group] = 1u << axis;
    bench->rates.axis_count = max_whole(bench->rates.axis_count, axis + 1);
}

static inline Resources bench_resources(const Bench *bench) {
    CostContext setting = bench_setting(bench);
    Resources resources;
    stage_resources(&setting, &bench->shard, &bench->knobs, &bench->sharding, &resources);
    return resources;
}

/* Seconds of one layer of one microbatch. */
static inline double layer_group_seconds(const Bench *bench, Group group, Phase phase) {
    Resources resources = bench_resources(bench);
    return collective_seconds(bench->rates.cost[group], resources.of[res_messages(group, phase)],
                              resources.of[res_bytes(group, phase)]) /
           bench->shard.layers;
}

static inline double layer_compute_seconds(const Bench *bench, Phase phase) {
    Resources resources = bench_resources(bench);
    return (resources.of[RES_COMPUTE_FORWARD + (int)phase] + resources.of[RES_ATTENTION_FORWARD + (int)phase]) /
           bench->shard.layers;
}

/* A step in which all communication may hide: the exposed time is the excess. It is given as a share of the compute
 * time. */
static inline double bench_exposed(const Bench *bench) {
    CostContext setting = bench_setting(bench);
    Resources resources = bench_resources(bench);
    StepRule rule;
    StepTime time;
    step_rule(&setting, &bench->shard, &bench->knobs, &rule);
    for (int group = 0; group < GROUP_COUNT; group++) rule.exposed[group] = 0;
    step_time(&rule, &resources, &bench->rates, &time);
    return time.exposed_seconds / time.compute_seconds;
}

/* ---- searches over real numbers; `context` is the caller's ---- */
typedef double (*Curve)(double x, void *context);

/* The x above 0 at which an excess that falls with x ends (or, when it rises, begins). */
static inline double break_even(Curve excess, void *context, double low, double high) {
    bool falls = excess(low, context) > 1e-12;
    for (int i = 0; i < 52; i++) {
        double middle = sqrt(low * high);
        if ((excess(middle, context) > 1e-12) == falls)
            low = middle;
        else
            high = middle;
    }
    return sqrt(low * high);
}

/* Where a curve that falls and then rises is least: golden section in log x. */
static inline double least_at(Curve curve, void *context, double low, double high) {
    const double section = (sqrt(5) - 1) / 2;
    double a = log(low), b = log(high), c = b - section * (b - a), d = a + section * (b - a);
    double at_c = curve(exp(c), context), at_d = curve(exp(d), context);
    for (int i = 0; i < 48; i++)
        if (at_c <= at_d) {
            b = d, d = c, at_d = at_c, c = b - section * (b - a);
            at_c = curve(exp(c), context);
        } else {
            a = c, c = d, at_c = at_d, d = a + section * (b - a);
            at_d = curve(exp(d), context);
        }
    return exp(at_c <= at_d ? c : d); /* the lower one, which on a plateau is not its edge */
}

/* ---- the questions of part 5. C: FLOP/s, W: both directions of one axis ---- */

/* Pure FSDP: tokens per chip from which gathers and scatters hide. `cost` is the group's. */
static inline double fsdp_excess(double tokens_per_chip, void *context) {
    Bench *bench = context;
    bench_split(bench, tokens_per_chip, bench->shard.fsdp, 1);
    return bench_exposed(bench);
}

static inline double fsdp_threshold_of(Model model, double seq, double C, CollectiveCost cost) {
    Bench bench = bench_of(model, C, 1);
    bench.shard.seq = seq;
    bench.shard.fsdp = 64;
    bench_rate(&bench, GROUP_WEIGHTS, cost, 0);
    return break_even(fsdp_excess, &bench, 1, 1e9);
}

static inline double fsdp_threshold(double C, double W, int axes) {
    return fsdp_threshold_of(book_model(8192, 28672), 1, C, closed_axes(COLLECTIVE_ALL_GATHER, axes, W));
}

/* Pure tensor: the most ways that hide, independent of the tokens. */
static inline double tensor_excess(double tensor, void *context) {
    Bench *bench = context;
    bench_split(bench, 1024, 1, tensor);
    return bench_exposed(bench);
}

static inline double tensor_limit(int64_t F, double C, double W, int axes) {
    Bench bench = bench_of(book_model(8192, F), C, 1);
    bench_rate(&bench, GROUP_TENSOR, closed_axes(COLLECTIVE_ALL_GATHER, axes, W), 0);
    return break_even(tensor_excess, &bench, 1.01, 1e4);
}

/* fsdp x tensor on N chips. One axis: both communicate in turns ("serial"); two: beside each other ("overlapped"). */
typedef struct {
    Bench bench;
    double chips, tokens_per_chip;
} Mix;

static inline Mix mix_of(Model model, double chips, double C, double W, int fsdp_axes, int tensor_axes,
                         bool overlapped) {
    Mix mix = {.bench = bench_of(model, C, 1), .chips = chips};
    bench_rate(&mix.bench, GROUP_WEIGHTS, closed_axes(COLLECTIVE_ALL_GATHER, fsdp_axes, W), 0);
    bench_rate(&mix.bench, GROUP_TENSOR, closed_axes(COLLECTIVE_ALL_GATHER, tensor_axes, W), overlapped ? 1 : 0);
    return mix;
}

static inline double mix_exposed(double fsdp, void *context) {
    Mix *mix = context;
    bench_split(&mix->bench, mix->tokens_per_chip, fsdp, mix->chips / fsdp);
    return bench_exposed(&mix->bench);
}

/* The communication that the best split of the chips leaves exposed. */
static inline double mix_excess(double tokens_per_chip, void *context) {
    Mix *mix = context;
    mix->tokens_per_chip = tokens_per_chip;
    return mix_exposed(least_at(mix_exposed, mix, 2, mix->chips / 1.01), mix);
}

static inline double mix_threshold(Model model, double seq, double C, double W, int fsdp_axes, int tensor_axes,
                                   bool overlapped) {
    Mix mix = mix_of(model, 8960, C, W, fsdp_axes, tensor_axes, overlapped);
    mix.bench.shard.seq = seq;
    return break_even(mix_excess, &mix, 1, 1e5);
}

/* Communication of both roles in the forward pass, one after the other. */
static inline double mix_forward_seconds(double fsdp, void *context) {
    Mix *mix = context;
    bench_split(&mix->bench, mix->tokens_per_chip, fsdp, mix->chips / fsdp);
    return layer_group_seconds(&mix->bench, GROUP_WEIGHTS, PHASE_FORWARD) +
           layer_group_seconds(&mix->bench, GROUP_TENSOR, PHASE_FORWARD);
}

static inline double fsdp_optimum(double B, int64_t F, double N, int fsdp_axes, int tensor_axes) {
    Mix mix = mix_of(book_model(8192, F), N, 4.59e14, 1.8e11, fsdp_axes, tensor_axes, false);
    mix.tokens_per_chip = B / N;
    return least_at(mix_forward_seconds, &mix, 1.01, N / 1.01);
}

/* Replicas on slices of 16 chips joined by a switch, gradients once per step: tokens per slice from which they hide
 * behind the backward pass. The gathers inside a slice cost nothing here. */
static inline double data_threshold(double C, CollectiveCost across, double slices) {
    enum { CHIPS = 16 };
    Bench bench = bench_of(book_model(8192, 28672), C, 1);
    bench.shard.fsdp = CHIPS;
    bench.shard.data = slices;
    bench_rate(&bench, GROUP_DATA, across, 0);
    return CHIPS * break_even(fsdp_excess, &bench, 1, 1e9);
}
