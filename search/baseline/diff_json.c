/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two reports side by side, as JSON: docs/json.md. Every add_* gives false when memory is out. */
#include "base/json.h"
#include "search/baseline/diff.h"

static bool add_side(cJSON *to, const char *key, const char *file, const char *words) {
    cJSON *json = json_add_object(to, key);
    return json_add_text(json, "file", file) && json_add_text(json, "of", words);
}

static bool add_texts(cJSON *to, const char *key, const DiffText *list, int count) {
    cJSON *json = json_add_object(to, key);
    bool ok = json != NULL;
    for (int i = 0; i < count && ok; i++) {
        cJSON *item = json_add_object(json, list[i].name);
        ok = json_add_text(item, "a", list[i].a[0] ? list[i].a : NULL) &&
             json_add_text(item, "b", list[i].b[0] ? list[i].b : NULL);
    }
    return ok;
}

static bool add_figures(cJSON *to, const Diff *diff) {
    cJSON *json = json_add_object(to, "figures");
    bool ok = json != NULL;
    for (int i = 0; i < diff->figure_count && ok; i++) {
        cJSON *item = json_add_object(json, diff->figures[i].name);
        ok = json_add_real(item, "a", diff->figures[i].a) && json_add_real(item, "b", diff->figures[i].b);
    }
    return ok;
}

static bool add_rank(cJSON *to, const char *rank_key, const char *seconds_key, int rank, double seconds) {
    if (rank == 0) return json_add_text(to, rank_key, NULL) && json_add_text(to, seconds_key, NULL);
    return json_add_whole(to, rank_key, rank) && json_add_real(to, seconds_key, seconds);
}

static bool add_plans(cJSON *to, const Diff *diff) {
    cJSON *json = json_add_array(to, "plans");
    bool ok = json != NULL;
    for (int i = 0; i < diff->plans_count && ok; i++) {
        const DiffPlan *plan = &diff->plans[i];
        cJSON *item = json_add_object(json, NULL);
        ok = json_add_text(item, "plan", plan->label) &&
             add_rank(item, "rank_a", "step_seconds_a", plan->rank_a, plan->seconds_a) &&
             add_rank(item, "rank_b", "step_seconds_b", plan->rank_b, plan->seconds_b);
    }
    return ok;
}

bool diff_write_json(const Diff *diff, FILE *out, Error *error) {
    cJSON *json = cJSON_CreateObject();
    bool ok = json_add_whole(json, "format_version", 1) && add_side(json, "a", diff->a_file, diff->a_words) &&
              add_side(json, "b", diff->b_file, diff->b_words) && json_add_bool(json, "different", diff->different) &&
              add_texts(json, "request", diff->request, diff->request_count) &&
              causes_add_json(json, diff->causes, diff->cause_count) &&
              (!diff->both || (add_figures(json, diff) && add_texts(json, "plan", diff->plan, diff->plan_count) &&
                               parts_add_json(json, "terms_seconds", diff->step, diff->step_count, "a", "b") &&
                               parts_add_json(json, "memory_bytes", diff->memory, diff->memory_count, "a", "b"))) &&
              add_plans(json, diff) && add_texts(json, "search", diff->search, diff->search_count);
    ok = (ok && json_print(out, json)) || error_memory(error);
    cJSON_Delete(json);
    return ok;
}
