/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SGLang. Rules: python/sglang/srt/server_args.py @469c63e (August 2026). Flags: sglang/srt/arg_groups/fields/ and
 * parallel_hook.py of the package sglang 0.5.23 (November 2026; --attn-dp-size was --dp-size with --enable-dp-attention
 * before); its router: sglang_router/router_args.py of sglang-router 0.3.2; its load test: sglang/benchmark/serving.py.
 */
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

/* --tp-size counts all ranks of a stage: attention data parallel lies inside it. --max-running-requests and
 * --chunked-prefill-size are of all of them, and are divided by it (arg_groups/parallel_hook.py). */
static void words(const EngineAsk *ask, const EngineKnobs *knobs, EngineWords *out) {
    const WorkerLayout *layout = ask->layout;
    char share[32];
    engine_words(out, "python -m sglang.launch_server --model-path");
    engine_word(out, WORD_MODEL, "");
    engine_flag(out, "--tp-size", worker_group(layout));
    if (layout->pipeline > 1) engine_flag(out, "--pp-size", layout->pipeline);
    if (layout->attention_data > 1) engine_flag(out, "--attn-dp-size", layout->attention_data);
    if (layout->expert > 1) engine_flag(out, "--ep-size", layout->expert);
    if (layout->expert > 1 && layout->attention_data > 1) engine_words(out, "--moe-a2a-backend deepep");
    engine_flag(out, "--max-running-requests", knobs->sequences);
    if (knobs->role != ENGINE_DECODES) engine_flag(out, "--chunked-prefill-size", knobs->step_tokens);
    if (knobs->role == ENGINE_ALONE) engine_words(out, "--enable-mixed-chunk");
    engine_flag(out, "--context-length", knobs->length);
    snprintf(share, sizeof share, "%.2f", knobs->memory_fraction);
    engine_word(out, WORD_TEXT, "--mem-fraction-static");
    engine_word(out, WORD_TEXT, share);
    if (layout->weights == STORED_FP8) engine_words(out, "--quantization fp8");
    if (layout->cache == STORED_FP8) engine_words(out, "--kv-cache-dtype fp8_e4m3");
    if (knobs->drafts < 1) return;
    engine_words(out, "--speculative-algorithm");
    engine_words(out, engine_drafts_itself(ask->model) ? "NEXTN" : "EAGLE3");
    if (!engine_drafts_itself(ask->model)) {
        engine_words(out, "--speculative-draft-model-path");
        engine_word(out, WORD_DRAFT, "");
    }
    engine_flag(out, "--speculative-num-steps", knobs->drafts);
    engine_words(out, "--speculative-eagle-topk 1");
    engine_flag(out, "--speculative-num-draft-tokens", knobs->drafts + 1);
}

static void place(const EngineAsk *ask, const EnginePlace *place, EngineWords *out) {
    (void)ask;
    engine_words(out, "--host 0.0.0.0 --port");
    engine_word(out, WORD_SHELL, "\"$port\"");
    if (place->role != ENGINE_PROMPTS) {
        engine_word(out, WORD_TEXT, "--cuda-graph-max-bs-decode");
        engine_word(out, WORD_SHELL, "\"$GRAPHS\"");
    }
    if (place->hosts > 1) {
        engine_flag(out, "--nnodes", place->hosts);
        engine_word(out, WORD_TEXT, "--node-rank");
        engine_word(out, WORD_SHELL, "\"$node\"");
        engine_word(out, WORD_TEXT, "--dist-init-addr");
        engine_word(out, WORD_SHELL, "\"$head:$((29000 + worker))\"");
    }
    if (place->role == ENGINE_ALONE) return;
    bool prompts = place->role == ENGINE_PROMPTS;
    engine_words(out, prompts ? "--disaggregation-mode prefill" : "--disaggregation-mode decode");
    engine_words(out, "--disaggregation-transfer-backend nixl");
    if (!prompts) return;
    engine_word(out, WORD_TEXT, "--disaggregation-bootstrap-port");
    engine_word(out, WORD_SHELL, "\"$((9000 + worker))\"");
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
    .weights = 1u << STORED_BF16 | 1u << STORED_FP8 | 1u << STORED_INT8 | 1u << STORED_MXFP4 | 1u << STORED_NVFP4 |
               1u << STORED_INT4,
    .caches = 1u << STORED_BF16 | 1u << STORED_FP8,
    .refuses = refuses,
    .words = words,
    .start = {false, 0, "SGLang 0.5.23 and sglang-router 0.3.2", NULL, place, route, test},
};
