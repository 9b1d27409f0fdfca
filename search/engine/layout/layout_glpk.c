/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The linear relaxation of a branch by GLPK's simplex, where it is no mere sum (relax_sum.c); the only file that sees
 * glpk.h. Its counts and multipliers start and guide the search of counts_search.c. What is proven by them, a bound or
 * that nothing fits, is computed anew from the multipliers (program_dual_bound()): no tolerance of GLPK decides. */
#include "search/engine/layout/decisions.h"

#include "base/util.h"
#include "cost/time/slack.h"

#include <glpk.h>
#include <math.h>
#include <setjmp.h>
#include <string.h>

enum { MEGABYTES_MAX = 256 };

typedef struct {
    const StepRule *rule;
    const Branch *branch;
    const Rates *rates;
    double cutoff;
    BranchSolution *out;
    Program program;
    double unit; /* seconds of GLPK's objective: the dearest layer */
    double memory_units[MOMENT_COUNT];
    Multipliers multipliers;
    bool feasible; /* or not proven to have no counts that fit */
} Job;

/* Seconds are counted in the dearest layer and bytes in the largest, so that all numbers are near one and GLPK's
 * absolute tolerances far below a layer. */
static double seconds_unit(const Program *program) {
    double unit = 0;
    for (int i = 0; i < program->items; i++) {
        unit = max_real(unit, fabs(program->seconds.of[i]));
        for (int r = 0; r < program->row_count; r++) unit = max_real(unit, fabs(program->rows[r].of[i]));
    }
    return unit > 0 ? unit : 1;
}

/* form <= 0, with the items' coefficients and the constant divided by `unit`. */
static void add_row(glp_prob *lp, const Program *program, const LinearForm *form, double unit) {
    int indices[COLUMNS_MAX + 1], count = 0, row = glp_add_rows(lp, 1);
    double values[COLUMNS_MAX + 1];
    for (int c = 0; c < program->columns; c++) {
        double value = c < program->items ? form->of[c] / unit : form->of[c];
        if (fabs(value) < 1e-14) continue;
        indices[++count] = c + 1;
        values[count] = value;
    }
    glp_set_mat_row(lp, row, count, indices, values);
    glp_set_row_bnds(lp, row, GLP_UP, 0, -form->constant / unit);
}

static void add_columns(glp_prob *lp, const Program *program, double unit) {
    if (program->columns > 0) glp_add_cols(lp, program->columns);
    for (int c = 0; c < program->columns; c++) {
        bool item = c < program->items;
        glp_set_obj_coef(lp, c + 1, item ? program->seconds.of[c] / unit : program->seconds.of[c]);
        if (!item)
            glp_set_col_bnds(lp, c + 1, GLP_LO, 0, 0);
        else
            glp_set_col_bnds(lp, c + 1, program->upper[c] > 0 ? GLP_DB : GLP_FX, 0, program->upper[c]);
    }
}

/* The states of one activation share its layers. */
static void add_shared_layers(glp_prob *lp, const Branch *branch) {
    for (int i = 0; i < branch->item_count; i++) {
        int indices[ITEMS_MAX + 1], count = 0;
        double ones[ITEMS_MAX + 1];
        bool first = true;
        for (int j = 0; j < branch->item_count; j++) {
            if (branch->items[j].activation != branch->items[i].activation) continue;
            if (j < i) first = false;
            indices[++count] = j + 1;
            ones[count] = 1;
        }
        if (!first || count < 2) continue;
        int row = glp_add_rows(lp, 1);
        glp_set_mat_row(lp, row, count, indices, ones);
        glp_set_row_bnds(lp, row, GLP_UP, 0, branch->items[i].layers);
    }
}

static void load(glp_prob *lp, Job *job) {
    const Program *program = &job->program;
    glp_set_obj_dir(lp, GLP_MIN);
    add_columns(lp, program, job->unit);
    for (int r = 0; r < program->row_count; r++) add_row(lp, program, &program->rows[r], job->unit);
    for (int i = 0; i < program->memory_count; i++) {
        double largest = 0;
        for (int c = 0; c < program->items; c++) largest = max_real(largest, fabs(program->memory[i].of[c]));
        job->memory_units[i] = largest > 0 ? largest : 1;
        add_row(lp, program, &program->memory[i], job->memory_units[i]);
    }
    add_shared_layers(lp, job->branch);
}

/* A row's multiplier: what the step would gain by a unit of it. */
static double multiplier(glp_prob *lp, int row) { return max_real(0, -glp_get_row_dual(lp, row)); }

static void read_relaxation(glp_prob *lp, Job *job) {
    const Program *program = &job->program;
    for (int i = 0; i < program->items; i++) job->multipliers.counts[i] = glp_get_col_prim(lp, i + 1);
    for (int r = 0; r < program->row_count; r++) job->multipliers.rows[r] = multiplier(lp, r + 1);
    for (int c = program->items; c < program->columns; c++)
        job->multipliers.columns[c] = max_real(0, glp_get_col_dual(lp, c + 1));
    for (int i = 0; i < program->memory_count; i++)
        job->multipliers.memory[i] = multiplier(lp, program->row_count + i + 1) * job->unit / job->memory_units[i];
}

/* Where nothing fits, the simplex ends at a basic variable beyond its bound, whose row of the tableau shows why: each
 * row of memory counts as often as it stands there. Without such a row the multipliers stay zero and prove nothing. */
static void read_ray(glp_prob *lp, Job *job) {
    enum { LINES_MAX = ROWS_MAX + MOMENT_COUNT + ACTIVATION_COUNT + COLUMNS_MAX };
    int indices[LINES_MAX + 1], first = job->program.row_count + 1, basic = glp_get_unbnd_ray(lp);
    double values[LINES_MAX + 1];
    if (basic == 0 || (!glp_bf_exists(lp) && glp_factorize(lp) != 0)) return;
    int count = glp_eval_tab_row(lp, basic, indices, values);
    indices[0] = basic, values[0] = 1;
    for (int i = 0; i <= count; i++) {
        int row = indices[i] - first;
        if (row >= 0 && row < job->program.memory_count)
            job->multipliers.memory[row] = fabs(values[i]) / job->memory_units[row];
    }
}

static bool failed(Error *error, const char *what, int code) {
    return error_set(error, ERROR_INTERNAL, "layout", "GLPK: %s returned %d", what, code);
}

/* The dual simplex needs no first phase, for nothing costs less than zero. */
static bool solve_relaxation(glp_prob *lp, Job *job, Error *error) {
    glp_smcp parameters;
    glp_init_smcp(&parameters);
    parameters.msg_lev = GLP_MSG_OFF;
    parameters.meth = GLP_DUALP;
    parameters.tol_bnd = parameters.tol_dj = 1e-9;
    glp_std_basis(lp);
    int code = glp_simplex(lp, &parameters);
    if (code != 0) return failed(error, "glp_simplex", code);
    int status = glp_get_status(lp);
    if (status == GLP_OPT) {
        read_relaxation(lp, job);
        return true;
    }
    /* Dual feasible without an optimum: dual unbounded, nothing fits. */
    if (status != GLP_NOFEAS && glp_get_dual_stat(lp) != GLP_FEAS) return failed(error, "glp_get_status", status);
    read_ray(lp, job);
    job->feasible = !program_never_fits(&job->program, job->branch, &job->multipliers);
    return true;
}

/* Whole counts: near the relaxation's first, then the best. A bound within the tolerance of layouts is met. */
static void solve_counts(Job *job) {
    BranchSolution *out = job->out;
    int64_t counts[ITEMS_MAX];
    double seconds = INFINITY, bound = program_dual_bound(&job->program, job->branch, &job->multipliers);
    out->seconds = job->cutoff;
    if (counts_near(job->rule, job->branch, job->rates, job->multipliers.counts, counts, &seconds) &&
        seconds < job->cutoff) {
        out->found = true;
        out->seconds = seconds;
        memcpy(out->counts, counts, sizeof(counts));
    }
    bool proven = bound * (1 + LAYOUT_TOLERANCE) >= out->seconds;
    const RelaxedBranch relaxed = {job->branch, &job->program, &job->multipliers};
    if (!proven) proven = counts_table(job->rule, job->rates, &relaxed, out);
    if (!proven) proven = counts_search(job->rule, job->rates, &relaxed, out);
    out->bound_seconds = proven ? out->seconds : bound;
}

static void on_fatal(void *info) { longjmp(*(jmp_buf *)info, 1); }

/* All that GLPK does, in an environment of its own. */
static bool run_glpk(Job *job, Error *error) {
    jmp_buf back;
    if (setjmp(back) != 0) { /* GLPK gave up; taking its environment down frees all it had */
        glp_free_env();
        return error_set(error, ERROR_INTERNAL, "layout", "GLPK stopped with an error");
    }
    glp_error_hook(on_fatal, &back);
    glp_term_out(GLP_OFF);
    glp_mem_limit(MEGABYTES_MAX);
    glp_prob *lp = glp_create_prob();
    load(lp, job);
    bool ok = solve_relaxation(lp, job, error);
    glp_free_env(); /* the program with it */
    return ok;
}

bool branch_solve(const StepRule *rule, const Branch *branch, const Rates *rates, double cutoff, BranchSolution *out,
                  Error *error) {
    memset(out, 0, sizeof(*out));
    Job job = {.rule = rule, .branch = branch, .rates = rates, .cutoff = cutoff, .out = out, .feasible = true};
    program_of_branch(rule, branch, rates, &job.program);
    out->solver_calls = 1;
    if (relax_is_sum(branch, &job.program)) {
        job.feasible = relax_sum(branch, &job.program, &job.multipliers) ||
                       !program_never_fits(&job.program, branch, &job.multipliers);
    } else {
        job.unit = seconds_unit(&job.program);
        if (!run_glpk(&job, error)) return false;
    }
    out->bound_seconds = INFINITY;
    if (job.feasible) solve_counts(&job);
    return true;
}
