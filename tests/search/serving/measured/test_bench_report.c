/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The JSON of load tests as rows of a table; and ten rows of one's own, made with figures that a fit has to find. */
#include "base/util.h"
#include "search/serving/measured/serving_fit.h"
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

/* ---- planted figures ---- */

static ServingReplay replay_begin(cJSON **profile) {
    ServingReplay with = {.arena = &arena};
    Error error = {0};
    *profile = serving_profile_open("default", &arena, &with.where, &error);
    cr_assert(*profile, "%s", error.text);
    with.profile = *profile;
    return with;
}

/* Ten load tests of 8B: what they would measure if figures were as `plant` makes them. */
typedef void (*Plant)(ServingProfile *profile);
static ServingRuns measured(const int clients[10], const int tensor[10], Plant plant, ServingReplay *with) {
    char *text = arena_alloc(&arena, 1, 1 << 14);
    size_t used = 0;
    for (int i = 0; i < 10; i++)
        used +=
            (size_t)snprintf(text + used, (1 << 14) - used,
                             "{\"max_concurrency\": %d, \"model_id\": \"llama3.1-8b\", \"tp\": \"%d\", " MEASURED "}\n",
                             clients[i], tensor[i]);
    ServingRuns runs = read(text, "chip=h100 engine=vllm prec_w=bf16");
    ServingOutcome outcome;
    Error error = {0};
    cr_assert(serving_replay(with, &runs.runs[0], &outcome, &error), "%s", error.text);
    plant(serving_replay_profile(with, "h100", "vllm"));
    for (int64_t i = 0; i < runs.count; i++) {
        cr_assert(serving_replay(with, &runs.runs[i], &outcome, &error), "%s", error.text);
        cr_assert_str_empty(outcome.skipped, "%s", outcome.skipped);
        runs.runs[i].tpot_seconds = outcome.predicted.tpot_seconds;
        runs.runs[i].ttft_seconds = outcome.predicted.ttft_seconds;
        runs.runs[i].tokens_per_second = outcome.predicted.tokens_per_second;
    }
    return runs;
}

static const double MESSAGES = 1.1, FIRST = 0.07, KERNELS = 0.5;
static void plant_messages(ServingProfile *profile) {
    profile->message_extra = MESSAGES;
    profile->first_token_seconds = FIRST;
}
static void plant_kernels(ServingProfile *profile) { profile->kernel_extra = KERNELS; }

/* Half of the rows send no message: they hold what kernels take where it was, and the others give the message's, less
 * what the ridge holds back. */
Test(bench_report, planted_figures_come_back) {
    static const int CLIENTS[10] = {1, 2, 4, 8, 16, 1, 2, 4, 8, 16}, TENSOR[10] = {1, 1, 1, 1, 1, 8, 8, 8, 8, 8};
    cJSON *json, *own;
    ServingReplay truth = replay_begin(&json), with = replay_begin(&own);
    ServingFit *fit = ARENA_NEW(&arena, ServingFit, 1);
    Error error = {0};
    ServingRuns runs = measured(CLIENTS, TENSOR, plant_messages, &truth);
    cr_assert(serving_fit(&with, &runs, 0, fit, &error), "%s", error.text);
    const FitCell *cell = &fit->cells[0];
    cr_assert_eq(fit->cell_count, 1);
    cr_expect_eq(cell->rows, 10);
    cr_expect_float_eq(cell->value[FITTED_MESSAGE_EXTRA], MESSAGES, 0.2 * MESSAGES, "%g",
                       cell->value[FITTED_MESSAGE_EXTRA]);
    cr_expect_float_eq(cell->value[FITTED_FIRST_TOKEN], FIRST, 0.1 * FIRST, "%g", cell->value[FITTED_FIRST_TOKEN]);
    cr_expect_lt(fit->fitted.all[SCORE_TPOT].median, 0.01, "fitted: %g", fit->fitted.all[SCORE_TPOT].median);
    cr_expect_gt(fit->before.all[SCORE_TPOT].p90, 0.05, "before: %g", fit->before.all[SCORE_TPOT].p90);
    cr_expect_eq(fit->likely_factor, 1, "no row was left out");
    cJSON_Delete(own);

    /* All rows left out at once are predicted as before, and those that send messages took longer than that. */
    with = replay_begin(&own);
    cr_assert(serving_fit(&with, &runs, 1, fit, &error), "%s", error.text);
    cr_expect_gt(fit->likely_factor, 1.05, "%g", fit->likely_factor);
    cJSON_Delete(json);
    cJSON_Delete(own);
}

/* On one chip several figures of a step stand for each other, so that these rows do not tell which of them was wrong;
 * what they determine is the time of a token, at loads that they do not have too. Messages and experts are left. */
Test(bench_report, what_rows_do_not_determine_is_left) {
    static const int CLIENTS[10] = {1, 2, 4, 8, 16, 24, 32, 64, 96, 128},
                     OTHERS[10] = {3, 6, 12, 20, 28, 40, 48, 72, 80, 112}, TENSOR[10] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    cJSON *json, *own;
    ServingReplay truth = replay_begin(&json), with = replay_begin(&own);
    ServingFit *fit = ARENA_NEW(&arena, ServingFit, 1);
    Error error = {0};
    ServingRuns runs = measured(CLIENTS, TENSOR, plant_kernels, &truth);
    cr_assert(serving_fit(&with, &runs, 0, fit, &error), "%s", error.text);
    const FitCell *cell = &fit->cells[0];
    cr_expect_gt(fit->before.all[SCORE_TPOT].median, 0.1, "before: %g", fit->before.all[SCORE_TPOT].median);
    ServingRuns others = measured(OTHERS, TENSOR, plant_kernels, &truth);
    for (int64_t i = 0; i < others.count; i++) {
        ServingOutcome outcome;
        cr_assert(serving_replay(&with, &others.runs[i], &outcome, &error), "%s", error.text);
        cr_expect_float_eq(outcome.predicted.tpot_seconds / others.runs[i].tpot_seconds, 1, 0.12, "%d clients: %g",
                           OTHERS[i], outcome.predicted.tpot_seconds / others.runs[i].tpot_seconds);
    }
    cr_expect(cell->moved[FITTED_KERNEL_EXTRA]);
    cr_expect_not(cell->moved[FITTED_MESSAGE_EXTRA], "messages are left");
    cr_expect_not(cell->moved[FITTED_EXPERT_EXTRA], "experts are left");
    cJSON_Delete(json);
    cJSON_Delete(own);
}

/* Groups that tell the same are predicted best by the figures of others hardly held; groups of which each second took
 * half as long again, and the others two thirds, by figures that stay where they were. */
Test(bench_report, figures_are_held_as_closely_as_predicts_other_groups) {
    static const int CLIENTS[10] = {1, 2, 4, 8, 16, 24, 32, 64, 96, 128}, TENSOR[10] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    static const char *const GROUPS[5] = {"a", "b", "c", "d", "e"};
    cJSON *json, *own;
    ServingReplay truth = replay_begin(&json), with = replay_begin(&own);
    ServingFit *fit = ARENA_NEW(&arena, ServingFit, 1);
    Error error = {0};
    ServingRuns runs = measured(CLIENTS, TENSOR, plant_kernels, &truth);
    for (int i = 0; i < 10; i++) runs.runs[i].group = GROUPS[i / 2];
    cr_assert(serving_fit(&with, &runs, 0, fit, &error), "%s", error.text);
    cr_expect_lt(fit->strength, 1, "%g", fit->strength);
    for (int i = 0; i < 10; i++) {
        ServingOutcome outcome;
        cJSON_Delete(own);
        with = replay_begin(&own);
        cr_assert(serving_replay(&with, &runs.runs[i], &outcome, &error), "%s", error.text);
        runs.runs[i].tpot_seconds = outcome.predicted.tpot_seconds * (i / 2 % 2 ? 1.5 : 1 / 1.5);
        runs.runs[i].ttft_seconds = 0;
    }
    cJSON_Delete(own);
    with = replay_begin(&own);
    cr_assert(serving_fit(&with, &runs, 0, fit, &error), "%s", error.text);
    cr_expect_gt(fit->strength, 4, "%g", fit->strength);
    cJSON_Delete(json);
    cJSON_Delete(own);
}
