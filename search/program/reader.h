/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/program/reader.h: the words of StableHLO text: a place that moves through it, types, and names in scope. Of
 * read.c, which reads operations, and read_module.c, which reads what they stand in. */
#pragma once

#include "search/program/program.h"

/* A name in scope; later ones hide earlier ones, and those of a region end with it. */
typedef struct {
    Piece name;
    int value, count; /* its first value, and how many it stands for */
    int next;         /* in the same bucket */
} ScopedName;

enum { NAME_BUCKETS = 1 << 14 };

typedef struct {
    Program *program;
    const char *at, *end;
    Error *error;
    ScopedName *name;
    int64_t names, name_room;
    int bucket[NAME_BUCKETS];
} Reader;

/* False with an error at the place where the reader is. */
bool reader_wrong(Reader *reader, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Passes blanks and comments. Returns the character there; 0 at the end. */
char reader_peek(Reader *reader);
/* Takes this character, or these letters as a whole word, if they stand there. */
bool reader_take(Reader *reader, char c);
bool reader_take_word(Reader *reader, const char *word);
/* The same; an error where they do not. */
bool reader_expect(Reader *reader, const char *what);

/* A word of letters, digits, _ . $ and -, perhaps in quotes (without them in *out). */
bool reader_word(Reader *reader, Piece *out);
/* Passes a quoted text, the reader being at its quote. */
bool reader_string(Reader *reader);
/* Passes what is in brackets, the reader being at the first; strings inside are passed whole. */
bool reader_brackets(Reader *reader);
/* loc(...), if it stands there; *label (may be NULL) gets its text, if it is one. */
bool reader_location(Reader *reader, Piece *label);

/* One type; rank -1 for a token. Dynamic sizes, quantised and tuple types are errors. */
bool reader_type(Reader *reader, TensorType *out);

/* %name, with #number in *result (-1: none). */
bool reader_value_name(Reader *reader, Piece *name, int *result);

/* Defines a name for values, which exist. */
bool name_define(Reader *reader, Piece name, int value, int count);
/* NULL: it is not in scope. */
const ScopedName *name_find(const Reader *reader, Piece name);
/* Forgets the names that came after there were `names`. */
void names_end(Reader *reader, int64_t names);

/* Adds a value of this type. Returns it; -1: memory is out, or there are too many, with an error. */
int reader_add_value(Reader *reader, const TensorType *type, Piece name);

/* ---- operations: read.c ---- */

/* What stands behind the end of a region. */
typedef enum {
    REGION_OF_FUNCTION, /* nothing */
    REGION_OF_LIST,     /* ", {": one more, or ")" and the rest of the operation: the generic form */
    REGION_OF_COND,     /* "do {" */
    REGION_LAST,        /* nothing more of the operation: the body of a while, a reducer */
} RegionKind;

typedef struct {
    int region, op;
    RegionKind kind;
    int64_t names; /* that were in scope before it */
} Open;

typedef struct {
    Reader reader; /* first, so that helpers take either */
    Program *program;
    Open open[PROGRAM_DEPTH_MAX];
    int depth;
    int64_t carry[2]; /* of the while being read: its carries' names, as numbers in `piece` */
    Piece *piece;     /* names that wait for their types: results, and carries */
    int64_t pieces, piece_room;
    int64_t result_pieces;
    TensorType *type; /* of a signature */
    int64_t types, type_room;
    int publics; /* functions that are not private */
} Parser;

/* Adds a region to an op (-1: a function's) and enters it; the reader is behind its brace. */
bool parser_open_region(Parser *parser, int op, RegionKind kind);
/* `(%a: type loc(..), %b: type)`, behind the bracket; `more` (NULL: nothing) reads what else stands behind a type. */
bool parser_arguments(Parser *parser, bool (*more)(Parser *));
/* The operations of the open region and of all in it, to its end. */
bool parser_body(Parser *parser);
