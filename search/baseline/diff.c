/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/baseline/diff.h"

#include "base/json.h"
#include "base/util.h"
#include "search/baseline/baseline.h"

#include <math.h>
#include <string.h>

/* ---- texts ---- */

/* Writes a value in one line: numbers and words unchanged, lists and objects by their members. */
static void add_words(const cJSON *value, Prose *to) {
    char text[PROSE_SIZE];
    const cJSON *item;
    if (cJSON_IsString(value))
        prose_add(to, "%s", clean_text(value->valuestring, text, sizeof text));
    else if (cJSON_IsNumber(value))
        prose_add(to, "%.12g", value->valuedouble);
    else if (cJSON_IsBool(value))
        prose_add(to, "%s", cJSON_IsTrue(value) ? "yes" : "no");
    cJSON_ArrayForEach(item, value) {
        if (item != value->child) prose_add(to, ", ");
        if (item->string) prose_add(to, "%s ", clean_text(item->string, text, sizeof text));
        add_words(item, to);
    }
}

static bool words_of(const cJSON *value, Arena *arena, const char **out) {
    Prose words = {0};
    add_words(value, &words);
    *out = arena_text(arena, words.text);
    return *out != NULL;
}

/* Adds to a list of any length: its room is FIRST_ROOM, then doubles whenever it is full. */
static bool keep_text(DiffText text, Arena *arena, DiffText **list, int *count) {
    enum { FIRST_ROOM = 16 };
    bool full = *count == 0 || (*count >= FIRST_ROOM && (*count & (*count - 1)) == 0);
    if (full) {
        DiffText *grown = ARENA_NEW(arena, DiffText, (size_t)(*count ? 2 * *count : FIRST_ROOM));
        if (!grown) return false;
        if (*count > 0) memcpy(grown, *list, (size_t)*count * sizeof *grown);
        *list = grown;
    }
    (*list)[(*count)++] = text;
    return true;
}

static bool add_text(const char *name, const cJSON *a, const cJSON *b, Arena *arena, DiffText **list, int *count) {
    DiffText text = {.name = name};
    if (!a && !b) return true;
    if (!words_of(a, arena, &text.a) || !words_of(b, arena, &text.b)) return false;
    return strcmp(text.a, text.b) == 0 || keep_text(text, arena, list, count);
}

/* All keys of two objects, those of the first in their order. */
static bool add_object(const cJSON *a, const cJSON *b, Arena *arena, DiffText **list, int *count) {
    const cJSON *item;
    cJSON_ArrayForEach(item, a) if (!add_text(item->string, item, cJSON_GetObjectItemCaseSensitive(b, item->string),
                                              arena, list, count)) return false;
    cJSON_ArrayForEach(item, b) if (!cJSON_GetObjectItemCaseSensitive(a, item->string) &&
                                    !add_text(item->string, NULL, item, arena, list, count)) return false;
    return true;
}

/* What is compared of the space, the proof and the work; the rest of `search` follows from them. */
static bool add_search(Diff *diff, Arena *arena) {
    static const char *const KEYS[] = {"proof", "gap", "plans_covered", "factorizations", "machines", "batches"};
    for (size_t i = 0; i < COUNT_OF(KEYS); i++) {
        const cJSON *a = json_at(json_at(diff->a.report, "search"), KEYS[i]),
                    *b = json_at(json_at(diff->b.report, "search"), KEYS[i]);
        if (a && b && !add_text(KEYS[i], a, b, arena, &diff->search, &diff->search_count)) return false;
    }
    return true;
}

/* Where a role lies: "fsdp x 4, fsdp y 4". */
static bool placement_words(const cJSON *placement, Arena *arena, const char **out) {
    Prose words = {0};
    const cJSON *item;
    char axis[PROSE_NAME_SIZE], role[PROSE_NAME_SIZE];
    cJSON_ArrayForEach(item, placement) {
        const cJSON *factor = cJSON_GetObjectItemCaseSensitive(item, "factor");
        prose_item(&words, ", ", "%s %.0f of %s", clean_name(snapshot_text(item, "role"), role),
                   cJSON_IsNumber(factor) ? factor->valuedouble : 0, clean_name(snapshot_text(item, "axis"), axis));
    }
    *out = arena_text(arena, words.text);
    return *out != NULL;
}

/* The sharding that every row of a tensor has in both layouts; NULL: there is no such one. */
static const char *one_sharding(const cJSON *const layouts[2], const char *tensor) {
    const char *one = NULL;
    const cJSON *row;
    for (int side = 0; side < 2; side++) cJSON_ArrayForEach(row, layouts[side]) {
            const char *own = snapshot_text(row, "sharding");
            if (strcmp(snapshot_text(row, "tensor"), tensor) != 0) continue;
            if (one && strcmp(one, own) != 0) return NULL;
            one = own;
        }
    return one;
}

/* How a tensor is kept: the states and layers of all of its rows. */
static bool layout_words(const cJSON *layout, const char *tensor, bool sharded, Arena *arena, const char **out) {
    Prose words = {0};
    const cJSON *row;
    char state[PROSE_NAME_SIZE], sharding[PROSE_SIZE];
    cJSON_ArrayForEach(row, layout) {
        const cJSON *layers = cJSON_GetObjectItemCaseSensitive(row, "layers");
        if (strcmp(snapshot_text(row, "tensor"), tensor) != 0) continue;
        prose_item(&words, ", ", "%s", clean_name(snapshot_text(row, "state"), state));
        if (cJSON_IsNumber(layers) && layers->valuedouble > 0) prose_add(&words, " in %.0f", layers->valuedouble);
        if (sharded) prose_add(&words, " %s", clean_text(snapshot_text(row, "sharding"), sharding, sizeof sharding));
    }
    *out = arena_text(arena, words.text);
    return *out != NULL;
}

static bool add_layout(Diff *diff, Arena *arena) {
    const cJSON *of[2] = {json_at(diff->a.best.json, "layout"), json_at(diff->b.best.json, "layout")}, *row;
    if (!of[0] || !of[1]) return true; /* a short report has no layout */
    for (int side = 0; side < 2; side++) cJSON_ArrayForEach(row, of[side]) {
            const char *tensor = snapshot_text(row, "tensor");
            DiffText text = {.name = tensor};
            bool said = false;
            for (int i = 0; i < diff->plan_count; i++) said = said || strcmp(diff->plan[i].name, tensor) == 0;
            if (said) continue;
            bool sharded = !one_sharding(of, tensor);
            if (!layout_words(of[0], tensor, sharded, arena, &text.a) ||
                !layout_words(of[1], tensor, sharded, arena, &text.b))
                return false;
            if (strcmp(text.a, text.b) != 0 && !keep_text(text, arena, &diff->plan, &diff->plan_count)) return false;
        }
    return true;
}

/* Adds the settings in which the two best plans differ. */
static bool add_plan(Diff *diff, Arena *arena) {
    static const char *const PATHS[] = {"machine.text", "batch.tokens", "padding", "launchable_by", "bound_by"};
    static const char *const NAMES[] = {"machine", "batch tokens", "padding", "launchable by", "bound by"};
    const cJSON *a = diff->a.best.json, *b = diff->b.best.json;
    int *count = &diff->plan_count;
    DiffText degrees = {"plan", diff->a.best.label, diff->b.best.label}, placement = {.name = "placement"};
    if (strcmp(degrees.a, degrees.b) != 0 && !keep_text(degrees, arena, &diff->plan, count)) return false;
    for (size_t i = 0; i < COUNT_OF(PATHS); i++) {
        const cJSON *x = json_at(a, PATHS[i]), *y = json_at(b, PATHS[i]);
        if (x && y && !add_text(NAMES[i], x, y, arena, &diff->plan, count)) return false;
    }
    const cJSON *x = json_at(a, "placement"), *y = json_at(b, "placement");
    if (!placement_words(x, arena, &placement.a) || !placement_words(y, arena, &placement.b)) return false;
    if (x && y && strcmp(placement.a, placement.b) != 0 && !keep_text(placement, arena, &diff->plan, count))
        return false;
    const cJSON *knob, *others = json_at(b, "knobs");
    cJSON_ArrayForEach(knob, json_at(a, "knobs")) {
        const cJSON *other = cJSON_GetObjectItemCaseSensitive(others, knob->string);
        if (other && !cJSON_IsObject(knob) && !add_text(knob->string, knob, other, arena, &diff->plan, count))
            return false;
    }
    return add_layout(diff, arena);
}

/* ---- figures ---- */

static const char *dollars(double value, char *text) {
    char number[NUMBER_TEXT_SIZE];
    snprintf(text, NUMBER_TEXT_SIZE, "$%.40s", number_short(value, number));
    return text;
}

static const char *grouped(double value, char *text) {
    return number_grouped(value < 9e15 ? (int64_t)(value + 0.5) : INT64_MAX, text);
}

static void add_figures(Diff *diff) {
    static const struct {
        const char *name, *words, *path;
        const char *(*unit)(double value, char *text);
    } FIGURES[] = {
        {"step_seconds", "step", "step.seconds", step_text},
        {"tokens_per_second_per_chip", "tokens/s a chip", "tokens_per_second_per_chip", grouped},
        {"mfu", "MFU", "mfu", share_text},
        {"hbm_bytes", "HBM", "memory.total_bytes", number_bytes},
        {"hbm_limit_bytes", "usable HBM", "memory.limit_bytes", number_bytes},
        {"chips", "chips", "chips_used", grouped},
        {"training_seconds", "training", "training.seconds", duration_text},
        {"cost_usd", "cost", "training.cost_usd", dollars},
    };
    _Static_assert(COUNT_OF(FIGURES) <= DIFF_FIGURES_MAX, "figures of a plan");
    for (size_t i = 0; i < COUNT_OF(FIGURES); i++) {
        const cJSON *a = json_at(diff->a.best.json, FIGURES[i].path), *b = json_at(diff->b.best.json, FIGURES[i].path);
        if (!cJSON_IsNumber(a) || !cJSON_IsNumber(b)) continue; /* a short report has fewer figures */
        diff->figures[diff->figure_count++] = (DiffFigure){.name = FIGURES[i].name,
                                                           .words = FIGURES[i].words,
                                                           .a = a->valuedouble,
                                                           .b = b->valuedouble,
                                                           .unit = FIGURES[i].unit};
    }
}

const char *diff_change(double a, double b, char *text) {
    if (!(a > 0 && b > 0)) return strcpy(text, a == b ? "none" : "-");
    if (a == b) return strcpy(text, "none");
    if (fabs(b / a - 1) >= 0.0005) return change_text(b / a - 1, text);
    snprintf(text, NUMBER_TEXT_SIZE, "%+.1g%%", 100 * (b / a - 1));
    return text;
}

/* ---- plans ---- */

/* A row of the table of plans is its degrees, expert grid and schedule, on a machine, with a batch: these two may be
 * others where another question was asked. */
static bool same_row(const SnapshotPlan *a, const SnapshotPlan *b, bool exactly) {
    static const char *const PATHS[] = {"axes",           "expert_grid.expert", "expert_grid.expert_tensor",
                                        "knobs.schedule", "machine.text",       "batch.tokens"};
    for (size_t i = 0; i < COUNT_OF(PATHS) - (exactly ? 0 : 2); i++) {
        const cJSON *x = json_at(a->json, PATHS[i]), *y = json_at(b->json, PATHS[i]);
        if (!x != !y || (x && !cJSON_Compare(x, y, true))) return false;
    }
    return true;
}

static bool read_plans(const Snapshot *of, const char *file, Arena *arena, SnapshotPlan **out, Error *error) {
    const cJSON *plan = cJSON_GetObjectItemCaseSensitive(of->report, "plans")->child;
    *out = ARENA_NEW(arena, SnapshotPlan, (size_t)of->plan_count);
    if (!*out) return error_memory(error);
    for (int i = 0; i < of->plan_count; i++, plan = plan->next) {
        char where[160];
        snprintf(where, sizeof where, "%.130s: plans[%d]", file, i);
        if (!snapshot_plan_read(plan, where, &(*out)[i], error)) return false;
    }
    return true;
}

static bool add_plans(Diff *diff, Arena *arena, Error *error) {
    SnapshotPlan *a, *b;
    if (!read_plans(&diff->a, diff->a_file, arena, &a, error) || !read_plans(&diff->b, diff->b_file, arena, &b, error))
        return false;
    int of_a = diff->a.plan_count, of_b = diff->b.plan_count;
    bool *taken = ARENA_NEW(arena, bool, (size_t)of_a);
    diff->plans = ARENA_NEW(arena, DiffPlan, (size_t)of_a + (size_t)of_b);
    if (!taken || !diff->plans) return error_memory(error);
    for (int i = 0; i < of_b; i++)
        diff->plans[i] = (DiffPlan){.label = b[i].label, .rank_b = i + 1, .seconds_b = b[i].seconds};
    diff->plans_count = of_b;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < of_b; i++) {
            DiffPlan *plan = &diff->plans[i];
            int j = 0;
            while (j < of_a && (taken[j] || !same_row(&a[j], &b[i], pass == 0))) j++;
            if (plan->rank_a || j == of_a) continue;
            taken[j] = true;
            plan->rank_a = j + 1;
            plan->seconds_a = a[j].seconds;
        }
    for (int j = 0; j < of_a; j++)
        if (!taken[j])
            diff->plans[diff->plans_count++] =
                (DiffPlan){.label = a[j].label, .rank_a = j + 1, .seconds_a = a[j].seconds};
    return true;
}

/* ---- all of it ---- */

PlanMove diff_plan_move(const Diff *diff, const DiffPlan *plan) {
    if (plan->rank_a && plan->rank_b) return PLAN_IN_BOTH;
    int others = plan->rank_a ? diff->b.plan_count : diff->a.plan_count, rank = plan->rank_a + plan->rank_b;
    if (others > 0 && rank > others) return PLAN_NOT_LISTED;
    return plan->rank_a ? PLAN_GONE : PLAN_NEW;
}

/* Causes aside. */
static bool is_different(const Diff *diff) {
    bool other = diff->request_count || diff->search_count || diff->plan_count;
    for (int i = 0; i < diff->figure_count; i++) other = other || !(diff->figures[i].a == diff->figures[i].b);
    for (int i = 0; i < diff->step_count; i++) other = other || diff->step[i].was != diff->step[i].now;
    for (int i = 0; i < diff->memory_count; i++) other = other || diff->memory[i].was != diff->memory[i].now;
    for (int i = 0; i < diff->plans_count; i++) {
        const DiffPlan *plan = &diff->plans[i];
        PlanMove move = diff_plan_move(diff, plan);
        bool same = plan->rank_a == plan->rank_b && plan->seconds_a == plan->seconds_b;
        other = other || (move == PLAN_IN_BOTH ? !same : move != PLAN_NOT_LISTED);
    }
    return other;
}

bool diff_make(const ReportFile *a, const ReportFile *b, Arena *arena, Diff *out, Error *error) {
    *out = (Diff){.a_file = a->name, .b_file = b->name};
    if (!snapshot_read(a->json, a->name, &out->a, error) || !snapshot_read(b->json, b->name, &out->b, error))
        return false;
    const cJSON *x = cJSON_GetObjectItemCaseSensitive(a->json, "request"),
                *y = cJSON_GetObjectItemCaseSensitive(b->json, "request");
    out->a_words = baseline_name(x, arena);
    out->b_words = baseline_name(y, arena);
    if (!out->a_words || !out->b_words || !add_object(x, y, arena, &out->request, &out->request_count) ||
        !add_search(out, arena))
        return error_memory(error);
    out->both = out->a.plan_count > 0 && out->b.plan_count > 0;
    if (out->both) {
        if (!add_plan(out, arena)) return error_memory(error);
        add_figures(out);
        out->step_count = snapshot_step_changes(&out->a.best, &out->b.best, out->step);
        out->memory_count = snapshot_memory_changes(&out->a.best, &out->b.best, out->memory);
    }
    if (!add_plans(out, arena, error)) return false;
    out->different = is_different(out);
    bool moved = out->different && out->request_count == 0; /* a different request is the cause already */
    out->cause_count = causes_find(&out->a, &out->b, false, moved, out->causes);
    out->different = out->different || out->cause_count > 0;
    return true;
}
