/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/json.h"
#include "search/report/compare_to_best.h"

static bool add_best(const WhyNot *why_not, cJSON *to) {
    char notation[NOTATION_SIZE];
    cJSON *json = json_add_object(to, "best");
    return json_add_text(json, "notation",
                         plan_notation(&why_not->best.plan.degrees, &why_not->best.plan.knobs, false, notation)) &&
           json_add_text(json, "schedule", schedule_name(why_not->best.plan.knobs.schedule)) &&
           json_add_real(json, "seconds", why_not->best.estimate.time.seconds) &&
           json_add_real(json, "ranked_seconds", why_not->best.ranked_seconds);
}

static bool add_terms(const WhyNot *why_not, cJSON *to) {
    cJSON *terms = json_add_array(to, "terms");
    bool ok = terms != NULL;
    for (int i = 0; i < why_not->term_count && ok; i++) {
        cJSON *json = json_add_object(terms, NULL);
        ok = json_add_text(json, "term", why_not->terms[i].name) &&
             json_add_real(json, "seconds", why_not->terms[i].second) &&
             json_add_real(json, "best_seconds", why_not->terms[i].first);
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

bool why_not_add_json(const WhyNot *why_not, cJSON *to) {
    cJSON *json = json_add_object(to, "why_not");
    bool ok = json_add_real(json, "lacking_bytes", why_not->lacking_bytes) &&
              json_add_bool(json, "is_best", why_not->is_best) && json_add_bool(json, "cut_short", why_not->cut_short);
    if (!ok || why_not->is_best) return ok;
    return json_add_real(json, "behind", why_not->behind) && json_add_whole(json, "faster_rows", why_not->faster) &&
           json_add_bool(json, "faster_rows_at_least", why_not->faster == WHY_NOT_ROWS_MAX) &&
           add_best(why_not, json) && add_terms(why_not, json) &&
           json_add_whole(json, "changes_tried", why_not->tried) &&
           add_changes("changes", why_not->changes, why_not->change_count, json) &&
           add_changes("path", why_not->path, why_not->path_count, json) &&
           (why_not->smallest < 0 ? json_add_text(json, "smallest", NULL)
                                  : json_add_whole(json, "smallest", why_not->smallest));
}
