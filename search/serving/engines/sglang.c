/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SGLang. Rules: python/sglang/srt/server_args.py @469c63e (August 2026). Flags: sglang/srt/arg_groups/fields/ and
 * parallel_hook.py of the package sglang 0.5.23 (November 2026; --attn-dp-size was --dp-size with --enable-dp-attention
 * before); its router: sglang_router/router_args.py of sglang-router 0.3.2; its load test: sglang/benchmark/serving.py.
 */
#include "base/util.h"
#include "cost/serving/matrices.h"
#include "search/serving/engines/engine.h"

/* Mixtures whose code (sglang/srt/models of the package) knows attention groups that are smaller than tensor, but hands
 * no tokens to DeepEP (no get_moe_impl_class); and those that know neither. */
static const char *const UNDISPATCHED[] = {"llama4", "llama4_text", "mellum", NULL};
static const char *const WHOLE[] = {"dbrx", "granitemoehybrid", "grok", "hy_v3", "lfm2", "lfm2_moe", "mixtral", NULL};

/* DeepEP's kernels are compiled for these widths (vllm's prepare_finalize/deepep_ll.py lists them). With a batch above
 * DISPATCHED its buffers have to be configured, by a variable that sglang/srt/environ.py sets to this. */
static const int64_t DEEPEP_WIDTHS[] = {2048, 2560, 3072, 4096, 5120, 6144, 7168, 8192};
enum { DISPATCHED = 128 };

static bool exchanges(const WorkerLayout *layout) { return layout->expert > 1 && layout->attention_data > 1; }

static const char *refuses_exchange(const EngineAsk *ask) {
    const Model *model = ask->model;
    bool compiled = model->family[0] == '\0' || engine_is_rocm(ask);
    for (size_t i = 0; i < COUNT_OF(DEEPEP_WIDTHS); i++) compiled |= model->d_model == DEEPEP_WIDTHS[i];
    if (!compiled) return "DeepEP is not compiled for the width of this model";
    if (engine_family_among(model, UNDISPATCHED)) return "the code of this model does not exchange tokens by DeepEP";
    return engine_deepep_refuses(ask);
}

static const char *refuses(const EngineAsk *ask) {
    const WorkerLayout *layout = ask->layout;
    const char *common = engine_common_refuses(ask);
    if (common) return common;
    if (layout->kv_sequence > 1) return "the cache is not cut by sequence in decode";
    if (layout->attention_data > 1 && !model_has_experts(ask->model))
        return "attention data parallel is for mixtures (help of --enable-dp-attention)";
    if (layout->attention_data > 1 && layout->expert > 1 && layout->expert_tensor > 1)
        return "DeepEP, which attention data parallel exchanges tokens with, forces all ranks into the expert group";
    if (layout->attention_data > 1 && engine_family_among(ask->model, WHOLE))
        return "the code of this model has no attention data parallel";
    return exchanges(layout) ? refuses_exchange(ask) : NULL;
}

/* --tp-size counts all ranks of a stage: attention data parallel lies inside it. --max-running-requests and
 * --chunked-prefill-size are of all of them, and are divided by it (arg_groups/parallel_hook.py). */
static const EngineFlag FLAGS[] = {
    {"--tp-size", SERVED_TENSOR, 'w', false},
    {"--tp", SERVED_TENSOR, '\0', false},
    {"--pp-size", SERVED_PIPELINE, 'w', true},
    {"--pp", SERVED_PIPELINE, '\0', false},
    {"--attn-dp-size", SERVED_ATTENTION_DATA, 'w', true},
    {"--attention-data-parallel-size", SERVED_ATTENTION_DATA, '\0', false},
    {"--dp-size", SERVED_DATA, '\0', false},
    {"--dp", SERVED_DATA, '\0', false},
    {"--enable-dp-attention", SERVED_DATA_ATTENDS, '\0', false},
    {"--ep-size", SERVED_EXPERT, 'w', true},
    {"--expert-parallel-size", SERVED_EXPERT, '\0', false},
    {"--ep", SERVED_EXPERT, '\0', false},
    {"--max-running-requests", SERVED_SEQUENCES, 'r', false},
    {"--chunked-prefill-size", SERVED_TOKENS, 'c', false},
    {"--speculative-num-steps", SERVED_DRAFTS, 's', false},
    {NULL},
};
static void words(const EngineAsk *ask, const EngineKnobs *knobs, EngineWords *out) {
    const WorkerLayout *layout = ask->layout;
    int64_t says[SERVED_FLAGS];
    engine_says(ask, knobs, says);
    says[SERVED_TENSOR] = worker_group(layout);
    says[SERVED_SEQUENCES] = knobs->sequences;
    says[SERVED_TOKENS] = knobs->step_tokens;
    int64_t dispatched = divide_up(knobs->sequences, layout->attention_data) * (knobs->drafts + 1);
    bool deepep = exchanges(layout) && !engine_is_rocm(ask);
    if (deepep && knobs->role != ENGINE_PROMPTS && dispatched > DISPATCHED)
        engine_words(out, "env SGLANG_DEEPEP_NUM_MAX_DISPATCH_TOKENS_PER_RANK=%lld", (long long)dispatched);
    engine_words(out, "python -m sglang.launch_server --model-path");
    engine_word(out, WORD_MODEL, "");
    engine_flags(out, FLAGS, 'w', says);
    if (exchanges(layout)) engine_words(out, "--moe-a2a-backend %s", deepep ? "deepep" : "mori");
    if (deepep && knobs->role != ENGINE_ALONE) /* else buffers of both kinds, the larger of which some widths lack */
        engine_words(out, "--deepep-mode %s", knobs->role == ENGINE_PROMPTS ? "normal" : "low_latency");
    if (engine_is_wide(ask)) engine_words(out, "--enable-two-batch-overlap");
    if (engine_balances(ask)) engine_words(out, "--enable-eplb");
    if (engine_redundant_experts(ask) > 0)
        engine_flag(out, "--ep-num-redundant-experts", engine_redundant_experts(ask));
    engine_flags(out, FLAGS, 'r', says);
    if (knobs->role != ENGINE_DECODES) engine_flags(out, FLAGS, 'c', says);
    if (knobs->role == ENGINE_ALONE) engine_words(out, "--enable-mixed-chunk");
    engine_flag(out, "--context-length", knobs->length);
    engine_words(out, "--mem-fraction-static %.2f", knobs->memory_fraction);
    if (layout->weights == STORED_FP8) engine_words(out, "--quantization fp8");
    if (layout->cache == STORED_FP8) engine_words(out, "--kv-cache-dtype fp8_e4m3");
    if (knobs->host_bytes > 0)
        engine_words(out, "--enable-hierarchical-cache --hicache-size %.0f", knobs->host_bytes / 1e9);
    if (knobs->adapters.count > 0) { /* the base alone counts as one */
        engine_words(out, "--enable-lora --lora-target-modules all");
        engine_flag(out, "--max-loras-per-batch", knobs->adapters.count + 1);
        engine_flag(out, "--max-lora-rank", knobs->adapters.rank);
    }
    if (knobs->role != ENGINE_ALONE)
        engine_words(out, "--disaggregation-mode %s --disaggregation-transfer-backend nixl",
                     knobs->role == ENGINE_PROMPTS ? "prefill" : "decode");
    if (knobs->drafts < 1) return;
    engine_words(out, "--speculative-algorithm %s", engine_drafts_itself(ask->model) ? "NEXTN" : "EAGLE3");
    if (!engine_drafts_itself(ask->model)) {
        engine_words(out, "--speculative-draft-model-path");
        engine_word(out, WORD_DRAFT, "");
    }
    engine_flags(out, FLAGS, 's', says);
    engine_words(out, "--speculative-eagle-topk 1");
    engine_flag(out, "--speculative-num-draft-tokens", knobs->drafts + 1);
}

static void place(const EngineAsk *ask, const EnginePlace *place, EngineWords *out) {
    (void)ask;
    engine_words(out, "--host 0.0.0.0 --port \"$port\"");
    if (place->role != ENGINE_PROMPTS) engine_words(out, "--cuda-graph-max-bs-decode \"$GRAPHS\"");
    if (place->hosts > 1)
        engine_words(out, "--nnodes %lld --node-rank \"$node\" --dist-init-addr \"$head:$((29000 + worker))\"",
                     (long long)place->hosts);
    if (place->role == ENGINE_PROMPTS) engine_words(out, "--disaggregation-bootstrap-port \"$((9000 + worker))\"");
}

static void route(const EngineRoute *to, FILE *out) {
    const char *policy = to->cached ? "cache_aware" : "round_robin";
    if (!to->two_pools) {
        fprintf(out,
                "    exec python -m sglang_router.launch_router --host 0.0.0.0 --port \"$PORT\" --policy %s \\\n"
                "        --worker-urls \"${URLS[@]}\"\n",
                policy);
        return;
    }
    fprintf(out,
            "    local to=() i\n"
            "    for i in \"${!PROMPT_URLS[@]}\"; do\n"
            "        to+=(--prefill \"${PROMPT_URLS[i]}\" \"$((9000 + PROMPT_WORKERS[i]))\")\n"
            "    done\n"
            "    for i in \"${DECODE_URLS[@]}\"; do to+=(--decode \"$i\"); done\n"
            "    exec python -m sglang_router.launch_router --host 0.0.0.0 --port \"$PORT\" --policy %s \\\n"
            "        --pd-disaggregation \"${to[@]}\"\n",
            policy);
}

static void test(const EngineRoute *to, FILE *out) {
    fprintf(out, "    python -m sglang.bench_serving --backend sglang --base-url \"$URL\" --model \"$MODEL\" \\\n"
                 "        --dataset-name random-ids --random-input-len \"$PROMPT\" --random-output-len \"$OUTPUT\" \\\n"
                 "        --random-range-ratio 1 --num-prompts \"$REQUESTS\" \\\n");
    fprintf(out, to->concurrency > 0 ? "        --max-concurrency \"$LOAD\"" : "        --request-rate \"$LOAD\"");
    fprintf(out, " --tag \"${FACTS[*]}\" --output-file \"$RESULT\"\n");
}

const Engine ENGINE_SGLANG = {
    .name = "sglang",
    .title = "SGLang",
    .on_gpus = true,
    .two_pools = true,
    .memory_of_all = true,
    .adapters = true,
    .weights = 1u << STORED_BF16 | 1u << STORED_FP8 | 1u << STORED_INT8 | 1u << STORED_MXFP4 | 1u << STORED_NVFP4 |
               1u << STORED_INT4,
    .caches = 1u << STORED_BF16 | 1u << STORED_FP8,
    .refuses = refuses,
    .flags = FLAGS,
    .words = words,
    .start = {false, 0, "SGLang 0.5.23 and sglang-router 0.3.2", NULL, place, route, test},
};
