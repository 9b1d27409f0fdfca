/* SPDX-License-Identifier: GPL-3.0-or-later */
/* TensorRT-LLM. Rules: tensorrt_llm/mapping.py @05ebebb (August 2026). Flags and keys: tensorrt_llm/commands/serve.py
 * @00209af and tensorrt_llm/llmapi/llm_args.py @fcd3f31; two pools: examples/disaggregated/README.md @c3c3d76. */
#include "cost/serving/matrices.h"
#include "search/serving/engines/engine.h"

static const char *refuses(const EngineAsk *ask) {
    const WorkerLayout *layout = ask->layout;
    const char *common = engine_common_refuses(ask);
    if (common) return common;
    if (layout->attention_data > 1 && layout->tensor > 1) return "attention data parallel takes all ranks or none";
    if (layout->attention_data > 1 && !model_has_experts(ask->model))
        return "a dense model runs as copies, not with attention data parallel";
    if (engine_redundant_experts(ask) > 0) return "copies of experts are for a balancer, which is not configured";
    if (layout->kv_sequence > 1 && layout->expert_tensor > 1 && layout->expert > 1)
        return "context parallelism excludes experts cut both ways";
    if (layout->kv_sequence > 1) return "context parallelism is for prefill";
    return NULL;
}

/* Its knobs are options of trtllm-serve and keys of a YAML file, of which each object replaces what options say. With
 * attention data parallel the batch and the tokens of a step are of each rank. */
static const EngineFlag FLAGS[] = {
    {"--tp_size", SERVED_TENSOR, 'w', false},
    {"--pp_size", SERVED_PIPELINE, 'w', true},
    {"--ep_size", SERVED_EXPERT, 'w', true},
    {"--moe_expert_parallel_size", SERVED_EXPERT, '\0', false},
    {"--enable_attention_dp", SERVED_DATA_ATTENDS, '\0', false},
    {"--max_batch_size", SERVED_SEQUENCES, 'w', false},
    {"--max_num_tokens", SERVED_TOKENS, 'w', false},
    {"--num_nextn_predict_layers", SERVED_DRAFTS, '\0', false},
    {"--max_draft_len", SERVED_DRAFTS, '\0', false},
    {NULL},
};
static void words(const EngineAsk *ask, const EngineKnobs *knobs, EngineWords *out) {
    const WorkerLayout *layout = ask->layout;
    int64_t says[SERVED_FLAGS];
    engine_says(ask, knobs, says);
    says[SERVED_TENSOR] = worker_group(layout);
    engine_words(out, "trtllm-serve");
    engine_word(out, WORD_MODEL, "");
    engine_flags(out, FLAGS, 'w', says);
    engine_flag(out, "--max_seq_len", knobs->length);
    if (layout->attention_data > 1) engine_setting(out, "enable_attention_dp: true\n");
    engine_setting(out, "enable_chunked_prefill: true\n");
    engine_setting(out, "kv_cache_config:\n  free_gpu_memory_fraction: 0.90\n");
    if (layout->cache == STORED_FP8) engine_setting(out, "  dtype: fp8\n");
    if (knobs->host_bytes > 0) engine_setting(out, "  host_cache_size: %.0f\n", knobs->host_bytes);
    if (knobs->role != ENGINE_ALONE)
        engine_setting(out, "cache_transceiver_config:\n  backend: DEFAULT\n  max_tokens_in_buffer: %lld\n",
                       (long long)knobs->length);
    if (knobs->role == ENGINE_PROMPTS) engine_setting(out, "disable_overlap_scheduler: true\n");
    if (knobs->drafts < 1) return;
    if (engine_drafts_itself(ask->model))
        engine_setting(out, "speculative_config:\n  decoding_type: MTP\n  num_nextn_predict_layers: %lld\n",
                       (long long)knobs->drafts);
    else
        engine_setting(out,
                       "speculative_config:\n  decoding_type: Eagle\n  max_draft_len: %lld\n"
                       "  speculative_model: DRAFT # the draft's folder or name\n",
                       (long long)knobs->drafts);
}

/* Ranks over hosts are those of MPI; the first host starts them all. */
static void place(const EngineAsk *ask, const EnginePlace *place, EngineWords *out) {
    engine_setting(out, "cuda_graph_config:\n  enable_padding: true\n  max_batch_size: @GRAPHS@\n");
    engine_words(out, "--host 0.0.0.0 --port \"$port\" --config \"$config\"");
    if (place->hosts == 1) return;
    engine_flag(out, "--gpus_per_node", place->host_devices);
    engine_export(out, "if ((node > 0)); then exec sleep infinity; fi # mpirun on the first host starts all ranks\n");
    engine_export(out,
                  "    local on\n    on=$(printf '%%s:%lld,' \"${HOSTS[@]:first:%lld}\")\n"
                  "    exec mpirun -n %lld -H \"${on%%,}\" trtllm-llmapi-launch \\\n        ",
                  (long long)place->host_devices, (long long)place->hosts, (long long)worker_devices(ask->layout));
}

static void route(const EngineRoute *to, FILE *out) {
    (void)to;
    fprintf(out, "    local config url\n"
                 "    config=$(mktemp)\n"
                 "    {\n"
                 "        printf 'hostname: 0.0.0.0\\nport: %%s\\nbackend: pytorch\\n' \"$PORT\"\n"
                 "        printf 'context_servers:\\n  num_instances: %%s\\n  urls:\\n' \"${#PROMPT_URLS[@]}\"\n"
                 "        for url in \"${PROMPT_URLS[@]}\"; do printf '    - \"%%s\"\\n' \"${url#http://}\"; done\n"
                 "        printf 'generation_servers:\\n  num_instances: %%s\\n  urls:\\n' \"${#DECODE_URLS[@]}\"\n"
                 "        for url in \"${DECODE_URLS[@]}\"; do printf '    - \"%%s\"\\n' \"${url#http://}\"; done\n"
                 "    } >\"$config\"\n"
                 "    exec trtllm-serve disaggregated -c \"$config\"\n");
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
    .flags = FLAGS,
    .words = words,
    .start = {true, 0, "trtllm-serve @00209af", NULL, place, route, engine_test_genai_perf},
};
