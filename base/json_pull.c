/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/json_pull.h"

#include <string.h>

void json_pull_begin(JsonPull *pull, ByteSource source, char *window, size_t size) {
    *pull = (JsonPull){.source = source, .window = window, .size = size};
}

static bool fail(JsonPull *pull, PullFault fault) {
    if (pull->fault == PULL_WHOLE) {
        pull->fault = fault;
        pull->offset = pull->passed + (int64_t)pull->at;
    }
    return false;
}

/* Moves what stands from `keep` on to the front of the window, and fills the rest. False: nothing more came. */
static bool refill(JsonPull *pull, size_t keep) {
    if (pull->ended || pull->fault != PULL_WHOLE || pull->end - keep == pull->size) return false;
    memmove(pull->window, pull->window + keep, pull->end - keep);
    pull->passed += (int64_t)keep;
    pull->at -= keep;
    pull->end -= keep;
    ptrdiff_t got = pull->source.read(pull->source.context, pull->window + pull->end, pull->size - pull->end);
    if (got > 0) pull->end += (size_t)got;
    if (got <= 0) pull->ended = true;
    return got > 0 || (got < 0 && fail(pull, PULL_SOURCE));
}

/* The next character that is no blank, left in place; '\0' at the end and after a fault. */
static char next(JsonPull *pull) {
    if (pull->fault != PULL_WHOLE) return '\0';
    for (;;) {
        for (; pull->at < pull->end; pull->at++) {
            char c = pull->window[pull->at];
            if (c != ' ' && c != '\n' && c != '\r' && c != '\t') return c;
        }
        if (!refill(pull, pull->at)) return '\0';
    }
}

/* What comes instead of what is due: a fault of its own kind where the document ends. */
static bool unexpected(JsonPull *pull, char found) {
    return fail(pull, found == '\0' && pull->ended && pull->at == pull->end ? PULL_CUT : PULL_BROKEN);
}

char json_pull_peek(JsonPull *pull) { return next(pull); }

bool json_pull_enter(JsonPull *pull, char bracket) {
    char c = next(pull);
    if (c != bracket) return unexpected(pull, c);
    pull->at++;
    pull->first = true;
    return true;
}

/* Passes the comma before a further value; false at the closing bracket, which is passed, and after a fault. */
static bool further(JsonPull *pull, char closing) {
    char c = next(pull);
    if (c == closing) {
        pull->at++;
        pull->first = false;
        return false;
    }
    if (pull->first) {
        pull->first = false;
        return c != '\0' || unexpected(pull, c);
    }
    if (c != ',') return unexpected(pull, c);
    pull->at++;
    c = next(pull);
    if (c != closing) return c != '\0' || unexpected(pull, c);
    pull->at++; /* a comma before the bracket is forgiven: writers that are killed leave it */
    return false;
}

bool json_pull_item(JsonPull *pull) { return further(pull, ']'); }

/* Passes a text without keeping it; `at` is on its opening quote. */
static bool pass_text(JsonPull *pull) {
    pull->at++;
    for (;;) {
        while (pull->at < pull->end) {
            char c = pull->window[pull->at++];
            if (c == '"') return true;
            if (c != '\\') continue;
            if (pull->at == pull->end && !refill(pull, pull->at)) return fail(pull, PULL_CUT);
            pull->at++;
        }
        if (!refill(pull, pull->at)) return fail(pull, PULL_CUT);
    }
}

int json_hex4(const char *text, size_t left) {
    int value = 0;
    if (left < 4) return -1;
    for (int i = 0; i < 4; i++) {
        char c = text[i], letter = c | 0x20;
        if (c >= '0' && c <= '9')
            value = 16 * value + (c - '0');
        else if (letter >= 'a' && letter <= 'f')
            value = 16 * value + (letter - 'a' + 10);
        else
            return -1;
    }
    return value;
}

char json_unescaped(char letter) {
    static const char LETTERS[] = "\"\\/bfnrt", MEANT[] = "\"\\/\b\f\n\r\t";
    const char *found = memchr(LETTERS, letter, sizeof LETTERS - 1);
    return found ? MEANT[found - LETTERS] : '\0';
}

/* The escaped character at `from`; *used is how many follow the backslash. Surrogates and characters beyond ASCII
 * become '?': no name that matters has them. */
static char unescape(const char *from, size_t left, size_t *used) {
    int value = from[0] == 'u' ? json_hex4(from + 1, left - 1) : -1;
    char meant = json_unescaped(from[0]);
    *used = value < 0 ? 1 : 5;
    if (value >= 0) return value > 0 && value < 0x80 ? (char)value : '?';
    return meant ? meant : from[0];
}

/* Resolves escapes in place, which only makes a text shorter. */
static size_t resolve(char *text, size_t length) {
    size_t to = 0, used;
    for (size_t from = 0; from < length; from++) {
        if (text[from] != '\\' || from + 1 == length) {
            text[to++] = text[from];
            continue;
        }
        text[to++] = unescape(text + from + 1, length - from - 1, &used);
        from += used;
    }
    return to;
}

/* The end of the text that begins before `from`, as an index of its closing quote; SIZE_MAX: not in the window. */
static size_t closing_quote(const JsonPull *pull, size_t from, bool *escaped) {
    for (size_t i = from; i < pull->end; i++) {
        if (pull->window[i] == '"') return i;
        if (pull->window[i] != '\\') continue;
        *escaped = true;
        i++;
    }
    return SIZE_MAX;
}

bool json_pull_text(JsonPull *pull, JsonSlice *text) {
    char c = next(pull);
    if (c != '"') return unexpected(pull, c);
    bool escaped = false;
    size_t close = closing_quote(pull, pull->at + 1, &escaped);
    if (close == SIZE_MAX) {
        while (pull->end - pull->at < pull->size / 2 && refill(pull, pull->at)) {}
        if (pull->fault != PULL_WHOLE) return false;
        escaped = false;
        close = closing_quote(pull, pull->at + 1, &escaped);
    }
    size_t begin = pull->at + 1;
    if (close != SIZE_MAX) {
        *text =
            (JsonSlice){pull->window + begin, escaped ? resolve(pull->window + begin, close - begin) : close - begin};
        pull->at = close + 1;
        return true;
    }
    if (pull->ended) return fail(pull, PULL_CUT);
    return pass_text(pull) && (*text = (JsonSlice){"", 0}, true);
}

bool json_pull_key(JsonPull *pull, JsonSlice *key) {
    if (!further(pull, '}')) return false;
    if (!json_pull_text(pull, key)) return false;
    /* Passing the colon may refill the window and move the key away, so it is made sure of before. */
    size_t begin = (size_t)(key->at - pull->window);
    bool in_window = key->length > 0;
    while (pull->at == pull->end || strchr(" \n\r\t", pull->window[pull->at])) {
        if (pull->at < pull->end) {
            if (pull->window[pull->at] == '\0') break;
            pull->at++;
            continue;
        }
        if (!refill(pull, in_window ? begin : pull->at)) return unexpected(pull, '\0');
        if (in_window) key->at = pull->window;
        begin = 0;
    }
    if (pull->window[pull->at] != ':') return fail(pull, PULL_BROKEN);
    pull->at++;
    return true;
}

static bool is_word(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '-' ||
           c == '+';
}

bool json_pull_literal(JsonPull *pull, JsonSlice *literal) {
    char c = next(pull);
    if (!is_word(c)) return unexpected(pull, c);
    size_t i = pull->at;
    for (;;) {
        while (i < pull->end && is_word(pull->window[i])) i++;
        if (i < pull->end) break;
        size_t keep = pull->at;
        if (i - keep > pull->size / 2) return fail(pull, PULL_BROKEN);
        if (!refill(pull, keep)) break;
        i -= keep;
    }
    if (pull->fault != PULL_WHOLE) return false;
    *literal = (JsonSlice){pull->window + pull->at, i - pull->at};
    pull->at = i;
    return true;
}

bool json_pull_scalar(JsonPull *pull, JsonSlice *scalar) {
    char c = next(pull);
    if (c == '"') return json_pull_text(pull, scalar);
    if (c != '{' && c != '[') return json_pull_literal(pull, scalar);
    *scalar = (JsonSlice){"", 0};
    return json_pull_skip(pull);
}

/* Passes an object or an array by counting brackets outside of texts. */
static bool pass_nested(JsonPull *pull) {
    int64_t depth = 0;
    for (;;) {
        while (pull->at < pull->end) {
            char c = pull->window[pull->at];
            if (c == '"') {
                if (!pass_text(pull)) return false;
                continue;
            }
            pull->at++;
            if (c == '{' || c == '[') depth++;
            if ((c == '}' || c == ']') && --depth == 0) return true;
        }
        if (!refill(pull, pull->at)) return fail(pull, PULL_CUT);
    }
}

bool json_pull_skip(JsonPull *pull) {
    JsonSlice literal;
    char c = next(pull);
    if (c == '"') return pass_text(pull);
    if (c != '{' && c != '[') return json_pull_literal(pull, &literal);
    bool ok = pass_nested(pull);
    pull->first = false;
    return ok;
}

/* Whether `key` in quotes follows the bracket at `at`; -1: the window does not reach. */
static int follows(const JsonPull *pull, const char *key) {
    size_t i = pull->at + 1, length = strlen(key);
    while (i < pull->end && strchr(" \n\r\t", pull->window[i])) i++;
    if (i + length + 2 > pull->end) return -1;
    return pull->window[i] == '"' && memcmp(pull->window + i + 1, key, length) == 0 &&
           pull->window[i + length + 1] == '"';
}

bool json_pull_recover(JsonPull *pull, const char *key) {
    if (pull->fault != PULL_BROKEN) return false;
    pull->fault = PULL_WHOLE;
    pull->at++;
    for (;;) {
        char *bracket = pull->at < pull->end ? memchr(pull->window + pull->at, '{', pull->end - pull->at) : NULL;
        pull->at = bracket ? (size_t)(bracket - pull->window) : pull->end;
        int found = bracket ? follows(pull, key) : -1;
        if (found < 0 && pull->end - pull->at == pull->size) found = 0; /* nothing but blanks follows */
        if (found < 0 && !refill(pull, pull->at)) return fail(pull, PULL_CUT);
        if (found == 0) pull->at++;
        if (found <= 0) continue;
        pull->first = true;
        return true;
    }
}

bool json_slice_is(JsonSlice slice, const char *text) {
    return slice.length == strlen(text) && memcmp(slice.at, text, slice.length) == 0;
}

bool json_slice_whole(JsonSlice slice, int64_t *out) {
    size_t i = slice.length > 0 && slice.at[0] == '-';
    int64_t value = 0;
    if (i == slice.length) return false;
    for (; i < slice.length; i++) {
        int digit = slice.at[i] - '0';
        if (digit < 0 || digit > 9 || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return false;
    }
    *out = slice.at[0] == '-' ? -value : value;
    return true;
}
