/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The linear relaxation of a branch by GLPK's simplex, where it is no mere sum (relax_sum.h); the only file that sees
 * glpk.h. What it returns starts and guides the search of counts_search.c, and its bound is what is left where that one
 * is cut short. */
#include "search/engine/layout/branch_solve.h"

#include "base/util.h"
#include "cost/time/slack.h"
#include "search/engine/layout/counts_search.h"
#include "search/engine/layout/counts_table.h"
#include "search/engine/layout/relax_sum.h"

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
    bool feasible;
    double bound; /* of the linear relaxation */
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
    job->bound = program->seconds.constant + job->unit * glp_get_obj_val(lp);
    for (int i = 0; i < program->items; i++) job->multipliers.counts[i] = glp_get_col_prim(lp, i + 1);
    for (int r = 0; r < program->row_count; r++) job->multipliers.rows[r] = multiplier(lp, r + 1);
    for (int c = program->items; c < program->columns; c++)
        job->multipliers.columns[c] = max_real(0, glp_get_col_dual(lp, c + 1));
    for (int i = 0; i < program->memory_count; i++)
        job->multipliers.memory[i] = multiplier(lp, program->row_count + i + 1) / job->memory_units[i];
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
    job->feasible = status == GLP_OPT;
    if (job->feasible) read_relaxation(lp, job);
    /* Dual feasible without an optimum: dual unbounded, nothing fits. */
    return job->feasible || status == GLP_NOFEAS || glp_get_dual_stat(lp) == GLP_FEAS ||
           failed(error, "glp_get_status", status);
}

/* Whole counts: near the relaxation's first, then the best. GLPK works to about 1e-9 of the step: a bound that close is
 * met. */
static void solve_counts(Job *job) {
    BranchSolution *out = job->out;
    int64_t counts[ITEMS_MAX];
    double seconds = INFINITY;
    out->seconds = job->cutoff;
    if (counts_near(job->rule, job->branch, job->rates, job->multipliers.counts, counts, &seconds) &&
        seconds < job->cutoff) {
        out->found = true;
        out->seconds = seconds;
        memcpy(out->counts, counts, sizeof(counts));
    }
    bool proven = job->bound * (1 + LAYOUT_TOLERANCE) >= out->seconds;
    const RelaxedBranch relaxed = {job->branch, &job->program, &job->multipliers};
    if (!proven) proven = counts_table(job->rule, job->rates, &relaxed, out);
    if (!proven) proven = counts_search(job->rule, job->rates, &relaxed, out);
    out->bound_seconds = proven ? out->seconds : job->bound;
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
    Job job = {.rule = rule, .branch = branch, .rates = rates, .cutoff = cutoff, .out = out};
    program_of_branch(rule, branch, rates, &job.program);
    out->solver_calls = 1;
    if (relax_is_sum(branch, &job.program)) {
        job.feasible = relax_sum(branch, &job.program, &job.multipliers, &job.bound);
    } else {
        job.unit = seconds_unit(&job.program);
        if (!run_glpk(&job, error)) return false;
    }
    out->bound_seconds = INFINITY;
    if (job.feasible) solve_counts(&job);
    return true;
}
