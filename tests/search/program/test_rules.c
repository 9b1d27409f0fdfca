/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules of operations against shapes worked out by hand, those of a user, and what does not fit. */
#include "base/file.h"
#include "base/util.h"
#include "search/program/rules.h"
#include "tests/search/program/small.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* ---- rules: factors as "size:result:operands", the place of each dimension of a view, and what else it says ---- */

#define CONVOLUTION(numbers, batches, features)                                                                        \
    "stablehlo.convolution(%a, %b) dim_numbers = " numbers ", window = {} {batch_group_count = " #batches              \
    " : i64, feature_group_count = " #features " : i64} : "

static const struct {
    const char *name, *arguments, *op, *factors;
} RULED[] = {
    {"batched matmul", "%a: tensor<2x8x4xf32>, %b: tensor<2x4x16xf32>",
     "stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x8x4xf32>, "
     "tensor<2x4x16xf32>) -> tensor<2x8x16xf32>",
     "2:0:00 8:1:1- 16:2:-2 4:-:21 2048 FLOPs"},
    {"the same, generic", "%a: tensor<2x8x4xf32>, %b: tensor<2x4x16xf32>",
     "\"stablehlo.dot_general\"(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], "
     "rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : "
     "(tensor<2x8x4xf32>, tensor<2x4x16xf32>) -> tensor<2x8x16xf32>",
     "2:0:00 8:1:1- 16:2:-2 4:-:21 2048 FLOPs"},
    {"convolution", "%a: tensor<8x32x32x4xf32>, %b: tensor<3x3x4x16xf32>",
     "stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], "
     "[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x32x32x4xf32>, "
     "tensor<3x3x4x16xf32>) -> tensor<8x32x32x16xf32>",
     "8:0:0- 16:3:-3 4:-:32 9437184 FLOPs"},
    {"sum of rows", "%a: tensor<8x4xf32>, %b: tensor<f32>",
     "stablehlo.reduce(%a init: %b) applies stablehlo.add across dimensions = [1] : (tensor<8x4xf32>, tensor<f32>) -> "
     "tensor<8xf32>",
     "8:0:0- 4:-:1-"},
    {"look-up", "%a: tensor<100x16xf32>, %b: tensor<8x1xi32>",
     "\"stablehlo.gather\"(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = "
     "[0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 16>}> : (tensor<100x16xf32>, "
     "tensor<8x1xi32>) -> tensor<8x16xf32>",
     "16:1:1- 8:0:-0 100:-:0- rows"},
    {"look-up by numbers that are no vectors", "%a: tensor<100x16xf32>, %b: tensor<8xi32>",
     "\"stablehlo.gather\"(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = "
     "[0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 16>}> : (tensor<100x16xf32>, "
     "tensor<8xi32>) -> tensor<8x16xf32>",
     "16:1:1- 8:0:-0 100:-:0- rows"},
    {"an update of a row", "%a: tensor<8x16xf32>, %b: tensor<1x16xf32>, %c: tensor<i32>",
     "stablehlo.dynamic_update_slice %a, %b, %c, %c : (tensor<8x16xf32>, tensor<1x16xf32>, tensor<i32>, tensor<i32>) "
     "-> tensor<8x16xf32>",
     "16:1:11-- in place"},
    {"joined along 1", "%a: tensor<8x4xf32>, %b: tensor<8x4xf32>",
     "stablehlo.concatenate %a, %b, dim = 1 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>", "8:0:00"},
    {"a scalar chooses", "%p: tensor<i1>, %a: tensor<8x4xf32>, %b: tensor<8x4xf32>",
     "stablehlo.select %p, %a, %b : tensor<i1>, tensor<8x4xf32>", "8:0:-00 4:1:-11"},
    {"a matmul of old", "%a: tensor<8x4xf32>, %b: tensor<4x16xf32>",
     "\"stablehlo.dot\"(%a, %b) : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>",
     "8:0:0- 16:1:-1 4:-:10 1024 FLOPs"},
    {"two batches, two contracted", "%a: tensor<2x3x8x4x5xf32>, %b: tensor<3x2x5x4x16xf32>",
     "stablehlo.dot_general %a, %b, batching_dims = [0, 1] x [1, 0], contracting_dims = [3, 4] x [3, 2] : "
     "(tensor<2x3x8x4x5xf32>, tensor<3x2x5x4x16xf32>) -> tensor<2x3x8x16xf32>",
     "2:0:01 3:1:10 8:2:2- 16:3:-4 4:-:33 5:-:42 30720 FLOPs"},
    {"an outer product", "%a: tensor<8xf32>, %b: tensor<16xf32>",
     "stablehlo.dot_general %a, %b, contracting_dims = [] x [] : (tensor<8xf32>, tensor<16xf32>) -> tensor<8x16xf32>",
     "8:0:0- 16:1:-0 256 FLOPs"},
    {"convolution, features first", "%a: tensor<8x4x32x32xf32>, %b: tensor<16x4x3x3xf32>",
     CONVOLUTION("[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]", 1, 1) "(tensor<8x4x32x32xf32>, tensor<16x4x3x3xf32>) -> "
                                                                  "tensor<8x16x32x32xf32>",
     "8:0:0- 16:1:-0 4:-:11 9437184 FLOPs"},
    {"gradient of its weights", "%a: tensor<8x32x32x4xf32>, %b: tensor<8x32x32x16xf32>",
     CONVOLUTION("[f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f]", 1, 1) "(tensor<8x32x32x4xf32>, tensor<8x32x32x16xf32>) -> "
                                                                  "tensor<3x3x4x16xf32>",
     "4:2:3- 16:3:-3 8:-:00 9437184 FLOPs"},
    {"a filter for each channel", "%a: tensor<8x32x32x4xf32>, %b: tensor<3x3x1x4xf32>",
     CONVOLUTION("[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]", 1, 4) "(tensor<8x32x32x4xf32>, tensor<3x3x1x4xf32>) -> "
                                                                  "tensor<8x32x32x4xf32>",
     "8:0:0- 4:3:33 589824 FLOPs"},
    {"its gradient, in groups of the batch", "%a: tensor<8x32x32x3xf32>, %b: tensor<32x32x3x4xf32>",
     CONVOLUTION("[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]", 4, 1) "(tensor<8x32x32x3xf32>, tensor<32x32x3x4xf32>) -> "
                                                                  "tensor<2x3x3x4xf32>",
     "4:3:03 442368 FLOPs"},
    {"sum of the outer dimensions", "%a: tensor<2x8x4xf32>, %b: tensor<f32>",
     "stablehlo.reduce(%a init: %b) applies stablehlo.add across dimensions = [0, 2] : (tensor<2x8x4xf32>, "
     "tensor<f32>) -> tensor<8xf32>",
     "2:-:0- 8:0:1- 4:-:2-"},
    {"two tensors are reduced together", "%a: tensor<8x4xf32>, %b: tensor<8x4xi32>, %x: tensor<f32>, %y: tensor<i32>",
     "\"stablehlo.reduce\"(%a, %b, %x, %y) <{dimensions = array<i64: 1>}> : (tensor<8x4xf32>, tensor<8x4xi32>, "
     "tensor<f32>, tensor<i32>) -> (tensor<8xf32>, tensor<8xi32>)",
     "8:0:00--"},
    {"turned", "%a: tensor<2x8x4xf32>",
     "stablehlo.transpose %a, dims = [2, 0, 1] : (tensor<2x8x4xf32>) -> tensor<4x2x8xf32>", "view 201"},
    {"repeated", "%a: tensor<8xf32>",
     "stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<8xf32>) -> tensor<2x8x4xf32>", "view -0"},
    {"a dimension of 1 is repeated", "%a: tensor<1x8xf32>",
     "stablehlo.broadcast_in_dim %a, dims = [0, 2] : (tensor<1x8xf32>) -> tensor<4x2x8xf32>", "view --1"},
    {"bits as bytes", "%a: tensor<8x4xf32>", "stablehlo.bitcast_convert %a : (tensor<8x4xf32>) -> tensor<8x4x4xui8>",
     "view 01"},
    {"padded", "%a: tensor<8x4xf32>, %b: tensor<f32>",
     "stablehlo.pad %a, %b, low = [0, 1], high = [0, 1], interior = [0, 0] : (tensor<8x4xf32>, tensor<f32>) -> "
     "tensor<8x6xf32>",
     "8:0:0- rows"},
    {"turned round", "%a: tensor<8x4xf32>", "stablehlo.reverse %a, dims = [0] : tensor<8x4xf32>", "4:1:1"},
    {"sorted", "%a: tensor<8x4xf32>, %b: tensor<8x4xi32>",
     "\"stablehlo.sort\"(%a, %b) <{dimension = 0 : i64}> : (tensor<8x4xf32>, tensor<8x4xi32>) -> (tensor<8x4xf32>, "
     "tensor<8x4xi32>)",
     "4:1:11"},
    {"sorted along the last", "%a: tensor<8x4xf32>", "\"stablehlo.sort\"(%a) : (tensor<8x4xf32>) -> tensor<8x4xf32>",
     "8:0:0"},
    {"a window", "%a: tensor<8x32x32x4xf32>, %b: tensor<f32>",
     "\"stablehlo.reduce_window\"(%a, %b) <{window_dimensions = array<i64: 1, 3, 3, 1>}> : (tensor<8x32x32x4xf32>, "
     "tensor<f32>) -> tensor<8x32x32x4xf32>",
     "8:0:0- 4:3:3-"},
    {"its gradient", "%a: tensor<8x32x32x4xf32>, %b: tensor<8x16x32x4xf32>, %c: tensor<f32>",
     "\"stablehlo.select_and_scatter\"(%a, %b, %c) <{window_dimensions = array<i64: 1, 2, 1, 1>}> : "
     "(tensor<8x32x32x4xf32>, tensor<8x16x32x4xf32>, tensor<f32>) -> tensor<8x32x32x4xf32>",
     "8:0:00- 32:2:22- 4:3:33-"},
    {"factors of each matrix", "%a: tensor<3x8x8xf32>", "stablehlo.cholesky %a, lower = true : tensor<3x8x8xf32>",
     "3:0:0"},
    {"a system of each matrix", "%a: tensor<3x8x8xf32>, %b: tensor<3x8x8xf32>",
     "\"stablehlo.triangular_solve\"(%a, %b) <{left_side = true}> : (tensor<3x8x8xf32>, tensor<3x8x8xf32>) -> "
     "tensor<3x8x8xf32>",
     "3:0:00"},
    {"waves in three dimensions", "%a: tensor<3x8x8x8xcomplex<f32>>",
     "stablehlo.fft %a, type = FFT, length = [8, 8, 8] : (tensor<3x8x8x8xcomplex<f32>>) -> "
     "tensor<3x8x8x8xcomplex<f32>>",
     "3:0:0"},
    {"the largest of a row", "%a: tensor<3x5x8xf32>",
     "\"chlo.top_k\"(%a) <{k = 8 : i64}> : (tensor<3x5x8xf32>) -> (tensor<3x5x8xf32>, tensor<3x5x8xi32>)",
     "3:0:0 5:1:1"},
    {"a look-up in each batch", "%a: tensor<2x100x16xf32>, %b: tensor<2x8x1xi32>",
     "\"stablehlo.gather\"(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = "
     "[1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = "
     "2>, slice_sizes = array<i64: 1, 1, 16>}> : (tensor<2x100x16xf32>, tensor<2x8x1xi32>) -> tensor<2x8x16xf32>",
     "16:2:2- 2:0:00 8:1:-1 100:-:1- rows"},
    {"numbers in the first dimension, a part of a row", "%a: tensor<100x16xf32>, %b: tensor<1x8xi32>",
     "\"stablehlo.gather\"(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = "
     "[0], start_index_map = [0], index_vector_dim = 0>, slice_sizes = array<i64: 1, 4>}> : (tensor<100x16xf32>, "
     "tensor<1x8xi32>) -> tensor<8x4xf32>",
     "8:0:-1 100:-:0- rows"},
    {"added to rows", "%a: tensor<100x16xf32>, %b: tensor<8x1xi32>, %c: tensor<8x16xf32>",
     "\"stablehlo.scatter\"(%a, %b, %c) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], "
     "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> : "
     "(tensor<100x16xf32>, tensor<8x1xi32>, tensor<8x16xf32>) -> tensor<100x16xf32>",
     "16:1:1-1 8:-:-00 100:0:0-- in place"},
    {"the same in each batch", "%a: tensor<2x100x16xf32>, %b: tensor<2x8x1xi32>, %c: tensor<2x8x16xf32>",
     "\"stablehlo.scatter\"(%a, %b, %c) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], "
     "inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], "
     "scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> : (tensor<2x100x16xf32>, tensor<2x8x1xi32>, "
     "tensor<2x8x16xf32>) -> tensor<2x100x16xf32>",
     "16:2:2-2 2:0:000 8:-:-11 100:1:1-- in place"},
    {"a function of JAX's", "%a: tensor<8x4xf32>",
     "stablehlo.custom_call @mhlo.erf(%a) : (tensor<8x4xf32>) -> tensor<8x4xf32>", "8:0:0 4:1:1"},
    {"its random numbers", "%a: tensor<8xui32>, %b: tensor<8xui32>",
     "stablehlo.custom_call @cu_threefry2x32(%a, %b) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>", "8:0:00"},
    {"no function of JAX's", "%a: tensor<8x4xf32>",
     "stablehlo.custom_call @mhlo.er(%a) : (tensor<8x4xf32>) -> tensor<8x4xf32>", ""},
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
    int last = PROGRAM_RANK_MAX;
    while (rule->kind == RULE_VIEW && last > 0 && rule->view[last - 1] < 0) last--;
    if (rule->kind == RULE_VIEW) text += sprintf(text, "view ");
    for (int d = 0; rule->kind == RULE_VIEW && d < last; d++)
        text += rule->view[d] < 0 ? sprintf(text, "-") : sprintf(text, "%d", rule->view[d]);
    if (rule->flops > 0) text += sprintf(text, " %.0f FLOPs", rule->flops);
    if (rule->reads_rows) text += sprintf(text, " rows");
    if (rule->in_place) text += sprintf(text, " in place");
}

Test(rules, rules_by_hand) {
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

/* An attribute's name counts as a whole word alone. */
Test(rules, names_of_attributes) {
    for (const char *c = "azAZ09_."; *c; c++)
        for (int behind = 0; behind < 2; behind++) {
            char text[64];
            int64_t value = 0;
            if (behind)
                snprintf(text, sizeof text, "x dims%c = [7], dims = [3]", *c);
            else
                snprintf(text, sizeof text, "x %cdims = [7], dims = [3]", *c);
            const ProgramOp op = {.text = {text, (int)strlen(text)}};
            cr_expect(op_whole_list(&op, "dims", false, &value, 1) == 1 && value == 3, "%s", text);
        }
}

/* Which dimension each of the result's is, by reshapes: the outermost of what is joined or split, those of 1 aside. */
Test(rules, views_of_reshapes) {
    static const struct {
        const char *from, *to, *view;
    } ROWS[] = {{"4x8", "32", "0"},        {"32", "4x8", "0-"},         {"2x4x8", "8x8", "02"},
                {"8x8", "2x4x8", "0-1"},   {"1x4x8", "4x1x8", "1-2"},   {"4x8", "1x1x4x8", "--01"},
                {"4x6", "8x3", "0-"},      {"1x4x2", "8x1", "1-"},      {"8", "1x2x4", "-0-"},
                {"2x3x4x5", "6x20", "02"}, {"6x20", "2x3x4x5", "0-1-"}, {"1x2x4", "8", "1"},
                {"8", "2x1x4", "0--"},     {"2x1x2x4", "2x8", "02"},    {"3x4", "2x6", "0-"}};
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Arena arena = {0};
        Error error = {0};
        Program program;
        OpRule rule;
        const char *text =
            arena_format(&arena,
                         HEAD "%%a: tensor<%sxf32>) {\n    %%r = stablehlo.reshape %%a : (tensor<%sxf32>) "
                              "-> tensor<%sxf32>\n    return\n  }\n}\n",
                         ROWS[i].from, ROWS[i].from, ROWS[i].to);
        cr_assert(program_read(text, strlen(text), "p", &program, &error) &&
                      op_rule(&program, &program.op[0], &arena, &rule, &error),
                  "%s", error.text);
        cr_expect(rule.kind == RULE_VIEW);
        for (int d = 0; ROWS[i].view[d]; d++)
            cr_expect_eq(rule.view[d], ROWS[i].view[d] == '-' ? -1 : ROWS[i].view[d] - '0', "%s to %s: %d is %d",
                         ROWS[i].from, ROWS[i].to, d, rule.view[d]);
        program_free(&program);
        arena_free(&arena);
    }
}

/* What does not fit its attributes is no rule, but an error at the operation. */
Test(rules, operations_that_do_not_fit) {
    static const char *const OPS[] = {
        "stablehlo.dot_general %a, contracting_dims = [1] x [0] : (tensor<8x8xf32>) -> tensor<8x8xf32>",
        "\"stablehlo.dot\"(%a, %a, %a) : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>",
        "stablehlo.dot_general %a, %a, contracting_dims = [2] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> "
        "tensor<8x8xf32>",
        "\"stablehlo.gather\"(%a) : (tensor<8x8xf32>) -> tensor<8x8xf32>",
        "stablehlo.dot_general %a, %b, contracting_dims = [0] x [1] : (tensor<8x8xf32>, tensor<8x4xf32>) -> "
        "tensor<8x8xf32>",
        "stablehlo.dot_general %a, %b, contracting_dims = [0, 1] x [0] : (tensor<8x8xf32>, tensor<8x4xf32>) -> "
        "tensor<4xf32>",
        "stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x4xf32>) -> "
        "tensor<8xf32>",
        "stablehlo.transpose %a, dims = [1] : (tensor<8x8xf32>) -> tensor<8x8xf32>",
        "stablehlo.transpose %a, dims = [1, 2] : (tensor<8x8xf32>) -> tensor<8x8xf32>",
        "stablehlo.transpose %a, dims = [-1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>",
        "stablehlo.broadcast_in_dim %b, dims = [0, 1] : (tensor<8x4xf32>) -> tensor<8x8xf32>",
        "stablehlo.broadcast_in_dim %b, dims = [0] : (tensor<8x4xf32>) -> tensor<8x4xf32>",
        "stablehlo.reshape %a : (tensor<8x8xf32>) -> tensor<63xf32>",
        "\"stablehlo.reduce\"(%a, %a) <{dimensions = array<i64: 2>}> : (tensor<8x8xf32>, tensor<8x8xf32>) -> "
        "tensor<8xf32>",
        "\"stablehlo.reduce\"(%a, %a) <{dimensions = array<i64: 1>}> : (tensor<8x8xf32>, tensor<8x8xf32>) -> "
        "tensor<8x8xf32>",
        "\"stablehlo.reduce\"(%a) <{dimensions = array<i64: 1>}> : (tensor<8x8xf32>) -> tensor<8xf32>",
        "stablehlo.convolution(%a, %b) : (tensor<8x8xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>",
        "stablehlo.convolution(%a, %b) dim_numbers = [b, f]x[i, x]->[b, f] : (tensor<8x8xf32>, tensor<8x4xf32>) -> "
        "tensor<8x4xf32>",
        "stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[i, o]->[b, f] : (tensor<8x8xf32>, tensor<8x4xf32>) -> "
        "tensor<8x4xf32>",
        "stablehlo.convolution(%a, %b) dim_numbers = [b, f]x[i, 0, o]->[b, f] : (tensor<8x8xf32>, tensor<8x4xf32>) -> "
        "tensor<8x4xf32>",
        "stablehlo.convolution(%a, %b) dim_numbers = [b, f]x[i, o]->[b, 0, f] : (tensor<8x8xf32>, tensor<8x4xf32>) -> "
        "tensor<8x4xf32>",
        "\"stablehlo.gather\"(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], "
        "collapsed_slice_dims = [0], index_vector_dim = 1>}> : (tensor<8x8xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>",
        "\"stablehlo.gather\"(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], "
        "collapsed_slice_dims = [0], index_vector_dim = 2>}> : (tensor<8x8xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>",
        "\"stablehlo.gather\"(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], operand_batching_dims "
        "= [0], index_vector_dim = 1>}> : (tensor<8x8xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>"};
    for (size_t i = 0; i < COUNT_OF(OPS); i++) {
        Arena arena = {0};
        Error error = {0};
        Program program;
        OpRule rule;
        const char *text = arena_format(
            &arena, HEAD "%%a: tensor<8x8xf32>, %%b: tensor<8x4xf32>) {\n    %%r = %s\n    return\n  }\n}\n", OPS[i]);
        cr_assert(program_read(text, strlen(text), "p", &program, &error), "%zu: %s: %s", i, error.where, error.text);
        cr_expect_not(op_rule(&program, &program.op[0], &arena, &rule, &error), "%zu", i);
        cr_expect(strcmp(error.where, "p:3:5") == 0 && strstr(error.text, "do not fit"), "%zu: %s", i, error.text);
        program_free(&program);
        arena_free(&arena);
    }
}

/* Lines of --rules for a custom_call of [32, 128, 8] and [32, 256, 8] with two results; NULL: it does not fit. */
Test(rules, rules_of_a_user) {
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
Test(rules, page_has_the_rules) {
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
