/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What of a plan is odd: each row of the table on a plan that has it, and on the nearest one that has not. */
#include "search/answer/odd.h"

#include "base/util.h"
#include "tests/search/asked.h"

#include <criterion/criterion.h>
#include <string.h>

static const char DENSE[] = "plan --model 70b --chip h100 --nodes 64 --seq 8192 --for megatron";
static const char MIXTURE[] = "plan --model qwen3-235b-a22b --chip h100 --nodes 64 --seq 8192 --stack torchtitan-2025";
static const char MEGATRON[] = "plan --model qwen3-235b-a22b --chip h100 --nodes 64 --seq 8192 --for megatron";
static const char TORUS[] = "plan --model 70b --chip v5p --slice 8x8x8 --seq 8192";

typedef struct {
    int64_t fsdp, sequence, expert, pipeline, chunks, size; /* size: sequences of a microbatch */
} Shape;

static const struct {
    const char *name, *question;
    Shape shape;
    const char *words; /* "": nothing is odd */
} ROWS[] = {
    {"plain", DENSE, {1, 1, 1, 4, 5, 2}, ""},
    {"weights sharded under Megatron",
     DENSE,
     {8, 1, 1, 1, 1, 1},
     "weights or gradients sharded, which this software seldom does"},
    {"and of a mixture",
     MEGATRON,
     {8, 1, 8, 1, 1, 1},
     "weights or gradients sharded, which this software seldom does, and of a mixture"},
    {"a mixture's experts gathered", MIXTURE, {8, 1, 1, 1, 1, 1}, "every expert gathered"},
    {"experts on ranks of their own", MIXTURE, {8, 1, 8, 1, 1, 1}, ""},
    {"a sequence cut to 4,096", DENSE, {1, 2, 1, 1, 1, 1}, "a short sequence cut over ranks"},
    {"three sequences at once", DENSE, {1, 1, 1, 1, 1, 3}, "a microbatch of an odd size"},
    {"9 stages of 80 layers", DENSE, {1, 1, 1, 9, 1, 1}, "stages that are no power of two nor divide the layers"},
    {"10 stages of them", DENSE, {1, 1, 1, 10, 1, 1}, ""},
    {"16 stages, of 80 layers too", DENSE, {1, 1, 1, 16, 1, 1}, ""},
    {"32 stages", DENSE, {1, 1, 1, 32, 1, 1}, "32 stages or more"},
    {"one layer a chunk", DENSE, {1, 1, 1, 8, 10, 1}, "chunks of one layer"},
    {"two layers a chunk", DENSE, {1, 1, 1, 8, 5, 1}, ""},
    {"two things", DENSE, {1, 1, 1, 40, 2, 1}, "32 stages or more, chunks of one layer"},
    {"a torus", TORUS, {8, 2, 1, 1, 1, 3}, ""},
};

/* What the page of the model says: a half for what many runs have. */
static double errors_of(const char *words) {
    static const char *const HALVES[] = {"short sequence", "odd size", "one layer"};
    double errors = (words[0] != '\0') - (strstr(words, ", which") != NULL); /* that comma is no other oddity */
    for (const char *at = words; (at = strstr(at, ", ")); at += 2) errors++;
    for (size_t i = 0; i < COUNT_OF(HALVES); i++)
        if (strstr(words, HALVES[i])) errors -= 0.5;
    return errors;
}

Test(odd, what_hardly_anybody_runs) {
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Arena arena = {0};
        Request *request = ARENA_NEW(&arena, Request, 1);
        cr_assert(request_from_text(ROWS[i].question, &arena, request), "%s", ROWS[i].name);
        CostContext setting = request_cost_context(request);
        const Shape *shape = &ROWS[i].shape;
        Degrees degrees = {{[ROLE_TENSOR] = 1,
                            [ROLE_EXPERT] = shape->expert,
                            [ROLE_SEQUENCE] = shape->sequence,
                            [ROLE_FSDP] = shape->fsdp,
                            [ROLE_DATA] = 1,
                            [ROLE_PIPELINE] = shape->pipeline}};
        Knobs knobs = {.virtual_stages = shape->chunks,
                       .microbatch_sequences = shape->size,
                       .methods = {.sequence_replicates = true}};
        OddSet odd = plan_odd(&setting, &degrees, &knobs);
        Prose words = {0};
        odd_words(odd, &words);
        cr_expect_str_eq(words.text, ROWS[i].words, "%s: %s", ROWS[i].name, words.text);
        double factor = odd_factor(setting.profile, odd);
        cr_expect(odd_least(&setting, &degrees) <= factor, "%s: a bound above the rank", ROWS[i].name);
        cr_expect_float_eq(factor, 1 + 0.08 * errors_of(ROWS[i].words), 1e-12, "%s", ROWS[i].name);
        arena_free(&arena);
    }
}
