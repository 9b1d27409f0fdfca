/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A field of a family is an expression over the keys of the file, over the defaults of the class where a key is left
 * out, and over other fields; fields of layers also over the layer's number i. */
#include "models/config/family_scope.h"

#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The family of a type. */
static const cJSON *family_of(FamiliesRead *read, const FamilyType *type, Error *error) {
    for (int i = 0; i < read->count; i++)
        if (read->types[i] == type) return read->families[i];
    if (read->count == FAMILIES_MAX) {
        error_set(error, ERROR_INPUT, "models/families", "%.60s needs too many others", type->type);
        return NULL;
    }
    cJSON *family = json_parse(type->json, strlen(type->json), "models/families", error);
    if (!family) return NULL;
    read->types[read->count] = type;
    return read->families[read->count++] = family;
}

bool scope_chain(Scope *scope, const char *word) {
    while (word) {
        const FamilyType *type = family_of_type(word);
        if (!type || scope->chain_count == CHAIN_MAX)
            return error_set(scope->config.error, ERROR_INPUT, "models/families",
                             type ? "%.60s is like too many" : "no family has the type \"%.60s\"", word);
        const cJSON *family = family_of(scope->families, type, scope->config.error);
        if (!family) return false;
        scope->chain[scope->chain_count++] = family;
        word = type->like;
    }
    return true;
}

const cJSON *scope_at(const Scope *scope, const char *path) {
    for (int i = 0; i < scope->chain_count; i++) {
        const cJSON *found = json_at(scope->chain[i], path);
        if (found) return found;
    }
    return NULL;
}

const char *scope_text(const Scope *scope, const char *path) {
    const cJSON *found = scope_at(scope, path);
    return cJSON_IsString(found) ? found->valuestring : NULL;
}

static bool scope_lists(const Scope *scope, const char *list, const char *key) {
    for (int i = 0; i < scope->chain_count; i++) {
        const cJSON *words = cJSON_GetObjectItemCaseSensitive(scope->chain[i], list), *word;
        cJSON_ArrayForEach(word, words) {
            if (cJSON_IsString(word) && strcmp(word->valuestring, key) == 0) return true;
        }
        if (words) return false; /* the nearest list is the list */
    }
    return false;
}

static bool is_null_in_file(const Scope *scope, const char *key) {
    return cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(hf_language(&scope->config), key));
}

/* The class's default of a key: the nearest that says one, and null is one. */
static const cJSON *default_of(const Scope *scope, const char *key) {
    for (int i = 0; i < scope->chain_count; i++) {
        const cJSON *defaults = cJSON_GetObjectItemCaseSensitive(scope->chain[i], "defaults");
        if (cJSON_GetObjectItemCaseSensitive(defaults, key)) return cJSON_GetObjectItemCaseSensitive(defaults, key);
        const cJSON *nested = strchr(key, '.') ? json_at(defaults, key) : NULL;
        if (nested) return nested;
    }
    return NULL;
}

/* A key of the file; one that is left out has the class's default, except that a file of its own must say what the
 * family requires. */
static bool key_value(Scope *scope, const char *key, Value *out) {
    char path[128];
    const cJSON *found = hf_at(&scope->config, key);
    memset(out, 0, sizeof *out);
    if (!found && is_null_in_file(scope, key) && scope_lists(scope, "nullable", key)) return true;
    if (!found) {
        snprintf(path, sizeof path, "aliases.%.90s", key);
        const char *alias = scope_text(scope, path);
        if (alias) found = hf_at(&scope->config, alias);
    }
    if (!found && (scope->nested || !scope_lists(scope, "required", key))) found = default_of(scope, key);
    *out = value_of(found);
    const cJSON *kept = default_of(scope, key);
    if (found && kept && cJSON_IsBool(kept) != cJSON_IsBool(found) && (cJSON_IsBool(kept) || cJSON_IsNumber(kept)))
        return hf_wrong(&scope->config, key, "should be %s", cJSON_IsBool(kept) ? "true or false" : "a number");
    if (out->type == VALUE_NUMBER && !(fabs(out->number) < 9007199254740992.0))
        return hf_wrong(&scope->config, key, "is %g; give a smaller number", out->number);
    return true;
}

static bool is_busy(const Scope *scope, const char *field) {
    for (int i = 0; i < scope->busy_count; i++)
        if (strcmp(scope->busy[i], field) == 0) return true;
    return false;
}

bool scope_field(Scope *scope, const char *field, Value *out, bool *found) {
    const cJSON *json = scope_at(scope, field);
    memset(out, 0, sizeof *out);
    *found = json != NULL;
    if (!cJSON_IsString(json)) return *out = value_of(json), true;
    if (scope->busy_count == BUSY_MAX)
        return error_set(scope->config.error, ERROR_INPUT, "models/families", "%.60s requires too many others", field);
    scope->busy[scope->busy_count++] = field;
    bool ok = expression_value(json->valuestring, &scope->expression, out);
    scope->busy_count--;
    return ok;
}

static bool name_value(ExpressionScope *expression, const char *name, Value *out) {
    Scope *scope = (Scope *)expression;
    const struct {
        const char *prefix;
        Scope *scope;
    } others[] = {
        {"text.", scope->text}, {"vision.", scope->vision}, {"audio.", scope->audio}, {"outer.", scope->outer}};
    memset(out, 0, sizeof *out);
    if (strcmp(name, "i") == 0) {
        scope->layer_used = scope->layers_differ = true;
        *out = (Value){.type = VALUE_NUMBER, .number = (double)scope->layer};
        return true;
    }
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        size_t length = strlen(others[i].prefix);
        if (strncmp(name, others[i].prefix, length) != 0) continue;
        return !others[i].scope || name_value(&others[i].scope->expression, name + length, out);
    }
    bool found = false;
    if (!strchr(name, '.') && !is_busy(scope, name) && !scope_field(scope, name, out, &found)) return false;
    if (!found && !key_value(scope, name, out)) return false;
    size_t used = strlen(expression->requested); /* of the field itself, not of those that it requests */
    if (!found && scope->busy_count <= 1 && out->type != VALUE_NULL)
        snprintf(expression->requested + used, sizeof expression->requested - used, "%s%s%.60s", used ? ", " : "",
                 scope->config.prefix, name);
    return true;
}

void scope_open(Scope *scope, Scope *outer, const Config *config, FamiliesRead *families) {
    memset(scope, 0, sizeof *scope);
    scope->expression.name = name_value;
    scope->expression.error = config->error;
    scope->expression.where = config->where;
    scope->families = families;
    scope->config = *config;
    scope->nested = config->prefix[0] != '\0';
    scope->outer = outer;
}

static bool missing_field(Scope *scope, const char *field) {
    const char *key = scope->expression.missing;
    return error_set(scope->config.error, ERROR_INPUT, scope->config.where, "%s%s is missing; give a whole number",
                     key[0] ? scope->config.prefix : "", key[0] ? key : field);
}

bool scope_whole(Scope *scope, const char *field, int64_t low, int64_t high, int64_t fallback, int64_t *out) {
    Value value;
    bool found;
    scope->expression.missing[0] = scope->expression.requested[0] = '\0';
    if (!scope_field(scope, field, &value, &found)) return false;
    if (value.type == VALUE_NULL) {
        if (fallback == FIELD_REQUIRED) return missing_field(scope, field);
        *out = fallback;
        return true;
    }
    const char *key = scope->expression.requested[0] ? scope->expression.requested : field;
    if (value.type != VALUE_NUMBER)
        return error_set(scope->config.error, ERROR_INPUT, scope->config.where, "%s should be a number", key);
    if (!(value.number >= (double)low && value.number <= (double)high) || floor(value.number) != value.number)
        return error_set(scope->config.error, ERROR_INPUT, scope->config.where,
                         "%s: %s is %.17g; expected a whole number from %lld to %lld", key, field, value.number,
                         (long long)low, (long long)high);
    *out = (int64_t)value.number;
    return true;
}

bool scope_flag(Scope *scope, const char *field, bool fallback, bool *out) {
    Value value;
    bool found;
    scope->expression.requested[0] = '\0';
    if (!scope_field(scope, field, &value, &found)) return false;
    if (value.type == VALUE_TEXT)
        return error_set(scope->config.error, ERROR_INPUT, scope->config.where, "%s should be true or false",
                         scope->expression.requested[0] ? scope->expression.requested : field);
    *out = value.type == VALUE_NULL ? fallback : value_is_true(value);
    return true;
}

bool scope_word(Scope *scope, const char *field, const char *const *words, size_t count, size_t *out) {
    Value value;
    bool found;
    if (!scope_field(scope, field, &value, &found)) return false;
    *out = 0;
    for (size_t i = 0; i < count; i++)
        if (value_is(value, words[i])) return *out = i, true;
    return value.type == VALUE_NULL ||
           error_set(scope->config.error, ERROR_INPUT, scope->config.where, "%s: \"%.*s\" is no %s",
                     scope->expression.requested, (int)(value.length < 40 ? value.length : 40),
                     value.text ? value.text : "", field);
}
