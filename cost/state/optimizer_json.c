/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/data_index.h"
#include "base/file.h"
#include "base/json.h"
#include "base/util.h"
#include "cost/state/optimizer.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

const char *parameter_class_name(ParameterClass parameters) {
    static const char *const NAMES[PARAMETERS_COUNT] = {"matrices", "tables", "vectors"};
    return NAMES[parameters];
}

static const char *const FORMS[MOMENT_FORM_COUNT] = {"none", "full", "factored"};

/* The value of a figure that has its source and nothing else; NULL means that *error says what is wrong. */
static const cJSON *figure_value(const cJSON *rule, const char *class, const char *key, const char *where,
                                 Error *error) {
    const cJSON *figure = cJSON_GetObjectItemCaseSensitive(rule, key);
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(figure, "value");
    const cJSON *source = cJSON_GetObjectItemCaseSensitive(figure, "source");
    if (value && cJSON_IsString(source) && source->valuestring[0] != '\0' && cJSON_GetArraySize(figure) == 2)
        return value;
    error_set(error, ERROR_INPUT, where, "%s.%s: is %s; give {\"value\", \"source\": text}", class, key,
              figure ? "not a figure with its source" : "missing");
    return NULL;
}

static bool read_form(const cJSON *rule, const char *class, const char *key, const char *where, MomentForm *out,
                      Error *error) {
    const cJSON *value = figure_value(rule, class, key, where, error);
    if (!value) return false;
    for (int form = 0; form < MOMENT_FORM_COUNT; form++) {
        if (!cJSON_IsString(value) || strcmp(value->valuestring, FORMS[form]) != 0) continue;
        *out = (MomentForm)form;
        return true;
    }
    return error_set(error, ERROR_INPUT, where, "%s.%s.value: is none of them; give \"none\", \"full\" or \"factored\"",
                     class, key);
}

static bool read_rule(const cJSON *json, ParameterClass parameters, const char *where, OptimizerRule *out,
                      Error *error) {
    static const char *const KEYS[] = {"first_moment", "second_moment", "newton_schulz_steps"};
    const char *class = parameter_class_name(parameters);
    const cJSON *rule = cJSON_GetObjectItemCaseSensitive(json, class), *child;
    if (!cJSON_IsObject(rule))
        return error_set(error, ERROR_INPUT, where, "%s: is missing; give {\"first_moment\", \"second_moment\"}",
                         class);
    cJSON_ArrayForEach(child, rule) {
        bool known = false;
        for (size_t i = 0; i < COUNT_OF(KEYS); i++) known = known || strcmp(child->string, KEYS[i]) == 0;
        if (!known)
            return error_set(error, ERROR_INPUT, where,
                             "%s.%.64s: is no key; keys are first_moment, second_moment, newton_schulz_steps", class,
                             child->string);
    }
    if (!read_form(rule, class, KEYS[0], where, &out->first, error) ||
        !read_form(rule, class, KEYS[1], where, &out->second, error))
        return false;
    if (parameters == PARAMETERS_VECTORS && (out->first == MOMENT_FACTORED || out->second == MOMENT_FACTORED))
        return error_set(error, ERROR_INPUT, where, "vectors: have no rows and columns to factor; give none or full");
    if (!cJSON_GetObjectItemCaseSensitive(rule, KEYS[2])) return true;
    const cJSON *steps = figure_value(rule, class, KEYS[2], where, error);
    if (!steps) return false;
    if (parameters != PARAMETERS_MATRICES)
        return error_set(error, ERROR_INPUT, where, "%s.%s: only matrices are made orthogonal; leave it out", class,
                         KEYS[2]);
    if (!cJSON_IsNumber(steps) || !(steps->valuedouble >= 1 && steps->valuedouble <= NEWTON_SCHULZ_STEPS_MAX) ||
        steps->valuedouble != (double)(int)steps->valuedouble)
        return error_set(error, ERROR_INPUT, where, "%s.%s.value: is out of range; give a whole number from 1 to %d",
                         class, KEYS[2], NEWTON_SCHULZ_STEPS_MAX);
    out->newton_schulz_steps = (int)steps->valuedouble;
    return true;
}

static bool known_key(const char *key) {
    static const char *const OTHERS[] = {"name", "title", "source", "note", "aliases", "moment_bits"};
    for (size_t i = 0; i < COUNT_OF(OTHERS); i++)
        if (strcmp(key, OTHERS[i]) == 0) return true;
    for (ParameterClass parameters = 0; parameters < PARAMETERS_COUNT; parameters++)
        if (strcmp(key, parameter_class_name(parameters)) == 0) return true;
    return false;
}

bool optimizer_from_json(const cJSON *json, const char *where, Optimizer *out, Error *error) {
    Optimizer optimizer = {0};
    const cJSON *child;
    if (!cJSON_IsObject(json))
        return error_set(error, ERROR_INPUT, where, "an optimizer is an object; see cost/optimizers");
    if (!json_is_plain(json, where, error)) return false;
    cJSON_ArrayForEach(child, json) {
        if (!known_key(child->string))
            return error_set(error, ERROR_INPUT, where, "%.64s: is no key of an optimizer; see cost/optimizers",
                             child->string);
    }
    if (!json_text(json, "name", where, optimizer.name, sizeof optimizer.name, error) ||
        !json_text(json, "title", where, optimizer.title, sizeof optimizer.title, error) ||
        !json_text(json, "source", where, optimizer.source, sizeof optimizer.source, error))
        return false;
    if (optimizer.name[0] == '\0' || optimizer.title[0] == '\0' || optimizer.source[0] == '\0')
        return error_set(error, ERROR_INPUT, where, "name, title, source: one is empty; give all three");
    for (ParameterClass parameters = 0; parameters < PARAMETERS_COUNT; parameters++)
        if (!read_rule(json, parameters, where, &optimizer.rule[parameters], error)) return false;
    if (cJSON_HasObjectItem(json, "moment_bits")) {
        const cJSON *bits = figure_value(json, "optimizer", "moment_bits", where, error);
        if (!bits) return false;
        if (bits->valuedouble != 8) return error_set(error, ERROR_INPUT, where, "moment_bits: give 8, or leave it out");
        optimizer.eight_bits = true;
    }
    *out = optimizer; /* written only when all of it is right */
    return true;
}

/* Finds the optimizer that --optimizer names. */

static bool read_optimizer(const char *path, Optimizer *out, Error *error) {
    cJSON *json = json_read_file(path, error);
    bool ok = json && optimizer_from_json(json, path, out, error);
    cJSON_Delete(json);
    return ok;
}

/* Whether a file answers to a name: by its own, or by one of its aliases. */
static bool answers_to(const char *file, const char *path, const char *name) {
    Error none;
    if (name_matches(file, name)) return true;
    cJSON *json = json_read_file(path, &none);
    const cJSON *alias;
    bool found = false;
    cJSON_ArrayForEach(alias, cJSON_GetObjectItemCaseSensitive(json, "aliases")) {
        found = found || (cJSON_IsString(alias) && name_matches(alias->valuestring, name));
    }
    cJSON_Delete(json);
    return found;
}

/* Whether an optimizer answers to a name, by the build's notes: its aliases. */
static bool is_noted(IndexRow *row, const char *name) {
    char stem[NAME_MAX + 1], *alias, *facts = row->facts;
    bool found = false;
    snprintf(stem, sizeof stem, "%.*s", (int)(strlen(row->file) - strlen(".json")), row->file);
    while ((alias = index_field(&facts))) found = found || (alias[0] && name_matches(alias, name));
    return found || name_matches(stem, name);
}

const char *optimizer_path(const char *argument, const char *where, Arena *arena, Error *error) {
    if (file_names_json(argument)) return argument;
    DataIndex index;
    const char *folder = file_data_folder("cost/optimizers", arena, error), *own;
    if (!folder || !(own = file_of_name(folder, argument, arena, error))) return NULL;
    if (own[0]) return own;
    if (!data_index_read("cost/optimizers", arena, &index, error)) return NULL;
    for (size_t i = 0; i < index.count; i++) {
        if (!is_noted(&index.rows[i], argument)) continue;
        const char *path = arena_format(arena, "%s/%s", index.folder, index.rows[i].file);
        return path ? path : (error_memory(error), NULL);
    }
    char **names, all[192] = "";
    size_t count, used = 0;
    if (!file_list(folder, ".json", arena, &names, &count, error)) return NULL;
    for (size_t i = 0; i < count; i++) {
        const char *path = arena_format(arena, "%s/%s", folder, names[i]);
        if (!path) return error_memory(error), NULL;
        names[i][strlen(names[i]) - strlen(".json")] = '\0';
        if (answers_to(names[i], path, argument)) return path;
        if (used + strlen(names[i]) + 3 >= sizeof all) continue;
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", i == 0 ? "" : ", ", names[i]);
    }
    error_set(error, ERROR_INPUT, where, "\"%.60s\" is no optimizer; give one of %s, or a file", argument, all);
    return NULL;
}

bool optimizer_load(const char *argument, const char *where, Arena *arena, Optimizer *out, Error *error) {
    const char *path = optimizer_path(argument, where, arena, error);
    return path && read_optimizer(path, out, error);
}
