/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/serving/measured/serving_fit.h"

#include "base/json.h"
#include "base/util.h"
#include "cost/measured/least_squares.h"
#include "search/serving/measured/serving_replay.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* `scale`: what an effect of 1 is, about what engines differ by. To fit another figure, add a line. */
static const struct {
    const char *key;
    size_t offset;
    double scale, low, high;
    bool of_first_token; /* rows say it by the first token too */
} FIGURES[FITTED_COUNT] = {
    [FITTED_KERNEL_EXTRA] = {"kernel_extra", offsetof(ServingProfile, kernel_extra), 0.2, -0.4, 3, false},
    [FITTED_MESSAGE_EXTRA] = {"message_extra", offsetof(ServingProfile, message_extra), 0.4, -0.7, 6, false},
    [FITTED_EXPERT_EXTRA] = {"expert_extra", offsetof(ServingProfile, expert_extra), 0.4, -0.7, 6, false},
    [FITTED_LAYER] = {"layer_seconds", offsetof(ServingProfile, layer_seconds), 7e-6, 0, 2e-4, false},
    [FITTED_STEP] = {"step_seconds", offsetof(ServingProfile, step_seconds), 5e-4, 0, 2e-2, false},
    [FITTED_SEQUENCE] = {"sequence_seconds", offsetof(ServingProfile, sequence_seconds), 1e-5, 0, 1e-3, false},
    [FITTED_PROMPT] = {"prompt_extra", offsetof(ServingProfile, prompt_extra), 0.3, -0.5, 4, false},
    [FITTED_KNEE] = {"knee", offsetof(ServingProfile, knee), 0.15, 0, 1, false},
    [FITTED_FIRST_TOKEN] = {"first_token_seconds", offsetof(ServingProfile, first_token_seconds), 3e-2, 0, 0.1, true},
    [FITTED_BURST] = {"burst", offsetof(ServingProfile, burst), 0.3, 0, 1, true},
};
enum { STEPS = 5, INNER_FOLDS = 5 };
static const double MARGIN = 0.03; /* below it a residual counts squared: about what two runs of a test differ by */
/* A parameter's logarithm counts so many effects, so that differences of 1e-4 are a hundredth of one. */
static const double STEP = 100, FAR = 40;
static const double TOLERANCE = 0.02; /* of an effect: what ends a solve */
/* Of all rows, of an engine, of a generation of chips, of both, of a cell; where rows weigh 1 in all: half of it
 * times the square of an effect is added to their loss. */
static const double PENALTIES[FIT_LEVELS] = {5e-4, 1.25e-3, 1.25e-3, 2.5e-3, 5e-3};

const char *fitted_figure_key(FittedFigure figure) { return FIGURES[figure].key; }

typedef struct {
    ServingReplay *with;
    const ServingRuns *runs;
    ServingOutcome *outcomes, *unseen;
    int *cell_of;                             /* by run; -1: not replayed */
    int *group_of;                            /* by run: its number, in the order of the table */
    int folds;                                /* of groups; 0: none */
    double *weights;                          /* by run: one over the runs of its group */
    double *begun;                            /* by cell and figure: before the fit */
    int members[FIT_LEVELS], parameter_count; /* of each level; of all, times figures */
    bool *is_known;                           /* by row: it was measured, and is predicted */
    /* The problem at hand: */
    Arena *scratch;
    bool one_group;
    double weight;   /* of all runs that count */
    double *counted; /* by row: its weight; 0: it does not count */
    LeastParameter *parameters;
    LeastColumn *columns;
    LeastSolution line; /* where straight lines touch; x NULL: nothing was solved yet */
    ServingFit *fit;
    Error *error;
} Fitting;

/* ---- cells ---- */

static bool entry_includes(const cJSON *names, const char *chip) {
    const cJSON *one;
    cJSON_ArrayForEach(one, names) {
        if (cJSON_IsString(one) && strcmp(one->valuestring, chip) == 0) return true;
    }
    return false;
}

/* The names of the profile's entry that has figures or tables of this chip, or of the chip with which it is fitted. */
static const cJSON *names_of(const cJSON *profile, const char *chip) {
    const cJSON *entry;
    cJSON_ArrayForEach(entry, json_at(profile, "chips")) {
        const cJSON *with = json_at(entry, "fit_with");
        if (!entry_includes(json_at(entry, "chips"), chip)) continue;
        return cJSON_IsString(with) ? names_of(profile, with->valuestring) : json_at(entry, "chips");
    }
    return NULL;
}

static int cell_at(Fitting *to, const ServingRun *run) {
    ServingFit *fit = to->fit;
    int engine = served_engine(run->engine);
    Error ignored = {0};
    const ReplayPlace *place = served_place(to->with, run, engine, &ignored);
    if (!place || !chip_has_domains(&place->chip)) return -1; /* TPUs have too few rows: physics alone */
    const cJSON *chips = names_of(to->with->profile, place->chip.name);
    for (int i = 0; i < fit->cell_count; i++)
        if (fit->cells[i].engine == engine && fit->cells[i].chips == chips && fit->cells[i].older == place->older)
            return i;
    if (fit->cell_count == FIT_CELLS_MAX) return -1;
    FitCell *cell = &fit->cells[fit->cell_count];
    *cell = (FitCell){.engine = engine, .chips = chips, .older = place->older};
    for (int f = 0; f < FITTED_COUNT; f++) {
        cell->value[f] = *(const double *)(const void *)((const char *)&place->profile + FIGURES[f].offset);
        to->begun[fit->cell_count * FITTED_COUNT + f] = cell->value[f];
    }
    return fit->cell_count++;
}

/* Chips of an entry that names no generation are one of their own. */
static bool same_generation(const Fitting *to, const FitCell *a, const FitCell *b) {
    const char *said[2] = {NULL, NULL};
    const cJSON *entry;
    cJSON_ArrayForEach(entry, json_at(to->with->profile, "chips")) {
        const cJSON *generation = json_at(entry, "generation");
        if (!cJSON_IsString(generation)) continue;
        if (json_at(entry, "chips") == a->chips) said[0] = generation->valuestring;
        if (json_at(entry, "chips") == b->chips) said[1] = generation->valuestring;
    }
    return a->chips == b->chips || (said[0] && said[1] && strcmp(said[0], said[1]) == 0);
}

static bool same_member(const Fitting *to, int level, const FitCell *a, const FitCell *b) {
    bool engine = a->engine == b->engine;
    bool both = engine && a->older == b->older, generation = same_generation(to, a, b);
    const bool same[FIT_LEVELS] = {true, engine, generation, both && generation, both && a->chips == b->chips};
    return same[level];
}

/* Numbers the members of each level. */
static void pool_cells(Fitting *to) {
    for (int level = 0; level < FIT_LEVELS; level++) {
        int *count = &to->members[level];
        *count = 0;
        for (int c = 0; c < to->fit->cell_count; c++) {
            FitCell *cell = &to->fit->cells[c];
            int other = 0;
            while (other < c && !same_member(to, level, &to->fit->cells[other], cell)) other++;
            cell->member[level] = other < c ? to->fit->cells[other].member[level] : (*count)++;
        }
        to->parameter_count += *count * FITTED_COUNT;
    }
}

/* Writes a cell's figures into every profile that replays use. */
static void apply(Fitting *to, int cell) {
    const FitCell *of = &to->fit->cells[cell];
    for (ReplayPlace *place = to->with->places; place; place = place->next) {
        if (!place->known || place->engine != of->engine || place->older != of->older) continue;
        if (names_of(to->with->profile, place->chip.name) != of->chips) continue;
        for (int f = 0; f < FITTED_COUNT; f++)
            *(double *)(void *)((char *)&place->profile + FIGURES[f].offset) = of->value[f];
    }
}

static int outer_fold(const Fitting *to, int64_t row) { return to->folds > 0 ? to->group_of[row] % to->folds : 0; }

/* Whether a row is determined by the load and not by its source's own client: everything queued at once is an envelope.
 * Two pools are two engines, whose rows say nothing of each alone. */
static bool counts(const Fitting *to, int64_t row, int without_fold) {
    const char *mode = to->runs->runs[row].mode;
    return to->cell_of[row] >= 0 && outer_fold(to, row) != without_fold && !served_at_once(&to->runs->runs[row]) &&
           strcmp(mode, "disagg") != 0;
}

/* ---- the fit ---- */

/* Every run has two rows in the problem: the time of a token, and the first token. */
static int row_count(const Fitting *to) { return 2 * (int)to->runs->count; }

/* Parameters lie by level, by member and by figure. The logarithm of one is how far a figure lies from where it began,
 * in steps: the sum of the effects of its level and of those above it. */
static int parameter_at(const Fitting *to, int level, int cell, int figure) {
    int member = to->fit->cells[cell].member[level];
    for (int before = 0; before < level; before++) member += to->members[before];
    return member * FITTED_COUNT + figure;
}

static double step_of(int figure) { return STEP * FIGURES[figure].scale; }

static double figure_of(const Fitting *to, int level, int cell, int figure, const double *x) {
    double value =
        to->begun[cell * FITTED_COUNT + figure] + step_of(figure) * log(x[parameter_at(to, level, cell, figure)]);
    return min_real(FIGURES[figure].high, max_real(FIGURES[figure].low, value));
}

static void set_all(Fitting *to, const double *x) {
    for (int c = 0; c < to->fit->cell_count; c++) {
        bool same = true;
        for (int f = 0; f < FITTED_COUNT; f++) {
            double value = figure_of(to, FIT_LEVELS - 1, c, f, x);
            same = same && value == to->fit->cells[c].value[f];
            to->fit->cells[c].value[f] = value;
        }
        if (!same) apply(to, c);
    }
}

static double residual_of(const ServingOutcome *outcome, bool first_token) {
    double error = serving_metric_error(outcome, first_token ? SCORE_TTFT : SCORE_TPOT);
    if (!first_token && isnan(error)) /* where no token was timed, the rate says it: the slower, the less */
        error = 1 / (1 + serving_metric_error(outcome, SCORE_RATE)) - 1;
    if (!first_token && strcmp(outcome->run->mode, "prefill-only") == 0) return NAN;
    return error > -1 ? log1p(error) : NAN;
}

/* Without memory there is no residual, and the error is said after the solve. */
static void residuals(void *context, int worker, const double *x, const int32_t *rows, int32_t count, double *out) {
    Fitting *to = context;
    (void)worker;
    if (count > 0) set_all(to, x);
    for (int32_t k = 0, at = -1; k < count; k++) {
        int32_t run = rows[k] / 2;
        bool ok = run == at || serving_replay(to->with, &to->runs->runs[run], &to->outcomes[run], to->error);
        at = ok ? run : -1;
        out[rows[k]] = ok ? residual_of(&to->outcomes[run], rows[k] % 2) : NAN;
    }
}

/* Residuals on straight lines through those of to->line. */
static void lines(void *context, int worker, const double *x, const int32_t *rows, int32_t count, double *out) {
    const Fitting *to = context;
    (void)worker;
    for (int32_t k = 0; k < count; k++) {
        int32_t row = rows[k], first = parameter_at(to, FIT_LEVELS - 1, to->cell_of[row / 2], 0);
        out[row] = to->line.residuals[row];
        for (int j = first; j < first + FITTED_COUNT; j++)
            out[row] += to->line.jacobian[j * row_count(to) + row] * log(x[j] / to->line.x[j]);
    }
}

/* The parameters that fit the rows with weights best, each held to its prior as closely as `strength` says. */
static bool solve(Fitting *to, LeastResiduals *of, const double *weights, double strength, LeastSolution *out) {
    LeastSquares problem = {.parameter_count = to->parameter_count,
                            .row_count = row_count(to),
                            .parameters = to->parameters,
                            .columns = to->columns,
                            .weights = weights,
                            .scale = MARGIN,
                            .residuals = of,
                            .context = to,
                            .threads = 1,
                            .iterations = STEPS,
                            .tolerance = TOLERANCE / STEP,
                            .no_posterior = to->line.x != NULL};
    for (int j = 0, level = 0, past = to->members[0] * FITTED_COUNT; j < to->parameter_count; j++) {
        while (j >= past) past += to->members[++level] * FITTED_COUNT;
        to->parameters[j].sigma = sqrt(2 / (PENALTIES[level] * to->weight * strength)) / STEP;
        if (to->line.x) to->parameters[j].start = to->line.x[j];
    }
    return least_squares_solve(&problem, to->scratch, out, to->error) && to->error->kind == ERROR_NONE;
}

/* Rows of a group share what they say, and are left out together; of one group alone every fifth is. */
static int inner_fold(const Fitting *to, int32_t row) {
    return (int)((to->one_group ? row / 2 : to->group_of[row / 2]) % INNER_FOLDS);
}

/* Of some strengths the one by which straight lines predict folds best that were left out in turn; 1 where there are
 * fewer than two. */
static bool choose_strength(Fitting *to, double *out) {
    static const double STRENGTHS[] = {1.0 / 64, 1.0 / 8, 1, 2, 4, 8, 16, 32};
    double *weights = ARENA_NEW(to->scratch, double, (size_t)row_count(to)), best = INFINITY;
    unsigned seen = 0;
    if (!weights) return error_memory(to->error);
    for (int32_t row = 0; row < row_count(to); row++)
        if (to->counted[row] > 0) seen |= 1u << inner_fold(to, row);
    if ((seen & (seen - 1)) == 0) return true;
    for (size_t i = 0; i < COUNT_OF(STRENGTHS); i++) {
        double loss = 0;
        for (int fold = 0; fold < INNER_FOLDS; fold++) {
            LeastSolution without;
            for (int32_t row = 0; row < row_count(to); row++)
                weights[row] = inner_fold(to, row) == fold ? 0 : to->counted[row];
            if (!solve(to, lines, weights, STRENGTHS[i], &without)) return false;
            for (int32_t row = 0; row < row_count(to); row += 2) { /* what a token takes judges */
                if (inner_fold(to, row) != fold || !(to->counted[row] > 0)) continue;
                lines(to, 0, without.x, &row, 1, without.residuals);
                loss += to->counted[row] * (hypot(without.residuals[row], MARGIN) - MARGIN);
            }
        }
        if (loss < best) best = loss, *out = STRENGTHS[i];
    }
    return true;
}

/* What a parameter is believed to be: an engine's what all have, that of an engine on a generation of chips what both
 * say together, a cell's what its engine has on its generation. */
static void set_parameters(Fitting *to) {
    static const int OF[FIT_LEVELS][2] = {{-1, -1}, {0, -1}, {-1, -1}, {1, 2}, {3, -1}};
    for (int c = 0; c < to->fit->cell_count; c++)
        for (int at = 0; at < FIT_LEVELS * FITTED_COUNT; at++) {
            int level = at / FITTED_COUNT, f = at % FITTED_COUNT;
            LeastParameter *parameter = &to->parameters[parameter_at(to, level, c, f)];
            double begun = to->begun[c * FITTED_COUNT + f];
            bool own = level == FIT_LEVELS - 1; /* which alone has bounds */
            *parameter = (LeastParameter){.start = 1, .prior = 1, .low = exp(-FAR), .high = exp(FAR)};
            if (own) parameter->low = exp(min_real(0, (FIGURES[f].low - begun) / step_of(f)));
            if (own) parameter->high = exp(max_real(0, (FIGURES[f].high - begun) / step_of(f)));
            for (int k = 0; k < 2; k++) parameter->of[k] = OF[level][k] < 0 ? -1 : parameter_at(to, OF[level][k], c, f);
        }
}

/* Which rows count without a fold, and which of them a cell's figures move. Clients of several tests begin each in a
 * way of their own, and their first tokens say nothing of what steps take; those of one test do, and tell figures
 * apart between which its times of a token do not. */
static bool begin_rows(Fitting *to, int without_fold) {
    int32_t rows = row_count(to);
    int group = -1;
    to->one_group = true;
    to->weight = 1e-9;
    to->parameters = ARENA_NEW(to->scratch, LeastParameter, (size_t)to->parameter_count);
    to->columns = ARENA_NEW(to->scratch, LeastColumn, (size_t)to->parameter_count);
    if (!to->parameters || !to->columns) return error_memory(to->error);
    set_parameters(to);
    for (int32_t row = 0; row < rows; row++) {
        bool counted = counts(to, row / 2, without_fold);
        to->counted[row] = counted && to->is_known[row] ? to->weights[row / 2] * MARGIN / 2 : 0;
        if (!counted || row % 2 == 1) continue;
        to->weight += to->weights[row / 2];
        to->one_group = to->one_group && (group < 0 || group == to->group_of[row / 2]);
        group = to->group_of[row / 2];
    }
    for (int at = 0; at < to->fit->cell_count * FITTED_COUNT; at++) {
        int cell = at / FITTED_COUNT, f = at % FITTED_COUNT;
        int32_t *own = ARENA_NEW(to->scratch, int32_t, (size_t)rows), count = 0;
        if (!own) return error_memory(to->error);
        for (int32_t row = 0; row < rows; row++)
            if (to->counted[row] > 0 && to->cell_of[row / 2] == cell &&
                (row % 2 == 0 || FIGURES[f].of_first_token || to->one_group))
                own[count++] = row;
        to->columns[parameter_at(to, FIT_LEVELS - 1, cell, f)] = (LeastColumn){own, count};
    }
    return true;
}

/* Some steps; then how closely figures are held; then to the end. */
static bool fit_rows(Fitting *to, int without_fold) {
    ServingFit *fit = to->fit;
    to->line = (LeastSolution){0};
    fit->strength = 1;
    if (!begin_rows(to, without_fold) || !solve(to, residuals, to->counted, 1, &to->line)) return false;
    if (!choose_strength(to, &fit->strength) || !solve(to, residuals, to->counted, fit->strength, &to->line))
        return false;
    set_all(to, to->line.x);
    for (int c = 0; c < fit->cell_count; c++) /* what an engine has in common on all chips */
        for (int f = 0; f < FITTED_COUNT && !fit->cells[c].older; f++)
            fit->pooled[fit->cells[c].engine].value[f] = figure_of(to, 1, c, f, to->line.x);
    return true;
}

static bool fit_once(Fitting *to, int without_fold) {
    Arena scratch = {0};
    to->scratch = &scratch;
    bool ok = fit_rows(to, without_fold);
    arena_free(&scratch);
    return ok;
}

/* ---- the whole ---- */

static bool replay_all(Fitting *to, ServingOutcome *outcomes, int fold) {
    for (int64_t i = 0; i < to->runs->count; i++)
        if ((fold < 0 || outer_fold(to, i) == fold) &&
            !serving_replay(to->with, &to->runs->runs[i], &outcomes[i], to->error))
            return false;
    return true;
}

/* Groups are numbered in the order of the table. */
static void number_groups(Fitting *to) {
    int groups = 0;
    for (int64_t i = 0; i < to->runs->count; i++) {
        int64_t first = 0, rows = 0;
        while (strcmp(to->runs->runs[first].group, to->runs->runs[i].group) != 0) first++;
        to->group_of[i] = first < i ? to->group_of[first] : groups++;
        for (int64_t j = 0; j < to->runs->count; j++)
            rows += to->cell_of[j] >= 0 && strcmp(to->runs->runs[j].group, to->runs->runs[i].group) == 0;
        to->weights[i] = rows > 0 ? 1 / (double)rows : 0;
    }
}

/* Measured over predicted: nine in ten of the unseen rows lie below. */
static double factor_of(const Fitting *to, const ServingOutcome *outcomes) {
    WeighedValue *ratios = ARENA_NEW(to->with->arena, WeighedValue, (size_t)to->runs->count + 1);
    int64_t count = 0;
    for (int64_t i = 0; ratios && i < to->runs->count; i++) {
        double error = serving_metric_error(&outcomes[i], SCORE_TPOT);
        if (!isnan(error) && counts(to, i, -1)) ratios[count++] = (WeighedValue){1 / (1 + error), 1};
    }
    return count == 0 ? 1 : max_real(1, weighed_quantile(ratios, count, 0.9));
}

/* Whether a row of the cell is predicted otherwise when a figure is: else the rows say nothing of it. */
static bool says(Fitting *to, int cell, int figure, bool *out) {
    FitCell *of = &to->fit->cells[cell];
    double was = of->value[figure];
    bool ok = true;
    *out = false;
    for (int64_t i = 0; i < to->runs->count && ok && !*out; i++) {
        ServingOutcome other;
        if (!counts(to, i, -1) || to->cell_of[i] != cell) continue;
        of->value[figure] = was + FIGURES[figure].scale;
        apply(to, cell);
        ok = serving_replay(to->with, &to->runs->runs[i], &other, to->error);
        of->value[figure] = was;
        apply(to, cell);
        double residual = residual_of(&to->outcomes[i], FIGURES[figure].of_first_token);
        *out = ok && !isnan(residual) && residual_of(&other, FIGURES[figure].of_first_token) != residual;
    }
    return ok;
}

static bool note_figures(Fitting *to) {
    for (int c = 0; c < to->fit->cell_count; c++)
        for (int f = 0; f < FITTED_COUNT; f++) {
            FitCell *cell = &to->fit->cells[c];
            if (!says(to, c, f, &cell->moved[f])) return false;
            to->fit->pooled[cell->engine].moved[f] |= cell->moved[f];
        }
    return true;
}

static void note_rows(Fitting *to) {
    for (int64_t i = 0; i < to->runs->count; i++) {
        if (!counts(to, i, -1)) continue;
        FitCell *cell = &to->fit->cells[to->cell_of[i]], *pooled = &to->fit->pooled[cell->engine];
        bool first_of_group = true;
        for (int64_t j = 0; j < i && first_of_group; j++)
            first_of_group = !counts(to, j, -1) || strcmp(to->runs->runs[j].group, to->runs->runs[i].group) != 0;
        cell->rows++;
        cell->groups += first_of_group;
        if (cell->older) continue;
        pooled->rows++;
        pooled->groups += first_of_group;
    }
}

/* A cell without rows has what its parent has. */
static void note_kin(Fitting *to) {
    for (int c = 0; c < to->fit->cell_count; c++) {
        FitCell *cell = &to->fit->cells[c];
        if (cell->rows == 0) memcpy(cell->moved, to->fit->pooled[cell->engine].moved, sizeof cell->moved);
    }
}

static bool fit_all(Fitting *to, int folds) {
    ServingFit *fit = to->fit;
    Arena *arena = to->with->arena;
    if (!replay_all(to, to->outcomes, -1)) return false;
    for (int64_t i = 0; i < to->runs->count; i++) {
        const ServingOutcome *outcome = &to->outcomes[i];
        int cell = outcome->skipped[0] ? -1 : cell_at(to, &to->runs->runs[i]);
        to->cell_of[i] = outcome->drafts_unknown ? -1 : cell;
    }
    number_groups(to);
    pool_cells(to);
    for (int row = 0; row < row_count(to); row++)
        to->is_known[row] = !isnan(residual_of(&to->outcomes[row / 2], row % 2));
    to->folds = folds;
    if (!serving_score(to->outcomes, to->runs->count, arena, &fit->before, to->error)) return false;
    for (int fold = 0; fold < folds; fold++)
        if (!fit_once(to, fold) || !replay_all(to, to->unseen, fold)) return false;
    fit->folds = folds;
    fit->likely_factor = folds > 0 ? factor_of(to, to->unseen) : 1;
    if (folds > 0 && !serving_score(to->unseen, to->runs->count, arena, &fit->unseen, to->error)) return false;
    if (!fit_once(to, -2) || !replay_all(to, to->outcomes, -1)) return false;
    note_rows(to);
    if (!note_figures(to)) return false;
    note_kin(to);
    return serving_score(to->outcomes, to->runs->count, arena, &fit->fitted, to->error);
}

bool serving_fit(ServingReplay *with, const ServingRuns *runs, int folds, ServingFit *out, Error *error) {
    size_t room = (size_t)runs->count + 1;
    Fitting to = {.with = with, .runs = runs, .fit = out, .error = error};
    memset(out, 0, sizeof *out);
    to.outcomes = ARENA_NEW(with->arena, ServingOutcome, room);
    to.unseen = ARENA_NEW(with->arena, ServingOutcome, room);
    to.cell_of = ARENA_NEW(with->arena, int, room);
    to.group_of = ARENA_NEW(with->arena, int, room);
    to.weights = ARENA_NEW(with->arena, double, room);
    to.counted = ARENA_NEW(with->arena, double, 2 * room);
    to.is_known = ARENA_NEW(with->arena, bool, 2 * room);
    to.begun = ARENA_NEW(with->arena, double, FIT_CELLS_MAX *FITTED_COUNT);
    if (!to.outcomes || !to.unseen || !to.cell_of || !to.group_of || !to.weights || !to.counted || !to.is_known ||
        !to.begun)
        return error_memory(error);
    out->rows = folds > 0 ? to.unseen : to.outcomes;
    return fit_all(&to, folds) || error->kind != ERROR_NONE ? error->kind == ERROR_NONE : error_memory(error);
}
