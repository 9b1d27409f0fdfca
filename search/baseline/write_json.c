/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A check as JSON: docs/json.md. Every add_* gives false when memory is out; a NULL parent passes that on. */
#include "base/json.h"
#include "search/baseline/baseline_check.h"

static bool add_side(cJSON *to, const char *key, const Snapshot *side) {
    if (!side->report) return json_add_text(to, key, NULL);
    cJSON *json = json_add_object(to, key);
    const SnapshotPlan *plan = &side->best;
    if (!json_add_text(json, "proof", side->proven ? "optimal" : "gap")) return false;
    if (side->plan_count == 0) return json_add_text(json, "plan", NULL);
    return json_add_text(json, "plan", plan->label) && json_add_real(json, "step_seconds", plan->seconds) &&
           (plan->ranked_seconds == 0 || json_add_real(json, "ranked_seconds", plan->ranked_seconds)) &&
           json_add_real(json, "mfu", plan->mfu) && json_add_real(json, "hbm_bytes", plan->hbm_bytes) &&
           json_add_real(json, "hbm_limit_bytes", plan->hbm_limit_bytes);
}

static bool add_reasons(cJSON *to, const CheckedEntry *entry) {
    cJSON *json = json_add_array(to, "reasons");
    bool ok = json != NULL;
    for (BaselineFigure figure = 0; figure < GATE_FIGURES && ok; figure++)
        if (entry->figures[figure].worse) ok = json_add_text(json, NULL, gate_figure_name(figure));
    return ok && (!entry->lost_plan || json_add_text(json, NULL, "no_plan")) &&
           (!entry->lost_proof || json_add_text(json, NULL, "proof")) &&
           (entry->verdict != VERDICT_ERROR || json_add_text(json, NULL, "error"));
}

static bool add_changes(cJSON *to, const CheckedEntry *entry) {
    cJSON *json = json_add_object(to, "change");
    bool ok = json != NULL;
    for (BaselineFigure figure = 0; figure < GATE_FIGURES && ok; figure++)
        ok = json_add_real(json, gate_figure_name(figure), entry->figures[figure].change);
    return ok;
}

bool causes_add_json(cJSON *to, const Cause *causes, int count) {
    cJSON *json = json_add_array(to, "causes");
    bool ok = json != NULL;
    for (int i = 0; i < count && ok; i++) {
        const Cause *cause = &causes[i];
        cJSON *item = json_add_object(json, NULL);
        ok = json_add_text(item, "kind", cause_name(cause->kind)) &&
             json_add_text(item, "file", cause->file[0] ? cause->file : NULL) &&
             json_add_text(item, "text", cause->text);
    }
    return ok;
}

bool parts_add_json(cJSON *to, const char *key, const PartChange *parts, int count, const char *was, const char *now) {
    cJSON *json = json_add_object(to, key);
    bool ok = json != NULL;
    for (int i = 0; i < count && ok; i++) {
        cJSON *item = json_add_object(json, parts[i].name);
        ok = json_add_real(item, was, parts[i].was) && json_add_real(item, now, parts[i].now);
    }
    return ok;
}

static bool add_terms(cJSON *to, const CheckedEntry *entry, const char *was, const char *now) {
    PartChange parts[PART_CHANGES_MAX];
    int count = snapshot_step_changes(&entry->was.best, &entry->now.best, parts);
    return parts_add_json(to, "terms_seconds", parts, count, was, now);
}

static bool add_entry(cJSON *to, const BaselineCheck *gate, const CheckedEntry *entry, const char *was,
                      const char *now) {
    BaselineWords words;
    gate_words(gate, entry, &words);
    if (!json_add_text(to, "name", entry->name) || !json_add_text(to, "verdict", verdict_name(entry->verdict)) ||
        !json_add_text(to, "text", words.line[GATE_WHAT].text) || !add_reasons(to, entry) ||
        !(entry->has_was ? add_side(to, was, &entry->was) : json_add_text(to, was, NULL)) ||
        !add_side(to, now, &entry->now))
        return false;
    if (gate_has_both(entry) && (!add_changes(to, entry) || !add_terms(to, entry, was, now))) return false;
    if (gate->baseline && !causes_add_json(to, entry->causes, entry->cause_count)) return false;
    if (entry->old_plan == OLD_PLAN_NOT_ASKED) return true;
    if (entry->old_plan != OLD_PLAN_PRICED) return json_add_text(to, "old_plan_seconds", NULL);
    return json_add_real(to, "old_plan_seconds", entry->old_plan_seconds);
}

static bool add_head(cJSON *to, const BaselineCheck *gate) {
    cJSON *program = json_add_whole(to, "format_version", 1) ? json_add_object(to, "program") : NULL;
    if (!json_add_text(program, "version", gate->version) ||
        !json_add_text(program, "data_sha256", gate->data_sha256) ||
        !json_add_bool(to, "passed", gate->updated || gate_passes(gate)))
        return false;
    if (!gate->baseline) return json_add_real(to, "within", gate->tolerance.of[GATE_STEP]);
    if (!json_add_text(to, "baseline", gate->baseline) || !json_add_bool(to, "updated", gate->updated)) return false;
    cJSON *tolerance = json_add_object(to, "tolerance");
    bool ok = tolerance != NULL;
    for (BaselineFigure figure = 0; figure < GATE_FIGURES && ok; figure++)
        ok = json_add_real(tolerance, gate_figure_name(figure), gate->tolerance.of[figure]);
    cJSON *counts = ok ? json_add_object(to, "counts") : NULL;
    ok = counts != NULL;
    for (BaselineVerdict verdict = 0; verdict < VERDICT_COUNT && ok; verdict++)
        ok = json_add_whole(counts, verdict_name(verdict), gate_verdicts(gate, verdict));
    return ok;
}

bool gate_write_json(const BaselineCheck *gate, FILE *out, Error *error) {
    cJSON *json = cJSON_CreateObject();
    bool ok = add_head(json, gate);
    if (ok && !gate->baseline) {
        ok = add_entry(json, gate, gate->entries, "best", "launched");
    } else if (ok) {
        cJSON *entries = json_add_array(json, "entries");
        ok = entries != NULL;
        for (int i = 0; i < gate->count && ok; i++)
            ok = add_entry(json_add_object(entries, NULL), gate, &gate->entries[i], "was", "now");
    }
    ok = (ok && json_print(out, json)) || error_memory(error);
    cJSON_Delete(json);
    return ok;
}
