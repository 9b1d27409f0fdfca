/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/program/read_module.c: functions and the module that they stand in. */
#include "base/util.h"
#include "search/program/reader.h"

#include <stdlib.h>
#include <string.h>

/* {tf.aliasing_output = 0 : i32}, if it stands there. */
static bool read_dictionary(Reader *reader, Piece *out) {
    reader_peek(reader);
    const char *begin = reader->at;
    *out = (Piece){begin, 0};
    if (*begin != '{') return true;
    if (!reader_brackets(reader)) return false;
    out->length = (int)(reader->at - begin);
    ProgramOp as_op = {.text = *out};
    if (!op_says(&as_op, "sharding")) return true;
    reader->at = begin;
    return reader_wrong(reader, "the program is sharded already; lower it without shardings");
}

static bool read_entry_argument(Parser *parser) {
    Program *program = parser->program;
    ProgramArgument argument = {.aliases = -1};
    Piece dictionary;
    const char *behind_type = parser->reader.at;
    if (!read_dictionary(&parser->reader, &dictionary) || !reader_location(&parser->reader, &argument.label))
        return false;
    if (program->functions - 1 != program->main) return true;
    argument.dictionary = dictionary.length ? dictionary : (Piece){behind_type, 0};
    ProgramOp as_op = {.text = dictionary};
    int64_t aliases;
    if (op_whole_list(&as_op, "tf.aliasing_output", false, &aliases, 1) == 1) argument.aliases = (int)aliases;
    if (!list_grow((void **)&program->entry, program->entries, &program->entry_room, sizeof argument))
        return error_memory(parser->reader.error);
    program->entry[program->entries++] = argument;
    return true;
}

static bool read_result(Parser *parser, ProgramFunction *function, bool brackets) {
    Program *program = parser->program;
    TensorType type;
    Piece dictionary = {0};
    if (!reader_type(&parser->reader, &type)) return false;
    const char *behind = parser->reader.at;
    if (brackets && !read_dictionary(&parser->reader, &dictionary)) return false;
    if (dictionary.length == 0) dictionary.at = behind;
    if (!list_grow((void **)&program->type, program->types, &program->type_room, sizeof type))
        return error_memory(parser->reader.error);
    program->type[program->types++] = type;
    function->results++;
    if (program->functions - 1 != program->main) return true;
    if (!list_grow((void **)&program->output, program->outputs, &program->output_room, sizeof dictionary))
        return error_memory(parser->reader.error);
    program->output[program->outputs++] = dictionary;
    return true;
}

static bool read_results(Parser *parser, int at) {
    Reader *reader = &parser->reader;
    ProgramFunction *function = &parser->program->function[at];
    function->result = (int)parser->program->types;
    if (!reader_take_word(reader, "->")) return true;
    bool brackets = reader_take(reader, '(');
    if (brackets && reader_take(reader, ')')) return true;
    do
        if (!read_result(parser, function, brackets)) return false;
    while (brackets && reader_take(reader, ','));
    return !brackets || reader_expect(reader, ")");
}

static bool read_function(Parser *parser) {
    Reader *reader = &parser->reader;
    Program *program = parser->program;
    if (!list_grow((void **)&program->function, program->functions, &program->function_room, sizeof *program->function))
        return error_memory(reader->error);
    bool is_private = reader_take_word(reader, "private");
    if (!is_private) reader_take_word(reader, "public");
    int at = (int)program->functions++;
    program->function[at] = (ProgramFunction){.region = (int)program->regions};
    if (!reader_expect(reader, "@") || !reader_word(reader, &program->function[at].name)) return false;
    bool is_main = piece_is(program->function[at].name, "main");
    parser->publics += !is_private;
    if (!is_private && (program->main < 0 || is_main)) {
        program->main = at; /* others may stand before @main: jax prints comparators so */
        program->entries = program->outputs = 0;
    }
    if (!reader_expect(reader, "(") || !parser_open_region(parser, -1, REGION_OF_FUNCTION) ||
        !parser_arguments(parser, read_entry_argument) || !read_results(parser, at))
        return false;
    if (reader_take_word(reader, "attributes") && (reader_peek(reader) != '{' || !reader_brackets(reader)))
        return reader_wrong(reader, "{ is expected behind attributes");
    if (!reader_expect(reader, "{")) return false;
    program->region[program->function[at].region].begin = reader->at;
    return parser_body(parser) && reader_location(reader, NULL);
}

static bool find_callees(const Program *program, Error *error) {
    for (int64_t i = 0; i < program->ops; i++) {
        ProgramOp *op = &program->op[i];
        if (!piece_is(op->dialect, "func") || !piece_is(op->name, "call")) continue;
        for (int64_t k = 0; k < program->functions && op->callee < 0; k++) {
            Piece name = program->function[k].name;
            if (name.length == op->symbol.length && memcmp(name.at, op->symbol.at, (size_t)name.length) == 0)
                op->callee = (int)k;
        }
        if (op->callee < 0)
            return program_wrong(program, op->begin, error, "there is no function @%.*s",
                                 op->symbol.length < 60 ? op->symbol.length : 60, op->symbol.at);
        const ProgramFunction *callee = &program->function[op->callee];
        if (op->operands != program->region[callee->region].arguments || op->results != callee->results)
            return program_wrong(program, op->begin, error, "the call has %d operands and %d results, @%.*s %d and %d",
                                 op->operands, op->results, callee->name.length < 60 ? callee->name.length : 60,
                                 callee->name.at, program->region[callee->region].arguments, callee->results);
    }
    return true;
}

static bool read_module(Parser *parser) {
    Reader *reader = &parser->reader;
    Program *program = parser->program;
    Piece unused;
    while (reader_take(reader, '#')) /* #loc1 = loc("x") */
        if (!reader_word(reader, &unused) || !reader_expect(reader, "=") || !reader_location(reader, NULL))
            return false;
    if (reader_peek(reader) == '"')
        return reader_wrong(reader, "the generic form of a module; print it without (as_text() does)");
    if (!reader_expect(reader, "module")) return false;
    if (reader_take(reader, '@') && !reader_word(reader, &unused)) return false;
    if (reader_take_word(reader, "attributes") && (reader_peek(reader) != '{' || !reader_brackets(reader)))
        return reader_wrong(reader, "{ is expected behind attributes");
    if (!reader_expect(reader, "{")) return false;
    program->module_begin = reader->at;
    while (!reader_take(reader, '}')) {
        if (reader_take_word(reader, "sdy.mesh"))
            return reader_wrong(reader, "the program is sharded already; lower it without shardings");
        if (!reader_expect(reader, "func.func") || !read_function(parser)) return false;
    }
    if (program->main < 0) return reader_wrong(reader, "there is no public function");
    return parser->publics == 1 || piece_is(program->function[program->main].name, "main") ||
           reader_wrong(reader, "there are %d public functions, and none is @main; lower one alone", parser->publics);
}

bool program_read(const char *text, size_t length, const char *where, Program *out, Error *error) {
    *out = (Program){.text = text, .where = where, .length = length, .main = -1};
    if (length >= 4 && memcmp(text, "ML\xefR", 4) == 0)
        return error_set(error, ERROR_INPUT, where, "is MLIR bytecode; give the text: jax.jit(f).lower(...).as_text()");
    Parser *parser = calloc(1, sizeof *parser);
    if (!parser) return error_memory(error);
    parser->program = out;
    parser->reader = (Reader){.program = out, .at = text, .end = text + length, .error = error};
    for (int i = 0; i < NAME_BUCKETS; i++) parser->reader.bucket[i] = -1;
    bool ok = read_module(parser) && find_callees(out, error);
    free(parser->reader.name);
    free(parser->piece);
    free(parser->type);
    free(parser);
    return ok;
}
