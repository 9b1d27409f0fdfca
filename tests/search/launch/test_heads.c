/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which degrees divide what published models have: heads and KV heads as their configs state them. Every framework
 * raises on a rest ("attention heads (71) must be divisible by tensor parallel size (2)" is what people meet with
 * falcon-7b), so each launcher refuses it. */
#include "search/launch/rules.h"

#include "base/util.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct {
    const char *model;
    int64_t heads, kv_heads, tensor;
    bool heads_divide, kv_divide, kv_copies;
} ROWS[] = {
    {"falcon-7b: 71 heads, a prime", 71, 1, 2, false, false, true},
    {"falcon-7b", 71, 1, 71, true, false, true},
    {"gpt2-xl: 25 heads", 25, 25, 2, false, false, false},
    {"gpt2-xl", 25, 25, 5, true, true, true},
    {"gpt2: 12 heads", 12, 12, 8, false, false, false},
    {"gpt2", 12, 12, 4, true, true, true},
    {"Qwen2.5-7B: 28 heads, 4 of keys", 28, 4, 8, false, false, true},
    {"Qwen2.5-7B", 28, 4, 4, true, true, true},
    {"Qwen2.5-7B", 28, 4, 7, true, false, false},
    {"Llama 3.1 70B: 64 heads, 8 of keys", 64, 8, 8, true, true, true},
    {"Llama 3.1 70B", 64, 8, 16, true, false, true},
    {"Llama 3.1 405B: 128 heads, 8 of keys", 128, 8, 128, true, false, true},
    {"Llama 3.1 405B", 128, 8, 3, false, false, false},
    {"one chip", 71, 1, 1, true, true, true},
};

static Model model_of(int64_t heads, int64_t kv_heads) {
    Model model = {.layers = 64, .d_model = 8192, .vocab = 128256, .max_seq = 8192, .kind_count = 2};
    for (int i = 0; i < 2; i++)
        model.kinds[i] = (LayerKind){.count = 32, .heads = 64, .kv_heads = 64, .head_dim = 64, .d_ff = 4096};
    model.kinds[1].heads = heads; /* one kind of layer is enough to raise */
    model.kinds[1].kv_heads = kv_heads;
    return model;
}

Test(heads, heads_of_published_models) {
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Model model = model_of(ROWS[i].heads, ROWS[i].kv_heads);
        model.kinds[0] = model.kinds[1];
        Plan plan = {.degrees.of = {1, 1, 1, 1, 1, 1}};
        PlanFacts facts = {.model = &model, .plan = &plan, .methods = &plan.knobs.methods, .tensor = ROWS[i].tensor};
        cr_expect_eq(facts_heads_divide(&facts), ROWS[i].heads_divide, "%s, tensor %d", ROWS[i].model,
                     (int)ROWS[i].tensor);
        cr_expect_eq(facts_kv_heads_divide(&facts, false), ROWS[i].kv_divide, "%s, tensor %d", ROWS[i].model,
                     (int)ROWS[i].tensor);
        cr_expect_eq(facts_kv_heads_divide(&facts, true), ROWS[i].kv_copies, "%s, tensor %d", ROWS[i].model,
                     (int)ROWS[i].tensor);
    }
}

/* The launchers themselves, with a model whose second kind of layer alone does not divide. */
Test(heads, every_launcher_refuses_a_rest) {
    Mesh mesh = {.chips = 2, .devices = 2};
    Work work = {.sequences = 8, .seq = 8192};
    for (int launcher = 0; launcher < launcher_count(); launcher++) {
        Plan plan = {.knobs = {.microbatches = 1, .microbatch_sequences = 8, .virtual_stages = 1, .regather = true}};
        for (Role role = 0; role < ROLE_COUNT; role++) plan.degrees.of[role] = 1;
        plan.degrees.of[ROLE_TENSOR] = 2;
        Model even = model_of(72, 2), odd = model_of(71, 2);
        const char *no = launch_refusal(launcher, &odd, &work, &plan, 0, &mesh);
        const char *yes = launch_refusal(launcher, &even, &work, &plan, 0, &mesh);
        bool never = no && yes && strcmp(no, yes) == 0; /* it splits nothing over tensor */
        cr_expect(no && (never || strstr(no, "tensor has to divide the number of heads")), "%s: %s",
                  launcher_name(launcher), no ? no : "takes it");
        cr_expect(!yes || !strstr(yes, "heads"), "%s: %s", launcher_name(launcher), yes ? yes : "");
    }
}
