/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/report/compare_to_best.h"
#include "base/json.h"

static bool add_best(const BestComparison *comparison, cJSON *to) {
    char notation[NOTATION_SIZE];
    cJSON *json = json_add_object(to, "best");
    return json_add_text(
               json, "notation",
               plan_notation(&comparison->best.plan.degrees, &comparison->best.plan.knobs, false, notation)) &&
           json_add_text(json, "schedule", schedule_name(comparison->best.plan.knobs.schedule)) &&
           json_add_real(json, "seconds", comparison->best.estimate.time.seconds) &&
           json_add_real(json, "ranked_seconds", comparison->best.ranked_seconds);
}

static bool add_terms(const BestComparison *comparison, cJSON *to) {
    cJSON *terms = json_add_array(to, "terms");
    bool ok = terms != NULL;
    for (int i = 0; i < comparison->term_count && ok; i++) {
        cJSON *json = json_add_object(terms, NULL);
        ok = json_add_text(json, "term", comparison->terms[i].name) &&
             json_add_real(json, "seconds", comparison->terms[i].second) &&
             json_add_real(json, "best_seconds", comparison->terms[i].first);
    }
    return ok;
}

static bool add_changes(const char *key, const Change *list, int count, cJSON *to) {
    cJSON *changes = json_add_array(to, key);
    bool ok = changes != NULL;
    for (int i = 0; i < count && ok; i++) {
        const Change *change = &list[i];
        char notation[NOTATION_SIZE];
        cJSON *json = json_add_object(changes, NULL);
        ok = json_add_text(json, "kind", change_kind_name(change->kind)) &&
             json_add_text(json, "change", change->text) &&
             json_add_text(json, "notation",
                           plan_notation(&change->after.plan.degrees, &change->after.plan.knobs, false, notation)) &&
             json_add_real(json, "seconds", change->after.estimate.time.seconds) &&
             json_add_real(json, "ranked_seconds", change->after.ranked_seconds) &&
             json_add_bool(json, "suffices", change->suffices);
    }
    return ok;
}

bool compare_to_best_add_json(const BestComparison *comparison, cJSON *to) {
    cJSON *json = json_add_object(to, "why_not");
    bool ok = json_add_real(json, "lacking_bytes", comparison->lacking_bytes) &&
              json_add_bool(json, "is_best", comparison->is_best) &&
              json_add_bool(json, "cut_short", comparison->cut_short);
    if (!ok || comparison->is_best) return ok;
    return json_add_real(json, "behind", comparison->behind) &&
           json_add_whole(json, "faster_rows", comparison->faster) &&
           json_add_bool(json, "faster_rows_at_least", comparison->faster == COMPARE_ROWS_MAX) &&
           add_best(comparison, json) && add_terms(comparison, json) &&
           json_add_whole(json, "changes_tried", comparison->tried) &&
           add_changes("changes", comparison->changes, comparison->change_count, json) &&
           add_changes("path", comparison->path, comparison->path_count, json) &&
           (comparison->smallest < 0 ? json_add_text(json, "smallest", NULL)
                                     : json_add_whole(json, "smallest", comparison->smallest));
}
