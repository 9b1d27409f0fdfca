/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt program` from text to answer: what is read and what is refused, rules against shapes worked out by hand,
 * and small programs against every choice there is. */
#include "base/file.h"
#include "base/memory_stream.h"
#include "base/util.h"
#include "mesh/machine.h"
#include "search/program/answer.h"
#include "search/program/strategies.h"
#include "search/program/write.h"

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

/* ---- a machine ---- */

/* Four by two chips of made-up rates: computing, memory and links take about as long for matrices of these sizes, so
 * that each of them decides now and then. */
static void fill_machine(ProgramMachine *machine) {
    *machine = (ProgramMachine){.flops_per_second = 1e9, .hbm_bytes_per_second = 1e9, .hbm_bytes = 1e12};
    machine->mesh = (Mesh){.axis_count = 2, .chips = 8, .devices = 8};
    machine->mesh.axes[0] = (Axis){"x", AXIS_LINE, LEVEL_ICI, 4, 1e9, 1e-7};
    machine->mesh.axes[1] = (Axis){"y", AXIS_LINE, LEVEL_ICI, 2, 1e9, 1e-7};
}

static double no_time(void *context) { return (void)context, 0; }
static bool no_interrupt(void *context) { return (void)context, false; }

static ProgramQuestion question_of(const Program *program) {
    ProgramQuestion question = {.program = program, .axes = 2};
    fill_machine(&question.priced);
    question.machine.mesh = question.priced.mesh;
    question.control =
        (GraphControl){.seconds = no_time, .interrupted = no_interrupt, .time_limit = INFINITY, .effort = 0.1};
    return question;
}

/* ---- every choice ---- */

enum { NODES_MOST = 24, NODES_TRIED = 6 }; /* of a flow; of one whose every choice is tried */

typedef struct {
    const Setting *setting;
    double least;
    Spec fixed[2]; /* of the arguments */
    Spec out[NODES_MOST];
    Spec in[NODES_MOST][8];
} Every;

/* What has been paid for the edges between nodes that both have been chosen, up to node `at`. */
static double edges_into(const Every *every, int at) {
    const Flow *flow = every->setting->flow;
    double seconds = 0;
    for (int64_t i = 0; i < flow->edges; i++) {
        const FlowEdge *edge = &flow->edge[i];
        if ((edge->from > edge->to ? edge->from : edge->to) != at) continue;
        Spec need =
            edge->operand == FLOW_AS_NODE ? every->out[edge->to] : every->in[edge->to][i - flow->node[edge->to].edge];
        seconds += edge->trips * edge_seconds(every->setting, edge, every->out[edge->from], need, NULL);
    }
    return seconds;
}

static void choose(Every *every, int at, double paid);

/* One strategy of the node, in all the ways in which its partial sums can end. */
static void choose_ends(Every *every, int at, double paid, Strategy strategy, unsigned partial) {
    const FlowNode *node = &every->setting->flow->node[at];
    const LogicalMesh *mesh = every->setting->mesh;
    int ends[2];
    for (ends[0] = -1; ends[0] < (partial & 1 ? node->type.rank : 0); ends[0]++)
        for (ends[1] = -1; ends[1] < (partial & 2 ? node->type.rank : 0); ends[1]++) {
            Spec out = strategy.out;
            for (int a = 0; a < mesh->axes; a++)
                if (partial >> a & 1) out = spec_with(out, a, ends[a]);
            if (!spec_divides(mesh, node->type.rank, node->type.size, out)) continue;
            if (node->kind == FLOW_ARGUMENT && out != every->fixed[node->argument]) continue;
            Strategy ended = strategy;
            ended.out = every->out[at] = out;
            double own = node->trips * strategy_seconds(every->setting, node, &ended, every->in[at], NULL);
            choose(every, at + 1, paid + own + edges_into(every, at));
        }
}

static void choose(Every *every, int at, double paid) {
    const Flow *flow = every->setting->flow;
    const LogicalMesh *mesh = every->setting->mesh;
    if (paid >= every->least) return;
    if (at == flow->nodes) {
        every->least = paid;
        return;
    }
    const FlowNode *node = &flow->node[at];
    int choices = node->kind == FLOW_WORK ? node->factors : node->type.rank;
    int cut[2];
    for (cut[0] = -1; cut[0] < choices; cut[0]++)
        for (cut[1] = -1; cut[1] < (mesh->axes > 1 ? choices : 0); cut[1]++) {
            Strategy strategy = {.factor = {-1, -1, -1}};
            unsigned partial = 0;
            bool divides = true;
            memset(every->in[at], 0, sizeof every->in[at]);
            for (int a = 0; a < mesh->axes; a++) {
                if (cut[a] < 0) continue;
                int result = node->kind == FLOW_WORK ? node->factor[cut[a]].result : cut[a];
                if (node->kind == FLOW_WORK) strategy.factor[a] = (int8_t)cut[a];
                if (result >= 0)
                    strategy.out = spec_with(strategy.out, a, result);
                else
                    partial |= 1u << a;
                for (int i = 0; i < node->edges; i++)
                    every->in[at][i] = spec_with(every->in[at][i], a,
                                                 node->kind == FLOW_WORK
                                                     ? node->factor[cut[a]].operand[flow->edge[node->edge + i].operand]
                                                     : cut[a]);
                int64_t size = node->kind == FLOW_WORK ? node->factor[cut[a]].size : node->type.size[cut[a]];
                int64_t ways = cut[0] == cut[1] && mesh->axes > 1 ? mesh->size[0] * mesh->size[1] : mesh->size[a];
                divides = divides && size % ways == 0;
            }
            for (int i = 0; i < node->edges; i++) {
                const TensorType *type = &flow->edge[node->edge + i].type;
                divides = divides && spec_divides(mesh, type->rank, type->size, every->in[at][i]);
            }
            if (divides && spec_divides(mesh, node->type.rank, node->type.size, strategy.out))
                choose_ends(every, at, paid, strategy, partial);
        }
}

/* ---- random programs: matrices of 8 x 16 and 16 x 8, multiplied, added, transposed, summed ---- */

typedef struct {
    uint64_t state;
} Draws;
static int draw(Draws *draws, int most) {
    draws->state = draws->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((draws->state >> 33) % (uint64_t)most);
}

/* A program of at most eight operations on matrices of n x n, n 8 or 12, the first argument its own next state. Names
 * begin with `letter`. */
static const char *random_program(Draws *draws, Arena *arena, const char *letter) {
    int n = draw(draws, 2) ? 8 : 12, values = 2, ops = 1 + draw(draws, 5);
    const char *type = arena_format(arena, "tensor<%dx%dxf32>", n, 2 * n),
               *across = arena_format(arena, "tensor<%dx%dxf32>", 2 * n, n);
    bool is_across[16] = {false, draw(draws, 2)};
    const char *text = arena_format(arena, HEAD "%%%s0: %s {tf.aliasing_output = 0 : i32}, %%%s1: %s) -> (%s) {\n",
                                    letter, type, letter, is_across[1] ? across : type, type);
    for (int i = 0; i < ops; i++) {
        int a = draw(draws, values), b = draw(draws, values);
        const char *of_a = is_across[a] ? across : type, *of_b = is_across[b] ? across : type;
        if (is_across[a] == is_across[b] && draw(draws, 2)) {
            text = arena_format(arena, "%s    %%%s%d = stablehlo.add %%%s%d, %%%s%d : %s\n", text, letter, values,
                                letter, a, letter, b, of_a);
            is_across[values] = is_across[a];
        } else if (is_across[a] == is_across[b]) { /* a transposed view, then used like any other */
            text = arena_format(arena, "%s    %%%s%d = stablehlo.transpose %%%s%d, dims = [1, 0] : (%s) -> %s\n", text,
                                letter, values, letter, a, of_a, is_across[a] ? type : across);
            is_across[values] = !is_across[a];
        } else {
            const char *square =
                arena_format(arena, "tensor<%dx%dxf32>", is_across[a] ? 2 * n : n, is_across[a] ? 2 * n : n);
            text = arena_format(arena,
                                "%s    %%%ss%d = stablehlo.dot_general %%%s%d, %%%s%d, contracting_dims = [1] x [0] : "
                                "(%s, %s) -> %s\n    %%%s%d = stablehlo.dot_general %%%ss%d, %%%s%d, contracting_dims "
                                "= [1] x [0] : (%s, %s) -> %s\n",
                                text, letter, values, letter, a, letter, b, of_a, of_b, square, letter, values, letter,
                                values, letter, a, square, of_a, of_a);
            is_across[values] = is_across[a];
        }
        values++;
    }
    int last = values - 1;
    while (is_across[last]) last--;
    return arena_format(arena, "%s    return %%%s%d : %s\n  }\n}\n", text, letter, last, type);
}

Test(program, small_programs_equal_every_choice) {
    Draws draws = {39};
    int tried = 0;
    for (int turn = 0; turn < 500; turn++) {
        Arena arena = {0};
        Error error = {0};
        Program program;
        ProgramAnswer answer;
        const char *text = random_program(&draws, &arena, "v");
        cr_assert(program_read(text, strlen(text), "p", &program, &error), "%s: %s\n%s", error.where, error.text, text);
        ProgramQuestion question = question_of(&program);
        FixedArgument fixed[2]; /* x cuts one dimension of each argument, so that something has to be moved */
        Spec specs[2] = {0};
        for (int i = 0; i < 2; i++) {
            int cut = draw(&draws, 2);
            fixed[i] = (FixedArgument){.argument = i, .dimensions = 2};
            fixed[i].cut[cut] = (Piece){"x", 1};
            specs[i] = spec_with(0, 0, cut);
        }
        question.fixed = fixed;
        question.fixed_count = 2;
        cr_assert(program_answer(&question, &arena, &answer, &error), "%s: %s\n%s", error.where, error.text, text);
        cr_assert(answer.proven && answer.flow.nodes <= NODES_MOST, "%s", text);
        int meshes = answer.flow.nodes <= NODES_TRIED ? answer.meshes.count : 0;
        tried += meshes > 0;
        for (int m = 0; m < meshes; m++) {
            const ProgramChoice *choice = &answer.choice[m];
            if (!choice->found && isinf(choice->bound)) continue; /* what is fixed does not divide */
            double found = choice->found ? choice->seconds : choice->bound; /* else: none is better than another's */
            Setting setting = {&question.priced, &answer.meshes.mesh[m], &answer.flow, 1};
            Every every = {.setting = &setting,
                           .fixed = {specs[0], specs[1]},
                           .least = found * (1 + 1e-6) + 1e-10};
            double most = every.least;
            choose(&every, 0, 0);
            cr_expect(choice->found ? every.least < most && fabs(every.least - found) < 1e-10
                                    : every.least > found - 1e-10,
                      "mesh %d: %.12g s, every choice %.12g s of\n%s", m, found, every.least, text);
        }
        flow_free(&answer.flow);
        program_free(&program);
        arena_free(&arena);
    }
    cr_expect(tried >= 150, "%d", tried);
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
        Draws draws = {(uint64_t)turn}, again = draws;
        const char *text = random_program(&draws, &arena, "v"), *renamed = random_program(&again, &arena, "other_");
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

/* ---- memory ---- */

/* 8 x 16 of f32 in two arguments and their sum, which is a result: on 8 chips each takes 64 bytes of one at the least,
 * 192 in all, and 2 x 64 + 2.7 x 64 = 300.8 as compilers may have it. Below that it may fit, below 192 nothing does. */
Test(program, memory_that_fits_may_fit_or_does_not) {
    static const char TEXT[] =
        BODY("%a: tensor<8x16xf32>, %b: tensor<8x16xf32>", "tensor<8x16xf32>",
             "    %0 = stablehlo.add %a, %b : tensor<8x16xf32>\n    return %0 : tensor<8x16xf32>\n");
    static const struct {
        double limit;
        bool found, may_exceed;
    } CASES[] = {{301, true, false}, {300, true, true}, {192, true, true}, {191, false, false}};
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
            cr_expect_float_eq(best->peak_most_bytes, 300.8, 1e-9);
        }
        flow_free(&answer.flow);
        program_free(&program);
        arena_free(&arena);
    }
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
