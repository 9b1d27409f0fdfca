/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/serving/measured/serving_fit.h"

#include "base/json.h"
#include "base/util.h"
#include "search/serving/measured/replay_inside.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* `scale`: how far a figure is moved at first, and the unit of the ridge. To fit another figure, add a line. */
static const struct {
    const char *key;
    size_t offset;
    double scale, low, high;
    bool of_first_token; /* judged by the first token alone */
} FIGURES[FITTED_COUNT] = {
    [FITTED_KERNEL_EXTRA] = {"kernel_extra", offsetof(ServingProfile, kernel_extra), 0.2, -0.3, 3, false},
    [FITTED_MESSAGE_EXTRA] = {"message_extra", offsetof(ServingProfile, message_extra), 0.4, -0.7, 6, false},
    [FITTED_EXPERT_EXTRA] = {"expert_extra", offsetof(ServingProfile, expert_extra), 0.4, -0.7, 6, false},
    [FITTED_EXPERT_FLOOR] = {"expert_floor_seconds", offsetof(ServingProfile, expert_floor_seconds), 2e-5, 0, 3e-4,
                             false},
    [FITTED_LAYER] = {"layer_seconds", offsetof(ServingProfile, layer_seconds), 1e-5, 0, 2e-4, false},
    [FITTED_STEP] = {"step_seconds", offsetof(ServingProfile, step_seconds), 5e-4, 0, 2e-2, false},
    [FITTED_SEQUENCE] = {"sequence_seconds", offsetof(ServingProfile, sequence_seconds), 2e-5, 0, 1e-3, false},
    [FITTED_PROMPT] = {"prompt_extra", offsetof(ServingProfile, prompt_extra), 0.3, -0.2, 4, false},
    [FITTED_KNEE] = {"knee", offsetof(ServingProfile, knee), 0.2, 0, 1, false},
    [FITTED_FIRST_TOKEN] = {"first_token_seconds", offsetof(ServingProfile, first_token_seconds), 5e-2, 0, 0.1, true},
    [FITTED_BURST] = {"burst", offsetof(ServingProfile, burst), 0.2, 0, 1, true},
};
enum { ROUNDS = 12 };
static const double RIDGE = 0.01; /* of the loss of a row, for a figure that is one scale away */

const char *fitted_figure_key(FittedFigure figure) { return FIGURES[figure].key; }

typedef struct {
    ServingReplay *with;
    const ServingRuns *runs;
    ServingOutcome *outcomes, *unseen;
    int *cell_of;    /* by row; -1: not replayed */
    int *fold_of;    /* by row */
    double *weights; /* by row: one over the rows of its group */
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
    const ReplayPlace *place = served_place(to->with, run->chip, engine, &ignored);
    if (!place || !chip_has_domains(&place->chip)) return -1; /* TPUs have too few rows: physics alone */
    const cJSON *chips = names_of(to->with->profile, place->chip.name);
    for (int i = 0; i < fit->cell_count; i++)
        if (fit->cells[i].engine == engine && fit->cells[i].chips == chips) return i;
    if (fit->cell_count == FIT_CELLS_MAX) return -1;
    FitCell *cell = &fit->cells[fit->cell_count];
    *cell = (FitCell){.engine = engine, .chips = chips};
    for (int f = 0; f < FITTED_COUNT; f++)
        cell->value[f] = *(const double *)(const void *)((const char *)&place->profile + FIGURES[f].offset);
    return fit->cell_count++;
}

/* Writes a cell's figures into every profile that replays use. */
static void apply(Fitting *to, int cell) {
    const FitCell *of = &to->fit->cells[cell];
    for (ReplayPlace *place = to->with->places; place; place = place->next) {
        if (!place->known || place->engine != of->engine) continue;
        if (names_of(to->with->profile, place->chip.name) != of->chips) continue;
        for (int f = 0; f < FITTED_COUNT; f++)
            *(double *)(void *)((char *)&place->profile + FIGURES[f].offset) = of->value[f];
    }
}

/* ---- the loss ---- */

static double row_loss(const ServingOutcome *outcome, bool first_token) {
    double error = serving_metric_error(outcome, first_token ? SCORE_TTFT : SCORE_TPOT);
    if (!first_token && isnan(error)) { /* where no token was timed, the rate says it */
        error = serving_metric_error(outcome, SCORE_RATE);
        if (strcmp(outcome->run->mode, "prefill-only") == 0) return NAN;
    }
    return isnan(error) ? NAN : fabs(log1p(error));
}

/* Whether a row is told by the load and not by its source's own client: everything queued at once is an envelope. Two
 * pools are two engines, whose rows say nothing of each alone. */
static bool counts(const Fitting *to, int64_t row, int without_fold) {
    const char *mode = to->runs->runs[row].mode;
    return to->cell_of[row] >= 0 && to->fold_of[row] != without_fold && strcmp(mode, "offline-max") != 0 &&
           strcmp(mode, "disagg") != 0;
}

static bool loss_of(Fitting *to, unsigned long cells, int without_fold, bool first_token, double *out) {
    *out = 0;
    for (int64_t i = 0; i < to->runs->count; i++) {
        if (!counts(to, i, without_fold) || !(cells >> to->cell_of[i] & 1)) continue;
        if (!serving_replay(to->with, &to->runs->runs[i], &to->outcomes[i], to->error)) return false;
        double loss = row_loss(&to->outcomes[i], first_token);
        if (!isnan(loss)) *out += to->weights[i] * loss;
    }
    return true;
}

/* ---- descent ---- */

typedef struct {
    unsigned long cells; /* that move together */
    int first;           /* one of them */
    int without_fold;
    const double *held_to; /* FITTED_COUNT values */
    double groups;         /* weight of its rows */
} Descent;

static void set_figure(Fitting *to, const Descent *descent, int figure, double value) {
    for (int c = 0; c < to->fit->cell_count; c++) {
        if (!(descent->cells >> c & 1)) continue;
        to->fit->cells[c].value[figure] = value;
        apply(to, c);
    }
}

static bool judged(Fitting *to, const Descent *descent, int figure, double *out) {
    double away = (to->fit->cells[descent->first].value[figure] - descent->held_to[figure]) / FIGURES[figure].scale;
    if (!loss_of(to, descent->cells, descent->without_fold, FIGURES[figure].of_first_token, out)) return false;
    *out += RIDGE * max_real(1, descent->groups) * fabs(away);
    return true;
}

static bool try_steps(Fitting *to, const Descent *descent, int figure, double step, double *best) {
    const FitCell *cell = &to->fit->cells[descent->first];
    for (int side = -1; side <= 1; side += 2) {
        double was = cell->value[figure], loss;
        double value = min_real(FIGURES[figure].high, max_real(FIGURES[figure].low, was + side * step));
        if (value == was) continue;
        set_figure(to, descent, figure, value);
        if (!judged(to, descent, figure, &loss)) return false;
        if (loss < *best * (1 - 1e-9)) return *best = loss, true;
        set_figure(to, descent, figure, was);
    }
    return true;
}

static bool descend(Fitting *to, const Descent *descent) {
    for (int round = 0; round < ROUNDS; round++)
        for (int at = 0; at < FITTED_COUNT; at++) { /* there and back again: what one figure takes another can give */
            int figure = round % 2 ? at : FITTED_COUNT - 1 - at;
            double step = FIGURES[figure].scale * pow(0.7, round - 2), best;
            if (!judged(to, descent, figure, &best)) return false;
            for (int again = 0; again < 2; again++) {
                double before = best;
                if (!try_steps(to, descent, figure, step, &best)) return false;
                if (!(best < before)) break;
            }
        }
    return true;
}

static double weight_of(const Fitting *to, unsigned long cells, int without_fold) {
    double weight = 0;
    for (int64_t i = 0; i < to->runs->count; i++)
        if (counts(to, i, without_fold) && cells >> to->cell_of[i] & 1) weight += to->weights[i];
    return weight;
}

/* All cells of each engine as one, then each alone. */
static bool fit_once(Fitting *to, int without_fold, const FitCell *begun) {
    ServingFit *fit = to->fit;
    memcpy(fit->cells, begun, sizeof fit->cells);
    for (int c = 0; c < fit->cell_count; c++) apply(to, c);
    for (int engine = 0; engine < engine_count(); engine++) {
        Descent all = {.first = -1, .without_fold = without_fold};
        double pooled[FITTED_COUNT];
        for (int c = 0; c < fit->cell_count; c++) {
            if (fit->cells[c].engine != engine) continue;
            if (all.first < 0) all.first = c;
            all.cells |= 1ul << c;
        }
        if (all.first < 0) continue;
        all.held_to = begun[all.first].value;
        all.groups = weight_of(to, all.cells, without_fold);
        if (!(all.groups > 0)) continue;
        for (int f = 0; f < FITTED_COUNT; f++) set_figure(to, &all, f, begun[all.first].value[f]);
        if (!descend(to, &all)) return false;
        memcpy(pooled, fit->cells[all.first].value, sizeof pooled);
        memcpy(fit->pooled[engine].value, pooled, sizeof pooled);
        for (int c = 0; c < fit->cell_count; c++) {
            Descent one = {1ul << c, c, without_fold, pooled, weight_of(to, 1ul << c, without_fold)};
            if (fit->cells[c].engine == engine && one.groups > 0 && !descend(to, &one)) return false;
        }
    }
    return true;
}

/* ---- the whole ---- */

static bool replay_all(Fitting *to, ServingOutcome *outcomes, int fold) {
    for (int64_t i = 0; i < to->runs->count; i++)
        if ((fold < 0 || to->fold_of[i] == fold) &&
            !serving_replay(to->with, &to->runs->runs[i], &outcomes[i], to->error))
            return false;
    return true;
}

/* Rows of a group share a fold: its number among the groups, in the order of the table. */
static void make_folds(Fitting *to, int folds) {
    int groups = 0;
    for (int64_t i = 0; i < to->runs->count; i++) {
        int64_t first = 0, rows = 0;
        while (strcmp(to->runs->runs[first].group, to->runs->runs[i].group) != 0) first++;
        to->fold_of[i] = first < i ? to->fold_of[first] : folds > 0 ? groups++ % folds : 0;
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
        double loss = row_loss(&to->outcomes[i], FIGURES[figure].of_first_token);
        *out = ok && !isnan(loss) && row_loss(&other, FIGURES[figure].of_first_token) != loss;
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
        pooled->rows++;
        cell->groups += first_of_group;
        pooled->groups += first_of_group;
    }
}

static bool fit_all(Fitting *to, int folds) {
    ServingFit *fit = to->fit;
    Arena *arena = to->with->arena;
    if (!replay_all(to, to->outcomes, -1)) return false;
    for (int64_t i = 0; i < to->runs->count; i++)
        to->cell_of[i] =
            to->outcomes[i].skipped[0] || to->outcomes[i].drafts_unknown ? -1 : cell_at(to, &to->runs->runs[i]);
    make_folds(to, folds);
    FitCell *begun = ARENA_NEW(arena, FitCell, FIT_CELLS_MAX);
    if (!begun || !serving_score(to->outcomes, to->runs->count, arena, &fit->before, to->error)) return false;
    memcpy(begun, fit->cells, sizeof fit->cells);
    for (int fold = 0; fold < folds; fold++)
        if (!fit_once(to, fold, begun) || !replay_all(to, to->unseen, fold)) return false;
    fit->folds = folds;
    fit->likely_factor = folds > 0 ? factor_of(to, to->unseen) : 1;
    if (folds > 0 && !serving_score(to->unseen, to->runs->count, arena, &fit->unseen, to->error)) return false;
    if (!fit_once(to, -2, begun) || !replay_all(to, to->outcomes, -1)) return false;
    note_rows(to);
    return note_figures(to) && serving_score(to->outcomes, to->runs->count, arena, &fit->fitted, to->error);
}

bool serving_fit(ServingReplay *with, const ServingRuns *runs, int folds, ServingFit *out, Error *error) {
    size_t room = (size_t)runs->count + 1;
    Fitting to = {.with = with, .runs = runs, .fit = out, .error = error};
    memset(out, 0, sizeof *out);
    to.outcomes = ARENA_NEW(with->arena, ServingOutcome, room);
    to.unseen = ARENA_NEW(with->arena, ServingOutcome, room);
    to.cell_of = ARENA_NEW(with->arena, int, room);
    to.fold_of = ARENA_NEW(with->arena, int, room);
    to.weights = ARENA_NEW(with->arena, double, room);
    out->rows = folds > 0 ? to.unseen : to.outcomes;
    if (!to.outcomes || !to.unseen || !to.cell_of || !to.fold_of || !to.weights) return error_memory(error);
    return fit_all(&to, folds) || error->kind != ERROR_NONE ? error->kind == ERROR_NONE : error_memory(error);
}

/* ---- the profile ---- */

static void add_figure(cJSON *figures, const char *key, double value, const char *source) {
    cJSON *one = json_add_object(figures, key);
    char text[32];
    snprintf(text, sizeof text, "%.4g", value); /* no more digits than the rows give */
    cJSON_AddItemToObject(one, "value", cJSON_CreateRaw(text));
    json_add_text(one, "source", source);
}

static void add_cell(cJSON *fits, const FitCell *cell, const char *engine, const char *table) {
    char source[160];
    cJSON *entry = json_add_object(fits, NULL), *figures;
    json_add_text(entry, "engine", engine);
    cJSON_AddItemToObject(entry, "chips", cJSON_Duplicate(cell->chips, true));
    snprintf(source, sizeof source, "shardopt calibrate: %lld rows of %lld groups of %.60s", (long long)cell->rows,
             (long long)cell->groups, table);
    figures = json_add_object(entry, "figures");
    for (int f = 0; f < FITTED_COUNT; f++)
        if (cell->moved[f]) add_figure(figures, FIGURES[f].key, cell->value[f], source);
}

/* The engine's own cell on these chips, else what it has in common on all; NULL: no row says anything of it. */
static const FitCell *figures_of(const ServingFit *fit, int engine, const cJSON *chips) {
    for (int c = 0; c < fit->cell_count; c++)
        if (fit->cells[c].engine == engine && fit->cells[c].chips == chips && fit->cells[c].rows > 0)
            return &fit->cells[c];
    return fit->pooled[engine].rows > 0 ? &fit->pooled[engine] : NULL;
}

/* Under no engine's rules each figure is the least of any engine's on these chips, so that no engine is quicker. */
static void add_none(cJSON *fits, const ServingFit *fit, const cJSON *chips, const char *table) {
    FitCell least = {.chips = chips};
    for (int engine = 0; engine < engine_count(); engine++) {
        const FitCell *cell = figures_of(fit, engine, chips);
        if (!cell) continue;
        least.rows += cell->rows;
        least.groups += cell->groups;
        for (int f = 0; f < FITTED_COUNT; f++) {
            if (!cell->moved[f]) continue;
            least.value[f] = least.moved[f] ? min_real(least.value[f], cell->value[f]) : cell->value[f];
            least.moved[f] = true;
        }
    }
    add_cell(fits, &least, "none", table);
}

/* GPUs on which an engine has no rows borrow what all of its rows have in common. */
static void add_pooled(cJSON *fits, const ServingFit *fit, const char *table) {
    const char *const gpus[] = {"@gpu"};
    cJSON *chips = cJSON_CreateStringArray(gpus, 1);
    bool any = false;
    for (int engine = 0; engine < engine_count(); engine++) {
        FitCell pooled = fit->pooled[engine];
        pooled.chips = chips;
        if (pooled.rows == 0) continue;
        add_cell(fits, &pooled, engine_at(engine)->name, table);
        any = true;
    }
    if (any) add_none(fits, fit, chips, table);
    cJSON_Delete(chips);
}

/* What was fitted before of engines and chips of which these rows say nothing. */
static void keep_others(cJSON *fits, const cJSON *begun) {
    const cJSON *old, *one;
    cJSON_ArrayForEach(old, json_at(begun, "fits")) {
        bool again = false;
        cJSON_ArrayForEach(one, fits) {
            again |= cJSON_Compare(json_at(one, "chips"), json_at(old, "chips"), true) &&
                     cJSON_Compare(json_at(one, "engine"), json_at(old, "engine"), true);
        }
        if (!again) cJSON_AddItemToArray(fits, cJSON_Duplicate(old, true));
    }
}

cJSON *serving_fit_profile(const ServingFit *fit, const cJSON *begun, const char *table) {
    cJSON *json = cJSON_Duplicate(begun, true), *fits = cJSON_CreateArray();
    if (!json || !fits) return cJSON_Delete(json), cJSON_Delete(fits), NULL;
    for (int c = 0; c < fit->cell_count; c++) {
        const FitCell *cell = &fit->cells[c];
        bool first = true;
        if (!cell->chips || cell->rows == 0) continue;
        add_cell(fits, cell, engine_at(cell->engine)->name, table);
        for (int before = 0; before < c; before++) first = first && fit->cells[before].chips != cell->chips;
        if (first) add_none(fits, fit, cell->chips, table);
    }
    add_pooled(fits, fit, table);
    keep_others(fits, begun);
    cJSON_DeleteItemFromObjectCaseSensitive(json, "fits");
    cJSON_AddItemToObject(json, "fits", fits);
    cJSON *likely =
        cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(json, "figures"), "likely_factor");
    if (likely && fit->folds > 0) {
        char source[160];
        cJSON_DeleteItemFromObjectCaseSensitive(likely, "value");
        cJSON_DeleteItemFromObjectCaseSensitive(likely, "source");
        snprintf(source, sizeof source, "shardopt calibrate: nine in ten rows of %.60s that the fit had not seen",
                 table);
        char text[32];
        snprintf(text, sizeof text, "%.3g", fit->likely_factor);
        cJSON_AddItemToObject(likely, "value", cJSON_CreateRaw(text));
        json_add_text(likely, "source", source);
    }
    return json;
}
