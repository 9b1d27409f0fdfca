/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tests/search/random_command.h: command lines of `shardopt plan` drawn by chance, on models and chips of the catalogs:
 * what fails can be typed again. The same for the same seed. */
#pragma once

#include "tests/search/random_problem.h"

#include <stdarg.h>

enum { COMMAND_SIZE = 640 };

typedef struct {
    Draw draw;
    char text[COMMAND_SIZE];
    size_t used;
} CommandDraw;

static inline void command_add(CommandDraw *command, const char *format, ...) {
    va_list rest;
    va_start(rest, format);
    int written = vsnprintf(command->text + command->used, COMMAND_SIZE - command->used, format, rest);
    va_end(rest);
    command->used += (size_t)written;
    cr_assert(command->used < COMMAND_SIZE);
}

#define WORD_FROM(draw, ...)                                                                                           \
    (((const char *const[]){__VA_ARGS__})[draw_below((draw), (int64_t)COUNT_OF(((const char *const[]){__VA_ARGS__})))])

/* Dense models and mixtures, small and large, of layers that do and do not divide. */
static inline const char *random_model_name(Draw *draw) {
    return draw_chance(draw, 0.65)
               ? WORD_FROM(draw, "8b", "8b", "70b", "405b", "gemma2-9b", "gemma3-27b", "qwen2.5-32b", "llama2-13b",
                           "yi-34b", "falcon-40b", "llama3.2-1b", "mistral-7b", "phi-3-mini", "qwen2.5-7b")
               : WORD_FROM(draw, "mixtral-8x7b", "mixtral-8x22b", "deepseek-v2-lite", "deepseek-v3", "gpt-oss-20b",
                           "gpt-oss-120b", "qwen3-30b-a3b", "dbrx", "llama4-scout-17b-16e", "grok-1");
}

/* A machine of at most 72 chips; false: it is one of GPUs. */
static inline bool random_machine_words(CommandDraw *command) {
    Draw *draw = &command->draw;
    bool torus = draw_chance(draw, 0.4);
    if (!torus) {
        const char *chip = WORD_FROM(draw, "h100", "h100", "h200", "a100-80g", "a100-40g", "b200", "mi300x", "gaudi2");
        command_add(command, " --chip %s", chip);
        if (draw_chance(draw, 0.3))
            command_add(command, " --chips %lld", (long long)DRAW_FROM(draw, 2, 4));
        else
            command_add(command, " --nodes %lld", (long long)DRAW_FROM(draw, 1, 1, 2, 2, 3, 4));
        bool spine = strcmp(chip, "gaudi2") != 0 && strcmp(chip, "mi300x") != 0; /* whose leaves are known */
        if (spine && draw_chance(draw, 0.2))
            command_add(command, " --oversubscription %lld", (long long)DRAW_FROM(draw, 2, 4));
        return false;
    }
    if (draw_chance(draw, 0.5))
        command_add(command, " --chip %s --slice %s", WORD_FROM(draw, "v5e", "v6e"),
                    WORD_FROM(draw, "2x2", "2x4", "4x4", "4x8"));
    else
        command_add(command, " --chip %s --slice %s", WORD_FROM(draw, "v5p", "v4", "v7"),
                    WORD_FROM(draw, "2x2x1", "2x2x2", "2x2x4", "2x4x4"));
    if (draw_chance(draw, 0.3)) command_add(command, " --slices %lld", (long long)DRAW_FROM(draw, 2, 2, 3));
    return true;
}

static inline void random_work_words(CommandDraw *command) {
    Draw *draw = &command->draw;
    command_add(command, " --seq %lld --sequences %lld",
                (long long)DRAW_FROM(draw, 1024, 2048, 4096, 4096, 8192, 8192, 32768, 131072),
                (long long)(DRAW_FROM(draw, 1, 2, 3, 4, 6, 8) * DRAW_FROM(draw, 1, 2, 8, 16, 32)));
    if (draw_chance(draw, 0.2)) command_add(command, " --batch-tolerance %s", WORD_FROM(draw, "2%", "10%", "25%"));
}

static inline void random_space_words(CommandDraw *command, bool torus) {
    Draw *draw = &command->draw;
    if (draw_chance(draw, 0.4))
        command_add(command, " --for %s",
                    torus ? WORD_FROM(draw, "maxtext", "jax", "maxtext,jax")
                          : WORD_FROM(draw, "megatron", "torchtitan", "deepspeed", "maxtext", "jax",
                                      "megatron,deepspeed", "torchtitan,megatron,jax"));
    command_add(command, " --max-idle %s", WORD_FROM(draw, "0", "0", "10%", "50%"));
    command_add(command, " --padding %s", WORD_FROM(draw, "launchable", "launchable", "none", "any"));
    if (draw_chance(draw, 0.5))
        command_add(command, " --schedules %s",
                    WORD_FROM(draw, "all", "all", "dualpipe", "zb_h1", "1f1b,interleaved", "circular,gpipe"));
    if (draw_chance(draw, 0.3))
        command_add(command, " --nesting %s",
                    WORD_FROM(draw, "maxtext", "jax", "megatron", "megatron-pp-dp", "torchtitan", "all"));
    if (draw_chance(draw, 0.25))
        command_add(command, " --require %s",
                    WORD_FROM(draw, "pipeline>=2", "tensor<=2", "sequence>=2", "zero_stage<=1", "microbatches>=2",
                              "tensor_overlap=true", "regather=true", "offload_optimizer=true", "data>=2"));
    if (draw_chance(draw, 0.1)) command_add(command, " --objective chip-hours");
}

static inline void random_physics_words(CommandDraw *command) {
    Draw *draw = &command->draw;
    if (draw_chance(draw, 0.35)) command_add(command, " --profile ideal");
    if (draw_chance(draw, 0.3))
        command_add(command, " --optimizer %s", WORD_FROM(draw, "muon", "sgd", "adafactor", "sgd-momentum"));
    if (draw_chance(draw, 0.2))
        command_add(command, " --state-dtypes %s",
                    WORD_FROM(draw, "master=fp32", "gradients=bf16", "moments=bf16,gradients=bf16"));
    if (draw_chance(draw, 0.15))
        command_add(command, " --remat %s", WORD_FROM(draw, "full", "none", "minimal", "qkv=recomputed"));
}

/* All but how much of HBM is kept free. */
static inline void random_command(uint64_t seed, CommandDraw *command) {
    *command = (CommandDraw){.draw = draw_seeded(seed)};
    command_add(command, "plan --model %s", random_model_name(&command->draw));
    bool torus = random_machine_words(command);
    random_work_words(command);
    random_space_words(command, torus);
    random_physics_words(command);
}
