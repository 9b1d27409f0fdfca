/* SPDX-License-Identifier: GPL-3.0-or-later */
/* TensorRT-LLM. Rules: tensorrt_llm/mapping.py @05ebebb (August 2026). */
#include "cost/serving/matrices.h"
#include "search/serving/engines/engine.h"

static const char *refuses(const EngineAsk *ask) {
    const WorkerLayout *layout = ask->layout;
    const char *common = engine_common_refuses(ask);
    if (common) return common;
    if (layout->attention_data > 1 && layout->tensor > 1) return "attention data parallel takes all ranks or none";
    if (layout->attention_data > 1 && !model_has_experts(ask->model))
        return "a dense model runs as copies, not with attention data parallel";
    if (layout->kv_sequence > 1 && layout->expert_tensor > 1 && layout->expert > 1)
        return "context parallelism excludes experts cut both ways";
    if (layout->kv_sequence > 1) return "context parallelism is for prefill";
    return NULL;
}

/* Its knobs are keys of a YAML file; the words are those of trtllm-serve, which writes the same. */
static void words(const EngineAsk *ask, const EngineKnobs *knobs, char out[ENGINE_WORDS_SIZE]) {
    const WorkerLayout *layout = ask->layout;
    out[0] = '\0';
    engine_say(out, "trtllm-serve MODEL --tp_size %lld", (long long)worker_group(layout));
    if (layout->pipeline > 1) engine_say(out, " --pp_size %lld", (long long)layout->pipeline);
    if (layout->expert > 1) engine_say(out, " --ep_size %lld", (long long)layout->expert);
    engine_say(out, " --max_batch_size %lld --max_num_tokens %lld --max_seq_len %lld", (long long)knobs->sequences,
               (long long)knobs->step_tokens, (long long)knobs->length);
    engine_say(out, " --kv_cache_free_gpu_memory_fraction 0.90");
    if (layout->attention_data > 1) engine_say(out, " (enable_attention_dp: true)");
    if (layout->cache == STORED_FP8) engine_say(out, " (kv_cache_config.dtype: fp8)");
}

const Engine ENGINE_TENSORRT_LLM = {
    .name = "tensorrt-llm",
    .title = "TensorRT-LLM",
    .on_gpus = true,
    .two_pools = true,
    .weights = 1u << STORED_BF16 | 1u << STORED_FP8 | 1u << STORED_MXFP4 | 1u << STORED_NVFP4 | 1u << STORED_INT4 |
               1u << STORED_INT8,
    .caches = 1u << STORED_BF16 | 1u << STORED_FP8,
    .refuses = refuses,
    .words = words,
};
