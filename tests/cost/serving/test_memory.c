/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a device of a worker holds, counted by hand for small models: weights of the fullest stage, pages of the cache,
 * activations of a token. */
#include "cost/serving/memory.h"

#include "base/util.h"
#include "cost/serving/cache.h"

#include <criterion/criterion.h>
#include <math.h>

static const Chip CHIP = {.hbm_bytes_per_second = {.value = 1e9}, .hbm_bytes = {.value = 1000}};
static const Chip WITH_FP8 = {.bf16_flops_per_second = {.value = 3}, .fp8_flops_per_second = {.value = 5}};
static const Chip WITH_FP4 = {
    .bf16_flops_per_second = {.value = 3}, .fp8_flops_per_second = {.value = 5}, .fp4_flops_per_second = {.value = 7}};
static const ServingProfile PROFILE = {
    .memory_fraction = 0.9, .workspace_bytes = 70, .activations_share = 0.5, .page_tokens = 16};

/* D 6, F 20, 4 heads of 3, 2 of the cache, V 11. A layer has 6 x (4 + 2 x 2) x 3 + 6 x 12 = 216 parameters of
 * attention and 3 x 6 x 20 = 360 of the MLP; two norms are 12. */
static Model dense(void) {
    Model model = {.layers = 3, .d_model = 6, .vocab = 11, .kind_count = 1};
    model.kinds[0] =
        (LayerKind){.count = 3, .heads = 4, .kv_heads = 2, .head_dim = 3, .gated = true, .norms = 2, .d_ff = 20};
    return model;
}

/* The same with a window of 40 in two of three layers. */
static Model windowed(void) {
    Model model = dense();
    model.kinds[1] = model.kinds[0];
    model.kinds[0].count = 1;
    model.kinds[1].count = 2;
    model.kinds[1].window = 40;
    model.kind_count = 2;
    return model;
}

/* 8 experts of 5, two asked, beside a shared one of 7, in place of the MLP. */
static Model mixture(void) {
    Model model = dense();
    LayerKind *kind = &model.kinds[0];
    kind->d_ff = 0;
    kind->experts = 8, kind->top_k = 2, kind->d_ff_expert = 5, kind->d_ff_shared = 7;
    return model;
}

/* Latents of 5 and 2 rotated in place of keys and values: 4 heads of 3 + 2 and values of 9. */
static Model latent(void) {
    Model model = dense();
    LayerKind *kind = &model.kinds[0];
    kind->attention = ATTENTION_LATENT;
    kind->kv_lora_rank = 5, kind->qk_nope_head_dim = 3, kind->qk_rope_head_dim = 2, kind->v_head_dim = 9;
    kind->head_dim = 5;
    return model;
}

static MemoryPlan plan_of(const Model *model, const WorkerLayout *layout, double tokens) {
    MemoryPlan plan;
    memory_plan(&(ServedModel){model, &CHIP, &PROFILE, {0}, {0, 0}}, layout, tokens, &plan);
    return plan;
}

/* tensor, attention_data, pipeline, expert, expert_tensor, kv_sequence, kv_batch, stationary, weights, cache */
static const WorkerLayout ONE = {1, 1, 1, 1, 1, 1, 1, 1, STORED_BF16, STORED_BF16};
static const WorkerLayout TWO = {2, 1, 1, 1, 1, 1, 1, 1, STORED_BF16, STORED_FP8};
static const WorkerLayout FOUR = {4, 1, 1, 1, 1, 2, 1, 1, STORED_FP8, STORED_BF16};
static const WorkerLayout STAGES = {1, 1, 2, 1, 1, 1, 1, 1, STORED_BF16, STORED_BF16};
static const WorkerLayout SPREAD = {1, 2, 1, 1, 1, 1, 1, 1, STORED_BF16, STORED_BF16};
static const WorkerLayout EXPERTS = {2, 1, 1, 1, 2, 1, 1, 1, STORED_BF16, STORED_BF16};
static const WorkerLayout RANKS = {1, 2, 1, 2, 1, 1, 3, 1, STORED_BF16, STORED_BF16};

Test(memory, weights_by_hand) {
    Model plain = dense(), tied = dense(), routed = mixture(), one = latent(), low = latent();
    tied.tied = true;
    low.kinds[0].q_lora_rank = 8;
    const struct {
        const char *name;
        const Model *model;
        const WorkerLayout *layout;
        double parameters, bytes;
    } ROWS[] = {
        {"all, and two tables", &plain, &ONE, 3 * (216 + 360 + 12) + 2 * 66, 2},
        {"one table of two uses", &tied, &ONE, 3 * (216 + 360 + 12) + 66, 2},
        {"halves, norms whole, 6 of 11 rows", &plain, &TWO, 3 * (108 + 180 + 12) + 2 * 36, 2},
        {"four ways: a head of keys is copied, 3 of 11 rows", &plain, &FOUR, 3 * (6 * 3 * 3 + 18 + 90 + 12) + 2 * 18,
         1},
        {"two layers of three, one table a stage", &plain, &STAGES, 2 * (216 + 360 + 12) + 66, 2},
        {"an MLP over two ranks that attend", &plain, &SPREAD, 3 * (216 + 180 + 12) + 2 * 66, 2},
        {"into latents 42, queries 120, out of latents 240, output 216", &one, &ONE,
         3 * (42 + 120 + 240 + 216 + 360 + 12) + 2 * 66, 2},
        {"all but what leads into latents in halves", &one, &TWO, 3 * (42 + 60 + 120 + 108 + 180 + 12) + 2 * 36, 2},
        {"queries by 8 numbers: 48, then 160", &low, &ONE, 3 * (42 + 48 + 160 + 240 + 216 + 360 + 12) + 2 * 66, 2},
        {"experts, the router's 48 and the shared one", &routed, &ONE,
         3 * (216 + 8 * 3 * 6 * 5 + 3 * 6 * 7 + 48 + 12) + 2 * 66, 2},
        {"experts in halves, the router whole", &routed, &EXPERTS,
         3 * (108 + 8 * 3 * 6 * 2.5 + 3 * 6 * 3.5 + 48 + 12) + 2 * 36, 2},
        {"experts over two ranks", &routed, &RANKS, 3 * (216 + 4 * 3 * 6 * 5 + 3 * 6 * 7 + 48 + 12) + 2 * 66, 2},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        double bytes = plan_of(ROWS[i].model, ROWS[i].layout, 1).weights_bytes;
        cr_expect_float_eq(bytes, ROWS[i].parameters * ROWS[i].bytes, 1e-9, "%s: %g", ROWS[i].name, bytes);
    }
}

/* 100 tokens are 7 pages of 16, 40 are 3: 112 and 48. A token takes 2 x 2 x 3 numbers, a latent 7. */
Test(memory, cache_by_hand) {
    Model plain = dense(), two = windowed(), one = latent();
    const struct {
        const char *name;
        const Model *model;
        const WorkerLayout *layout;
        double tokens, bytes;
    } ROWS[] = {
        {"pages filled up", &plain, &ONE, 100, 3 * 112 * 24},
        {"pages that are full", &plain, &ONE, 96, 3 * 96 * 24},
        {"half of the heads, a byte a number", &plain, &TWO, 100, 3 * 112 * 6},
        {"a head and its copy, by sequence", &plain, &FOUR, 100, 3 * 112 * 24 / 2 / 2},
        {"two stages", &plain, &STAGES, 100, 2 * 112 * 24},
        {"a window", &two, &ONE, 100, (112 + 2 * 48) * 24},
        {"within the window", &two, &ONE, 39, 3 * 48 * 24},
        {"latents", &one, &ONE, 100, 3 * 112 * 14},
        {"latents are copied", &one, &TWO, 100, 3 * 112 * 7},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        double bytes = plan_of(ROWS[i].model, ROWS[i].layout, ROWS[i].tokens).sequence_bytes;
        cr_expect_float_eq(bytes, ROWS[i].bytes, 1e-9, "%s: %g", ROWS[i].name, bytes);
    }
    cr_expect_float_eq(cache_bytes_per_sequence(&two, 2, 1, 1), 3 * 24, 1e-9);
    cr_expect_float_eq(cache_bytes_per_sequence(&two, 1, 100, 16), (112 + 2 * 48) * 12, 1e-9);
    cr_expect_eq(cache_copies(&plain.kinds[0], 4), 2, "two heads on four chips");
    cr_expect(cache_copies(&plain.kinds[0], 1) == 1 && cache_copies(&one.kinds[0], 4) == 4);
}

/* Half of what a token has at once is held: four streams of 6 and the widest of attention and MLP, in 2 bytes. */
Test(memory, activations_by_hand) {
    Model plain = dense(), wide = dense(), routed = mixture(), narrow = mixture(), one = latent();
    wide.kinds[0].d_ff = 10; /* 20 of its two halves, and 24 of queries, keys and values */
    narrow.kinds[0].heads = 40;
    const struct {
        const char *name;
        const Model *model;
        const WorkerLayout *layout;
        double numbers;
    } ROWS[] = {
        {"2 x 20 of the MLP", &plain, &ONE, 24 + 40},
        {"(4 + 2 x 2) x 3 of attention", &wide, &ONE, 24 + 24},
        {"halves", &wide, &TWO, 24 + 12},
        {"two experts of 6 + 10, and 14 of the shared one", &routed, &ONE, 24 + 2 * 16 + 14},
        {"halves of both", &routed, &EXPERTS, 24 + 2 * (6 + 5) + 7},
        {"attention beside experts", &narrow, &ONE, 24 + 44 * 3},
        {"as wide as values", &one, &ONE, 24 + 8 * 9},
        {"of two ranks one each", &routed, &RANKS, (24 + 2 * 16 + 14) / 2.0},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        double bytes = plan_of(ROWS[i].model, ROWS[i].layout, 1).token_bytes;
        cr_expect_float_eq(bytes, ROWS[i].numbers, 1e-9, "%s: %g", ROWS[i].name, bytes);
    }
    /* fp32 logits of a sequence: 4 x 11, 4 x 6 */
    cr_expect_float_eq(plan_of(&plain, &ONE, 1).logits_bytes, 22, 1e-9);
    cr_expect_float_eq(plan_of(&plain, &TWO, 1).logits_bytes, 12, 1e-9);
}

/* 13 sequences over two ranks are 7 each, whose cache three chips cut: 3 each. */
Test(memory, of_a_load) {
    Model routed = mixture(), plain = dense();
    MemoryPlan plan = plan_of(&routed, &RANKS, 10), staged = plan_of(&plain, &STAGES, 10);
    WorkerMemory memory;
    memory_of_load(&plan, 13, 50, &memory);
    cr_expect_float_eq(memory.limit_bytes, 900, 1e-9);
    cr_expect_float_eq(memory.workspace_bytes, 70, 1e-9);
    cr_expect_float_eq(memory.kv_bytes, 3 * plan.sequence_bytes, 1e-9);
    cr_expect_float_eq(memory.activations_bytes, 50 * plan.token_bytes + 7 * plan.logits_bytes, 1e-9);
    memory_of_load(&staged, 13, 50, &memory); /* of two stages' sequences one stage's end a step */
    cr_expect_float_eq(memory.activations_bytes, 50 * staged.token_bytes + 7 * staged.logits_bytes, 1e-9);
    double all = memory.weights_bytes + memory.kv_bytes + memory.activations_bytes + 70;
    cr_expect_float_eq(worker_memory_total(&memory), all, 1e-9);
    memory.limit_bytes = all;
    cr_expect(memory_fits(&memory));
    memory.limit_bytes = all - 1;
    cr_expect_not(memory_fits(&memory));
}

/* Blocks of 32 and of 16 numbers share a byte (OCP microscaling; NVIDIA's NVFP4): 17 and 9 bytes a block. */
Test(memory, stored_types) {
    cr_expect(stored_bytes(STORED_BF16) == 2 && stored_bytes(STORED_FP8) == 1 && stored_bytes(STORED_INT8) == 1);
    cr_expect(stored_bytes(STORED_INT4) == 0.5 && 32 * stored_bytes(STORED_MXFP4) == 17);
    cr_expect(16 * stored_bytes(STORED_NVFP4) == 9);
    cr_expect_eq(stored_arithmetic(STORED_FP8, &CHIP), ARITHMETIC_BF16);
    cr_expect_eq(stored_arithmetic(STORED_FP8, &WITH_FP8), ARITHMETIC_FP8);
    cr_expect_eq(stored_arithmetic(STORED_MXFP4, &WITH_FP8), ARITHMETIC_BF16);
    cr_expect_eq(stored_arithmetic(STORED_MXFP4, &WITH_FP4), ARITHMETIC_FP4);
    cr_expect_eq(stored_arithmetic(STORED_NVFP4, &WITH_FP4), ARITHMETIC_FP4);
    cr_expect_eq(stored_arithmetic(STORED_INT8, &WITH_FP4), ARITHMETIC_BF16);
    cr_expect_eq(stored_arithmetic(STORED_INT4, &WITH_FP4), ARITHMETIC_BF16);
    cr_expect(arithmetic_peak(&WITH_FP4, ARITHMETIC_BF16) == 3 && arithmetic_peak(&WITH_FP4, ARITHMETIC_FP8) == 5 &&
              arithmetic_peak(&WITH_FP4, ARITHMETIC_FP4) == 7);
}
