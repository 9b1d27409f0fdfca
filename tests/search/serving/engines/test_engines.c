/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What each engine refuses, at the edge of each rule, and the whole line that starts a worker: by the sources that
 * search/serving/engines names. */
#include "base/util.h"
#include "search/serving/engines/engine.h"

#include <criterion/criterion.h>
#include <string.h>

/* 64 heads, of which 8 of the cache; dense, or of 8 experts 1536 wide. */
static Model model_of(bool mixture) {
    Model model = {.name = "m", .layers = 8, .d_model = 8192, .kind_count = 1};
    model.kinds[0] = (LayerKind){.count = 8, .heads = 64, .kv_heads = 8, .head_dim = 128, .d_ff = 28672};
    if (mixture) model.kinds[0].experts = 8, model.kinds[0].top_k = 2, model.kinds[0].d_ff_expert = 1536;
    return model;
}

static Chip chip_of(bool tpu) {
    return (Chip){.scaleup = tpu ? SCALEUP_TORUS_2D : SCALEUP_SWITCH, .domain_chips = tpu ? 0 : 8};
}

/* Why an engine refuses a layout; "" where it takes it. tensor, attention data, pipeline; expert and each one's width;
 * the cache by sequence and by batch; matmuls by both; types. */
static const struct {
    const char *engine;
    bool mixture, tpu;
    WorkerLayout layout;
    const char *says;
} RULES[] = {
    {"vllm", false, false, {8, 1, 2, 1, 1, 1, 1, 1, STORED_BF16, STORED_BF16}, ""},
    {"vllm", false, false, {8, 2, 1, 1, 1, 1, 1, 1, STORED_BF16, STORED_BF16}, "a dense model runs as copies"},
    {"vllm", true, false, {8, 2, 1, 1, 16, 1, 1, 1, STORED_BF16, STORED_BF16}, ""},
    {"vllm", true, false, {8, 1, 1, 4, 2, 1, 1, 1, STORED_BF16, STORED_BF16}, "all of tensor x data parallel, or none"},
    {"vllm", true, false, {8, 1, 1, 8, 1, 1, 1, 1, STORED_BF16, STORED_BF16}, ""},
    {"tensorrt-llm", true, false, {1, 6, 1, 6, 1, 1, 1, 1, STORED_BF16, STORED_BF16}, "copies of experts"},
    {"vllm", false, true, {8, 1, 1, 1, 1, 1, 1, 1, STORED_BF16, STORED_BF16}, ""},
    {"vllm", false, true, {8, 1, 2, 1, 1, 1, 1, 1, STORED_BF16, STORED_BF16}, "no pipelines on TPUs"},
    {"vllm", false, true, {16, 1, 1, 1, 1, 1, 1, 1, STORED_BF16, STORED_BF16}, "not copied on TPUs"},
    {"vllm", false, true, {16, 1, 1, 1, 1, 2, 1, 1, STORED_BF16, STORED_BF16}, ""},
    {"vllm", false, false, {16, 1, 1, 1, 1, 1, 1, 1, STORED_BF16, STORED_BF16}, ""},
    {"vllm", false, false, {16, 1, 1, 1, 1, 2, 1, 1, STORED_BF16, STORED_BF16}, ""},
    {"vllm", false, false, {16, 1, 1, 1, 1, 4, 1, 1, STORED_BF16, STORED_BF16}, "beyond the heads of the cache alone"},
    {"vllm", false, false, {8, 1, 1, 1, 1, 2, 1, 1, STORED_BF16, STORED_BF16}, "beyond the heads of the cache alone"},
    {"vllm", false, false, {16, 1, 1, 1, 1, 3, 1, 1, STORED_BF16, STORED_BF16}, "has to divide tensor"},
    /* 24 ranks over 8 heads leave 3 for each, which do not divide 8 query heads */
    {"vllm", false, false, {24, 1, 1, 1, 1, 3, 1, 1, STORED_BF16, STORED_BF16}, "divide the query heads"},
    {"vllm", false, false, {16, 1, 1, 1, 1, 1, 2, 1, STORED_BF16, STORED_BF16}, "not cut by batch"},
    {"vllm", false, false, {8, 1, 1, 1, 1, 1, 1, 2, STORED_BF16, STORED_BF16}, "not cut in two dimensions"},
    /* 1536 / 4 = 384 are three blocks of 128; 1536 / 8 = 192 are one and a half */
    {"vllm", true, false, {4, 1, 1, 1, 4, 1, 1, 1, STORED_FP8, STORED_BF16}, ""},
    {"vllm", true, false, {8, 1, 1, 1, 8, 1, 1, 1, STORED_FP8, STORED_BF16}, "a block of fp8 weights would be cut"},
    {"vllm", true, false, {8, 1, 1, 1, 8, 1, 1, 1, STORED_INT8, STORED_BF16}, ""},
    {"sglang", false, false, {8, 1, 2, 1, 1, 1, 1, 1, STORED_BF16, STORED_BF16}, ""},
    {"sglang", false, false, {16, 1, 1, 1, 1, 2, 1, 1, STORED_BF16, STORED_BF16}, "not cut by sequence in decode"},
    {"sglang", false, false, {4, 2, 1, 1, 1, 1, 1, 1, STORED_BF16, STORED_BF16}, "is for mixtures"},
    {"sglang", true, false, {4, 2, 1, 8, 1, 1, 1, 1, STORED_BF16, STORED_BF16}, ""},
    {"sglang", true, false, {4, 2, 1, 1, 8, 1, 1, 1, STORED_BF16, STORED_BF16}, ""},
    {"sglang", true, false, {4, 2, 1, 2, 4, 1, 1, 1, STORED_BF16, STORED_BF16}, "forces all ranks"},
    {"sglang", true, false, {8, 1, 1, 2, 4, 1, 1, 1, STORED_BF16, STORED_BF16}, ""},
    {"tensorrt-llm", true, false, {1, 8, 1, 8, 1, 1, 1, 1, STORED_BF16, STORED_BF16}, ""},
    {"tensorrt-llm", true, false, {2, 4, 1, 8, 1, 1, 1, 1, STORED_BF16, STORED_BF16}, "takes all ranks or none"},
    {"tensorrt-llm", false, false, {1, 8, 1, 1, 1, 1, 1, 1, STORED_BF16, STORED_BF16}, "a dense model runs as copies"},
    {"tensorrt-llm", false, false, {16, 1, 1, 1, 1, 2, 1, 1, STORED_BF16, STORED_BF16}, "is for prefill"},
    {"tensorrt-llm",
     true,
     false,
     {16, 1, 1, 2, 8, 2, 1, 1, STORED_BF16, STORED_BF16},
     "excludes experts cut both ways"},
    {"tensorrt-llm", true, false, {16, 1, 1, 2, 8, 1, 1, 1, STORED_BF16, STORED_BF16}, ""},
    {"maxtext", false, true, {8, 1, 1, 1, 1, 1, 1, 1, STORED_BF16, STORED_BF16}, ""},
    {"maxtext", false, true, {8, 1, 2, 1, 1, 1, 1, 1, STORED_BF16, STORED_BF16}, "no pipelines in decode"},
    {"maxtext", false, true, {8, 1, 1, 1, 1, 1, 1, 2, STORED_BF16, STORED_BF16}, "not cut in two dimensions"},
    {"maxtext", false, true, {8, 2, 1, 1, 1, 1, 1, 1, STORED_BF16, STORED_BF16}, "an axis of vLLM-TPU"},
    {"maxtext", true, true, {8, 1, 1, 2, 4, 1, 1, 1, STORED_BF16, STORED_BF16}, "its axis of experts"},
    {"maxtext", false, true, {16, 1, 1, 1, 1, 2, 1, 1, STORED_BF16, STORED_BF16}, "do not cut the cache by sequence"},
    {"maxtext", false, true, {16, 1, 1, 1, 1, 1, 1, 1, STORED_BF16, STORED_BF16}, "heads of the cache are not copied"},
    {"maxtext", false, true, {16, 1, 1, 1, 1, 1, 2, 1, STORED_BF16, STORED_BF16}, ""},
    {"maxtext", true, true, {16, 1, 1, 1, 16, 1, 2, 1, STORED_BF16, STORED_BF16}, "of dense models"},
    {"maxtext", true, true, {8, 1, 1, 1, 8, 1, 1, 1, STORED_BF16, STORED_BF16}, ""},
};

Test(engines, rules) {
    for (size_t i = 0; i < COUNT_OF(RULES); i++) {
        Model model = model_of(RULES[i].mixture);
        Chip chip = chip_of(RULES[i].tpu);
        const char *why = engine_at(engine_named(RULES[i].engine))
                              ->refuses(&(EngineAsk){&model, &chip, &RULES[i].layout, ENGINE_ALONE});
        if (!why) why = "";
        cr_expect(RULES[i].says[0] ? strstr(why, RULES[i].says) != NULL : !why[0], "%zu, %s: \"%s\", not \"%s\"", i,
                  RULES[i].engine, why, RULES[i].says);
    }
}

/* What an engine's code for a family cannot, by the sources that search/serving/engines names: Llama 4 attends in
 * groups under SGLang but sends no tokens by DeepEP, Mixtral does neither, DeepEP has no kernels 2,880 wide, and vLLM
 * copies no experts of gpt-oss: 8 on 6 ranks are 12. */
Test(engines, families) {
    static const struct {
        const char *engine, *family;
        int64_t d_model;
        WorkerLayout layout;
        const char *says;
    } ROWS[] = {
        {"sglang", "qwen3_moe", 4096, {4, 2, 1, 8, 1, 1, 1, 1, STORED_BF16, STORED_BF16}, ""},
        {"sglang", "llama4", 5120, {4, 2, 1, 8, 1, 1, 1, 1, STORED_BF16, STORED_BF16}, "does not exchange tokens"},
        {"sglang", "llama4", 5120, {4, 2, 1, 1, 8, 1, 1, 1, STORED_BF16, STORED_BF16}, ""},
        {"sglang", "llama4", 5120, {8, 1, 1, 8, 1, 1, 1, 1, STORED_BF16, STORED_BF16}, ""},
        {"sglang", "mixtral", 4096, {4, 2, 1, 1, 8, 1, 1, 1, STORED_BF16, STORED_BF16}, "no attention data parallel"},
        {"sglang", "gpt_oss", 2880, {4, 2, 1, 8, 1, 1, 1, 1, STORED_BF16, STORED_BF16}, "not compiled for the width"},
        {"sglang", "gpt_oss", 2880, {4, 2, 1, 1, 8, 1, 1, 1, STORED_BF16, STORED_BF16}, ""},
        {"vllm", "gpt_oss", 2880, {1, 6, 1, 6, 1, 1, 1, 1, STORED_BF16, STORED_BF16}, "no copies of experts"},
        {"vllm", "qwen3_moe", 4096, {1, 6, 1, 6, 1, 1, 1, 1, STORED_BF16, STORED_BF16}, ""},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Model model = model_of(true);
        Chip chip = chip_of(false);
        snprintf(model.family, sizeof model.family, "%s", ROWS[i].family);
        model.d_model = ROWS[i].d_model;
        const char *why = engine_at(engine_named(ROWS[i].engine))
                              ->refuses(&(EngineAsk){&model, &chip, &ROWS[i].layout, ENGINE_ALONE});
        if (!why) why = "";
        bool right = ROWS[i].says[0] ? strstr(why, ROWS[i].says) != NULL : !why[0];
        cr_expect(right, "%s of %s: \"%s\", not \"%s\"", ROWS[i].engine, ROWS[i].family, why, ROWS[i].says);
    }
}

/* deep_ep/buffers/legacy.py lists the ranks: 24 and 32 are among them, 40 and 56 are not. What decodes does not use
 * those kernels, nor does vLLM without two pools; SGLang has buffers for both where it is alone. */
Test(engines, deepep_ranks) {
    static const struct {
        const char *engine;
        int64_t ranks;
        EngineRole role;
        bool takes;
    } ROWS[] = {
        {"sglang", 24, ENGINE_PROMPTS, true}, {"sglang", 40, ENGINE_PROMPTS, false},
        {"sglang", 40, ENGINE_ALONE, false},  {"sglang", 56, ENGINE_DECODES, true},
        {"vllm", 32, ENGINE_PROMPTS, true},   {"vllm", 40, ENGINE_PROMPTS, false},
        {"vllm", 40, ENGINE_ALONE, true},     {"vllm", 40, ENGINE_DECODES, true},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Model model = model_of(true);
        Chip chip = chip_of(false);
        WorkerLayout layout = {1, ROWS[i].ranks, 1, ROWS[i].ranks, 1, 1, 1, 1, STORED_BF16, STORED_BF16};
        EngineAsk ask = {&model, &chip, &layout, ROWS[i].role};
        const char *why = engine_at(engine_named(ROWS[i].engine))->refuses(&ask);
        cr_expect_eq(!why, ROWS[i].takes, "%zu: %s", i, why ? why : "taken");
    }
}

/* DeepEP's buffers hold 128 tokens of a rank by default: 2 x 129 sequences need more, and prompts do not. */
Test(engines, dispatched_tokens) {
    static const struct {
        int64_t sequences, drafts;
        EngineRole role;
        const char *begins;
    } ROWS[] = {
        {256, 0, ENGINE_ALONE, "python -m "},
        {258, 0, ENGINE_ALONE, "env SGLANG_DEEPEP_NUM_MAX_DISPATCH_TOKENS_PER_RANK=129 python -m "},
        {256, 1, ENGINE_DECODES, "env SGLANG_DEEPEP_NUM_MAX_DISPATCH_TOKENS_PER_RANK=256 python -m "},
        {258, 0, ENGINE_PROMPTS, "python -m "},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Model model = model_of(true);
        Chip chip = chip_of(false);
        WorkerLayout layout = {4, 2, 1, 8, 1, 1, 1, 1, STORED_BF16, STORED_BF16};
        EngineKnobs knobs = {.role = ROWS[i].role,
                             .sequences = ROWS[i].sequences,
                             .step_tokens = 8192,
                             .length = 1344,
                             .memory_fraction = 0.88,
                             .drafts = ROWS[i].drafts};
        EngineWords words = {0};
        char line[ENGINE_LINE_SIZE];
        ENGINE_SGLANG.words(&(EngineAsk){&model, &chip, &layout, ENGINE_ALONE}, &knobs, &words);
        engine_line(&words, line);
        cr_expect_eq(strncmp(line, ROWS[i].begins, strlen(ROWS[i].begins)), 0, "%zu: %s", i, line);
    }
}

/* A latent cache is one head, which every rank has: cut by sequence as tensor is. */
Test(engines, latent_caches) {
    Model model = model_of(true);
    model.kinds[0].attention = ATTENTION_LATENT;
    Chip chip = chip_of(false);
    WorkerLayout layout = {8, 1, 1, 8, 1, 8, 1, 1, STORED_BF16, STORED_BF16};
    EngineAsk ask = {&model, &chip, &layout, ENGINE_ALONE};
    cr_expect_null(ENGINE_VLLM.refuses(&ask));
    chip = chip_of(true);
    cr_expect_null(ENGINE_VLLM.refuses(&ask));
    layout.kv_sequence = 4;
    cr_expect_not_null(ENGINE_VLLM.refuses(&ask), "two copies on TPUs");
}

/* Chips with a domain are GPUs; TensorRT-LLM takes those of NVIDIA, whose domain is a switch. */
Test(engines, chips) {
    static const struct {
        ScaleupKind scaleup;
        const char *names;
    } ROWS[] = {{SCALEUP_SWITCH, "vllm sglang tensorrt-llm "},
                {SCALEUP_MESH, "vllm sglang "},
                {SCALEUP_TORUS_2D, "vllm maxtext "},
                {SCALEUP_TORUS_3D, "vllm maxtext "}};
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        char names[128] = "";
        EngineSet set = engines_of_chip(&(Chip){.scaleup = ROWS[i].scaleup});
        for (int e = 0; e < engine_count(); e++)
            if (set >> e & 1) strcat(strcat(names, engine_at(e)->name), " ");
        cr_expect_str_eq(names, ROWS[i].names, "%zu: %s", i, names);
    }
}

/* ---- lines ---- */

/* 100 sequences in steps of 1024 tokens, up to 5000 tokens each, nine tenths of the memory. */
static const struct {
    const char *engine;
    bool mixture, itself;
    WorkerLayout layout;
    EngineRole role;
    int64_t drafts;
    const char *line;
} LINES[] = {
    {"vllm",
     false,
     false,
     {8, 1, 1, 1, 1, 1, 1, 1, STORED_BF16, STORED_BF16},
     ENGINE_ALONE,
     0,
     "vllm serve MODEL --tensor-parallel-size 8 --max-num-seqs 100 --max-num-batched-tokens 1024 --max-model-len 5000 "
     "--gpu-memory-utilization 0.90"},
    /* of each of three ranks: 100 / 3 and 1024 / 3, up */
    {"vllm",
     true,
     true,
     {4, 3, 2, 12, 1, 2, 1, 1, STORED_FP8, STORED_FP8},
     ENGINE_ALONE,
     2,
     "vllm serve MODEL --tensor-parallel-size 4 --pipeline-parallel-size 2 --data-parallel-size 3 "
     "--enable-expert-parallel --decode-context-parallel-size 2 --max-num-seqs 34 --max-num-batched-tokens 342 "
     "--max-model-len 5000 --gpu-memory-utilization 0.90 --quantization fp8 --kv-cache-dtype fp8 "
     "--enable-eplb --speculative-config.method mtp --speculative-config.num_speculative_tokens 2"},
    {"vllm",
     false,
     false,
     {1, 1, 1, 1, 1, 1, 1, 1, STORED_BF16, STORED_BF16},
     ENGINE_ALONE,
     3,
     "vllm serve MODEL --tensor-parallel-size 1 --max-num-seqs 100 --max-num-batched-tokens 1024 --max-model-len 5000 "
     "--gpu-memory-utilization 0.90 --speculative-config.method eagle3 --speculative-config.model DRAFT "
     "--speculative-config.num_speculative_tokens 3"},
    {"sglang",
     false,
     false,
     {8, 1, 1, 1, 1, 1, 1, 1, STORED_BF16, STORED_BF16},
     ENGINE_ALONE,
     0,
     "python -m sglang.launch_server --model-path MODEL --tp-size 8 --max-running-requests 100 "
     "--chunked-prefill-size 1024 --enable-mixed-chunk --context-length 5000 --mem-fraction-static 0.90"},
    {"sglang",
     true,
     true,
     {4, 2, 2, 8, 1, 1, 1, 1, STORED_FP8, STORED_FP8},
     ENGINE_PROMPTS,
     1,
     "python -m sglang.launch_server --model-path MODEL --tp-size 8 --pp-size 2 --attn-dp-size 2 --ep-size 8 "
     "--moe-a2a-backend deepep --deepep-mode normal --max-running-requests 100 --chunked-prefill-size 1024 "
     "--context-length 5000 "
     "--mem-fraction-static 0.90 --quantization fp8 --kv-cache-dtype fp8_e4m3 --disaggregation-mode prefill "
     "--disaggregation-transfer-backend nixl --speculative-algorithm NEXTN --speculative-num-steps 1 "
     "--speculative-eagle-topk 1 --speculative-num-draft-tokens 2"},
    {"sglang",
     true,
     false,
     {4, 1, 1, 4, 1, 1, 1, 1, STORED_BF16, STORED_BF16},
     ENGINE_DECODES,
     2,
     "python -m sglang.launch_server --model-path MODEL --tp-size 4 --ep-size 4 --max-running-requests 100 "
     "--context-length 5000 --mem-fraction-static 0.90 --disaggregation-mode decode "
     "--disaggregation-transfer-backend nixl --speculative-algorithm EAGLE3 --speculative-draft-model-path DRAFT "
     "--speculative-num-steps 2 --speculative-eagle-topk 1 "
     "--speculative-num-draft-tokens 3"},
    {"tensorrt-llm",
     false,
     false,
     {8, 1, 1, 1, 1, 1, 1, 1, STORED_BF16, STORED_BF16},
     ENGINE_ALONE,
     0,
     "trtllm-serve MODEL --tp_size 8 --max_batch_size 100 --max_num_tokens 1024 --max_seq_len 5000 "
     "--config <(echo '{enable_chunked_prefill: true, kv_cache_config: {free_gpu_memory_fraction: 0.90}}')"},
    {"tensorrt-llm",
     true,
     false,
     {1, 8, 1, 2, 4, 1, 1, 1, STORED_BF16, STORED_BF16},
     ENGINE_PROMPTS,
     0,
     "trtllm-serve MODEL --tp_size 8 --ep_size 2 --max_batch_size 13 --max_num_tokens 128 --max_seq_len 5000 "
     "--config <(echo '{enable_attention_dp: true, enable_chunked_prefill: true, kv_cache_config: "
     "{free_gpu_memory_fraction: 0.90}, cache_transceiver_config: {backend: DEFAULT, max_tokens_in_buffer: 5000}, "
     "disable_overlap_scheduler: true}')"},
    {"sglang", /* the fixture's 8 experts on 6 ranks, and on more than a domain of 8: with a balancer, in halves */
     true,
     false,
     {1, 6, 1, 6, 1, 1, 1, 1, STORED_BF16, STORED_BF16},
     ENGINE_DECODES,
     0,
     "python -m sglang.launch_server --model-path MODEL --tp-size 6 --attn-dp-size 6 --ep-size 6 --moe-a2a-backend "
     "deepep --deepep-mode low_latency --ep-num-redundant-experts 4 --max-running-requests 100 --context-length 5000 "
     "--mem-fraction-static 0.90 "
     "--disaggregation-mode decode --disaggregation-transfer-backend nixl"},
    {"sglang",
     true,
     false,
     {4, 4, 1, 8, 2, 1, 1, 1, STORED_BF16, STORED_BF16},
     ENGINE_DECODES,
     0,
     "python -m sglang.launch_server --model-path MODEL --tp-size 16 --attn-dp-size 4 --ep-size 8 --moe-a2a-backend "
     "deepep --deepep-mode low_latency --enable-two-batch-overlap --enable-eplb --max-running-requests 100 "
     "--context-length 5000 "
     "--mem-fraction-static 0.90 --disaggregation-mode decode --disaggregation-transfer-backend nixl"},
    {"vllm",
     true,
     false,
     {1, 6, 1, 6, 1, 1, 1, 1, STORED_BF16, STORED_BF16},
     ENGINE_ALONE,
     0,
     "vllm serve MODEL --tensor-parallel-size 1 --data-parallel-size 6 --enable-expert-parallel --max-num-seqs 17 "
     "--max-num-batched-tokens 171 --max-model-len 5000 --gpu-memory-utilization 0.90 --enable-eplb "
     "--eplb-config.num_redundant_experts 4"},
    {"vllm",
     true,
     false,
     {1, 8, 1, 8, 1, 1, 1, 1, STORED_BF16, STORED_BF16},
     ENGINE_DECODES,
     0,
     "vllm serve MODEL --tensor-parallel-size 1 --data-parallel-size 8 --enable-expert-parallel --max-num-seqs 13 "
     "--max-num-batched-tokens 128 --max-model-len 5000 --gpu-memory-utilization 0.90 --all2all-backend "
     "deepep_low_latency --kv-transfer-config '{\"kv_connector\": \"NixlConnector\", \"kv_role\": \"kv_consumer\"}'"},
    {"tensorrt-llm",
     true,
     true,
     {1, 3, 2, 3, 1, 1, 1, 1, STORED_BF16, STORED_FP8},
     ENGINE_ALONE,
     2,
     "trtllm-serve MODEL --tp_size 3 --pp_size 2 --ep_size 3 --max_batch_size 34 --max_num_tokens 342 --max_seq_len "
     "5000 --config <(echo '{enable_attention_dp: true, enable_chunked_prefill: true, kv_cache_config: "
     "{free_gpu_memory_fraction: 0.90, dtype: fp8}, speculative_config: {decoding_type: MTP, num_nextn_predict_layers: "
     "2}}')"},
    {"tensorrt-llm",
     false,
     false,
     {1, 1, 1, 1, 1, 1, 1, 1, STORED_BF16, STORED_BF16},
     ENGINE_ALONE,
     3,
     "trtllm-serve MODEL --tp_size 1 --max_batch_size 100 --max_num_tokens 1024 --max_seq_len 5000 "
     "--config <(echo '{enable_chunked_prefill: true, kv_cache_config: {free_gpu_memory_fraction: 0.90}, "
     "speculative_config: {decoding_type: Eagle, max_draft_len: 3, speculative_model: DRAFT}}')"},
    {"maxtext",
     false,
     false,
     {8, 1, 1, 1, 1, 1, 1, 1, STORED_INT8, STORED_BF16},
     ENGINE_ALONE,
     0,
     "python -m maxtext.inference.maxengine.maxengine_server base.yml ici_tensor_parallelism=8 "
     "per_device_batch_size=12.5 max_target_length=5000 quantization=int8 checkpoint_is_quantized=true"},
    {"maxtext",
     false,
     false,
     {16, 1, 1, 1, 1, 1, 2, 1, STORED_INT4, STORED_INT8},
     ENGINE_ALONE,
     0,
     "python -m maxtext.inference.maxengine.maxengine_server inference/multihost/interleaved/llama3_405b_v5e-64.yml "
     "ici_tensor_parallelism=8 ici_autoregressive_parallelism=2 per_device_batch_size=6.25 max_target_length=5000 "
     "quantization=int4 checkpoint_is_quantized=true quantize_kvcache=true kv_quant_dtype=int8"},
};

Test(engines, lines) {
    for (size_t i = 0; i < COUNT_OF(LINES); i++) {
        Model model = model_of(LINES[i].mixture);
        if (LINES[i].itself) snprintf(model.family, sizeof model.family, "deepseek_v3");
        Chip chip = chip_of(false);
        EngineKnobs knobs = {LINES[i].role, 100, 1024, 5000, 0.9, LINES[i].drafts, {0, 0}, 0};
        EngineWords words = {0};
        char line[ENGINE_LINE_SIZE];
        engine_at(engine_named(LINES[i].engine))
            ->words(&(EngineAsk){&model, &chip, &LINES[i].layout, ENGINE_ALONE}, &knobs, &words);
        cr_expect_not(words.full);
        cr_expect_str_eq(engine_line(&words, line), LINES[i].line, "%zu: %s", i, line);
    }
}

/* Few tokens a step are no fewer than its sequences. */
Test(engines, a_step_has_room_for_its_batch) {
    static const char *const NAMES[] = {"vllm", "tensorrt-llm"};
    for (size_t i = 0; i < COUNT_OF(NAMES); i++) {
        Model model = model_of(true);
        Chip chip = chip_of(false);
        WorkerLayout layout = {1, 4, 1, 4, 1, 1, 1, 1, STORED_BF16, STORED_BF16};
        EngineWords words = {0};
        char line[ENGINE_LINE_SIZE];
        engine_at(engine_named(NAMES[i]))
            ->words(&(EngineAsk){&model, &chip, &layout, ENGINE_ALONE},
                    &(EngineKnobs){ENGINE_ALONE, 100, 60, 5000, 0.9, 0, {0, 0}, 0}, &words);
        cr_expect(strstr(engine_line(&words, line), i == 0 ? "batched-tokens 25 " : "max_num_tokens 25 "), "%s", line);
    }
}

/* ---- words ---- */

/* What a shell takes as it stands, and what it takes between quotes. */
Test(engines, words_for_a_shell) {
    static const struct {
        const char *text, *printed;
    } ROWS[] = {{"plain-1_2.3/4:5,6@7%8+=", "plain-1_2.3/4:5,6@7%8+="},
                {"two words", "'two words'"},
                {"", "''"},
                {"=a", "'=a'"},
                {"a'b", "'a'\\''b'"},
                {"$HOME", "'$HOME'"},
                {"~", "'~'"}};
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        char *text = NULL;
        size_t length = 0;
        FILE *memory = open_memstream(&text, &length);
        engine_print_quoted(ROWS[i].text, memory);
        cr_assert_eq(fclose(memory), 0);
        cr_expect_str_eq(text, ROWS[i].printed, "%s", text);
        free(text);
    }
}

/* As many words, and as long, as there is room for; one more is left out, and said. */
Test(engines, words_have_room) {
    EngineWords words = {0};
    char longest[ENGINE_WORD_SIZE + 1];
    memset(longest, 'x', ENGINE_WORD_SIZE);
    longest[ENGINE_WORD_SIZE] = '\0';
    for (int i = 0; i < ENGINE_WORDS_MAX - 1; i++) engine_word(&words, WORD_TEXT, "w");
    engine_word(&words, WORD_TEXT, longest + 1);
    cr_expect(!words.full && words.count == ENGINE_WORDS_MAX);
    cr_expect_str_eq(words.word[ENGINE_WORDS_MAX - 1].text, longest + 1);
    engine_word(&words, WORD_TEXT, "w");
    cr_expect(words.full && words.count == ENGINE_WORDS_MAX);
    words = (EngineWords){0};
    engine_word(&words, WORD_TEXT, longest);
    cr_expect(words.full && words.count == 0);
    words = (EngineWords){0};
    for (int i = 0; i < ENGINE_SETTINGS_SIZE - 1; i++) engine_setting(&words, "s");
    cr_expect(!words.full && strlen(words.settings) == ENGINE_SETTINGS_SIZE - 1);
    engine_setting(&words, "s");
    cr_expect(words.full && strlen(words.settings) == ENGINE_SETTINGS_SIZE - 1);
}
