/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The error table for scripts and for the page: runs, what was skipped, the summary. Keys only get more. */
#include "base/json.h"
#include "base/text/page.h"
#include "base/util.h"
#include "search/cli/views/validate_view.h"

/* Seconds or bytes; null where nothing was measured. */
static bool add_positive(cJSON *to, const char *key, double value) {
    return value > 0 ? json_add_real(to, key, value) : cJSON_AddNullToObject(to, key) != NULL;
}

static bool add_run(cJSON *runs, const Outcome *o) {
    const Prediction *p = &o->prediction;
    bool timed = o->measured_seconds > 0;
    cJSON *run = json_add_object(runs, NULL);
    return run && json_add_text(run, "id", o->run->id) && json_add_text(run, "source", o->run->family) &&
           json_add_text(run, "chip", o->chip) && json_add_whole(run, "chips", o->run->request.chips) &&
           json_add_text(run, "framework", o->run->framework) && json_add_text(run, "stack", o->stack) &&
           json_add_text(run, "kind", run_kind_name(o->kind)) && json_add_text(run, "model", o->run->model) &&
           json_add_text(run, "precision", precision_name(o->precision)) && json_add_text(run, "plan", o->plan) &&
           add_positive(run, "measured_seconds", o->measured_seconds) &&
           json_add_text(run, "measured_by", o->measured_by) && json_add_real(run, "predicted_seconds", p->seconds) &&
           (timed ? json_add_real(run, "error", o->error) : cJSON_AddNullToObject(run, "error") != NULL) &&
           json_add_real(run, "lower_seconds", p->lower_seconds) &&
           json_add_real(run, "upper_seconds", p->upper_seconds) &&
           json_add_real(run, "likely_low_seconds", p->likely_low_seconds) &&
           json_add_real(run, "likely_high_seconds", p->likely_high_seconds) &&
           json_add_text(run, "bound_by", bound_name(p->bound_by)) && json_add_real(run, "mfu", p->mfu) &&
           add_positive(run, "memory_measured_bytes", o->measured_bytes) &&
           json_add_real(run, "memory_predicted_bytes", p->memory_bytes) &&
           json_add_real(run, "memory_needed_bytes", p->needed_bytes) &&
           json_add_real(run, "memory_limit_bytes", o->limit_bytes) &&
           json_add_whole(run, "unknowns", o->run->guesses) && json_add_text(run, "assumed", o->run->assumed) &&
           (!o->run->measured.failed || json_add_bool(run, "failed", true)) &&
           (!o->run->aside[0] || json_add_text(run, "set_aside", o->run->aside)) &&
           (!o->run->flagged[0] || json_add_text(run, "flagged", o->run->flagged));
}

static bool add_skipped(cJSON *skipped, const Outcome *o) {
    cJSON *run = json_add_object(skipped, NULL);
    return run && json_add_text(run, "id", o->run->id) && json_add_text(run, "source", o->run->family) &&
           json_add_text(run, "reason", o->skipped);
}

static bool add_figures(cJSON *to, const char *count_key, const ErrorStats *stats) {
    return json_add_whole(to, count_key, stats->count) && json_add_real(to, "median", stats->median) &&
           json_add_real(to, "p90", stats->p90) && json_add_real(to, "worst", stats->worst) &&
           json_add_real(to, "bias", stats->bias);
}

static bool add_figures_at(cJSON *to, const char *key, const char *count_key, const ErrorStats *stats) {
    cJSON *own = json_add_object(to, key);
    return own && add_figures(own, count_key, stats);
}

static bool add_group(cJSON *to, const ValidateView *view, const ScoreGroup *group) {
    return add_figures(to, "runs", &group->rows) &&
           (group->rows.worst_at < 0 ||
            json_add_text(to, "worst_id", view->validation->scored[group->rows.worst_at].id)) &&
           json_add_real(to, "inside_likely", group->likely) &&
           add_figures_at(to, "families", "families", &group->families) &&
           add_figures_at(to, "baseline", "runs", &group->baseline);
}

static bool add_cells(cJSON *to, const Ranking *ranking) {
    cJSON *cells = json_add_array(to, "cells");
    for (int64_t i = 0; i < ranking->groups && cells; i++) {
        const RankCell *cell = &ranking->cells[i];
        cJSON *own = json_add_object(cells, NULL);
        if (!own || !json_add_text(own, "model", cell->run->model) ||
            !json_add_text(own, "hardware", cell->run->request.chip) ||
            !json_add_whole(own, "chips", cell->run->request.chips) || !json_add_whole(own, "plans", cell->plans) ||
            !json_add_whole(own, "pairs", cell->pairs) || !json_add_real(own, "tau", cell->tau) ||
            !json_add_real(own, "distance", cell->distance))
            return false;
    }
    return cells != NULL;
}

static bool add_ranking(cJSON *to, const char *key, const Ranking *ranking) {
    cJSON *own = json_add_object(to, key);
    return own && json_add_whole(own, "groups", ranking->groups) && json_add_whole(own, "plans", ranking->plans) &&
           json_add_whole(own, "pairs", ranking->pairs) && json_add_whole(own, "concordant", ranking->concordant) &&
           json_add_whole(own, "discordant", ranking->discordant) && json_add_real(own, "tau", ranking->tau) &&
           json_add_whole(own, "best_groups", ranking->best_groups) &&
           json_add_real(own, "best_distance", ranking->best_distance) &&
           json_add_whole(own, "large_groups", ranking->large) && json_add_real(own, "group_tau", ranking->cell_tau) &&
           json_add_real(own, "group_distance_median", ranking->cell_median) &&
           json_add_real(own, "group_distance_p90", ranking->cell_p90) && add_cells(own, ranking);
}

static bool add_reliability(cJSON *to, const Reliability *reliability) {
    if (reliability->groups == 0) return true;
    cJSON *own = json_add_object(to, "chances");
    bool ok = json_add_whole(own, "groups", reliability->groups) &&
              json_add_real(own, "mean_log_chance", reliability->score) &&
              json_add_real(own, "mean_log_chance_if_all_alike", reliability->score_without);
    cJSON *bins = ok ? json_add_array(own, "bins") : NULL;
    ok = bins != NULL;
    for (int i = 0; i < RELIABILITY_BINS && ok; i++) {
        double plans = (double)max_whole(1, reliability->plans[i]);
        cJSON *bin = json_add_object(bins, NULL);
        ok = json_add_real(bin, "chance_up_to", RELIABILITY_ENDS[i]) &&
             json_add_whole(bin, "plans", reliability->plans[i]) &&
             json_add_real(bin, "mean_chance", reliability->expected[i] / plans) &&
             json_add_real(bin, "measured_best_share", (double)reliability->best[i] / plans);
    }
    return ok;
}

static bool add_memory_by_stack(cJSON *to, const Score *score) {
    cJSON *stacks = json_add_object(to, "by_stack");
    for (int64_t i = 0; i < score->memory_stacks && stacks; i++)
        if (!add_figures_at(stacks, score->memory_by_stack[i].name, "runs", &score->memory_by_stack[i].bytes))
            return false;
    return stacks != NULL;
}

static bool add_memory(cJSON *to, const Validation *v) {
    cJSON *memory = json_add_object(to, "memory");
    return memory && add_memory_by_stack(memory, &v->score) && add_figures(memory, "runs", &v->score.memory) &&
           (v->score.memory.worst_at < 0 ||
            json_add_text(memory, "worst_id", v->scored[v->score.memory.worst_at].id)) &&
           json_add_whole(memory, "called_fitting_measured_not", v->called_fitting) &&
           json_add_whole(memory, "called_too_large_ran", v->called_too_large) &&
           (v->failed == 0 || (json_add_whole(memory, "failed", v->failed) &&
                               json_add_whole(memory, "failed_called_too_large", v->failed_too_large)));
}

static bool add_by(cJSON *to, const ValidateView *view) {
    const Score *score = &view->validation->score;
    cJSON *all = json_add_object(to, "by");
    for (ScoreBy by = 0; by < BY_COUNT && all; by++) {
        cJSON *names = json_add_object(all, score_by_name(by));
        if (!names) return false;
        for (int64_t i = 0; i < score->by_count[by]; i++) {
            cJSON *group = json_add_object(names, score->by[by][i].name);
            if (!group || !add_group(group, view, &score->by[by][i])) return false;
        }
    }
    return all != NULL;
}

static bool add_summary(cJSON *to, const ValidateView *view) {
    const Validation *v = view->validation;
    cJSON *summary = json_add_object(to, "summary"), *ranking;
    return summary && add_group(summary, view, &v->score.all) && json_add_whole(summary, "replayed", v->replayed) &&
           json_add_whole(summary, "skipped", v->skipped) && add_memory(summary, v) &&
           (ranking = json_add_object(summary, "ranking")) && add_ranking(ranking, "all", &v->ranking) &&
           add_ranking(ranking, "without_bloom", &v->ranking_elsewhere) && add_reliability(ranking, &v->reliability) &&
           add_by(summary, view);
}

/* The sentences of the text. */
static bool add_words(cJSON *to, const ValidateView *view, Error *error) {
    Arena arena = {0};
    const ValidateParts *parts = validate_parts(view, &arena, error);
    cJSON *words = parts ? json_add_object(to, "words") : NULL;
    bool ok = words && json_add_text(words, "headline", parts->headline.text) &&
              json_add_text(words, "memory", parts->memory.text) &&
              json_add_text(words, "order", parts->ranking.text) &&
              json_add_text(words, "chances", parts->chances.text);
    arena_free(&arena);
    return ok;
}

static bool write_document(TextOut out, const ValidateView *view, bool page, Error *error) {
    const Validation *v = view->validation;
    cJSON *json = cJSON_CreateObject(), *runs = NULL, *skipped = NULL;
    bool ok = json && json_add_whole(json, "format_version", 1) && json_add_text(json, "file", view->path) &&
              json_add_text(json, "file_sha256", view->sha256) && json_add_text(json, "profile", view->profile) &&
              json_add_bool(json, "profile_fitted_to_file", view->fitted) && (runs = json_add_array(json, "runs"));
    for (int64_t i = 0; i < v->count && ok; i++)
        if (!v->outcomes[i].skipped[0]) ok = add_run(runs, &v->outcomes[i]);
    ok = ok && (skipped = json_add_array(json, "skipped"));
    for (int64_t i = 0; i < v->count && ok; i++)
        if (v->outcomes[i].skipped[0]) ok = add_skipped(skipped, &v->outcomes[i]);
    ok = ok && add_summary(json, view) && add_words(json, view, error) &&
         (page ? page_write(json, out.file, error) : json_print(out.file, json));
    cJSON_Delete(json);
    return ok || error_memory(error);
}

bool validate_write_json(TextOut out, const ValidateView *view, Error *error) {
    return write_document(out, view, false, error);
}

bool validate_write_html(TextOut out, const ValidateView *view, Error *error) {
    return write_document(out, view, true, error);
}
