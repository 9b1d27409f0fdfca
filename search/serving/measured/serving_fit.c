/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/serving/measured/serving_fit.h"

#include "base/json.h"
#include "base/util.h"
#include "search/serving/measured/replay_inside.h"

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
    [FITTED_EXPERT_FLOOR] = {"expert_floor_seconds", offsetof(ServingProfile, expert_floor_seconds), 2e-5, 0, 3e-4,
                             false},
    [FITTED_LAYER] = {"layer_seconds", offsetof(ServingProfile, layer_seconds), 7e-6, 0, 2e-4, false},
    [FITTED_STEP] = {"step_seconds", offsetof(ServingProfile, step_seconds), 5e-4, 0, 2e-2, false},
    [FITTED_SEQUENCE] = {"sequence_seconds", offsetof(ServingProfile, sequence_seconds), 1e-5, 0, 1e-3, false},
    [FITTED_PROMPT] = {"prompt_extra", offsetof(ServingProfile, prompt_extra), 0.3, -0.5, 4, false},
    [FITTED_KNEE] = {"knee", offsetof(ServingProfile, knee), 0.15, 0, 1, false},
    [FITTED_FIRST_TOKEN] = {"first_token_seconds", offsetof(ServingProfile, first_token_seconds), 3e-2, 0, 0.1, true},
    [FITTED_BURST] = {"burst", offsetof(ServingProfile, burst), 0.3, 0, 1, true},
};
enum { STEPS = 8, STEPS_BEFORE_STRENGTH = 3, BOUND_ROUNDS = 4, BOUND_WEIGHT = 10 };
/* Of all rows, of an engine, of a generation of chips, of both, of a cell; beside rows that weigh 1 in all. */
static const double PENALTIES[POOL_LEVELS] = {5e-4, 1.25e-3, 1.25e-3, 2.5e-3, 5e-3};

const char *fitted_figure_key(FittedFigure figure) { return FIGURES[figure].key; }

typedef struct {
    ServingReplay *with;
    const ServingRuns *runs;
    ServingOutcome *outcomes, *unseen;
    int *cell_of;    /* by row; -1: not replayed */
    int *group_of;   /* by row: its number, in the order of the table */
    int folds;       /* of groups; 0: none */
    double *weights; /* by row: one over the rows of its group */
    double *begun;   /* by cell and figure: before the fit */
    PoolProblem pool;
    double *effects, *tried;
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
    const bool same[POOL_LEVELS] = {true, engine, generation, both && generation, both && a->chips == b->chips};
    return same[level];
}

/* Numbers the members of each level. */
static void pool_cells(Fitting *to) {
    for (int level = 0; level < POOL_LEVELS; level++) {
        int *count = &to->pool.members[level];
        *count = 0;
        for (int c = 0; c < to->fit->cell_count; c++) {
            FitCell *cell = &to->fit->cells[c];
            int kin = 0;
            while (kin < c && !same_member(to, level, &to->fit->cells[kin], cell)) kin++;
            cell->member[level] = kin < c ? to->fit->cells[kin].member[level] : (*count)++;
        }
    }
    to->pool.figures = FITTED_COUNT;
    to->pool.arena = to->with->arena;
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

/* Whether a row is told by the load and not by its source's own client: everything queued at once is an envelope. Two
 * pools are two engines, whose rows say nothing of each alone. */
static bool counts(const Fitting *to, int64_t row, int without_fold) {
    const char *mode = to->runs->runs[row].mode;
    return to->cell_of[row] >= 0 && outer_fold(to, row) != without_fold && !served_at_once(&to->runs->runs[row]) &&
           strcmp(mode, "disagg") != 0;
}

/* ---- the fit ---- */

/* Where an effect of a level's member lies. */
static size_t effect_at(const PoolProblem *pool, int level, int member, int figure) {
    for (int before = 0; before < level; before++) member += pool->members[before];
    return (size_t)member * (size_t)pool->figures + (size_t)figure;
}

static double bounded(int figure, double value) {
    return min_real(FIGURES[figure].high, max_real(FIGURES[figure].low, value));
}

/* What a cell's figure would be by the effects of the first `levels` levels, were there no bounds. */
static double unbounded(const Fitting *to, int cell, int figure, const double *effects, int levels) {
    double sum = 0;
    for (int level = 0; level < levels; level++)
        sum += effects[effect_at(&to->pool, level, to->fit->cells[cell].member[level], figure)];
    return to->begun[cell * FITTED_COUNT + figure] + FIGURES[figure].scale * sum;
}

static double figure_of(const Fitting *to, int cell, int figure, const double *effects, int levels) {
    return bounded(figure, unbounded(to, cell, figure, effects, levels));
}

static void set_all(Fitting *to, const double *effects) {
    for (int c = 0; c < to->fit->cell_count; c++) {
        for (int f = 0; f < FITTED_COUNT; f++) to->fit->cells[c].value[f] = figure_of(to, c, f, effects, POOL_LEVELS);
        apply(to, c);
    }
}

static double residual_of(const ServingOutcome *outcome, bool first_token) {
    double error = serving_metric_error(outcome, first_token ? SCORE_TTFT : SCORE_TPOT);
    if (!first_token && isnan(error)) /* where no token was timed, the rate says it: the slower, the less */
        error = 1 / (1 + serving_metric_error(outcome, SCORE_RATE)) - 1;
    if (!first_token && strcmp(outcome->run->mode, "prefill-only") == 0) return NAN;
    return error > -1 ? log1p(error) : NAN;
}

/* Replays the rows that count and gives what they and the effects count together. */
static bool loss_of(Fitting *to, int without_fold, double strength, const double *effects, double *out) {
    set_all(to, effects);
    *out = pooled_penalty(&to->pool, strength, effects);
    for (int64_t i = 0; i < to->runs->count; i++) {
        if (!counts(to, i, without_fold)) continue;
        if (!serving_replay(to->with, &to->runs->runs[i], &to->outcomes[i], to->error)) return false;
        for (int first = 0; first < 2; first++) {
            double residual = residual_of(&to->outcomes[i], first == 1);
            if (!isnan(residual)) *out += to->weights[i] * pooled_loss(residual);
        }
    }
    return true;
}

/* Rows of a group share what they say, and are left out together; of one group alone every fifth is. */
static int inner_fold(const Fitting *to, int64_t row, bool one_group) {
    return (int)((one_group ? row : to->group_of[row]) % POOL_FOLDS);
}

static bool of_one_group(const Fitting *to, int without_fold) {
    int group = -1;
    for (int64_t i = 0; i < to->runs->count; i++) {
        if (!counts(to, i, without_fold)) continue;
        if (group >= 0 && to->group_of[i] != group) return false;
        group = to->group_of[i];
    }
    return true;
}

/* Two rows of the problem for each that counts: the time of a token, and the first token. */
static void begin_rows(Fitting *to, int without_fold) {
    PoolProblem *pool = &to->pool;
    bool one_group = of_one_group(to, without_fold);
    pool->count = 0;
    for (int64_t i = 0; i < to->runs->count; i++) {
        if (!counts(to, i, without_fold)) continue;
        for (int first = 0; first < 2; first++) {
            PoolRow *row = &pool->rows[pool->count++];
            double residual = residual_of(&to->outcomes[i], first == 1);
            *row = (PoolRow){.fold = inner_fold(to, i, one_group), .judges = first == 0};
            if (isnan(residual)) continue;
            row->weight = to->weights[i];
            row->residual = residual;
            memcpy(row->member, to->fit->cells[to->cell_of[i]].member, sizeof row->member);
        }
    }
}

/* Slopes of every row by a figure, which is moved by a hundredth of its scale, away from its bound. Clients of several
 * tests begin each in a way of their own, and their first tokens say nothing of what steps take; those of one test do,
 * and tell figures apart between which its times of a token do not. */
static bool slopes_by(Fitting *to, int without_fold, int figure) {
    PoolRow *row = to->pool.rows;
    bool one_group = of_one_group(to, without_fold);
    double step[FIT_CELLS_MAX];
    for (int c = 0; c < to->fit->cell_count; c++) {
        FitCell *cell = &to->fit->cells[c];
        double was = cell->value[figure];
        step[c] = was + 0.01 * FIGURES[figure].scale > FIGURES[figure].high ? -0.01 : 0.01;
        cell->value[figure] = was + step[c] * FIGURES[figure].scale;
        apply(to, c);
        cell->value[figure] = was;
    }
    for (int64_t i = 0; i < to->runs->count; i++) {
        ServingOutcome moved;
        if (!counts(to, i, without_fold)) continue;
        if (!serving_replay(to->with, &to->runs->runs[i], &moved, to->error)) return false;
        for (int first = 0; first < 2; first++, row++) {
            double residual = residual_of(&moved, first == 1);
            bool foreign = first == 1 && !FIGURES[figure].of_first_token && !one_group;
            if (!(row->weight > 0) || isnan(residual) || foreign) continue;
            row->slope[figure] = (residual - row->residual) / step[to->cell_of[i]];
        }
    }
    for (int c = 0; c < to->fit->cell_count; c++) apply(to, c);
    return true;
}

/* A figure that straight lines take beyond a bound has a row that holds it there, for else the others would be what
 * they are best beside a figure that cannot be. */
static bool hold_at_bounds(Fitting *to, bool *held, double weight) {
    PoolProblem *pool = &to->pool;
    bool any = false;
    for (int c = 0; c < to->fit->cell_count; c++)
        for (int f = 0; f < FITTED_COUNT; f++) {
            double wanted = unbounded(to, c, f, to->tried, POOL_LEVELS), bound = bounded(f, wanted);
            if (bound == wanted || held[c * FITTED_COUNT + f]) continue;
            PoolRow *row = &pool->rows[pool->count++];
            *row = (PoolRow){.weight = weight};
            row->residual = (unbounded(to, c, f, to->effects, POOL_LEVELS) - bound) / FIGURES[f].scale;
            row->slope[f] = 1;
            memcpy(row->member, to->fit->cells[c].member, sizeof row->member);
            held[c * FITTED_COUNT + f] = any = true;
        }
    return any;
}

/* The effects that straight lines want, within bounds. */
static bool solve(Fitting *to) {
    bool held[FIT_CELLS_MAX * FITTED_COUNT] = {false};
    double weight = 0;
    for (int64_t r = 0; r < to->pool.count; r++) weight += to->pool.rows[r].weight;
    for (int round = 0; round < BOUND_ROUNDS; round++) {
        if (!pooled_solve(&to->pool, to->fit->strength, -1, to->tried)) return error_memory(to->error);
        if (!hold_at_bounds(to, held, BOUND_WEIGHT * weight)) break;
    }
    return true;
}

/* A step of Gauss and Newton, halved until it gains. */
static bool improve(Fitting *to, int without_fold, bool choose, double *loss, bool *done) {
    size_t size = (size_t)pooled_size(&to->pool);
    double *wanted = to->tried, *strength = &to->fit->strength;
    begin_rows(to, without_fold);
    to->pool.effects = to->effects;
    for (int f = 0; f < FITTED_COUNT; f++)
        if (!slopes_by(to, without_fold, f)) return false;
    if (choose && !pooled_strength(&to->pool, strength)) return error_memory(to->error);
    if (!loss_of(to, without_fold, *strength, to->effects, loss) || !solve(to)) return false;
    double before = *loss;
    for (int halved = 0; halved < 4; halved++) {
        if (!loss_of(to, without_fold, *strength, wanted, loss)) return false;
        *done = before - *loss < 1e-3 * before;
        if (*loss < before) return memcpy(to->effects, wanted, size * sizeof *wanted), true;
        for (size_t i = 0; i < size; i++) wanted[i] = (wanted[i] + to->effects[i]) / 2;
    }
    *done = true;
    return loss_of(to, without_fold, *strength, to->effects, loss);
}

/* Rows count what they weigh, so that effects are held alike beside few rows and beside many. */
static void weigh_penalties(Fitting *to, int without_fold) {
    double weight = 0;
    for (int64_t i = 0; i < to->runs->count; i++)
        if (counts(to, i, without_fold)) weight += to->weights[i];
    for (int level = 0; level < POOL_LEVELS; level++) to->pool.penalty[level] = PENALTIES[level] * weight;
}

static bool fit_once(Fitting *to, int without_fold) {
    ServingFit *fit = to->fit;
    bool done = false;
    double loss;
    weigh_penalties(to, without_fold);
    memset(to->effects, 0, (size_t)pooled_size(&to->pool) * sizeof *to->effects);
    fit->strength = 1;
    if (!loss_of(to, without_fold, fit->strength, to->effects, &loss)) return false;
    for (int step = 0; step < STEPS && !(done && step > STEPS_BEFORE_STRENGTH); step++) {
        if (!improve(to, without_fold, step == STEPS_BEFORE_STRENGTH, &loss, &done)) return false;
    }
    for (int c = 0; c < fit->cell_count; c++) /* what an engine has in common on all chips */
        for (int f = 0; f < FITTED_COUNT && !fit->cells[c].older; f++)
            fit->pooled[fit->cells[c].engine].value[f] = figure_of(to, c, f, to->effects, 2);
    return true;
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

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Measured over predicted: nine in ten of the unseen rows lie below. */
static double factor_of(const Fitting *to, const ServingOutcome *outcomes) {
    double *ratios = ARENA_NEW(to->with->arena, double, (size_t)to->runs->count + 1);
    int64_t count = 0;
    for (int64_t i = 0; ratios && i < to->runs->count; i++) {
        double error = serving_metric_error(&outcomes[i], SCORE_TPOT);
        if (!isnan(error) && counts(to, i, -1)) ratios[count++] = 1 / (1 + error);
    }
    if (count == 0) return 1;
    qsort(ratios, (size_t)count, sizeof *ratios, by_size);
    return max_real(1, ratios[(int64_t)(0.9 * (double)(count - 1))]);
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

/* A cell without rows has what its kin have. */
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
    to->effects = ARENA_NEW(arena, double, (size_t)pooled_size(&to->pool) + 1);
    to->tried = ARENA_NEW(arena, double, (size_t)pooled_size(&to->pool) + 1);
    to->folds = folds;
    if (!to->effects || !to->tried) return false;
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
    to.pool.rows = ARENA_NEW(with->arena, PoolRow, 2 * room + FIT_CELLS_MAX * FITTED_COUNT);
    to.begun = ARENA_NEW(with->arena, double, FIT_CELLS_MAX *FITTED_COUNT);
    if (!to.outcomes || !to.unseen || !to.cell_of || !to.group_of || !to.weights || !to.pool.rows || !to.begun)
        return error_memory(error);
    out->rows = folds > 0 ? to.unseen : to.outcomes;
    return fit_all(&to, folds) || error->kind != ERROR_NONE ? error->kind == ERROR_NONE : error_memory(error);
}
