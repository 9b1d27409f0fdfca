/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the tensors of a program need of each other, and when they are held, worked out by hand: moments count
 * operations as they are followed, those of calls and bodies too, and what stays to the end does so for one more. */
#include "base/arena.h"
#include "base/util.h"
#include "search/program/flow.h"
#include "tests/search/program/small.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define M "tensor<8x8xf32>"
#define H "tensor<8x8xbf16>"
#define OP(to, text, type) to " = stablehlo." text " : " type "\n"
#define ADD(to, a, b) OP(to, "add " a ", " b, M)
#define DOT(to, a, b, type)                                                                                            \
    OP(to, "dot_general " a ", " b ", contracting_dims = [1] x [0]", "(" type ", " type ") -> " type)
#define NARROW(to, a) OP(to, "convert " a, "(" M ") -> " H)
#define RETURN(of, type) "return " of " : " type "\n"
#define ZERO "%n = stablehlo.constant dense<0> : tensor<i32>\n"
/* A scan of n steps whose body makes `last` of x; four operations and those of the body. */
#define LOOP(to, i, x, from, n, body, last)                                                                            \
    to ":2 = stablehlo.while(" i " = %n, " x " = " from ") : tensor<i32>, " M "\ncond {\n"                             \
       "%c = stablehlo.constant dense<" n "> : tensor<i32>\n"                                                          \
       "%d = stablehlo.compare LT, " i ", %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"                     \
       "stablehlo.return %d : tensor<i1>\n} do {\n" body "%o = stablehlo.constant dense<1> : tensor<i32>\n"            \
       "%j = stablehlo.add " i ", %o : tensor<i32>\nstablehlo.return %j, " last " : tensor<i32>, " M "\n}\n"

/* Nodes: a(rgument), f(ree) or w(ork), its moments, *trips, h(eld) in so many bits, m(atrix), p(ointwise), c(ut),
 * r(esult of an argument), s(ums are taken), i (reads rows), x (scatters), ? (whole), +its addition, =what it is a
 * copy of. Edges: from>to, the operand, the node's dimension of each of the view's, *trips. */
static const struct {
    const char *name, *arguments, *ops, *flow;
} ROWS[] = {
    {"a matmul's function, and a shared matrix", "%a: " M ", %b: " M,
     DOT("%0", "%a", "%b", M) OP("%1", "exponential %0", M) DOT("%2", "%1", "%b", M) RETURN("%2", M),
     "a0-5h32 a0-5h32 w1-4h32m w3-5h32m f1-4h32=1 | 0>2.0:01 4>2.1:01 2>3.0:01 4>3.1:01 1>4:01"},
    {"an addition that a matmul reads", "%a: " M ", %b: " M,
     ADD("%0", "%a", "%b") DOT("%1", "%0", "%b", M) RETURN("%1", M),
     "a0-4h32 a0-4h32 w1-3h32p w2-4h32m | 0>2.0:01 1>2.1:01 2>3.0:01 1>3.1:01"},
    {"what is fused takes no memory, and its operands stay", "%a: " M ", %b: " M ", %z: tensor<f32>",
     ADD("%0", "%a", "%b") OP("%1", "multiply %0, %b", M)
         OP("%2", "reduce(%1 init: %z) applies stablehlo.add across dimensions = [1]",
            "(" M ", tensor<f32>) -> tensor<8xf32>") RETURN("%2", "tensor<8xf32>"),
     "a0-5h32 a0-5h32 a0-5h32 w1-4p w2-4p w3-5h32 | 0>3.0:01 1>3.1:01 3>4.0:01 1>4.1:01 4>5.0:01"},
    {"a weight's cast is a copy", "%a: " M ", %b: " H, NARROW("%0", "%a") DOT("%1", "%0", "%b", H) RETURN("%1", H),
     "a0-4h32 a0-4h16 f1-3h16 w2-4h16m | 0>2:01 2>3.0:01 1>3.1:01"},
    {"a bias' is none", "%a: tensor<8xf32>, %b: " H,
     OP("%0", "convert %a", "(tensor<8xf32>) -> tensor<8xbf16>") OP(
         "%1", "broadcast_in_dim %0, dims = [1]", "(tensor<8xbf16>) -> " H) OP("%2", "add %1, %b", H) RETURN("%2", H),
     "a0-5h32 a0-5h16 w3-5h16p | 0>2.0:-0 1>2.1:01"},
    {"sums that are added", "%a: " M ", %b: " M,
     DOT("%0", "%a", "%b", M) DOT("%1", "%b", "%a", M) ADD("%2", "%0", "%1") DOT("%3", "%a", "%a", M)
         ADD("%4", "%2", "%3") RETURN("%4", M),
     "a0-7h32 a0-7h32 w1-6h32m+4 w2-6h32m+4 w3-6ps+6 w4-6h32m+6 w5-7h32ps f1-5h32=0 f1-3h32=1 | 7>2.0:01 8>2.1:01 "
     "8>3.0:01 7>3.1:01 2>4.0:01 3>4.1:01 7>5.0:01 7>5.1:01 4>6.0:01 5>6.1:01 0>7:01 1>8:01"},
    {"sums that another reads too, or that are no sums", "%a: " M ", %b: " M,
     DOT("%0", "%a", "%b", M) ADD("%1", "%0", "%0") ADD("%2", "%1", "%a") RETURN("%2", M),
     "a0-5h32 a0-5h32 w1-4h32m w2-4p w3-5h32p | 0>2.0:01 1>2.1:01 2>3.0:01 2>3.1:01 3>4.0:01 0>4.1:01"},
    {"the second result is the argument's next state", "%a: " M " {tf.aliasing_output = 1 : i32}, %b: " M,
     ADD("%0", "%a", "%b") RETURN("%b, %0", M ", " M), "a0-3h32 a0-3h32 w1-2pr | 0>2.0:01 1>2.1:01 2>0:01"},
    {"a view of a view", "%a: tensor<2x4x8xf32>, %b: " M,
     OP("%0", "transpose %a, dims = [2, 0, 1]", "(tensor<2x4x8xf32>) -> tensor<8x2x4xf32>")
         OP("%1", "reshape %0", "(tensor<8x2x4xf32>) -> " M) DOT("%2", "%1", "%b", M) RETURN("%2", M),
     "a0-5h32 a0-5h32 w3-5h32m | 0>2.0:20 1>2.1:01"},
    {"a slice", "%a: " M ", %b: " M,
     DOT("%0", "%a", "%b", M) OP("%1", "slice %0 [0:8, 0:4]", "(" M ") -> tensor<8x4xf32>")
         RETURN("%1", "tensor<8x4xf32>"),
     "a0-4h32 a0-4h32 w1-3h32mc w2-4h32i | 0>2.0:01 1>2.1:01 2>3.0:01"},
    {"what a loop carries, and what it does not change", "%a: " M ", %b: " M,
     ZERO LOOP("%1", "%i", "%x", "%a", "3", DOT("%y", "%x", "%b", M), "%y") ADD("%2", "%1#1", "%b") RETURN("%2", M),
     "a0-9h32 a0-9h32 f2-8h32 w3-4*3m w7-9h32p | 0>2:01 2>3.0:01*3 1>3.1:01*3 3>2:01*3 2>4.0:01 1>4.1:01"},
    {"what the first of two loops reads stays to its end alone", "%a: " M ", %b: " M,
     DOT("%0", "%a", "%b", M) ZERO LOOP("%1", "%i", "%x", "%a", "5", DOT("%y", "%x", "%0", M), "%y")
         LOOP("%2", "%i2", "%x2", "%1#1", "7", DOT("%z", "%x2", "%a", M), "%z") RETURN("%2#1", M),
     "a0-14h32 a0-14h32 w1-8h32m f3-9h32 w4-5*5m f8-14h32 w9-10*7m | 0>2.0:01 1>2.1:01 0>3:01 3>4.0:01*5 2>4.1:01*5 "
     "4>3:01*5 3>5:01 5>6.0:01*7 0>6.1:01*7 6>5:01*7"},
    {"a loop in a loop", "%a: " M ", %b: " M,
     ZERO LOOP("%1", "%i", "%x", "%a", "3", LOOP("%2", "%i2", "%x2", "%x", "5", DOT("%y", "%x2", "%b", M), "%y"),
               "%2#1") RETURN("%1#1", M),
     "a0-12h32 a0-12h32 f2-12h32 f3-8*3h32 w4-5*15m | 0>2:01 2>3:01*3 3>4.0:01*15 1>4.1:01*15 4>3:01*15 3>2:01*3"},
    {"a loop of one step", "%a: " M,
     ZERO LOOP("%1", "%i", "%x", "%a", "1", DOT("%y", "%x", "%x", M), "%y") RETURN("%1#1", M),
     "a0-8h32 f2-8h32 w3-4m f3-4h32=1 | 0>1:01 3>2.0:01 3>2.1:01 2>1:01 1>3:01"},
    {"a loop that does not say how often", "%a: " M,
     ZERO LOOP("%1", "%i", "%x", "%a", "0", DOT("%y", "%x", "%x", M), "%y") RETURN("%1#1", M),
     "a0-8h32 f2-8h32 w3-4m f3-4h32=1 | 0>1:01 3>2.0:01 3>2.1:01 2>1:01 1>3:01 unknown"},
    {"branches that agree on two results", "%a: " M ", %v: tensor<8xf32>, %p: tensor<i32>",
     "%0:2 = \"stablehlo.case\"(%p) ({\nstablehlo.return %a, %v : " M ", tensor<8xf32>\n}, {\n" DOT("%d", "%a", "%a", M)
         OP("%e", "exponential %v", "tensor<8xf32>") "stablehlo.return %d, %e : " M ", tensor<8xf32>\n"
                                                     "}) : (tensor<i32>) -> (" M
                                                     ", tensor<8xf32>)\n" RETURN("%0#0, %0#1", M ", tensor<8xf32>"),
     "a0-7h32 a0-7h32 a0-7h32 f1-7h32 f1-7h32 w3-4h32m f3-4h32=0 | 0>3:01 1>4:0 6>5.0:01 6>5.1:01 5>3:01 1>4:0 "
     "0>6:01"},
    {"a function that is called twice", "%a: " M,
     "%0 = call @f(%a) : (" M ") -> " M "\n%1 = call @f(%0) : (" M ") -> " M
     "\n" RETURN("%1", M) "}\nfunc.func private @f(%x: " M ") -> " M " {\n" DOT("%y", "%x", "%x", M) RETURN("%y", M),
     "a0-8h32 w2-6h32m w5-8h32m f2-3h32=0 f5-6h32=1 | 3>1.0:01 3>1.1:01 4>2.0:01 4>2.1:01 0>3:01 1>4:01"},
    {"an update in place", "%a: " M " {tf.aliasing_output = 0 : i32}, %b: tensor<1x8xf32>, %n: tensor<i32>",
     OP("%0", "dynamic_update_slice %a, %b, %n, %n", "(" M ", tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> " M)
         RETURN("%0", M),
     "a0-3h32 a0-3h32 a0-3h32 w1-2ri | 0>3.0:01 1>3.1:01 3>0:01"},
    {"no rule", "%a: " M, OP("%0", "custom_call @mine(%a)", "(" M ") -> " M) RETURN("%0", M),
     "a0-3h32 w1-3h32? | 0>1.0:01"},
    {"what is made in place is no operand", "%a: " M ", %b: " M,
     OP("%0", "iota dim = 0", M) ADD("%1", "%a", "%0") DOT("%2", "%1", "%b", M) RETURN("%2", M),
     "a0-5h32 a0-5h32 w3-5h32m | 0>2.0:01 1>2.1:01"},
    {"a barrier names again", "%a: " M ", %b: " M,
     "%0:2 = stablehlo.optimization_barrier %a, %b : " M ", " M "\n" DOT("%1", "%0#1", "%0#0", M) RETURN("%1", M),
     "a0-4h32 a0-4h32 w2-4h32m | 1>2.0:01 0>2.1:01"},
    {"a sum is kept as narrow as a matmul reads it", "%a: " M ", %b: " M ", %c: " H,
     ADD("%0", "%a", "%b") NARROW("%1", "%0") DOT("%2", "%1", "%c", H) RETURN("%2", H),
     "a0-5h32 a0-5h32 a0-5h16 w1-4h16p w3-5h16m | 0>3.0:01 1>3.1:01 3>4.0:01 2>4.1:01"},
    {"a matmul as wide as it is read", "%a: " H ", %b: " H ", %c: " M,
     DOT("%0", "%a", "%b", H) OP("%1", "convert %0", "(" H ") -> " M) ADD("%2", "%1", "%c") RETURN("%2", M),
     "a0-5h16 a0-5h16 a0-5h32 w1-4h32m w3-5h32p | 0>3.0:01 1>3.1:01 3>4.0:01 2>4.1:01"},
    {"copies are as narrow as they are read", "%a: " M ", %b: " M ", %c: " H,
     ADD("%0", "%a", "%b") NARROW("%1", "%0") DOT("%2", "%1", "%c", H) DOT("%3", "%c", "%1", H)
         RETURN("%2, %3", H ", " H),
     "a0-6h32 a0-6h32 a0-6h16 w1-4h16p w3-6h16m w4-6h16m f3-5h16=3 f3-5h16=2 | 0>3.0:01 1>3.1:01 6>4.0:01 7>4.1:01 "
     "7>5.0:01 6>5.1:01 3>6:01 2>7:01"},
};

static char *flow_text(const Flow *flow, Arena *arena) {
    const char *text = "";
    for (int64_t i = 0; i < flow->nodes; i++) {
        const FlowNode *n = &flow->node[i];
        text = arena_format(arena, "%s%c%d-%d", text, "afw"[n->kind], n -> from, n -> to);
        if (n->trips != 1) text = arena_format(arena, "%s*%g", text, n->trips);
        if (n->is_held) text = arena_format(arena, "%sh%d", text, n->held_bits);
        text = arena_format(arena, "%s%s%s%s%s%s%s%s%s", text, n->matrix ? "m" : "", n->pointwise ? "p" : "",
                            n->is_cut ? "c" : "", n->is_result ? "r" : "", n->takes_sums ? "s" : "",
                            n->reads_rows ? "i" : "", n->scatters ? "x" : "", n->whole ? "?" : "");
        if (n->added_to >= 0) text = arena_format(arena, "%s+%d", text, n->added_to);
        text = n->copied >= 0 ? arena_format(arena, "%s=%d ", text, n->copied) : arena_format(arena, "%s ", text);
    }
    text = arena_format(arena, "%s|", text);
    for (int64_t i = 0; i < flow->edges; i++) {
        const FlowEdge *e = &flow->edge[i];
        text = arena_format(arena, "%s %d>%d", text, e->from, e->to);
        text = e->operand >= 0 ? arena_format(arena, "%s.%d:", text, e->operand) : arena_format(arena, "%s:", text);
        for (int d = 0; d < e->type.rank; d++)
            text = e->view.map[d] < 0 ? arena_format(arena, "%s-", text)
                                      : arena_format(arena, "%s%d", text, e->view.map[d]);
        if (e->trips != 1) text = arena_format(arena, "%s*%g", text, e->trips);
    }
    return arena_format(arena, "%s%s", text, flow->unknown_trips ? " unknown" : "");
}

Test(flow, programs_by_hand) {
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Arena arena = {0};
        Error error = {0};
        Program program;
        Flow flow = {0};
        const char *results = NULL, *last = strstr(ROWS[i].ops, "}\nfunc.func"); /* of its return: "... : types" */
        for (const char *at = ROWS[i].ops; (at = strstr(at, "return %")) && (!last || at < last); at++) results = at;
        results = strstr(results, " : ") + 3;
        const char *text = arena_format(&arena, HEAD "%s) -> (%.*s) {\n%s  }\n}\n", ROWS[i].arguments,
                                        (int)strcspn(results, "\n"), results, ROWS[i].ops);
        cr_assert(program_read(text, strlen(text), "p", &program, &error) &&
                      flow_of_program(&program, &arena, &flow, &error),
                  "%s: %s: %s\n%s", ROWS[i].name, error.where, error.text, text);
        cr_expect_str_eq(flow_text(&flow, &arena), ROWS[i].flow, "%s:\n%s\n%s", ROWS[i].name, flow_text(&flow, &arena),
                         ROWS[i].flow);
        for (int64_t k = 0; k < flow.nodes; k++) /* operands lie behind each other */
            for (int e = 0; e < flow.node[k].edges; e++) cr_expect_eq(flow.edge[flow.node[k].edge + e].to, k);
        flow_free(&flow);
        program_free(&program);
        arena_free(&arena);
    }
}
