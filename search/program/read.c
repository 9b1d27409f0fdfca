/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/program/read.c: operations, regions and functions of StableHLO text. Regions that are open stand on a stack of
 * our own, so that no text makes the program call itself. */
#include "search/program/reader.h"

#include "base/util.h"

#include <stdlib.h>
#include <string.h>

static bool keep_piece(Parser *parser, Piece piece) {
    if (!list_grow((void **)&parser->piece, parser->pieces, &parser->piece_room, sizeof piece))
        return error_memory(parser->reader.error);
    parser->piece[parser->pieces++] = piece;
    return true;
}

static bool keep_type(Parser *parser) {
    if (!list_grow((void **)&parser->type, parser->types, &parser->type_room, sizeof *parser->type))
        return error_memory(parser->reader.error);
    return reader_type(&parser->reader, &parser->type[parser->types]) && (parser->types++, true);
}

/* ---- regions ---- */

bool parser_open_region(Parser *parser, int op, RegionKind kind) {
    Program *program = parser->program;
    if (parser->depth == PROGRAM_DEPTH_MAX)
        return reader_wrong(&parser->reader, "regions are nested deeper than %d", PROGRAM_DEPTH_MAX);
    if (!list_grow((void **)&program->region, program->regions, &program->region_room, sizeof *program->region))
        return error_memory(parser->reader.error);
    int added = (int)program->regions++;
    program->region[added] = (ProgramRegion){
        .argument = (int)program->values, .first = -1, .last = -1, .next = -1, .begin = parser->reader.at};
    if (op >= 0) {
        int *link = &program->op[op].region;
        while (*link >= 0) link = &program->region[*link].next;
        *link = added;
    }
    parser->open[parser->depth++] = (Open){added, op, kind, parser->reader.names};
    return true;
}

/* Notes a name of the open region, where nothing else has it. */
static bool define(Parser *parser, Piece name, int value, int count) {
    const ScopedName *known = name_find(&parser->reader, name);
    if (known && known - parser->reader.name >= parser->open[parser->depth - 1].names)
        return reader_wrong(&parser->reader, "%.*s is defined twice", name.length < 60 ? name.length : 60, name.at);
    return name_define(&parser->reader, name, value, count);
}

static bool add_argument(Parser *parser, Piece name, const TensorType *type) {
    ProgramRegion *region = &parser->program->region[parser->open[parser->depth - 1].region];
    int value = reader_add_value(&parser->reader, type, name);
    region->arguments++;
    return value >= 0 && define(parser, name, value, 1);
}

bool parser_arguments(Parser *parser, bool (*more)(Parser *)) {
    Reader *reader = &parser->reader;
    if (reader_take(reader, ')')) return true;
    do {
        Piece name;
        int none;
        TensorType type;
        if (!reader_value_name(reader, &name, &none) || !reader_expect(reader, ":") || !reader_type(reader, &type) ||
            !add_argument(parser, name, &type) || (more && !more(parser)) || !reader_location(reader, NULL))
            return false;
    } while (reader_take(reader, ','));
    return reader_expect(reader, ")");
}

static bool read_label(Parser *parser) {
    Reader *reader = &parser->reader;
    Piece name;
    ProgramRegion *region = &parser->program->region[parser->open[parser->depth - 1].region];
    reader_expect(reader, "^");
    if (region->arguments > 0 || region->first >= 0)
        return reader_wrong(reader, "a second block; regions of one block are read");
    if (!reader_word(reader, &name)) return false;
    if (reader_take(reader, '(') && !parser_arguments(parser, NULL)) return false;
    if (!reader_expect(reader, ":")) return false;
    parser->program->region[parser->open[parser->depth - 1].region].begin = reader->at;
    return true;
}

/* ---- operations ---- */

static bool add_operand(Parser *parser, ProgramOp *op, int value, const char *begin) {
    Program *program = parser->program;
    if (!list_grow((void **)&program->operand, program->operands, &program->operand_room, sizeof *program->operand))
        return error_memory(parser->reader.error);
    if (!list_grow((void **)&program->use, program->operands, &program->use_room, sizeof *program->use))
        return error_memory(parser->reader.error);
    program->use[program->operands] = (Piece){begin, (int)(parser->reader.at - begin)};
    program->operand[program->operands++] = value;
    op->operands++;
    return true;
}

static bool is_while(const ProgramOp *op) { return piece_is(op->name, "while"); }

/* A value among the operands; in `while (%carry = %first, ...)` the first of the two is a name. */
static bool read_operand(Parser *parser, ProgramOp *op) {
    Reader *reader = &parser->reader;
    Piece name;
    int number;
    if (!reader_value_name(reader, &name, &number)) return false;
    if (is_while(op) && reader_peek(reader) == '=') return reader->at++, keep_piece(parser, name);
    const ScopedName *found = name_find(reader, name);
    reader->at = found ? reader->at : name.at;
    if (!found)
        return reader_wrong(reader, "%.*s is not defined before it is used", name.length < 60 ? name.length : 60,
                            name.at);
    if (number >= found->count)
        return reader_wrong(reader, "%.*s has %d results, counted from 0", name.length < 60 ? name.length : 60, name.at,
                            found->count);
    if (number >= 0 || found->count == 1)
        return add_operand(parser, op, found->value + (number >= 0 ? number : 0), name.at);
    return reader_wrong(reader, "%.*s has %d results; say which: #0", name.length < 60 ? name.length : 60, name.at,
                        found->count);
}

/* What stands between the name and the signature: operands and attributes. Ends before ":", before "({" (*regions) or
 * before "}" (an operation without a signature). */
static bool read_middle(Parser *parser, ProgramOp *op, bool *regions) {
    Reader *reader = &parser->reader;
    int depth = 0;
    *regions = false;
    for (;;) {
        char c = reader_peek(reader);
        if (c == 0) return reader_wrong(reader, "the text ends in an operation");
        if (depth == 0 && (c == ':' || c == '}')) return true;
        if (c == '%') {
            if (!read_operand(parser, op)) return false;
        } else if (c == '"') {
            if (!reader_string(reader)) return false;
        } else if (c == '{' || c == '<' || (c == '[' && depth == 0)) {
            if (!reader_brackets(reader)) return false;
        } else if (c == '(') {
            const char *begin = reader->at++;
            if (depth == 0 && reader_peek(reader) == '{') return reader->at = begin, *regions = true, true;
            depth++;
        } else if (c == '@') {
            reader->at++;
            Piece symbol;
            if (!reader_word(reader, &symbol)) return false;
            if (op->symbol.length == 0) op->symbol = symbol;
        } else if (c == ')' && --depth < 0) {
            return reader_wrong(reader, "this bracket closes none");
        } else {
            reader->at++;
        }
    }
}

static bool read_type_list(Parser *parser) {
    Reader *reader = &parser->reader;
    bool brackets = reader_take(reader, '(');
    if (brackets && reader_take(reader, ')')) return true;
    do
        if (!keep_type(parser)) return false;
    while (reader_take(reader, ','));
    return !brackets || reader_expect(reader, ")");
}

/* The operands are of the types that are written: of one for all where there is only one. */
static bool check_operands(Parser *parser, const ProgramOp *op, int64_t types) {
    const Program *program = parser->program;
    if (types != op->operands && types != 1)
        return reader_wrong(&parser->reader, "%d operands, and types of %lld", op->operands, (long long)types);
    for (int i = 0; i < op->operands; i++) {
        const TensorType *was = &program->value[program->operand[op->operand + i]].type,
                         *is = &parser->type[types > 1 ? i : 0];
        if (!type_same(was, is))
            return reader_wrong(&parser->reader, "operand %d is written as %.*s and was defined as %.*s", i + 1,
                                is->text.length, is->text.at, was->text.length, was->text.at);
    }
    return true;
}

/* The results get their types: those behind "->"; else the last of the list, or the only one. */
static bool define_results(Parser *parser, ProgramOp *op, int64_t first) {
    Program *program = parser->program;
    op->result = (int)program->values;
    int64_t names = parser->result_pieces, types = parser->types - first;
    const Piece *piece = parser->piece;
    int wanted = 0;
    for (int64_t i = 0; i < names; i += 2) wanted += piece[i + 1].length;
    if (wanted == 0) return true;
    if (types < wanted && types != 1)
        return reader_wrong(&parser->reader, "%d results, and types of %lld", wanted, (long long)types);
    int64_t at = types < wanted ? first : parser->types - wanted;
    for (int64_t i = 0; i < names; i += 2) {
        int count = parser->piece[i + 1].length, value = (int)program->values;
        for (int k = 0; k < count; k++, at += types >= wanted)
            if (reader_add_value(&parser->reader, &parser->type[at], parser->piece[i]) < 0) return false;
        if (!define(parser, parser->piece[i], value, count)) return false;
    }
    op->results = wanted;
    return true;
}

static bool read_signature(Parser *parser, ProgramOp *op) {
    Reader *reader = &parser->reader;
    parser->types = 0;
    if (!reader_take(reader, ':')) return define_results(parser, op, 0);
    if (!read_type_list(parser)) return false;
    int64_t first = parser->types;
    bool arrow = reader_take_word(reader, "->");
    if ((arrow || first == 1 || first == op->operands) && !check_operands(parser, op, first)) return false;
    if (arrow && !read_type_list(parser)) return false;
    return define_results(parser, op, arrow ? first : 0);
}

/* `cond {` of a while: its carries are the region's arguments. */
static bool open_loop(Parser *parser, int op, RegionKind kind) {
    const ProgramOp *loop = &parser->program->op[op];
    int64_t carries = parser->carry[1] - parser->carry[0];
    if (!reader_expect(&parser->reader, "{") || !parser_open_region(parser, op, kind)) return false;
    if (carries != loop->operands || (loop->results != 0 && loop->results != loop->operands))
        return reader_wrong(&parser->reader, "the loop carries %d values and has %d results", loop->operands,
                            loop->results);
    for (int i = 0; i < loop->operands; i++) {
        TensorType type = parser->program->value[parser->program->operand[parser->program->op[op].operand + i]].type;
        if (!add_argument(parser, parser->piece[parser->carry[0] + i], &type)) return false;
    }
    return true;
}

static bool finish_op(Parser *parser, int op) {
    const char *end;
    if (!reader_location(&parser->reader, NULL)) return false;
    for (end = parser->reader.at; end[-1] == ' ' || end[-1] == '\n' || end[-1] == '\t' || end[-1] == '\r';) end--;
    parser->program->op[op].end = end;
    return true;
}

/* Behind the signature: a region of the pretty form, or the end. */
static bool read_end(Parser *parser, int op) {
    Reader *reader = &parser->reader;
    if (is_while(&parser->program->op[op]) && parser->program->op[op].region < 0) {
        if (reader_take_word(reader, "attributes") && (reader_peek(reader) != '{' || !reader_brackets(reader)))
            return reader_wrong(reader, "{ is expected behind attributes");
        return reader_expect(reader, "cond") && open_loop(parser, op, REGION_OF_COND);
    }
    if (parser->program->op[op].region < 0 && reader_take_word(reader, "reducer")) {
        const char *begin = reader->at; /* the region's arguments stand before its brace */
        if (!parser_open_region(parser, op, REGION_LAST)) return false;
        reader->at = begin;
        while (reader_take(reader, '('))
            if (!parser_arguments(parser, NULL)) return false;
        if (!reader_expect(reader, "{")) return false;
        parser->program->region[parser->open[parser->depth - 1].region].begin = reader->at;
        return true;
    }
    return finish_op(parser, op);
}

/* `%a:2, %b =`, as pairs of a name and a piece whose length is the number of values. */
static bool read_result_names(Parser *parser) {
    Reader *reader = &parser->reader;
    parser->pieces = 0;
    while (reader_peek(reader) == '%') {
        Piece name;
        int none;
        int64_t count = 1;
        if (!reader_value_name(reader, &name, &none)) return false;
        if (reader_take(reader, ':')) {
            char *behind;
            count = strtoll(reader->at, &behind, 10);
            if (behind == reader->at || count < 1 || count > 1 << 16)
                return reader_wrong(reader, "the number of results is expected behind \":\"");
            reader->at = behind;
        }
        if (!keep_piece(parser, name) || !keep_piece(parser, (Piece){NULL, (int)count})) return false;
        if (!reader_take(reader, ',') && !reader_expect(reader, "=")) return false;
    }
    parser->result_pieces = parser->pieces;
    return true;
}

/* "dialect.name", or a name of the dialect func. */
static bool read_name(Parser *parser, ProgramOp *op) {
    Piece word;
    if (!reader_word(&parser->reader, &word)) return false;
    const char *dot = memchr(word.at, '.', (size_t)word.length);
    int dialect = dot ? (int)(dot - word.at) : 0;
    op->dialect = dot ? (Piece){word.at, dialect} : (Piece){"func", 4};
    op->name = dot ? (Piece){dot + 1, word.length - dialect - 1} : word;
    if (piece_is(op->name, "manual_computation"))
        return reader_wrong(&parser->reader, "a shard_map: this part is sharded by hand; lower the program without it");
    return true;
}

static bool add_op(Parser *parser, const char *begin, int *out) {
    Program *program = parser->program;
    ProgramRegion *region = &program->region[parser->open[parser->depth - 1].region];
    if (program->ops == PROGRAM_OPS_MAX)
        return reader_wrong(&parser->reader, "more than %d operations", PROGRAM_OPS_MAX);
    if (!list_grow((void **)&program->op, program->ops, &program->op_room, sizeof *program->op))
        return error_memory(parser->reader.error);
    int op = (int)program->ops++;
    program->op[op] = (ProgramOp){
        .begin = begin, .end = begin, .operand = (int)program->operands, .region = -1, .next = -1, .callee = -1};
    if (region->last >= 0)
        program->op[region->last].next = op;
    else
        region->first = op;
    region->last = op;
    *out = op;
    return true;
}

/* `reduce(%a init: %x), (%b init: %y)` has its operands in pairs; the generic form, which we keep, in two halves. */
static bool halve_pairs(Parser *parser, ProgramOp *op) {
    if (!piece_is(op->name, "reduce") || op->operands < 4 || !op_says(op, "init:")) return true;
    int *operand = parser->program->operand + op->operand, half = op->operands / 2;
    Piece *use = parser->program->use + op->operand;
    int *old = malloc((size_t)op->operands * sizeof *old);
    Piece *old_use = malloc((size_t)op->operands * sizeof *old_use);
    bool ok = old && old_use;
    if (ok) memcpy(old, operand, (size_t)op->operands * sizeof *old);
    if (ok) memcpy(old_use, use, (size_t)op->operands * sizeof *old_use);
    for (int i = 0; i < op->operands && ok; i++) {
        operand[i / 2 + i % 2 * half] = old[i];
        use[i / 2 + i % 2 * half] = old_use[i];
    }
    free(old);
    free(old_use);
    return ok || error_memory(parser->reader.error);
}

static bool read_op(Parser *parser) {
    Reader *reader = &parser->reader;
    int at = -1;
    bool regions;
    reader_peek(reader);
    if (!add_op(parser, reader->at, &at) || !read_result_names(parser)) return false;
    ProgramOp *op = &parser->program->op[at];
    if (!read_name(parser, op)) return false;
    parser->carry[0] = parser->pieces;
    const char *begin = reader->at;
    if (!read_middle(parser, op, &regions)) return false;
    parser->carry[1] = parser->pieces;
    op->text = (Piece){begin, (int)(reader->at - begin)};
    if (regions) return reader->at++, reader_expect(reader, "{") && parser_open_region(parser, at, REGION_OF_LIST);
    return halve_pairs(parser, op) && read_signature(parser, op) && read_end(parser, at);
}

/* Behind the last region of the generic form: the results' names are those in the text before it. */
static bool read_rest(Parser *parser, int at) {
    Reader *reader = &parser->reader;
    ProgramOp *op = &parser->program->op[at];
    const char *rest = reader->at;
    bool none;
    reader->at = op->begin;
    if (!read_result_names(parser)) return false;
    reader->at = rest;
    Piece first = op->text;
    if (!read_middle(parser, op, &none)) return false;
    bool has_none = !memchr(first.at, '{', (size_t)first.length); /* they stood behind the regions until jax 0.4.30 */
    if (reader->at - rest > 2 && has_none) op->text = (Piece){rest, (int)(reader->at - rest)};
    return read_signature(parser, op) && finish_op(parser, at);
}

static bool close_region(Parser *parser) {
    Reader *reader = &parser->reader;
    Open closed = parser->open[--parser->depth];
    names_end(reader, closed.names);
    switch (closed.kind) {
    case REGION_OF_FUNCTION:
        return true;
    case REGION_OF_LIST:
        if (reader_take(reader, ','))
            return reader_expect(reader, "{") && parser_open_region(parser, closed.op, closed.kind);
        return reader_expect(reader, ")") && read_rest(parser, closed.op);
    case REGION_OF_COND: {
        const ProgramOp *loop = &parser->program->op[closed.op];
        const char *rest = reader->at; /* the names of its carries are read once more: regions came in between */
        ProgramOp scratch = {.name = loop->name};
        const char *bracket = loop->text.at;
        int64_t operands = parser->program->operands;
        bool none;
        parser->pieces = 0;
        reader->at = bracket;
        if (!read_middle(parser, &scratch, &none)) return false;
        parser->program->operands = operands;
        reader->at = rest;
        parser->carry[0] = 0;
        parser->carry[1] = parser->pieces;
        return reader_expect(reader, "do") && open_loop(parser, closed.op, REGION_LAST);
    }
    default:
        return finish_op(parser, closed.op);
    }
}

bool parser_body(Parser *parser) {
    while (parser->depth > 0) {
        char c = reader_peek(&parser->reader);
        bool ok = c == 0     ? reader_wrong(&parser->reader, "the text ends in a function: it is cut")
                  : c == '}' ? (parser->reader.at++, close_region(parser))
                  : c == '^' ? read_label(parser)
                             : read_op(parser);
        if (!ok) return false;
    }
    return true;
}
