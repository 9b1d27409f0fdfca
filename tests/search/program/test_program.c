/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt program` from text to answer: what is read and what is refused, answers that stay the same, and memory. */
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
        {HEAD "%a: tensor<4xf32>) -> tensor<4xf32> {\n", "\"x.y\"(%a) : (tensor<4xf32>) -> ()\n", "more than 200000",
         1000000},
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

/* Operands of a reduction of two tensors, in pairs in the text, are kept as the generic form has them. */
Test(program, pairs_are_kept_in_halves) {
    static const char TEXT[] =
        BODY("%a: tensor<4xf32>, %b: tensor<4xi32>, %x: tensor<f32>, %y: tensor<i32>", "tensor<f32>",
             "    %s = stablehlo.add %a, %a : tensor<4xf32>\n"
             "    %r:2 = stablehlo.reduce(%s init: %x), (%b init: %y) across dimensions = [0] : (tensor<4xf32>, "
             "tensor<4xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)\n"
             "     reducer(%p: tensor<f32>, %q: tensor<f32>) (%m: tensor<i32>, %n: tensor<i32>) {\n"
             "      stablehlo.return %p, %m : tensor<f32>, tensor<i32>\n    }\n    return %r#0 : tensor<f32>\n");
    static const char *const WORDS[] = {"%a", "%a", "%s", "%b", "%x", "%y"};
    Program program;
    Error error = {0};
    cr_assert(program_read(TEXT, strlen(TEXT), "p", &program, &error), "%s: %s", error.where, error.text);
    for (int i = 0; i < 6; i++) {
        cr_expect(piece_is(program.use[i], WORDS[i]), "%d: %.*s", i, program.use[i].length, program.use[i].at);
        cr_expect(piece_is(program.value[program.operand[i]].name, WORDS[i]), "%d", i);
    }
    program_free(&program);
}

/* A function that calls itself, through another one, one whose calls double thirty times, and two that return another
 * number of results, or do not return. */
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
#define CALLS(body)                                                                                                    \
    BODY("%a: tensor<4xf32>", "tensor<4xf32>",                                                                         \
         "    %b = call @f(%a) : (tensor<4xf32>) -> tensor<4xf32>\n    return %b : tensor<4xf32>\n  }\n  func.func "   \
         "private @f(%a: tensor<4xf32>) -> tensor<4xf32> {\n" body)
    const char *texts[] = {arena_format(&arena, "%s}\n", cyclic), arena_format(&arena, "%s}\n", doubling),
                           CALLS("    return %a, %a : tensor<4xf32>, tensor<4xf32>\n"),
                           CALLS("    %c = stablehlo.add %a, %a : tensor<4xf32>\n")};
    static const char *const says[] = {"calls itself", "those of every call counted", "does not return its results",
                                       "does not return its results"};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        Error error = {0};
        Program program;
        Flow flow = {0};
        cr_assert(program_read(texts[i], strlen(texts[i]), "p", &program, &error), "%s: %s", error.where, error.text);
        cr_expect(!flow_of_program(&program, &arena, &flow, &error) && strstr(error.text, says[i]), "%s", error.text);
        flow_free(&flow);
        program_free(&program);
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
    for (int64_t i = 0; i < flow.nodes; i++) {
        bool is_carry = flow.node[i].kind == FLOW_FREE && flow.node[i].value >= 0;
        cr_expect(!is_carry || flow.edge[flow.node[i].edge].from == 0, "the carry begins as the first argument");
        if (flow.node[i].copied == (int)(made - flow.node)) copy = &flow.node[i];
    }
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

/* A weight of 256 bytes on 8 chips that two matmuls read may be copied for both: a copy that is cut w ways takes
 * 256 / w beside an argument that is cut eight ways, and where it is cut so too it is that argument. */
Test(program, copies_of_arguments_in_the_graph) {
    static const char TEXT[] =
        BODY("%a: tensor<8x8xf32>, %b: tensor<8x8xf32>", "tensor<8x8xf32>",
             MATMUL("%0", "%a", "%b") MATMUL("%1", "%0", "%b") "    return %1 : tensor<8x8xf32>\n");
    Arena arena = {0};
    Error error = {0};
    Program program;
    ProgramAnswer answer;
    cr_assert(program_read(TEXT, strlen(TEXT), "p", &program, &error), "%s: %s", error.where, error.text);
    ProgramQuestion question = question_of(&program);
    cr_assert(program_answer(&question, &arena, &answer, &error));
    const LogicalMesh *mesh = &answer.meshes.mesh[0];
    Setting setting = {&question.priced, mesh, &answer.flow, 1};
    StrategyLists lists;
    StrategyGraph graph;
    double unit;
    int copies = 0;
    cr_assert(mesh->axes == 1 && mesh->size[0] == 8);
    cr_assert(strategies_list(&setting, &lists, &error) && strategies_graph(&setting, &lists, &graph, &unit, &error));
    for (int i = 0; i < answer.flow.nodes; i++) {
        const FlowNode *node = &answer.flow.node[i];
        bool argument = node->kind == FLOW_ARGUMENT;
        if (!argument && (node->copied < 0 || answer.flow.node[node->copied].kind != FLOW_ARGUMENT)) continue;
        copies += !argument;
        for (int k = lists.start[i]; k < lists.start[i + 1]; k++) {
            int ways = lists.strategy[k].out == 0 ? 1 : 8;
            cr_expect_eq(graph.usage[k], argument ? 256 / ways : 256 / ways - 32);
        }
    }
    cr_expect_eq(copies, 1);
    strategies_free(&lists);
    graph_free(&graph);
    flow_free(&answer.flow);
    program_free(&program);
    arena_free(&arena);
}

/* ---- beside it ---- */

/* State of 16 x 48 and of 16 x 40: FSDP cuts the longest dimension that divides, data parallelism none; both cut the
 * batch by its first. */
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
