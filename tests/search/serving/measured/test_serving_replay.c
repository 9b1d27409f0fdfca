/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measured serving runs: lines read, rows replayed by hand's arithmetic, scored and put in order. */
#include "base/util.h"
#include "search/serving/measured/serving_score.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

/* Replays {'request':{..}..} with a profile; where the request has no model, chip or engine: 8B, an H100, vLLM.
 * Quotation marks are written as apostrophes. */
static ServingOutcome replay(const char *profile, const char *request, const char *rest) {
    static Arena arena; /* outcomes point into it until the test ends */
    ServingReplay with = {.arena = &arena};
    ServingRuns runs;
    ServingOutcome outcome;
    Error error = {0};
    const char *model = strstr(request, "'model'") ? "" : "'model':'8b',";
    const char *chip = strstr(request, "'chip'") ? "" : "'chip':'h100',";
    const char *engine = strstr(request, "'engine'") ? "" : "'engine':'vllm',";
    char *text = arena_format(&arena, "{'request':{%s%s%s%s},%s}", model, chip, engine, request, rest);
    for (char *at = text; *at; at++)
        if (*at == '\'') *at = '"';
    cr_assert(serving_runs_are(text));
    cr_assert(serving_runs_parse("runs", text, strlen(text), &arena, &runs, &error), "%s: %s", error.where, error.text);
    cJSON *json = serving_profile_open(profile, &arena, &with.where, &error);
    cr_assert(json, "%s", error.text);
    with.profile = json;
    cr_assert(serving_replay(&with, &runs.runs[0], &outcome, &error), "%s: %s", error.where, error.text);
    cJSON_Delete(json);
    return outcome;
}

/* Llama 3.1 8B: 8.03e9 parameters, of which 128,256 x 4,096 of the table are only looked up; 131,072 bytes of cache a
 * token; an H100 has 3.35e12 B/s and 9.895e14 FLOP/s. A prompt of 8,192 tokens takes 2 x parameters FLOPs a token and
 * the causal half of 4 x 32 layers x 4,096 wide; the head runs for the last token alone. */
Test(serving_replay, a_static_batch_is_the_books_arithmetic) {
    ServingOutcome outcome =
        replay("ideal", "'chips':1,'load':'static-batch','prompt':8192,'answer':101,'batch':1",
               "'plan':{'workers':1,'tensor':1},'measured':{'tpot_seconds':0.01,'request_seconds':1.5}");
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

/* Two copies share the clients; lengths may be drawn: in the mean nine tenths of those that are listed. */
Test(serving_replay, clients_are_shared_and_lengths_are_drawn) {
    ServingOutcome one = replay("ideal", "'chips':1,'prompt':900,'answer':90,'concurrency':8",
                                "'plan':{'tensor':1},'measured':{'tpot_seconds':0.01}");
    ServingOutcome two = replay("ideal", "'chips':2,'prompt':1000,'answer':100,'length_share':0.9,'concurrency':16",
                                "'plan':{'workers':2,'tensor':1},'measured':{'tpot_seconds':0.01}");
    cr_expect_float_eq(one.predicted.tpot_seconds, two.predicted.tpot_seconds, 1e-12);
    cr_expect_float_eq(two.predicted.tokens_per_second, 2 * one.predicted.tokens_per_second, 1e-6);
    cr_expect_float_eq(one.resident, 8, 0);
    cr_expect_float_eq(two.resident, 16, 0);
}

Test(serving_replay, what_cannot_be_replayed_says_why) {
    static const struct {
        const char *request, *plan, *why;
    } ROWS[] = {
        {"'model':'nobody-7b','prompt':9,'answer':9,'concurrency':8", "'tensor':1", "no model"},
        {"'chip':'gtx-1080','prompt':9,'answer':9,'concurrency':8", "'tensor':1", "no chip"},
        {"'prompt':9,'answer':9,'concurrency':8", "'workers':1", "layout is not given"},
        {"'prompt':9,'answer':9,'concurrency':8", "'tensor':3", "divide the model's heads"},
        {"'model':'405b','prompt':9,'answer':9,'concurrency':8", "'tensor':1", "does not fit"},
        {"'prompt':9,'answer':9", "'tensor':1", "in flight is not given"},
        {"'prompt':9,'answer':9,'load':'open-loop'", "'tensor':1", "rate of requests is not given"},
        {"'prompt':9,'answer':9,'load':'static-batch'", "'tensor':1", "batch is not given"},
        {"'concurrency':8", "'tensor':1},'not_replayed':'why','said':{", "why"},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        char rest[128];
        snprintf(rest, sizeof rest, "'measured':{'tpot_seconds':0.01},'plan':{%s}", ROWS[i].plan);
        ServingOutcome outcome = replay("default", ROWS[i].request, rest);
        cr_expect(strstr(outcome.skipped, ROWS[i].why), "%s: %s", ROWS[i].why, outcome.skipped);
        cr_expect(isnan(serving_error(&outcome)));
    }
}

/* A line is refused where it is wrong. */
Test(serving_replay, what_is_wrong) {
#define BEGIN "{\"request\":{\"model\":\"8b\",\"chip\":\"h100\",\"engine\":\"vllm\",\"prompt\":9"
    static const struct {
        const char *name, *line, *where, *text;
    } ROWS[] = {
        {"a table", "id\tmodel\tisl\tosl\n", "runs",
         "python3 cost/measured/lab/convert_serving.py FILE.tsv >FILE.jsonl"},
        {"a table with comments", "# runs\nid\tisl\n", "runs", "is a table"},
        {"a key", BEGIN ",\"anser\":9}}", "runs:1:2", "request: has no answer"},
        {"its nearest", BEGIN ",\"answer\":9,\"concurency\":1}}", "runs:1:78",
         "concurency: is not known; did you mean concurrency?"},
        {"an engine", "{\"request\":{\"model\":\"8b\",\"chip\":\"h100\",\"engine\":\"tgi\",\"prompt\":9,\"answer\":9}}",
         "runs:1:40", "engine: \"tgi\" is none of "},
        {"a type", BEGIN ",\"answer\":9,\"precision\":\"fp7\"}}", "runs:1:78", "is none of bf16, fp8"},
        {"a load", BEGIN ",\"answer\":9,\"load\":\"disagg\"}}", "runs:1:78", "is none of closed-loop"},
        {"a plan in words", BEGIN ",\"answer\":9},\"plan\":\"tensor=4\"}", "runs:1:79", "plan: give an object"},
        {"one way of two pools", BEGIN ",\"answer\":9},\"plan\":{\"decode\":{},\"tensor\":4}}", "runs:1:99",
         "tensor: is not known"},
        {"a load of two pools", BEGIN ",\"answer\":9,\"load\":\"open-loop\"},\"plan\":{\"decode\":{}}}", "runs:1:78",
         "load: is closed-loop"},
        {"an id twice", BEGIN ",\"answer\":9},\"id\":\"a\"}\n" BEGIN ",\"answer\":9},\"id\":\"a\"}", "runs:2:79",
         "line 1"},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Arena arena = {0};
        ServingRuns runs;
        Error error = {0};
        char *text = arena_text(&arena, ROWS[i].line);
        cr_expect_not(serving_runs_parse("runs", text, strlen(text), &arena, &runs, &error), "%s", ROWS[i].name);
        cr_expect_str_eq(error.where, ROWS[i].where, "%s: %s: %s", ROWS[i].name, error.where, error.text);
        cr_expect(strstr(error.text, ROWS[i].text), "%s: %s", ROWS[i].name, error.text);
        arena_free(&arena);
    }
}

/* Where nobody says whether drafts were on, a row is replayed without, and is of a kind of its own: in no total. */
/* Qwen3 32B has 32.76e9 parameters of two bytes, and 64 layers x 8 heads x 128 wide, keys and values of two bytes: 65.5
 * and, for 32,077 tokens, 8.4 of 80e9 bytes. vLLM takes nine tenths of these by default, which is less; of all of them
 * one sequence finds room, and not two. Of 405e9 parameters not even the weights do (above). */
Test(serving_replay, what_ran_had_the_memory_that_it_needs) {
    ServingOutcome outcome =
        replay("default", "'model':'qwen3-32b','precision':'bf16','prompt':32000,'answer':77,'concurrency':4",
               "'plan':{'tensor':1},'measured':{'tpot_seconds':0.04}");
    cr_assert_str_empty(outcome.skipped, "%s", outcome.skipped);
    cr_expect_float_eq(outcome.resident, 1, 0);
    cr_expect_gt(outcome.predicted.tpot_seconds, 65.5e9 / 3.35e12);
}

Test(serving_replay, unlabelled_drafts_are_in_no_total) {
    Arena arena = {0};
    Error error = {0};
    ServingScore score;
    ServingOutcome both[2] = {replay("default", "'prompt':90,'answer':90,'concurrency':8,'drafts_unknown':true",
                                     "'family':'s','group':'g1','plan':{'tensor':1},'measured':{'tpot_seconds':0.01}"),
                              replay("default", "'prompt':90,'answer':90,'concurrency':8",
                                     "'family':'s','group':'g2','plan':{'tensor':1},'measured':{'tpot_seconds':0.01}")};
    cr_expect(both[0].drafts_unknown && !both[1].drafts_unknown);
    cr_expect_float_eq(both[0].predicted.tpot_seconds, both[1].predicted.tpot_seconds, 1e-15);
    cr_assert(serving_score(both, 2, &arena, &score, &error));
    cr_expect_eq(score.all[SCORE_TPOT].rows, 1);
    cr_expect_eq(score.by_count[SERVED_BY_CHIP], 1);
    cr_expect_eq(score.by[SERVED_BY_CHIP][0].of[SCORE_TPOT].rows, 1);
    cr_expect_eq(score.by_count[SERVED_BY_KIND], 2);
    arena_free(&arena);
}

/* Requests that are all sent at once: a step takes one prompt of 8,192 tokens; the second waits for the first, and its
 * first token comes after twice the time of a prompt. One request alone is a prompt and then its own steps. */
Test(serving_replay, a_burst_is_its_prompts_and_then_its_tokens) {
    double weights = 2 * (8.0303e9 - 128256.0 * 4096), layers = 8.0303e9 - 2 * 128256.0 * 4096;
    double first = (2 * layers * 8192 + 2.0 * 32 * 4096 * 8192 * 8192) / 9.895e14;
    double step = (weights + 131072.0 * (8192 + 50.5)) / 3.35e12;
    static const char REST[] = "'plan':{'tensor':1},'measured':{'ttft_seconds':0.009}";
    ServingOutcome two = replay("ideal", "'load':'offline-max','prompt':8192,'answer':1,'requests':2", REST);
    cr_expect_float_eq(two.predicted.ttft_seconds, 1.5 * first, 3e-2 * first, "%g", two.predicted.ttft_seconds / first);
    cr_expect_float_eq(two.predicted.tokens_per_second, 1 / first, 2e-2 / first);
    ServingOutcome one = replay("ideal", "'load':'offline-max','prompt':8192,'answer':101,'requests':1", REST);
    cr_expect_float_eq(one.predicted.tpot_seconds, step, 1e-2 * step, "%g", one.predicted.tpot_seconds / step);
    cr_expect_float_eq(one.predicted.tokens_per_second, 101 / (first + 100 * step), 2e-2 * 101 / (first + 100 * step));
    /* Of 200 answers whose lengths are spread as an exponential the longest has some 200 x log(400) tokens: by then the
     * engine is all but empty, and the mean rate is that much lower. */
    ServingOutcome even = replay("ideal", "'load':'offline-max','prompt':16,'answer':200,'requests':200", REST);
    ServingOutcome spread = replay(
        "ideal", "'load':'offline-max','prompt':16,'answer':200,'requests':200,'exponential_answers':true", REST);
    double ratio = even.predicted.tokens_per_second / spread.predicted.tokens_per_second;
    cr_expect(ratio > 3 && ratio < log(400), "%g", ratio);
}

/* Four requests, of which a client has one in flight: none waits. Two that are sent at once to an engine that holds
 * one: the second waits for the first one's prompt and its 100 steps. A share of HBM that a row states is all. */
Test(serving_replay, limits_that_a_row_states) {
    static const char REST[] = "'plan':{'tensor':1},'measured':{'tpot_seconds':0.009}";
    double weights = 2 * (8.0303e9 - 128256.0 * 4096), layers = 8.0303e9 - 2 * 128256.0 * 4096;
    double first = (2 * layers * 8192 + 2.0 * 32 * 4096 * 8192 * 8192) / 9.895e14;
    double step = (weights + 131072.0 * (8192 + 50.5)) / 3.35e12;
    ServingOutcome out =
        replay("ideal", "'load':'offline-max','prompt':8192,'answer':1,'requests':4,'concurrency':1", REST);
    cr_expect_float_eq(out.predicted.ttft_seconds, first, 3e-2 * first, "%g", out.predicted.ttft_seconds / first);
    out = replay("ideal", "'load':'offline-max','prompt':8192,'answer':101,'requests':2,'batch':1", REST);
    double waits = first + (first + 100 * step) / 2;
    cr_expect_float_eq(out.predicted.ttft_seconds, waits, 2e-2 * waits, "%g", out.predicted.ttft_seconds / waits);
    cr_expect_eq(out.resident, 1);
    out = replay("ideal", "'load':'offline-max','prompt':8192,'answer':101,'requests':200,'gpu_memory_utilization':0.5",
                 REST);
    double room = (0.5 * 80e9 - 2 * 8.0303e9) / (131072.0 * (8192 + 101)); /* tokens that a step works on take some */
    cr_expect(out.resident < room && out.resident > 0.9 * room, "%g of %g", out.resident, room);
}

/* Sixteen clients of two workers that decode, eight in each; a prompt is one pass over the weights. With a long prompt
 * and one worker for it, its FLOPs are what is served. Clients' own times are the throughput where nobody gives it. */
Test(serving_replay, two_pools_keep_each_other_busy) {
    double weights = 2 * (8.0303e9 - 128256.0 * 4096), layers = 8.0303e9 - 2 * 128256.0 * 4096;
    static const char TIMES[] = "'measured':{'ttft_seconds':0.01,'tpot_seconds':0.005}";
    char rest[192];
    snprintf(rest, sizeof rest, "'plan':{'prefill':{'workers':2},'decode':{'workers':2}},%s", TIMES);
    ServingOutcome many = replay("ideal", "'chips':4,'prompt':16,'answer':1001,'concurrency':16", rest);
    double step = (weights + 8 * 131072.0 * (16 + 500.5)) / 3.35e12, wait = 2 * layers / 3.35e12;
    cr_assert_str_empty(many.skipped, "%s", many.skipped);
    cr_expect_float_eq(many.predicted.tpot_seconds, step, 1e-3 * step, "%g", many.predicted.tpot_seconds / step);
    double rate = 16 * 1001 / (wait + 1000 * step);
    cr_expect_float_eq(many.predicted.tokens_per_second, rate, 5e-3 * rate, "%g",
                       many.predicted.tokens_per_second / rate);
    cr_expect_float_eq(many.measured.tokens_per_second, 16 * 1001 / (0.010 + 0.005 * 1000), 1e-6);
    snprintf(rest, sizeof rest, "'plan':{'prefill':{'workers':1},'decode':{'workers':3}},%s", TIMES);
    ServingOutcome few = replay("ideal", "'chips':4,'prompt':8192,'answer':2,'concurrency':64", rest);
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
        runs[i] = (ServingRun){.family = "s",
                               .model = "m",
                               .chip = "c",
                               .framework = "e",
                               .variant = "",
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
