/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/program/program.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool piece_is(Piece piece, const char *word) {
    return strlen(word) == (size_t)piece.length && memcmp(piece.at, word, (size_t)piece.length) == 0;
}

bool piece_same(Piece a, Piece b) { return a.length == b.length && memcmp(a.at, b.at, (size_t)a.length) == 0; }

bool type_same(const TensorType *a, const TensorType *b) {
    if (a->rank != b->rank || a->bits != b->bits || a->floats != b->floats) return false;
    for (int i = 0; i < a->rank; i++)
        if (a->size[i] != b->size[i]) return false;
    return true;
}

double type_elements(const TensorType *type) {
    double elements = type->rank < 0 ? 0 : 1;
    for (int i = 0; i < type->rank; i++) elements *= (double)type->size[i];
    return elements;
}

void program_free(Program *program) {
    free(program->value);
    free(program->op);
    free(program->region);
    free(program->function);
    free(program->operand);
    free(program->use);
    free(program->type);
    free(program->entry);
    free(program->output);
    *program = (Program){0};
}

bool program_wrong(const Program *program, const char *at, Error *error, const char *format, ...) {
    char where[sizeof error->where], text[sizeof error->text];
    int64_t line = 1, column = 1;
    for (const char *c = program->text; c < at; c++) {
        column = *c == '\n' ? 1 : column + 1;
        line += *c == '\n';
    }
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    snprintf(where, sizeof where, "%.150s:%lld:%lld", program->where, (long long)line, (long long)column);
    return error_set(error, ERROR_INPUT, where, "%s", text);
}

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

/* The text behind "name = "; NULL: there is none. */
static const char *attribute(const ProgramOp *op, const char *name, const char **end) {
    size_t length = strlen(name);
    const char *at = op->text.at, *last = at + op->text.length;
    *end = last;
    while ((at = memmem(at, (size_t)(last - at), name, length))) {
        const char *behind = at + length;
        bool whole = (at == op->text.at || !is_word(at[-1])) && behind < last && !is_word(*behind);
        while (whole && behind < last && *behind == ' ') behind++;
        if (whole && behind < last && *behind == '=') return behind + 1;
        at += length;
    }
    return NULL;
}

int op_whole_list(const ProgramOp *op, const char *name, bool second, int64_t *out, int room) {
    const char *end, *at = attribute(op, name, &end);
    int count = 0, depth = 0;
    if (!at) return -1;
    while (at < end && *at == ' ') at++;
    if (end - at > 9 && memcmp(at, "array<i64", 9) == 0) at += 9, depth = 1;
    for (; at < end; at++) {
        if (*at == '[' || *at == '<')
            depth++;
        else if (*at == ']' || *at == '>')
            depth--;
        else if ((*at >= '0' && *at <= '9') || *at == '-') {
            char *behind;
            long long value = strtoll(at, &behind, 10);
            if (!second && count < room) out[count++] = value;
            if (behind > at) at = behind - 1;
            if (depth == 0) return count; /* a number by itself */
            continue;
        }
        bool ends = depth <= 0 && (*at == ']' || *at == '>' || *at == ',' || *at == '}' || *at == ')');
        if (!ends) continue;
        while (second && at + 1 < end && at[1] == ' ') at++;
        if (!second || at + 1 >= end || at[1] != 'x') return second ? -1 : count;
        second = false;
        at++;
    }
    return count;
}

bool op_says(const ProgramOp *op, const char *words) {
    return memmem(op->text.at, (size_t)op->text.length, words, strlen(words)) != NULL;
}
