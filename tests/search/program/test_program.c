/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt program` from text to answer: what is read and what is refused, rules against shapes worked out by hand,
 * answers that stay the same, memory, and annotations. */
#include "base/file.h"
#include "base/memory_stream.h"
#include "base/util.h"
#include "mesh/machine.h"
#include "search/program/answer.h"
#include "search/program/strategies.h"
#include "search/program/write.h"
#include "tests/search/program/small.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HEAD "module @m {\n  func.func public @main("
#define BODY(arguments, results, ops) HEAD arguments ") -> " results " {\n" ops "  }\n}\n"

/* ---- what is refused: place and words ---- */

static const struct {
    const char *text, *where, *says;
} REFUSED[] = {
    {"", "p:1:1", "\"module\""},
    {"ML\xefR1234", "p", "bytecode"},
    {"\"builtin.module\"() ({}) : () -> ()", "p:1:1", "generic form of a module"},
    {BODY("%a: tensor<?x4xf32>", "tensor<4xf32>", ""), "p:2:37", "dynamic"},
    {BODY("%a: tensor<4xf32>", "tensor<4xf32>", "    return %b : tensor<4xf32>\n"), "p:3:12", "%b is not defined"},
    {BODY("%a: tensor<4xf32>", "tensor<4xf32>", "    %b = stablehlo.add %b, %a : tensor<4xf32>\n"), "p:3:24",
     "%b is not defined"},
    {HEAD "%a: tensor<4xf32>) -> tensor<4xf32> {\n    return %a : tensor<4xf32>\n", "p:4:1", "cut"},
    {BODY("%a: tensor<4xf32>", "tensor<4xf32>",
          "    %b = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0] : (tensor<4xf32>, tensor<5xf32>) -> "
          "tensor<f32>\n"),
     "p:3:", "operand 2 is written as tensor<5xf32>"},
    {BODY("%a: tensor<4xf32>", "tensor<4xf32>", "    %b = call @f(%a) : (tensor<4xf32>) -> tensor<4xf32>\n"), "p:3:5",
     "no function @f"},
    {BODY("%a: tensor<4xf32>", "tensor<4xf32>", "    %b = \"x.y\"(%a) {k = [1, 2 : (tensor<4xf32>) -> ()\n"), "p:6:1",
     "the text ends"},
    {BODY("%a: tensor<4xf32>", "tensor<4xf32>",
          "    %b:2 = stablehlo.iota dim = 0 : tensor<4xf32>\n    return %b : "
          "tensor<4xf32>\n"),
     "p:4:", "say which"},
    {BODY("%a: tensor<4xf32>", "tensor<4xf32>", "    return %a# : tensor<4xf32>\n"), "p:3:", "number of a result"},
    {BODY("%a: tensor<4xf32>", "tensor<4xf32>", "    return %a#-1 : tensor<4xf32>\n"), "p:3:", "number of a result"},
    {BODY("%a: tensor<4xf32>", "tensor<4xf32>", "    return %a#2097153 : tensor<4xf32>\n"),
     "p:3:", "number of a result"},
    {BODY("%a: tensor<4xf32>", "tensor<4xf32>", "    return %a#2097152 : tensor<4xf32>\n"), "p:3:", "%a"},
    {BODY("%a: tuple<tensor<4xf32>>", "tensor<4xf32>", ""), "p:2:30", "tuples"},
    {BODY("%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}", "tensor<4xf32>", ""), "p:2:", "already"},
    {BODY("%a: tensor<1x1x1x1x1x1x1x1x1xf32>", "tensor<4xf32>", ""), "p:2:", "more than 8 dimensions"},
};

Test(program, refuses_in_one_line) {
    for (size_t i = 0; i < COUNT_OF(REFUSED); i++) {
        Program program;
        Error error = {0};
        bool ok = program_read(REFUSED[i].text, strlen(REFUSED[i].text), "p", &program, &error);
        program_free(&program);
        cr_expect_not(ok, "%zu", i);
        cr_expect(error.kind == ERROR_INPUT && strncmp(error.where, REFUSED[i].where, strlen(REFUSED[i].where)) == 0 &&
                      strstr(error.text, REFUSED[i].says),
                  "%zu: %s: %s", i, error.where, error.text);
    }
}

/* Sizes without a bound in the text: one line each, and memory that does not grow with them for long. */
Test(program, refuses_what_has_no_end) {
    static const struct {
        const char *begin, *again, *says;
        int times;
    } LONG[] = {
        {HEAD "%a: tensor<4xf32>) -> tensor<4xf32> {\n", "\"x.y\"(%a) ({ ", "nested deeper", 100000},
        {HEAD "%a: tensor<4xf32>) -> tensor<4xf32> {\n", "%b = stablehlo.add %a, %a : tensor<4xf32>\n",
         "more than 200000", 1000000},
        {HEAD "%a: tensor<4xf32>) -> tensor<4xf32> {\n    %b = \"x.y\"(%a) {k = ", "[", "not closed", 1000000},
        {"module @m {\n", "func.func private @f() { return }\n", "the text ends", 10000},
    };
    for (size_t i = 0; i < COUNT_OF(LONG); i++) {
        Error error = {0};
        Program program;
        char *text = NULL;
        size_t length = 0;
        FILE *out = memory_stream_open(&text, &length);
        fputs(LONG[i].begin, out);
        for (int k = 0; k < LONG[i].times; k++) fputs(LONG[i].again, out);
        cr_assert(fclose(out) == 0);
        bool ok = program_read(text, length, "p", &program, &error);
        cr_expect(!ok && strstr(error.text, LONG[i].says), "%zu: %s: %s", i, error.where, error.text);
        program_free(&program);
        free(text);
    }
}

/* A function that calls itself, through another one, and one whose calls double thirty times. */
Test(program, refuses_calls_without_end) {
    Arena arena = {0};
    const char *text =
        BODY("%a: tensor<4xf32>", "tensor<4xf32>",
             "    %b = call @f0(%a) : (tensor<4xf32>) -> tensor<4xf32>\n    return %b : tensor<4xf32>\n");
    const char *head = arena_format(&arena, "%.*s", (int)strlen(text) - 2, text), *cyclic = head, *doubling = head;
    for (int i = 0; i < 30; i++) {
        static const char FORM[] = "%s  func.func private @f%d(%%a: tensor<4xf32>) -> tensor<4xf32> {\n    %%b = call "
                                   "@f%d(%%a) : (tensor<4xf32>) -> tensor<4xf32>\n    %%c = call @f%d(%%b) : "
                                   "(tensor<4xf32>) -> tensor<4xf32>\n    return %%c : tensor<4xf32>\n  }\n";
        if (i < 2) cyclic = arena_format(&arena, FORM, cyclic, i, 1 - i, 1 - i);
        doubling = arena_format(&arena, FORM, doubling, i, i + 1, i + 1);
    }
    doubling = arena_format(&arena,
                            "%s  func.func private @f30(%%a: tensor<4xf32>) -> tensor<4xf32> {\n    return %%a : "
                            "tensor<4xf32>\n  }\n",
                            doubling);
    const char *texts[] = {cyclic, doubling}, *says[] = {"calls itself", "those of every call counted"};
    for (int i = 0; i < 2; i++) {
        Error error = {0};
        Program program;
        Flow flow = {0};
        const char *whole = arena_format(&arena, "%s}\n", texts[i]);
        cr_assert(program_read(whole, strlen(whole), "p", &program, &error), "%s: %s", error.where, error.text);
        cr_expect(!flow_of_program(&program, &arena, &flow, &error) && strstr(error.text, says[i]), "%s", error.text);
        flow_free(&flow);
        program_free(&program);
    }
    arena_free(&arena);
}

/* ---- rules: factors as "size:result:operands" ---- */

static const struct {
    const char *name, *arguments, *op, *factors;
} RULED[] = {
    {"batched matmul", "%a: tensor<2x8x4xf32>, %b: tensor<2x4x16xf32>",
     "stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x8x4xf32>, "
     "tensor<2x4x16xf32>) -> tensor<2x8x16xf32>",
     "2:0:00 8:1:1- 16:2:-2 4:-:21"},
    {"the same, generic", "%a: tensor<2x8x4xf32>, %b: tensor<2x4x16xf32>",
     "\"stablehlo.dot_general\"(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], "
     "rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : "
     "(tensor<2x8x4xf32>, tensor<2x4x16xf32>) -> tensor<2x8x16xf32>",
     "2:0:00 8:1:1- 16:2:-2 4:-:21"},
    {"convolution", "%a: tensor<8x32x32x4xf32>, %b: tensor<3x3x4x16xf32>",
     "stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], "
     "[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x32x32x4xf32>, "
     "tensor<3x3x4x16xf32>) -> tensor<8x32x32x16xf32>",
     "8:0:0- 16:3:-3 4:-:32"},
    {"sum of rows", "%a: tensor<8x4xf32>, %b: tensor<f32>",
     "stablehlo.reduce(%a init: %b) applies stablehlo.add across dimensions = [1] : (tensor<8x4xf32>, tensor<f32>) -> "
     "tensor<8xf32>",
     "8:0:0- 4:-:1-"},
    {"look-up", "%a: tensor<100x16xf32>, %b: tensor<8x1xi32>",
     "\"stablehlo.gather\"(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = "
     "[0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 16>}> : (tensor<100x16xf32>, "
     "tensor<8x1xi32>) -> tensor<8x16xf32>",
     "16:1:1- 8:0:-0 100:-:0-"},
    {"an update of a row", "%a: tensor<8x16xf32>, %b: tensor<1x16xf32>, %c: tensor<i32>",
     "stablehlo.dynamic_update_slice %a, %b, %c, %c : (tensor<8x16xf32>, tensor<1x16xf32>, tensor<i32>, tensor<i32>) "
     "-> tensor<8x16xf32>",
     "16:1:11--"},
    {"joined along 1", "%a: tensor<8x4xf32>, %b: tensor<8x4xf32>",
     "stablehlo.concatenate %a, %b, dim = 1 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>", "8:0:00"},
    {"no rule", "%a: tensor<8x4xf32>", "stablehlo.custom_call @mine(%a) : (tensor<8x4xf32>) -> tensor<8x4xf32>", ""},
};

static void factors_text(const OpRule *rule, int operands, char *text) {
    for (int i = 0; i < rule->factors; i++) {
        const Factor *factor = &rule->factor[i];
        text += sprintf(text, i > 0 ? " %lld:" : "%lld:", (long long)factor->size);
        text += factor->result < 0 ? sprintf(text, "-:") : sprintf(text, "%d:", factor->result);
        for (int k = 0; k < operands; k++)
            text += factor->operand[k] < 0 ? sprintf(text, "-") : sprintf(text, "%d", factor->operand[k]);
    }
}

Test(program, rules_by_hand) {
    for (size_t i = 0; i < COUNT_OF(RULED); i++) {
        Arena arena = {0};
        Error error = {0};
        Program program;
        OpRule rule;
        char found[512] = "";
        const char *text =
            arena_format(&arena, HEAD "%s) {\n    %%r = %s\n    return\n  }\n}\n", RULED[i].arguments, RULED[i].op);
        cr_assert(program_read(text, strlen(text), "p", &program, &error) &&
                      op_rule(&program, &program.op[0], &arena, &rule, &error),
                  "%s: %s: %s", RULED[i].name, error.where, error.text);
        factors_text(&rule, program.op[0].operands, found);
        cr_expect_str_eq(found, RULED[i].factors, "%s: %s", RULED[i].name, found);
        program_free(&program);
        arena_free(&arena);
    }
}

/* What does not fit its attributes is no rule, but an error at the operation. */
Test(program, operations_that_do_not_fit) {
    static const char *const OPS[] = {
        "stablehlo.dot_general %a, contracting_dims = [1] x [0] : (tensor<8x8xf32>) -> tensor<8x8xf32>",
        "\"stablehlo.dot\"(%a, %a, %a) : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>",
        "stablehlo.dot_general %a, %a, contracting_dims = [2] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> "
        "tensor<8x8xf32>",
        "\"stablehlo.gather\"(%a) : (tensor<8x8xf32>) -> tensor<8x8xf32>"};
    for (size_t i = 0; i < COUNT_OF(OPS); i++) {
        Arena arena = {0};
        Error error = {0};
        Program program;
        OpRule rule;
        const char *text =
            arena_format(&arena, HEAD "%%a: tensor<8x8xf32>) {\n    %%r = %s\n    return\n  }\n}\n", OPS[i]);
        cr_assert(program_read(text, strlen(text), "p", &program, &error), "%zu: %s: %s", i, error.where, error.text);
        cr_expect_not(op_rule(&program, &program.op[0], &arena, &rule, &error), "%zu", i);
        cr_expect(strcmp(error.where, "p:3:5") == 0 && strstr(error.text, "do not fit"), "%zu: %s", i, error.text);
        program_free(&program);
        arena_free(&arena);
    }
}

/* Lines of --rules for a custom_call of [32, 128, 8] and [32, 256, 8] with two results; NULL: it does not fit. */
Test(program, rules_of_a_user) {
    static const char TEXT[] =
        HEAD "%a: tensor<32x128x8xf32>, %b: tensor<32x256x8xf32>) {\n"
             "    %r:2 = stablehlo.custom_call @mine(%a, %b) {kernel_name = \"flash\"} : (tensor<32x128x8xf32>, "
             "tensor<32x256x8xf32>) -> (tensor<32x128x8xf32>, tensor<32x128xf32>)\n    return\n  }\n}\n";
    static const struct {
        const char *lines, *factors;
    } ROWS[] = {
        {"mine b t -, b - - -> b t -, b t", "32:0:00 128:1:1-"},
        {"# mine x\n  flash b - h,b - h->b - h, b -\n", NULL}, /* h is in one result alone */
        {"other a\nflash b - -, b s - -> b - -, b -\r\nmine *, * -> *, *", "32:0:00 256:-:-1"},
        {"mine *, b - - -> b - -, b -", "32:0:-0"},
        {"min b t -, b - - -> b t -, b t", ""},
        {"miner b t -, b - - -> b t -, b t", ""},
        {"mine b t, b - - -> b t -, b t", NULL},
        {"mine b t -, b - - -> b t -", NULL},
        {"mine b t - -> b t -, b t", NULL},
        {"mine b t -, b t - -> b t -, b t", NULL},
        {"mine b t -, b - - -> t b -, t b", NULL},
        {"mine b t -, b - -, - -> b t -, b t", NULL},
        {"mine b t -, b - -  b t -, b t", NULL},
        {"mine b t -, b - - -> b t -, b t, b", NULL},
        {"mine a b c d e f g h i, b - - -> b t -, b t", NULL},
        {"mine", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Arena arena = {0};
        Error error = {0};
        Program program;
        OpRule rule = {.kind = RULE_WHOLE};
        char found[512] = "";
        cr_assert(program_read(TEXT, strlen(TEXT), "p", &program, &error), "%s", error.text);
        program.rules = ROWS[i].lines;
        bool ok = user_rule(&program, &program.op[0], &arena, &rule, &error);
        factors_text(&rule, 2, found);
        cr_expect(ok == (ROWS[i].factors != NULL), "%s: %s", ROWS[i].lines, error.text);
        if (ROWS[i].factors) cr_expect_str_eq(found, ROWS[i].factors, "%s: %s", ROWS[i].lines, found);
        if (!ok) cr_expect(strcmp(error.where, "p:3:5") == 0 && strstr(error.text, "2 operands and 2 results"));
        program_free(&program);
        arena_free(&arena);
    }
}

/* The page has every operation that has a rule, in the table's own words, row by row. */
Test(program, page_has_the_rules) {
    Arena arena = {0};
    Error error = {0};
    char *page;
    size_t length;
    cr_assert(file_read(SHARDOPT_SOURCE_DATA "/docs/program.md", 1 << 20, &arena, &page, &length, &error));
    for (int i = 0; i < rule_count(); i++) {
        RuleRow row = rule_row(i);
        const char *line = arena_format(&arena, "| %s | %s |", row.names, row.says);
        cr_expect(strstr(page, line), "docs/program.md lacks:\n%s", line);
    }
    arena_free(&arena);
}

/* ---- the same answer ---- */

static char *answered(const char *text, int threads) {
    Arena arena = {0};
    Error error = {0};
    Program program;
    ProgramAnswer answer;
    char *json = NULL;
    size_t length = 0;
    cr_assert(program_read(text, strlen(text), "p", &program, &error), "%s: %s", error.where, error.text);
    ProgramQuestion question = question_of(&program);
    question.control.threads = threads;
    cr_assert(program_answer(&question, &arena, &answer, &error));
    FILE *out = memory_stream_open(&json, &length);
    cr_assert(program_write_json(&question, &answer, out, &error) && fclose(out) == 0);
    flow_free(&answer.flow);
    program_free(&program);
    arena_free(&arena);
    return json;
}

Test(program, same_under_other_names_and_threads) {
    for (int turn = 0; turn < 10; turn++) {
        Arena arena = {0};
        Draws draws = {(uint64_t)turn};
        Small small = small_draw(&draws, 1 + turn % 8);
        const char *text = small_text(&small, &arena, "v"), *renamed = small_text(&small, &arena, "other_");
        char *one = answered(text, 1), *other = answered(renamed, 1), *three = answered(text, 3);
        cr_expect_str_eq(one, other);
        cr_expect_str_eq(one, three);
        free(one);
        free(other);
        free(three);
        arena_free(&arena);
    }
}

/* Functions in another order, and one that is not called. */
Test(program, same_in_another_order) {
    static const char MAIN[] =
        "  func.func public @main(%a: tensor<8x16xf32>, %b: tensor<16x8xf32>) -> tensor<8x8xf32> {\n"
        "    %0 = call @f(%a, %b) : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>\n"
        "    return %0 : tensor<8x8xf32>\n  }\n";
    static const char CALLED[] =
        "  func.func private @f(%x: tensor<8x16xf32>, %y: tensor<16x8xf32>) -> tensor<8x8xf32> {\n"
        "    %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<8x16xf32>, "
        "tensor<16x8xf32>) -> tensor<8x8xf32>\n    return %0 : tensor<8x8xf32>\n  }\n";
    static const char OTHER[] = "  func.func private @g(%x: tensor<4xf32>) -> tensor<4xf32> {\n    return %x : "
                                "tensor<4xf32>\n  }\n";
    Arena arena = {0};
    char *one = answered(arena_format(&arena, "module @m {\n%s%s}\n", MAIN, CALLED), 1);
    char *other = answered(arena_format(&arena, "module @m {\n%s%s%s}\n", OTHER, CALLED, MAIN), 1);
    cr_expect_str_eq(one, other);
    free(one);
    free(other);
    arena_free(&arena);
}

/* One step as three releases of JAX wrote it (jax/step.py): attributes behind regions and look-ups without batching
 * dimensions in the oldest, functions and casts of other names. All of it has rules, and weights are sharded alike. */
Test(program, text_of_three_releases) {
    static const char *const RELEASES[] = {"0.4.26", "0.5.3", "0.7.2"};
    enum { WEIGHTS = 3 };
    Spec first[WEIGHTS];
    for (size_t i = 0; i < COUNT_OF(RELEASES); i++) {
        Arena arena = {0};
        Error error = {0};
        Program program;
        ProgramAnswer answer;
        char *text;
        size_t length;
        const char *path = arena_format(&arena, SHARDOPT_SOURCE_DATA "/tests/search/program/jax/%s.mlir", RELEASES[i]);
        cr_assert(file_read(path, 1 << 20, &arena, &text, &length, &error) &&
                      program_read(text, length, RELEASES[i], &program, &error),
                  "%s: %s", error.where, error.text);
        ProgramQuestion question = question_of(&program);
        cr_assert(program_answer(&question, &arena, &answer, &error), "%s: %s", error.where, error.text);
        cr_assert(answer.best >= 0 && answer.proven && !answer.flow.unknown_trips);
        for (int64_t k = 0; k < answer.flow.nodes; k++) cr_expect_not(answer.flow.node[k].whole, "%s", RELEASES[i]);
        for (int k = 0; k < WEIGHTS; k++) {
            Spec spec = answer.choice[answer.best].spec[k];
            if (i == 0) first[k] = spec;
            cr_expect(spec == first[k], "%s: argument %d", RELEASES[i], k);
        }
        flow_free(&answer.flow);
        program_free(&program);
        arena_free(&arena);
    }
}

/* ---- the way from one sharding to another ---- */

/* Columns of 64 x 64 cut by x and y that are needed with rows cut by x: exchanged along x, then gathered along y. */
Test(program, a_step_for_each_collective) {
    FlowNode node = {.type = {.rank = 2, .bits = 32, .floats = true, .size = {64, 64}}};
    Flow flow = {.node = &node, .nodes = 1};
    LogicalMesh mesh = {.axes = 2, .size = {4, 4}, .ways = {1, 4, 4, 16}};
    ProgramMachine machine = {0};
    Setting setting = {&machine, &mesh, &flow, 1};
    FlowEdge edge = {.operand = 0, .view = {.map = {0, 1}}, .type = node.type};
    Spec columns = spec_with(spec_with(0, 0, 1), 1, 1), rows = spec_with(0, 0, 0), route[ROUTE_MAX];
    int steps = edge_route(&setting, &edge, columns, columns, rows, route);
    cr_expect(steps == 1 && route[0] == spec_with(spec_with(0, 0, 0), 1, 1), "%d: %x", steps, route[0]);
    cr_expect(edge_route(&setting, &edge, columns, columns, 0, route) == 0, "gathered at once");
    /* rows by x and columns by y, needed the other way round: one axis after the other */
    Spec mixed = spec_with(spec_with(0, 0, 0), 1, 1), other = spec_with(spec_with(0, 0, 1), 1, 0);
    steps = edge_route(&setting, &edge, mixed, mixed, other, route);
    cr_expect(steps == 1 && route[0] == spec_with(spec_with(0, 0, 1), 1, 1), "%d: %x", steps, route[0]);
    /* through a copy that is whole, and then cut again: the copy is a step */
    steps = edge_route(&setting, &edge, columns, 0, rows, route);
    cr_expect(steps == 1 && route[0] == 0, "%d: %x", steps, route[0]);
    /* a mask of it, as its numbers lie: else XLA gathers the numbers and compares everywhere */
    edge.type.floats = false;
    steps = edge_route(&setting, &edge, columns, columns, 0, route);
    cr_expect(steps == 1 && route[0] == columns, "%d: %x", steps, route[0]);
    edge.type.floats = true;
    /* the outer product of two vectors has one constraint more */
    node.matrix = true;
    node.flops = 2 * 64 * 64;
    steps = edge_route(&setting, &edge, columns, columns, rows, route);
    cr_expect(steps == 2 && route[1] == rows, "%d: %x", steps, route[1]);
}

/* A sum over x of 1024 rows that is to be cut by columns: what single matmuls of these widths sent, compiled by libtpu
 * 0.0.52 for 4x4 of v5e and v6e and 2x2x4 of v5p. */
Test(program, sums_that_xla_on_tpus_does_not_scatter) {
    static const struct {
        int bits, columns;
        bool inside, cut, scatters;
    } ROWS[] = {{16, 256, false, false, true},   {16, 512, false, false, false}, {16, 768, false, false, true},
                {16, 1024, false, false, true},  {16, 1024, false, true, false}, {32, 512, false, true, false},
                {16, 1536, false, false, false}, {16, 4096, false, false, true}, {32, 512, false, false, true},
                {16, 2048, true, false, false}};
    const LogicalMesh mesh = {.axes = 2, .size = {4, 4}, .ways = {1, 4, 4, 16}};
    const Factor columns = {.size = 0, .result = 1}, contracted = {.size = 64, .result = -1};
    for (size_t i = 0; i < COUNT_OF(ROWS); i++)
        for (int tpu = 0; tpu < 2; tpu++) {
            ProgramMachine machine = {.flops_per_second = 1, .hbm_bytes_per_second = 1, .mesh = {.devices = 16}};
            const Factor factors[] = {columns, contracted};
            FlowNode node = {.kind = FLOW_WORK, .factor = factors, .factors = 2, .trips = 1, .added_to = -1};
            node.is_cut = ROWS[i].cut;
            node.type = (TensorType){.rank = 2, .bits = ROWS[i].bits, .size = {1024, ROWS[i].columns}};
            Flow flow = {.node = &node, .nodes = 1};
            Setting setting = {&machine, &mesh, &flow, 1};
            Strategy strategy = {.out = spec_with(0, 0, 1), .factor = {1, (int8_t)(ROWS[i].inside ? 0 : -1), -1}};
            if (ROWS[i].inside) strategy.out = spec_with(strategy.out, 1, 1);
            Tally tally = {0};
            machine.profile.lanes = tpu ? 128 : 1;
            strategy_seconds(&setting, &node, &strategy, NULL, &tally);
            bool scattered = tally.bytes[COLLECTIVE_REDUCE_SCATTER] > 0;
            cr_expect(scattered == (!tpu || ROWS[i].scatters) && (tally.bytes[COLLECTIVE_ALL_REDUCE] > 0) == !scattered,
                      "%d bits, %d columns", ROWS[i].bits, ROWS[i].columns);
        }
}

/* ---- memory ---- */

#define MATMUL(to, a, b)                                                                                               \
    "    " to " = stablehlo.dot_general " a ", " b ", contracting_dims = [1] x [0] : (tensor<8x8xf32>, "               \
    "tensor<8x8xf32>) -> tensor<8x8xf32>\n"

/* The nth node that is a matmul. */
static const FlowNode *matmul_of(const Flow *flow, int which) {
    for (int64_t i = 0; i < flow->nodes; i++)
        if (flow->node[i].matrix && which-- == 0) return &flow->node[i];
    return NULL;
}

/* What a compiled matmul showed: its sum is cut by what slices it as it lies, also behind an element-wise function, but
 * not behind a transpose, nor by what makes it longer. */
Test(program, sums_of_which_a_slice_is_read) {
#define READER(text) BODY("%a: tensor<8x8xf32>, %z: tensor<f32>", "tensor<8x4xf32>", MATMUL("%d", "%a", "%a") text)
#define SLICE(of)                                                                                                      \
    "%s = stablehlo.slice " of " [0:8, 0:4] : (tensor<8x8xf32>) -> tensor<8x4xf32>\nreturn %s : tensor<8x4xf32>\n"
#define PAD(by, to)                                                                                                    \
    "%s = stablehlo.pad %d, %z, low = [0, 0], high = [0, " by "], interior = [0, 0] : (tensor<8x8xf32>, tensor<f32>) " \
    "-> " to "\nreturn %s : " to "\n"
    static const char *const CUT[] = {
        READER(SLICE("%d")), READER("%e = stablehlo.exponential %d : tensor<8x8xf32>\n" SLICE("%e")),
        READER(PAD("-4", "tensor<8x4xf32>")),
        READER("%t = stablehlo.transpose %d, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>\n" SLICE("%t")),
        READER(PAD("4", "tensor<8x12xf32>"))};
    for (int i = 0; i < 5; i++) {
        Arena arena = {0};
        Program program;
        Flow flow;
        Error error = {0};
        cr_assert(program_read(CUT[i], strlen(CUT[i]), "m", &program, &error) &&
                      flow_of_program(&program, &arena, &flow, &error),
                  "%s: %s", error.where, error.text);
        cr_expect(matmul_of(&flow, 0)->is_cut == (i < 3), "%d", i);
        flow_free(&flow);
        program_free(&program);
        arena_free(&arena);
    }
}

/* %0 is read by the first operation of a loop and is needed until its end, every time; %2, by matmuls alone, stays as
 * it is until the first of them, and as they need it from then until the last. */
Test(program, tensors_are_kept_until_they_are_last_read) {
    static const char TEXT[] = BODY(
        "%a: tensor<8x8xf32>, %b: tensor<8x8xf32>", "tensor<8x8xf32>",
        MATMUL("%0", "%a",
               "%b") "    %n = stablehlo.constant dense<0> : tensor<i32>\n"
                     "    %1:2 = stablehlo.while(%i = %n, %x = %a) : tensor<i32>, tensor<8x8xf32>\n    cond {\n"
                     "      %c = stablehlo.constant dense<3> : tensor<i32>\n"
                     "      %d = stablehlo.compare LT, %i, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
                     "      stablehlo.return %d : tensor<i1>\n    } do {\n" MATMUL("%y", "%x", "%0")
                         MATMUL("%z", "%y",
                                "%b") "      %o = stablehlo.constant dense<1> : tensor<i32>\n"
                                      "      %j = stablehlo.add %i, %o : tensor<i32>\n"
                                      "      stablehlo.return %j, %z : tensor<i32>, tensor<8x8xf32>\n    }\n" MATMUL(
                                          "%2", "%1#1", "%a") MATMUL("%3", "%2", "%a") MATMUL("%4", "%3", "%b")
                                          MATMUL("%5", "%4", "%2") "    return %5 : tensor<8x8xf32>\n");
    Arena arena = {0};
    Error error = {0};
    Program program;
    Flow flow;
    cr_assert(program_read(TEXT, strlen(TEXT), "p", &program, &error) &&
                  flow_of_program(&program, &arena, &flow, &error),
              "%s: %s", error.where, error.text);
    enum { BEFORE, FIRST_IN, LAST_IN, MADE, READS, BETWEEN, READS_LAST };
    const FlowNode *before = matmul_of(&flow, BEFORE), *made = matmul_of(&flow, MADE), *copy = NULL;
    cr_expect(before->to == made->from && before->to > matmul_of(&flow, LAST_IN)->from + 1, "%d", before->to);
    for (int64_t i = 0; i < flow.nodes; i++)
        if (flow.node[i].copied == (int)(made - flow.node)) copy = &flow.node[i];
    cr_assert(copy);
    int first = matmul_of(&flow, READS)->from, last = matmul_of(&flow, READS_LAST)->from;
    cr_expect(copy->from == first && copy->to == last + 1, "%d to %d", copy->from, copy->to);
    cr_expect_eq(made->to, first + 1);
    flow_free(&flow);
    program_free(&program);
    arena_free(&arena);
}

/* 8 x 16 of f32 in two arguments and their sum, which is a result: on 8 chips each takes 64 bytes of one at the least,
 * 192 in all, and 2 x 64 + 2 x 64 = 256 as compilers may have it. Below that it may fit, below 192 nothing does. */
Test(program, memory_that_fits_may_fit_or_does_not) {
    static const char TEXT[] =
        BODY("%a: tensor<8x16xf32>, %b: tensor<8x16xf32>", "tensor<8x16xf32>",
             "    %0 = stablehlo.add %a, %b : tensor<8x16xf32>\n    return %0 : tensor<8x16xf32>\n");
    static const struct {
        double limit;
        bool found, may_exceed;
    } CASES[] = {{256, true, false}, {255, true, true}, {192, true, true}, {191, false, false}};
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        Arena arena = {0};
        Error error = {0};
        Program program;
        ProgramAnswer answer;
        cr_assert(program_read(TEXT, strlen(TEXT), "p", &program, &error), "%s: %s", error.where, error.text);
        ProgramQuestion question = question_of(&program);
        question.priced.hbm_bytes = CASES[i].limit;
        cr_assert(program_answer(&question, &arena, &answer, &error));
        cr_expect((answer.best >= 0) == CASES[i].found && answer.may_exceed == CASES[i].may_exceed, "%g: %d %d",
                  CASES[i].limit, answer.best, answer.may_exceed);
        if (answer.best >= 0) {
            const ProgramChoice *best = &answer.choice[answer.best];
            cr_expect_float_eq(best->peak_bytes, 192, 1e-9);
            cr_expect_float_eq(best->peak_most_bytes, 256, 1e-9);
        }
        flow_free(&answer.flow);
        program_free(&program);
        arena_free(&arena);
    }
}

/* ---- beside it ---- */

/* State of 16 x 48 and of 16 x 40 on sixteen chips: FSDP cuts the longest dimension that divides, data parallelism none;
 * both cut the batch by its first. */
Test(program, references_cut_state_and_batch) {
    static const char TEXT[] =
        BODY("%w: tensor<16x48xf32> {tf.aliasing_output = 0 : i32}, %v: tensor<16x40xf32> {tf.aliasing_output = 1 : "
             "i32}, %x: tensor<32x16xf32>",
             "(tensor<16x48xf32>, tensor<16x40xf32>, tensor<32x48xf32>)",
             "    %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<32x16xf32>, "
             "tensor<16x48xf32>) -> tensor<32x48xf32>\n    return %w, %v, %y : tensor<16x48xf32>, tensor<16x40xf32>, "
             "tensor<32x48xf32>\n");
    Arena arena = {0};
    Error error = {0};
    Program program;
    ProgramAnswer answer;
    cr_assert(program_read(TEXT, strlen(TEXT), "p", &program, &error), "%s: %s", error.where, error.text);
    ProgramQuestion question = question_of(&program);
    cr_assert(program_answer(&question, &arena, &answer, &error));
    int64_t chips = question.priced.mesh.devices;
    cr_assert(48 % chips == 0 && 16 % chips == 0 && 32 % chips == 0, "%lld", (long long)chips);
    int second = 40 % chips == 0 ? 1 : 0;
    const Spec *data = answer.reference[REFERENCE_DATA].spec, *fsdp = answer.reference[REFERENCE_FSDP].spec;
    cr_assert(answer.reference[REFERENCE_DATA].found && answer.reference[REFERENCE_FSDP].found);
    cr_expect(data[0] == 0 && data[1] == 0 && data[2] == spec_with(0, 0, 0));
    cr_expect(fsdp[0] == spec_with(0, 0, 1) && fsdp[1] == spec_with(0, 0, second) && fsdp[2] == spec_with(0, 0, 0),
              "%x %x %x", fsdp[0], fsdp[1], fsdp[2]);
    flow_free(&answer.flow);
    program_free(&program);
    arena_free(&arena);
}

/* ---- annotated ---- */

Test(program, annotated_text_is_read_as_sharded) {
    static const char TEXT[] =
        BODY("%arg0: tensor<8x16xf32> {tf.aliasing_output = 0 : i32} loc(\"w\"), %arg1: tensor<8x16xf32>",
             "(tensor<8x16xf32> {jax.result_info = \"w\"})",
             "    %0 = stablehlo.add %arg0, %arg1 : tensor<8x16xf32>\n    return %0 : tensor<8x16xf32>\n");
    Arena arena = {0};
    Error error = {0};
    Program program;
    ProgramAnswer answer;
    char *text = NULL;
    size_t length = 0;
    cr_assert(program_read(TEXT, strlen(TEXT), "p", &program, &error), "%s: %s", error.where, error.text);
    ProgramQuestion question = question_of(&program);
    cr_assert(program_answer(&question, &arena, &answer, &error));
    FILE *out = memory_stream_open(&text, &length);
    cr_assert(program_annotate(&question, &answer, out, &error) && fclose(out) == 0);
    cr_expect(strstr(text, "sdy.mesh @mesh = <["), "%s", text);
    cr_expect(strstr(text, "{sdy.sharding = #sdy.sharding<@mesh, [") && strstr(text, "tf.aliasing_output = 0"), "%s",
              text);
    cr_expect(strstr(text, "%free_0 = stablehlo.add %arg0, %arg1") &&
                  strstr(text, "%0 = sdy.sharding_constraint %free_0 <@mesh, ["),
              "%s", text);
    free(text);
    flow_free(&answer.flow);
    program_free(&program);
    arena_free(&arena);
}

/* A bias that is cut, added to what is cut otherwise: it is gathered, and broadcast again behind that. What is as wide as
 * before, and what a matmul reads, is moved as it is. */
Test(program, annotated_text_moves_what_is_broadcast_before) {
    static const char TEXT[] =
        BODY("%b: tensor<64xf32>, %x: tensor<64x64xf32>", "tensor<64x64xf32>",
             "    %0 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<64xf32>) -> tensor<64x64xf32>\n"
             "    %1 = stablehlo.exponential %0 : tensor<64x64xf32>\n"
             "    %2 = stablehlo.add %x, %1 : tensor<64x64xf32>\n    return %2 : tensor<64x64xf32>\n");
    Arena arena = {0};
    Error error = {0};
    Program program;
    ProgramAnswer answer;
    char *text = NULL;
    size_t length = 0;
    cr_assert(program_read(TEXT, strlen(TEXT), "p", &program, &error), "%s: %s", error.where, error.text);
    ProgramQuestion question = question_of(&program);
    const FixedArgument fixed[] = {{0, {{"x", 1}}, 1}, {1, {{"x", 1}, {"", 0}}, 2}};
    question.fixed = fixed;
    question.fixed_count = 2;
    question.axes = 1;
    cr_assert(program_answer(&question, &arena, &answer, &error) && answer.best >= 0);
    FILE *out = memory_stream_open(&text, &length);
    cr_assert(program_annotate(&question, &answer, out, &error) && fclose(out) == 0);
    const char *says[] = {"%wide_3_2 = sdy.sharding_constraint %b <@mesh, [{}]> : tensor<64xf32>\n",
                          "%wide_3_1 = stablehlo.broadcast_in_dim %wide_3_2, dims = [1] : (tensor<64xf32>)",
                          "%wide_3_0 = stablehlo.exponential %wide_3_1 : tensor<64x64xf32>",
                          "sdy.sharding_constraint %wide_3_0 <@mesh, [{\"x\"}, {}]> : tensor<64x64xf32>\n",
                          "stablehlo.add %x, %need_"};
    const char *at = text;
    for (size_t i = 0; i < COUNT_OF(says); i++) {
        const char *found = at ? strstr(at, says[i]) : NULL;
        cr_expect(found, "%s lacks %s", text, says[i]);
        at = found;
    }
    free(text);
    flow_free(&answer.flow);
    program_free(&program);
    arena_free(&arena);
}

/* The line that made a tensor is the innermost frame of its location; gradients, and what has none, are left out. */
Test(program, python_names_lines_of_the_source) {
    static const char TEXT[] = "#loc1 = loc(\"w['a']\")\n" BODY(
        "%a: tensor<8x8xf32> loc(#loc1), %b: tensor<8x8xf32>", "tensor<8x8xf32>",
        "    %0 = stablehlo.add %a, %b : tensor<8x8xf32> loc(#loc9)\n"
        "    %1 = stablehlo.multiply %0, %b : tensor<8x8xf32> loc(#loc10)\n"
        "    %2 = stablehlo.add %1, %a : tensor<8x8xf32> loc(#loc8)\n"
        "    %3 = stablehlo.subtract %2, %b : tensor<8x8xf32> loc(\"in.py\":7:1)\n"
        "    %4 = stablehlo.maximum %3, %b : tensor<8x8xf32> loc(unknown)\n"
        "    %5 = stablehlo.minimum %4, %b : tensor<8x8xf32> loc(#loc11)\n"
        "    return %5 : tensor<8x8xf32>\n") "#loc4 = loc(\"my step.py\":12:3 to :9)\n#loc5 = loc(\"outer.py\":2:1)\n"
                                             "#loc6 = loc(\"f\"(#loc4))\n#loc7 = loc(callsite(#loc6 at #loc5))\n"
                                             "#loc8 = loc(\"jit(f)/add\"(#loc7))\n#loc9 = loc(\"jit(f)/x\"(#loc7))\n"
                                             "#loc10 = loc(\"jit(f)/transpose(jvp())/mul\"(#loc7))\n#loc11 = "
                                             "loc(#loc11)\n";
    for (int torch = 0; torch < 2; torch++) {
        Arena arena = {0};
        Error error = {0};
        Program program;
        ProgramAnswer answer;
        char *text = NULL;
        size_t length = 0;
        cr_assert(program_read(TEXT, strlen(TEXT), "p", &program, &error), "%s: %s", error.where, error.text);
        ProgramQuestion question = question_of(&program);
        cr_assert(program_answer(&question, &arena, &answer, &error));
        FILE *out = memory_stream_open(&text, &length);
        cr_assert(program_write_python(&question, &answer, torch, out, &error) && fclose(out) == 0);
        const ProgramChoice *best = &answer.choice[answer.best];
        bool rows = spec_dimension(best->spec[0], 0) == 0;
        const char *list = strstr(text, "constraints = ["),
                   *first = list ? strstr(list, "(\"my step.py\", 12, \"add\"") : NULL;
        cr_assert(first, "%s", text);
        cr_expect_not(strstr(first + 3, "my step.py"), "the second add is of the same line: %s", text);
        cr_expect(strstr(list, "(\"in.py\", 7, \"subtract\", \"tensor<8x8xf32>\", "), "%s", text);
        cr_expect(!strstr(text, "outer.py") && !strstr(text, "multiply") && !strstr(text, "imum"), "%s", text);
        const char *says =
            torch ? (rows ? "    (Shard(0)" : "    (Shard(1)") : (rows ? "    P('x', None)" : "    P(None, 'x')");
        cr_expect(best->mesh.axes > 1 || strstr(text, says), "%s lacks %s", text, says);
        cr_expect(strstr(text, torch ? "DeviceMesh(\"cuda\"" : "Mesh(numpy"), "%s", text);
        free(text);
        flow_free(&answer.flow);
        program_free(&program);
        arena_free(&arena);
    }
}
