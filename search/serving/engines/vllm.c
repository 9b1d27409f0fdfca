/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vLLM. Rules: vllm/config/parallel.py and vllm/config/model.py @00193b8 (August 2026). On TPUs: tpu-inference@b8692ff,
 * which does not copy heads of the cache but attends in data parallel beyond them. */
#include "base/util.h"
#include "cost/serving/cache.h"
#include "cost/serving/matrices.h"
#include "search/serving/engines/engine.h"

static const char *refuses_context(const EngineAsk *ask) {
    const WorkerLayout *layout = ask->layout;
    for (int i = 0; i < ask->model->kind_count && layout->kv_sequence > 1; i++) {
        const LayerKind *kind = &ask->model->kinds[i];
        bool latent = kind->attention == ATTENTION_LATENT;
        if (layout->tensor % layout->kv_sequence != 0) return "decode context parallel has to divide tensor";
        if (!latent && (layout->tensor <= kind->kv_heads || layout->kv_sequence > layout->tensor / kind->kv_heads))
            return "decode context parallel takes tensor ranks beyond the heads of the cache alone";
        if (!latent && (kind->heads / kind->kv_heads) % layout->kv_sequence != 0)
            return "decode context parallel has to divide the query heads of one head of the cache";
    }
    return NULL;
}

static const char *refuses(const EngineAsk *ask) {
    const WorkerLayout *layout = ask->layout;
    bool experts = model_has_experts(ask->model), tpu = !chip_has_domains(ask->chip);
    const char *common = engine_common_refuses(ask);
    if (common) return common;
    if (layout->attention_data > 1 && !experts) return "a dense model runs as copies, not with attention data parallel";
    if (experts && layout->expert > 1 && layout->expert_tensor > 1)
        return "the expert group is all of tensor x data parallel, or none";
    if (tpu && layout->pipeline > 1) return "there are no pipelines on TPUs";
    for (int i = 0; i < ask->model->kind_count && tpu; i++)
        if (cache_copies(&ask->model->kinds[i], layout->tensor) > layout->kv_sequence)
            return "heads of the cache are not copied on TPUs";
    return refuses_context(ask);
}

static void words(const EngineAsk *ask, const EngineKnobs *knobs, char out[ENGINE_WORDS_SIZE]) {
    const WorkerLayout *layout = ask->layout;
    out[0] = '\0';
    engine_say(out, "vllm serve MODEL --tensor-parallel-size %lld", (long long)layout->tensor);
    if (layout->pipeline > 1) engine_say(out, " --pipeline-parallel-size %lld", (long long)layout->pipeline);
    if (layout->attention_data > 1) engine_say(out, " --data-parallel-size %lld", (long long)layout->attention_data);
    if (layout->expert > 1) engine_say(out, " --enable-expert-parallel");
    if (layout->kv_sequence > 1)
        engine_say(out, " --decode-context-parallel-size %lld", (long long)layout->kv_sequence);
    engine_say(out, " --max-num-seqs %lld --max-num-batched-tokens %lld --max-model-len %lld",
               (long long)divide_up(knobs->sequences, layout->attention_data), (long long)knobs->step_tokens,
               (long long)knobs->length);
    engine_say(out, " --gpu-memory-utilization %.2f", knobs->memory_fraction);
    if (layout->weights == STORED_FP8) engine_say(out, " --quantization fp8");
    if (layout->cache == STORED_FP8) engine_say(out, " --kv-cache-dtype fp8");
}

const Engine ENGINE_VLLM = {
    .name = "vllm",
    .title = "vLLM",
    .on_gpus = true,
    .on_tpus = true,
    .two_pools = true,
    .weights = 1u << STORED_BF16 | 1u << STORED_FP8 | 1u << STORED_INT8 | 1u << STORED_MXFP4 | 1u << STORED_NVFP4 |
               1u << STORED_INT4,
    .caches = 1u << STORED_BF16 | 1u << STORED_FP8,
    .refuses = refuses,
    .words = words,
};
