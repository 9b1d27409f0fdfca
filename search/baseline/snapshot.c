/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/baseline/snapshot.h"

#include "base/json.h"
#include "base/util.h"
#include "search/report/plan_fields.h"
#include "search/serving/report/serving_report.h"

#include <assert.h>
#include <string.h>

static const double MOST = 1e300;

/* ---- kinds of reports ---- */

static const ReportSetting PLAN_SETTINGS[] = {
    {"machine.text", "machine"},        {"batch.tokens", "batch tokens"}, {"padding", "padding"},
    {"launchable_by", "launchable by"}, {"bound_by", "bound by"},         {0},
};

static const ReportSetting POINT_SETTINGS[] = {
    {"engine", "engine"},
    {"mode", "mode"},
    {"launchable_by", "launchable by"},
    {0},
};

static const char *plan_memory_row(int row) { return row <= MEMORY_TRANSIENT ? memory_row_name((MemoryRow)row) : NULL; }

static const char *point_memory_row(int row) {
    static const char *const ROWS[] = {"weights", "kv", "activations", "workspace", NULL};
    return ROWS[row];
}

static const ReportKind KINDS[] = {
    {.options = "request",
     .plans = "plans",
     .one = "plan",
     .fields = PLAN_FIELDS,
     .checked = {{"step", "step.seconds"}, {"mfu", "mfu"}, {"memory", "memory.total_bytes"}},
     .less_is_better = {true, false, true},
     .headline = "The best plan's step",
     .settings = PLAN_SETTINGS,
     .memory_row = plan_memory_row},
    {.command = "inference",
     .options = "request.options",
     .plans = "front",
     .one = "point",
     .all = "points of the front",
     .fields = POINT_FIELDS,
     .checked = {{"tokens_per_second_per_chip", "tokens_per_second_per_chip"},
                 {"tokens_per_second_per_user", "tokens_per_second_per_user"},
                 {"ttft_seconds", "ttft_seconds"}},
     .less_is_better = {false, false, true},
     .headline = "Tokens per second of a chip, at the best point",
     .settings = POINT_SETTINGS,
     .memory_row = point_memory_row},
};

const ReportKind *report_kind(const cJSON *report) {
    const char *command = cJSON_GetStringValue(json_at(report, "request.command"));
    for (size_t i = 1; command && i < COUNT_OF(KINDS); i++)
        if (strcmp(KINDS[i].command, command) == 0) return &KINDS[i];
    return &KINDS[0];
}

const Field *checked_field(const ReportKind *kind, int figure) {
    return field_named(kind->fields, kind->checked[figure].path);
}

int report_figure_named(const char *key) {
    for (size_t i = 0; i < COUNT_OF(KINDS); i++)
        for (int figure = 0; figure < CHECKED_FIGURES; figure++)
            if (strcmp(key, KINDS[i].checked[figure].key) == 0) return figure;
    return -1;
}

const cJSON *report_options(const cJSON *report) { return json_at(report, report_kind(report)->options); }

/* ---- reading ---- */

static bool read_label(const cJSON *plan, const char *where, char label[WORDS_SIZE], Error *error) {
    RankedPlan named = {0};
    Knobs *knobs = &named.plan.knobs;
    char schedule[24];
    for (Role role = 0; role < ROLE_COUNT; role++) {
        char key[32];
        snprintf(key, sizeof key, "axes.%s", role_name(role));
        if (!json_whole(plan, key, 1, MACHINE_CHIPS_MAX, where, &named.plan.degrees.of[role], error)) return false;
    }
    if (!json_whole_or(plan, "expert_grid.expert", 1, MACHINE_CHIPS_MAX, 0, where, &knobs->methods.grid.expert,
                       error) ||
        !json_whole_or(plan, "expert_grid.expert_tensor", 1, MACHINE_CHIPS_MAX, 1, where,
                       &knobs->methods.grid.expert_tensor, error) ||
        !json_text(plan, "knobs.schedule", where, schedule, sizeof schedule, error) ||
        !json_whole(plan, "knobs.virtual_stages", 1, INT32_MAX, where, &knobs->virtual_stages, error) ||
        !json_whole(plan, "knobs.microbatches", 1, INT64_C(1) << 53, where, &knobs->microbatches, error))
        return false;
    while (knobs->schedule < SCHEDULE_COUNT && strcmp(schedule, schedule_name(knobs->schedule)) != 0) knobs->schedule++;
    if (knobs->schedule == SCHEDULE_COUNT)
        return error_set(error, ERROR_INPUT, where, "knobs.schedule: \"%s\" is not a schedule; leave it as it was",
                         schedule);
    plan_label(&named, label);
    return true;
}

static bool sums_fit(const SnapshotPlan *plan, const char *where, Error *error) {
    int terms = cJSON_GetArraySize(json_at(plan->step, "terms_seconds"));
    return terms <= SNAPSHOT_TERMS_MAX ||
           error_set(error, ERROR_INPUT, where, "step.terms_seconds: has %d terms; give at most %d", terms,
                     SNAPSHOT_TERMS_MAX);
}

bool snapshot_plan_read(const cJSON *plan, const char *where, SnapshotPlan *out, Error *error) {
    *out = (SnapshotPlan){.json = plan, .step = json_at(plan, "step"), .memory = json_at(plan, "memory")};
    if (!cJSON_IsObject(plan)) return error_set(error, ERROR_INPUT, where, "is not a plan; give an object");
    return sums_fit(out, where, error) && read_label(plan, where, out->label, error) &&
           json_real(plan, "step.seconds", 1e-12, MOST, where, &out->seconds, error) &&
           json_real_or(plan, "ranked_seconds", 0, MOST, 0, where, &out->ranked_seconds, error) &&
           json_real(plan, "mfu", 0, MOST, where, &out->mfu, error) &&
           json_real(plan, "memory.total_bytes", 0, MOST, where, &out->hbm_bytes, error) &&
           json_real_or(plan, "memory.limit_bytes", 0, MOST, 0, where, &out->hbm_limit_bytes, error) &&
           json_real_or(plan, "tokens_per_second_per_chip", 0, MOST, 0, where, &out->tokens_per_second_per_chip,
                        error) &&
           json_real_or(plan, "peak_flops_per_chip", 0, MOST, 0, where, &out->peak_flops, error);
}

static bool read_proof(const cJSON *report, const char *where, Snapshot *out, Error *error) {
    char proof[16];
    if (!json_text(report, "search.proof", where, proof, sizeof proof, error)) return false;
    out->proven = strcmp(proof, "optimal") == 0;
    if (!out->proven && strcmp(proof, "gap") != 0)
        return error_set(error, ERROR_INPUT, where, "search.proof: \"%s\" is not a kind of proof; give optimal or gap",
                         proof);
    return json_real_or(report, "search.gap", 0, MOST, 0, where, &out->gap, error);
}

/* Terms of the step and rows of the memory of the last pool, which decodes. */
static bool read_point(const cJSON *point, const char *where, SnapshotPlan *out, Error *error) {
    const cJSON *pools = json_at(point, "pools"), *pool = cJSON_GetArrayItem(pools, cJSON_GetArraySize(pools) - 1);
    *out = (SnapshotPlan){.json = point, .step = json_at(pool, "step"), .memory = json_at(pool, "memory")};
    clean_text(json_text_at(point, "notation"), out->label, sizeof out->label);
    if (!out->label[0]) return error_set(error, ERROR_INPUT, where, "notation: is missing; leave it as it was");
    return sums_fit(out, where, error) && json_real_or(out->step, "seconds", 0, MOST, 0, where, &out->seconds, error) &&
           json_real(point, "tokens_per_second_per_chip", 0, MOST, where, &out->tokens_per_second_per_chip, error) &&
           json_real_or(out->memory, "total_bytes", 0, MOST, 0, where, &out->hbm_bytes, error);
}

bool snapshot_read(const cJSON *report, const char *where, Snapshot *out, Error *error) {
    int64_t version;
    char at[160];
    *out = (Snapshot){.report = report, .kind = report_kind(report)};
    if (!cJSON_IsObject(report))
        return error_set(error, ERROR_INPUT, where,
                         "is not a report; give one written by `shardopt plan --format json`");
    const char *all = out->kind->plans, *command = out->kind->command ? out->kind->command : "plan";
    const cJSON *plans = cJSON_GetObjectItemCaseSensitive(report, all);
    if (!json_whole(report, "format_version", 1, 1, where, &version, error)) return false;
    if (!cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(report, "request")))
        return error_set(error, ERROR_INPUT, where,
                         "request: is missing; give a report written by `shardopt plan --format json`");
    if (!cJSON_IsArray(plans))
        return error_set(error, ERROR_INPUT, where,
                         "%s: is missing; give a report written by `shardopt %s --format json`", all, command);
    if (!read_proof(report, where, out, error)) return false;
    if (out->kind->command) {
        const cJSON *best = json_at(report, "best_point");
        out->plan_count = cJSON_IsObject(best);
        snprintf(at, sizeof at, "%.140s: best_point", where);
        return out->plan_count == 0 || read_point(best, at, &out->best, error);
    }
    out->plan_count = cJSON_GetArraySize(plans);
    snprintf(at, sizeof at, "%.140s: plans[0]", where);
    return out->plan_count == 0 || snapshot_plan_read(plans->child, at, &out->best, error);
}

/* ---- sums ---- */

static void add_part(const char *name, double value, bool now, PartChange out[PART_CHANGES_MAX], int *count) {
    int i = 0;
    while (i < *count && strcmp(out[i].name, name) != 0) i++;
    assert(i < PART_CHANGES_MAX); /* snapshot_plan_read() saw to it */
    if (i == *count) out[(*count)++] = (PartChange){.name = name};
    *(now ? &out[i].now : &out[i].was) += value;
}

int snapshot_step_changes(const SnapshotPlan *was, const SnapshotPlan *now, PartChange out[PART_CHANGES_MAX]) {
    static const char *const NAMES[] = {"compute", "exposed communication", "bubble", "optimizer", "other"};
    static const char *const PATHS[] = {"compute_seconds", "exposed_communication_seconds", "bubble_seconds",
                                        "optimizer_seconds", "other_seconds"};
    const SnapshotPlan *both[] = {was, now};
    bool fine = true;
    int count = 0;
    for (int i = 0; i < 2; i++) fine = fine && cJSON_IsObject(json_at(both[i]->step, "terms_seconds"));
    for (int i = 0; i < 2; i++) {
        const cJSON *term;
        if (fine)
            cJSON_ArrayForEach(term, json_at(both[i]->step, "terms_seconds"))
                add_part(term->string, cJSON_IsNumber(term) ? term->valuedouble : 0, i == 1, out, &count);
        for (size_t k = 0; k < COUNT_OF(PATHS) && !fine; k++)
            add_part(NAMES[k], json_real_at(both[i]->step, PATHS[k], 0), i == 1, out, &count);
    }
    return count;
}

int snapshot_memory_changes(const ReportKind *kind, const SnapshotPlan *was, const SnapshotPlan *now,
                            PartChange out[PART_CHANGES_MAX]) {
    const char *name;
    int count = 0;
    for (int row = 0; (name = kind->memory_row(row)) != NULL; row++) {
        char key[48];
        snprintf(key, sizeof key, "%s_bytes", name);
        add_part(name, json_real_at(was->memory, key, 0), false, out, &count);
        add_part(name, json_real_at(now->memory, key, 0), true, out, &count);
    }
    return count;
}

/* ---- which plan ---- */

static bool same_at(const cJSON *a, const cJSON *b, const char *path) {
    const cJSON *x = json_at(a, path), *y = json_at(b, path);
    return !x || !y || cJSON_Compare(x, y, true);
}

static const char *knob_value(const cJSON *value, char text[PROSE_NAME_SIZE]) {
    if (cJSON_IsString(value)) return clean_name(value->valuestring, text);
    if (cJSON_IsNumber(value))
        snprintf(text, PROSE_NAME_SIZE, "%.12g", value->valuedouble);
    else
        snprintf(text, PROSE_NAME_SIZE, "%s", cJSON_IsTrue(value) ? "yes" : "no");
    return text;
}

/* Leaves out knobs that follow from the layout and knobs that the label names already. */
static void add_knobs(const cJSON *a, const cJSON *b, bool same_label, Prose *to) {
    const cJSON *knob;
    cJSON_ArrayForEach(knob, a) {
        const cJSON *other = cJSON_GetObjectItemCaseSensitive(b, knob->string);
        char name[PROSE_NAME_SIZE], was[PROSE_NAME_SIZE], now[PROSE_NAME_SIZE];
        bool outcome = strncmp(knob->string, "remat", 5) == 0;
        bool said =
            !same_label && (strcmp(knob->string, "schedule") == 0 || strcmp(knob->string, "virtual_stages") == 0 ||
                            strcmp(knob->string, "microbatches") == 0);
        if (outcome || said || !other || cJSON_Compare(knob, other, true)) continue;
        prose_item(to, ", ", "%s %s -> %s", clean_name(knob->string, name), knob_value(knob, was),
                   knob_value(other, now));
    }
}

void snapshot_plan_changes(const SnapshotPlan *a, const SnapshotPlan *b, Prose *to) {
    bool same_label = strcmp(a->label, b->label) == 0;
    char was[PROSE_NAME_SIZE], now[PROSE_NAME_SIZE];
    const char *before = json_text_at(a->json, "machine.text"), *after = json_text_at(b->json, "machine.text");
    if (strcmp(before, after) != 0 || !same_at(a->json, b->json, "chips_used"))
        prose_item(to, ", ", "machine %s -> %s", clean_name(before, was), clean_name(after, now));
    if (!same_at(a->json, b->json, "batch.sequences")) prose_item(to, ", ", "another batch");
    if (!same_at(a->json, b->json, "engine")) prose_item(to, ", ", "another engine");
    add_knobs(json_at(a->json, "knobs"), json_at(b->json, "knobs"), same_label, to);
    if (same_label && !same_at(a->json, b->json, "placement")) prose_item(to, ", ", "another placement");
}

bool snapshot_same_plan(const SnapshotPlan *a, const SnapshotPlan *b) {
    Prose changes = {0};
    snapshot_plan_changes(a, b, &changes);
    return changes.used == 0 && strcmp(a->label, b->label) == 0;
}
