/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The text that comes out: with its shardings, and as Python. */
#include "base/memory_stream.h"
#include "base/util.h"
#include "search/program/write.h"
#include "tests/search/program/small.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

Test(write, annotated_text_is_read_as_sharded) {
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

/* A bias that is cut, added to what is cut otherwise: it is gathered, and broadcast again behind that. */
Test(write, annotated_text_moves_what_is_broadcast_before) {
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
Test(write, python_names_lines_of_the_source) {
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
        cr_expect(strstr(text, "order = [0, "), "the first place is that of the first chip: %s", text);
        cr_expect(strstr(text, torch ? "DeviceMesh(\"cuda\"" : "Mesh(numpy"), "%s", text);
        free(text);
        flow_free(&answer.flow);
        program_free(&program);
        arena_free(&arena);
    }
}
