/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The JSON of load tests as rows of a table. */
#include "base/util.h"
#include "cost/serving/serving_profile.h"
#include "search/serving/measured/serving_runs.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static Arena arena;

static ServingRuns read(const char *text, const char *facts) {
    ServingRuns runs = {0};
    Error error = {0};
    cr_assert(bench_report_read("r.json", text, facts, &arena, &runs, &error), "%s: %s", error.where, error.text);
    return runs;
}

#define MEASURED                                                                                                       \
    "\"completed\": 10, \"total_input_tokens\": 10240, \"total_output_tokens\": 2560, \"output_throughput\": 1234.5, " \
    "\"mean_ttft_ms\": 250.0, \"mean_tpot_ms\": 20.5, \"median_tpot_ms\": 19.0"

Test(bench_report, vllm_with_what_emit_gave_it) {
    ServingRuns runs =
        read("{\"backend\": \"openai\", \"model_id\": \"/w/x\", \"model\": \"llama3.1-70b\", \"chip\": "
             "\"h100\", \"engine\": \"vllm\", \"tp\": \"4\", \"dp\": \"2\", \"prec_w\": \"fp8\", "
             "\"request_rate\": \"inf\", \"max_concurrency\": 64, \"ttfts\": [0.1, NaN, -Infinity], " MEASURED "}",
             NULL);
    const ServingRun *run = &runs.runs[0];
    cr_assert_eq(runs.count, 1);
    cr_expect_str_eq(run->model, "llama3.1-70b");
    cr_expect_str_eq(run->engine, "vllm");
    cr_expect_eq(run->weights, 1 + STORED_FP8);
    cr_expect_str_eq(run->mode, "closed-loop");
    cr_expect_eq(run->worker.tensor, 4);
    cr_expect_eq(run->worker.workers, 2);
    cr_expect_eq(run->prompt, 1024);
    cr_expect_eq(run->output, 256);
    cr_expect_eq(run->concurrency, 64);
    cr_expect_eq(run->rate, 0);
    cr_expect_float_eq(run->tpot_seconds, 0.0205, 1e-12);
    cr_expect_float_eq(run->ttft_seconds, 0.25, 1e-12);
    cr_expect_float_eq(run->tokens_per_second, 1234.5, 1e-9);
}

/* Two lines, of which the second has another load; its server says how it was cut: 8 ranks, 2 groups that attend. */
Test(bench_report, sglang_says_how_it_was_cut) {
    ServingRuns runs =
        read("{\"tag\": \"chip=h100 moe_tp=1 prec_w=bf16\", \"request_rate\": Infinity, \"max_concurrency\": 8, "
             "\"server_info\": {\"model_path\": \"a/llama3.1-70b\", \"tp_size\": 8, \"attn_dp_size\": 2, "
             "\"ep_size\": 8, \"kv_cache_dtype\": \"fp8_e4m3\"}, " MEASURED "}\n"
             "{\"tag\": null, \"request_rate\": 3.5, \"max_concurrency\": null, \"server_info\": "
             "{\"model_path\": \"a/llama3.1-70b\", \"tp_size\": 2, \"dp_size\": 1}, " MEASURED "}\n",
             "chip=h100");
    cr_assert_eq(runs.count, 2);
    cr_expect_eq(runs.runs[0].worker.tensor, 4);
    cr_expect_eq(runs.runs[0].worker.attention_data, 2);
    cr_expect_eq(runs.runs[0].worker.expert, 8);
    cr_expect_eq(runs.runs[0].cache, 1 + STORED_FP8);
    cr_expect_str_eq(runs.runs[0].engine, "sglang");
    cr_expect_str_eq(runs.runs[1].mode, "open-loop");
    cr_expect_eq(runs.runs[1].rate, 3.5);
    cr_expect_eq(runs.runs[1].worker.tensor, 2);
}

Test(bench_report, genai_perf) {
    ServingRuns runs = read("[{\"output_token_throughput\": {\"unit\": \"tokens/sec\", \"avg\": 900}, "
                            "\"time_to_first_token\": {\"avg\": 120}, \"inter_token_latency\": {\"avg\": 17}, "
                            "\"input_sequence_length\": {\"avg\": 1000}, \"output_sequence_length\": {\"avg\": 200}, "
                            "\"input_config\": {\"model_names\": [\"q/qwen3-8b\"], \"perf_analyzer\": {\"stimulus\": "
                            "{\"concurrency\": 16}}}}]",
                            "chip=b200 engine=tensorrt-llm tp=2 model=qwen3-8b");
    cr_assert_eq(runs.count, 1);
    cr_expect_str_eq(runs.runs[0].model, "qwen3-8b");
    cr_expect_str_eq(runs.runs[0].chip, "b200");
    cr_expect_eq(runs.runs[0].concurrency, 16);
    cr_expect_float_eq(runs.runs[0].tpot_seconds, 0.017, 1e-12);
    cr_expect_eq(runs.runs[0].output, 200);
}

Test(bench_report, what_is_missing_is_asked_for) {
    static const struct {
        const char *name, *text, *facts, *says;
    } ROWS[] = {
        {"no chip", "{\"engine\": \"vllm\", \"model_id\": \"m\", " MEASURED "}", NULL, "does not say its chip"},
        {"no engine", "{\"model_id\": \"m\", " MEASURED "}", "chip=h100", "does not say its engine"},
        {"no report", "{\"a\": 1}", NULL, "is no report of"},
        {"the second is none", "{\"engine\": \"vllm\", \"model_id\": \"m\", " MEASURED "}\n[1]", "chip=h100",
         "report 2"},
        {"cut off", "{\"engine\": \"vllm\", ", NULL, "was it written to its end?"},
        {"cut off behind the first", "{\"engine\": \"vllm\", \"model_id\": \"m\", " MEASURED "}\n{\"a", "chip=h100",
         "report 2 is no JSON"},
        {"a fact", "{" MEASURED "}", "chip=h100 tpp=4", "\"tpp\" is no fact"},
        {"a type", "{\"model_id\": \"m\", " MEASURED "}", "chip=h100 engine=vllm prec_w=w8", "\"w8\" is none of bf16"},
        {"a degree", "{\"model_id\": \"m\", " MEASURED "}", "chip=h100 engine=vllm tp=x", "tensor: give a number"},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Error error = {0};
        ServingRuns runs;
        cr_expect_not(bench_report_read("r.json", ROWS[i].text, ROWS[i].facts, &arena, &runs, &error), "%s",
                      ROWS[i].name);
        char all[1024];
        snprintf(all, sizeof all, "%s: %s", error.where, error.text);
        cr_expect(strstr(all, ROWS[i].says), "%s: %s", ROWS[i].name, all);
    }
}

/* Scripts of `emit` say the ways of both pools, and once more those of the second. */
Test(bench_report, two_pools) {
    ServingRuns runs = read("{" MEASURED "}", "model=m chip=h100 engine=vllm mode=disagg tp=4 moe_tp=1 prefill_tp=2 "
                                              "prefill_workers=3 decode_tp=4 decode_ep=4 decode_workers=5");
    cr_expect_str_eq(runs.runs[0].mode, "disagg");
    cr_expect(runs.runs[0].prefill.tensor == 2 && runs.runs[0].prefill.workers == 3);
    cr_expect(runs.runs[0].decode.tensor == 4 && runs.runs[0].decode.expert == 4 && runs.runs[0].decode.workers == 5);
}
