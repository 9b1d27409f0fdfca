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

/* What a name has anyway, or what makes no difference to the plan. */
static bool in_every_name(const char *key) {
    static const char *const KEYS[] = {"model",    "chip",      "slice",      "slices",      "pods",          "nodes",
                                       "chips",    "batch",     "seq",        "tokens",      "gpus_per_node", "top",
                                       "variants", "sequences", "time_limit", "memory_limit"};
    for (size_t i = 0; i < COUNT_OF(KEYS); i++)
        if (strcmp(key, KEYS[i]) == 0) return true;
    return false;
}

/* A value as people write it on the command line: "256Ki", "0.1", "maxtext". */
static const char *value_words(const cJSON *value, char *text, size_t size) {
    static const char *const SUFFIXES[] = {"", "Ki", "Mi", "Gi"};
    if (cJSON_IsString(value)) return clean_text(value->valuestring, text, size);
    if (!cJSON_IsNumber(value)) {
        snprintf(text, size, "%s", cJSON_IsTrue(value) ? "yes" : cJSON_IsFalse(value) ? "no" : "-");
        return text;
    }
    double number = value->valuedouble;
    size_t suffix = 0;
    while (suffix + 1 < COUNT_OF(SUFFIXES) && number >= 1024 && number < 9e15 && (int64_t)number % 1024 == 0 &&
           number == (double)(int64_t)number)
        number /= 1024, suffix++;
    snprintf(text, size, "%.10g%s", number, SUFFIXES[suffix]);
    return text;
}

static const char *words_at(const cJSON *request, const char *key, char *text, size_t size) {
    return value_words(cJSON_GetObjectItemCaseSensitive(request, key), text, size);
}

/* "4x4 of tpu-v5e", "2 slices of 4x4 of tpu-v5e", "64 nodes of h100". */
static void machine_words(const cJSON *request, Prose *to) {
    static const char *const COUNTS[] = {"pods", "nodes", "chips"};
    char value[128], chip[PROSE_NAME_SIZE] = "the default chip"; /* options of serving are those that were given */
    const cJSON *slices = cJSON_GetObjectItemCaseSensitive(request, "slices");
    if (cJSON_GetObjectItemCaseSensitive(request, "chip")) words_at(request, "chip", chip, sizeof chip);
    if (cJSON_GetObjectItemCaseSensitive(request, "slice")) {
        if (slices) prose_add(to, "%s slices of ", value_words(slices, value, sizeof value));
        prose_add(to, "%s of %s", words_at(request, "slice", value, sizeof value), chip);
        return;
    }
    for (size_t i = 0; i < COUNT_OF(COUNTS); i++) {
        const cJSON *count = cJSON_GetObjectItemCaseSensitive(request, COUNTS[i]);
        if (!count) continue;
        value_words(count, value, sizeof value);
        prose_add(to, "%s %.*s of ", value, (int)strlen(COUNTS[i]) - (strcmp(value, "1") == 0), COUNTS[i]);
        if (cJSON_GetObjectItemCaseSensitive(request, "gpus_per_node"))
            prose_add(to, "%s ", words_at(request, "gpus_per_node", value, sizeof value));
        prose_add(to, "%s", chip);
        return;
    }
    prose_add(to, "%s", chip);
}

const char *baseline_name(const cJSON *request, Arena *arena) {
    Prose name = {0};
    char value[128];
    prose_add(&name, "%s on ", words_at(request, "model", value, sizeof value));
    machine_words(request, &name);
    if (cJSON_GetObjectItemCaseSensitive(request, "sequences"))
        prose_add(&name, ", %s sequences", words_at(request, "sequences", value, sizeof value));
    else if (cJSON_GetObjectItemCaseSensitive(request, "batch"))
        prose_add(&name, ", %s tokens", words_at(request, "batch", value, sizeof value));
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
    const cJSON *request;
    int entry;
} Named;

static int by_name(const void *a, const void *b) {
    const Named *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : (x->entry > y->entry) - (x->entry < y->entry);
}

/* Behind the last that has the name of the one at `from`. */
static int end_of_name(const Named *all, int from, int count) {
    int to = from + 1;
    while (to < count && strcmp(all[from].name, all[to].name) == 0) to++;
    return to;
}

typedef struct {
    const char *key[REQUEST_OPTIONS_MAX * 2];
    int count;
} Keys;

static bool has_key(const Keys *keys, const char *key) {
    for (int i = 0; i < keys->count; i++)
        if (strcmp(keys->key[i], key) == 0) return true;
    return false;
}

/* Adds the options of one request that another has not, or has with another value. */
static void add_differences(const cJSON *one, const cJSON *other, Keys *to) {
    const cJSON *option;
    cJSON_ArrayForEach(option, one) {
        const char *key = option->string;
        if (to->count < (int)COUNT_OF(to->key) && !in_every_name(key) && !has_key(to, key) &&
            !cJSON_Compare(option, cJSON_GetObjectItemCaseSensitive(other, key), true))
            to->key[to->count++] = key;
    }
}

/* Appends ", key value" of the options that are not all alike. Whoever differs from another differs from the first, or
 * the first does from it; that makes one walk of what would be all pairs. */
static bool name_by_options(Named *named, int count, Arena *arena) {
    Keys keys = {.count = 0};
    for (int i = 1; i < count; i++) {
        add_differences(named[i].request, named[0].request, &keys);
        add_differences(named[0].request, named[i].request, &keys);
    }
    for (int i = 0; i < count; i++) {
        Prose name = {0};
        const cJSON *option;
        prose_add(&name, "%s", named[i].name);
        cJSON_ArrayForEach(option, named[i].request) {
            char value[128], key[64];
            if (has_key(&keys, option->string))
                prose_add(&name, ", %s %s", clean_text(option->string, key, sizeof key),
                          value_words(option, value, sizeof value));
        }
        if (!(named[i].name = arena_text(arena, name.text))) return false;
    }
    return true;
}

/* By model, machine and batch; where several have one name, by what else differs; those that nothing distinguishes have
 * numbers. */
static bool name_entries(Baseline *baseline, Arena *arena, Error *error) {
    Arena own = {0};
    int count = baseline->count;
    Named *all = ARENA_NEW(&own, Named, (size_t)count);
    bool ok = all != NULL;
    for (int i = 0; i < count && ok; i++) {
        const cJSON *request = report_options(baseline->entries[i].report);
        all[i] = (Named){baseline_name(request, arena), request, i};
        ok = all[i].name != NULL;
    }
    if (ok) qsort(all, (size_t)count, sizeof *all, by_name);
    for (int from = 0, to; from < count && ok; from = to) {
        to = end_of_name(all, from, count);
        ok = to == from + 1 || name_by_options(all + from, to - from, arena);
    }
    if (ok) qsort(all, (size_t)count, sizeof *all, by_name);
    for (int from = 0, to; from < count && ok; from = to) {
        to = end_of_name(all, from, count);
        for (int i = from; i < to && ok; i++) {
            const char *name = to - from > 1 ? arena_format(arena, "%s (%d)", all[i].name, i - from + 1) : all[i].name;
            baseline->entries[all[i].entry].name = name;
            ok = name != NULL;
        }
    }
    arena_free(&own);
    return ok || error_memory(error);
}

/* Whether the request is another than its plan was made for, as far as the entry says. */
static bool find_edit(BaselineEntry *entry, Error *error) {
    const char *before = json_text_at(entry->report, "request_sha256");
    char now[SHA256_HEX_SIZE];
    if (!before[0]) return true;
    if (!request_sha256(cJSON_GetObjectItemCaseSensitive(entry->report, "request"), now)) return error_memory(error);
    entry->edited = strcmp(before, now) != 0;
    return true;
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
    out->where = where;
    if (!unwrap(json, where, &out->report, error)) return false;
    out->has_plans = !incomplete || cJSON_GetObjectItemCaseSensitive(out->report, report_kind(out->report)->plans);
    if (cJSON_GetArraySize(report_options(out->report)) > REQUEST_OPTIONS_MAX)
        return error_set(error, ERROR_INPUT, where,
                         "request: has more than %d options; give a report as it was written", REQUEST_OPTIONS_MAX);
    if (out->has_plans) return snapshot_read(out->report, where, &out->was, error) && find_edit(out, error);
    if (!cJSON_IsObject(out->report))
        return error_set(error, ERROR_INPUT, where,
                         "is not a report; give one written by `shardopt plan --format json`");
    return json_whole(out->report, "format_version", 1, 1, where, &version, error) &&
           (cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(out->report, "request")) ||
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

static bool copy(const cJSON *from, const char *const *keys, size_t count, cJSON *to) {
    for (size_t i = 0; i < count; i++) {
        const cJSON *item = cJSON_GetObjectItemCaseSensitive(from, keys[i]);
        cJSON *own = item ? cJSON_Duplicate(item, true) : NULL;
        if (!item) continue;
        if (own && cJSON_AddItemToObject(to, keys[i], own)) continue;
        cJSON_Delete(own);
        return false;
    }
    return true;
}

static bool copy_part(const cJSON *from, const char *key, const char *const *keys, size_t count, cJSON *to) {
    const cJSON *part = cJSON_GetObjectItemCaseSensitive(from, key);
    if (!part) return true;
    cJSON *json = json_add_object(to, key);
    return json && copy(part, keys, count, json);
}

#define COPY(from, to, ...)                                                                                            \
    copy(from, (const char *const[]){__VA_ARGS__}, COUNT_OF(((const char *const[]){__VA_ARGS__})), to)
#define COPY_PART(from, to, key, ...)                                                                                  \
    copy_part(from, key, (const char *const[]){__VA_ARGS__}, COUNT_OF(((const char *const[]){__VA_ARGS__})), to)

/* What names the plan (and lets `explain --from` take it), and its figures with the sums behind them. */
static bool copy_plan(const cJSON *plan, cJSON *to) {
    return COPY(plan, to, "notation", "axes", "expert_grid") && COPY_PART(plan, to, "machine", "text") &&
           COPY(plan, to, "batch", "nesting", "placement") &&
           COPY_PART(plan, to, "knobs", "microbatches", "microbatch_sequences", "schedule", "virtual_stages",
                     "zero_stage", "context_method", "regather", "stages", "ulysses", "sequence_parameters",
                     "tensor_overlap", "offload_optimizer") &&
           COPY(plan, to, "chips_used", "ranked_seconds") &&
           COPY_PART(plan, to, "step", "seconds", "compute_seconds", "exposed_communication_seconds", "bubble_seconds",
                     "optimizer_seconds", "other_seconds", "terms_seconds") &&
           COPY(plan, to, "bound_by", "mfu", "peak_flops_per_chip", "tokens_per_second_per_chip", "memory");
}

cJSON *baseline_compact(const cJSON *report, const cJSON *request) {
    cJSON *json = cJSON_CreateObject();
    cJSON *own = cJSON_Duplicate(request, true);
    const cJSON *plans = cJSON_GetObjectItemCaseSensitive(report, "plans");
    bool ok = json && own && COPY(report, json, "format_version", "program");
    char hex[SHA256_HEX_SIZE];
    ok = ok && request_sha256(request, hex);
    if (ok && cJSON_AddItemToObject(json, "request", own))
        own = NULL;
    else
        ok = false;
    ok = ok && json_add_text(json, "request_sha256", hex);
    ok = ok && COPY_PART(report, json, "model", "name", "parameters", "active_parameters", "flops_per_token") &&
         COPY_PART(report, json, "mesh", "chip", "chips", "devices", "text", "axes") &&
         COPY_PART(report, json, "search", "proof", "gap");
    cJSON *list = ok ? json_add_array(json, "plans") : NULL;
    cJSON *plan = list && plans && plans->child ? json_add_object(list, NULL) : NULL;
    ok = list && (!plans || !plans->child || (plan && copy_plan(plans->child, plan))) &&
         COPY_PART(report, json, "shortfall", "notation", "needed_bytes", "limit_bytes");
    if (ok) return json;
    cJSON_Delete(own);
    cJSON_Delete(json);
    return NULL;
}
