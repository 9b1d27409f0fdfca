/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text/field.h"

#include <math.h>
#include <string.h>

static bool is_end(const Field *field) { return !field->key && !field->flat; }

const char *field_flat(const Field *field) {
    const char *dot = field->key ? strrchr(field->key, '.') : NULL;
    return field->flat ? field->flat : dot ? dot + 1 : field->key;
}

const Field *field_named(const Field *fields, const char *name) {
    for (const Field *field = fields; !is_end(field); field++)
        if (strcmp(field_flat(field), name) == 0) return field;
    for (const Field *field = fields; !is_end(field); field++)
        if (field->key && strcmp(field->key, name) == 0) return field;
    return NULL;
}

const Field *field_at_column(const Field *fields, int column) {
    for (; !is_end(fields); fields++)
        if (fields->column == column) return fields;
    return NULL;
}

const Field *field_shown(const Field *fields, int place) {
    for (; !is_end(fields); fields++)
        if (fields->shown == place) return fields;
    return NULL;
}

/* ---- values ---- */

static const void *value_of(const Field *field, const void *record) { return (const char *)record + field->at; }

double field_number(const Field *field, const void *record) {
    const void *value = value_of(field, record);
    if (field->get) return field->get(record);
    return field->type == FIELD_REAL    ? *(const double *)value
           : field->type == FIELD_WHOLE ? (double)*(const int64_t *)value
           : field->type == FIELD_COUNT ? (double)*(const Count *)value
           : field->type == FIELD_BOOL  ? *(const bool *)value
                                        : NAN;
}

static const char *text_of(const Field *field, const void *record) {
    return *(const char *const *)value_of(field, record);
}

bool field_is_known(const Field *field, const void *record) {
    if (field->rule == FIELD_ALWAYS) return true;
    if (field->type == FIELD_TEXT) return text_of(field, record) && text_of(field, record)[0];
    return field_number(field, record) >= 0;
}

const char *field_words(const Field *field, const void *record, char *text) {
    if (!field_is_known(field, record)) return "";
    return field->type == FIELD_TEXT ? text_of(field, record) : field->unit(field_number(field, record), text);
}

void fields_words(const Field *fields, const void *record, Prose *to) {
    const Field *field;
    char text[NUMBER_TEXT_SIZE];
    for (int place = 1; (field = field_shown(fields, place)) != NULL; place++)
        if (!field->in_prose && field_is_known(field, record))
            prose_add(to, ", %s %s", field->name, field_words(field, record, text));
}

/* ---- JSON ---- */

/* The object that holds the last word of a key, with those on the way to it; NULL: memory is out. */
static cJSON *object_of(cJSON *to, const char *key, const char **last) {
    char name[64];
    for (const char *dot; to && (dot = strchr(key, '.')) != NULL; key = dot + 1) {
        snprintf(name, sizeof name, "%.*s", (int)(dot - key), key);
        cJSON *child = cJSON_GetObjectItemCaseSensitive(to, name);
        to = child ? child : json_add_object(to, name);
    }
    *last = key;
    return to;
}

static bool add_field(cJSON *to, const Field *field, const void *record) {
    const char *key;
    bool known = field_is_known(field, record);
    if (!field->key || (!known && field->rule == FIELD_OR_ABSENT)) return true;
    to = object_of(to, field->key, &key);
    if (!known) return json_add_text(to, key, NULL);
    switch (field->type) {
    case FIELD_TEXT:
        return json_add_text(to, key, text_of(field, record));
    case FIELD_WHOLE:
        return json_add_whole(to, key, *(const int64_t *)value_of(field, record));
    case FIELD_COUNT:
        return json_add_count(to, key, *(const Count *)value_of(field, record));
    case FIELD_BOOL:
        return json_add_bool(to, key, *(const bool *)value_of(field, record));
    default:
        return json_add_real(to, key, field_number(field, record));
    }
}

static bool is_at(const Field *field, const char *until) {
    return is_end(field) || (until && field->key && strcmp(field->key, until) == 0);
}

void fields_skip(const Field **next, const char *start) {
    while ((*next)->key && strncmp((*next)->key, start, strlen(start)) == 0) ++*next;
}

bool fields_add_json(cJSON *to, const Field **next, const char *until, const void *record) {
    bool ok = to != NULL;
    for (; ok && !is_at(*next, until); ++*next) ok = add_field(to, *next, record);
    return ok;
}

bool field_add_json(cJSON *to, const char *key, FieldRule rule, const Field *field, const void *record) {
    Field renamed = *field;
    renamed.key = key, renamed.rule = rule;
    return add_field(to, &renamed, record);
}

/* ---- CSV ---- */

void fields_begin(Table *table, const Field *fields) {
    const Field *field;
    for (int column = 1; (field = field_at_column(fields, column)) != NULL; column++)
        table_column(table, field->heading ? field->heading : field_flat(field), field->type != FIELD_TEXT);
}

void fields_row(Table *table, const Field *fields, const void *record) {
    const Field *field;
    for (int column = 1; (field = field_at_column(fields, column)) != NULL; column++) {
        if (!field_is_known(field, record))
            table_cell(table, "%s", "");
        else if (field->type == FIELD_TEXT)
            table_cell(table, "%s", text_of(field, record));
        else if (field->type == FIELD_WHOLE)
            table_cell(table, "%lld", (long long)*(const int64_t *)value_of(field, record));
        else
            table_cell(table, "%.17g", field_number(field, record));
    }
}
