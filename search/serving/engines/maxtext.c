/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MaxText. Rules: its inference configurations @e591f30: the cache by heads over tensor, by batch over autoregressive,
 * by sequence over context_autoregressive; no pipelines in decode, nothing autoregressive across slices. */
#include "cost/serving/matrices.h"
#include "search/serving/engines/engine.h"

static const char *refuses(const EngineAsk *ask) {
    const WorkerLayout *layout = ask->layout;
    if (layout->pipeline > 1) return "there are no pipelines in decode";
    if (layout->stationary > 1) return "matmuls are not cut in two dimensions";
    if (layout->attention_data > 1) return "attention data parallel is an axis of vLLM-TPU";
    if (layout->expert > 1 && layout->expert_tensor > 1 && layout->expert * layout->expert_tensor != layout->tensor)
        return "expert and tensor are axes of their own";
    return NULL;
}

static void words(const EngineAsk *ask, const EngineKnobs *knobs, char out[ENGINE_WORDS_SIZE]) {
    const WorkerLayout *layout = ask->layout;
    int64_t heads = layout->tensor / (layout->kv_batch * layout->kv_sequence);
    out[0] = '\0';
    engine_say(out, "python -m maxtext.inference.maxengine ici_tensor_parallelism=%lld", (long long)heads);
    if (layout->kv_batch > 1) engine_say(out, " ici_autoregressive_parallelism=%lld", (long long)layout->kv_batch);
    if (layout->kv_sequence > 1)
        engine_say(out, " ici_context_autoregressive_parallelism=%lld", (long long)layout->kv_sequence);
    if (layout->expert > 1) engine_say(out, " ici_expert_parallelism=%lld", (long long)layout->expert);
    engine_say(out, " per_device_batch_size=%g max_target_length=%lld",
               (double)knobs->sequences / (double)worker_devices(layout), (long long)knobs->length);
    if (layout->weights == STORED_INT8) engine_say(out, " quantization=int8 checkpoint_is_quantized=true");
    if (layout->cache == STORED_INT8 || layout->cache == STORED_INT4)
        engine_say(out, " quantize_kvcache=true kv_quant_dtype=%s", stored_name(layout->cache));
}

const Engine ENGINE_MAXTEXT = {
    .name = "maxtext",
    .title = "MaxText",
    .on_tpus = true,
    .two_pools = true,
    .weights = 1u << STORED_BF16 | 1u << STORED_INT8 | 1u << STORED_INT4,
    .caches = 1u << STORED_BF16 | 1u << STORED_INT8 | 1u << STORED_INT4,
    .refuses = refuses,
    .words = words,
};
