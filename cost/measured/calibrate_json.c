/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the report of a calibration for programs. */
#include "base/json.h"
#include "cost/measured/calibrate.h"

static bool add_stats(cJSON *to, const char *key, const ErrorStats *stats) {
    if (stats->count == 0) return true;
    cJSON *object = json_add_object(to, key);
    return object && json_add_whole(object, "runs", stats->count) && json_add_real(object, "median", stats->median) &&
           json_add_real(object, "p90", stats->p90) && json_add_real(object, "worst", stats->worst) &&
           json_add_real(object, "bias", stats->bias);
}

static const char *line_key(CalibrateLine line) {
    static const char *const KEYS[LINE_COUNT] = {
        [LINE_PRIOR] = "before",
        [LINE_FITTED] = "fitted",
        [LINE_REFIT] = "fitted_without_flagged",
        [LINE_GROUPS] = "by_groups",
        [LINE_SOURCES] = "by_sources",
        [LINE_COVERED] = "by_sources_chip_known",
        [LINE_LONE] = "by_sources_chip_unknown",
    };
    return KEYS[line];
}

static bool add_groups(cJSON *to, const char *key, const CalibrateGroup *groups, int count) {
    cJSON *array = json_add_array(to, key);
    bool ok = array != NULL;
    for (int g = 0; ok && g < count; g++) {
        cJSON *object = json_add_object(array, NULL);
        ok = object && json_add_text(object, "name", groups[g].name) &&
             add_stats(object, "fitted", &groups[g].fitted) && add_stats(object, "by_groups", &groups[g].groups) &&
             add_stats(object, "by_sources", &groups[g].sources);
        if (ok && groups[g].range)
            ok = json_add_real(object, "likely_low", groups[g].range->low) &&
                 json_add_real(object, "likely_high", groups[g].range->high) &&
                 json_add_real(object, "inside", groups[g].inside);
    }
    return ok;
}

static bool add_figures(cJSON *to, const Calibration *c) {
    cJSON *array = json_add_array(to, "figures");
    bool ok = array != NULL;
    for (int j = 0; ok && j < c->model.parameter_count; j++) {
        const FitParameter *parameter = &c->model.parameters[j];
        const SetEntry *entry = &(parameter->of_stack ? c->set.stacks : c->set.profiles)[parameter->at.entry];
        const SetFigure *figure = &entry->figures[parameter->at.figure];
        const LeastParameter *least = &parameter->least;
        double deviation = parameter->held ? least->sigma : c->solution.deviation[j];
        cJSON *object = json_add_object(array, NULL);
        ok = object && json_add_text(object, parameter->of_stack ? "stack" : "profile", entry->name) &&
             json_add_text(object, "figure", figure->figure->key) && json_add_real(object, "value", figure->value) &&
             json_add_real(object, "deviation", deviation) &&
             json_add_real(object, "prior", least_prior(least, c->solution.x)) &&
             json_add_real(object, "sigma", least->sigma) &&
             json_add_real(object, "data_share", parameter->held ? 0 : c->solution.data_share[j]) &&
             json_add_whole(object, "runs", figure->runs) &&
             json_add_bool(object, "determined", fit_weight(parameter, c->solution.deviation[j]) == FIT_OF_RUNS) &&
             json_add_bool(object, "kept_prior", fit_weight(parameter, c->solution.deviation[j]) == FIT_KEPT_PRIOR) &&
             json_add_bool(object, "at_bound", c->solution.at_bound[j]);
    }
    return ok;
}

static bool add_runs(cJSON *to, const Calibration *c) {
    cJSON *array = json_add_array(to, "runs");
    bool ok = array != NULL;
    for (int32_t i = 0; ok && i < c->model.problem->run_count; i++) {
        const FitRun *run = &c->model.problem->runs[i];
        if (!c->model.usable[i]) continue;
        cJSON *object = json_add_object(array, NULL);
        ok = object && json_add_text(object, "id", run->id) &&
             json_add_real(object, "measured_seconds", run->measured_seconds) &&
             json_add_whole(object, "unknowns", run->unknowns);
        for (int line = 0; ok && line < LINE_COVERED; line++) {
            char key[64];
            snprintf(key, sizeof key, "%s_seconds", line_key(line));
            if (c->seconds[line] && c->seconds[line][i] > 0) ok = json_add_real(object, key, c->seconds[line][i]);
        }
        if (ok && c->crossed) ok = json_add_whole(object, "fold", c->groups.fold[i]);
        if (ok && run->flagged) ok = json_add_bool(object, "flagged", true);
    }
    return ok;
}

static bool add_skipped(cJSON *to, const CalibrateFacts *facts) {
    cJSON *array = json_add_array(to, "skipped");
    bool ok = array != NULL;
    for (int64_t i = 0; ok && i < facts->skipped_count; i++) {
        cJSON *object = json_add_object(array, NULL);
        ok = object && json_add_text(object, "id", facts->skipped[i].id) &&
             json_add_text(object, "reason", facts->skipped[i].reason);
    }
    return ok;
}

static bool add_all(cJSON *json, const Calibration *c, const CalibrateFacts *facts) {
    bool ok = json_add_whole(json, "format_version", 1) && json_add_text(json, "file", facts->file) &&
              json_add_text(json, "sha256", facts->sha256) && json_add_text(json, "start", facts->start) &&
              json_add_text(json, "begins_at", c->model.problem->start == FIT_PRIORS ? "priors" : "values") &&
              json_add_bool(json, "converged", c->solution.converged) && add_runs(json, c) && add_skipped(json, facts);
    cJSON *summary = ok ? json_add_object(json, "summary") : NULL;
    ok = summary != NULL;
    for (int line = 0; ok && line < LINE_COUNT; line++) ok = add_stats(summary, line_key(line), &c->lines[line]);
    cJSON *by = ok ? json_add_object(summary, "by") : NULL;
    return by && add_groups(by, "source", c->by_source, c->source_count) &&
           add_groups(by, "chip", c->by_chip, c->chip_count) && add_figures(json, c);
}

bool calibrate_json(FILE *out, const Calibration *c, const CalibrateFacts *facts) {
    cJSON *json = cJSON_CreateObject();
    bool ok = json && add_all(json, c, facts) && json_print(out, json);
    cJSON_Delete(json);
    return ok;
}
