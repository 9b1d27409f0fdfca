/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/measured/replay_parts.h"

#include "base/util.h"

#include <string.h>
#include <strings.h>

/* Adapters where a row says nothing of them: the defaults of its source's scripts. */
static const struct {
    const char *framework;
    double rank;
    unsigned targets;
} USUAL[] = {
    /* lora_r = 8, lora_query and lora_value (litgpt 8641822 finetune/lora.py); trainable_params agree */
    {"litgpt", 8, 1 << TARGET_QUERY | 1 << TARGET_VALUE},
    /* lora_rank = 64, "all" but o_proj (fsdp_qlora 02586ac7 train.py) */
    {"fsdp_qlora", 64, TARGETS_ALL & ~(1 << TARGET_OUTPUT)},
    {"AutoModel", 8, TARGETS_ALL}, /* dim 8, *_proj (its recipes of llm_benchmark) */
};

/* Rank, matrices and format of a row's adapters. */
static bool read_adapters(Replay *replay, Tuning *out) {
    const Run *run = replay->run;
    const char *list = run->targets;
    char word[32];
    out->rank = run->adapter_rank > 0 ? (double)run->adapter_rank : TUNING_RANK;
    out->frozen = FROZEN_ALL;
    for (size_t i = 0; i < COUNT_OF(USUAL) && !run->targets[0]; i++)
        if (text_has(run->framework, USUAL[i].framework)) out->rank = USUAL[i].rank, out->targets = USUAL[i].targets;
    while (tuning_next_word(&list, word, sizeof word)) /* c_attn is GPT-2's query, key and value */
        out->targets |= strcmp(word, "c_attn") == 0 ? TARGETS_ATTENTION : tuning_target_bits(word);
    if (!out->targets) out->targets = TARGETS_ALL;
    if (!run->quantised[0]) return true;
    out->stored_bytes = tuning_format_bytes(run->quantised);
    return out->stored_bytes > 0 || replay_skip(replay, "its format of weights is not known");
}

/* Hugging Face's and PEFT's scripts load a checkpoint in 16 bits and train it so, without a master. */
static bool trains_as_loaded(const Run *run) {
    bool upcast = text_has(run->id, "_liger") && text_has(run->fsdp, "fsdp"); /* what FSDP trains, accelerate casts */
    return !upcast && (text_has(run->framework, "SFTTrainer") || text_has(run->framework, "peft"));
}

bool replay_tuning(Replay *replay, StateDtypes *dtypes, Tuning *out) {
    const Run *run = replay->run;
    *out = (Tuning){0};
    if (!run->method[0]) return true;
    bool full = strncasecmp(run->method, "full", 4) == 0, quantised = strcasecmp(run->method, "qlora") == 0;
    if (!full && !quantised && strcasecmp(run->method, "lora") != 0)
        return replay_skip(replay, "adapters of another kind than LoRA");
    if (text_has(run->id, "dora")) return replay_skip(replay, "adapters of another kind than LoRA");
    if (strcmp(run->result, "N/A") == 0) return replay_skip(replay, "its source does not run it");
    if (text_has(run->framework, "-ep") && text_has(run->framework, "moe"))
        return replay_skip(replay, "experts in kernels and groups of their own (ScatterMoE), which no profile has");
    out->on = true;
    out->on_host = text_has(run->notes, "CPU offload True");
    if (!full) return read_adapters(replay, out);
    if (trains_as_loaded(run))
        *dtypes =
            (StateDtypes){.gradients = DTYPE_BF16, .master = DTYPE_NONE, .first = DTYPE_BF16, .second = DTYPE_BF16};
    return true;
}
