/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/baseline/diff.h"

#include "base/json.h"
#include "base/util.h"
#include "search/baseline/snapshot.h"

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
static bool keep_row(DiffRows *to, DiffRow row, Arena *arena) {
    enum { FIRST_ROOM = 16 };
    bool full = to->count == 0 || (to->count >= FIRST_ROOM && (to->count & (to->count - 1)) == 0);
    if (full) {
        DiffRow *grown = ARENA_NEW(arena, DiffRow, (size_t)(to->count ? 2 * to->count : FIRST_ROOM));
        if (!grown) return false;
        if (to->count > 0) memcpy(grown, to->row, (size_t)to->count * sizeof *grown);
        to->row = grown;
    }
    to->row[to->count++] = row;
    return true;
}

static bool add_text(DiffRows *to, const char *name, const char *a, const char *b, Arena *arena) {
    return strcmp(a, b) == 0 || keep_row(to, (DiffRow){.key = name, .name = name, .a = a, .b = b}, arena);
}

static bool add_value(const char *name, const cJSON *a, const cJSON *b, Arena *arena, DiffRows *to) {
    const char *x, *y;
    if (!a && !b) return true;
    return words_of(a, arena, &x) && words_of(b, arena, &y) && add_text(to, name, x, y, arena);
}

/* All keys of two objects, those of the first in their order. */
static bool add_object(const cJSON *a, const cJSON *b, Arena *arena, DiffRows *to) {
    const cJSON *item;
    cJSON_ArrayForEach(item, a) if (!add_value(item->string, item, cJSON_GetObjectItemCaseSensitive(b, item->string),
                                               arena, to)) return false;
    cJSON_ArrayForEach(item, b) if (!cJSON_GetObjectItemCaseSensitive(a, item->string) &&
                                    !add_value(item->string, NULL, item, arena, to)) return false;
    return true;
}

/* What is compared of the space, the proof and the work; the rest of `search` follows from them. */
static bool add_search(Diff *diff, Arena *arena) {
    static const char *const KEYS[] = {"proof", "gap", "plans_covered", "factorizations", "machines", "batches"};
    for (size_t i = 0; i < COUNT_OF(KEYS); i++) {
        const cJSON *a = json_at(json_at(diff->a.report, "search"), KEYS[i]),
                    *b = json_at(json_at(diff->b.report, "search"), KEYS[i]);
        if (a && b && !add_value(KEYS[i], a, b, arena, &diff->search)) return false;
    }
    const ReportKind *kind = diff->a.kind;
    if (!kind->all) return true;
    const char *a = arena_format(arena, "%d", cJSON_GetArraySize(json_at(diff->a.report, kind->plans))),
               *b = arena_format(arena, "%d", cJSON_GetArraySize(json_at(diff->b.report, kind->plans)));
    return a && b && add_text(&diff->search, kind->all, a, b, arena);
}

/* Where a role lies: "fsdp x 4, fsdp y 4". */
static bool placement_words(const cJSON *placement, Arena *arena, const char **out) {
    Prose words = {0};
    const cJSON *item;
    char axis[PROSE_NAME_SIZE], role[PROSE_NAME_SIZE];
    cJSON_ArrayForEach(item, placement) {
        const cJSON *factor = cJSON_GetObjectItemCaseSensitive(item, "factor");
        prose_item(&words, ", ", "%s %.0f of %s", clean_name(json_text_at(item, "role"), role),
                   cJSON_IsNumber(factor) ? factor->valuedouble : 0, clean_name(json_text_at(item, "axis"), axis));
    }
    *out = arena_text(arena, words.text);
    return *out != NULL;
}

/* The sharding that every row of a tensor has in both layouts; NULL: there is no such one. */
static const char *one_sharding(const cJSON *const layouts[2], const char *tensor) {
    const char *one = NULL;
    const cJSON *row;
    for (int side = 0; side < 2; side++) cJSON_ArrayForEach(row, layouts[side]) {
            const char *own = json_text_at(row, "sharding");
            if (strcmp(json_text_at(row, "tensor"), tensor) != 0) continue;
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
        if (strcmp(json_text_at(row, "tensor"), tensor) != 0) continue;
        prose_item(&words, ", ", "%s", clean_name(json_text_at(row, "state"), state));
        if (cJSON_IsNumber(layers) && layers->valuedouble > 0) prose_add(&words, " in %.0f", layers->valuedouble);
        if (sharded) prose_add(&words, " %s", clean_text(json_text_at(row, "sharding"), sharding, sizeof sharding));
    }
    *out = arena_text(arena, words.text);
    return *out != NULL;
}

static bool add_layout(Diff *diff, Arena *arena) {
    const cJSON *of[2] = {json_at(diff->a.best.json, "layout"), json_at(diff->b.best.json, "layout")}, *row;
    if (!of[0] || !of[1]) return true; /* a short report has no layout */
    for (int side = 0; side < 2; side++) cJSON_ArrayForEach(row, of[side]) {
            const char *tensor = json_text_at(row, "tensor");
            const char *a, *b;
            bool said = false;
            for (int i = 0; i < diff->plan.count; i++) said = said || strcmp(diff->plan.row[i].name, tensor) == 0;
            if (said) continue;
            bool sharded = !one_sharding(of, tensor);
            if (!layout_words(of[0], tensor, sharded, arena, &a) || !layout_words(of[1], tensor, sharded, arena, &b) ||
                !add_text(&diff->plan, tensor, a, b, arena))
                return false;
        }
    return true;
}

/* Adds the settings in which the two best plans differ. */
static bool add_plan(Diff *diff, Arena *arena) {
    const cJSON *a = diff->a.best.json, *b = diff->b.best.json;
    const char *here, *there;
    if (!add_text(&diff->plan, diff->a.kind->one, diff->a.best.label, diff->b.best.label, arena)) return false;
    for (const ReportSetting *setting = diff->a.kind->settings; setting->path; setting++) {
        const cJSON *x = json_at(a, setting->path), *y = json_at(b, setting->path);
        if (x && y && !add_value(setting->name, x, y, arena, &diff->plan)) return false;
    }
    const cJSON *x = json_at(a, "placement"), *y = json_at(b, "placement");
    if (!placement_words(x, arena, &here) || !placement_words(y, arena, &there)) return false;
    if (x && y && !add_text(&diff->plan, "placement", here, there, arena)) return false;
    const cJSON *knob, *others = json_at(b, "knobs");
    cJSON_ArrayForEach(knob, json_at(a, "knobs")) {
        const cJSON *other = cJSON_GetObjectItemCaseSensitive(others, knob->string);
        if (other && !cJSON_IsObject(knob) && !add_value(knob->string, knob, other, arena, &diff->plan)) return false;
    }
    return add_layout(diff, arena);
}

/* ---- figures ---- */

const char *diff_change(double a, double b, char *text) {
    if (!(a > 0 && b > 0)) return strcpy(text, a == b ? "none" : "-");
    if (a == b) return strcpy(text, "none");
    if (fabs(b / a - 1) >= 0.0005) return change_text(b / a - 1, text);
    snprintf(text, NUMBER_TEXT_SIZE, "%+.1g%%", 100 * (b / a - 1));
    return text;
}

static bool add_number(DiffRows *to, DiffRow row, FieldUnit *unit, Arena *arena) {
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], change[NUMBER_TEXT_SIZE];
    row.a = arena_text(arena, unit(row.x, a));
    row.b = arena_text(arena, unit(row.y, b));
    if (!row.change) row.change = arena_text(arena, diff_change(row.x, row.y, change));
    to->numbers = true;
    return row.a && row.b && row.change && keep_row(to, row, arena);
}

static bool add_figures(Diff *diff, Arena *arena) {
    const Field *figure;
    for (int place = 1; (figure = field_shown(diff->a.kind->fields, place)) != NULL; place++) {
        const cJSON *a = json_at(diff->a.best.json, figure->key), *b = json_at(diff->b.best.json, figure->key);
        if (!cJSON_IsNumber(a) || !cJSON_IsNumber(b)) continue; /* a short report has fewer figures */
        DiffRow row = {.key = field_flat(figure), .name = figure->name, .x = a->valuedouble, .y = b->valuedouble};
        if (!add_number(&diff->figures, row, figure->unit, arena)) return false;
    }
    return true;
}

/* Parts of a sum, with what each has more (+) or less (-) in B; what is nothing in both stands in JSON alone. */
static bool add_parts(const PartChange *parts, int count, double whole, FieldUnit *unit, Arena *arena, DiffRows *to) {
    char size[NUMBER_TEXT_SIZE];
    for (int i = 0; i < count; i++) {
        DiffRow row = {.key = parts[i].name, .name = parts[i].name, .x = parts[i].was, .y = parts[i].now};
        double moved = row.y - row.x;
        row.is_hidden = fabs(row.x) < 1e-9 * whole && fabs(row.y) < 1e-9 * whole;
        row.change = fabs(moved) < 1e-9 * whole
                         ? "none"
                         : arena_format(arena, "%c%s", moved > 0 ? '+' : '-', unit(fabs(moved), size));
        if (!row.change || !add_number(to, row, unit, arena)) return false;
    }
    return true;
}

static bool add_sums(Diff *diff, Arena *arena) {
    PartChange parts[PART_CHANGES_MAX];
    const SnapshotPlan *a = &diff->a.best, *b = &diff->b.best;
    int count = snapshot_step_changes(a, b, parts);
    if (!add_parts(parts, count, b->seconds, number_time, arena, &diff->step)) return false;
    count = snapshot_memory_changes(diff->a.kind, a, b, parts);
    return add_parts(parts, count, b->hbm_bytes, number_bytes, arena, &diff->memory);
}

/* ---- plans ---- */

/* A row of the table of plans is its degrees, expert grid and schedule, on a machine, with a batch: these two may be
 * others where another request was made. */
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
    if (diff->a.kind->all) return true; /* too many to list */
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

static bool rows_differ(const DiffRows *rows) {
    bool differ = !rows->numbers && rows->count > 0;
    for (int i = 0; i < rows->count && rows->numbers; i++) differ = differ || !(rows->row[i].x == rows->row[i].y);
    return differ;
}

/* What became of a plan; not listed means that it is slower than all that the other report shows. */
typedef enum { PLAN_IN_BOTH, PLAN_NEW, PLAN_GONE, PLAN_NOT_LISTED } PlanMove;

static PlanMove plan_move(const Diff *diff, const DiffPlan *plan) {
    if (plan->rank_a && plan->rank_b) return PLAN_IN_BOTH;
    int others = plan->rank_a ? diff->b.plan_count : diff->a.plan_count, rank = plan->rank_a + plan->rank_b;
    if (others > 0 && rank > others) return PLAN_NOT_LISTED;
    return plan->rank_a ? PLAN_GONE : PLAN_NEW;
}

/* Causes aside. */
static bool is_different(const Diff *diff) {
    const DiffRows *const ROWS[] = {&diff->request, &diff->search, &diff->plan,
                                    &diff->figures, &diff->step,   &diff->memory};
    bool other = false;
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) other = other || rows_differ(ROWS[i]);
    for (int i = 0; i < diff->plans_count; i++) {
        const DiffPlan *plan = &diff->plans[i];
        PlanMove move = plan_move(diff, plan);
        bool same = plan->rank_a == plan->rank_b && plan->seconds_a == plan->seconds_b;
        other = other || (move == PLAN_IN_BOTH ? !same : move != PLAN_NOT_LISTED);
    }
    return other;
}

bool diff_make(const ReportFile *a, const ReportFile *b, Arena *arena, Diff *out, Error *error) {
    *out = (Diff){.a_file = a->name, .b_file = b->name};
    if (!snapshot_read(a->json, a->name, &out->a, error) || !snapshot_read(b->json, b->name, &out->b, error))
        return false;
    const cJSON *x = report_options(a->json), *y = report_options(b->json);
    out->a_words = baseline_name(x, arena);
    out->b_words = baseline_name(y, arena);
    if (!out->a_words || !out->b_words || !add_object(x, y, arena, &out->request) || !add_search(out, arena))
        return error_memory(error);
    out->both = out->a.plan_count > 0 && out->b.plan_count > 0;
    if (out->both && !(add_plan(out, arena) && add_figures(out, arena) && add_sums(out, arena)))
        return error_memory(error);
    if (!add_plans(out, arena, error)) return false;
    out->different = is_different(out);
    bool moved = out->different && out->request.count == 0; /* a different request is the cause already */
    out->cause_count = causes_find(&out->a, &out->b, false, moved, out->causes);
    out->different = out->different || out->cause_count > 0;
    return true;
}

/* ---- what the forms share ---- */

void diff_headline(const Diff *diff, Prose *out) {
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], change[NUMBER_TEXT_SIZE];
    *out = (Prose){0};
    if (!diff->different) {
        prose_add(out, "A and B do not differ.");
    } else if (diff->both) {
        const SnapshotPlan *x = &diff->a.best, *y = &diff->b.best;
        const Field *first = checked_field(diff->a.kind, 0);
        double was = json_real_at(x->json, first->key, 0), now = json_real_at(y->json, first->key, 0),
               per_a = x->tokens_per_second_per_chip, per_b = y->tokens_per_second_per_chip;
        prose_add(out, "%s: %s -> %s (%s)", diff->a.kind->headline, first->unit(was, a), first->unit(now, b),
                  diff_change(was, now, change));
        if (per_a > 0 && per_b > 0 && diff->request.count > 0 && !diff->a.kind->command)
            prose_add(out, "; tokens per second per chip: %s", diff_change(per_a, per_b, change));
        prose_add(out, ".");
    } else {
        const char *one = diff->a.kind->one, *fits = diff->a.proven && diff->b.proven ? "fits" : "was found";
        const Snapshot *const SIDES[] = {&diff->a, &diff->b};
        for (int i = 0; i < 2; i++)
            prose_add(out, "%s: %s %s %s.", i ? " B" : "A", SIDES[i]->plan_count ? "a" : "no", one,
                      SIDES[i]->plan_count ? "fits" : fits);
    }
}

enum { COLUMNS_MAX = 6, CELL_SIZE = 512, CELL_COLUMNS = 34 };

static Table begin_table(Arena *arena, const char *headings) {
    Table table = table_new(arena, NULL, headings);
    for (int c = 0; c < table.columns; c++) table_wrap(&table, c, CELL_COLUMNS);
    return table;
}

static void add_row(Table *table, const char *const *cells) {
    char own[COLUMNS_MAX][CELL_SIZE];
    const char *shown[COLUMNS_MAX];
    for (int c = 0; c < table->columns; c++) shown[c] = clean_text(cells[c], own[c], CELL_SIZE);
    table_row(table, shown);
}

Table diff_table(const DiffRows *rows, Arena *arena) {
    Table table = begin_table(arena, rows->numbers ? "|>A|>B|>change" : "|A|B");
    for (int i = 0; i < rows->count; i++) {
        const DiffRow *row = &rows->row[i];
        if (!row->is_hidden)
            add_row(&table,
                    (const char *const[]){row->name, row->a[0] ? row->a : "-", row->b[0] ? row->b : "-", row->change});
    }
    return table;
}

static const char *rank_text(int rank, char *text) {
    if (rank == 0) return "-";
    snprintf(text, NUMBER_TEXT_SIZE, "%d", rank);
    return text;
}

Table diff_plans_table(const Diff *diff, Arena *arena) {
    Table table = begin_table(arena, "plan|>in A|>in B|>step A|>step B|>change");
    for (int i = 0; i < diff->plans_count; i++) {
        const DiffPlan *plan = &diff->plans[i];
        char in_a[NUMBER_TEXT_SIZE], in_b[NUMBER_TEXT_SIZE], a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE],
            change[NUMBER_TEXT_SIZE];
        PlanMove move = plan_move(diff, plan);
        add_row(&table,
                (const char *const[]){plan->label, rank_text(plan->rank_a, in_a), rank_text(plan->rank_b, in_b),
                                      plan->rank_a ? step_text(plan->seconds_a, a) : "-",
                                      plan->rank_b ? step_text(plan->seconds_b, b) : "-",
                                      move == PLAN_IN_BOTH ? diff_change(plan->seconds_a, plan->seconds_b, change)
                                      : move == PLAN_NEW   ? "new"
                                      : move == PLAN_GONE  ? "gone"
                                                           : "not listed"});
    }
    return table;
}
