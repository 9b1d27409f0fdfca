/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small programs against every choice there is, priced here from what docs/program.md says: nothing of search/program
 * but the list of meshes with their collectives is used. Memory is infinitely fast, so that time is matmuls and what is
 * sent. */
#include "tests/search/program/small.h"

#include <criterion/criterion.h>
#include <string.h>

/* A sharding: for each axis the dimension that it cuts; -1: none. */
typedef struct {
    int of[2];
} Cut;

typedef struct {
    const Small *small;
    const LogicalMesh *mesh;
    Cut fixed[2]; /* of the arguments */
    Cut out[10], need[10][2];
    bool open[10]; /* its sums over the axes in `partial` are left to the addition that reads it */
    unsigned partial[10];
    double least;
    int visits;
} Every;

enum { VISITS_MOST = 2000 }; /* of one program on one mesh: those with more choices are passed over */

static int ways(const Every *every, Cut cut, int dimension) { /* dimension -1: all */
    int product = 1;
    for (int a = 0; a < every->mesh->axes; a++)
        if (cut.of[a] >= 0 && (dimension < 0 || cut.of[a] == dimension)) product *= (int)every->mesh->size[a];
    return product;
}

static bool divides(const Every *every, Cut cut, const int *size) {
    return size[0] % ways(every, cut, 0) == 0 && size[1] % ways(every, cut, 1) == 0;
}

static Cut turned(Cut cut) {
    for (int a = 0; a < 2; a++) cut.of[a] = cut.of[a] < 0 ? -1 : 1 - cut.of[a];
    return cut;
}

static double sends(const Every *every, Collective op, unsigned axes, double bytes) {
    return axes ? collective_seconds(every->mesh->cost[axes][op], 1, bytes) : 0;
}

/* Whether the second axis cuts this dimension inside the first one's pieces. */
static bool inside(Cut cut, int axis, int dimension) { return axis == 0 && cut.of[1] == dimension; }

/* Cuts are free, though pieces may have to change places; then what changes its dimension is exchanged, what goes to
 * one dimension from one other at once; then the rest is gathered, a dimension at a time. */
static double moved(const Every *every, Cut have, Cut need, const int *size) {
    double seconds = 0, whole = 4.0 * size[0] * size[1];
    int axes = every->mesh->axes;
    for (int a = 0; a < axes; a++) {
        if (have.of[a] >= 0 || need.of[a] < 0) continue;
        bool permutes = inside(have, a, need.of[a]);
        have.of[a] = need.of[a];
        if (permutes) seconds += sends(every, COLLECTIVE_PERMUTE, 1u << a, whole / ways(every, have, -1));
    }
    for (int a = 0; a < axes; a++) {
        int from = have.of[a], to = need.of[a];
        if (from < 0 || to < 0 || from == to) continue;
        unsigned set = 1u << a;
        if (a == 0 && axes == 2 && have.of[1] == from && need.of[1] == to) set = 3;
        double local = whole / ways(every, have, -1);
        seconds += sends(every, COLLECTIVE_ALL_TO_ALL, set, local * (double)every->mesh->ways[set]);
        for (int b = 0; b < axes; b++)
            if (set >> b & 1) have.of[b] = to;
    }
    for (int d = 0; d < 2; d++) {
        unsigned set = 0;
        for (int a = 0; a < axes; a++)
            if (have.of[a] == d && need.of[a] < 0) set |= 1u << a;
        if (!set) continue;
        double before = whole / ways(every, have, -1);
        for (int a = 0; a < axes; a++)
            if (set >> a & 1) have.of[a] = -1;
        if ((set & 1) && inside(have, 0, d)) seconds += sends(every, COLLECTIVE_PERMUTE, set, before);
        seconds += sends(every, COLLECTIVE_ALL_GATHER, set, whole / ways(every, have, -1));
    }
    return seconds;
}

/* The value that a view shows, and whether it shows it turned. */
static int root_of(const Small *small, int at, bool *is_turned) {
    *is_turned = false;
    for (; small->value[at].kind == SMALL_TURN; at = small->value[at].a) *is_turned = !*is_turned;
    return at;
}

static double edge(const Every *every, Cut have, int operand, Cut need) {
    bool is_turned;
    root_of(every->small, operand, &is_turned);
    return moved(every, is_turned ? turned(have) : have, need, every->small->value[operand].size);
}

/* The operands of matmuls up to `at` that show this value; where there are several in all, they share a copy in any one
 * sharding, which is paid with the last of them. */
static int matmuls_of(const Small *small, int value, int at) {
    int count = 0;
    bool is_turned;
    for (int i = 0; i <= at; i++)
        for (int k = 0; k < 2 && small->value[i].kind == SMALL_MATMUL; k++)
            count += root_of(small, k ? small->value[i].b : small->value[i].a, &is_turned) == value;
    return count;
}

static double shared_copy(const Every *every, int value) {
    const Small *small = every->small;
    double least = INFINITY;
    Cut copy = {{-1, -1}};
    for (copy.of[0] = -1; copy.of[0] < 2; copy.of[0]++)
        for (copy.of[1] = -1; copy.of[1] < (every->mesh->axes > 1 ? 2 : 0); copy.of[1]++) {
            if (!divides(every, copy, small->value[value].size)) continue;
            double seconds = moved(every, every->out[value], copy, small->value[value].size);
            for (int i = 0; i < small->values; i++)
                for (int k = 0; k < 2 && small->value[i].kind == SMALL_MATMUL; k++) {
                    int operand = k ? small->value[i].b : small->value[i].a;
                    bool is_turned;
                    if (root_of(small, operand, &is_turned) == value)
                        seconds += edge(every, copy, operand, every->need[i][k]);
                }
            if (seconds < least) least = seconds;
        }
    return least;
}

/* What the operands of an operation cost, its choice and those before it being made. */
static double operands(const Every *every, int at) {
    const Small *small = every->small;
    const SmallValue *value = &small->value[at];
    double seconds = 0;
    int last_shared = -1;
    for (int k = 0; k < 2; k++) {
        bool is_turned;
        int operand = k ? value->b : value->a, root = root_of(small, operand, &is_turned);
        bool shares = value->kind == SMALL_MATMUL && matmuls_of(small, root, small->values - 1) > 1;
        bool is_last = shares && matmuls_of(small, root, at) == matmuls_of(small, root, small->values - 1);
        if (!shares) seconds += edge(every, every->out[root], operand, every->need[at][k]);
        if (is_last && root != last_shared) seconds += shared_copy(every, root);
        if (is_last) last_shared = root;
    }
    return seconds;
}

static int uses(const Small *small, int value) {
    int count = value == small->values - 1; /* returned */
    for (int i = 2; i < small->values; i++) {
        count += small->value[i].a == value;
        count += small->value[i].kind != SMALL_TURN && small->value[i].b == value;
    }
    return count;
}

/* A matmul that nothing else reads, or an addition of such, may leave its sums to an addition of it and another one. */
static bool takes_sums(const Small *small, int at);

static bool may_be_summed(const Small *small, int value) {
    return uses(small, value) == 1 && (small->value[value].kind == SMALL_MATMUL || takes_sums(small, value));
}

static bool takes_sums(const Small *small, int at) {
    const SmallValue *value = &small->value[at];
    return value->kind == SMALL_ADD && may_be_summed(small, value->a) && may_be_summed(small, value->b);
}

static bool may_leave(const Small *small, int at) {
    for (int i = at + 1; i < small->values; i++)
        if ((small->value[i].a == at || small->value[i].b == at) && takes_sums(small, i)) return true;
    return false;
}

static void choose(Every *every, int at, double paid);

/* Sums over the axes in `partial`, in every way in which they can end. */
static void choose_ends(Every *every, int at, double paid, Cut computed, unsigned partial) {
    const SmallValue *value = &every->small->value[at];
    int end[2];
    if (partial && may_leave(every->small, at)) {
        every->open[at] = true;
        every->out[at] = computed;
        every->partial[at] = partial;
        choose(every, at + 1, paid);
    }
    for (end[0] = -1; end[0] < (partial & 1 ? 2 : 0); end[0]++)
        for (end[1] = -1; end[1] < (partial & 2 ? 2 : 0); end[1]++) {
            Cut out = computed;
            double seconds = 0;
            unsigned left = partial;
            for (int a = 0; a < 2; a++)
                if (partial >> a & 1) out.of[a] = end[a];
            if (!divides(every, out, value->size)) continue;
            Cut now = computed;
            for (int d = 0; d < 2; d++) {
                unsigned set = (end[0] == d ? partial & 1 : 0) | (end[1] == d ? partial & 2 : 0);
                double bytes = 4.0 * value->size[0] * value->size[1] / ways(every, now, -1);
                seconds += sends(every, COLLECTIVE_REDUCE_SCATTER, set, bytes);
                for (int a = 0; a < 2; a++)
                    if (set >> a & 1) now.of[a] = d;
                left &= ~set;
            }
            seconds +=
                sends(every, COLLECTIVE_ALL_REDUCE, left, 4.0 * value->size[0] * value->size[1] / ways(every, now, -1));
            every->out[at] = out;
            every->open[at] = false;
            bool is_last = at == every->small->values - 1;
            if (is_last && every->small->tied) seconds += moved(every, out, every->out[0], value->size);
            choose(every, at + 1, paid + seconds);
        }
}

/* Each axis cuts a row, a column, what is contracted, or nothing. */
static void choose_work(Every *every, int at, double paid) {
    enum { ROWS, COLUMNS, CONTRACTED };
    const SmallValue *value = &every->small->value[at], *a = &every->small->value[value->a];
    bool matmul = value->kind == SMALL_MATMUL;
    if (every->open[value->a] || every->open[value->b]) { /* alike, or not at all */
        bool alike = every->open[value->a] && every->open[value->b] &&
                     every->partial[value->a] == every->partial[value->b] &&
                     memcmp(&every->out[value->a], &every->out[value->b], sizeof(Cut)) == 0;
        if (alike) choose_ends(every, at, paid, every->out[value->a], every->partial[value->a]);
        return;
    }
    int f[2], most = matmul ? 3 : 2;
    for (f[0] = -1; f[0] < most; f[0]++)
        for (f[1] = -1; f[1] < (every->mesh->axes > 1 ? most : 0); f[1]++) {
            Cut computed = {{-1, -1}}, first = computed, second = computed, contracted = computed;
            unsigned partial = 0;
            for (int x = 0; x < 2; x++) {
                computed.of[x] = f[x] == CONTRACTED ? -1 : f[x];
                first.of[x] = !matmul ? f[x] : f[x] == ROWS ? 0 : f[x] == CONTRACTED ? 1 : -1;
                second.of[x] = !matmul ? f[x] : f[x] == CONTRACTED ? 0 : f[x] == COLUMNS ? 1 : -1;
                contracted.of[x] = f[x] == CONTRACTED ? 0 : -1;
                if (f[x] == CONTRACTED) partial |= 1u << x;
            }
            int length[2] = {a->size[1], 1};
            if (!divides(every, computed, value->size) || !divides(every, contracted, length)) continue;
            every->need[at][0] = first;
            every->need[at][1] = second;
            double flops = matmul ? 2.0 * value->size[0] * value->size[1] * a->size[1] : 0;
            double work = flops / (ways(every, computed, -1) * ways(every, contracted, -1)) / 1e9;
            choose_ends(every, at, paid + work + operands(every, at), computed, partial);
        }
}

static void choose(Every *every, int at, double paid) {
    if (paid >= every->least || every->visits++ > VISITS_MOST) return;
    if (at == every->small->values) {
        every->least = paid;
        return;
    }
    if (at < 2) every->out[at] = every->fixed[at];
    if (at < 2 || every->small->value[at].kind == SMALL_TURN)
        choose(every, at + 1, paid);
    else
        choose_work(every, at, paid);
}

/* One program: the answer on every mesh. */
static void hold(const Small *small, const char *text, const int *cut, int *meshes) {
    Arena arena = {0};
    Error error = {0};
    Program program;
    ProgramAnswer answer;
    cr_assert(program_read(text, strlen(text), "p", &program, &error), "%s: %s\n%s", error.where, error.text, text);
    ProgramQuestion question = question_of(&program);
    FixedArgument fixed[2]; /* x cuts one dimension of each argument, so that something has to be moved */
    for (int i = 0; i < 2; i++) {
        fixed[i] = (FixedArgument){.argument = i, .dimensions = 2};
        fixed[i].cut[cut[i]] = (Piece){"x", 1};
    }
    question.fixed = fixed;
    question.fixed_count = 2;
    question.priced.hbm_bytes_per_second = 1e30;
    cr_assert(program_answer(&question, &arena, &answer, &error), "%s: %s\n%s", error.where, error.text, text);
    for (int m = 0; m < answer.meshes.count; m++) {
        const ProgramChoice *choice = &answer.choice[m];
        if (!choice->found && isinf(choice->bound)) continue; /* what is fixed does not divide */
        bool proven = choice->proof == GRAPH_OPTIMAL;         /* else: none is better than another mesh's */
        double found = proven ? choice->seconds : choice->bound;
        Every every = {.small = small,
                       .mesh = &answer.meshes.mesh[m],
                       .fixed = {{{cut[0], -1}}, {{cut[1], -1}}},
                       .least = found * (1 + 1e-6) + 1e-10};
        double most = every.least;
        choose(&every, 0, 0);
        if (every.visits > VISITS_MOST) continue;
        cr_expect(proven || choice->bound >= answer.choice[answer.best].seconds);
        cr_expect(proven ? every.least < most && every.least > found - 1e-10 : every.least > found - 1e-10,
                  "mesh %d: %.12g s, every choice %.12g s of\n%s", m, found, every.least, text);
        ++*meshes;
    }
    flow_free(&answer.flow);
    program_free(&program);
    arena_free(&arena);
}

Test(program_answer, equals_every_choice) {
    Draws draws = {39};
    int meshes = 0;
    for (int turn = 0; turn < 500; turn++) {
        Arena arena = {0};
        Small small = small_draw(&draws, 1 + turn % 8);
        int cut[2] = {draw(&draws, 2), draw(&draws, 2)};
        hold(&small, small_text(&small, &arena, "v"), cut, &meshes);
        arena_free(&arena);
    }
    cr_expect(meshes > 1000, "%d", meshes);
}

/* Programs in which matmuls are added, of which there are few among those above. */
Test(program_answer, sums_that_are_added_end_once) {
    Draws draws = {390};
    int meshes = 0, programs = 0;
    for (int turn = 0; turn < 20000 && programs < 50; turn++) {
        Arena arena = {0};
        Small small = small_draw(&draws, 3 + turn % 3);
        bool any = false;
        for (int i = 0; i < small.values; i++) any = any || takes_sums(&small, i);
        int cut[2] = {draw(&draws, 2), draw(&draws, 2)};
        if (any) hold(&small, small_text(&small, &arena, "v"), cut, &meshes);
        programs += any;
        arena_free(&arena);
    }
    cr_expect(programs == 50 && meshes > 150, "%d, %d", programs, meshes);
}
