/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/baseline/snapshot.h"

#include "base/json.h"
#include "base/util.h"
#include "search/report/plan_fields.h"
#include "search/serving/report/serving_report.h"

#include <assert.h>
#include <string.h>

/* ---- kinds of reports ---- */

static const NamedPath PLAN_SETTINGS[] = {{"machine", "machine.text"}, {"batch tokens", "batch.tokens"},
                                          {"padding", "padding"},      {"launchable by", "launchable_by"},
                                          {"bound by", "bound_by"},    {0}};
static const NamedPath POINT_SETTINGS[] = {
    {"engine", "engine"}, {"mode", "mode"}, {"launchable by", "launchable_by"}, {0}};
static const char *const PLAN_MEMORY[] = {"parameters", "gradients", "optimizer", "activations",
                                          "gathered",   "logits",    "transient", NULL};
static const char *const POINT_MEMORY[] = {"weights", "kv", "activations", "workspace", NULL};
static const char *const STEP_PARTS[] = {"compute", "exposed communication", "bubble", "optimizer", "other", NULL};

static const ReportKind KINDS[] = {
    {.options = "request",
     .plans = "plans",
     .one = "plan",
     .fields = PLAN_FIELDS,
     .checked = {{"step", "step.seconds", .judged = "ranked_seconds", .less_is_better = true},
                 {"mfu", "mfu"},
                 {"memory", "memory.total_bytes", .of = "memory.limit_bytes", .less_is_better = true}},
     .headline = "The best plan's step",
     .settings = PLAN_SETTINGS,
     .memory = PLAN_MEMORY},
    {.command = "inference",
     .options = "request.options",
     .plans = "front",
     .one = "point",
     .all = "points of the front",
     .fields = POINT_FIELDS,
     .checked = {{"tokens_per_second_per_chip", "tokens_per_second_per_chip"},
                 {"tokens_per_second_per_user", "tokens_per_second_per_user"},
                 {"ttft_seconds", "ttft_seconds", .less_is_better = true}},
     .headline = "Tokens per second of a chip, at the best point",
     .settings = POINT_SETTINGS,
     .memory = POINT_MEMORY},
};

const ReportKind *report_kind(const cJSON *report) {
    const char *command = json_text_at(report, "request.command");
    for (size_t i = 1; i < COUNT_OF(KINDS); i++)
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
    ExpertGrid *grid = &knobs->methods.grid;
    char schedule[24];
    for (Role role = 0; role < ROLE_COUNT; role++) {
        char key[32];
        snprintf(key, sizeof key, "axes.%s", role_name(role));
        if (!json_whole(plan, key, 1, MACHINE_CHIPS_MAX, where, &named.plan.degrees.of[role], error)) return false;
    }
    if (!json_whole_or(plan, "expert_grid.expert", 1, MACHINE_CHIPS_MAX, 0, where, &grid->expert, error) ||
        !json_whole_or(plan, "expert_grid.expert_tensor", 1, MACHINE_CHIPS_MAX, 1, where, &grid->expert_tensor,
                       error) ||
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

/* Figures of 0 or more; those that are not `needed` may be absent. Lists end with NULL. */
static bool figures_fit(const cJSON *plan, const char *const *needed, const char *const *others, const char *where,
                        Error *error) {
    static const double MOST = 1e300;
    bool ok = true;
    double value;
    for (; *needed && ok; needed++) ok = json_real(plan, *needed, 0, MOST, where, &value, error);
    for (; *others && ok; others++) ok = json_real_or(plan, *others, 0, MOST, 0, where, &value, error);
    return ok;
}

static bool sums_fit(const SnapshotPlan *plan, const char *where, Error *error) {
    int terms = cJSON_GetArraySize(json_at(plan->step, "terms_seconds"));
    return terms <= SNAPSHOT_TERMS_MAX ||
           error_set(error, ERROR_INPUT, where, "step.terms_seconds: has %d terms; give at most %d", terms,
                     SNAPSHOT_TERMS_MAX);
}

static const char *const NONE[] = {NULL};

bool snapshot_plan_read(const cJSON *plan, const char *where, SnapshotPlan *out, Error *error) {
    static const char *const NEEDED[] = {"mfu", "memory.total_bytes", NULL};
    static const char *const OTHERS[] = {"ranked_seconds", "memory.limit_bytes", "tokens_per_second_per_chip",
                                         "peak_flops_per_chip", NULL};
    double seconds;
    *out = (SnapshotPlan){.json = plan, .step = json_at(plan, "step"), .memory = json_at(plan, "memory")};
    if (!cJSON_IsObject(plan)) return error_set(error, ERROR_INPUT, where, "is not a plan; give an object");
    return sums_fit(out, where, error) && read_label(plan, where, out->label, error) &&
           json_real(plan, "step.seconds", 1e-12, 1e300, where, &seconds, error) &&
           figures_fit(plan, NEEDED, OTHERS, where, error);
}

/* Terms of the step and rows of the memory of the last pool, which decodes. */
static bool read_point(const cJSON *point, const char *where, SnapshotPlan *out, Error *error) {
    static const char *const NEEDED[] = {"tokens_per_second_per_chip", NULL};
    static const char *const OF_POOL[] = {"step.seconds", "memory.total_bytes", NULL};
    const cJSON *pools = json_at(point, "pools"), *pool = cJSON_GetArrayItem(pools, cJSON_GetArraySize(pools) - 1);
    *out = (SnapshotPlan){.json = point, .step = json_at(pool, "step"), .memory = json_at(pool, "memory")};
    clean_text(json_text_at(point, "notation"), out->label, sizeof out->label);
    if (!out->label[0]) return error_set(error, ERROR_INPUT, where, "notation: is missing; leave it as it was");
    return sums_fit(out, where, error) && figures_fit(point, NEEDED, NONE, where, error) &&
           figures_fit(pool, NONE, OF_POOL, where, error);
}

static bool read_proof(const cJSON *report, const char *where, bool *proven, Error *error) {
    static const char *const GAP[] = {"search.gap", NULL};
    char proof[16];
    if (!json_text(report, "search.proof", where, proof, sizeof proof, error)) return false;
    *proven = strcmp(proof, "optimal") == 0;
    if (!*proven && strcmp(proof, "gap") != 0)
        return error_set(error, ERROR_INPUT, where, "search.proof: \"%s\" is not a kind of proof; give optimal or gap",
                         proof);
    return figures_fit(report, NONE, GAP, where, error);
}

bool snapshot_read(const cJSON *report, const char *where, Snapshot *out, Error *error) {
    int64_t version;
    char at[160];
    *out = (Snapshot){.report = report, .kind = report_kind(report)};
    const char *all = out->kind->plans, *command = out->kind->command ? out->kind->command : "plan";
    const cJSON *plans = cJSON_GetObjectItemCaseSensitive(report, all), *best = json_at(report, "best_point");
    if (!cJSON_IsObject(report))
        return error_set(error, ERROR_INPUT, where,
                         "is not a report; give one written by `shardopt plan --format json`");
    if (!json_whole(report, "format_version", 1, 1, where, &version, error)) return false;
    if (!cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(report, "request")))
        return error_set(error, ERROR_INPUT, where,
                         "request: is missing; give a report written by `shardopt plan --format json`");
    if (!cJSON_IsArray(plans))
        return error_set(error, ERROR_INPUT, where,
                         "%s: is missing; give a report written by `shardopt %s --format json`", all, command);
    if (!read_proof(report, where, &out->proven, error)) return false;
    bool serves = out->kind->command;
    out->plan_count = serves ? cJSON_IsObject(best) : cJSON_GetArraySize(plans);
    snprintf(at, sizeof at, "%.140s: %s", where, serves ? "best_point" : "plans[0]");
    return out->plan_count == 0 ||
           (serves ? read_point : snapshot_plan_read)(serves ? best : plans->child, at, &out->best, error);
}

/* ---- sums ---- */

static void add_part(const char *name, const cJSON *value, bool now, PartChange out[PART_CHANGES_MAX], int *count) {
    int i = 0;
    while (i < *count && strcmp(out[i].name, name) != 0) i++;
    assert(i < PART_CHANGES_MAX); /* snapshot_plan_read() saw to it */
    if (i == *count) out[(*count)++] = (PartChange){.name = name};
    *(now ? &out[i].now : &out[i].was) += cJSON_IsNumber(value) ? value->valuedouble : 0;
}

/* "exposed communication" is under "exposed_communication_seconds". */
static int part_changes(const cJSON *was, const cJSON *now, const char *const *names, const char *unit,
                        PartChange out[PART_CHANGES_MAX]) {
    int count = 0;
    for (; *names; names++) {
        char key[48];
        snprintf(key, sizeof key, "%s_%s", *names, unit);
        for (char *blank = key; (blank = strchr(blank, ' ')) != NULL;) *blank = '_';
        add_part(*names, json_at(was, key), false, out, &count);
        add_part(*names, json_at(now, key), true, out, &count);
    }
    return count;
}

int snapshot_step_changes(const SnapshotPlan *was, const SnapshotPlan *now, PartChange out[PART_CHANGES_MAX]) {
    const cJSON *before = json_at(was->step, "terms_seconds"), *after = json_at(now->step, "terms_seconds"), *term;
    int count = 0;
    if (!cJSON_IsObject(before) || !cJSON_IsObject(after))
        return part_changes(was->step, now->step, STEP_PARTS, "seconds", out);
    cJSON_ArrayForEach(term, before) add_part(term->string, term, false, out, &count);
    cJSON_ArrayForEach(term, after) add_part(term->string, term, true, out, &count);
    return count;
}

int snapshot_memory_changes(const ReportKind *kind, const SnapshotPlan *was, const SnapshotPlan *now,
                            PartChange out[PART_CHANGES_MAX]) {
    return part_changes(was->memory, now->memory, kind->memory, "bytes", out);
}

/* ---- which plan ---- */

static bool same_at(const cJSON *a, const cJSON *b, const char *path) {
    const cJSON *x = json_at(a, path), *y = json_at(b, path);
    return !x || !y || cJSON_Compare(x, y, true);
}

void snapshot_words(const cJSON *value, Prose *to) {
    char text[PROSE_SIZE];
    const cJSON *item;
    if (cJSON_IsString(value)) prose_add(to, "%s", clean_text(value->valuestring, text, sizeof text));
    if (cJSON_IsNumber(value)) prose_add(to, "%.12g", value->valuedouble);
    if (cJSON_IsBool(value)) prose_add(to, cJSON_IsTrue(value) ? "yes" : "no");
    cJSON_ArrayForEach(item, value) {
        if (item != value->child) prose_add(to, ", ");
        if (item->string) prose_add(to, "%s ", clean_text(item->string, text, sizeof text));
        snapshot_words(item, to);
    }
}

/* Leaves out knobs that follow from the layout (remat...) and knobs that the labels name already. */
static void add_knobs(const cJSON *a, const cJSON *b, bool same_label, Prose *to) {
    static const char *const IN_LABEL[] = {"schedule", "virtual_stages", "microbatches"};
    const cJSON *knob;
    cJSON_ArrayForEach(knob, a) {
        const cJSON *other = cJSON_GetObjectItemCaseSensitive(b, knob->string);
        Prose was = {0}, now = {0};
        char name[PROSE_NAME_SIZE];
        bool said = !other || cJSON_Compare(knob, other, true) || strncmp(knob->string, "remat", 5) == 0;
        for (size_t i = 0; i < COUNT_OF(IN_LABEL); i++)
            said = said || (!same_label && strcmp(knob->string, IN_LABEL[i]) == 0);
        if (said) continue;
        snapshot_words(knob, &was);
        snapshot_words(other, &now);
        prose_item(to, ", ", "%s %s -> %s", clean_name(knob->string, name), was.text, now.text);
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
