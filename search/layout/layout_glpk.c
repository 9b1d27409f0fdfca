/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The only file that sees glpk.h. */
#include "search/layout/branch_solve.h"

#include "base/util.h"
#include "search/layout/counts.h"
#include "search/layout/program.h"

#include <glpk.h>
#include <math.h>
#include <setjmp.h>
#include <string.h>

enum { NODES_MAX = 50000, MEGABYTES_MAX = 512 };

typedef struct {
    const StepRule *rule;
    const Branch *branch;
    const Rates *rates;
    double cutoff;
    BranchSolution *out;
    Program program;
    double unit; /* seconds of GLPK's objective: the dearest layer */

    double start[COLUMNS_MAX + 1]; /* of `out`, for GLPK to begin with */
    bool has_start;
    int nodes;
    double open_bound; /* where the search was ended; NAN: it ran to its end */
    bool feasible;     /* the linear relaxation */
} Job;

static double to_seconds(const Job *job, double objective) { return job->program.seconds.constant + job->unit * objective; }

/* Seconds are counted in the dearest layer and bytes in the largest, so that all numbers are near one and GLPK's absolute tolerances
 * far below a layer. */
static double seconds_unit(const Program *program) {
    double unit = 0;
    for (int i = 0; i < program->items; i++) {
        unit = max_real(unit, fabs(program->seconds.of[i]));
        for (int r = 0; r < program->row_count; r++) unit = max_real(unit, fabs(program->rows[r].of[i]));
    }
    return unit > 0 ? unit : 1;
}

/* form <= 0, with the items' coefficients and the constant divided by `unit`. */
static void add_row(glp_prob *lp, const Program *program, const Form *form, double unit) {
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
        if (!item) glp_set_col_bnds(lp, c + 1, GLP_LO, 0, 0);
        else glp_set_col_bnds(lp, c + 1, program->upper[c] > 0 ? GLP_DB : GLP_FX, 0, program->upper[c]);
        if (item) glp_set_col_kind(lp, c + 1, GLP_IV);
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

static void load(glp_prob *lp, const Job *job) {
    const Program *program = &job->program;
    glp_set_obj_dir(lp, GLP_MIN);
    add_columns(lp, program, job->unit);
    for (int r = 0; r < program->row_count; r++) add_row(lp, program, &program->rows[r], job->unit);
    for (int i = 0; i < program->memory_count; i++) {
        double largest = 0;
        for (int c = 0; c < program->items; c++) largest = max_real(largest, fabs(program->memory[i].of[c]));
        add_row(lp, program, &program->memory[i], largest > 0 ? largest : 1);
    }
    add_shared_layers(lp, job->branch);
}

/* Counts near the solver's, if they are the best so far. */
static void take(Job *job, const double values[COLUMNS_MAX]) {
    int64_t counts[ITEMS_MAX];
    double seconds;
    BranchSolution *out = job->out;
    if (!counts_near(job->rule, job->branch, job->rates, values, counts, &seconds)) return;
    if (seconds >= (out->found ? out->seconds : job->cutoff)) return;
    out->found = true;
    out->seconds = seconds;
    memcpy(out->counts, counts, sizeof(counts));
}

/* Below this a bound leaves something to find: GLPK works to about 1e-9 of the step. */
static double prove_until(const Job *job) {
    double best = job->out->found ? job->out->seconds : job->cutoff;
    return isinf(best) ? best : best - 1e-9 * fabs(best);
}

static void on_event(glp_tree *tree, void *info) {
    Job *job = info;
    if (glp_ios_reason(tree) == GLP_IHEUR && job->has_start) {
        job->has_start = false;
        glp_ios_heur_sol(tree, job->start);
    }
    if (glp_ios_reason(tree) != GLP_ISELECT) return;
    int node = glp_ios_best_node(tree);
    double bound = node == 0 ? INFINITY : to_seconds(job, glp_ios_node_bound(tree, node));
    if (bound < prove_until(job) && job->nodes++ < NODES_MAX) return;
    job->open_bound = bound;
    glp_ios_terminate(tree);
}

static bool failed(Error *error, const char *what, int code) {
    return error_set(error, ERROR_INTERNAL, "layout", "GLPK: %s returned %d", what, code);
}

/* The linear relaxation; the dual simplex needs no first phase, for nothing costs less than zero. */
static bool solve_relaxation(glp_prob *lp, Job *job, Error *error) {
    glp_smcp parameters;
    glp_init_smcp(&parameters);
    parameters.msg_lev = GLP_MSG_OFF;
    parameters.meth = GLP_DUALP;
    parameters.tol_bnd = parameters.tol_dj = 1e-9;
    glp_std_basis(lp);
    job->out->solver_calls++;
    int code = glp_simplex(lp, &parameters);
    if (code != 0) return failed(error, "glp_simplex", code);
    int status = glp_get_status(lp);
    job->feasible = status == GLP_OPT;
    if (job->feasible || status == GLP_NOFEAS) return true;
    /* Dual unbounded is primal infeasible. */
    return glp_get_dual_stat(lp) == GLP_FEAS || failed(error, "glp_get_status", status);
}

static bool solve_integers(glp_prob *lp, Job *job, Error *error) {
    glp_iocp parameters;
    glp_init_iocp(&parameters);
    parameters.msg_lev = GLP_MSG_OFF;
    parameters.br_tech = GLP_BR_DTH;
    parameters.bt_tech = GLP_BT_BLB;
    parameters.mip_gap = 0;
    parameters.tol_obj = 1e-10;
    parameters.cb_func = on_event;
    parameters.cb_info = job;
    if (job->out->found) {
        double values[COLUMNS_MAX] = {0};
        for (int i = 0; i < job->program.items; i++) values[i] = (double)job->out->counts[i];
        program_complete(&job->program, values);
        for (int c = 0; c < job->program.columns; c++) job->start[c + 1] = c < job->program.items ? values[c] : values[c] / job->unit;
        job->has_start = true;
    }
    job->out->solver_calls++;
    int code = glp_intopt(lp, &parameters);
    if (code != 0 && code != GLP_ESTOP) return failed(error, "glp_intopt", code);
    int status = glp_mip_status(lp);
    if (status == GLP_OPT || status == GLP_FEAS) {
        double values[COLUMNS_MAX];
        for (int i = 0; i < job->program.items; i++) values[i] = glp_mip_col_val(lp, i + 1);
        take(job, values);
    }
    double best = job->out->found ? job->out->seconds : INFINITY;
    job->out->bound_seconds = isnan(job->open_bound) || job->open_bound >= prove_until(job) ? best : min_real(best, job->open_bound);
    return true;
}

static bool solve(glp_prob *lp, Job *job, Error *error) {
    load(lp, job);
    job->out->bound_seconds = INFINITY;
    if (!solve_relaxation(lp, job, error)) return false;
    if (!job->feasible) return true;
    double values[COLUMNS_MAX];
    for (int i = 0; i < job->program.items; i++) values[i] = glp_get_col_prim(lp, i + 1);
    take(job, values);
    double bound = to_seconds(job, glp_get_obj_val(lp));
    if (bound < prove_until(job)) return solve_integers(lp, job, error);
    job->out->bound_seconds = job->out->found ? job->out->seconds : bound;
    return true;
}

static void on_fatal(void *info) { longjmp(*(jmp_buf *)info, 1); }

bool branch_solve(const StepRule *rule, const Branch *branch, const Rates *rates, double cutoff, BranchSolution *out, Error *error) {
    memset(out, 0, sizeof(*out));
    Job job = {.rule = rule, .branch = branch, .rates = rates, .cutoff = cutoff, .out = out, .open_bound = NAN};
    program_of_branch(rule, branch, rates, &job.program);
    job.unit = seconds_unit(&job.program);
    jmp_buf back;
    if (setjmp(back) != 0) { /* GLPK gave up; taking its environment down frees all it had */
        glp_free_env();
        return error_set(error, ERROR_INTERNAL, "layout", "GLPK stopped with an error");
    }
    glp_error_hook(on_fatal, &back);
    glp_term_out(GLP_OFF);
    glp_mem_limit(MEGABYTES_MAX);
    glp_prob *lp = glp_create_prob();
    bool ok = solve(lp, &job, error);
    glp_free_env(); /* the program with it */
    return ok;
}
