/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/program/rules.h"

#include <string.h>

/* The words of one tensor; rank -1: "*", all of it is whole. */
typedef struct {
    Piece word[PROGRAM_RANK_MAX];
    int rank;
} Named;

/* The name of the line at *line, which is moved to the next; with length 0 a line that is empty or a comment. */
static Piece next_name(const char **line) {
    const char *name = *line + strspn(*line, " \t");
    *line += strcspn(*line, "\n");
    *line += **line == '\n';
    return (Piece){name, *name == '#' ? 0 : (int)strcspn(name, " \t\r\n")};
}

static const char *kernel_of(Piece name, Arena *arena) {
    return arena_format(arena, "kernel_name = \"%.*s\"", name.length, name.at);
}

/* Whether it is the operation's target, or its kernel. */
static bool is_called(const ProgramOp *op, Piece name, const char *kernel) {
    return piece_same(name, op->symbol) || (kernel && op_says(op, kernel));
}

/* What stands behind the name of an operation's target, or of its kernel; NULL: it has no line. */
static const char *line_of(const char *rules, const ProgramOp *op, Arena *arena) {
    for (const char *line = rules; *line;) {
        Piece name = next_name(&line);
        if (name.length > 0 && is_called(op, name, kernel_of(name, arena))) return name.at + name.length;
    }
    return NULL;
}

bool user_rules_match(const Program *program, Arena *arena, Error *error) {
    for (const char *line = program->rules; line && *line;) {
        Piece name = next_name(&line);
        bool matched = name.length == 0;
        const char *kernel = kernel_of(name, arena);
        for (int64_t i = 0; i < program->ops && !matched; i++) matched = is_called(&program->op[i], name, kernel);
        if (!matched)
            return error_set(error, ERROR_INPUT, "--rules", "no operation of %.80s is called %.*s", program->where,
                             name.length < 80 ? name.length : 80, name.at);
    }
    return true;
}

/* "b h - -" at *at, which is moved behind the comma or arrow that ends it. */
static bool read_named(const char **at, const TensorType *type, Named *out) {
    *out = (Named){0};
    while (*(*at += strspn(*at, " \t")) && !strchr(",\r\n", **at) && strncmp(*at, "->", 2) != 0) {
        if (out->rank == PROGRAM_RANK_MAX) return false;
        Piece word = {*at, (int)strcspn(*at, " \t,\r\n")};
        *at += word.length;
        out->word[out->rank++] = word;
    }
    *at += **at == ',' ? 1 : strncmp(*at, "->", 2) == 0 ? 2 : 0;
    if (out->rank == 1 && piece_is(out->word[0], "*")) out->rank = -1;
    return out->rank < 0 || out->rank == (type->rank > 0 ? type->rank : 0);
}

/* The factor of a word, made where it is new; -1: memory is out, or there are too many. */
static int factor_of(Piece word, Piece names[FACTORS_MAX], int64_t size, const ProgramOp *op, Arena *arena,
                     OpRule *rule) {
    for (int i = 0; i < rule->factors; i++)
        if (piece_same(names[i], word)) return i;
    int8_t *operand = ARENA_NEW(arena, int8_t, (size_t)op->operands + 1);
    if (!operand || rule->factors == FACTORS_MAX) return -1;
    memset(operand, -1, (size_t)op->operands + 1);
    names[rule->factors] = word;
    rule->factor[rule->factors] = (Factor){size, -1, operand};
    return rule->factors++;
}

bool user_rule(const Program *program, const ProgramOp *op, Arena *arena, OpRule *out, Error *error) {
    const char *at = line_of(program->rules, op, arena);
    Piece names[FACTORS_MAX];
    bool fits = true;
    OpRule rule = {.kind = RULE_FACTORS};
    if (!at) return true;
    for (int i = 0; i < op->operands + op->results && fits; i++) {
        bool is_result = i >= op->operands;
        int value = is_result ? op->result + i - op->operands : program->operand[op->operand + i];
        const TensorType *type = &program->value[value].type;
        Named named;
        fits = read_named(&at, type, &named) && (i != op->operands - 1 || at[-1] == '>');
        for (int d = 0; d < named.rank && fits; d++) {
            if (piece_is(named.word[d], "-")) continue;
            int k = factor_of(named.word[d], names, type->size[d], op, arena, &rule);
            fits = k >= 0 && rule.factor[k].size == type->size[d];
            if (!fits) break;
            fits = i <= op->operands || rule.factor[k].result == d; /* one place in all results */
            if (is_result)
                rule.factor[k].result = d;
            else
                ((int8_t *)rule.factor[k].operand)[i] = (int8_t)d;
        }
    }
    fits = fits && (*at == '\0' || strchr("\r\n", *at));
    if (!fits)
        return program_wrong(program, op->begin, error,
                             "the line of --rules does not fit the %d operands and %d results", op->operands,
                             op->results);
    *out = rule;
    return true;
}
