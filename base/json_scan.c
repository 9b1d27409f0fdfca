/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The scanner keeps one offset; lines and columns are counted only when there is an error to report. Keys of open
 * objects lie on one stack as offsets, and an object sorts its own keys when it closes: n log n, whatever the keys
 * are. */
#include "base/json_scan.h"

#include "base/json.h"
#include "base/utf8.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *text;
    size_t length;
    size_t at; /* <= length */
    int depth;
    uint32_t *keys; /* offsets of the opening quotes; JSON_BYTES_MAX fits into 32 bits */
    size_t key_count, key_room;
    const char *where;
    Error *error;
} Scan;

/* Reports "where:line:column: message", counting characters from 1. The end of a path that is too long is kept. */
static bool fail_at(const Scan *scan, size_t at, const char *message) {
    size_t line = 1, column = 1;
    for (size_t i = 0; i < at; i++) {
        if (scan->text[i] == '\n') {
            line++;
            column = 1;
        } else if (((unsigned char)scan->text[i] & 0xC0) != 0x80) {
            column++;
        }
    }
    const size_t kept = sizeof scan->error->where - 32;
    size_t where_length = strlen(scan->where);
    const char *tail = where_length > kept ? scan->where + where_length - kept : scan->where;
    char where[sizeof scan->error->where];
    snprintf(where, sizeof where, "%s%s:%zu:%zu", tail == scan->where ? "" : "...", tail, line, column);
    return error_set(scan->error, ERROR_INPUT, where, "%s", message);
}

/* The character at the offset, as an error shows it. */
static const char *shown(const Scan *scan, char *buffer, size_t size) {
    if (scan->at >= scan->length) return "end of text";
    size_t character = utf8_size(scan->text + scan->at, scan->length - scan->at);
    unsigned char first = (unsigned char)scan->text[scan->at];
    if (character == 0 || first < 0x20 || first == 0x7F)
        snprintf(buffer, size, "byte 0x%02X", (unsigned)first);
    else
        snprintf(buffer, size, "'%.*s'", (int)character, scan->text + scan->at);
    return buffer;
}

static bool unexpected(const Scan *scan, const char *expected) {
    char buffer[16], message[160];
    snprintf(message, sizeof message, "unexpected %s; %s was expected", shown(scan, buffer, sizeof buffer), expected);
    return fail_at(scan, scan->at, message);
}

/* The byte at the offset, or -1 at the end: a NUL in the text does not end it. */
static int peek(const Scan *scan) { return scan->at < scan->length ? (unsigned char)scan->text[scan->at] : -1; }

static bool take(Scan *scan, char c) {
    if (peek(scan) != (unsigned char)c) return false;
    scan->at++;
    return true;
}

static void skip_blanks(Scan *scan) {
    while (scan->at < scan->length && memchr(" \t\n\r", scan->text[scan->at], 4)) scan->at++;
}

static int hex_value(int c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* Four hex digits of a \u escape, or -1. */
static int hex4(const char *text, size_t left) {
    int value = 0;
    if (left < 4) return -1;
    for (int i = 0; i < 4; i++) {
        int digit = hex_value((unsigned char)text[i]);
        if (digit < 0) return -1;
        value = value * 16 + digit;
    }
    return value;
}

static bool is_high_surrogate(int unit) { return unit >= 0xD800 && unit <= 0xDBFF; }
static bool is_low_surrogate(int unit) { return unit >= 0xDC00 && unit <= 0xDFFF; }

/* The offset is after "\u". */
static bool scan_unicode_escape(Scan *scan) {
    size_t start = scan->at - 2;
    int unit = hex4(scan->text + scan->at, scan->length - scan->at);
    if (unit < 0) return fail_at(scan, start, "\\u is not followed by four hex digits");
    if (unit == 0) return fail_at(scan, start, "\\u0000 is not allowed here; strings hold no NUL");
    scan->at += 4;
    if (is_low_surrogate(unit)) return fail_at(scan, start, "a low surrogate stands alone; a high one comes before it");
    if (!is_high_surrogate(unit)) return true;
    if (take(scan, '\\') && take(scan, 'u') && is_low_surrogate(hex4(scan->text + scan->at, scan->length - scan->at))) {
        scan->at += 4;
        return true;
    }
    return fail_at(scan, start, "a high surrogate stands alone; a low one comes behind it");
}

static bool scan_string(Scan *scan) {
    size_t start = scan->at++;
    while (scan->at < scan->length) {
        unsigned char c = (unsigned char)scan->text[scan->at];
        if (c == '"') {
            scan->at++;
            return true;
        }
        if (c < 0x20)
            return fail_at(scan, scan->at, "a control character in a string; write it as an escape, such as \\n");
        if (c != '\\') {
            size_t size = utf8_size(scan->text + scan->at, scan->length - scan->at);
            if (size == 0) return fail_at(scan, scan->at, "these bytes are not UTF-8; JSON is UTF-8 throughout");
            scan->at += size;
            continue;
        }
        scan->at++;
        int escaped = peek(scan);
        if (escaped < 0) break;
        if (escaped == 0 || !strchr("\"\\/bfnrtu", escaped))
            return fail_at(scan, scan->at - 1, "an unknown escape; known are \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u");
        scan->at++;
        if (escaped == 'u' && !scan_unicode_escape(scan)) return false;
    }
    return fail_at(scan, start, "this string does not end; a '\"' was expected");
}

static size_t skip_digits(Scan *scan) {
    size_t start = scan->at;
    while (peek(scan) >= '0' && peek(scan) <= '9') scan->at++;
    return scan->at - start;
}

/* Whether a double holds the number: it is finite, and it is zero only where all digits are. Takes `length` <=
 * JSON_NUMBER_MAX characters of a well-formed number. The copy that strtod gets has no point, so that the locale cannot
 * matter. */
static bool number_fits(const char *number, size_t length) {
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
    if (is_zero) return true;
    bool negative = i + 1 < length && number[i + 1] == '-';
    for (; i < length; i++)
        if (number[i] >= '0' && number[i] <= '9' && exponent < 100000) exponent = exponent * 10 + (number[i] - '0');
    snprintf(copy + used, sizeof copy - used, "e%d", (negative ? -exponent : exponent) - fraction);
    double value = strtod(copy, NULL);
    return isfinite(value) && value != 0;
}

static bool scan_number(Scan *scan) {
    size_t start = scan->at;
    take(scan, '-');
    bool leading_zero = peek(scan) == '0';
    size_t digits = skip_digits(scan);
    if (digits == 0) return unexpected(scan, "a digit");
    if (leading_zero && digits > 1) return fail_at(scan, start, "a number has no leading zeros");
    if (take(scan, '.') && skip_digits(scan) == 0) return unexpected(scan, "a digit");
    if (take(scan, 'e') || take(scan, 'E')) {
        if (!take(scan, '-')) take(scan, '+');
        if (skip_digits(scan) == 0) return unexpected(scan, "a digit");
    }
    if (scan->at - start > JSON_NUMBER_MAX)
        return fail_at(scan, start, "this number is too long; at most 63 characters are read");
    if (!number_fits(scan->text + start, scan->at - start))
        return fail_at(scan, start, "no double can hold this number; it would become infinite, or zero");
    return true;
}

static bool scan_word(Scan *scan, const char *word) {
    size_t size = strlen(word);
    if (scan->length - scan->at < size || memcmp(scan->text + scan->at, word, size) != 0)
        return unexpected(scan, "a value");
    scan->at += size;
    return true;
}

/* The next character of a string that was scanned already, with its escapes undone; -1 at the closing quote. Raw
 * characters are decoded too, because they must equal their escaped spelling. */
static int32_t key_character(const char **at) {
    static const char NAMES[] = "\"\\/bfnrt", VALUES[] = "\"\\/\b\f\n\r\t";
    const unsigned char *text = (const unsigned char *)*at;
    if (text[0] == '"') return -1;
    if (text[0] == '\\' && text[1] != 'u') {
        *at += 2;
        return VALUES[strchr(NAMES, text[1]) - NAMES];
    }
    if (text[0] == '\\') {
        int unit = hex4(*at + 2, 4);
        *at += 6;
        if (!is_high_surrogate(unit)) return unit;
        int low = hex4(*at + 2, 4);
        *at += 6;
        return 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
    }
    size_t size = utf8_size(*at, 4); /* the text was scanned already: the closing quote keeps this inside it */
    int32_t value = size == 1 ? text[0] : text[0] & (0x7F >> size);
    for (size_t i = 1; i < size; i++) value = value << 6 | (text[i] & 0x3F);
    *at += size;
    return value;
}

static int compare_keys(const void *a, const void *b, void *text) {
    const char *x = (const char *)text + *(const uint32_t *)a + 1, *y = (const char *)text + *(const uint32_t *)b + 1;
    for (;;) {
        int32_t p = key_character(&x), q = key_character(&y);
        if (p != q) return p < q ? -1 : 1;
        if (p < 0) return 0;
    }
}

/* The later one of two equal keys comes second. */
static int compare_keys_and_places(const void *a, const void *b, void *text) {
    int order = compare_keys(a, b, text);
    if (order != 0) return order;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Ends the object whose keys begin at `first`; the error names the earliest key that repeats another. */
static bool close_object(Scan *scan, size_t first) {
    size_t count = scan->key_count - first, repeated = scan->length;
    scan->key_count = first;
    if (count < 2) return true; /* a document without keys has no array either */
    uint32_t *keys = scan->keys + first;
    void *text = (void *)(uintptr_t)scan->text; /* qsort_r takes no const pointer; nothing writes there */
    qsort_r(keys, count, sizeof *keys, compare_keys_and_places, text);
    for (size_t i = 1; i < count; i++)
        if (keys[i] < repeated && compare_keys(&keys[i - 1], &keys[i], text) == 0) repeated = keys[i];
    return repeated == scan->length ||
           fail_at(scan, repeated, "this key was given before in the same object; give it once");
}

static bool push_key(Scan *scan) {
    if (scan->key_count == scan->key_room) {
        size_t room = scan->key_room ? 2 * scan->key_room : 64;
        uint32_t *keys = realloc(scan->keys, room * sizeof *keys);
        if (!keys) return error_memory(scan->error);
        scan->keys = keys;
        scan->key_room = room;
    }
    scan->keys[scan->key_count++] = (uint32_t)scan->at;
    return true;
}

static bool scan_value(Scan *scan);

static bool scan_member(Scan *scan) {
    if (peek(scan) != '"') return unexpected(scan, "a key in quotes");
    if (!push_key(scan) || !scan_string(scan)) return false;
    skip_blanks(scan);
    if (!take(scan, ':')) return unexpected(scan, "':'");
    return scan_value(scan);
}

/* The offset is at the opening bracket. */
static bool scan_container(Scan *scan, bool is_object) {
    size_t start = scan->at++, first_key = scan->key_count;
    char end = is_object ? '}' : ']';
    if (++scan->depth > JSON_DEPTH_MAX) return fail_at(scan, start, "nested too deeply; at most 64 levels are read");
    skip_blanks(scan);
    if (!take(scan, end)) {
        for (;;) {
            if (!(is_object ? scan_member(scan) : scan_value(scan))) return false;
            skip_blanks(scan);
            if (take(scan, end)) break;
            if (!take(scan, ',')) return unexpected(scan, is_object ? "',' or '}'" : "',' or ']'");
            skip_blanks(scan);
        }
    }
    scan->depth--;
    return !is_object || close_object(scan, first_key);
}

static bool scan_value(Scan *scan) {
    skip_blanks(scan);
    switch (peek(scan)) {
    case '{':
        return scan_container(scan, true);
    case '[':
        return scan_container(scan, false);
    case '"':
        return scan_string(scan);
    case 't':
        return scan_word(scan, "true");
    case 'f':
        return scan_word(scan, "false");
    case 'n':
        return scan_word(scan, "null");
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9':
        return scan_number(scan);
    default:
        return unexpected(scan, "a value");
    }
}

bool json_scan(const char *text, size_t length, const char *where, Error *error) {
    if (length > JSON_BYTES_MAX)
        return error_set(error, ERROR_INPUT, where, "has %zu bytes; at most %d are read", length, JSON_BYTES_MAX);
    Scan scan = {.text = text, .length = length, .where = where, .error = error};
    bool ok;
    if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
        ok = fail_at(&scan, 0, "unexpected byte order mark; save the file as UTF-8 without one");
    } else {
        ok = scan_value(&scan);
        if (ok) {
            skip_blanks(&scan);
            ok = scan.at == scan.length || unexpected(&scan, "the end of the text");
        }
    }
    free(scan.keys);
    return ok;
}
