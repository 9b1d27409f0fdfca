/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/trace/kernel_names.h"

#include "base/util.h"

#include <string.h>

static const char *const TERMS[TERM_COUNT] = {
    [TERM_MATMUL] = "matmul",
    [TERM_ATTENTION] = "attention",
    [TERM_ELEMENTWISE] = "elementwise",
    [TERM_RECOMPUTE] = "recompute",
    [TERM_OPTIMIZER] = "optimizer",
    [TERM_UNPLACED] = "unplaced",
    [TERM_TENSOR] = "tensor",
    [TERM_EXPERT] = "expert",
    [TERM_SEQUENCE] = "sequence",
    [TERM_FSDP] = "fsdp",
    [TERM_DATA] = "data",
    [TERM_PIPELINE] = "pipeline",
    [TERM_COLLECTIVE] = "collective",
    [TERM_WAITS] = "waits",
    [TERM_BUBBLE] = "bubble",
    [TERM_OTHER] = "other",
};
static const char *const CLASSES[CLASS_COUNT] = {"unknown",   "collective", "copy",       "attention",
                                                 "optimizer", "matmul",     "elementwise"};
static const char *const KINDS[COLLECTIVE_KIND_COUNT] = {"collective", "all_gather", "reduce_scatter", "all_reduce",
                                                         "all_to_all", "send_recv",  "broadcast"};
static const char *const RANGES[RANGE_COUNT] = {"none", "step", "optimizer", "backward", "recompute", "collective"};

const char *term_name(TraceTerm term) { return TERMS[term]; }

const char *collective_kind_name(CollectiveKind kind) { return KINDS[kind]; }

static bool holds(const char *name, const char *part, bool ignore_case) {
    return (ignore_case ? strcasestr(name, part) : strstr(name, part)) != NULL;
}

static bool holds_any(const char *name, const char *const *parts, bool ignore_case) {
    for (; *parts; parts++)
        if (holds(name, *parts, ignore_case)) return true;
    return false;
}

static bool begins_any(const char *name, const char *const *parts, bool ignore_case) {
    for (; *parts; parts++)
        if ((ignore_case ? strncasecmp : strncmp)(name, *parts, strlen(*parts)) == 0) return true;
    return false;
}

static int meaning(const NameRules *rules, const char *name, int otherwise) {
    for (int i = 0; i < rules->count; i++) {
        const NameRule *rule = &rules->rules[i];
        if (!begins_any(name, rule->begins, rule->ignore_case) && !holds_any(name, rule->holds, rule->ignore_case))
            continue;
        if (*rule->also && !holds_any(name, rule->also, rule->ignore_case)) continue;
        if (!holds_any(name, rule->unless, rule->ignore_case)) return rule->meaning;
    }
    return otherwise;
}

KernelClass kernel_class(const KernelNames *names, const char *name) {
    return (KernelClass)meaning(&names->kernels, name, CLASS_UNKNOWN);
}

KernelClass operation_class(const KernelNames *names, const char *text) {
    return (KernelClass)meaning(&names->operations, text, CLASS_UNKNOWN);
}

RangeKind range_kind(const KernelNames *names, const char *name) {
    return (RangeKind)meaning(&names->ranges, name, RANGE_NONE);
}

CollectiveKind collective_kind(const KernelNames *names, const char *name) {
    return (CollectiveKind)meaning(&names->collectives, name, COLLECTIVE_KIND_UNKNOWN);
}

TraceTerm group_term(const KernelNames *names, const char *description) {
    return (TraceTerm)meaning(&names->groups, description, TERM_COUNT);
}

/* ---- reading ---- */

typedef struct {
    const char *list, *key;     /* "kernels", and what a rule of it says: "class" */
    const char *const *meaning; /* the words for it */
    int count;
    bool ignore_case; /* of the whole list */
} RuleList;

typedef struct {
    const char *where;
    Arena *arena;
    Error *error;
} Reading;

static bool bad(const Reading *reading, const char *list, const char *what) {
    return error_set(reading->error, ERROR_INPUT, reading->where, "a rule of %s: %s", list, what);
}

static bool read_parts(const Reading *reading, const cJSON *rule, const char *key, const char *list,
                       const char *const **out) {
    const cJSON *array = cJSON_GetObjectItemCaseSensitive(rule, key), *item;
    int count = cJSON_GetArraySize(array), i = 0;
    if (array && !cJSON_IsArray(array)) return bad(reading, list, "give a list of texts");
    const char **parts = ARENA_NEW(reading->arena, const char *, (size_t)count + 1);
    if (!parts) return error_memory(reading->error);
    cJSON_ArrayForEach(item, array) {
        if (!cJSON_IsString(item) || !item->valuestring[0]) return bad(reading, list, "give texts that are not empty");
        parts[i] = arena_text(reading->arena, item->valuestring);
        if (!parts[i++]) return error_memory(reading->error);
    }
    *out = parts;
    return true;
}

static bool read_rule(const Reading *reading, const cJSON *json, const RuleList *list, NameRule *out) {
    const char *word = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, list->key));
    const char *source = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "source"));
    out->ignore_case = list->ignore_case || cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "ignore_case"));
    if (!word || !source || !source[0]) return bad(reading, list->list, "it needs a meaning and a source");
    out->meaning = -1;
    for (int i = 0; i < list->count; i++)
        if (strcmp(word, list->meaning[i]) == 0) out->meaning = i;
    if (out->meaning < 0) return bad(reading, list->list, "its meaning is none that is known");
    return read_parts(reading, json, "begins", list->list, &out->begins) &&
           read_parts(reading, json, "holds", list->list, &out->holds) &&
           read_parts(reading, json, "and", list->list, &out->also) &&
           read_parts(reading, json, "unless", list->list, &out->unless);
}

static bool read_rules(const Reading *reading, const cJSON *json, const RuleList *list, NameRules *out) {
    const cJSON *array = cJSON_GetObjectItemCaseSensitive(json, list->list), *item;
    int count = cJSON_GetArraySize(array);
    if (!cJSON_IsArray(array)) return bad(reading, list->list, "the list is missing");
    NameRule *rules = ARENA_NEW(reading->arena, NameRule, (size_t)count);
    if (!rules) return error_memory(reading->error);
    *out = (NameRules){rules, count};
    cJSON_ArrayForEach(item, array) if (!read_rule(reading, item, list, rules++)) return false;
    return true;
}

bool kernel_names_from_json(const cJSON *json, const char *where, Arena *arena, KernelNames *out, Error *error) {
    const Reading reading = {where, arena, error};
    const RuleList kernels = {"kernels", "class", CLASSES, CLASS_COUNT, false};
    const RuleList operations = {"operations", "class", CLASSES, CLASS_COUNT, false};
    const RuleList ranges = {"ranges", "kind", RANGES, RANGE_COUNT, false};
    const RuleList collectives = {"collectives", "kind", KINDS, COLLECTIVE_KIND_COUNT, true};
    const RuleList groups = {"groups", "role", TERMS, TERM_COUNT, false};
    return read_rules(&reading, json, &kernels, &out->kernels) &&
           read_rules(&reading, json, &operations, &out->operations) &&
           read_rules(&reading, json, &ranges, &out->ranges) &&
           read_rules(&reading, json, &collectives, &out->collectives) &&
           read_rules(&reading, json, &groups, &out->groups);
}
