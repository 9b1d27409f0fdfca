/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/program/program.h: a program of tensors as StableHLO text has it: functions of operations, each with operands,
 * results and regions. Nothing is interpreted here but names, types and nesting.
 *
 * Source of the grammar: openxla/stablehlo, docs/spec.md ("Programs" to "Types"), and what jax 0.10 prints. */
#pragma once

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PROGRAM_RANK_MAX = 8,
    PROGRAM_DEPTH_MAX = 64,      /* of regions in each other */
    PROGRAM_OPS_MAX = 200000,    /* written, and once more with every call's own */
    PROGRAM_NAMES_MAX = 1 << 21, /* of values */
};
static const size_t PROGRAM_BYTES_MAX = (size_t)512 << 20;

/* A piece of the text. */
typedef struct {
    const char *at;
    int length;
} Piece;

bool piece_is(Piece piece, const char *word);
bool piece_same(Piece a, Piece b);

typedef struct {
    int rank;    /* -1: no tensor (a token) */
    int bits;    /* of an element; i1 takes a byte */
    bool floats; /* elements are floating point */
    int64_t size[PROGRAM_RANK_MAX];
    Piece text; /* as it is written */
} TensorType;

bool type_same(const TensorType *a, const TensorType *b); /* by shape and element */
double type_elements(const TensorType *type);
static inline double type_bytes(const TensorType *type) { return type_elements(type) * type->bits / 8; }

typedef struct {
    Piece name;    /* "dot_general": what stands behind the dialect's dot */
    Piece dialect; /* "stablehlo" */
    Piece text;    /* of attributes: from the name to the signature */
    Piece symbol;  /* the first @name: the function that is called, the target of a custom_call; length 0: none */
    int operand, operands;   /* where they begin in Program.operand, and how many */
    int result, results;     /* values */
    int region;              /* the first; -1: none */
    int next;                /* the op behind it in its region; -1: none */
    int callee;              /* of a call: the function; -1: none */
    const char *begin, *end; /* of its text, the end with its regions */
} ProgramOp;

typedef struct {
    int argument, arguments; /* values */
    int first, last;         /* ops; -1: none */
    int next;                /* the next region of the same op; -1: none */
    const char *begin;       /* behind its brace, and behind the label of its block */
} ProgramRegion;

typedef struct {
    Piece name;
    int region;
    int result, results; /* types, in Program.type */
    bool is_called;      /* by what is reached from the first function */
    int aliases;         /* where Program.attributes of its arguments begin */
} ProgramFunction;

/* A value: its type and its name in the text ("%12", without a number of a result). */
typedef struct {
    TensorType type;
    Piece name;
} ProgramValue;

/* What stands behind the type of an argument of the entry. */
typedef struct {
    int aliases;      /* the result whose buffer it becomes; -1: none */
    Piece dictionary; /* "{tf.aliasing_output = 0 : i32}"; length 0: none */
    Piece label;      /* "state['w1']", of its location; length 0: none */
} ProgramArgument;

typedef struct {
    const char *text, *where;
    size_t length;
    const char *rules; /* the user's, for operations without one: lines of text; NULL: none */
    ProgramValue *value;
    ProgramOp *op;
    ProgramRegion *region;
    ProgramFunction *function;
    int *operand;
    Piece *use;             /* of each operand the words that name it: "%12#1" */
    TensorType *type;       /* of functions' results */
    ProgramArgument *entry; /* of the arguments of the first public function */
    Piece *output;          /* the dictionary behind each of its results' types; with length 0, where one would stand */
    int64_t values, ops, regions, functions, operands, types, entries, outputs;
    int64_t value_room, op_room, region_room, function_room, operand_room, use_room, type_room, entry_room, output_room;
    int main;                 /* the function that is run */
    const char *module_begin; /* behind the brace of the module */
} Program;

/* Reads `length` bytes, which must outlive the program and end in a NUL. Errors are ERROR_INPUT at "where:line:column":
 * text that is cut or wrong, a value before its definition, operands of another type than is written, dynamic shapes,
 * MLIR bytecode, programs that are sharded by hand (shard_map), functions that call themselves, more than the limits
 * above. One pass; it takes some 200 bytes an operation. program_free() frees the program, also after a failure. */
bool program_read(const char *text, size_t length, const char *where, Program *out, Error *error);
void program_free(Program *program);

/* Sets an error at a place of the text; always false. */
bool program_wrong(const Program *program, const char *at, Error *error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The whole numbers that an attribute lists (`dims = [0, 1]`, `array<i64: 0, 1>`, `dense<[[0, 0]]> : ...`, `3 : i64`):
 * at most `room` of them, into `out`. Returns their number; -1: there is no such attribute. A name counts where it
 * stands as a whole word. `second`: those behind the "x" of `[2] x [0]`. */
int op_whole_list(const ProgramOp *op, const char *name, bool second, int64_t *out, int room);
/* Whether the attributes hold this text. */
bool op_says(const ProgramOp *op, const char *words);
