/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Break-even points of the book's parts 5 and 6, searched over the prices of stage_resources and step_time; the search
 * uses none of their formulas. Beside them the same with the parts that the book leaves out: the real layer of LLaMA-3
 * 70B, exact rings, lines, backward passes. */
#include "tests/cost/workbench.h"

#include <criterion/criterion.h>

/* v5p as the book has it: alpha = 4.59e14 / 1.8e11 = 2550. */
static const double C = 4.59e14, W = 1.8e11, W_DCN = 6.25e9;
enum { POD = 8960 };

static Model book_70b(void) { return book_model(8192, 28672); }
static Model book_13b(void) { return book_model(5120, 13824); }

/* LLaMA-3 70B, one layer: P = 3DF + 2DH(N + K) = 704,643,072 + 150,994,944 = 855,638,016 in matrices, 2D = 16,384 in
 * norms; causal attention at S = 4096: 4 * S/2 * N * H = 67,108,864 FLOPs per token forward, against 2P =
 * 1,711,276,032: a = 3.9216% more to hide behind. */
static const double P = 855638016, NORMS = 16384, ATTENTION = 67108864;
static const double SEQ = 4096;

/* ---- pure FSDP ---- */
static CollectiveCost pod_rings(void) {
    GroupAxis axes[] = {ring_axis(16, W / 2), ring_axis(20, W / 2), ring_axis(28, W / 2)};
    return group_collective_cost(COLLECTIVE_ALL_GATHER, axes, 3);
}

static CollectiveCost cube(bool closed) {
    GroupAxis ring = ring_axis(4, W / 2), line = line_axis(4, W / 2),
              axes[] = {closed ? ring : line, closed ? ring : line, closed ? ring : line};
    return group_collective_cost(COLLECTIVE_ALL_GATHER, axes, 3);
}

Test(break_even, fsdp) {
    CollectiveCost book[] = {closed_axes(COLLECTIVE_ALL_GATHER, 1, W), closed_axes(COLLECTIVE_ALL_GATHER, 2, W),
                             closed_axes(COLLECTIVE_ALL_GATHER, 3, W)};
    double real = 850 * (P + NORMS) / (P + ATTENTION / 2); /* 2(P + norms) bytes against 2P + attention FLOPs: 817.94 */
    const struct {
        const char *name;
        Model model;
        CollectiveCost cost;
        double expected, tolerance;
    } rows[] = {
        {"book: 3 axes of v5p", book_70b(), book[2], 850, 1e-9},
        {"book: 2 axes", book_70b(), book[1], 1275, 1e-9},
        {"book: 1 axis", book_70b(), book[0], 2550, 1e-9},
        {"the width of the layer does not matter", book_13b(), book[2], 850, 1e-9},
        {"exact: the whole pod moves 8959 of 8960 parts", book_70b(), pod_rings(), 850. * 8959 / 8960, 1e-9},
        {"exact: a cube of rings, 63 of 64", book_70b(), cube(true), 850. * 63 / 64, 1e-9},
        {"exact: a cube of lines, half the links", book_70b(), cube(false), 1700. * 63 / 64, 1e-9},
        {"real layer: attention is work without weights", llama3_70b(), book[2], real, 1e-9},
        {"real layer, by hand", llama3_70b(), book[2], 817.94, 1e-5},
        {"real layer, exact pod", llama3_70b(), pod_rings(), real * 8959 / 8960, 1e-9},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        double found = fsdp_threshold_of(rows[i].model, SEQ, C, rows[i].cost);
        cr_expect_float_eq(found, rows[i].expected, rows[i].tolerance * rows[i].expected, "%s: %.9g", rows[i].name,
                           found);
    }
}

/* ---- pure tensor ---- */
typedef struct {
    Bench bench;
    bool closed;
} TensorAxis;

static double exact_tensor_excess(double tensor, void *context) {
    TensorAxis *search = context;
    GroupAxis axis = search->closed ? ring_axis(tensor, W / 2) : line_axis(tensor, W / 2);
    bench_split(&search->bench, 1024, 1, tensor);
    bench_rate(&search->bench, GROUP_TENSOR, group_collective_cost(COLLECTIVE_ALL_GATHER, &axis, 1), 0);
    return bench_exposed(&search->bench);
}

static double exact_tensor_limit(Model model, bool closed) {
    TensorAxis search = {.bench = bench_of(model, C, 1), .closed = closed};
    search.bench.shard.seq = SEQ;
    return break_even(exact_tensor_excess, &search, 1.01, 1e3);
}

/* Book: 4 bytes x BD both ways against 4BDF/Y FLOPs: Y = F / alpha on one axis. Exact rings move (Y - 1)/Y of that:
 * Y - 1 = F / alpha; lines at half the rate: Y - 1 = F / (2 alpha). The real layer has two blocks, 8BD bytes, and
 * (2P + attention) / Y FLOPs per token: Y = (2P + attention) / (8D alpha), 1,778,384,896 / 167,116,800 = 10.6416. */
Test(break_even, tensor) {
    const double real = (2 * P + ATTENTION) / (8 * 8192.) / 2550;
    const struct {
        const char *name;
        double found, expected;
    } rows[] = {
        {"book: F = 28672", tensor_limit(28672, C, W, 1), 28672 / 2550.},
        {"book: two axes", tensor_limit(28672, C, W, 2), 2 * 28672 / 2550.},
        {"exact ring", exact_tensor_limit(book_70b(), true), 1 + 28672 / 2550.},
        {"exact line", exact_tensor_limit(book_70b(), false), 1 + 28672 / 5100.},
        {"real layer, exact ring", exact_tensor_limit(llama3_70b(), true), 1 + real},
        {"real layer, exact line", exact_tensor_limit(llama3_70b(), false), 1 + real / 2},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        cr_expect_float_eq(rows[i].found, rows[i].expected, 1e-9 * rows[i].expected, "%s: %.9g", rows[i].name,
                           rows[i].found);
    cr_expect_float_eq(real, 10.6416, 1e-4);
}

/* ---- fsdp x tensor ---- */

/* With u the seconds of gathers and w those of activations, u w does not depend on the split: the sum is least, 2
 * sqrt(u w), where both are equal, and so is the larger, sqrt(u w). Two matrices: 4 alpha^2 / (M_X M_Y F) in turns,
 * a quarter of it side by side. The real layer, b tokens per chip, Y ways: u = 2P/Y / (2W), w = 4 passes of 2 bY D
 * bytes / W, so u w = 8 b P D / W^2; compute (2P + a) b / C. In turns b = 32 P D (alpha / (2P + a))^2 = 32 x
 * 855,638,016 x 8192 x (2550 / 1,778,384,896)^2 = 461.17; side by side 115.29. Norms, which tensor does not split,
 * add 0.02%. */
Test(break_even, fsdp_and_tensor) {
    const double real = 32 * P * 8192 * pow(2550 / (2 * P + ATTENTION), 2);
    const struct {
        const char *name;
        Model model;
        int fsdp_axes, tensor_axes;
        bool overlapped;
        double expected, tolerance;
    } rows[] = {
        {"A30: 453, in turns", book_70b(), 2, 1, false, 453.5784, 1e-6},
        {"A31: 113, side by side", book_70b(), 2, 1, true, 113.3946, 1e-6},
        {"axes the other way round: the same", book_70b(), 1, 2, false, 453.5784, 1e-6},
        {"one axis each: twice", book_70b(), 1, 1, true, 226.7892, 1e-6},
        {"G33: 13B, in turns", book_13b(), 2, 1, false, 940.75521, 1e-6},
        {"G34: 13B, side by side", book_13b(), 2, 1, true, 235.1888, 1e-6},
        {"G12: F = 32768", book_model(8192, 32768), 2, 1, false, 396.8811, 1e-6},
        {"G14: F = 30000", book_model(8192, 30000), 2, 1, false, 433.5, 1e-6},
        {"A42: 405B, side by side", book_model(16384, 53248), 2, 1, true, 61.058631, 1e-6},
        {"the real 70B, in turns", llama3_70b(), 2, 1, false, real, 3e-4},
        {"the real 70B, side by side", llama3_70b(), 2, 1, true, real / 4, 3e-4},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        double found =
            mix_threshold(rows[i].model, SEQ, C, W, rows[i].fsdp_axes, rows[i].tensor_axes, rows[i].overlapped);
        cr_expect_float_eq(found, rows[i].expected, rows[i].tolerance * rows[i].expected, "%s: %.9g", rows[i].name,
                           found);
    }
    cr_expect_float_eq(real, 461.17, 0.01);
}

/* The best split of 8960 chips, forward pass: where 4DF/Y and 4BD/X bytes take equally long. A whole step has 12DF/Y
 * and 8BD/X: sqrt(8/12) as many fsdp ways. The real layer forward, 2P/Y and 8BD/X: X = sqrt(8BD N M_X / (2P M_Y)). */
static double mix_step_seconds(double fsdp, void *context) {
    Mix *mix = context;
    bench_split(&mix->bench, mix->tokens_per_chip, fsdp, mix->chips / fsdp);
    double seconds = 0;
    for (int phase = 0; phase < PHASE_COUNT; phase++)
        seconds += layer_group_seconds(&mix->bench, GROUP_WEIGHTS, (Phase)phase) +
                   layer_group_seconds(&mix->bench, GROUP_TENSOR, (Phase)phase);
    return seconds;
}

Test(break_even, best_split) {
    const double B = 4.19e6, N = POD;
    const struct {
        const char *name;
        Curve seconds;
        Model model;
        double expected, tolerance;
    } rows[] = {
        {"A32: 1618, forward", mix_forward_seconds, book_70b(), 1618.2552, 1e-6},
        {"a whole step: 1321", mix_step_seconds, book_70b(), 1618.2552 * sqrt(8. / 12), 1e-6},
        {"the real layer, forward: 1696", mix_forward_seconds, llama3_70b(), sqrt(2 * B * N * 8 * 8192 / (2 * P)),
         1e-6},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Mix mix = mix_of(rows[i].model, N, C, W, 2, 1, false);
        mix.tokens_per_chip = B / N;
        double found = least_at(rows[i].seconds, &mix, 1.01, N / 1.01);
        cr_expect_float_eq(found, rows[i].expected, rows[i].tolerance * rows[i].expected, "%s: %.9g", rows[i].name,
                           found);
    }
    double g35 = fsdp_optimum(3e6, 13824, 4096, 2, 1);
    cr_expect_float_eq(g35, 1333.3333, 1e-3, "G35: %.9g", g35);
}

/* 2048 x 4 of 4 Mi tokens, forward pass. Book: (3584 + 2048) of 5757 equal parts, 0.97831 (D05). Exact: 2047/2048 of
 * the gathers; four chips in a ring move 3/4 of the activations, in a line (four neighbours of a longer axis), 3/4 at
 * half the rate: (3582.25 + 1536) / 5632 x 0.97831 = 0.88907 and (3582.25 + 3072) / 5632 x 0.97831 = 1.15587: the
 * book's plan is not compute bound. */
Test(break_even, exact_2048_by_4) {
    GroupAxis ring = ring_axis(4, W / 2), line = line_axis(4, W / 2);
    GroupAxis gathers[] = {ring_axis(32, W / 2), ring_axis(64, W / 2)};
    const struct {
        const char *name;
        CollectiveCost fsdp, tensor;
        double expected;
    } rows[] = {
        {"book", closed_axes(COLLECTIVE_ALL_GATHER, 2, W), closed_axes(COLLECTIVE_ALL_GATHER, 1, W), 0.97831},
        {"a ring of four", group_collective_cost(COLLECTIVE_ALL_GATHER, gathers, 2),
         group_collective_cost(COLLECTIVE_ALL_GATHER, &ring, 1), 0.88907},
        {"four neighbours", group_collective_cost(COLLECTIVE_ALL_GATHER, gathers, 2),
         group_collective_cost(COLLECTIVE_ALL_GATHER, &line, 1), 1.15587},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Bench bench = bench_of(book_70b(), C, 1);
        bench_split(&bench, 4194304. / 8192, 2048, 4);
        bench_rate(&bench, GROUP_WEIGHTS, rows[i].fsdp, 0);
        bench_rate(&bench, GROUP_TENSOR, rows[i].tensor, 1);
        double found = (layer_group_seconds(&bench, GROUP_WEIGHTS, PHASE_FORWARD) +
                        layer_group_seconds(&bench, GROUP_TENSOR, PHASE_FORWARD)) /
                       layer_compute_seconds(&bench, PHASE_FORWARD);
        cr_expect_float_eq(found, rows[i].expected, 1e-5 * rows[i].expected, "%s: %.9g", rows[i].name, found);
    }
}

/* ---- replicas over DCN ---- */
Test(break_even, data_over_dcn) {
    GroupAxis many = switch_axis(64, W_DCN), two = switch_axis(2, W_DCN), eight = switch_axis(8, W_DCN);
    const struct {
        const char *name;
        CollectiveCost cost;
        double slices, expected;
    } rows[] = {
        {"G21: many slices", limit_collective_cost(COLLECTIVE_ALL_GATHER, &many, 1), 64, 73440},
        {"D07: two slices send half", group_collective_cost(COLLECTIVE_ALL_GATHER, &two, 1), 2, 36720},
        {"eight send 7/8", group_collective_cost(COLLECTIVE_ALL_GATHER, &eight, 1), 8, 73440 * 7. / 8},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        double found = data_threshold(C, rows[i].cost, rows[i].slices);
        cr_expect_float_eq(found, rows[i].expected, 1e-9 * rows[i].expected, "%s: %.12g", rows[i].name, found);
    }
}

/* ---- context: keys and values behind scores ---- */
typedef struct {
    Bench bench;
    Phase phase;
} Context;

static double context_excess(double local, void *context) {
    Context *search = context;
    Shard *shard = &search->bench.shard;
    shard->tokens = local;
    shard->seq = local * shard->sequence;
    Resources resources = bench_resources(&search->bench);
    double transfer = layer_group_seconds(&search->bench, GROUP_SEQUENCE, search->phase) * shard->layers;
    return transfer / resources.of[RES_ATTENTION_FORWARD + (int)search->phase] - 1;
}

static double context_threshold(ContextMethod method, double ways, CollectiveCost cost, Phase phase) {
    Context search = {.bench = bench_of(llama3_70b(), C, 1), .phase = phase};
    search.bench.shard.sequence = ways;
    search.bench.knobs.methods.context = method;
    bench_rate(&search.bench, GROUP_SEQUENCE, cost, 0);
    return break_even(context_excess, &search, 1, 1e6);
}

/* 4 T K H bytes of keys and values a sequence against (T/s) 2 T N H causal FLOPs: T/s = 2 alpha / G gathered over both
 * directions (docs/model.md, "Context parallelism"; row D10: half of it where the mask is full). A ring passes blocks
 * one way at W/2, (s - 1)/s of them: 4 alpha / G (s - 1)/s. Backward brings them again and takes gradients back, twice
 * the bytes, behind 2.5 times the FLOPs: 2/2.5 of it. */
Test(break_even, context) {
    enum { WAYS = 1 << 20 }; /* whole sequences of local x 2^20 tokens: the threshold is resolved to 1e-9 */
    GroupAxis axis = ring_axis(WAYS, W / 2), short_axis = ring_axis(8, W / 2);
    CollectiveCost gather = limit_collective_cost(COLLECTIVE_ALL_GATHER, &axis, 1),
                   pass = group_collective_cost(COLLECTIVE_PERMUTE, &short_axis, 1);
    const struct {
        const char *name;
        double found, expected;
    } rows[] = {
        {"gathered, causal", context_threshold(CONTEXT_ALL_GATHER, WAYS, gather, PHASE_FORWARD), 2 * 2550 / 8.},
        {"gathered, backward", context_threshold(CONTEXT_ALL_GATHER, WAYS, gather, PHASE_BACKWARD),
         2 * 2550 / 8. * 2 / 2.5},
        {"a ring of very many", context_threshold(CONTEXT_RING, WAYS, pass, PHASE_FORWARD),
         4 * 2550 / 8. * (WAYS - 1) / WAYS},
        {"a ring of 8", context_threshold(CONTEXT_RING, 8, pass, PHASE_FORWARD), 4 * 2550 / 8. * 7 / 8},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) /* seq is cut to whole tokens: 8 ways resolve an eighth of one */
        cr_expect_float_eq(rows[i].found, rows[i].expected, 2e-4 * rows[i].expected, "%s: %.9g", rows[i].name,
                           rows[i].found);
}
