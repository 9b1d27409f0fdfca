/* SPDX-License-Identifier: GPL-3.0-or-later */
/* base/text/field.h: what a record says, figure by figure, described once: its place in JSON and in a table, what it is
 * called, in which unit people read it, what it means, and how it is got. JSON, CSV, tables, comparisons, pages and the
 * library are walks over such a table; a figure added is a row of it. */
#pragma once

#include "base/json.h"
#include "base/text/prose.h"
#include "base/text/table.h"

#include <stddef.h>

typedef const char *FieldUnit(double value, char *text); /* into NUMBER_TEXT_SIZE bytes, returned */

typedef enum { FIELD_REAL, FIELD_WHOLE, FIELD_COUNT, FIELD_BOOL, FIELD_TEXT } FieldType; /* double int64_t ... char * */

/* What JSON has where a figure is not known: a number that is not >= 0, or a text that is NULL or empty. Tables have an
 * empty cell then. */
typedef enum { FIELD_ALWAYS, FIELD_OR_ABSENT, FIELD_OR_NULL } FieldRule;

/* A table of fields ends with {0}. */
typedef struct {
    const char *key; /* its place in the JSON of the record: "step.seconds"; NULL: it is not there */
    FieldType type;
    FieldRule rule;
    size_t at;                         /* in the record */
    double (*get)(const void *record); /* of a FIELD_REAL that is computed; else NULL */
    const char *flat;                  /* its name where there are no objects; NULL: the last word of the key */
    int column;                        /* of CSV, from 1; 0: it has none */
    const char *heading;               /* of that column; NULL: the flat name */
    int shown;                         /* its place among the figures that people compare, from 1; 0: it is none */
    const char *name;                  /* as they read it: "tokens/s a chip" */
    FieldUnit *unit;
    bool in_prose;       /* a sentence of the report has it; else the verdict lists it by its name */
    const char *meaning; /* for docs/json.md; "=": that of the row above; NULL: the key says it */
} Field;

const char *field_flat(const Field *field);
/* By its flat name, else by its key; the one at a column; the one at a place among those that are shown. NULL: none. */
const Field *field_named(const Field *fields, const char *name);
const Field *field_at_column(const Field *fields, int column);
const Field *field_shown(const Field *fields, int place);

bool field_is_known(const Field *field, const void *record);
/* Of a field that is a number; NAN of a text. */
double field_number(const Field *field, const void *record);
/* As people read it: in its unit; "" where it is not known. `text` has NUMBER_TEXT_SIZE bytes. */
const char *field_words(const Field *field, const void *record, char *text);

/* ", NAME VALUE" of each figure that people compare and no sentence has. */
void fields_words(const Field *fields, const void *record, Prose *to);

/* Writes fields into JSON from *next to the one whose key is `until` (NULL: to the end), where *next is then. Objects
 * of their keys are made as they come. False: memory is out. */
bool fields_add_json(cJSON *to, const Field **next, const char *until, const void *record);
/* One field, under another key and by another rule. */
bool field_add_json(cJSON *to, const char *key, FieldRule rule, const Field *field, const void *record);
/* Passes by those whose keys begin so. */
void fields_skip(const Field **next, const char *start);

/* The columns of CSV, and a record as a row of them. */
void fields_begin(Table *table, const Field *fields);
void fields_row(Table *table, const Field *fields, const void *record);
