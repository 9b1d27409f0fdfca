/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/program/reader.h"

#include "base/util.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool reader_wrong(Reader *reader, const char *format, ...) {
    char text[sizeof reader->error->text];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    return program_wrong(reader->program, reader->at, reader->error, "%s", text);
}

char reader_peek(Reader *reader) {
    while (reader->at < reader->end) {
        char c = *reader->at;
        if (c == '/' && reader->at + 1 < reader->end && reader->at[1] == '/') {
            const char *line = memchr(reader->at, '\n', (size_t)(reader->end - reader->at));
            reader->at = line ? line : reader->end;
        } else if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
            reader->at++;
        } else {
            return c;
        }
    }
    return 0;
}

bool reader_take(Reader *reader, char c) {
    if (reader_peek(reader) != c || c == 0) return false;
    reader->at++;
    return true;
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '$' || c == '-';
}

bool reader_take_word(Reader *reader, const char *word) {
    size_t length = strlen(word);
    reader_peek(reader);
    if ((size_t)(reader->end - reader->at) < length || memcmp(reader->at, word, length) != 0) return false;
    if (is_letter(word[length - 1]) && is_letter(reader->at[length])) return false;
    reader->at += length;
    return true;
}

bool reader_expect(Reader *reader, const char *what) {
    if (reader_take_word(reader, what)) return true;
    if (reader_peek(reader) == 0) return reader_wrong(reader, "the text ends where \"%s\" is expected", what);
    return reader_wrong(reader, "\"%s\" is expected here", what);
}

bool reader_string(Reader *reader) {
    const char *begin = reader->at++;
    while (reader->at < reader->end && *reader->at != '"' && *reader->at != '\n')
        reader->at += *reader->at == '\\' && reader->at + 1 < reader->end ? 2 : 1;
    if (reader->at < reader->end && *reader->at == '"') return reader->at++, true;
    reader->at = begin;
    return reader_wrong(reader, "this text in quotes has no end on its line");
}

bool reader_word(Reader *reader, Piece *out) {
    if (reader_peek(reader) == '"') {
        const char *begin = reader->at + 1;
        if (!reader_string(reader)) return false;
        *out = (Piece){begin, (int)(reader->at - begin - 1)};
        return out->length > 0 || reader_wrong(reader, "an empty name");
    }
    const char *begin = reader->at;
    while (reader->at < reader->end && is_letter(*reader->at)) reader->at++;
    *out = (Piece){begin, (int)(reader->at - begin)};
    if (out->length > 0) return true;
    return reader_wrong(reader, reader_peek(reader) ? "a name is expected here" : "the text ends in an operation");
}

bool reader_brackets(Reader *reader) {
    const char *begin = reader->at;
    int64_t depth = 0;
    do {
        char c = reader_peek(reader);
        if (c == 0) {
            reader->at = begin;
            return reader_wrong(reader, "this bracket is not closed");
        }
        if (c == '"') {
            if (!reader_string(reader)) return false;
            continue;
        }
        bool arrow = c == '>' && reader->at[-1] == '-';
        depth += c == '(' || c == '[' || c == '{' || c == '<';
        depth -= c == ')' || c == ']' || c == '}' || (c == '>' && !arrow);
        reader->at++;
    } while (depth > 0);
    return true;
}

bool reader_location(Reader *reader, Piece *label) {
    const char *before = reader->at;
    if (!reader_take_word(reader, "loc")) return reader->at = before, true;
    if (reader_peek(reader) != '(') return reader_wrong(reader, "\"loc\" has no place in brackets");
    const char *begin = reader->at;
    if (!reader_brackets(reader)) return false;
    if (label && reader->at - begin > 4 && begin[1] == '"' && reader->at[-2] == '"')
        *label = (Piece){begin + 2, (int)(reader->at - begin - 4)};
    return true;
}

/* Bits of an element: the digits behind the letters of i32, ui8, bf16, f8E4M3FN; 0: it is none of them. */
static int element_bits(const char *at, int length, bool *floats) {
    static const char *const KINDS[] = {"i", "si", "ui", "f", "bf", "tf"};
    for (size_t i = 0; i < COUNT_OF(KINDS); i++) {
        int letters = (int)strlen(KINDS[i]);
        if (length <= letters || memcmp(at, KINDS[i], (size_t)letters) != 0) continue;
        if (at[letters] < '1' || at[letters] > '9') continue;
        *floats = i >= 3;
        int bits = atoi(at + letters);
        return bits == 1 ? 8 : bits <= 128 ? bits : 0;
    }
    return 0;
}

static bool read_element(Reader *reader, TensorType *out) {
    const char *begin = reader->at;
    bool complex = reader_take_word(reader, "complex");
    if (complex && !reader_expect(reader, "<")) return false;
    const char *word = reader->at;
    while (reader->at < reader->end && is_letter(*reader->at)) reader->at++;
    out->bits = element_bits(word, (int)(reader->at - word), &out->floats);
    if (complex) out->bits *= 2;
    if (complex && !reader_expect(reader, ">")) return false;
    if (out->bits > 0) return true;
    reader->at = begin;
    return reader_wrong(reader, "the type of these elements is not read (numbers, i1 and complex are)");
}

static bool read_sizes(Reader *reader, TensorType *out) {
    for (;;) {
        char c = reader_peek(reader);
        if (c == '?') return reader_wrong(reader, "a dynamic size; lower the program with shapes that are known");
        if (c < '0' || c > '9') return true;
        char *behind;
        long long size = strtoll(reader->at, &behind, 10);
        if (*behind != 'x') return reader_wrong(reader, "\"x\" is expected behind the size of a dimension");
        if (out->rank == PROGRAM_RANK_MAX)
            return reader_wrong(reader, "a tensor of more than %d dimensions", PROGRAM_RANK_MAX);
        if (size < 0 || size > (INT64_C(1) << 48)) return reader_wrong(reader, "the size is above 2^48");
        out->size[out->rank++] = size;
        reader->at = behind + 1;
    }
}

bool reader_type(Reader *reader, TensorType *out) {
    reader_peek(reader);
    const char *begin = reader->at;
    *out = (TensorType){.rank = -1};
    if (reader_take_word(reader, "tensor")) {
        out->rank = 0;
        if (!reader_expect(reader, "<") || !read_sizes(reader, out) || !read_element(reader, out)) return false;
        if (reader_peek(reader) == ',') { /* an encoding, which says nothing of the layout over chips */
            while (reader_peek(reader) != '>' && reader->at < reader->end)
                if (*reader->at == '<' ? !reader_brackets(reader) : (reader->at++, false)) return false;
        }
        if (!reader_expect(reader, ">")) return false;
        if (type_elements(out) > 1e15) return reader->at = begin, reader_wrong(reader, "more than 10^15 elements");
    } else if (reader_take_word(reader, "!stablehlo.token")) {
        /* an order, and nothing in memory */
    } else {
        return reader_wrong(reader, reader_peek(reader) ? "a type is expected here: tensor<...>; tuples, quantised "
                                                          "and other types are not read"
                                                        : "the text ends where a type is expected");
    }
    out->text = (Piece){begin, (int)(reader->at - begin)};
    return true;
}

bool reader_value_name(Reader *reader, Piece *name, int *result) {
    const char *begin = reader->at;
    *result = -1;
    if (!reader_take(reader, '%')) return reader_wrong(reader, "the name of a value (%%...) is expected here");
    while (reader->at < reader->end && is_letter(*reader->at)) reader->at++;
    *name = (Piece){begin, (int)(reader->at - begin)};
    while (*name->at != '%') name->at++, name->length--;
    if (name->length < 2) return reader_wrong(reader, "the name of a value (%%...) is expected here");
    if (reader->at < reader->end && *reader->at == '#') {
        char *behind;
        long long number = strtoll(reader->at + 1, &behind, 10);
        if (behind == reader->at + 1 || number < 0 || number > PROGRAM_NAMES_MAX)
            return reader_wrong(reader, "the number of a result is expected behind #");
        *result = (int)number;
        reader->at = behind;
    }
    return true;
}

static unsigned bucket_of(Piece name) {
    unsigned hash = 2166136261u;
    for (int i = 0; i < name.length; i++) hash = (hash ^ (unsigned char)name.at[i]) * 16777619u;
    return hash % NAME_BUCKETS;
}

bool name_define(Reader *reader, Piece name, int value, int count) {
    if (!list_grow((void **)&reader->name, reader->names, &reader->name_room, sizeof *reader->name))
        return error_memory(reader->error);
    int *bucket = &reader->bucket[bucket_of(name)];
    reader->name[reader->names] = (ScopedName){name, value, count, *bucket};
    *bucket = (int)reader->names++;
    return true;
}

const ScopedName *name_find(const Reader *reader, Piece name) {
    for (int i = reader->bucket[bucket_of(name)]; i >= 0; i = reader->name[i].next) {
        const ScopedName *found = &reader->name[i];
        if (found->name.length == name.length && memcmp(found->name.at, name.at, (size_t)name.length) == 0)
            return found;
    }
    return NULL;
}

void names_end(Reader *reader, int64_t names) {
    while (reader->names > names) {
        const ScopedName *last = &reader->name[--reader->names];
        reader->bucket[bucket_of(last->name)] = last->next;
    }
}

int reader_add_value(Reader *reader, const TensorType *type, Piece name) {
    Program *program = reader->program;
    if (program->values >= PROGRAM_NAMES_MAX) return reader_wrong(reader, "more than %d values", PROGRAM_NAMES_MAX), -1;
    if (!list_grow((void **)&program->value, program->values, &program->value_room, sizeof *program->value))
        return error_memory(reader->error), -1;
    program->value[program->values] = (ProgramValue){*type, name};
    return (int)program->values++;
}
