/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The dual bound of search/engine/layout/program.h: below every layout under any multipliers, and met under the right
 * ones. */
#include "base/util.h"
#include "search/engine/layout/decisions.h"
#include "search/engine/layout/program.h"
#include "tests/search/layout_random.h"

#include <criterion/criterion.h>

/* The larger of x and 8 - x, with x from 0 to 5, of which at least 4.5 where memory counts: by hand. */
static const struct {
    const char *name;
    double rows[2], column, memory, bound;
} CASES[] = {
    {"nothing is charged: not negative", {0, 0}, 0, 0, 0},
    {"half of each: where they meet", {0.5, 0.5}, 0, 0, 4},
    {"what sums to more is shared out", {3, 3}, 0, 0, 4},
    {"the first alone: least at 0", {1, 0}, 0, 0, 0},
    {"the second alone: least at 5", {0, 1}, 0, 0, 3},
    {"a half is the column's own", {0.25, 0.25}, 0.5, 0, 2},
    {"the first, with all that memory asks for", {1, 0}, 0, 1, 4.5},
    {"memory that is charged too much", {1, 0}, 0, 2, 4},
};

Test(program, dual_bound_by_hand) {
    static Branch branch = {.item_count = 1, .items = {{.layers = 5}}};
    static Program program = {.items = 1, .columns = 2, .row_count = 2, .memory_count = 1, .upper = {5}};
    program.seconds.of[1] = 1;
    program.rows[0] = (LinearForm){0, {1, -1}};
    program.rows[1] = (LinearForm){8, {-1, -1}};
    program.defines[0] = program.defines[1] = 1;
    program.memory[0] = (LinearForm){4.5, {-1}};
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        Multipliers multipliers = {.memory = {CASES[i].memory}};
        memcpy(multipliers.rows, CASES[i].rows, sizeof CASES[i].rows);
        multipliers.columns[1] = CASES[i].column;
        double bound = program_dual_bound(&program, &branch, &multipliers);
        cr_expect_leq(bound, CASES[i].bound, "%s: %.17g", CASES[i].name, bound);
        cr_expect_geq(bound, CASES[i].bound - 1e-10, "%s: %.17g", CASES[i].name, bound);
        cr_expect_not(program_never_fits(&program, &branch, &multipliers), "%s", CASES[i].name);
    }
    program.memory[0].constant = 5; /* just met by all layers */
    cr_expect_not(program_never_fits(&program, &branch, &(Multipliers){.memory = {1}}));
    program.memory[0].constant = 5 + 1e-9;
    cr_expect(program_never_fits(&program, &branch, &(Multipliers){.memory = {1}}));
    cr_expect_not(program_never_fits(&program, &branch, &(Multipliers){.memory = {0}}));
}

/* A maximum inside another one: z >= x, w >= 1 + z. */
Test(program, dual_bound_of_a_maximum_in_a_maximum) {
    static Branch branch = {.item_count = 1, .items = {{.layers = 5}}};
    static Program program = {.items = 1, .columns = 3, .row_count = 2, .memory_count = 1, .upper = {5}};
    program.seconds.of[2] = 1;
    program.rows[0] = (LinearForm){0, {1, -1}};
    program.rows[1] = (LinearForm){1, {0, 1, -1}};
    program.defines[0] = 1, program.defines[1] = 2;
    program.memory[0] = (LinearForm){4.5, {-1}};
    double bound = program_dual_bound(&program, &branch, &(Multipliers){.rows = {1, 1}, .memory = {1}});
    cr_expect(bound <= 5.5 && bound > 5.5 - 1e-10, "%.17g", bound);
}

/* Of ten layers six would have to be computed again for one moment, and `offloaded` to be on the host for another: each
 * alone is possible. The simplex says so, and the row at which it ends proves it, without a search. */
Test(program, what_fits_at_each_moment_alone) {
    static const Rates RATES = {.axis_count = 1};
    for (int offloaded = 3; offloaded <= 6; offloaded++) {
        StepRule rule = {.microbatches = 1, .memory_limit_bytes = 4e9, .offload_bytes_per_second = 1e9};
        Branch branch = {.item_count = 2};
        BranchSolution found;
        Error error = {0};
        branch.saved.of[RES_COMPUTE_FORWARD] = 1;
        branch.saved.of[RES_MEMORY] = 10e9;
        branch.saved.of[RES_MEMORY + 1] = 4e9 + offloaded * 1e9;
        for (int i = 0; i < 2; i++) {
            branch.items[i] = (BranchItem){.state = i == 0 ? STATE_RECOMPUTED : STATE_OFFLOADED, .layers = 10};
            branch.items[i].adds.of[i == 0 ? RES_COMPUTE_BACKWARD : RES_OFFLOAD_BYTES] = i == 0 ? 0.1 : 2e9;
            branch.items[i].adds.of[RES_MEMORY + i] = -1e9;
        }
        cr_assert(branch_solve(&rule, &branch, &RATES, INFINITY, &found, &error), "%s", error.text);
        cr_expect_eq(found.found, offloaded <= 4, "%d", offloaded);
        if (found.found) continue;
        cr_expect(isinf(found.bound_seconds));
        cr_expect_eq(found.work, 0, "proven by a search of %lld bounds", (long long)found.work);
    }
}

/* Some are zero, most are of the size that the simplex returns. */
static Multipliers random_multipliers(Random *random, const Program *program) {
    Multipliers out = {.counts = {0}};
    double per_byte = pow(10, random_real(random, -12, -8));
    for (int r = 0; r < program->row_count; r++) out.rows[r] = max_real(0, random_real(random, -0.5, 1));
    for (int c = program->items; c < program->columns; c++) out.columns[c] = max_real(0, random_real(random, -1, 0.5));
    for (int i = 0; i < program->memory_count; i++)
        out.memory[i] = per_byte * max_real(0, random_real(random, -0.5, 1));
    return out;
}

static void random_counts(Random *random, const Branch *branch, int64_t counts[ITEMS_MAX]) {
    int left = 0;
    memset(counts, 0, sizeof(int64_t) * ITEMS_MAX);
    for (int i = 0; i < branch->item_count; i++) {
        if (i == 0 || branch->items[i].activation != branch->items[i - 1].activation)
            left = (int)branch->items[i].layers;
        counts[i] = random_below(random, left + 1);
        left -= (int)counts[i];
    }
}

Test(program, dual_bound_is_below_every_layout) {
    enum { CASES_MAX = 400, DUALS = 20, COUNTS = 40 };
    Random random = {5};
    int sharp = 0, fitting = 0, never = 0;
    for (int k = 0; k < CASES_MAX; k++) {
        static RandomCase of;
        Branch branch;
        Program program;
        random_case(&random, 6, 4, random_real(&random, 0, 1.1), &of);
        StepRule rule = rule_at(&of.graph.rule, &of.rates);
        if (!branch_at(&of.graph, random_below(&random, branch_count(&of.graph)), &branch)) continue;
        branch_drop_useless(&branch);
        program_of_branch(&rule, &branch, &of.rates, &program);
        double bounds[DUALS], largest = 0, least = INFINITY;
        bool none = false;
        for (int d = 0; d < DUALS; d++) {
            Multipliers multipliers = random_multipliers(&random, &program);
            bounds[d] = program_dual_bound(&program, &branch, &multipliers);
            largest = max_real(largest, bounds[d]);
            none = none || program_never_fits(&program, &branch, &multipliers);
        }
        for (int c = 0; c < COUNTS; c++) {
            int64_t counts[ITEMS_MAX];
            Resources resources;
            random_counts(&random, &branch, counts);
            branch_resources(&branch, counts, &resources);
            if (!resources_fit(&resources, rule.memory_limit_bytes)) continue;
            cr_expect_not(none, "case %d: counts that fit, where none are said to", k);
            double seconds = step_seconds(&rule, &resources, &of.rates);
            least = min_real(least, seconds);
            for (int d = 0; d < DUALS; d++)
                cr_expect_leq(bounds[d], seconds, "case %d: bound %.17g, a layout %.17g", k, bounds[d], seconds);
            fitting++;
        }
        sharp += isfinite(least) && largest > 0.9 * least;
        never += none;
    }
    cr_expect_gt(fitting, 2000);
    cr_expect_gt(sharp, CASES_MAX / 4, "%d bounds within a tenth of the best layout met", sharp);
    cr_expect_gt(never, CASES_MAX / 20, "%d that never fit", never);
}
