/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was fitted, written into a profile. */
#include "base/json.h"
#include "base/util.h"
#include "search/serving/measured/serving_fit.h"

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
    if (cell->older) cJSON_AddItemToObject(entry, "versions", cJSON_Duplicate(cell->older, true));
    if (cell->rows > 0)
        snprintf(source, sizeof source, "shardopt calibrate: %lld rows of %lld groups of %.60s", (long long)cell->rows,
                 (long long)cell->groups, table);
    else
        snprintf(source, sizeof source,
                 "shardopt calibrate: no row of its own; what the engine's and the chips' parents have");
    figures = json_add_object(entry, "figures");
    for (int f = 0; f < FITTED_COUNT; f++)
        if (cell->moved[f]) add_figure(figures, fitted_figure_key((FittedFigure)f), cell->value[f], source);
}

/* The engine's own cell on these chips, else what it has in common on all; NULL: no row says anything of it. */
static const FitCell *figures_of(const ServingFit *fit, int engine, const cJSON *chips) {
    for (int c = 0; c < fit->cell_count; c++)
        if (fit->cells[c].engine == engine && fit->cells[c].chips == chips && !fit->cells[c].older)
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
                     cJSON_Compare(json_at(one, "engine"), json_at(old, "engine"), true) &&
                     !json_at(one, "versions") == !json_at(old, "versions");
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
        if (!cell->chips || (cell->rows == 0 && fit->pooled[cell->engine].rows == 0)) continue;
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
