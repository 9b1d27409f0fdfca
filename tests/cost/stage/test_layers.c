/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compares the number of layers of each stage with every way to deal them out. */
#include "tests/cost/workbench.h"

#include "models/config/model_json.h"

#include <criterion/criterion.h>
#include <string.h>

static uint64_t random_word(uint64_t *state) { /* SplitMix64 */
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* The shortest longest stage over all distributions: `left` layers for `stages` stages, the last of which has logits
 * worth `logits` layers; `longest` is the longest stage so far. */
static double shortest(int64_t left, int64_t stages, double logits, double longest) {
    if (stages == 1) return fmax(longest, (double)left + logits);
    double best = INFINITY;
    for (int64_t here = 1; here <= left - stages + 1; here++)
        best = fmin(best, shortest(left - here, stages - 1, logits, fmax(longest, (double)here)));
    return best;
}

/* The logits of a small model in layers, by hand: a layer is 4 D^2 (attention) + 3 D F + 2 D parameters, two FLOPs each
 * a token, and causal attention 4 x S/2 x D more; logits 2 V D. */
static double logits_by_hand(double V, double D, double F, double S) {
    return 2 * V * D / (2 * (4 * D * D + 3 * D * F + 2 * D) + 4 * (S / 2) * D);
}

Test(layers, logits_in_layers) {
    Model model = dense_model(12, 64, 256, 4, 4, 16, 1000);
    cr_expect_float_eq(logits_in_layers(&model, 128), logits_by_hand(1000, 64, 256, 128), 1e-12);
    /* LLaMA-3 70B at 4096 tokens: 2.101e9 FLOPs a token of 1.778e9 a layer (test_stage.c). */
    Model large = llama3_70b();
    cr_expect_float_eq(logits_in_layers(&large, 4096), 2 * 128256. * 8192 / (2 * 855654400. + 67108864), 1e-12);
}

Test(layers, balanced_is_best_of_all) {
    uint64_t state = 1;
    for (int i = 0; i < 600; i++) {
        int64_t layers = 1 + (int64_t)(random_word(&state) % 15), stages = 2 + (int64_t)(random_word(&state) % 5);
        int64_t vocab = random_word(&state) % 4 == 0 ? 1 : 1 + (int64_t)(random_word(&state) % 9000);
        Model model = dense_model(layers, 64, 256, 4, 4, 16, vocab);
        double logits = logits_by_hand((double)vocab, 64, 256, 128);
        int64_t fullest, last;
        bool found =
            layers_per_stage(&model, &(Work){.sequences = 1, .seq = 128}, stages, STAGES_BALANCED, &fullest, &last);
        cr_expect_eq(found, stages <= layers, "%d layers, %d stages", (int)layers, (int)stages);
        if (!found) continue;
        double longest = fmax((double)fullest, (double)last + logits), best = shortest(layers, stages, logits, 0);
        cr_expect_float_eq(longest, best, 1e-9, "%d layers, %d stages, logits %g: %d and %d, %g; best %g", (int)layers,
                           (int)stages, logits, (int)fullest, (int)last, longest, best);
        cr_expect(last >= 1 && fullest == divide_up(layers - last, stages - 1),
                  "%d layers, %d stages: the others as equal as can be, %d and %d", (int)layers, (int)stages,
                  (int)fullest, (int)last);
    }
}

Test(layers, even_or_not_at_all) {
    for (int64_t layers = 1; layers <= 24; layers++)
        for (int64_t stages = 1; stages <= 25; stages++) {
            Model model = dense_model(layers, 64, 256, 4, 4, 16, 64);
            int64_t fullest = 0, last = 0;
            bool found =
                layers_per_stage(&model, &(Work){.sequences = 1, .seq = 128}, stages, STAGES_EVEN, &fullest, &last);
            cr_expect_eq(found, layers % stages == 0 && stages <= layers, "%d on %d", (int)layers, (int)stages);
            if (found) cr_expect(fullest == layers / stages && last == fullest, "%d on %d", (int)layers, (int)stages);
        }
}

/* Embedding and logits take a layer's place each: 126 layers on 8 stages (Llama 3.1 405B), 70 on 12 (BLOOM); it is
 * refused where two more layers do not divide. */
Test(layers, slots) {
    static const struct {
        int64_t layers, stages, fullest, last;
    } rows[] = {{126, 8, 16, 15}, {126, 64, 2, 1}, {70, 12, 6, 5}, {80, 8, 0, 0}, {6, 8, 0, 0}, {14, 16, 0, 0}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Model model = dense_model(rows[i].layers, 64, 256, 4, 4, 16, 64);
        int64_t fullest, last;
        bool found = layers_per_stage(&model, &(Work){.sequences = 1, .seq = 128}, rows[i].stages, STAGES_SLOTS,
                                      &fullest, &last);
        cr_expect_eq(found, rows[i].fullest > 0, "%d on %d", (int)rows[i].layers, (int)rows[i].stages);
        if (found) cr_expect(fullest == rows[i].fullest && last == rows[i].last, "%d, %d", (int)fullest, (int)last);
    }
}

/* Llama 3's 16 stages of 8 chunks: each place is a chunk; places have to divide into chunks. */
Test(layers, slots_in_chunks) {
    static const struct {
        int64_t chunks;
        bool divides;
    } rows[] = {{1, true}, {2, true}, {3, false}, {4, true}, {7, false}, {8, true}, {16, false}};
    Model model = dense_model(126, 64, 256, 4, 4, 16, 64);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Degrees degrees = {{1, 1, 1, 1, 1, 1}};
        degrees.of[ROLE_PIPELINE] = 16;
        Knobs knobs = {.microbatches = 16,
                       .microbatch_sequences = 1,
                       .schedule = rows[i].chunks > 1 ? SCHEDULE_INTERLEAVED : SCHEDULE_1F1B,
                       .virtual_stages = rows[i].chunks,
                       .stages = STAGES_SLOTS};
        Shard shard;
        bool found = shard_of_plan(&model, &(Work){.sequences = 16, .seq = 128}, &degrees, &knobs, PADDING_ANY, &shard);
        cr_expect_eq(found, rows[i].divides, "%d chunks", (int)rows[i].chunks);
        if (found) cr_expect(shard.layers == 8 && shard.layers_last == 7 && shard.slots_first == 1);
    }
}

/* Megatron-Turing NLG 530B (Smith et al. 2022, section 2.3): 105 layers, hidden 20480, 128 heads, four times as wide
 * inside. */
static Model turing_nlg(void) {
    Model model = dense_model(105, 20480, 4 * 20480, 128, 128, 160, 51200);
    model.kinds[0].gated = false;
    return model;
}

static Model model_named(const char *name, Arena *arena) {
    Model model;
    Error error = {0};
    if (strcmp(name, "mt-nlg") == 0) return turing_nlg();
    cr_assert(model_load(name, arena, &model, &error), "%s: %s", error.where, error.text);
    return model;
}

/* Published runs:
 * - Llama 3 405B (Grattafiori et al. 2024, section 3.3.2): 126 layers on 16 stages, one less on the first and the last:
 *   14 x 8 + 2 x 7. Here the first stage is a full one and has the embedding: 8 at most, 7 on the last.
 * - Megatron-Turing NLG 530B (Smith et al. 2022, section 2.3): 105 layers on 35 stages: 3 each.
 * - DeepSeek-V3: 61 layers on 16 stages: 4 at most. */
Test(layers, published) {
    Arena arena = {0};
    static const struct {
        const char *model;
        int64_t seq, stages;
        StageSplit split;
        int64_t fullest, last;
    } rows[] = {
        {"llama3.1-405b", 8192, 16, STAGES_BALANCED, 8, 7}, {"mt-nlg", 2048, 35, STAGES_EVEN, 3, 3},
        {"mt-nlg", 2048, 35, STAGES_BALANCED, 3, 3},        {"llama3-70b", 8192, 16, STAGES_EVEN, 5, 5},
        {"deepseek-v3", 4096, 16, STAGES_BALANCED, 4, -1},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Model model = model_named(rows[i].model, &arena);
        int64_t fullest, last;
        cr_assert(layers_per_stage(&model, &(Work){.sequences = 1, .seq = rows[i].seq}, rows[i].stages, rows[i].split,
                                   &fullest, &last),
                  "%s", rows[i].model);
        cr_expect_eq(fullest, rows[i].fullest, "%s: %d", rows[i].model, (int)fullest);
        if (rows[i].last > 0) cr_expect_eq(last, rows[i].last, "%s: last %d", rows[i].model, (int)last);
    }
    arena_free(&arena);
}

/* 105 = 3 x 5 x 7 layers on 512 GPUs: no power of two divides them, and every power up to 64 stages has a balance: the
 * test tries each number of layers of the last stage, and the others take ceil((105 - last) / (p - 1)). */
Test(layers, odd_layers_on_powers_of_two) {
    Model model = turing_nlg();
    double logits = logits_in_layers(&model, 2048);
    for (int64_t stages = 2; stages <= 64; stages *= 2) {
        int64_t fullest, last;
        double best = INFINITY;
        for (int64_t at = 1; at <= 105 - (stages - 1); at++)
            best = fmin(best, fmax((double)divide_up(105 - at, stages - 1), (double)at + logits));
        cr_expect_not(
            layers_per_stage(&model, &(Work){.sequences = 1, .seq = 2048}, stages, STAGES_EVEN, &fullest, &last), "%d",
            (int)stages);
        cr_expect(
            layers_per_stage(&model, &(Work){.sequences = 1, .seq = 2048}, stages, STAGES_BALANCED, &fullest, &last),
            "%d", (int)stages);
        cr_expect_float_eq(fmax((double)fullest, (double)last + logits), best, 1e-9, "%d stages: %d and %d",
                           (int)stages, (int)fullest, (int)last);
        /* a plan accepts it */
        Work work = {.sequences = 1024, .seq = 2048};
        Degrees degrees = {{8, 1, 1, 1, 1, stages}};
        Knobs knobs = {.microbatches = 1024, .microbatch_sequences = 1, .virtual_stages = 1, .stages = STAGES_BALANCED};
        Shard shard;
        cr_expect(shard_of_plan(&model, &work, &degrees, &knobs, PADDING_LAUNCHABLE, &shard), "%d stages", (int)stages);
        cr_expect(shard.layers == (double)fullest && shard.layers_last == (double)last, "%d stages", (int)stages);
    }
}
