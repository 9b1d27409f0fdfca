/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/baseline/snapshot.h"

#include "base/json.h"
#include "base/memory_stream.h"
#include "base/sha256.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

enum { REQUEST_OPTIONS_MAX = 128 }; /* there are half as many */

/* ---- names ---- */

/* A value as people write it on the command line: "256Ki", "0.1", "maxtext". */
static const char *value_words(const cJSON *value, char text[PROSE_NAME_SIZE]) {
    static const char *const SUFFIXES[] = {"", "Ki", "Mi", "Gi"};
    if (cJSON_IsString(value)) return clean_name(value->valuestring, text);
    double number = cJSON_IsNumber(value) ? value->valuedouble : 0;
    size_t suffix = 0;
    while (suffix + 1 < COUNT_OF(SUFFIXES) && number >= 1024 && number < 9e15 && (int64_t)number % 1024 == 0 &&
           number == (double)(int64_t)number)
        number /= 1024, suffix++;
    if (cJSON_IsNumber(value))
        snprintf(text, PROSE_NAME_SIZE, "%.10g%s", number, SUFFIXES[suffix]);
    else
        snprintf(text, PROSE_NAME_SIZE, "%s", cJSON_IsTrue(value) ? "yes" : cJSON_IsFalse(value) ? "no" : "-");
    return text;
}

/* Adds the value of an option between two texts; false: the request has none. */
static bool add_option(const cJSON *request, const char *key, const char *before, const char *behind, Prose *to) {
    char text[PROSE_NAME_SIZE];
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(request, key);
    if (value) prose_add(to, "%s%s%s", before, value_words(value, text), behind);
    return value != NULL;
}

/* "4x4 of tpu-v5e", "2 slices of 4x4 of tpu-v5e", "64 nodes of h100". */
static void machine_words(const cJSON *request, Prose *to) {
    static const char *const COUNTS[] = {"pods", "nodes", "chips"};
    char text[PROSE_NAME_SIZE];
    bool said = cJSON_GetObjectItemCaseSensitive(request, "slice");
    if (said) add_option(request, "slices", "", " slices of ", to);
    if (said) add_option(request, "slice", "", " of ", to);
    for (size_t i = 0; i < COUNT_OF(COUNTS) && !said; i++) {
        const cJSON *count = cJSON_GetObjectItemCaseSensitive(request, COUNTS[i]);
        if (!count) continue;
        bool one = strcmp(value_words(count, text), "1") == 0;
        prose_add(to, "%s %.*s of ", text, (int)strlen(COUNTS[i]) - one, COUNTS[i]);
        said = true;
        add_option(request, "gpus_per_node", "", " ", to);
    }
    if (!add_option(request, "chip", "", "", to)) prose_add(to, "the default chip"); /* serving has what was given */
}

const char *baseline_name(const cJSON *request, Arena *arena) {
    Prose name = {0};
    if (!add_option(request, "model", "", "", &name)) prose_add(&name, "-");
    prose_add(&name, " on ");
    machine_words(request, &name);
    if (!add_option(request, "sequences", ", ", " sequences", &name))
        add_option(request, "batch", ", ", " tokens", &name);
    const cJSON *seq = cJSON_GetObjectItemCaseSensitive(request, "seq");
    if (cJSON_IsNumber(seq)) prose_add(&name, ", seq %.0f", seq->valuedouble);
    return arena_text(arena, name.text);
}

/* ---- the request ---- */

static int by_key(const void *a, const void *b) {
    return strcmp((*(const cJSON *const *)a)->string, (*(const cJSON *const *)b)->string);
}

/* SHA-256 of the lines "key value\n" of a request, sorted by key, so that a formatter of JSON does not change it.
 * False: memory is out. */
static bool request_sha256(const cJSON *request, char hex[SHA256_HEX_SIZE]) {
    Arena arena = {0};
    size_t count = (size_t)cJSON_GetArraySize(request), i = 0, length = 0;
    const cJSON **options = ARENA_NEW(&arena, const cJSON *, count), *option;
    char *text = NULL;
    FILE *memory = options ? memory_stream_open(&text, &length) : NULL;
    bool ok = memory != NULL;
    if (ok) {
        cJSON_ArrayForEach(option, request) options[i++] = option;
        qsort(options, count, sizeof *options, by_key);
    }
    for (i = 0; i < count && ok; i++)
        ok = fprintf(memory, "%s ", options[i]->string) > 0 && json_print(memory, options[i]);
    if (memory && fclose(memory) != 0) ok = false;
    Sha256 hash = sha256_start();
    if (ok) sha256_add(&hash, text, length);
    sha256_hex(&hash, hex);
    free(text);
    arena_free(&arena);
    return ok;
}

/* ---- names of entries ---- */

/* An entry among those of its name. */
typedef struct {
    const char *name;
    BaselineEntry *entry;
} Named;

static int by_name(const void *a, const void *b) {
    const Named *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : (x->entry > y->entry) - (x->entry < y->entry);
}

/* Adds the options of one request that another has not, or has with another value, to those in which entries of one
 * name differ; not those that every name has, or that make no difference to the plan. */
static void add_differences(const cJSON *one, const cJSON *other, cJSON *to) {
    static const char NAMED[] = " model chip slice slices pods nodes chips batch seq tokens gpus_per_node top variants"
                                " sequences time_limit memory_limit ";
    const cJSON *option;
    cJSON_ArrayForEach(option, one) {
        char word[48];
        snprintf(word, sizeof word, " %.44s ", option->string);
        if (!strstr(NAMED, word) && !cJSON_GetObjectItemCaseSensitive(to, option->string) &&
            !cJSON_Compare(option, cJSON_GetObjectItemCaseSensitive(other, option->string), true))
            json_add_bool(to, option->string, true);
    }
}

/* Appends ", key value" of the options that are not all alike. Whoever differs from another differs from the first, or
 * the first does from it; that makes one walk of what would be all pairs. */
static bool name_by_options(Named *named, int count, Arena *arena) {
    const cJSON *first = report_options(named->entry->report), *option;
    cJSON *differ = cJSON_CreateObject();
    bool ok = differ != NULL;
    for (int i = 1; i < count && cJSON_GetArraySize(differ) < REQUEST_OPTIONS_MAX; i++) {
        add_differences(report_options(named[i].entry->report), first, differ);
        add_differences(first, report_options(named[i].entry->report), differ);
    }
    for (int i = 0; i < count && ok; i++) {
        Prose name = {0};
        char value[PROSE_NAME_SIZE], key[64];
        prose_add(&name, "%s", named[i].name);
        cJSON_ArrayForEach(option, report_options(named[i].entry->report)) if (cJSON_GetObjectItemCaseSensitive(
                                                                                   differ, option->string))
            prose_add(&name, ", %s %s", clean_text(option->string, key, sizeof key), value_words(option, value));
        ok = (named[i].name = arena_text(arena, name.text)) != NULL;
    }
    cJSON_Delete(differ);
    return ok;
}

/* By model, machine and batch; where several have one name, by what else differs; those that nothing distinguishes have
 * numbers. */
static bool name_entries(Baseline *baseline, Arena *arena, Error *error) {
    Arena own = {0};
    int count = baseline->count;
    Named *all = ARENA_NEW(&own, Named, (size_t)count);
    bool ok = all != NULL;
    for (int i = 0; i < count && ok; i++) {
        BaselineEntry *entry = &baseline->entries[i];
        all[i] = (Named){baseline_name(report_options(entry->report), arena), entry};
        ok = all[i].name != NULL;
    }
    for (int numbers = 0; numbers < 2 && ok; numbers++) {
        qsort(all, (size_t)count, sizeof *all, by_name);
        for (int from = 0, to; from < count && ok; from = to) {
            for (to = from + 1; to < count && strcmp(all[from].name, all[to].name) == 0;) to++;
            if (!numbers && to > from + 1) ok = name_by_options(all + from, to - from, arena);
            for (int i = from; i < to && ok && numbers; i++) {
                const char **name = &all[i].entry->name;
                *name = to > from + 1 ? arena_format(arena, "%s (%d)", all[i].name, i - from + 1) : all[i].name;
                ok = *name != NULL;
            }
        }
    }
    arena_free(&own);
    return ok || error_memory(error);
}

/* ---- reading ---- */

/* A row of `sweep` has the report inside. */
static bool unwrap(const cJSON *json, const char *where, const cJSON **report, Error *error) {
    const cJSON *inner = cJSON_GetObjectItemCaseSensitive(json, "report");
    *report = json;
    if (!inner || !cJSON_GetObjectItemCaseSensitive(json, "point")) return true;
    *report = inner;
    return cJSON_IsObject(inner) ||
           error_set(error, ERROR_INPUT, where, "is a point of a sweep without a report: %.120s; leave it out",
                     json_text_at(json, "message"));
}

static bool read_entry(const cJSON *json, const char *where, bool incomplete, BaselineEntry *out, Error *error) {
    int64_t version;
    char sha256[SHA256_HEX_SIZE];
    out->where = where;
    if (!unwrap(json, where, &out->report, error)) return false;
    const cJSON *report = out->report, *request = cJSON_GetObjectItemCaseSensitive(report, "request");
    out->has_plans = !incomplete || cJSON_GetObjectItemCaseSensitive(report, report_kind(report)->plans);
    if (cJSON_GetArraySize(report_options(report)) > REQUEST_OPTIONS_MAX)
        return error_set(error, ERROR_INPUT, where,
                         "request: has more than %d options; give a report as it was written", REQUEST_OPTIONS_MAX);
    if (out->has_plans) {
        const char *made_for = json_text_at(report, "request_sha256"); /* whether somebody edited the request since */
        if (!snapshot_read(report, where, &out->was, error)) return false;
        if (made_for[0] && !request_sha256(request, sha256)) return error_memory(error);
        out->edited = made_for[0] && strcmp(made_for, sha256) != 0;
        return true;
    }
    if (!cJSON_IsObject(report))
        return error_set(error, ERROR_INPUT, where,
                         "is not a report; give one written by `shardopt plan --format json`");
    return json_whole(report, "format_version", 1, 1, where, &version, error) &&
           (cJSON_IsObject(request) ||
            error_set(error, ERROR_INPUT, where, "request: is missing; give the options of the plan"));
}

bool baseline_read(const cJSON *json, const char *file, bool incomplete, Arena *arena, Baseline *out, Error *error) {
    *out = (Baseline){.is_array = cJSON_IsArray(json)};
    out->count = out->is_array ? cJSON_GetArraySize(json) : 1;
    if (out->count == 0)
        return error_set(error, ERROR_INPUT, file,
                         "has no plans; give reports written by `shardopt plan --format json`");
    if (out->count > BASELINE_ENTRIES_MAX)
        return error_set(error, ERROR_INPUT, file, "has %d plans; give at most %d", out->count, BASELINE_ENTRIES_MAX);
    out->entries = ARENA_NEW(arena, BaselineEntry, (size_t)out->count);
    if (!out->entries) return error_memory(error);
    const cJSON *item = out->is_array ? json->child : json;
    for (int i = 0; i < out->count; i++, item = item->next) {
        const char *where = out->is_array ? arena_format(arena, "%.150s: [%d]", file, i) : arena_text(arena, file);
        if (!where) return error_memory(error);
        if (!read_entry(item, where, incomplete, &out->entries[i], error)) return false;
        if (report_kind(out->entries[i].report) != report_kind(out->entries[0].report))
            return error_set(error, ERROR_INPUT, where,
                             "is not of the same command as [0]; give a file for each command");
    }
    return name_entries(out, arena, error);
}

/* ---- the short form ---- */

/* Copies what a list names, key by key: "mfu" whole, "machine: text" of an object some of its own. False: memory is
 * out. */
static bool keep(const cJSON *from, const char *const *list, cJSON *to) {
    for (; *list; list++) {
        char name[40];
        size_t size = strcspn(*list, ":");
        snprintf(name, sizeof name, "%.*s", (int)size, *list);
        const cJSON *item = cJSON_GetObjectItemCaseSensitive(from, name);
        if (!item) continue;
        bool some = (*list)[size] == ':';
        cJSON *own = some ? cJSON_CreateObject() : cJSON_Duplicate(item, true);
        if (!own || !cJSON_AddItemToObject(to, name, own)) return cJSON_Delete(own), false;
        for (const char *word = *list + size; some && *word; word += size) {
            word += strspn(word, ": ");
            size = strcspn(word, " ");
            snprintf(name, sizeof name, "%.*s", (int)size, word);
            if (!keep(item, (const char *const[]){name, NULL}, own)) return false;
        }
    }
    return true;
}

cJSON *baseline_compact(const cJSON *report, const cJSON *request) {
    static const char *const HEAD[] = {"format_version", "program", NULL};
    static const char *const FACTS[] = {"model: name parameters active_parameters flops_per_token",
                                        "mesh: chip chips devices text axes", "search: proof gap", NULL};
    /* What names the plan (and lets `explain --from` take it), and its figures with the sums behind them. */
    static const char *const PLAN[] = {
        "notation",
        "axes",
        "expert_grid",
        "machine: text",
        "batch",
        "nesting",
        "placement",
        "knobs: microbatches microbatch_sequences schedule virtual_stages zero_stage context_method regather stages"
        " ulysses sequence_parameters tensor_overlap offload_optimizer",
        "chips_used",
        "ranked_seconds",
        "step: seconds compute_seconds exposed_communication_seconds bubble_seconds optimizer_seconds other_seconds"
        " terms_seconds",
        "bound_by",
        "mfu",
        "peak_flops_per_chip",
        "tokens_per_second_per_chip",
        "memory",
        NULL};
    static const char *const TAIL[] = {"shortfall: notation needed_bytes limit_bytes", NULL};
    char hex[SHA256_HEX_SIZE];
    cJSON *json = cJSON_CreateObject(), *own = cJSON_Duplicate(request, true), *plans = NULL;
    const cJSON *first = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(report, "plans"), 0);
    bool ok = json && own && keep(report, HEAD, json) && request_sha256(request, hex);
    if (ok && cJSON_AddItemToObject(json, "request", own)) own = NULL;
    ok = ok && !own && json_add_text(json, "request_sha256", hex) && keep(report, FACTS, json) &&
         (plans = json_add_array(json, "plans")) && (!first || keep(first, PLAN, json_add_object(plans, NULL))) &&
         keep(report, TAIL, json);
    if (ok) return json;
    cJSON_Delete(own);
    cJSON_Delete(json);
    return NULL;
}
