/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two reports side by side, as a document: a walk over both by the tables of their kind. */
#include "search/baseline/diff.h"

#include "base/json.h"
#include "base/util.h"
#include "search/baseline/snapshot.h"

#include <math.h>
#include <string.h>

typedef struct {
    Snapshot a, b;
    cJSON *json;    /* json_print() says whether memory was out when it was filled */
    bool different; /* causes aside */
} Walk;

/* ---- rows ---- */

static void add_text(Walk *walk, cJSON *to, const char *key, const char *a, const char *b) {
    if (strcmp(a, b) == 0) return;
    cJSON *row = json_add_object(to, key);
    json_add_text(row, "a", a[0] ? a : NULL);
    json_add_text(row, "b", b[0] ? b : NULL);
    walk->different = true;
}

static void add_number(Walk *walk, cJSON *to, const char *key, double a, double b) {
    cJSON *row = json_add_object(to, key);
    json_add_real(row, "a", a);
    json_add_real(row, "b", b);
    walk->different = walk->different || !(a == b);
}

static void add_value(Walk *walk, cJSON *to, const char *key, const cJSON *a, const cJSON *b) {
    Prose x = {0}, y = {0};
    snapshot_words(a, &x);
    snapshot_words(b, &y);
    add_text(walk, to, key, x.text, y.text);
}

/* ---- the question ---- */

/* The value of an option that nobody gave; NULL: it follows from the model, the machine or the launcher. A report of
 * another version, and a request that somebody wrote, have fewer options: those at their defaults change nothing. */
static const NamedPath DEFAULTS[] = {
    {"batch", NULL},
    {"seq", NULL},
    {"tokens", NULL},
    {"max_idle", NULL},
    {"hbm_reserve", NULL},
    {"stack", NULL},
    {"batch_tolerance", "0"},
    {"padding", "launchable"},
    {"objective", "time"},
    {"variants", "no"},
    {"schedules", "launchable"},
    {"precision", "bf16"},
    {"optimizer", "adamw"},
    {"remat", "auto"},
    {"state_dtypes", "default"},
    {"offload", "auto"},
    {"profile", "default"},
    {"brute_force", "no"},
    {"for", "maxtext"},
    {"for", "megatron,torchtitan,deepspeed"},
    {"nesting", "maxtext"},
    {"nesting", "jax"},
    {"nesting", "megatron"},
    {"nesting", "torchtitan"},
    {"nesting", "deepspeed"},
};
/* `without`: the request lacking it. Of several launchers it has `stack` and `nesting` only where they are typed. */
static bool is_default(const cJSON *option, const cJSON *without) {
    bool typed = strcmp(option->string, "stack") == 0 || strcmp(option->string, "nesting") == 0;
    Prose words = {0};
    snapshot_words(option, &words);
    for (size_t i = 0; i < COUNT_OF(DEFAULTS) && !(typed && strchr(json_text_at(without, "for"), ',')); i++)
        if (strcmp(option->string, DEFAULTS[i].name) == 0 &&
            (!DEFAULTS[i].path || strcmp(words.text, DEFAULTS[i].path) == 0))
            return true;
    return false;
}

/* Whether an option that one report alone has changes nothing: of serving, where `request` says that both have the same
 * in force. */
static bool is_in_force(const Walk *walk, const cJSON *option, const cJSON *without) {
    char path[80];
    snprintf(path, sizeof path, "request.%.64s", option->string);
    const cJSON *x = json_at(walk->a.report, path), *y = json_at(walk->b.report, path);
    return walk->a.kind->command ? x && y && cJSON_Compare(x, y, true) : is_default(option, without);
}

/* All options of both, those of A in their order. */
static void add_request(Walk *walk, cJSON *to) {
    const cJSON *of[2] = {report_options(walk->a.report), report_options(walk->b.report)}, *item;
    for (int side = 0; side < 2; side++) cJSON_ArrayForEach(item, of[side]) {
            const cJSON *other = cJSON_GetObjectItemCaseSensitive(of[!side], item->string);
            if (other ? side == 0 : !is_in_force(walk, item, of[!side]))
                add_value(walk, to, item->string, side ? other : item, side ? item : other);
        }
}

/* What is compared of the space, the proof and the work; the rest of `search` follows from them. */
static void add_search(Walk *walk, cJSON *to) {
    static const char *const KEYS[] = {"proof", "gap", "plans_covered", "factorizations", "machines", "batches"};
    const ReportKind *kind = walk->a.kind;
    const cJSON *x = json_at(walk->a.report, "search"), *y = json_at(walk->b.report, "search");
    for (size_t i = 0; i < COUNT_OF(KEYS); i++) {
        const cJSON *a = json_at(x, KEYS[i]), *b = json_at(y, KEYS[i]);
        if (a && b) add_value(walk, to, KEYS[i], a, b);
    }
    char a[16], b[16];
    snprintf(a, sizeof a, "%d", cJSON_GetArraySize(json_at(walk->a.report, kind->plans)));
    snprintf(b, sizeof b, "%d", cJSON_GetArraySize(json_at(walk->b.report, kind->plans)));
    if (kind->all) add_text(walk, to, kind->all, a, b);
}

/* ---- the best plan ---- */

/* Where each role lies: "tensor 2 of nvlink, data 4 of nvlink". */
static void add_placement(const cJSON *placement, Prose *to) {
    const cJSON *item;
    char axis[PROSE_NAME_SIZE], role[PROSE_NAME_SIZE];
    cJSON_ArrayForEach(item, placement)
        prose_item(to, ", ", "%s %.0f of %s", clean_name(json_text_at(item, "role"), role),
                   json_real_at(item, "factor", 0), clean_name(json_text_at(item, "axis"), axis));
}

/* How a tensor is kept: the states and layers of all of its rows, with their shardings where these are `sharded` in
 * several ways. */
static void add_states(const cJSON *layout, const char *tensor, bool sharded, Prose *to) {
    const cJSON *row;
    char state[PROSE_NAME_SIZE], sharding[PROSE_SIZE];
    cJSON_ArrayForEach(row, layout) {
        double layers = json_real_at(row, "layers", 0);
        if (strcmp(json_text_at(row, "tensor"), tensor) != 0) continue;
        prose_item(to, ", ", "%s", clean_name(json_text_at(row, "state"), state));
        if (layers > 0) prose_add(to, " in %.0f", layers);
        if (sharded) prose_add(to, " %s", clean_text(json_text_at(row, "sharding"), sharding, sizeof sharding));
    }
}

/* Whether the rows of a tensor in both layouts have several shardings. */
static bool is_sharded_in_ways(const cJSON *const layouts[2], const char *tensor) {
    const char *one = NULL;
    const cJSON *row;
    for (int side = 0; side < 2; side++) cJSON_ArrayForEach(row, layouts[side]) {
            const char *own = json_text_at(row, "sharding");
            if (strcmp(json_text_at(row, "tensor"), tensor) != 0) continue;
            if (one && strcmp(one, own) != 0) return true;
            one = own;
        }
    return false;
}

static void add_layout(Walk *walk, cJSON *to) {
    const cJSON *of[2] = {json_at(walk->a.best.json, "layout"), json_at(walk->b.best.json, "layout")}, *row;
    if (!of[0] || !of[1]) return; /* a short report has no layout */
    for (int side = 0; side < 2; side++) cJSON_ArrayForEach(row, of[side]) {
            const char *tensor = json_text_at(row, "tensor");
            Prose a = {0}, b = {0};
            if (cJSON_GetObjectItemCaseSensitive(to, tensor)) continue;
            bool sharded = is_sharded_in_ways(of, tensor);
            add_states(of[0], tensor, sharded, &a);
            add_states(of[1], tensor, sharded, &b);
            add_text(walk, to, tensor, a.text, b.text);
        }
}

/* The settings in which the two best plans differ. */
static void add_settings(Walk *walk, cJSON *to) {
    const cJSON *a = walk->a.best.json, *b = walk->b.best.json, *knob, *x, *y;
    Prose here = {0}, there = {0};
    add_text(walk, to, walk->a.kind->one, walk->a.best.label, walk->b.best.label);
    for (const NamedPath *setting = walk->a.kind->settings; setting->path; setting++)
        if ((x = json_at(a, setting->path)) && (y = json_at(b, setting->path)))
            add_value(walk, to, setting->name, x, y);
    x = json_at(a, "placement"), y = json_at(b, "placement");
    add_placement(x, &here);
    add_placement(y, &there);
    if (x && y) add_text(walk, to, "placement", here.text, there.text);
    x = json_at(a, "knobs"), y = json_at(b, "knobs");
    cJSON_ArrayForEach(knob, x) {
        const cJSON *other = cJSON_GetObjectItemCaseSensitive(y, knob->string);
        if (other && !cJSON_IsObject(knob)) add_value(walk, to, knob->string, knob, other);
    }
    add_layout(walk, to);
}

static void add_figures(Walk *walk, cJSON *to) {
    const Field *figure;
    for (int place = 1; (figure = field_shown(walk->a.kind->fields, place)) != NULL; place++) {
        const cJSON *a = json_at(walk->a.best.json, figure->key), *b = json_at(walk->b.best.json, figure->key);
        if (cJSON_IsNumber(a) && cJSON_IsNumber(b)) /* a short report has fewer figures */
            add_number(walk, to, field_flat(figure), a->valuedouble, b->valuedouble);
    }
}

static void add_best(Walk *walk) {
    PartChange parts[PART_CHANGES_MAX];
    const SnapshotPlan *a = &walk->a.best, *b = &walk->b.best;
    add_figures(walk, json_add_object(walk->json, "figures"));
    add_settings(walk, json_add_object(walk->json, "plan"));
    cJSON *step = json_add_object(walk->json, "terms_seconds"), *memory = json_add_object(walk->json, "memory_bytes");
    for (int i = 0, count = snapshot_step_changes(a, b, parts); i < count; i++)
        add_number(walk, step, parts[i].name, parts[i].was, parts[i].now);
    for (int i = 0, count = snapshot_memory_changes(walk->a.kind, a, b, parts); i < count; i++)
        add_number(walk, memory, parts[i].name, parts[i].was, parts[i].now);
}

/* ---- plans ---- */

/* A plan of a list, and its rank in the other one; 0: none has it yet. */
typedef struct {
    SnapshotPlan plan;
    int other;
} Listed;

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

static Listed *read_plans(const Snapshot *of, const char *file, Arena *arena, Error *error) {
    const cJSON *plan = cJSON_GetObjectItemCaseSensitive(of->report, "plans")->child;
    Listed *all = ARENA_NEW(arena, Listed, (size_t)of->plan_count);
    if (!all) error_memory(error);
    for (int i = 0; all && i < of->plan_count; i++, plan = plan->next) {
        char where[160];
        snprintf(where, sizeof where, "%.130s: plans[%d]", file, i);
        if (!snapshot_plan_read(plan, where, &all[i].plan, error)) return NULL;
    }
    return all;
}

static void add_rank(cJSON *to, const char *rank_key, const char *seconds_key, int rank, const Listed *plans) {
    if (rank == 0) {
        json_add_text(to, rank_key, NULL);
        json_add_text(to, seconds_key, NULL);
        return;
    }
    json_add_whole(to, rank_key, rank);
    json_add_real(to, seconds_key, json_real_at(plans[rank - 1].plan.step, "seconds", 0));
}

/* A plan that one list alone has is no difference where it is slower than all that the other one shows. */
static void add_plan(Walk *walk, cJSON *to, const Listed *a, const Listed *b, int rank_a, int rank_b) {
    cJSON *item = json_add_object(to, NULL);
    json_add_text(item, "plan", rank_b ? b[rank_b - 1].plan.label : a[rank_a - 1].plan.label);
    add_rank(item, "rank_a", "step_seconds_a", rank_a, a);
    add_rank(item, "rank_b", "step_seconds_b", rank_b, b);
    bool both = rank_a && rank_b;
    int others = rank_a ? walk->b.plan_count : walk->a.plan_count;
    if (both ? rank_a != rank_b || json_real_at(item, "step_seconds_a", 0) != json_real_at(item, "step_seconds_b", 0)
             : others == 0 || rank_a + rank_b <= others)
        walk->different = true;
}

/* By rank in B, then those that only A has, by theirs. */
static bool add_plans(Walk *walk, const char *a_file, const char *b_file, Arena *arena, Error *error) {
    cJSON *list = json_add_array(walk->json, "plans");
    if (walk->a.kind->all) return true; /* too many to list */
    Listed *a = read_plans(&walk->a, a_file, arena, error), *b = a ? read_plans(&walk->b, b_file, arena, error) : NULL;
    if (!b) return false;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < walk->b.plan_count; i++)
            for (int j = 0; j < walk->a.plan_count && !b[i].other; j++)
                if (!a[j].other && same_row(&a[j].plan, &b[i].plan, pass == 0)) b[i].other = j + 1, a[j].other = i + 1;
    for (int i = 0; i < walk->b.plan_count; i++) add_plan(walk, list, a, b, b[i].other, i + 1);
    for (int j = 0; j < walk->a.plan_count; j++)
        if (!a[j].other) add_plan(walk, list, a, b, j + 1, 0);
    return true;
}

/* ---- all of it ---- */

const char *diff_change(double a, double b, char *text) {
    if (!(a > 0 && b > 0)) return strcpy(text, a == b ? "none" : "-");
    if (a == b) return strcpy(text, "none");
    if (fabs(b / a - 1) >= 0.0005) return change_text(b / a - 1, text);
    snprintf(text, NUMBER_TEXT_SIZE, "%+.1g%%", 100 * (b / a - 1));
    return text;
}

static void add_headline(const Walk *walk, bool same_request, Prose *to) {
    static const char *const PER_CHIP = "tokens_per_second_per_chip";
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], change[NUMBER_TEXT_SIZE];
    const ReportKind *kind = walk->a.kind;
    const Snapshot *const SIDES[] = {&walk->a, &walk->b};
    if (walk->a.plan_count == 0 || walk->b.plan_count == 0) {
        const char *none = walk->a.proven && walk->b.proven ? "fits" : "was found";
        for (int i = 0; i < 2; i++)
            prose_add(to, "%s: %s %s %s.", i ? " B" : "A", SIDES[i]->plan_count ? "a" : "no", kind->one,
                      SIDES[i]->plan_count ? "fits" : none);
        return;
    }
    const Field *first = checked_field(kind, 0);
    const cJSON *x = walk->a.best.json, *y = walk->b.best.json;
    double was = json_real_at(x, first->key, 0), now = json_real_at(y, first->key, 0),
           per_a = json_real_at(x, PER_CHIP, 0), per_b = json_real_at(y, PER_CHIP, 0);
    prose_add(to, "%s: %s -> %s (%s)", kind->headline, first->unit(was, a), first->unit(now, b),
              diff_change(was, now, change));
    if (per_a > 0 && per_b > 0 && !same_request && !kind->command)
        prose_add(to, "; tokens per second per chip: %s", diff_change(per_a, per_b, change));
    prose_add(to, ".");
}

static bool add_side(cJSON *to, const char *key, const ReportFile *file, Arena *arena) {
    cJSON *side = json_add_object(to, key);
    const char *name = baseline_name(report_options(file->json), arena);
    json_add_text(side, "file", file->name);
    return name && json_add_text(side, "of", name);
}

bool diff_make(const ReportFile *a, const ReportFile *b, Arena *arena, Differences *out, Error *error) {
    Walk walk = {.different = false};
    Cause causes[CAUSES_MAX];
    *out = (Differences){.kind = report_kind(a->json)};
    if (!snapshot_read(a->json, a->name, &walk.a, error) || !snapshot_read(b->json, b->name, &walk.b, error))
        return false;
    cJSON *json = walk.json = out->json = cJSON_CreateObject();
    if (!json_add_whole(json, "format_version", 1) || !add_side(json, "a", a, arena) || !add_side(json, "b", b, arena))
        return error_memory(error);
    cJSON *different = cJSON_AddFalseToObject(json, "different"), *request = json_add_object(json, "request"),
          *because = json_add_array(json, "causes");
    if (!different) return error_memory(error);
    add_request(&walk, request);
    bool same_request = cJSON_GetArraySize(request) == 0; /* another request is the cause already */
    if (walk.a.plan_count > 0 && walk.b.plan_count > 0) add_best(&walk);
    if (!add_plans(&walk, a->name, b->name, arena, error)) return false;
    add_search(&walk, json_add_object(json, "search"));
    int count = causes_find(&walk.a, &walk.b, false, walk.different && same_request, causes);
    causes_add_json(because, causes, count);
    out->different = walk.different || count > 0;
    memcpy(out->label[0], walk.a.best.label, WORDS_SIZE);
    memcpy(out->label[1], walk.b.best.label, WORDS_SIZE);
    if (out->different) different->type = cJSON_True;
    add_headline(&walk, same_request, &out->headline);
    if (!out->different) out->headline = (Prose){"A and B do not differ.", 22};
    cJSON *words = json_add_object(json, "words");
    char title[64];
    snprintf(title, sizeof title, "Two %ss side by side", out->kind->one);
    return (json_add_text(words, "title", title) && json_add_text(words, "headline", out->headline.text)) ||
           error_memory(error);
}
