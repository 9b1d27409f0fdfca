/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measured serving runs: a table read, rows replayed by hand's arithmetic, scored and put in order. */
#include "base/util.h"
#include "search/serving/measured/serving_score.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#define NAMES                                                                                                          \
    "id\tsource\tgroup\tmodel\tarch\tchip\tchips\tengine\tprec_w\tprec_"                                               \
    "kv\tmode\ttp\tdp\tisl\tosl\tconcurrency\tbatch\t"                                                                 \
    "request_rate\tout_tok_s\tttft_ms\ttpot_ms\te2e_s\tspec\n"

static ServingOutcome replay_columns(const char *names, const char *row, const char *profile) {
    static Arena arena; /* outcomes point into it until the test ends */
    ServingReplay with = {.arena = &arena};
    ServingRuns runs;
    ServingOutcome outcome;
    Error error = {0};
    char *text = arena_format(&arena, "# a comment\n%s%s\n", names, row);
    cr_assert(serving_runs_are(text));
    cr_assert(serving_runs_read("table", text, strlen(text), &arena, &runs, &error), "%s: %s", error.where, error.text);
    cr_assert_eq(runs.count, 1);
    cJSON *json = serving_profile_open(profile, &arena, &with.where, &error);
    cr_assert(json, "%s", error.text);
    with.profile = json;
    ServingRun *kept = arena_alloc(&arena, 1, sizeof *kept);
    *kept = runs.runs[0];
    cr_assert(serving_replay(&with, kept, &outcome, &error), "%s: %s", error.where, error.text);
    cJSON_Delete(json);
    return outcome;
}

static ServingOutcome replay(const char *row, const char *profile) { return replay_columns(NAMES, row, profile); }

/* Llama 3.1 8B: 8.03e9 parameters, of which 128,256 x 4,096 of the table are only looked up; 131,072 bytes of cache a
 * token; an H100 has 3.35e12 B/s and 9.895e14 FLOP/s. A prompt of 8,192 tokens takes 2 x parameters FLOPs a token and
 * the causal half of 4 x 32 layers x 4,096 wide; the head runs for the last token alone. */
Test(serving_replay, a_static_batch_is_the_books_arithmetic) {
    ServingOutcome outcome =
        replay("r1\ts\tg\t8b\tdense\th100\t1\tvllm\tbf16\tbf16\tstatic-batch\t1\t1\t8192\t101\t\t1\t"
               "\t\t\t10\t1.5\tnone",
               "ideal");
    double weights = 2 * (8.0303e9 - 128256.0 * 4096), cache = 131072.0 * (8192 + 50.5);
    double step = (weights + cache) / 3.35e12;
    double layers = 8.0303e9 - 2 * 128256.0 * 4096, attention = 2.0 * 32 * 4096 * 8192 * 8192;
    double first = (2 * layers * 8192 + attention) / 9.895e14;
    cr_assert_str_empty(outcome.skipped, "%s", outcome.skipped);
    cr_expect_float_eq(outcome.predicted.tpot_seconds, step, 5e-3 * step, "%g", outcome.predicted.tpot_seconds / step);
    cr_expect_float_eq(outcome.predicted.ttft_seconds, first, 2e-2 * first, "%g",
                       outcome.predicted.ttft_seconds / first);
    double rate = 101 / (first + 100 * step);
    cr_expect_float_eq(outcome.predicted.tokens_per_second, rate, 2e-2 * rate);
    cr_expect_float_eq(outcome.measured.tokens_per_second, 101 / 1.5, 1e-9);
    cr_expect_float_eq(serving_error(&outcome), outcome.predicted.tpot_seconds / 0.01 - 1, 1e-12);
}

/* Two copies share the clients; InferenceX's lengths are nine tenths of those that its tables list. */
Test(serving_replay, clients_are_shared_and_lengths_are_drawn) {
    ServingOutcome one = replay(
        "r1\ts\tg\t8b\tdense\th100\t1\tvllm\tbf16\t\tclosed-loop\t1\t1\t900\t90\t8\t\t\t\t\t10\t\tnone", "ideal");
    ServingOutcome two = replay(
        "r2\tinferencex-db\tg\t8b\tdense\th100\t2\tvllm\tbf16\t\tclosed-loop\t1\t2\t1000\t100\t16\t\t\t\t\t10\t\tnone",
        "ideal");
    cr_expect_float_eq(one.predicted.tpot_seconds, two.predicted.tpot_seconds, 1e-12);
    cr_expect_float_eq(two.predicted.tokens_per_second, 2 * one.predicted.tokens_per_second, 1e-6);
    cr_expect_float_eq(one.resident, 8, 0);
    cr_expect_float_eq(two.resident, 16, 0);
}

Test(serving_replay, what_cannot_be_replayed_says_why) {
    static const struct {
        const char *row, *why;
    } ROWS[] = {
        {"r\ts\tg\tnobody-7b\t\th100\t1\tvllm\t\t\tclosed-loop\t1\t1\t9\t9\t8\t\t\t\t\t10\t\tnone", "no model"},
        {"r\ts\tg\t8b\t\tgtx-1080\t1\tvllm\t\t\tclosed-loop\t1\t1\t9\t9\t8\t\t\t\t\t10\t\tnone", "no chip"},
        {"r\ts\tg\t8b\t\th100\t1\tother\t\t\tclosed-loop\t1\t1\t9\t9\t8\t\t\t\t\t10\t\tnone", "none of the engines"},
        {"r\ts\tg\t8b\t\th100\t1\tvllm\t\t\tclosed-loop\t1\t1\t9\t9\t8\t\t\t\t\t10\t\tyes", "speculation"},
        {"r\ts\tg\t8b\t\th100\t1\tvllm\t\t\tclosed-loop\t1\t1\t\t9\t8\t\t\t\t\t10\t\tnone", "lengths"},
        {"r\ts\tg\t8b\t\th100\t1\tvllm\t\t\tclosed-loop\t\t1\t9\t9\t8\t\t\t\t\t10\t\tnone", "layout is not given"},
        {"r\ts\tg\t8b\t\th100\t3\tvllm\t\t\tclosed-loop\t3\t1\t9\t9\t8\t\t\t\t\t10\t\tnone",
         "divide the model's heads"},
        {"r\ts\tg\t405b\t\th100\t1\tvllm\t\t\tclosed-loop\t1\t1\t9\t9\t8\t\t\t\t\t10\t\tnone", "does not fit"},
        {"r\ts\tg\t8b\t\th100\t1\tvllm\t\t\tclosed-loop\t1\t1\t9\t9\t\t\t\t\t\t10\t\tnone", "in flight is not given"},
        {"r\ts\tg\t8b\t\th100\t1\tvllm\t\t\tmlperf-server\t1\t1\t9\t9\t8\t\t\t\t\t10\t\tnone", "no fixed load"},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        ServingOutcome outcome = replay(ROWS[i].row, "default");
        cr_expect(strstr(outcome.skipped, ROWS[i].why), "%s: %s", ROWS[i].why, outcome.skipped);
        cr_expect(isnan(serving_error(&outcome)));
    }
}

/* Where nobody says whether drafts were on, a row is replayed without, and is of a kind of its own: in no total. */
/* Qwen3 32B has 32.76e9 parameters of two bytes, and 64 layers x 8 heads x 128 wide, keys and values of two bytes: 65.5
 * and, for 32,077 tokens, 8.4 of 80e9 bytes. vLLM takes nine tenths of these by default, which is less; of all of them
 * one sequence finds room, and not two. Of 405e9 parameters not even the weights do (above). */
Test(serving_replay, what_ran_had_the_memory_that_it_needs) {
    ServingOutcome outcome =
        replay("r1\ts\tg\tqwen3-32b\tdense\th100\t1\tvllm\tbf16\t\tclosed-loop\t1\t1\t32000\t77\t4\t\t\t\t\t40\t\tnone",
               "default");
    cr_assert_str_empty(outcome.skipped, "%s", outcome.skipped);
    cr_expect_float_eq(outcome.resident, 1, 0);
    cr_expect_gt(outcome.predicted.tpot_seconds, 65.5e9 / 3.35e12);
}

Test(serving_replay, unlabelled_drafts_are_in_no_total) {
    Arena arena = {0};
    Error error = {0};
    ServingScore score;
    ServingOutcome both[2] = {
        replay("r1\ts\tg1\t8b\tmoe\th100\t1\tvllm\t\t\tclosed-loop\t1\t1\t90\t90\t8\t\t\t\t\t10\t\tunlabelled",
               "default"),
        replay("r2\ts\tg2\t8b\tmoe\th100\t1\tvllm\t\t\tclosed-loop\t1\t1\t90\t90\t8\t\t\t\t\t10\t\tnone", "default")};
    cr_expect(both[0].drafts_unknown && !both[1].drafts_unknown);
    cr_expect_float_eq(both[0].predicted.tpot_seconds, both[1].predicted.tpot_seconds, 1e-15);
    cr_assert(serving_score(both, 2, &arena, &score, &error));
    cr_expect_eq(score.all[SCORE_TPOT].rows, 1);
    cr_expect_eq(score.by_count[SERVED_BY_CHIP], 1);
    cr_expect_eq(score.by[SERVED_BY_CHIP][0].of[SCORE_TPOT].rows, 1);
    cr_expect_eq(score.by_count[SERVED_BY_KIND], 2);
    arena_free(&arena);
}

#define BURST_NAMES                                                                                                    \
    "id\tsource\tgroup\tmodel\tarch\tchip\tchips\tengine\tprec_w\tprec_kv\tmode\ttp\tdp\tisl\tosl\trequests\tspread\t" \
    "out_tok_s\tttft_ms\ttpot_ms\tspec\n"

/* Requests that are all sent at once: a step takes one prompt of 8,192 tokens; the second waits for the first, and its
 * first token comes after twice the time of a prompt. One request alone is a prompt and then its own steps. */
Test(serving_replay, a_burst_is_its_prompts_and_then_its_tokens) {
    double weights = 2 * (8.0303e9 - 128256.0 * 4096), layers = 8.0303e9 - 2 * 128256.0 * 4096;
    double first = (2 * layers * 8192 + 2.0 * 32 * 4096 * 8192 * 8192) / 9.895e14;
    double step = (weights + 131072.0 * (8192 + 50.5)) / 3.35e12;
    ServingOutcome two = replay_columns(
        BURST_NAMES, "r\ts\tg\t8b\tdense\th100\t1\tvllm\tbf16\tbf16\toffline-max\t1\t1\t8192\t1\t2\t\t9\t9\t\tnone",
        "ideal");
    cr_expect_float_eq(two.predicted.ttft_seconds, 1.5 * first, 3e-2 * first, "%g", two.predicted.ttft_seconds / first);
    cr_expect_float_eq(two.predicted.tokens_per_second, 1 / first, 2e-2 / first);
    ServingOutcome one = replay_columns(
        BURST_NAMES, "r\ts\tg\t8b\tdense\th100\t1\tvllm\tbf16\tbf16\toffline-max\t1\t1\t8192\t101\t1\t\t9\t9\t9\tnone",
        "ideal");
    cr_expect_float_eq(one.predicted.tpot_seconds, step, 1e-2 * step, "%g", one.predicted.tpot_seconds / step);
    cr_expect_float_eq(one.predicted.tokens_per_second, 101 / (first + 100 * step), 2e-2 * 101 / (first + 100 * step));
    /* Of 200 answers whose lengths are spread as an exponential the longest has some 200 x log(400) tokens: by then the
     * engine is all but empty, and the mean rate is that much lower. */
    ServingOutcome even = replay_columns(
        BURST_NAMES, "r\ts\tg\t8b\tdense\th100\t1\tvllm\tbf16\tbf16\toffline-max\t1\t1\t16\t200\t200\t\t9\t9\t9\tnone",
        "ideal");
    ServingOutcome spread = replay_columns(
        BURST_NAMES,
        "r\ts\tg\t8b\tdense\th100\t1\tvllm\tbf16\tbf16\toffline-max\t1\t1\t16\t200\t200\texponential\t9\t9\t9\tnone",
        "ideal");
    double ratio = even.predicted.tokens_per_second / spread.predicted.tokens_per_second;
    cr_expect(ratio > 3 && ratio < log(400), "%g", ratio);
}

#define LIMITED_NAMES                                                                                                  \
    "id\tsource\tgroup\tmodel\tarch\tchip\tchips\tengine\tprec_w\tprec_kv\tmode\ttp\tdp\tisl\tosl\trequests\t"         \
    "concurrency\tbatch\tmemory_fraction\tttft_ms\ttpot_ms\tspec\n"

/* Four requests, of which a client has one in flight: none waits. Two that are sent at once to an engine that holds
 * one: the second waits for the first one's prompt and its 100 steps. A share of HBM that a row states is all. */
Test(serving_replay, limits_that_a_row_states) {
    const char *begin = "r\ts\tg\t8b\tdense\th100\t1\tvllm\tbf16\tbf16\toffline-max\t1\t1\t8192";
    double weights = 2 * (8.0303e9 - 128256.0 * 4096), layers = 8.0303e9 - 2 * 128256.0 * 4096;
    double first = (2 * layers * 8192 + 2.0 * 32 * 4096 * 8192 * 8192) / 9.895e14;
    double step = (weights + 131072.0 * (8192 + 50.5)) / 3.35e12;
    char row[256];
    snprintf(row, sizeof row, "%s\t1\t4\t1\t\t\t9\t9\tnone", begin);
    ServingOutcome out = replay_columns(LIMITED_NAMES, row, "ideal");
    cr_expect_float_eq(out.predicted.ttft_seconds, first, 3e-2 * first, "%g", out.predicted.ttft_seconds / first);
    snprintf(row, sizeof row, "%s\t101\t2\t\t1\t\t9\t9\tnone", begin);
    out = replay_columns(LIMITED_NAMES, row, "ideal");
    double waits = first + (first + 100 * step) / 2;
    cr_expect_float_eq(out.predicted.ttft_seconds, waits, 2e-2 * waits, "%g", out.predicted.ttft_seconds / waits);
    cr_expect_eq(out.resident, 1);
    snprintf(row, sizeof row, "%s\t101\t200\t\t\t0.5\t9\t9\tnone", begin);
    out = replay_columns(LIMITED_NAMES, row, "ideal");
    double room = (0.5 * 80e9 - 2 * 8.0303e9) / (131072.0 * (8192 + 101)); /* tokens that a step works on take some */
    cr_expect(out.resident < room && out.resident > 0.9 * room, "%g of %g", out.resident, room);
}

#define POOL_NAMES                                                                                                     \
    "id\tsource\tgroup\tmodel\tarch\tchip\tchips\tengine\tprec_w\tprec_kv\tmode\tprefill_workers\tprefill_tp\t"        \
    "decode_workers\tdecode_tp\tisl\tosl\tconcurrency\tttft_ms\ttpot_ms\tspec\n"

/* Sixteen clients of two workers that decode, eight in each; a prompt is one pass over the weights. With a long prompt
 * and one worker for it, its FLOPs are what is served. Clients' own times are the throughput where nobody gives it. */
Test(serving_replay, two_pools_keep_each_other_busy) {
    double weights = 2 * (8.0303e9 - 128256.0 * 4096), layers = 8.0303e9 - 2 * 128256.0 * 4096;
    ServingOutcome many = replay_columns(
        POOL_NAMES, "r\ts\tg\t8b\tdense\th100\t4\tvllm\tbf16\tbf16\tdisagg\t2\t1\t2\t1\t16\t1001\t16\t10\t5\tnone",
        "ideal");
    double step = (weights + 8 * 131072.0 * (16 + 500.5)) / 3.35e12, wait = 2 * layers / 3.35e12;
    cr_assert_str_empty(many.skipped, "%s", many.skipped);
    cr_expect_float_eq(many.predicted.tpot_seconds, step, 1e-3 * step, "%g", many.predicted.tpot_seconds / step);
    double rate = 16 * 1001 / (wait + 1000 * step);
    cr_expect_float_eq(many.predicted.tokens_per_second, rate, 5e-3 * rate, "%g",
                       many.predicted.tokens_per_second / rate);
    cr_expect_float_eq(many.measured.tokens_per_second, 16 * 1001 / (0.010 + 0.005 * 1000), 1e-6);
    ServingOutcome few = replay_columns(
        POOL_NAMES, "r\ts\tg\t8b\tdense\th100\t4\tvllm\tbf16\tbf16\tdisagg\t1\t1\t3\t1\t8192\t2\t64\t10\t5\tnone",
        "ideal");
    double prompt = (2 * layers * 8192 + 2.0 * 32 * 4096 * 8192 * 8192) / 9.895e14;
    cr_expect_float_eq(few.predicted.tokens_per_second, 2 / prompt, 2e-2 * 2 / prompt);
    cr_expect_float_eq(few.predicted.ttft_seconds, 64 * prompt, 2e-2 * 64 * prompt, "%g",
                       few.predicted.ttft_seconds / prompt);
}

/* Each group counts once: nine rows that are 10% off weigh as much as one that is 50% off. */
Test(serving_replay, groups_count_once) {
    double errors[10], weights[10];
    ServingStats stats;
    for (int i = 0; i < 10; i++) errors[i] = i < 9 ? -0.1 : 0.5, weights[i] = i < 9 ? 1.0 / 9 : 1;
    cr_assert(serving_stats(errors, weights, 10, &stats));
    cr_expect_float_eq(stats.median, 0.1, 1e-12);
    cr_expect_float_eq(stats.p90, 0.5, 1e-12);
    cr_expect_float_eq(stats.worst, 0.5, 1e-12);
    weights[9] = 1.01;
    cr_assert(serving_stats(errors, weights, 10, &stats));
    cr_expect_float_eq(stats.median, 0.5, 1e-12);
    cr_expect_float_eq(stats.bias, 0.5, 1e-12);
}

/* Three layouts of one load: predicted in the order 1 < 2 < 3, measured 2 < 1 < 3: two pairs of three agree. */
Test(serving_replay, order_of_three_layouts) {
    ServingRun runs[3] = {{0}};
    ServingOutcome outcomes[3] = {{0}};
    ServingOrder order;
    static const double MEASURED[] = {0.012, 0.009, 0.04}, PREDICTED[] = {0.008, 0.011, 0.03};
    for (int i = 0; i < 3; i++) {
        runs[i] = (ServingRun){.source = "s",
                               .model = "m",
                               .chip = "c",
                               .engine = "e",
                               .weights = "",
                               .mode = "",
                               .version = "",
                               .chips = 1,
                               .prompt = 1,
                               .output = 10,
                               .concurrency = 4};
        outcomes[i] = (ServingOutcome){.run = &runs[i],
                                       .measured = {MEASURED[i], 0, 1 / MEASURED[i]},
                                       .predicted = {PREDICTED[i], 0, 1 / PREDICTED[i]}};
    }
    serving_order(outcomes, 3, &order);
    cr_expect_eq(order.pairs, 3);
    cr_expect_float_eq(order.tau_tpot, 1.0 / 3, 1e-12);
    cr_expect_eq(order.best, 1);
    cr_expect_eq(order.best_within, 0); /* 12 ms is more than 5% beyond 9 ms */
    /* Under 10 ms the first is chosen, and measured at 12; under 15, 20 and 30 it keeps the limit. */
    cr_expect_eq(order.limits, 5);
    cr_expect_eq(order.limits_kept, 4);
}
