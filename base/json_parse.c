/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tree reader keeps one offset; lines and columns are counted only when there is an error to report. Keys of open
 * objects lie on one stack, and an object sorts its own keys when it closes: n log n, whatever the keys are. */
#include "base/json.h"

#include "base/file.h"
#include "base/json_pull.h"
#include "base/utf8.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { JSON_NUMBER_MAX = 63, HIGH_SURROGATE = 0xD800, LOW_SURROGATE = 0xDC00 };

typedef struct {
    const char *name; /* of the tree */
    size_t at;        /* the offset of its opening quote */
} Key;

typedef struct {
    const char *text;
    size_t length;
    size_t at; /* <= length */
    int depth;
    bool python;   /* Infinity, -Infinity and NaN are numbers */
    char *scratch; /* of `length` bytes: no string becomes longer when its escapes are undone */
    Key *keys;
    size_t key_count, key_room;
    const char *where;
    Error *error;
} Parser;

/* Reports "where:line:column: message", counting characters from 1. The end of a path that is too long is kept. */
static bool fail_at(const Parser *parser, size_t at, const char *message) {
    size_t line = 1, column = 1;
    for (size_t i = 0; i < at; i++) {
        if (parser->text[i] == '\n') {
            line++;
            column = 1;
        } else if (((unsigned char)parser->text[i] & 0xC0) != 0x80) {
            column++;
        }
    }
    const size_t kept = sizeof parser->error->where - 32;
    size_t where_length = strlen(parser->where);
    const char *tail = where_length > kept ? parser->where + where_length - kept : parser->where;
    char where[sizeof parser->error->where];
    snprintf(where, sizeof where, "%s%s:%zu:%zu", tail == parser->where ? "" : "...", tail, line, column);
    return error_set(parser->error, ERROR_INPUT, where, "%s", message);
}

/* The character at the offset, as an error shows it. */
static const char *shown(const Parser *parser, char *buffer, size_t size) {
    if (parser->at >= parser->length) return "end of text";
    size_t character = utf8_size(parser->text + parser->at, parser->length - parser->at);
    unsigned char first = (unsigned char)parser->text[parser->at];
    if (character == 0 || first < 0x20 || first == 0x7F)
        snprintf(buffer, size, "byte 0x%02X", (unsigned)first);
    else
        snprintf(buffer, size, "'%.*s'", (int)character, parser->text + parser->at);
    return buffer;
}

static bool unexpected(const Parser *parser, const char *expected) {
    char buffer[16], message[160];
    snprintf(message, sizeof message, "unexpected %s; %s was expected", shown(parser, buffer, sizeof buffer), expected);
    return fail_at(parser, parser->at, message);
}

/* The byte at the offset, or -1 at the end: a NUL in the text does not end it. */
static int peek(const Parser *parser) {
    return parser->at < parser->length ? (unsigned char)parser->text[parser->at] : -1;
}

static bool take(Parser *parser, char c) {
    if (peek(parser) != (unsigned char)c) return false;
    parser->at++;
    return true;
}

static void skip_blanks(Parser *parser) {
    while (parser->at < parser->length && memchr(" \t\n\r", parser->text[parser->at], 4)) parser->at++;
}

/* Writes a character in UTF-8, and returns its bytes. */
static size_t write_utf8(int32_t character, char *to) {
    static const unsigned char MARK[] = {0, 0, 0xC0, 0xE0, 0xF0};
    size_t size = character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    for (size_t i = size - 1; i > 0; i--, character >>= 6) to[i] = (char)(0x80 | (character & 0x3F));
    to[0] = (char)(MARK[size] | character);
    return size;
}

/* The offset is after "\u". */
static bool scan_unicode_escape(Parser *parser, size_t *used) {
    size_t start = parser->at - 2;
    int32_t unit = json_hex4(parser->text + parser->at, parser->length - parser->at), low = -1;
    if (unit < 0) return fail_at(parser, start, "\\u is not followed by four hex digits");
    if (unit == 0) return fail_at(parser, start, "\\u0000 is not allowed here; strings hold no NUL");
    parser->at += 4;
    if (unit >= LOW_SURROGATE && unit < LOW_SURROGATE + 0x400)
        return fail_at(parser, start, "a low surrogate stands alone; a high one comes before it");
    if (unit >= HIGH_SURROGATE && unit < LOW_SURROGATE) {
        if (take(parser, '\\') && take(parser, 'u'))
            low = json_hex4(parser->text + parser->at, parser->length - parser->at);
        if (low < LOW_SURROGATE || low >= LOW_SURROGATE + 0x400)
            return fail_at(parser, start, "a high surrogate stands alone; a low one comes behind it");
        parser->at += 4;
        unit = 0x10000 + ((unit - HIGH_SURROGATE) << 10) + (low - LOW_SURROGATE);
    }
    *used += write_utf8(unit, parser->scratch + *used);
    return true;
}

/* Passes the string at the offset; its *used bytes, escapes undone, are in the scratch. */
static bool scan_string(Parser *parser, size_t *used) {
    size_t start = parser->at++;
    while (parser->at < parser->length) {
        const char *at = parser->text + parser->at;
        if (*at == '"') {
            parser->at++;
            return true;
        }
        if ((unsigned char)*at < 0x20)
            return fail_at(parser, parser->at, "a control character in a string; write it as an escape, such as \\n");
        if (*at != '\\') {
            size_t size = utf8_size(at, parser->length - parser->at);
            if (size == 0) return fail_at(parser, parser->at, "these bytes are not UTF-8; JSON is UTF-8 throughout");
            memcpy(parser->scratch + *used, at, size);
            *used += size;
            parser->at += size;
            continue;
        }
        if (++parser->at == parser->length) break;
        char meant = json_unescaped(at[1]);
        if (meant == '\0' && at[1] != 'u')
            return fail_at(parser, parser->at - 1,
                           "an unknown escape; known are \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u");
        parser->at++;
        if (meant)
            parser->scratch[(*used)++] = meant;
        else if (!scan_unicode_escape(parser, used))
            return false;
    }
    return fail_at(parser, start, "this string does not end; a '\"' was expected");
}

/* The string at the offset; the caller frees it with cJSON_free(). NULL: *error says why. */
static char *parse_string(Parser *parser) {
    size_t used = 0;
    if (!scan_string(parser, &used)) return NULL;
    char *text = cJSON_malloc(used + 1);
    if (text) {
        memcpy(text, parser->scratch, used);
        text[used] = '\0';
    } else {
        error_memory(parser->error);
    }
    return text;
}

static size_t skip_digits(Parser *parser) {
    size_t start = parser->at;
    while (peek(parser) >= '0' && peek(parser) <= '9') parser->at++;
    return parser->at - start;
}

/* The value of a well-formed number of at most JSON_NUMBER_MAX characters. False: no double holds it, which would be
 * infinite, or zero though not all digits are. The copy that strtod gets has no point, so that the locale cannot
 * matter. */
static bool number_value(const char *number, size_t length, double *value) {
    char copy[JSON_NUMBER_MAX + 16];
    size_t used = 0, i = 0;
    int fraction = 0, exponent = 0;
    bool is_zero = true, after_point = false;
    for (; i < length && number[i] != 'e' && number[i] != 'E'; i++) {
        if (number[i] == '.') {
            after_point = true;
            continue;
        }
        is_zero = is_zero && (number[i] == '0' || number[i] == '-');
        copy[used++] = number[i];
        fraction += after_point;
    }
    bool negative = i + 1 < length && number[i + 1] == '-';
    for (; i < length; i++)
        if (number[i] >= '0' && number[i] <= '9' && exponent < 100000) exponent = exponent * 10 + (number[i] - '0');
    snprintf(copy + used, sizeof copy - used, "e%d", (negative ? -exponent : exponent) - fraction);
    *value = strtod(copy, NULL);
    return isfinite(*value) && (*value != 0) == !is_zero;
}

static bool parse_number(Parser *parser, cJSON *value) {
    size_t start = parser->at;
    take(parser, '-');
    bool leading_zero = peek(parser) == '0';
    size_t digits = skip_digits(parser);
    if (digits == 0) return unexpected(parser, "a digit");
    if (leading_zero && digits > 1) return fail_at(parser, start, "a number has no leading zeros");
    if (take(parser, '.') && skip_digits(parser) == 0) return unexpected(parser, "a digit");
    if (take(parser, 'e') || take(parser, 'E')) {
        if (!take(parser, '-')) take(parser, '+');
        if (skip_digits(parser) == 0) return unexpected(parser, "a digit");
    }
    if (parser->at - start > JSON_NUMBER_MAX)
        return fail_at(parser, start, "this number is too long; at most 63 characters are read");
    double number;
    if (!number_value(parser->text + start, parser->at - start, &number))
        return fail_at(parser, start, "no double can hold this number; it would become infinite, or zero");
    cJSON_SetNumberHelper(value, number);
    return true;
}

static bool take_word(Parser *parser, const char *word) {
    size_t size = strlen(word);
    if (parser->length - parser->at < size || memcmp(parser->text + parser->at, word, size) != 0) return false;
    parser->at += size;
    return true;
}

/* The later one of two equal keys comes second. */
static int by_name(const void *a, const void *b) {
    const Key *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order != 0 ? order : (x->at > y->at) - (x->at < y->at);
}

/* Ends the object whose keys begin at `first`; the error names the earliest key that repeats another. */
static bool close_object(Parser *parser, size_t first) {
    size_t count = parser->key_count - first, repeated = parser->length;
    parser->key_count = first;
    if (count < 2) return true; /* a document without keys has no array either */
    Key *keys = parser->keys + first;
    qsort(keys, count, sizeof *keys, by_name);
    for (size_t i = 1; i < count; i++)
        if (keys[i].at < repeated && strcmp(keys[i - 1].name, keys[i].name) == 0) repeated = keys[i].at;
    return repeated == parser->length ||
           fail_at(parser, repeated, "this key was given before in the same object; give it once");
}

static bool push_key(Parser *parser, Key key) {
    if (parser->key_count == parser->key_room) {
        size_t room = parser->key_room ? 2 * parser->key_room : 64;
        Key *keys = realloc(parser->keys, room * sizeof *keys);
        if (!keys) return error_memory(parser->error);
        parser->keys = keys;
        parser->key_room = room;
    }
    parser->keys[parser->key_count++] = key;
    return true;
}

static cJSON *parse_value(Parser *parser);

/* Adds the next member or element. */
static bool parse_item(Parser *parser, cJSON *to) {
    char *name = NULL;
    if (cJSON_IsObject(to)) {
        size_t start = parser->at;
        if (peek(parser) != '"') return unexpected(parser, "a key in quotes");
        name = parse_string(parser);
        if (!name) return false;
        skip_blanks(parser);
        if (!push_key(parser, (Key){name, start}) || !(take(parser, ':') || unexpected(parser, "':'"))) {
            cJSON_free(name);
            return false;
        }
    }
    cJSON *value = parse_value(parser);
    if (!value) {
        cJSON_free(name);
        return false;
    }
    value->string = name;
    return cJSON_AddItemToArray(to, value);
}

/* The offset is at the opening bracket of `container`, which is empty. */
static bool fill_container(Parser *parser, cJSON *container) {
    size_t start = parser->at++, first_key = parser->key_count;
    bool is_object = cJSON_IsObject(container);
    char end = is_object ? '}' : ']';
    if (++parser->depth > JSON_DEPTH_MAX)
        return fail_at(parser, start, "nested too deeply; at most 64 levels are read");
    skip_blanks(parser);
    for (bool more = !take(parser, end); more; more = !take(parser, end)) {
        if (container->child) {
            if (!take(parser, ',')) return unexpected(parser, is_object ? "',' or '}'" : "',' or ']'");
            skip_blanks(parser);
        }
        if (!parse_item(parser, container)) return false;
        skip_blanks(parser);
    }
    parser->depth--;
    return !is_object || close_object(parser, first_key);
}

/* Takes the value at the offset into `value`, which is null. */
static bool fill_value(Parser *parser, cJSON *value) {
    int c = peek(parser);
    if (c == '{' || c == '[') {
        value->type = c == '{' ? cJSON_Object : cJSON_Array;
        return fill_container(parser, value);
    }
    if (c == '"') {
        value->type = cJSON_String;
        value->valuestring = parse_string(parser);
        return value->valuestring;
    }
    if (c == '-' || (c >= '0' && c <= '9')) {
        value->type = cJSON_Number;
        return parse_number(parser, value);
    }
    if (take_word(parser, "true"))
        value->type = cJSON_True;
    else if (take_word(parser, "false"))
        value->type = cJSON_False;
    else if (parser->python && take_word(parser, "NaN"))
        cJSON_SetNumberHelper(value, NAN);
    else if (parser->python && take_word(parser, "Infinity"))
        cJSON_SetNumberHelper(value, INFINITY);
    else if (!take_word(parser, "null"))
        return unexpected(parser, "a value");
    return true;
}

static cJSON *parse_value(Parser *parser) {
    skip_blanks(parser);
    cJSON *value = cJSON_CreateNull();
    if (!value) error_memory(parser->error);
    if (!value || fill_value(parser, value)) return value;
    cJSON_Delete(value);
    return NULL;
}

/* The value, and nothing behind it. */
static cJSON *parse_document(Parser *parser) {
    if (parser->length >= 3 && memcmp(parser->text, "\xEF\xBB\xBF", 3) == 0) {
        fail_at(parser, 0, "unexpected byte order mark; save the file as UTF-8 without one");
        return NULL;
    }
    cJSON *json = parse_value(parser);
    skip_blanks(parser);
    if (!json || parser->at == parser->length) return json;
    unexpected(parser, "the end of the text");
    cJSON_Delete(json);
    return NULL;
}

static cJSON *parse(const char *text, size_t length, bool python, const char *where, Error *error) {
    Parser parser = {.text = text, .length = length, .python = python, .where = where, .error = error};
    cJSON *json = NULL;
    if (length > JSON_BYTES_MAX)
        error_set(error, ERROR_INPUT, where, "has %zu bytes; at most %d are read", length, JSON_BYTES_MAX);
    else if (!(parser.scratch = malloc(length + 1)))
        error_memory(error);
    else
        json = parse_document(&parser);
    free(parser.scratch);
    free(parser.keys);
    return json;
}

cJSON *json_parse(const char *text, size_t length, const char *where, Error *error) {
    return parse(text, length, false, where, error);
}

static cJSON *read_file(const char *path, bool python, Error *error) {
    Arena arena = {0};
    char *text;
    size_t length;
    cJSON *json = NULL;
    if (file_read(path, JSON_BYTES_MAX, &arena, &text, &length, error)) json = parse(text, length, python, path, error);
    arena_free(&arena);
    return json;
}

cJSON *json_read_file(const char *path, Error *error) { return read_file(path, false, error); }

cJSON *json_read_python_file(const char *path, Error *error) { return read_file(path, true, error); }
