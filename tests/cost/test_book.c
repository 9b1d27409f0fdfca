/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The book's numbers, reproduced by the functions that price plans. The handlers are in book_cases.h, one for each row;
 * their words are here. */
#include "tests/cost/book_table.h"
#include "tests/cost/workbench.h"

/* ---- part 1, 2: one op ---- */
static const double LARGE = 1e15; /* a matrix so large that the batch is negligible */

/* [m, k] x [k, n] as the planner lists it: the up-projection of a layer. */
static Op matmul_op(double m, double n, double k) {
    Bench bench = bench_of(book_model((int64_t)k, (int64_t)n), 1, m);
    Op ops[OPS_MAX];
    ops_of_layer(&(ShardedLayer){&bench.model, &bench.model.kinds[0], &bench.shard, &bench.sharding},
                 &bench.knobs.methods, 1, ops);
    return ops[0];
}

static double matmul_seconds_at(double m, double n, double k, double C) {
    Chip chip = bench_chip(C, NO_LIMIT);
    Op op = matmul_op(m, n, k);
    bool memory_bound;
    return op_seconds(&op, PHASE_FORWARD, &chip, &IDEAL, &memory_bound);
}

static double hbm_seconds(double bytes, double W) {
    Chip chip = bench_chip(1, W);
    Op op = {.kind = OP_LOOKUP, .hbm_bytes = {bytes, 0}};
    bool memory_bound;
    return op_seconds(&op, PHASE_FORWARD, &chip, &IDEAL, &memory_bound);
}

static double intensity(double m, double n, double k) {
    Op op = matmul_op(m, n, k);
    return op.flops[PHASE_FORWARD] / op.hbm_bytes[PHASE_FORWARD];
}

typedef struct {
    Chip chip;
    double n, k;
    double experts, top_k; /* 0 means one matmul */
} Batch;

static double memory_bound_at(double m, void *context) {
    Batch *batch = context;
    bool memory_bound = false;
    if (batch->experts == 0) {
        Op op = matmul_op(m, batch->n, batch->k);
        op_seconds(&op, PHASE_FORWARD, &batch->chip, &IDEAL, &memory_bound);
        return memory_bound;
    }
    Model model = book_model((int64_t)batch->k, 0);
    model.kinds[0] = (LayerKind){.count = 1,
                                 .experts = (int64_t)batch->experts,
                                 .top_k = (int64_t)batch->top_k,
                                 .d_ff_expert = (int64_t)batch->n};
    Bench bench = bench_of(model, 1, m);
    Op ops[OPS_MAX];
    int count = ops_of_layer(&(ShardedLayer){&bench.model, &bench.model.kinds[0], &bench.shard, &bench.sharding},
                             &bench.knobs.methods, 1, ops);
    for (int i = 0; i < count && !memory_bound; i++)
        if (ops[i].kind == OP_GROUPED_MATMUL) op_seconds(&ops[i], PHASE_FORWARD, &batch->chip, &IDEAL, &memory_bound);
    return memory_bound;
}

/* The number of rows from which the roofline is limited by compute, not memory. */
static double critical_batch(double C, double W, double n, double k) {
    Batch batch = {.chip = bench_chip(C, W), .n = n, .k = k};
    return break_even(memory_bound_at, &batch, 1, 1e6);
}

/* The same for a mixture on a chip whose single critical batch is `dense`. */
static double expert_critical_batch(double dense, double experts, double top_k) {
    Batch batch = {.chip = bench_chip(dense, 1), .n = LARGE, .k = LARGE, .experts = experts, .top_k = top_k};
    return break_even(memory_bound_at, &batch, 1, 1e6);
}

/* D of bf16 [B, D] x [D, F] split along D over two chips, from which the partial sums, 2BF bytes over one link, hide.
 * Both times are linear: compute is in D / 2, and the transfer does not depend on D. */
static double split_matmul_critical_width(double C, double W1) {
    GroupAxis link = line_axis(2, W1);
    double B = 128, F = 4096,
           transfer = collective_seconds(group_collective_cost(COLLECTIVE_PERMUTE, &link, 1), 1, 2 * B * F);
    return 2 * transfer / matmul_seconds_at(B, F, 1, C);
}

/* ---- part 3: collectives ---- */
static double book_seconds(Collective op, int count, GroupAxis axis, double bytes) {
    GroupAxis axes[3] = {axis, axis, axis};
    return collective_seconds(limit_collective_cost(op, axes, count), 1, bytes);
}

static double book_seconds_2d(Collective op, GroupAxis a, GroupAxis b, double bytes) {
    return collective_seconds(limit_collective_cost(op, (GroupAxis[]){a, b}, 2), 1, bytes);
}

static double exact_seconds(Collective op, GroupAxis axis, double bytes) {
    return collective_seconds(group_collective_cost(op, &axis, 1), 1, bytes);
}

/* Hops of a gather without payload. */
static double hops(GroupAxis a, GroupAxis b) {
    a.latency_seconds = b.latency_seconds = 1;
    return collective_seconds(group_collective_cost(COLLECTIVE_ALL_GATHER, (GroupAxis[]){a, b}, 2), 1, 0);
}

static double latency_excess(double bytes, void *context) {
    GroupAxis *axis = context, quick = *axis;
    quick.latency_seconds = 0;
    return exact_seconds(COLLECTIVE_PERMUTE, *axis, bytes) - exact_seconds(COLLECTIVE_PERMUTE, quick, bytes);
}

static double latency_bound_bytes(double W1, double hop_seconds) {
    GroupAxis axis = {4, 1, AXIS_LINE, W1 * hop_seconds, 1}; /* in units of a hop */
    return break_even(latency_excess, &axis, 1, 1e9);
}

static CollectiveCost book_line(double W1) {
    GroupAxis axis = line_axis(8, W1);
    return limit_collective_cost(COLLECTIVE_ALL_GATHER, &axis, 1);
}

static CollectiveCost book_switch(double W) {
    GroupAxis axis = switch_axis(64, W);
    return limit_collective_cost(COLLECTIVE_ALL_GATHER, &axis, 1);
}

static CollectiveCost exact_switch(double n, double W) {
    GroupAxis axis = switch_axis(n, W);
    return group_collective_cost(COLLECTIVE_ALL_GATHER, &axis, 1);
}

/* ---- part 4, 6: parameters, FLOPs, activations ---- */
static Parameters counts(Model model) { return model_parameters(&model); }
static double all_matrices(Model model) { return (double)(counts(model).total - counts(model).norms); }
static double tables(Model model) { return (double)(counts(model).embedding + counts(model).unembedding); }
static double matrices(Model model) { return (double)(counts(model).attention + counts(model).mlp); }

/* F = 4D, the same number of heads for keys as for queries, heads as wide as the model. */
static Model four_times(double D) {
    return dense_model(1, (int64_t)D, 4 * (int64_t)D, (int64_t)D / 128, (int64_t)D / 128, 128, 1);
}

static Model dense_13b(double L, double D, double F, double N, double H, double V) {
    return dense_model((int64_t)L, (int64_t)D, (int64_t)F, (int64_t)N, (int64_t)N, (int64_t)H, (int64_t)V);
}

static Model dense_llama3(double L, double D, double F, double N, double K, double H, double V) {
    return dense_model((int64_t)L, (int64_t)D, (int64_t)F, (int64_t)N, (int64_t)K, (int64_t)H, (int64_t)V);
}

/* All seven dimensions are inputs of the row. */
static Model row_model(const Case *c) {
    return dense_llama3(input(c, "L"), input(c, "D"), input(c, "F"), input(c, "N"), input(c, "K"), input(c, "H"),
                        input(c, "V"));
}

/* Full square, forward and backward. */
static double attention_flops(Model model, double T) {
    return model_flops_per_token(&model, FLOPS_FULL_ATTENTION, (int64_t)T) -
           model_flops_per_token(&model, FLOPS_6N, (int64_t)T);
}

/* The least sequence at which attention makes the FLOPs per token given as `flops`. */
static double attention_crossover(Model model, double flops) {
    int64_t low = 0, high = 1 << 24;
    while (high - low > 1) {
        int64_t middle = (low + high) / 2;
        if (attention_flops(model, (double)middle) < flops)
            low = middle;
        else
            high = middle;
    }
    return (double)high;
}

/* The question counts one norm for each layer, and none at the end. */
static double one_norm_total(double L, double D, double F, double V) {
    Model model = dense_model((int64_t)L, (int64_t)D, (int64_t)F, (int64_t)D / 128, (int64_t)D / 128, 128, (int64_t)V);
    model.kinds[0].norms = 1;
    return (double)(counts(model).total - (int64_t)D);
}

/* FLOPs of one device over those of the whole product, batch over X, columns over Y. */
static double share_of_flops(double X, double Y) {
    Bench whole = bench_of(book_model(4096, 16384), 1, 1024), split = whole;
    bench_split(&split, 1024 / X / Y, X, Y);
    Op ops[2][OPS_MAX];
    ops_of_layer(&(ShardedLayer){&whole.model, &whole.model.kinds[0], &whole.shard, &whole.sharding},
                 &whole.knobs.methods, 1, ops[0]);
    ops_of_layer(&(ShardedLayer){&split.model, &split.model.kinds[0], &split.shard, &split.sharding},
                 &split.knobs.methods, 1, ops[1]);
    return ops[1][0].flops[PHASE_FORWARD] / ops[0][0].flops[PHASE_FORWARD];
}

static double saved_bytes(Model model, double tokens, Activation activation) {
    Bench bench = bench_of(model, 1, tokens);
    CostContext setting = bench_setting(&bench);
    ActivationCost costs[ACTIVATION_COUNT];
    stage_activations(&setting, &bench.shard, &bench.knobs, &bench.sharding, costs);
    return costs[activation].bytes;
}

/* Checkpoints after the three big matmuls: the layer's input, and gate and up. */
static double checkpoint_bytes(double D, double ratio, double B) {
    Model model = dense_13b(1, D, round(ratio * D), 40, 128, 32000);
    return saved_bytes(model, B, ACTIVATION_LAYER_INPUT) + saved_bytes(model, B, ACTIVATION_GATE_UP);
}

/* bf16 weights of one layer over `ways` of fsdp. */
static double parameters_bytes(Model model, double ways) {
    Bench bench = bench_of(model, 1, 1);
    bench.shard.fsdp = ways;
    CostContext setting = bench_setting(&bench);
    MemoryRows rows;
    memory_rows(&(ShardedStage){&setting, &bench.shard, &bench.knobs, &bench.sharding}, MOMENT_UPDATE, 0, &rows);
    return rows.parameters_bytes / LAYERS;
}

/* ---- part 5: break-even points beyond the workbench's ---- */
static double width_excess(double F, void *context) {
    Bench *bench = context;
    bench->model = book_model(8192, (int64_t)F);
    return bench_exposed(bench);
}

/* The F that `tensor` ways need on one axis. */
static double tensor_width(double tensor, double alpha) {
    Bench bench = bench_of(book_model(8192, 1), alpha, 1);
    bench_split(&bench, 1024, 1, tensor);
    bench_rate(&bench, GROUP_TENSOR, closed_axes(COLLECTIVE_ALL_GATHER, 1, 1), 0);
    return break_even(width_excess, &bench, 1000, 1e6);
}

static double book_mix(double F, double alpha, int fsdp_axes, int tensor_axes, bool overlapped) {
    return mix_threshold(book_model(8192, (int64_t)F), 1, alpha, 1, fsdp_axes, tensor_axes, overlapped);
}

/* Communication over compute of the forward pass at X x Y. */
static double mix_ratio(const Case *c, bool overlapped) {
    double X = input(c, "X"), Y = input(c, "Y");
    Mix mix = mix_of(book_model(8192, (int64_t)input(c, "F")), X * Y, input(c, "alpha"), 1, (int)input(c, "MX"),
                     (int)input(c, "MY"), overlapped);
    bench_split(&mix.bench, input(c, "B") / (X * Y), X, Y);
    double fsdp = layer_group_seconds(&mix.bench, GROUP_WEIGHTS, PHASE_FORWARD);
    double tensor = layer_group_seconds(&mix.bench, GROUP_TENSOR, PHASE_FORWARD);
    return (overlapped ? max_real(fsdp, tensor) : fsdp + tensor) / layer_compute_seconds(&mix.bench, PHASE_FORWARD);
}

/* There are 1000 equal layers a stage, and a negligible vocabulary. */
static double bubble_share(double stages, double microbatches) {
    Model model = book_model(8192, 28672);
    model.layers = model.kinds[0].count = 1000 * (int64_t)stages;
    Bench bench = bench_of(model, 1e15, 4096);
    bench.shard.pipeline = stages;
    bench.shard.layers = bench.shard.layers_last = 1000;
    bench.shard.microbatches = microbatches;
    bench.knobs.schedule = SCHEDULE_1F1B;
    CostContext setting = bench_setting(&bench);
    Resources resources = bench_resources(&bench);
    StepRule rule;
    StepTime time;
    step_rule(&setting, &bench.shard, &bench.knobs, &rule);
    step_time(&rule, &resources, &bench.rates, &time);
    return time.bubble_seconds / (time.bubble_seconds + time.compute_seconds);
}

/* Bytes of a layer's weights and gradients per step: gathered twice and scattered, 12DF, over an all_reduce of
 * gradients, 2 x 4DF. */
static double fsdp_over_data_traffic(void) {
    Bench fsdp = bench_of(book_model(8192, 28672), 1, 4096), data = fsdp;
    fsdp.shard.fsdp = 64;
    data.shard.data = 64;
    Resources resources = bench_resources(&fsdp);
    CostContext setting = bench_setting(&data);
    StepRule rule;
    step_rule(&setting, &data.shard, &data.knobs, &rule);
    return (resources.of[res_bytes(GROUP_WEIGHTS, PHASE_FORWARD)] +
            resources.of[res_bytes(GROUP_WEIGHTS, PHASE_BACKWARD)]) /
           rule.data_end[0].bytes;
}

static double context_excess(double local_tokens, void *context) {
    Bench *bench = context;
    bench->shard.tokens = local_tokens;
    bench->shard.seq = local_tokens * bench->shard.sequence;
    Resources resources = bench_resources(bench);
    double transfer = layer_group_seconds(bench, GROUP_SEQUENCE, PHASE_FORWARD) * bench->shard.layers;
    return transfer / resources.of[RES_ATTENTION_FORWARD] - 1;
}

/* The tokens of a chip from which gathering keys and values hides behind the scores, causal. */
static double gathered_context_threshold(double alpha, double G) {
    Bench bench = bench_of(dense_model(1, 8192, 28672, 8 * (int64_t)G, 8, 128, 1), alpha, 1);
    bench.shard.sequence = 1e9;
    bench.knobs.methods.context = CONTEXT_ALL_GATHER;
    bench_rate(&bench, GROUP_SEQUENCE, closed_axes(COLLECTIVE_ALL_GATHER, 1, 1), 0);
    return break_even(context_excess, &bench, 1, 1e6);
}

/* ---- the table ---- */
#define CASE CASE_FUNCTION
#include "tests/cost/book_cases.h"
#undef CASE

static const Handler HANDLERS[] = {
#define CASE(id, ...) {#id, case_##id},
#include "tests/cost/book_cases.h"
#undef CASE
};

Test(book, every_row) { check_book(SHARDOPT_TEST_DATA "/book/cases.tsv", HANDLERS, COUNT_OF(HANDLERS)); }
