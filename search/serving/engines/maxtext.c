/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MaxText. Rules and keys are those of the package maxtext 0.2.5: maxtext/configs/ and maxtext/inference/maxengine/,
 * which needs JetStream (archived on 1 February 2026) to answer requests; its port is 9000. base.yml cuts a cache by
 * heads alone, over `tensor` and `autoregressive`; its examples for several hosts have rules that cut it by batch over
 * `autoregressive` and weights over both, and none that cut it by sequence. There are no pipelines in decode, and
 * nothing autoregressive across slices. */
#include "cost/serving/cache.h"
#include "models/mixer.h"
#include "search/serving/engines/engine.h"

#include <string.h>

static const char *refuses(const EngineAsk *ask) {
    const WorkerLayout *layout = ask->layout;
    if (layout->pipeline > 1) return "there are no pipelines in decode";
    if (layout->stationary > 1) return "matmuls are not cut in two dimensions";
    if (layout->attention_data > 1) return "attention data parallel is an axis of vLLM-TPU";
    if (layout->expert > 1) return "its axis of experts is next to tensor, with the whole cache on each of its members";
    if (layout->kv_sequence > 1) return "its rules do not cut the cache by sequence";
    for (int i = 0; i < ask->model->kind_count; i++) {
        const LayerKind *kind = &ask->model->kinds[i];
        bool latent = kind->attention == ATTENTION_LATENT;
        if (kind->mixer && strcmp(kind->mixer->name, "gated_delta_net") != 0) return "it has no such mixer";
        if (layout->kv_batch > 1 && (latent || kind->experts > 0))
            return "its rules for a cache cut by batch are of dense models";
        if (!latent && cache_copies(kind, layout->tensor) > layout->kv_batch)
            return "heads of the cache are not copied";
    }
    return NULL;
}

static const EngineFlag FLAGS[] = {
    {"ici_tensor_parallelism", SERVED_TENSOR, 'w', false},
    {"ici_autoregressive_parallelism", SERVED_KV_BATCH, 'w', true},
    {"ici_expert_parallelism", SERVED_EXPERT, '\0', false},
    {"ici_context_autoregressive_parallelism", SERVED_CONTEXT, '\0', false},
    {NULL},
};

static void words(const EngineAsk *ask, const EngineKnobs *knobs, EngineWords *out) {
    const WorkerLayout *layout = ask->layout;
    int64_t says[SERVED_FLAGS];
    engine_words(out, "python -m maxtext.inference.maxengine.maxengine_server");
    engine_words(out, "%s",
                 layout->kv_batch > 1 ? "inference/multihost/interleaved/llama3_405b_v5e-64.yml" : "base.yml");
    engine_says(ask, knobs, says);
    says[SERVED_TENSOR] = layout->tensor / layout->kv_batch;
    engine_flags(out, FLAGS, 'w', says);
    engine_words(out, "per_device_batch_size=%.17g", (double)knobs->sequences / (double)worker_devices(layout));
    engine_flag(out, "max_target_length", knobs->length);
    if (layout->weights == STORED_INT8) engine_words(out, "quantization=int8 checkpoint_is_quantized=true");
    if (layout->weights == STORED_INT4) engine_words(out, "quantization=int4 checkpoint_is_quantized=true");
    if (layout->cache != STORED_INT8 && layout->cache != STORED_INT4) return;
    engine_words(out, "quantize_kvcache=true kv_quant_dtype=%s", stored_name(layout->cache));
}

static const char *cannot(const EngineAsk *ask, const EnginePlace *place) {
    (void)ask;
    if (place->role != ENGINE_ALONE) return "two pools of MaxText are one job on two slices, still experimental";
    if (place->hosts == 1 && place->shares_host) return "every worker answers at port 9000, one on each host";
    return NULL;
}

/* fsdp takes what is left of the devices unless it is configured not to. The files of the command lie in the
 * package. */
static void place(const EngineAsk *ask, const EnginePlace *place, EngineWords *out) {
    (void)ask;
    engine_export(out, ": \"${MODEL_NAME:?give what MaxText calls the model}\" \"${TOKENIZER:?give its tokenizer}\"\n"
                       "    cd \"$(python -c 'import maxtext; print(maxtext.__path__[0])')/configs\"\n");
    engine_words(out, "\"model_name=$MODEL_NAME\" \"tokenizer_path=$TOKENIZER\" \"load_parameters_path=$MODEL\"");
    engine_words(out, "ici_fsdp_parallelism=1 dcn_data_parallelism=1 inference_server=MaxtextInterleavedServer");
    engine_flag(out, "max_prefill_predict_length", place->longest_prompt);
}

/* JetStream speaks gRPC, and has nothing that stands before copies. */
static void route(const EngineRoute *to, FILE *out) {
    (void)to;
    fprintf(out, "    printf 'clients share these: %%s\\n' \"${URLS[*]#http://}\"\n");
}

/* benchmarks/benchmark_serving.py of AI-Hypercomputer/JetStream. */
static void test(const EngineRoute *to, FILE *out) {
    (void)to;
    fprintf(out, "    local address=${URL#http://}\n"
                 "    python \"${JETSTREAM:?give its folder}/benchmarks/benchmark_serving.py\" --dataset mock \\\n"
                 "        --server \"${address%%:*}\" --port \"${address##*:}\" --model \"$MODEL_NAME\" \\\n"
                 "        --tokenizer \"$TOKENIZER\" --num-prompts \"$REQUESTS\" --max-input-length \"$PROMPT\" \\\n"
                 "        --max-output-length \"$OUTPUT\" --save-result\n");
}

const Engine ENGINE_MAXTEXT = {
    .name = "maxtext",
    .title = "MaxText",
    .on_tpus = true,
    .two_pools = true,
    .weights = 1u << STORED_BF16 | 1u << STORED_INT8 | 1u << STORED_INT4,
    .caches = 1u << STORED_BF16 | 1u << STORED_INT8 | 1u << STORED_INT4,
    .refuses = refuses,
    .flags = FLAGS,
    .words = words,
    .start = {false, 9000, "maxtext 0.2.5", cannot, place, route, test},
};
