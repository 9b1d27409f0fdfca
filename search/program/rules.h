/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/program/rules.h: which dimensions of an operation's operands and results can be sharded together. A rule is a
 * list of factors, in the way of Shardy (openxla/shardy, docs/sdy_op_interfaces: sharding rules): a factor is a loop of
 * the operation, with its dimension in the results (none: a contraction, which leaves partial sums) and in each operand
 * (none: all of it is needed, or it has no such dimension). docs/program.md has the table for people. */
#pragma once

#include "search/program/program.h"

enum { FACTORS_MAX = 4 * PROGRAM_RANK_MAX };

typedef struct {
    int64_t size;
    int result;            /* dimension of all results; -1: partial sums */
    const int8_t *operand; /* dimension of each operand; -1: not there */
} Factor;

typedef enum {
    RULE_WHOLE,      /* there is none: all operands and results are whole on every chip */
    RULE_FACTORS,    /* as the factors say */
    RULE_POINTWISE,  /* the same, and nothing is summed: a compiler fuses it with its neighbours */
    RULE_VIEW,       /* the first operand, seen with other dimensions: no work, no memory of its own */
    RULE_IDENTITIES, /* each result is an operand */
    RULE_SOURCE,     /* made on every chip as it is needed: constants, iota, random bits */
    RULE_CALL,       /* the operations of another function */
    RULE_LOOP,       /* while */
    RULE_BRANCHES,   /* if, case */
    RULE_END,        /* return */
} RuleKind;

typedef struct {
    RuleKind kind;
    Factor factor[FACTORS_MAX];
    int factors;
    int view[PROGRAM_RANK_MAX]; /* RULE_VIEW: for each dimension of the result that of the operand; -1: a new one */
    double flops;               /* of matrix units */
    bool in_place;              /* the result takes the place of the first operand */
    bool reads_rows;            /* of the first operand a part, as large as the result */
} OpRule;

/* Fills *out; what it points to lives in the arena. False: memory is out, or the attributes do not fit the operands,
 * with an error. */
bool op_rule(const Program *program, const ProgramOp *op, Arena *arena, OpRule *out, Error *error);

/* The same by a line of the user's rules (Program.rules); leaves *out as it is where none names the operation. False:
 * the line does not fit, with an error at the operation. */
bool user_rule(const Program *program, const ProgramOp *op, Arena *arena, OpRule *out, Error *error);

/* Whether each line of the user's rules names an operation. */
bool user_rules_match(const Program *program, Arena *arena, Error *error);

/* The rules, for tests and pages: the names of operations with blanks between them, and what is sharded. The last has
 * no names. */
typedef struct {
    const char *names, *says;
} RuleRow;
int rule_count(void);
RuleRow rule_row(int at);
