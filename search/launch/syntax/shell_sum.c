/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/launch/syntax/shell_sum.h"

#include <ctype.h>

enum { DEPTH_MAX = 32 };

typedef struct {
    const char *at, *end;
    ShellNumber number_of;
    const void *names;
    int depth;
} Sum;

static char peek(Sum *sum) {
    while (sum->at < sum->end && isspace((unsigned char)*sum->at)) sum->at++;
    return sum->at < sum->end ? *sum->at : '\0';
}

static bool read_sum(Sum *sum, int64_t *out);

static bool read_digits(Sum *sum, int64_t *out) {
    *out = 0;
    for (; sum->at < sum->end && isdigit((unsigned char)*sum->at); sum->at++)
        if (__builtin_mul_overflow(*out, 10, out) || __builtin_add_overflow(*out, *sum->at - '0', out)) return false;
    return true;
}

/* A number, a name, or a sum in brackets. */
static bool read_operand(Sum *sum, int64_t *out) {
    char c = peek(sum);
    if (isdigit((unsigned char)c)) return read_digits(sum, out);
    if (c == '(') {
        if (++sum->depth > DEPTH_MAX) return false;
        sum->at++;
        if (!read_sum(sum, out) || peek(sum) != ')') return false;
        sum->at++;
        sum->depth--;
        return true;
    }
    bool braced = false;
    if (c == '$') {
        sum->at++;
        braced = sum->at < sum->end && *sum->at == '{';
        sum->at += braced;
    }
    const char *name = sum->at;
    while (sum->at < sum->end && (isalnum((unsigned char)*sum->at) || *sum->at == '_')) sum->at++;
    size_t length = (size_t)(sum->at - name);
    if (braced && (sum->at == sum->end || *sum->at++ != '}')) return false;
    return length > 0 && sum->number_of(sum->names, name, length, out);
}

static bool read_product(Sum *sum, int64_t *out) {
    if (!read_operand(sum, out)) return false;
    for (;;) {
        char op = peek(sum);
        int64_t other;
        if (op != '*' && op != '/' && op != '%') return true;
        sum->at++;
        if (!read_operand(sum, &other)) return false;
        if (op == '*') {
            if (__builtin_mul_overflow(*out, other, out)) return false;
            continue;
        }
        if (other <= 0) return false;
        *out = op == '/' ? *out / other : *out % other;
    }
}

static bool read_sum(Sum *sum, int64_t *out) {
    if (!read_product(sum, out)) return false;
    for (;;) {
        char op = peek(sum);
        int64_t other;
        if (op != '+' && op != '-') return true;
        sum->at++;
        if (!read_product(sum, &other)) return false;
        if (op == '+' ? __builtin_add_overflow(*out, other, out) : __builtin_sub_overflow(*out, other, out))
            return false;
    }
}

bool shell_sum(const char *text, size_t length, ShellNumber number_of, const void *names, int64_t *out) {
    Sum sum = {text, text + length, number_of, names, 0};
    return read_sum(&sum, out) && peek(&sum) == '\0';
}
