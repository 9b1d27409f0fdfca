/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/config/expression.h"

#include "base/util.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64, NAME_SIZE = 96, ARGUMENTS_MAX = 2 };

/* `dead`: what stands here is read but not evaluated, as the other half of ?: is. */
typedef struct {
    const char *text, *at;
    ExpressionScope *scope;
    bool dead;
    int depth;
} Parser;

static Value ternary(Parser *p);

static const Value NOTHING = {.type = VALUE_NULL};

static Value number(double value) { return (Value){.type = VALUE_NUMBER, .number = value}; }

static bool failed(const Parser *p) { return p->scope->error->kind != ERROR_NONE; }

static Value syntax(Parser *p, const char *what) {
    if (!failed(p))
        error_set(p->scope->error, ERROR_INPUT, p->scope->where, "\"%.100s\": %s at \"%.20s\"", p->text, what, p->at);
    return NOTHING;
}

Value value_of(const cJSON *json) {
    if (!json || cJSON_IsNull(json)) return NOTHING;
    if (cJSON_IsBool(json)) return number(cJSON_IsTrue(json));
    if (cJSON_IsNumber(json)) return number(json->valuedouble);
    if (cJSON_IsString(json))
        return (Value){.type = VALUE_TEXT, .text = json->valuestring, .length = strlen(json->valuestring)};
    return (Value){.type = VALUE_LIST, .list = json};
}

bool value_is_true(Value value) {
    return value.type == VALUE_NUMBER ? value.number != 0
           : value.type == VALUE_TEXT ? value.length > 0
                                      : value.type == VALUE_LIST && value.list->child;
}

bool value_is(Value value, const char *word) {
    return value.type == VALUE_TEXT && strlen(word) == value.length && memcmp(word, value.text, value.length) == 0;
}

static bool is_there(Value value) { return value.type != VALUE_NULL; }
static bool is_false(Value value) { return !value_is_true(value); }

static bool equal(Value a, Value b) {
    if (a.type != b.type) return false;
    if (a.type == VALUE_NUMBER) return a.number == b.number;
    if (a.type == VALUE_TEXT) return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
    return a.type == VALUE_NULL || a.list == b.list;
}

static void skip_blanks(Parser *p) {
    while (*p->at == ' ') p->at++;
}

/* Takes an operator of one or two characters; "<" is not the start of "<=", nor "?" that of "??". */
static bool take(Parser *p, const char *word) {
    static const char *const LONGER[] = {"??", "<=", ">=", "==", "!=", "||", "&&"};
    skip_blanks(p);
    if (p->at[0] != word[0] || (word[1] && p->at[1] != word[1])) return false;
    for (size_t i = 0; i < COUNT_OF(LONGER) && !word[1]; i++)
        if (p->at[0] == LONGER[i][0] && p->at[1] == LONGER[i][1]) return false;
    p->at += word[1] ? 2 : 1;
    return true;
}

/* The number that arithmetic needs; a name that is null is missing. */
static double needed(Parser *p, Value value) {
    if (value.type == VALUE_NUMBER || p->dead || failed(p)) return value.number;
    if (value.type == VALUE_NULL && p->scope->missing[0])
        error_set(p->scope->error, ERROR_INPUT, p->scope->where, "%s is missing; give a number", p->scope->missing);
    else if (value.type == VALUE_TEXT)
        error_set(p->scope->error, ERROR_INPUT, p->scope->where, "%s should be a number", p->scope->requested);
    else
        syntax(p, "a number is needed");
    return 0;
}

static Value indexed(Parser *p, Value from, Value index) {
    if (p->dead || failed(p) || from.type == VALUE_NULL) return NOTHING;
    double at = needed(p, index);
    if (from.type == VALUE_TEXT)
        return at >= 0 && at < (double)from.length
                   ? (Value){.type = VALUE_TEXT, .text = from.text + (size_t)at, .length = 1}
                   : NOTHING;
    if (from.type == VALUE_NUMBER) return from; /* one number for all layers */
    if (from.type != VALUE_LIST) return syntax(p, "no list");
    if (cJSON_IsObject(from.list)) { /* {"05": ..}: what differs in some layers */
        const cJSON *child;
        cJSON_ArrayForEach(child, from.list) {
            if (strtod(child->string, NULL) == at) return value_of(child);
        }
        return NOTHING;
    }
    const cJSON *item = at >= 0 && at < 1e6 ? cJSON_GetArrayItem(from.list, (int)at) : NULL;
    if (!item)
        error_set(p->scope->error, ERROR_INPUT, p->scope->where, "%s has %d entries, and none for layer %.0f",
                  p->scope->list, cJSON_GetArraySize(from.list), at);
    return value_of(item);
}

static double listed(Parser *p, Value list, const char *function, Value other) {
    const cJSON *item;
    double sum = 0;
    if (list.type == VALUE_TEXT && strcmp(function, "len") == 0) return (double)list.length;
    if (list.type == VALUE_NULL) return 0;
    if (list.type != VALUE_LIST) return syntax(p, "no list").number;
    if (strcmp(function, "len") == 0) return cJSON_GetArraySize(list.list);
    cJSON_ArrayForEach(item, list.list) {
        Value value = value_of(item);
        if (strcmp(function, "has") == 0 && equal(value, other)) return 1;
        if (strcmp(function, "count") == 0) sum += equal(value, other);
        if (strcmp(function, "sum") == 0) sum += needed(p, value);
    }
    return sum;
}

static Value call(Parser *p, const char *function) {
    Value arguments[ARGUMENTS_MAX] = {NOTHING, NOTHING};
    int count = 0;
    while (!failed(p) && !take(p, ")")) {
        if (count == ARGUMENTS_MAX) return syntax(p, "too many arguments");
        if (count > 0 && !take(p, ",")) return syntax(p, "a comma is missing");
        arguments[count++] = ternary(p);
    }
    if (p->dead || failed(p)) return NOTHING;
    if (strcmp(function, "len") == 0 || strcmp(function, "has") == 0 || strcmp(function, "sum") == 0 ||
        strcmp(function, "count") == 0)
        return number(listed(p, arguments[0], function, arguments[1]));
    double a = needed(p, arguments[0]), b = count > 1 ? needed(p, arguments[1]) : 0;
    if (strcmp(function, "floor") == 0) return number(floor(a));
    if (strcmp(function, "ceil") == 0) return number(ceil(a));
    if (count != 2) return syntax(p, "two arguments are needed");
    if (strcmp(function, "min") == 0) return number(min_real(a, b));
    if (strcmp(function, "max") == 0) return number(max_real(a, b));
    if (strcmp(function, "ratio") == 0 && b != 0) return number(a / b);
    if (strcmp(function, "round_up") == 0 && b > 0) return number(ceil(a / b) * b);
    return syntax(p, "no such function");
}

static Value word_value(Parser *p) {
    char name[NAME_SIZE];
    size_t length = 0;
    Value value = NOTHING;
    while (isalnum((unsigned char)p->at[length]) || p->at[length] == '_' || p->at[length] == '.') length++;
    if (length == 0 || length >= sizeof name) return syntax(p, "a name or a number is missing");
    snprintf(name, sizeof name, "%.*s", (int)length, p->at);
    p->at += length;
    if (take(p, "(")) return call(p, name);
    if (strcmp(name, "null") == 0) return NOTHING;
    if (strcmp(name, "true") == 0 || strcmp(name, "false") == 0) return number(name[0] == 't');
    if (p->dead || failed(p)) return NOTHING;
    if (!p->scope->name(p->scope, name, &value)) return NOTHING;
    if (value.type == VALUE_NULL && !p->scope->missing[0]) memcpy(p->scope->missing, name, sizeof name);
    if (value.type == VALUE_LIST) memcpy(p->scope->list, name, sizeof name);
    return value;
}

static Value primary(Parser *p) {
    Value value;
    skip_blanks(p);
    if (isdigit((unsigned char)*p->at)) {
        char *end;
        value = number(strtod(p->at, &end));
        p->at = end;
    } else if (*p->at == '\'') {
        const char *start = ++p->at;
        p->at += strcspn(start, "'");
        if (*p->at != '\'') return syntax(p, "a quote is missing");
        value = (Value){.type = VALUE_TEXT, .text = start, .length = (size_t)(p->at++ - start)};
    } else if (take(p, "(")) {
        value = ternary(p);
        if (!take(p, ")")) return syntax(p, "a bracket is missing");
    } else {
        value = word_value(p);
    }
    while (!failed(p) && take(p, "[")) {
        Value index = ternary(p);
        if (!take(p, "]")) return syntax(p, "a bracket is missing");
        value = indexed(p, value, index);
        if (*p->at == '.') { /* list[i].key */
            char key[NAME_SIZE];
            size_t length = strcspn(++p->at, " )]+-*/%<>=!?:,[");
            snprintf(key, sizeof key, "%.*s", (int)length, p->at);
            p->at += length;
            value = value_of(value.type == VALUE_LIST ? cJSON_GetObjectItemCaseSensitive(value.list, key) : NULL);
        }
    }
    return value;
}

static Value unary(Parser *p) {
    if (take(p, "!")) return number(!value_is_true(unary(p)));
    if (take(p, "-")) return number(-needed(p, unary(p)));
    return primary(p);
}

static Value arithmetic(Parser *p, char operator, Value left, Value right) {
    if (p->dead || failed(p)) return NOTHING;
    double a = needed(p, left), b = needed(p, right);
    if (failed(p)) return NOTHING;
    if ((operator== '/' || operator== '%') && b == 0) {
        error_set(p->scope->error, ERROR_INPUT, p->scope->where, "\"%.100s\" divides by 0", p->text);
        return NOTHING;
    }
    switch (operator) {
    case '+':
        return number(a + b);
    case '-':
        return number(a - b);
    case '*':
        return number(a * b);
    case '/':
        return number(floor(a / b));
    default:
        return number(a - b * floor(a / b));
    }
}

static Value product(Parser *p) {
    Value value = unary(p);
    for (;;) {
        char operator= take(p, "*") ? '*' : take(p, "/") ? '/' : take(p, "%") ? '%' : 0;
        if (!operator|| failed(p)) return value;
        value = arithmetic(p, operator, value, unary(p));
    }
}

static Value sum(Parser *p) {
    Value value = product(p);
    for (;;) {
        char operator= take(p, "+") ? '+' : take(p, "-") ? '-' : 0;
        if (!operator|| failed(p)) return value;
        value = arithmetic(p, operator, value, product(p));
    }
}

static Value comparison(Parser *p) {
    static const char *const OPERATORS[] = {"==", "!=", "<=", ">=", "<", ">"};
    Value left = sum(p);
    for (size_t i = 0; i < COUNT_OF(OPERATORS); i++) {
        if (!take(p, OPERATORS[i])) continue;
        Value right = sum(p);
        if (p->dead || failed(p)) return NOTHING;
        if (i < 2) return number(equal(left, right) == (i == 0));
        double a = needed(p, left), b = needed(p, right);
        return number(i == 2 ? a <= b : i == 3 ? a >= b : i == 4 ? a < b : a > b);
    }
    return left;
}

/* What binds least of two operands: the value that decides, as in Python. A left side that decides leaves the right one
 * unevaluated. */
static const struct {
    const char *word;
    bool (*decides)(Value left);
} JUNCTIONS[] = {{"??", is_there}, {"||", value_is_true}, {"&&", is_false}};

static Value junction(Parser *p, size_t level) {
    if (level == COUNT_OF(JUNCTIONS)) return comparison(p);
    Value value = junction(p, level + 1);
    while (!failed(p) && take(p, JUNCTIONS[level].word)) {
        bool was = p->dead, decided = JUNCTIONS[level].decides(value);
        p->dead = was || decided;
        Value other = junction(p, level + 1);
        p->dead = was;
        if (!decided) value = other;
    }
    return value;
}

static Value ternary(Parser *p) {
    if (++p->depth > DEPTH_MAX) return syntax(p, "too deep");
    Value value = junction(p, 0);
    if (!failed(p) && take(p, "?")) {
        bool was = p->dead, yes = value_is_true(value);
        p->dead = was || !yes;
        Value then = ternary(p);
        if (!take(p, ":")) return syntax(p, "a colon is missing");
        p->dead = was || yes;
        Value otherwise = ternary(p);
        p->dead = was;
        value = yes ? then : otherwise;
    }
    p->depth--;
    return value;
}

bool expression_value(const char *text, ExpressionScope *scope, Value *out) {
    Parser parser = {.text = text, .at = text, .scope = scope};
    *out = ternary(&parser);
    skip_blanks(&parser);
    if (!failed(&parser) && *parser.at) syntax(&parser, "more than an expression");
    return !failed(&parser);
}
