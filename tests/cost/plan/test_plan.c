/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words and orders of plans: how a plan is written, and which of two plans of equal cost comes first. */
#include "base/util.h"
#include "cost/plan/plan.h"

#include <criterion/criterion.h>
#include <string.h>

Test(plan, notation) {
    static const struct {
        Degrees degrees;
        ExpertGrid grid;
        const char *whole, *brief;
    } rows[] = {
        {{{1, 1, 1, 1, 1, 1}}, {0, 0}, "data=1 fsdp=1 sequence=1 tensor=1 expert=1 pipeline=1", "one chip"},
        {{{4, 1, 1, 1024, 2, 1}},
         {0, 0},
         "data=2 fsdp=1024 sequence=1 tensor=4 expert=1 pipeline=1",
         "data=2 fsdp=1024 tensor=4"},
        {{{1, 8, 1, 32, 1, 1}}, {0, 0}, "data=1 fsdp=32 sequence=1 tensor=1 expert=8 pipeline=1", "fsdp=32 expert=8"},
        /* DeepSeek-V3's: 64 expert ways over 128 data ranks of each of 16 stages */
        {{{1, 1, 1, 1, 128, 16}},
         {64, 1},
         "data=128 fsdp=1 sequence=1 tensor=1 expert=64(folded) pipeline=16",
         "data=128 pipeline=16 expert=64(folded)"},
        {{{4, 1, 2, 8, 1, 1}},
         {8, 2},
         "data=1 fsdp=8 sequence=2 tensor=4 expert=8(folded, expert_tensor=2) pipeline=1",
         "fsdp=8 sequence=2 tensor=4 expert=8(folded, expert_tensor=2)"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Knobs knobs = {.methods.grid = rows[i].grid};
        char text[NOTATION_SIZE];
        cr_expect_str_eq(plan_notation(&rows[i].degrees, &knobs, false, text), rows[i].whole);
        cr_expect_str_eq(plan_notation(&rows[i].degrees, &knobs, true, text), rows[i].brief);
    }
    const int64_t most = INT64_C(2147483647);
    Degrees large = {{most, 1, most, most, most, most}};
    Knobs knobs = {.methods.grid = {most, most}};
    char text[NOTATION_SIZE];
    cr_expect_lt(strlen(plan_notation(&large, &knobs, false, text)), NOTATION_SIZE - 1u, "nothing is cut off");
    cr_expect(strstr(text, "expert_tensor=2147483647) pipeline=2147483647"), "%s", text);
}

Test(plan, every_word_has_its_own) {
    for (int a = 0; a < SCHEDULE_COUNT; a++)
        for (int b = 0; b < a; b++) cr_expect_str_neq(schedule_name((Schedule)a), schedule_name((Schedule)b));
    for (int a = 0; a < CONTEXT_COUNT; a++)
        for (int b = 0; b < a; b++)
            cr_expect_str_neq(context_method_name((ContextMethod)a), context_method_name((ContextMethod)b));
    cr_expect_str_neq(stage_split_name(STAGES_EVEN), stage_split_name(STAGES_BALANCED));
}

static uint64_t random_word(uint64_t *state) { /* SplitMix64 */
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static Knobs random_knobs(uint64_t *state) {
    Knobs knobs;
    memset(&knobs, 0, sizeof knobs); /* this clears the padding too: equal plans are equal byte by byte */
    knobs.microbatches = (int64_t)(random_word(state) % 2),
    knobs.microbatch_sequences = (int64_t)(random_word(state) % 2);
    knobs.schedule = (Schedule)(random_word(state) % SCHEDULE_COUNT);
    knobs.virtual_stages = (int64_t)(random_word(state) % 2);
    knobs.stages = random_word(state) % 2 ? STAGES_EVEN : STAGES_BALANCED;
    knobs.zero_stage = (int)(random_word(state) % 3);
    knobs.methods.context = (ContextMethod)(random_word(state) % CONTEXT_COUNT);
    knobs.methods.ulysses = (int64_t)(random_word(state) % 2);
    knobs.methods.sequence_replicates = random_word(state) % 2;
    knobs.methods.grid = (ExpertGrid){(int64_t)(random_word(state) % 2), (int64_t)(random_word(state) % 2)};
    knobs.methods.tensor_overlap = random_word(state) % 2;
    knobs.regather = random_word(state) % 2, knobs.offload_optimizer = random_word(state) % 2;
    return knobs;
}

static int sign(int order) { return (order > 0) - (order < 0); }

/* A total order that forgets no knob: ties between plans end here, the same for every number of threads. */
Test(plan, knobs_are_totally_ordered) {
    uint64_t state = 1;
    for (int i = 0; i < 20000; i++) {
        Knobs a = random_knobs(&state), b = random_knobs(&state), c = random_knobs(&state);
        if (i % 2) { /* the two differ in one knob, or in none */
            b = a;
            switch (random_word(&state) % 14) {
            case 0:
                b.microbatches++;
                break;
            case 1:
                b.microbatch_sequences++;
                break;
            case 2:
                b.schedule = (Schedule)(SCHEDULE_COUNT - 1 - b.schedule);
                break;
            case 3:
                b.virtual_stages++;
                break;
            case 4:
                b.stages = b.stages == STAGES_EVEN ? STAGES_BALANCED : STAGES_EVEN;
                break;
            case 5:
                b.zero_stage++;
                break;
            case 6:
                b.methods.context = (ContextMethod)(CONTEXT_COUNT - 1 - b.methods.context);
                break;
            case 7:
                b.methods.ulysses++;
                break;
            case 8:
                b.methods.sequence_replicates = !b.methods.sequence_replicates;
                break;
            case 9:
                b.methods.grid.expert++;
                break;
            case 10:
                b.methods.grid.expert_tensor++;
                break;
            case 11:
                b.methods.tensor_overlap = !b.methods.tensor_overlap;
                break;
            case 12:
                b.regather = !b.regather;
                break;
            case 13:
                b.offload_optimizer = !b.offload_optimizer;
                break;
            }
        }
        int order = knobs_compare(&a, &b);
        cr_expect_eq(order == 0, memcmp(&a, &b, sizeof a) == 0, "case %d", i);
        cr_expect_eq(sign(order), -sign(knobs_compare(&b, &a)), "case %d", i);
        cr_expect_eq(methods_compare(&a.methods, &b.methods) == 0,
                     memcmp(&a.methods, &b.methods, sizeof a.methods) == 0, "case %d", i);
        if (order <= 0 && knobs_compare(&b, &c) <= 0) cr_expect_leq(knobs_compare(&a, &c), 0, "case %d", i);
    }
}
