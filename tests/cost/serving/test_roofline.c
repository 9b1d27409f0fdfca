/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The numbers of the book's chapters on serving, by the functions that price serving and by the book's formulas. The
 * handlers are in book_cases.h, one for each row; their words are here. Break-even points are searched, never
 * computed. */
#include "base/util.h"
#include "cost/serving/cache.h"
#include "cost/serving/memory.h"
#include "cost/serving/step.h"
#include "tests/cost/book_table.h"
#include "tests/cost/serving/book_formulas.h"

/* Where a falling function of x crosses zero. */
static double crossing(double (*excess)(double x, const double *with), const double *with) {
    double low = 1e-12, high = 1e18;
    for (int i = 0; i < 400; i++) {
        double middle = sqrt(low * high);
        *(excess(middle, with) > 0 ? &low : &high) = middle;
    }
    return low;
}

/* ---- the step ---- */
static double step_of(const Case *c, double parameters, double weight_bytes, double batch, double cache) {
    Roofline machine = {input(c, "N"), input_or(c, "C", 1), input(c, "W_hbm"), weight_bytes, parameters};
    return step_roofline(&machine, batch, cache);
}
#define step_seconds(parameters, batch, cache) step_of(c, parameters, in("P"), batch, cache)
#define bf16_step_seconds(c) step_of(c, in("P"), 2 * in("P"), in("B"), in("kv"))

static double weights_seconds(double bytes, double chips, double bandwidth) {
    return step_roofline(&(Roofline){chips, 1, bandwidth, bytes, 0}, 0, 0);
}

static double prefill_seconds(const Case *c, double attention) {
    Roofline machine = {input(c, "N"), input(c, "C"), 1, 0, input(c, "P")};
    return prefill_roofline(&machine, input(c, "B"), attention, input_or(c, "mfu", 1));
}

static double prefill_flops(double parameters, double tokens) {
    return prefill_roofline(&(Roofline){1, 1, 1, 0, parameters}, tokens, 0, 1);
}

static double step_slack(double chips, const double *with) {
    return weights_seconds(with[0], chips, with[2]) - with[1];
}
static double chips_for_step(double bytes, double seconds, double bandwidth) {
    return crossing(step_slack, (double[]){bytes, seconds, bandwidth});
}

static double cache_slack(double cache, const double *with) {
    return with[1] - step_roofline(&(Roofline){with[0], 1, with[2], with[3], 0}, 1, cache);
}
static double cache_in_step(double chips, double seconds, double bandwidth, double weights) {
    return crossing(cache_slack, (double[]){chips, seconds, bandwidth, weights});
}

static double context_slack(double context, const double *with) {
    return roofline_seconds(prefill_flops(with[0], 1), with[1], 0, 1) -
           roofline_seconds(0, 1, context * with[3], with[2]);
}
static double context_crossover(double parameters, double peak, double bandwidth, double token) {
    return crossing(context_slack, (double[]){parameters, peak, bandwidth, token});
}

/* ---- memory ---- */
static WorkerMemory memory_of(double limit, double weights, double sequence, double batch) {
    MemoryPlan plan = {
        .limit_bytes = limit, .weights_bytes = weights, .sequence_bytes = sequence, .ranks = 1, .cuts = 1, .stages = 1};
    WorkerMemory memory;
    memory_of_load(&plan, batch, 0, &memory);
    return memory;
}

static double held_bytes(double batch, double sequence, double weights) {
    WorkerMemory memory = memory_of(0, weights, sequence, batch);
    return worker_memory_total(&memory);
}

static double free_bytes(double chips, double hbm, double weights) {
    WorkerMemory memory = memory_of(chips * hbm, weights, 0, 0);
    return memory.limit_bytes - worker_memory_total(&memory);
}

static double lacking(double chips, const double *with) {
    WorkerMemory memory = memory_of(with[1], with[0] / chips, 0, 0);
    return memory_fits(&memory) ? -1 : 1;
}
static double chips_that_hold(double bytes, double hbm) {
    double chips = crossing(lacking, (double[]){bytes, hbm}), whole = round(chips);
    return fabs(chips - whole) < 1e-9 * chips ? whole : chips;
}

static double sequences_that_exceed(double bytes, double sequence) { return floor(bytes / sequence) + 1; }

/* ---- the cache ---- */
static const Model *heads_model(double kv_heads, double head_dim, double layers) {
    static Model model;
    model = (Model){.layers = (int64_t)layers, .kind_count = 1};
    model.kinds[0] =
        (LayerKind){.count = (int64_t)layers, .heads = 1, .kv_heads = (int64_t)kv_heads, .head_dim = (int64_t)head_dim};
    return &model;
}

static double token_bytes(double kv_heads, double head_dim, double layers, double bytes) {
    return cache_bytes_per_sequence(heads_model(kv_heads, head_dim, layers), bytes, 1, 1);
}

static double latent_token_bytes(double layers, double rank, double rope, double bytes) {
    Model model = {.kind_count = 1};
    model.kinds[0] = (LayerKind){.count = (int64_t)layers,
                                 .attention = ATTENTION_LATENT,
                                 .heads = 1,
                                 .kv_lora_rank = (int64_t)rank,
                                 .qk_rope_head_dim = (int64_t)rope};
    return cache_bytes_per_sequence(&model, bytes, 1, 1);
}

/* A sequence whose tokens take so many bytes each: one head of half of them. */
static double sequence_bytes(double token, double tokens) {
    Model model = {.kind_count = 1};
    model.kinds[0] = (LayerKind){.count = 1, .heads = 1, .kv_heads = 1, .head_dim = 1};
    return cache_bytes_per_sequence(&model, token / 2, tokens, 1);
}

static double further_ways(double ways, double heads) {
    return (double)cache_copies(&heads_model(heads, 1, 1)->kinds[0], (int64_t)ways);
}

static double cut_cache_bytes(double batch, double sequence, double chips) {
    const LayerKind *kind = &heads_model(8, 1, 1)->kinds[0];
    return batch * sequence * cache_share_of_chip(kind, (int64_t)chips, cache_copies(kind, (int64_t)chips));
}

/* ---- weights ---- */
static const ServingProfile PEAK = {.matmul_hbm_share = {1, 1, 1},
                                    .matmul_flops_share = {1, 1, 1},
                                    .attention_hbm_share = {1, 1},
                                    .latent_hbm_share = {1, 1},
                                    .prefill_attention_flops_share = 1,
                                    .expert_hbm_share = {1, 1, 1},
                                    .expert_flops_share = {1, 1, 1},
                                    .page_tokens = 1,
                                    .memory_fraction = 1,
                                    .link_share = 1,
                                    .exchange_share = 1};
static const WorkerLayout ALONE = {1, 1, 1, 1, 1, 1, 1, 1, STORED_INT8, STORED_INT8};

static Model row_model(const Case *c, double experts) {
    int64_t E = (int64_t)experts;
    Model model = {.layers = (int64_t)input(c, "L"),
                   .d_model = (int64_t)input(c, "D"),
                   .vocab = (int64_t)input_or(c, "V", 0),
                   .tied = true,
                   .kind_count = 1};
    model.kinds[0] = (LayerKind){.count = model.layers,
                                 .heads = (int64_t)input(c, "N"),
                                 .kv_heads = (int64_t)input(c, "K"),
                                 .head_dim = (int64_t)input(c, "H"),
                                 .gated = true};
    if (E > 1) {
        model.kinds[0].experts = E;
        model.kinds[0].top_k = 1;
        model.kinds[0].d_ff_expert = (int64_t)input(c, "F");
    } else
        model.kinds[0].d_ff = (int64_t)input_or(c, "F", 0);
    return model;
}

static double model_weights(const Case *c, double experts) {
    Model model = row_model(c, experts);
    return worker_weights_bytes(&(ServedModel){.model = &model, .profile = &PEAK}, &ALONE);
}

static double attention_weights(const Case *c) { return model_weights(c, 1); }

static double mlp_weights(double d, double f, double layers) {
    Model model = {.d_model = (int64_t)d, .kind_count = 1};
    model.kinds[0] =
        (LayerKind){.count = (int64_t)layers, .heads = 1, .kv_heads = 1, .gated = true, .d_ff = (int64_t)f};
    WorkerMatrices matrices;
    double sum = 0;
    worker_matrices(&model, &model.kinds[0], &ALONE, &matrices);
    for (int i = 0; i < matrices.count; i++) sum += matrices.list[i].parameters;
    return sum * layers;
}

static double head_weights(double vocabulary, double d) {
    return head_parameters(&(Model){.vocab = (int64_t)vocabulary, .d_model = (int64_t)d}, &ALONE);
}

static double experts_of_chip(double experts, double ways, double parts) {
    Model model = {.d_model = 1, .kind_count = 1};
    WorkerLayout layout = ALONE;
    WorkerMatrices matrices;
    model.kinds[0] = (LayerKind){.count = 1,
                                 .heads = 1,
                                 .kv_heads = 1,
                                 .experts = (int64_t)experts,
                                 .top_k = 1,
                                 .gated = true,
                                 .d_ff_expert = 1};
    layout.expert = (int64_t)ways;
    layout.expert_tensor = (int64_t)parts;
    worker_matrices(&model, &model.kinds[0], &layout, &matrices);
    return matrices.experts * matrices.expert_parameters / 3;
}

/* Tokens from which reading all experts takes as long as multiplying with them, on a chip whose ridge is `ridge`. */
static double expert_tokens(double experts, double top_k, double ridge) {
    Model model = {.layers = 1, .d_model = 64, .kind_count = 1};
    Chip chip = {.bf16_flops_per_second = {.value = ridge}, .hbm_bytes_per_second = {.value = 1}};
    WorkerLayout layout = ALONE;
    WorkerLinks links = {0};
    StepPlan plan;
    model.kinds[0] = (LayerKind){.count = 1,
                                 .heads = 1,
                                 .kv_heads = 1,
                                 .head_dim = 1,
                                 .experts = (int64_t)experts,
                                 .top_k = (int64_t)top_k,
                                 .gated = true,
                                 .d_ff_expert = 64};
    layout.weights = STORED_BF16;
    step_plan(&(ServedModel){&model, &chip, &PEAK, {0, 0}, {0, 0}}, &layout, &links, &plan);
    return plan.kinds[0].experts_bytes_seconds / plan.kinds[0].experts_token_seconds;
}

static double activation_bytes(double tokens, double width, double bytes) {
    return matmul_bytes(tokens, width, 0, bytes, bytes);
}

/* ---- messages ---- */
static double limit_gather_seconds(double bytes, double both_ways) {
    GroupAxis ring = {.factor = 4, .stride = 1, .kind = AXIS_RING, .bytes_per_second = both_ways / 2};
    return collective_seconds(limit_collective_cost(COLLECTIVE_ALL_GATHER, &ring, 1), 1, bytes);
}

static double switch_seconds(Collective op, double chips, double rate, double bytes) {
    GroupAxis axis = {.factor = chips, .stride = 1, .kind = AXIS_SWITCH, .bytes_per_second = rate};
    return collective_seconds(group_collective_cost(op, &axis, 1), 1, bytes);
}

static double gather_rate(double chips, double rate) {
    return 1 / switch_seconds(COLLECTIVE_ALL_GATHER, chips, rate, 1);
}

static double hops_seconds(double chips, double hop) {
    GroupAxis ring = {.factor = chips, .stride = 1, .kind = AXIS_RING, .bytes_per_second = 1, .latency_seconds = hop};
    return collective_seconds(group_collective_cost(COLLECTIVE_ALL_GATHER, &ring, 1), 1, 0);
}

static double latency_bound_bytes(double chips, double link, double hop) {
    return hops_seconds(chips, hop) / limit_gather_seconds(1, 2 * link);
}

/* The ring of 1 us hops and 4.5e10 B/s on which a message of so many bytes is held up by both alike. */
static double latency_bound_ways(double bytes) { return bytes / (latency_bound_bytes(2, 4.5e10, 1e-6) / 2); }

static double ring_over_switch(double chips) {
    GroupAxis ring = {.factor = chips, .stride = 1, .kind = AXIS_RING, .bytes_per_second = 0.5};
    double torus = collective_seconds(limit_collective_cost(COLLECTIVE_ALL_TO_ALL, &ring, 1), 1, 1);
    return torus / (switch_seconds(COLLECTIVE_ALL_TO_ALL, chips, 1, 1) * chips / (chips - 1));
}

/* Ways of tensor up to which a matmul's weights take longer than its message: W = 1. */
static double decode_slack(double ways, const double *with) {
    return roofline_seconds(0, 1, matmul_bytes(0, 1, with[0], 2, 2), ways * with[2]) -
           limit_gather_seconds(activation_bytes(with[1], 1, 2), 1);
}
static double decode_tensor_limit(double F, double batch, double beta) {
    return crossing(decode_slack, (double[]){F, batch, beta});
}

static double compute_slack(double ways, const double *with) {
    return roofline_seconds(matmul_flops(1, 1, with[0]), ways * with[2], 0, 1) -
           limit_gather_seconds(activation_bytes(1, 1, 2), with[1]);
}
static double compute_tensor_limit(double F, double links, double peak) {
    return crossing(compute_slack, (double[]){F, links, peak});
}

/* Bytes that an MLP in two dimensions moves, over B D, on N chips cut x ways by d_model. */
static double flat_step(int64_t N, int64_t x, double F_over_D) {
    StepPlan plan = {.kind_count = 1,
                     .token_bytes = 2,
                     .wide_bytes = 2 * F_over_D,
                     .layers = 1,
                     .pipeline_share = 1,
                     .layout = ALONE};
    StepCost cost;
    plan.kinds[0] = (StepKind){.layers = 1, .reduces = 1};
    plan.layout.tensor = N;
    plan.layout.stationary = x;
    plan.links.gather = (MessageCost){.some = true, .share = 1, .cost = {{0, 0}, {1, 1}}};
    if (x == 1) return 2 / 1.0 + 4 * F_over_D / (double)N;
    worker_step(&plan, &(StepLoad){.sequences = 1, .context = 1}, &cost);
    return cost.terms[STEP_REDUCE];
}

static double flat_best(int64_t N, double F_over_D, int64_t *ways) {
    double best = INFINITY;
    for (int64_t x = 1; x <= N; x++)
        if (N % x == 0 && flat_step(N, x, F_over_D) < best) best = flat_step(N, *ways = x, F_over_D);
    return best;
}

static double flat_ways(double N, double F_over_D) {
    int64_t ways = 0;
    flat_best((int64_t)N, F_over_D, &ways);
    return (double)ways;
}

/* At N = 1: the coefficient of 1 / sqrt(N), which whole ways reach where they are the best real ones. */
static double flat_bytes(double N, double F_over_D) {
    int64_t ways;
    double best = INFINITY;
    if (N > 1) return flat_best((int64_t)N, F_over_D, &ways);
    for (int64_t n = 2; n <= 512; n++) best = fmin(best, flat_best(n, F_over_D, &ways) * sqrt((double)n));
    return best;
}

static double plain_bytes(double axes) {
    GroupAxis rings[3];
    for (int i = 0; i < 3; i++)
        rings[i] = (GroupAxis){.factor = 4, .stride = 1, .kind = AXIS_RING, .bytes_per_second = 0.5};
    return collective_seconds(limit_collective_cost(COLLECTIVE_ALL_REDUCE, rings, (int)axes), 1, 2);
}

static double flat_threshold(double F_over_D) {
    double root = flat_bytes(1, F_over_D) / plain_bytes(3);
    return root * root;
}

/* ---- loads ---- */
static double new_share(double cached) { return prefill_per_step(1, &(ServedRequest){1, 1, cached}, 1); }

/* ---- the table ---- */
#define CASE CASE_FUNCTION
#include "tests/cost/serving/book_cases.h"
#undef CASE

static const Handler HANDLERS[] = {
#define CASE(id, ...) {#id, case_##id},
#include "tests/cost/serving/book_cases.h"
#undef CASE
};

Test(roofline, every_row_of_the_book) {
    check_book(SHARDOPT_TEST_DATA "/serving/cases.tsv", HANDLERS, COUNT_OF(HANDLERS));
}
