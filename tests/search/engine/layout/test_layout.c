/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/util.h"
#include "search/engine/layout/decisions.h"
#include "tests/sanitizer.h"
#include "tests/search/layout_random.h"

#include <criterion/criterion.h>

/* One activation, one microbatch, 1 + 2 s of compute, no communication: answers by hand. */
static const struct {
    const char *name;
    int layers;
    double bytes; /* of one layer; the rest of memory is 0 */
    double limit;
    double recompute;    /* seconds of one layer; < 0: not recomputable */
    double offload_rate; /* bytes / s, out and back together move 2 x bytes */
    double microbatches, bubble;
    bool found;
    double seconds;
    int recomputed, offloaded;
} CASES[] = {
    {"memory is ample: nothing is recomputed", 10, 1e9, 10e9, 0.5, 0, 1, 0, true, 3, 0, 0},
    {"half a layer is missing: one is recomputed", 10, 1e9, 9.5e9, 0.5, 0, 1, 0, true, 3.5, 1, 0},
    {"exactly two layers are missing", 10, 1e9, 8e9, 0.5, 0, 1, 0, true, 4, 2, 0},
    {"each microbatch recomputes", 10, 1e9, 8e9, 0.5, 0, 4, 0, true, 16, 2, 0},
    {"the bubble recomputes too", 10, 1e9, 8e9, 0.5, 0, 4, 0.5, true, 18, 2, 0},
    {"nothing can go", 10, 1e9, 9e9, -1, 0, 1, 0, false, 0, 0, 0},
    {"PCIe hides behind 3 s of compute: 2 x 3 GB at 2 GB/s", 10, 1e9, 7e9, 0.5, 2e9, 1, 0, true, 3, 0, 3},
    {"four at 2 GB/s would take 4 s: one is recomputed", 10, 1e9, 6e9, 0.5, 2e9, 1, 0, true, 3.5, 1, 3},
    {"dear recomputation: PCIe is waited for", 10, 1e9, 6e9, 2, 2e9, 1, 0, true, 4, 0, 4},
    {"nothing saved at all", 4, 1e9, 0, 0.25, 0, 1, 0, true, 4, 4, 0},
};

Test(layout, by_hand) {
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        static LayoutGraph graph;
        memset(&graph, 0, sizeof(graph));
        graph.layers = CASES[i].layers;
        graph.rule = (StepRule){.microbatches = CASES[i].microbatches,
                                .bubble = {CASES[i].bubble, CASES[i].bubble},
                                .memory_limit_bytes = CASES[i].limit,
                                .offload_bytes_per_second = CASES[i].offload_rate};
        graph.base.of[RES_COMPUTE_FORWARD] = 1;
        graph.base.of[RES_COMPUTE_BACKWARD] = 2;
        graph.base.of[RES_MEMORY + MOMENT_FIRST_BACKWARD] = CASES[i].bytes * CASES[i].layers;
        for (int node = 0; node < NODE_COUNT; node++)
            graph.nodes[node].strategy_count = 1, graph.nodes[node].units = node < NODE_ACTIVATION ? 1 : graph.layers;
        LayoutNode *node = &graph.nodes[NODE_ACTIVATION + ACTIVATION_GATE_UP];
        if (CASES[i].recompute >= 0) {
            Strategy *strategy = &node->strategies[node->strategy_count++];
            strategy->choice = STATE_RECOMPUTED;
            strategy->adds.of[RES_COMPUTE_BACKWARD] = CASES[i].recompute;
            strategy->adds.of[RES_MEMORY + MOMENT_FIRST_BACKWARD] = -CASES[i].bytes;
        }
        if (CASES[i].offload_rate > 0) {
            Strategy *strategy = &node->strategies[node->strategy_count++];
            strategy->choice = STATE_OFFLOADED;
            strategy->adds.of[RES_OFFLOAD_BYTES] = 2 * CASES[i].bytes;
            strategy->adds.of[RES_MEMORY + MOMENT_FIRST_BACKWARD] = -CASES[i].bytes;
        }
        Rates rates = {.axis_count = 1};
        LayoutSolution solution;
        Relaxation relaxation;
        Error error = {0};
        cr_assert(layout_solve(&graph, &rates, &solution, &error), "%s: %s", CASES[i].name, error.text);
        layout_relax(&graph, &rates, &relaxation);
        cr_expect_eq(solution.found, CASES[i].found, "%s", CASES[i].name);
        cr_expect_eq(relaxation.fits, CASES[i].found, "%s", CASES[i].name);
        if (!CASES[i].found) {
            cr_expect_float_eq(relaxation.missing_bytes, CASES[i].bytes * CASES[i].layers - CASES[i].limit, 1, "%s",
                               CASES[i].name);
            continue;
        }
        const int64_t *layers = solution.layout.layers[ACTIVATION_GATE_UP];
        cr_expect_float_eq(solution.seconds, CASES[i].seconds, 1e-12, "%s: %.17g", CASES[i].name, solution.seconds);
        cr_expect_eq(layers[STATE_RECOMPUTED], CASES[i].recomputed, "%s", CASES[i].name);
        cr_expect_eq(layers[STATE_OFFLOADED], CASES[i].offloaded, "%s", CASES[i].name);
        cr_expect_eq(layers[STATE_SAVED], CASES[i].layers - CASES[i].recomputed - CASES[i].offloaded, "%s",
                     CASES[i].name);
        double relaxed = relaxed_seconds(&graph.rule, &relaxation, &rates);
        cr_expect_leq(relaxed, solution.seconds, "%s", CASES[i].name);
        cr_expect_eq(solution.solver_calls == 0, CASES[i].recomputed + CASES[i].offloaded == 0, "%s", CASES[i].name);
        if (solution.solver_calls == 0) cr_expect_eq(relaxed, solution.seconds, "%s", CASES[i].name);
    }
}

/* A solution is what it says: it fits, and costs what the step's formula says. */
static void expect_honest(const RandomCase *of, const LayoutSolution *solution, int i) {
    Resources resources;
    layout_resources(&of->graph, &solution->layout, &resources);
    cr_expect(memcmp(&resources, &solution->resources, sizeof(resources)) == 0, "%d", i);
    cr_expect_eq(step_seconds(&of->graph.rule, &resources, &of->rates), solution->seconds, "%d", i);
    for (int moment = 0; moment < MOMENT_COUNT; moment++)
        cr_expect_leq(resources.of[RES_MEMORY + moment], of->graph.rule.memory_limit_bytes, "%d", i);
    for (int a = 0; a < ACTIVATION_COUNT; a++) {
        int64_t sum = 0;
        for (int state = 0; state < STATE_COUNT; state++) sum += solution->layout.layers[a][state];
        cr_expect_eq(sum, (int64_t)of->graph.layers, "%d", i);
    }
}

static const struct {
    const char *name;
    int cases, layers, kinds;
} SIZES[] = {
    {"three layers, three activations", 150, 3, 3},
    {"two layers, five activations", 8, 2, 5},
    {"many layers of one activation", 200, 40, 1},
    {"a dozen layers of two", 150, 12, 2},
};

/* Every layout tried: the same best; and the relaxation, made for lower rates, is never above it. */
Test(layout, exhaustive) {
    for (size_t s = 0; s < COUNT_OF(SIZES); s++) {
        Random random = {s + 1};
        int solved = 0;
        for (int i = 0; i < SIZES[s].cases / PROBLEMS_SHARE; i++) {
            static RandomCase of;
            random_case(&random, SIZES[s].layers, SIZES[s].kinds, random_real(&random, 0, 1), &of);
            double best = exhaustive_best(&of, &of.rates);
            LayoutSolution solution;
            Error error = {0};
            cr_assert(layout_solve(&of.graph, &of.rates, &solution, &error), "%s", error.text);
            cr_expect_eq(solution.found, !isinf(best), "%s %d", SIZES[s].name, i);
            if (solution.found) {
                cr_expect_float_eq(solution.seconds, best, 1e-9 * best, "%s %d: %.17g, tried %.17g", SIZES[s].name, i,
                                   solution.seconds, best);
                cr_expect_geq(solution.bound_seconds, solution.seconds * (1 - 1e-9), "%s %d", SIZES[s].name, i);
                expect_honest(&of, &solution, i);
            }
            solved += solution.solver_calls > 0;

            Rates lower = of.rates;
            for (int group = 0; group < GROUP_COUNT; group++) {
                double share = random_chance(&random, 0.5) ? 1 : random_real(&random, 0, 1);
                for (int k = 0; k < 2; k++)
                    lower.cost[group].latency_seconds[k] *= share, lower.cost[group].seconds_per_byte[k] *= share;
                if (random_chance(&random, 0.5)) lower.axes[group] = 0;
            }
            Relaxation relaxation;
            layout_relax(&of.graph, &lower, &relaxation);
            if (!isinf(best)) {
                cr_expect(relaxation.fits, "%s %d", SIZES[s].name, i);
                double at_lower = relaxed_seconds(&of.graph.rule, &relaxation, &lower),
                       relaxed = relaxed_seconds(&of.graph.rule, &relaxation, &of.rates);
                cr_expect_leq(relaxed, best, "%s %d", SIZES[s].name, i);
                cr_expect_leq(at_lower, relaxed, "%s %d", SIZES[s].name, i);
            }
        }
        cr_expect_gt(solved, SIZES[s].cases / PROBLEMS_SHARE / 3, "%s: too few cases came to the solver",
                     SIZES[s].name);
    }
}

/* Without choices and with room for everything the relaxation is the answer. */
Test(layout, relaxation_is_exact_when_all_fits) {
    Random random = {5};
    for (int i = 0; i < 200; i++) {
        static RandomCase of;
        random_case(&random, 5, 3, 0, &of);
        for (int node = 0; node < NODE_ACTIVATION; node++) of.graph.nodes[node].strategy_count = 1;
        of.graph.edge_count = 0;
        of.graph.rule.memory_limit_bytes = 1e15;
        LayoutSolution solution;
        Relaxation relaxation;
        Error error = {0};
        cr_assert(layout_solve(&of.graph, &of.rates, &solution, &error));
        layout_relax(&of.graph, &of.rates, &relaxation);
        cr_expect_eq(relaxed_seconds(&of.graph.rule, &relaxation, &of.rates), solution.seconds, "%d", i);
        cr_expect_eq(solution.solver_calls, 0, "%d", i);
    }
}

/* GLPK lives in each thread: many at once give the same bits as one after the other. */
Test(layout, threads) {
    enum { CASES_COUNT = 200 };
    static RandomCase cases[CASES_COUNT];
    static LayoutSolution alone[CASES_COUNT], together[CASES_COUNT];
    Random random = {9};
    bool ok = true;
    for (int i = 0; i < CASES_COUNT; i++) {
        random_case(&random, 30, 4, random_real(&random, 0.2, 0.8), &cases[i]);
        ok = layout_solve(&cases[i].graph, &cases[i].rates, &alone[i], NULL) && ok;
    }
#pragma omp parallel for schedule(dynamic) num_threads(4) reduction(&& : ok)
    for (int i = 0; i < CASES_COUNT; i++) ok = layout_solve(&cases[i].graph, &cases[i].rates, &together[i], NULL) && ok;
    cr_expect(ok);
    for (int i = 0; i < CASES_COUNT; i++)
        cr_expect(memcmp(&alone[i], &together[i], sizeof(LayoutSolution)) == 0, "%d", i);
}

Test(layout, least_sum) {
    Random random = {3};
    SumTable table;
    cr_assert(sum_table_make(&table));
    for (int i = 0; i < 500; i++) {
        int64_t sizes[3], most[3], counts[3];
        for (int k = 0; k < 3; k++) sizes[k] = 1 + random_below(&random, 90), most[k] = random_below(&random, 7);
        int64_t low = random_below(&random, 400), high = low + random_below(&random, 60), best = -1;
        for (int64_t a = 0; a <= most[0]; a++)
            for (int64_t b = 0; b <= most[1]; b++)
                for (int64_t c = 0; c <= most[2]; c++) {
                    int64_t sum = a * sizes[0] + b * sizes[1] + c * sizes[2];
                    if (sum >= low && sum <= high && (best < 0 || sum < best)) best = sum;
                }
        int64_t found = least_sum(&table, &(BoundedSizes){sizes, most, 3}, low, high, counts);
        cr_expect_eq(found, best, "%d", i);
        if (found < 0) continue;
        int64_t made = 0;
        for (int k = 0; k < 3; k++) {
            cr_expect(counts[k] >= 0 && counts[k] <= most[k], "%d", i);
            made += counts[k] * sizes[k];
        }
        cr_expect_eq(made, found, "%d", i);
    }
    sum_table_free(&table);
}
