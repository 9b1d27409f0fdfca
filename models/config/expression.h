/* SPDX-License-Identifier: GPL-3.0-or-later */
/* models/config/expression.h: the small language in which families of models say dimensions.
 *
 *   i >= first_k_dense_replace && i % moe_layer_freq == 0
 *   num_key_value_heads ?? heads
 *   layer_types[i] == 'sliding_attention' ? sliding_window : 0
 *
 * Numbers, 'words', true, false, null; names with dots, list[index], ?:, ??, || && ! == != < <= > >= + - * / %. `/`
 * rounds down, as `//` does in Python; `a ?? b` is b where a is null or absent. Functions: min(a, b), max(a, b),
 * floor(x), ceil(x), round_up(x, m), len(list), has(list, x), sum(list). What a name means is its scope's matter. */
#pragma once

#include "base/error.h"

#include <cjson/cJSON.h>
#include <stddef.h>

typedef enum { VALUE_NULL, VALUE_NUMBER, VALUE_TEXT, VALUE_LIST } ValueType;

typedef struct {
    ValueType type;
    double number;     /* true is 1 */
    const char *text;  /* not ended by a 0 */
    size_t length;     /* of the text */
    const cJSON *list; /* an array or an object */
} Value;

typedef struct ExpressionScope {
    /* Null is a value; false: *error says why there is none. */
    bool (*name)(struct ExpressionScope *scope, const char *name, Value *out);
    /* An index that is not in a list, or a list that is not there: *error is to say so. */
    Error *error;
    const char *where;
    char missing[96];   /* the first name that was null, for errors; the caller empties it */
    char requested[96]; /* the last key of the file that was requested */
    char list[96];      /* the last name that was a list */
} ExpressionScope;

/* False: *scope->error says why. */
bool expression_value(const char *text, ExpressionScope *scope, Value *out);

/* 0, null, an empty word and an empty list are false. */
bool value_is_true(Value value);
bool value_is(Value value, const char *word);
/* Of a JSON value. */
Value value_of(const cJSON *json);
