/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/engine/layout/relax_sum.c against GLPK's simplex on random sums. */
#include "base/util.h"
#include "search/engine/layout/decisions.h"
#include "tests/search/layout_random.h"

#include <criterion/criterion.h>
#include <glpk.h>

enum { CASES = 3000 };

/* Activations of up to 40 layers; states that free nothing, cost nothing, are alike or dominated are among them. */
static void random_sum(Random *random, Branch *branch, Program *program) {
    int layers = 1 + random_below(random, 40);
    double freed = 0;
    *branch = (Branch){.item_count = 0};
    *program = (Program){.memory_count = 1};
    for (int a = 0; a < ACTIVATION_COUNT; a++)
        for (int left = random_below(random, STRATEGIES_MAX); left > 0; left--) {
            int i = branch->item_count++;
            branch->items[i] = (BranchItem){.activation = a, .layers = layers};
            program->upper[i] = layers;
            program->seconds.of[i] = random_chance(random, 0.1) ? 0 : random_below(random, 20) / 16.0;
            program->memory[0].of[i] = random_chance(random, 0.1) ? 0 : -1e9 * random_below(random, 20);
            freed -= program->memory[0].of[i] * layers;
        }
    program->items = program->columns = branch->item_count;
    program->seconds.constant = random_real(random, 0, 10);
    program->memory[0].constant = freed * random_real(random, -0.1, 0.9);
}

/* The least step; INFINITY: nothing fits. */
static double simplex(const Branch *branch, const Program *program) {
    glp_prob *lp = glp_create_prob();
    glp_smcp parameters;
    int columns[ITEMS_MAX + 1], rows = 1, n = program->items;
    double values[ITEMS_MAX + 1], least = INFINITY;
    glp_init_smcp(&parameters);
    parameters.msg_lev = GLP_MSG_OFF;
    if (n > 0) glp_add_cols(lp, n);
    glp_add_rows(lp, 1 + ACTIVATION_COUNT);
    for (int i = 0; i < n; i++) {
        glp_set_col_bnds(lp, i + 1, GLP_DB, 0, program->upper[i]);
        glp_set_obj_coef(lp, i + 1, program->seconds.of[i]);
        columns[i + 1] = i + 1;
        values[i + 1] = program->memory[0].of[i] / 1e9;
    }
    glp_set_mat_row(lp, 1, n, columns, values);
    glp_set_row_bnds(lp, 1, GLP_UP, 0, -program->memory[0].constant / 1e9);
    for (int a = 0; a < ACTIVATION_COUNT; a++) {
        int count = 0;
        for (int i = 0; i < n; i++)
            if (branch->items[i].activation == a) columns[++count] = i + 1, values[count] = 1;
        glp_set_mat_row(lp, ++rows, count, columns, values);
        if (count > 0) glp_set_row_bnds(lp, rows, GLP_UP, 0, branch->items[columns[1] - 1].layers);
    }
    cr_assert_eq(glp_simplex(lp, &parameters), 0);
    if (glp_get_status(lp) == GLP_OPT) least = program->seconds.constant + glp_get_obj_val(lp);
    glp_delete_prob(lp);
    return least;
}

/* What the counts come to, and that they are counts. */
static void expect_counts(const Branch *branch, const Program *program, const Multipliers *found, double bound) {
    double seconds = program->seconds.constant, over = program->memory[0].constant, layers[ACTIVATION_COUNT] = {0};
    for (int i = 0; i < program->items; i++) {
        cr_expect_geq(found->counts[i], -1e-9);
        layers[branch->items[i].activation] += found->counts[i];
        seconds += found->counts[i] * program->seconds.of[i];
        over += found->counts[i] * program->memory[0].of[i];
    }
    for (int i = 0; i < program->items; i++)
        cr_expect_leq(layers[branch->items[i].activation], branch->items[i].layers + 1e-9);
    cr_expect_leq(over, 1, "%g bytes over", over);
    cr_expect_float_eq(seconds, bound, 1e-9 * (1 + bound));
}

Test(relax_sum, is_what_the_simplex_finds) {
    Random random = {1};
    int feasible = 0, tight = 0;
    for (int k = 0; k < CASES; k++) {
        Branch branch;
        Program program;
        Multipliers found;
        random_sum(&random, &branch, &program);
        double least = simplex(&branch, &program);
        cr_assert(relax_is_sum(&branch, &program));
        bool fits = relax_sum(&branch, &program, &found);
        cr_expect_eq(fits, isfinite(least), "%d", k);
        cr_expect_eq(program_never_fits(&program, &branch, &found), !fits, "%d", k);
        if (!fits || !isfinite(least)) continue;
        double bound = program_dual_bound(&program, &branch, &found);
        cr_expect_float_eq(bound, least, 1e-7 * (1 + least), "%d: %.17g, simplex %.17g", k, bound, least);
        expect_counts(&branch, &program, &found, bound);
        feasible++;
        tight += program.memory[0].constant > 0;
    }
    cr_expect_gt(tight, CASES / 4);
    cr_expect_gt(feasible, tight);
}

/* What is no sum is left to the simplex: a maximum, a second row of memory, states with layers of their own. */
Test(relax_sum, knows_what_is_none) {
    Branch branch = {.item_count = 2, .items = {{.activation = 1, .layers = 4}, {.activation = 1, .layers = 4}}};
    Program program = {.items = 2, .columns = 2, .memory_count = 1};
    cr_expect(relax_is_sum(&branch, &program));
    program.memory_count = 2;
    cr_expect_not(relax_is_sum(&branch, &program));
    program.memory_count = 0;
    program.columns = 3;
    cr_expect_not(relax_is_sum(&branch, &program));
    program.columns = 2;
    branch.items[1].layers = 3;
    cr_expect_not(relax_is_sum(&branch, &program));
}
