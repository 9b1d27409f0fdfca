/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vLLM. Rules: vllm/config/parallel.py and vllm/config/model.py @00193b8 (August 2026). On TPUs: tpu-inference@b8692ff,
 * which does not copy heads of the cache but attends in data parallel beyond them. Flags: vllm/engine/arg_utils.py,
 * vllm/entrypoints/cli/serve.py (--headless) and vllm/config/kv_transfer.py of the package vllm 0.33.0 (November 2026);
 * its router: vllm_router/router_args.py of vllm-router 0.1.17. */
#include "base/util.h"
#include "cost/serving/cache.h"
#include "cost/serving/matrices.h"
#include "search/serving/engines/engine.h"

static const char *refuses_context(const EngineAsk *ask) {
    const WorkerLayout *layout = ask->layout;
    for (int i = 0; i < ask->model->kind_count && layout->kv_sequence > 1; i++) {
        const LayerKind *kind = &ask->model->kinds[i];
        bool latent = kind->attention == ATTENTION_LATENT;
        if (kind->heads == 0) continue;
        if (layout->tensor % layout->kv_sequence != 0) return "decode context parallel has to divide tensor";
        if (!latent && (layout->tensor <= kind->kv_heads || layout->kv_sequence > layout->tensor / kind->kv_heads))
            return "decode context parallel takes tensor ranks beyond the heads of the cache alone";
        if (!latent && (kind->heads / kind->kv_heads) % layout->kv_sequence != 0)
            return "decode context parallel has to divide the query heads of one head of the cache";
    }
    return NULL;
}

/* Mixtures whose code lets no balancer copy experts: no MixtureOfExperts in vllm/model_executor/models. */
static const char *const UNBALANCED[] = {
    "dbrx",    "gpt_oss",    "granitemoehybrid", "grok",      "kimi_linear", "longcat_flash",
    "minimax", "minimax_m2", "minimax_m3",       "qwen2_moe", NULL};

static const char *refuses(const EngineAsk *ask) {
    const WorkerLayout *layout = ask->layout;
    bool experts = model_has_experts(ask->model), tpu = !chip_has_domains(ask->chip);
    const char *common = engine_common_refuses(ask);
    if (common) return common;
    if (layout->attention_data > 1 && !experts) return "a dense model runs as copies, not with attention data parallel";
    if (experts && layout->expert > 1 && layout->expert_tensor > 1)
        return "the expert group is all of tensor x data parallel, or none";
    if (engine_redundant_experts(ask) > 0 && engine_family_among(ask->model, UNBALANCED))
        return "the code of this model has no copies of experts";
    if (ask->role == ENGINE_PROMPTS && layout->attention_data > 1 && layout->expert > 1 && engine_deepep_refuses(ask))
        return engine_deepep_refuses(ask);
    if (tpu && layout->pipeline > 1) return "there are no pipelines on TPUs";
    for (int i = 0; i < ask->model->kind_count && tpu; i++)
        if (cache_copies(&ask->model->kinds[i], layout->tensor) > layout->kv_sequence)
            return "heads of the cache are not copied on TPUs";
    return refuses_context(ask);
}

/* --max-num-seqs and --max-num-batched-tokens are of each rank of data parallel. */
static const EngineFlag FLAGS[] = {
    {"--tensor-parallel-size", SERVED_TENSOR, 'w', false},
    {"--pipeline-parallel-size", SERVED_PIPELINE, 'w', true},
    {"--data-parallel-size", SERVED_DATA, 'w', true},
    {"--enable-expert-parallel", SERVED_EXPERT_ALL, 'w', false},
    {"--decode-context-parallel-size", SERVED_CONTEXT, 'w', true},
    {"--max-num-seqs", SERVED_SEQUENCES, 'w', false},
    {"--max-num-batched-tokens", SERVED_TOKENS, 'w', false},
    {"--speculative-config.num_speculative_tokens", SERVED_DRAFTS, 's', false},
    {NULL},
};

/* What moves caches from one pool to the other, and how tokens go to experts there. */
static void add_role(const EngineAsk *ask, EngineRole role, EngineWords *out) {
    const WorkerLayout *layout = ask->layout;
    bool prompts = role == ENGINE_PROMPTS;
    if (role == ENGINE_ALONE) return;
    if (layout->expert > 1 && layout->attention_data > 1)
        engine_words(out, "--all2all-backend %s_%s", engine_is_rocm(ask) ? "mori" : "deepep",
                     prompts ? "high_throughput" : "low_latency");
    engine_words(out, "--kv-transfer-config");
    engine_word(out, WORD_TEXT,
                prompts ? "{\"kv_connector\": \"NixlConnector\", \"kv_role\": \"kv_producer\"}"
                        : "{\"kv_connector\": \"NixlConnector\", \"kv_role\": \"kv_consumer\"}");
}

/* vllm/config/lora.py has these ranks; an adapter of a lower one is filled up. */
static void add_adapters(const Adapters *adapters, EngineWords *out) {
    static const int64_t RANKS[] = {1, 8, 16, 32, 64, 128, 256, 320, 512};
    size_t rank = 0;
    if (adapters->count == 0) return;
    while (rank + 1 < COUNT_OF(RANKS) && RANKS[rank] < adapters->rank) rank++;
    engine_words(out, "--enable-lora");
    engine_flag(out, "--max-loras", adapters->count);
    engine_flag(out, "--max-lora-rank", RANKS[rank]);
}

static void words(const EngineAsk *ask, const EngineKnobs *knobs, EngineWords *out) {
    const WorkerLayout *layout = ask->layout;
    int64_t says[SERVED_FLAGS];
    engine_says(ask, knobs, says);
    engine_words(out, "vllm serve");
    engine_word(out, WORD_MODEL, "");
    engine_flags(out, FLAGS, 'w', says);
    engine_flag(out, "--max-model-len", knobs->length);
    engine_words(out, "--gpu-memory-utilization %.2f", knobs->memory_fraction);
    if (layout->weights == STORED_FP8) engine_words(out, "--quantization fp8");
    if (layout->cache == STORED_FP8) engine_words(out, "--kv-cache-dtype fp8");
    int64_t copies = engine_redundant_experts(ask);
    if ((engine_balances(ask) || copies > 0) && !engine_family_among(ask->model, UNBALANCED))
        engine_words(out, "--enable-eplb");
    if (copies > 0) engine_flag(out, "--eplb-config.num_redundant_experts", copies);
    add_adapters(&knobs->adapters, out);
    if (knobs->host_bytes > 0) /* GiB of all ranks: vllm/config/cache.py */
        engine_words(out, "--kv-offloading-size %.0f",
                     knobs->host_bytes * (double)(layout->tensor * layout->pipeline) / (1 << 30));
    add_role(ask, knobs->role, out);
    if (knobs->drafts < 1) return;
    engine_words(out, "--speculative-config.method %s", engine_drafts_itself(ask->model) ? "mtp" : "eagle3");
    if (!engine_drafts_itself(ask->model)) {
        engine_words(out, "--speculative-config.model");
        engine_word(out, WORD_DRAFT, "");
    }
    engine_flags(out, FLAGS, 's', says);
}

static const char *cannot(const EngineAsk *ask, const EnginePlace *place) {
    if (place->hosts == 1) return NULL;
    if (!chip_has_domains(ask->chip)) return "a worker on several hosts of TPUs is started through Ray";
    if (ask->layout->attention_data > 1 && place->host_devices % (ask->layout->tensor * ask->layout->pipeline) != 0)
        return "a rank of attention data parallel would lie on several hosts";
    return NULL;
}

/* Over hosts: ranks of data parallel join over an address of their own, ranks of tensor and pipeline are one group of
 * nodes. Graphs are captured for every batch that was priced: the default ends at 512. */
static void place(const EngineAsk *ask, const EnginePlace *place, EngineWords *out) {
    const WorkerLayout *layout = ask->layout;
    engine_words(out, "--host 0.0.0.0 --port \"$port\"");
    if (place->role != ENGINE_PROMPTS) engine_words(out, "--max-cudagraph-capture-size \"$GRAPHS\"");
    if (place->hosts > 1 && layout->attention_data > 1) {
        long long local = place->host_devices / (layout->tensor * layout->pipeline);
        engine_words(out,
                     "--data-parallel-size-local %lld --data-parallel-start-rank \"$((node * %lld))\" "
                     "--data-parallel-address \"$head\" --data-parallel-rpc-port \"$((29000 + worker))\"",
                     local, local);
    } else if (place->hosts > 1) {
        engine_words(out,
                     "--nnodes %lld --node-rank \"$node\" --master-addr \"$head\" --master-port "
                     "\"$((29000 + worker))\"",
                     (long long)place->hosts);
    }
    if (place->hosts > 1) {
        engine_export(out, "local also=()\n    if ((node > 0)); then also=(--headless); fi\n");
        engine_words(out, "\"${also[@]}\"");
    }
    if (place->role == ENGINE_ALONE) return;
    engine_export(out,
                  "export VLLM_NIXL_SIDE_CHANNEL_HOST=$here VLLM_NIXL_SIDE_CHANNEL_PORT=$((5600 + 64 * worker))\n");
}

static void route(const EngineRoute *to, FILE *out) {
    const char *policy = to->cached ? "cache_aware" : "round_robin";
    if (!to->two_pools) {
        fprintf(out, "    exec vllm-router --host 0.0.0.0 --port \"$PORT\" --policy %s --worker-urls \"${URLS[@]}\"\n",
                policy);
        return;
    }
    fprintf(out,
            "    local to=() url\n"
            "    for url in \"${PROMPT_URLS[@]}\"; do to+=(--prefill \"$url\"); done\n"
            "    for url in \"${DECODE_URLS[@]}\"; do to+=(--decode \"$url\"); done\n"
            "    exec vllm-router --host 0.0.0.0 --port \"$PORT\" --policy %s --vllm-pd-disaggregation \"${to[@]}\"\n",
            policy);
}

const Engine ENGINE_VLLM = {
    .name = "vllm",
    .title = "vLLM",
    .on_gpus = true,
    .on_tpus = true,
    .two_pools = true,
    .memory_of_all = true,
    .adapters = true,
    .weights = 1u << STORED_BF16 | 1u << STORED_FP8 | 1u << STORED_INT8 | 1u << STORED_MXFP4 | 1u << STORED_NVFP4 |
               1u << STORED_INT4,
    .caches = 1u << STORED_BF16 | 1u << STORED_FP8,
    .refuses = refuses,
    .flags = FLAGS,
    .words = words,
    .start = {false, 0, "vLLM 0.33.0 and vllm-router 0.1.17", cannot, place, route, engine_test_vllm},
};
