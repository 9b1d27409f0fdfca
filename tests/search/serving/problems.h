/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tests/search/serving/problems.h: small random questions: models with grouped heads, latents and experts, on nodes and
 * tori, that brute force can answer. */
#pragma once

#include "base/json.h"
#include "search/serving/answer.h"

#include <criterion/criterion.h>

typedef struct {
    uint64_t state;
} Dice;

static inline uint64_t roll(Dice *dice, uint64_t sides) {
    dice->state = dice->state * 6364136223846793005u + 1442695040888963407u;
    return (dice->state >> 33) % sides;
}

static inline int64_t pick(Dice *dice, const int64_t *of, uint64_t count) { return of[roll(dice, count)]; }
#define PICK(dice, ...) pick(dice, (const int64_t[]){__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static inline Model random_model(Dice *dice) {
    int64_t layers = PICK(dice, 2, 3, 4, 8);
    Model model = {.name = "small",
                   .layers = layers,
                   .d_model = PICK(dice, 512, 1024),
                   .vocab = PICK(dice, 1000, 32000),
                   .tied = roll(dice, 2),
                   .kind_count = 1};
    LayerKind kind = {
        .count = layers, .heads = PICK(dice, 4, 8, 12), .head_dim = 64, .gated = roll(dice, 2), .norms = 2};
    kind.kv_heads = PICK(dice, 1, 2, 4);
    if (roll(dice, 3) == 0) {
        kind.attention = ATTENTION_LATENT;
        kind.kv_lora_rank = 128;
        kind.q_lora_rank = PICK(dice, 0, 256);
        kind.qk_nope_head_dim = 64;
        kind.qk_rope_head_dim = 32;
        kind.v_head_dim = 64;
        kind.kv_heads = kind.heads;
    } else if (roll(dice, 4) == 0)
        kind.window = PICK(dice, 64, 256);
    if (roll(dice, 2) == 0) {
        kind.experts = PICK(dice, 4, 8, 12, 16); /* 12 on 8 or 16 ranks: with copies */
        kind.top_k = PICK(dice, 1, 2);
        kind.d_ff_expert = PICK(dice, 256, 768);
        kind.d_ff_shared = PICK(dice, 0, 768);
    } else
        kind.d_ff = PICK(dice, 1536, 3072);
    model.kinds[0] = kind;
    if (kind.experts && layers > 2 && roll(dice, 2)) { /* the first layer is dense */
        model.kinds[1] = kind;
        model.kinds[1].count = layers - 1;
        model.kinds[0].count = 1;
        model.kinds[0].experts = model.kinds[0].top_k = model.kinds[0].d_ff_expert = 0;
        model.kinds[0].d_ff = 1536;
        model.kind_count = 2;
    }
    return model;
}

static inline void random_machine(Dice *dice, const Catalog *catalog, ServingQuestion *question) {
    static const char *const NAMES[] = {"h100", "mi300x", "v5e", "v5p"};
    uint64_t kind = roll(dice, 4);
    question->chip = *catalog_find(catalog, NAMES[kind]);
    SliceShape shape = {{PICK(dice, 1, 2, 4), PICK(dice, 1, 2, 4), kind == 3 ? PICK(dice, 1, 2) : 1}};
    if (kind >= 2)
        machine_of_slice(&question->chip, shape, PICK(dice, 1, 1, 2), &question->machine);
    else
        machine_of_gpus(&question->chip, PICK(dice, 1, 2, 3, 4, 5, 8, 16), &question->machine);
    question->device = chip_device(&question->chip);
}

/* So much memory that a chip holds the model and some ten to a hundred sequences; no more than the whole machine needs
 * for the model and some thousands, so that brute force ends. */
static inline void random_memory(Dice *dice, ServingQuestion *question) {
    ServedModel served = question_served(question, NO_ENGINE);
    WorkerLayout whole = {1, 1, 1, 1, 1, 1, 1, 1, question->weights[0], question->caches[0]};
    double bytes = worker_weights_bytes(&served, &whole) * (double)PICK(dice, 6, 11, 20) / 10;
    double sequence = worker_cache_bytes(&served, &whole, question->peak_tokens);
    double most = (worker_weights_bytes(&served, &whole) + 3000 * sequence) / (double)question->machine.mesh.devices;
    bytes += (double)PICK(dice, 8, 30) * sequence;
    if (bytes > most) bytes = most;
    for (int e = 0; e <= ENGINES_MAX; e++) question->profiles[e].workspace_bytes = 0;
    question->chip.hbm_bytes.value = bytes * 1.2;
    question->device = chip_device(&question->chip);
}

static inline void random_load(Dice *dice, ServingQuestion *question) {
    double prompt = (double)PICK(dice, 64, 200, 1000), output = (double)PICK(dice, 16, 64, 300);
    double cached = roll(dice, 3) == 0 ? 0.5 : 0;
    question->request = (ServedRequest){prompt, output, cached};
    question->longest = question->peak_tokens = prompt + output;
    question->mean_context = prompt + output / 2;
    question->prompt_context = prompt - prompt * (1 - cached) / 2;
    if (roll(dice, 4) == 0) question->speculation = (Speculation){PICK(dice, 1, 3), 0.7};
    if (roll(dice, 4) == 0) question->adapters = (Adapters){PICK(dice, 1, 6), PICK(dice, 8, 64)};
    if (cached > 0 && roll(dice, 2)) question->prefixes = (Prefixes){(double)PICK(dice, 10, 100, 1000), 0};
    if (question->prefixes.count > 0 && roll(dice, 2))
        question->prefixes.host_bytes = (double)PICK(dice, 10000000, 1000000000);
    if (question->prefixes.count > 0) question->modes = 1u << SERVE_AGGREGATED;
    if (roll(dice, 4) == 0) question->tpot_limit_seconds = 1e-4 * (double)PICK(dice, 5, 10, 40);
    if (roll(dice, 4) == 0) question->ttft_limit_seconds = 1e-3 * (double)PICK(dice, 2, 5, 40);
    uint64_t load = roll(dice, 4);
    if (load == 0) question->concurrency = PICK(dice, 1, 7, 32);
    if (load == 1) question->rate = (double)PICK(dice, 1, 20, 300);
    question->budgets[0] = 256;
    question->budgets[1] = 1024;
    question->budget_count = 2;
}

static inline ServingQuestion random_question(uint64_t seed, const Catalog *catalog, const cJSON *profile) {
    Dice dice = {seed * 2654435761u + 12345};
    ServingQuestion question = {.modes = 1u << SERVE_AGGREGATED | 1u << SERVE_DISAGGREGATED};
    Error error = {0};
    for (int i = 0; i < 5; i++) roll(&dice, 2);
    question.model = random_model(&dice);
    random_machine(&dice, catalog, &question);
    for (int e = 0; e <= engine_count(); e++) {
        int at = e == engine_count() ? NO_ENGINE : e;
        const char *engine = at == NO_ENGINE ? NULL : engine_at(e)->name;
        cr_assert(serving_profile_from_json(profile, "profile", &question.chip, engine, &question.profiles[at], &error),
                  "%s: %s", error.where, error.text);
    }
    question.weights[question.weights_count++] = roll(&dice, 2) ? STORED_BF16 : STORED_INT8;
    question.caches[question.caches_count++] = STORED_BF16;
    if (roll(&dice, 4) == 0) question.caches[question.caches_count++] = STORED_FP8;
    random_load(&dice, &question);
    random_memory(&dice, &question);
    question.engines = engines_of_chip(&question.chip);
    question.any_engine = roll(&dice, 2);
    return question;
}
