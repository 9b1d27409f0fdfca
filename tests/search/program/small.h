/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tests/search/program/small.h: random programs of up to eight operations on matrices, as a list and as StableHLO text,
 * and the machine on which they are asked about. */
#pragma once

#include "base/arena.h"
#include "search/program/answer.h"

#include <math.h>

#define HEAD "module @m {\n  func.func public @main("
#define BODY(arguments, results, ops) HEAD arguments ") -> " results " {\n" ops "  }\n}\n"

typedef enum { SMALL_ARGUMENT, SMALL_ADD, SMALL_TURN, SMALL_MATMUL } SmallKind;

typedef struct {
    SmallKind kind;
    int a, b; /* values */
    int size[2];
} SmallValue;

/* Two arguments, then operations; the last is the result, and `tied` makes it the next state of argument 0. */
typedef struct {
    SmallValue value[10];
    int values;
    bool tied;
} Small;

typedef struct {
    uint64_t state;
} Draws;
static inline int draw(Draws *draws, int most) {
    draws->state = draws->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((draws->state >> 33) % (uint64_t)most);
}

static inline bool small_fits(const SmallValue *a, const SmallValue *b, SmallKind kind) {
    if (kind == SMALL_MATMUL) return a->size[1] == b->size[0];
    return kind == SMALL_TURN || (a->size[0] == b->size[0] && a->size[1] == b->size[1]);
}

/* Matrices of n and 2n rows and columns, n 8 or 12; the last operation is no mere view. */
static inline Small small_draw(Draws *draws, int ops) {
    int n = draw(draws, 2) ? 8 : 12;
    Small small = {.values = 2};
    for (int i = 0; i < 2; i++)
        small.value[i] = (SmallValue){.size = {draw(draws, 2) ? n : 2 * n, draw(draws, 2) ? n : 2 * n}};
    while (small.values < 2 + ops) {
        SmallValue new = {(SmallKind)(1 + draw(draws, 3)), draw(draws, small.values), draw(draws, small.values), {0}};
        const SmallValue *a = &small.value[new.a], *b = &small.value[new.b];
        if (!small_fits(a, b, new.kind) || (new.kind == SMALL_TURN &&small.values == 1 + ops)) continue;
        new.size[0] = new.kind == SMALL_TURN ? a->size[1] : a->size[0];
        new.size[1] = new.kind == SMALL_TURN ? a->size[0] : b->size[1];
        small.value[small.values++] = new;
    }
    const SmallValue *last = &small.value[small.values - 1];
    small.tied = last->size[0] == small.value[0].size[0] && last->size[1] == small.value[0].size[1];
    return small;
}

/* Names begin with `letter`. */
static inline const char *small_text(const Small *small, Arena *arena, const char *letter) {
    const char *type[10], *text = "";
    for (int i = 0; i < small->values; i++) {
        const SmallValue *value = &small->value[i];
        type[i] = arena_format(arena, "tensor<%dx%dxf32>", value->size[0], value->size[1]);
        if (value->kind == SMALL_ADD)
            text = arena_format(arena, "%s    %%%s%d = stablehlo.add %%%s%d, %%%s%d : %s\n", text, letter, i, letter,
                                value->a, letter, value->b, type[i]);
        if (value->kind == SMALL_TURN)
            text = arena_format(arena, "%s    %%%s%d = stablehlo.transpose %%%s%d, dims = [1, 0] : (%s) -> %s\n", text,
                                letter, i, letter, value->a, type[value->a], type[i]);
        if (value->kind == SMALL_MATMUL)
            text = arena_format(arena,
                                "%s    %%%s%d = stablehlo.dot_general %%%s%d, %%%s%d, contracting_dims = [1] x [0] : "
                                "(%s, %s) -> %s\n",
                                text, letter, i, letter, value->a, letter, value->b, type[value->a], type[value->b],
                                type[i]);
    }
    int last = small->values - 1;
    return arena_format(arena,
                        "module @m {\n  func.func public @main(%%%s0: %s%s, %%%s1: %s) -> (%s) {\n%s    "
                        "return %%%s%d : %s\n  }\n}\n",
                        letter, type[0], small->tied ? " {tf.aliasing_output = 0 : i32}" : "", letter, type[1],
                        type[last], text, letter, last, type[last]);
}

/* Four by two chips of made-up rates: computing, memory and links take about as long for matrices of these sizes, so
 * that each of them decides now and then. */
static inline void fill_machine(ProgramMachine *machine) {
    *machine = (ProgramMachine){.flops_per_second = 1e9, .hbm_bytes_per_second = 1e9, .hbm_bytes = 1e12};
    machine->mesh = (Mesh){.axis_count = 2, .chips = 8, .devices = 8};
    machine->mesh.axes[0] = (Axis){"x", AXIS_LINE, LEVEL_ICI, 4, 1e9, 1e-7};
    machine->mesh.axes[1] = (Axis){"y", AXIS_LINE, LEVEL_ICI, 2, 1e9, 1e-7};
}

static inline double no_time(void *context) { return (void)context, 0; }
static inline bool no_interrupt(void *context) { return (void)context, false; }

static inline ProgramQuestion question_of(const Program *program) {
    ProgramQuestion question = {.program = program, .axes = 2};
    fill_machine(&question.priced);
    question.machine.mesh = question.priced.mesh;
    question.control =
        (GraphControl){.seconds = no_time, .interrupted = no_interrupt, .time_limit = INFINITY, .effort = 0.1};
    return question;
}
