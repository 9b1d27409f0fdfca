/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SGLang. Rules: python/sglang/srt/server_args.py @469c63e (August 2026). */
#include "cost/serving/matrices.h"
#include "search/serving/engines/engine.h"

static const char *refuses(const EngineAsk *ask) {
    const WorkerLayout *layout = ask->layout;
    const char *common = engine_common_refuses(ask);
    if (common) return common;
    if (layout->kv_sequence > 1) return "the cache is not cut by sequence in decode";
    if (layout->attention_data > 1 && !model_has_experts(ask->model))
        return "attention data parallel is for mixtures (help of --enable-dp-attention)";
    if (layout->attention_data > 1 && layout->expert > 1 && layout->expert_tensor > 1)
        return "DeepEP, which attention data parallel exchanges tokens with, forces all ranks into the expert group";
    return NULL;
}

/* --tp-size counts all ranks of a stage: attention data parallel lies inside it. */
static void words(const EngineAsk *ask, const EngineKnobs *knobs, char out[ENGINE_WORDS_SIZE]) {
    const WorkerLayout *layout = ask->layout;
    out[0] = '\0';
    engine_say(out, "python -m sglang.launch_server --model-path MODEL --tp-size %lld",
               (long long)worker_group(layout));
    if (layout->pipeline > 1) engine_say(out, " --pp-size %lld", (long long)layout->pipeline);
    if (layout->attention_data > 1)
        engine_say(out, " --enable-dp-attention --dp-size %lld", (long long)layout->attention_data);
    if (layout->expert > 1) engine_say(out, " --ep-size %lld", (long long)layout->expert);
    if (layout->expert > 1 && layout->attention_data > 1) engine_say(out, " --moe-a2a-backend deepep");
    engine_say(out,
               " --max-running-requests %lld --chunked-prefill-size %lld --enable-mixed-chunk --context-length %lld",
               (long long)knobs->sequences, (long long)knobs->step_tokens, (long long)knobs->length);
    engine_say(out, " --mem-fraction-static %.2f", knobs->memory_fraction);
    if (layout->weights == STORED_FP8) engine_say(out, " --quantization fp8");
    if (layout->cache == STORED_FP8) engine_say(out, " --kv-cache-dtype fp8_e4m3");
}

const Engine ENGINE_SGLANG = {
    .name = "sglang",
    .title = "SGLang",
    .on_gpus = true,
    .two_pools = true,
    .weights = 1u << STORED_BF16 | 1u << STORED_FP8 | 1u << STORED_INT8 | 1u << STORED_MXFP4 | 1u << STORED_NVFP4 |
               1u << STORED_INT4,
    .caches = 1u << STORED_BF16 | 1u << STORED_FP8,
    .refuses = refuses,
    .words = words,
};
