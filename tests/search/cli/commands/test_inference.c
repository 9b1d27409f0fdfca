/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt inference` as it is typed: first answers, the book's problems, bad words. */
#include "base/json.h"
#include "base/util.h"
#include "search/cli/commands.h"
#include "tests/sanitizer.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORDS_MAX = 32 };
typedef struct {
    int code;
    char *out; /* the caller frees */
    Error error;
} Run;

static Run run(const char *words) {
    Run result = {0};
    char copy[1024], *argv[WORDS_MAX] = {"inference"}, *rest = NULL;
    int argc = 1;
    size_t length;
    snprintf(copy, sizeof copy, "%s", words);
    for (char *word = strtok_r(copy, "|", &rest); word; word = strtok_r(NULL, "|", &rest)) argv[argc++] = word;
    FILE *out = open_memstream(&result.out, &length), *err = fopen("/dev/null", "w");
    result.code = command_run(&COMMAND_INFERENCE, argc, argv, (Streams){.out = out, .err = err}, &result.error);
    fclose(out);
    fclose(err);
    return result;
}

Test(command_inference, first_answers_fit_a_screen) {
    static const char *const ROWS[] = {
        "--model|70b|--chip|h100|--nodes|1",
        "--model|8b|--chip|v5e|--slice|2x4",
        "--model|70b|--chip|mi300x|--nodes|1",
        "--model|gpt-oss-120b|--chip|h100|--nodes|1",
        "--model|deepseek-v3|--chip|h200|--chips|32|--ttft|1s|--tpot|40ms",
        "--model|405b|--chip|v6e|--slice|8x8|--concurrency|64",
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i += PROBLEMS_SHARE) {
        Run result = run(ROWS[i]);
        int lines = 0;
        for (const char *at = result.out; *at; at++) lines += *at == '\n';
        cr_expect_eq(result.code, 0, "%s: exit %d, %s", ROWS[i], result.code, result.error.text);
        /* A second pool has a command of its own, and two pools take two lines of the front's table. */
        const char *best = strstr(result.out, "Answer: "), *pools = best ? strstr(best, ", prefill ") : NULL;
        int most = pools && pools < strchr(best, '\n') ? 27 : 24;
        cr_expect_leq(lines, most, "%s: %d lines", ROWS[i], lines);
        cr_expect(strstr(result.out, "Answer: "), "%s: %s", ROWS[i], result.out);
        cr_expect(strstr(result.out, "TP over all"), "%s: %s", ROWS[i], result.out);
        free(result.out);
    }
}

/* Each first answer stands beside a number that somebody measured on its chip: of a token, or of all at once. */
Test(command_inference, answers_name_the_nearest_run) {
    static const struct {
        const char *words, *beside;
    } ROWS[] = {
        {"--model|70b|--chip|h100|--nodes|1", "in flight, 1024+1024 tokens: TPOT"},
        {"--model|70b|--chip|mi300x|--nodes|1", "nearest measured run: "},
        {"--model|405b|--chip|v6e|--slice|8x8", "nearest measured run: "},
        {"--model|8b|--chip|v5e|--slice|2x4", "jetstream-pytorch"},
        {"--model|deepseek-v3|--chip|gb200|--nodes|1", "drafts unknown"},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i += PROBLEMS_SHARE) {
        Run result = run(ROWS[i].words);
        cr_expect(strstr(result.out, ROWS[i].beside), "%s: %s", ROWS[i].beside, result.out);
        free(result.out);
    }
}

/* Layouts that others have published stand beside, priced where the machine has their chips. */
Test(command_inference, published_layouts_stand_beside) {
    Run result = run("--model|deepseek-v3|--chip|h200|--chips|32|--format|json");
    Error error = {0};
    cJSON *json = json_parse(result.out, strlen(result.out), "report", &error);
    const cJSON *list = json_at(json, "published"), *one;
    int priced = 0, larger = 0;
    cJSON_ArrayForEach(one, list) {
        double chips = json_at(one, "chips")->valuedouble;
        bool fits = cJSON_IsTrue(json_at(one, "fits"));
        cr_expect_eq(fits, chips <= 32);
        larger += !fits;
        priced += cJSON_IsNumber(json_at(one, "tokens_per_second_per_chip"));
        if (!cJSON_IsNumber(json_at(one, "tpot_seconds"))) continue;
        cr_expect_leq(json_at(one, "tpot_seconds")->valuedouble, 0.05);
        cr_expect_leq(json_at(one, "ttft_seconds")->valuedouble, 2);
    }
    cr_expect_geq(priced, 2);
    cr_expect_eq(larger, 2); /* DeepSeek's own units and SGLang's twelve nodes */
    cJSON_Delete(json);
    free(result.out);
    result = run("--model|70b|--chip|h200|--chips|32");
    cr_expect(!strstr(result.out, "Published"), "of another model");
    free(result.out);
}

/* Where nothing keeps the limits, what misses them least stands there with the limit that would allow it; it does. */
Test(command_inference, a_miss_says_what_would_allow_it) {
    Run result = run("--model|8b|--chip|l4|--chips|1|--prompt|1000|--answer|1000|--rate|0.01");
    char words[160], limit[16] = "";
    const char *at = result.out ? strstr(result.out, "which --tpot ") : NULL;
    cr_assert(at, "%s", result.out);
    sscanf(at, "which --tpot %15s", limit);
    free(result.out);
    snprintf(words, sizeof words, "--model|8b|--chip|l4|--chips|1|--prompt|1000|--answer|1000|--rate|0.01|--tpot|%s",
             limit);
    result = run(words);
    cr_expect(strstr(result.out, "Answer: "), "%s: %s", words, result.out);
    free(result.out);
}

/* The first point of the front, of the JSON report. */
static double first_point(const char *words, const char *path) {
    Run result = run(words);
    Error error = {0};
    double value = NAN;
    cJSON *json = json_parse(result.out, strlen(result.out), "report", &error);
    cr_assert(json, "%s: exit %d, %s %s", words, result.code, result.error.text, error.text);
    const cJSON *point = cJSON_GetArrayItem(json_at(json, "front"), 0), *found = json_at(point, path);
    if (cJSON_IsNumber(found)) value = found->valuedouble;
    cJSON_Delete(json);
    free(result.out);
    return value;
}

/* The worked problems as commands. The catalog's model reads 69.5e9 parameters a step (its input table is only looked
 * up) where the book has 70e9, 163,840 bytes a token where it has 160,000, and contexts are the mean while 512
 * tokens are written: 8,448 tokens. Beyond 8 ways the projections of keys and values are copied: 1.34e9 more. */
Test(command_inference, worked_problems_of_the_book) {
#define DECODE                                                                                                         \
    "--model|70b|--chip|v5e|--precision|int8|--kv-dtype|int8|--prompt|8192|--answer|512|--profile|ideal|--mode|"       \
    "decode|--format|json"
    double weights = 69.503e9, copied = 80 * 8192.0 * 2 * 8 * 128, cache = 32 * 163840.0 * 8448;
    const struct {
        const char *name, *words, *path;
        double expected, tolerance;
    } rows[] = {
        {"decode of 32 on 4x2: 17 ms", DECODE "|--slice|2x4|--concurrency|32", "tpot_seconds",
         (weights + cache) / (8 * 8.2e11), 2e-3},
        {"decode of 32 on 4x4: 8.5 ms", DECODE "|--slice|4x4|--concurrency|32", "tpot_seconds",
         (weights + copied + cache) / (16 * 8.2e11), 2e-3},
        {"quickest step of int8 on 4x4: 5.5 ms", DECODE "|--slice|4x4|--concurrency|1", "tpot_seconds",
         (weights + copied + cache / 32) / (16 * 8.2e11), 2e-3},
        {"prefill of 8192 on 16 chips at 40%: 0.91 s, 0.98 s with attention",
         "--model|70b|--chip|v5e|--slice|4x4|--prompt|8192|--profile|book|--mode|prefill|--engine|any|--format|json|--"
         "require|"
         "tensor=16",
         "ttft_seconds",
         (2 * (weights - 1.051e9 + copied) * 8192 + 2.0 * 80 * 8192 * 8192 * 8192.0) / (16 * 1.97e14 * 0.4), 1e-2},
        {"three workers for prompts to one that decodes",
         "--model|70b|--chip|v5e|--slice|8x8|--prompt|8192|--answer|512|--profile|book|--mode|disaggregated|--engine|"
         "any|--format|"
         "json|"
         "--require|tensor=16 batch=32 pipeline=1 attention_data=1 stationary=1",
         "chips_used", 64, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i += PROBLEMS_SHARE) {
        double value = first_point(rows[i].words, rows[i].path);
        cr_expect(fabs(value / rows[i].expected - 1) <= rows[i].tolerance, "%s: %.6g, expected %.6g", rows[i].name,
                  value, rows[i].expected);
    }
}

Test(command_inference, what_is_wrong_is_one_line) {
    const struct {
        const char *words;
        int code;
        const char *expected; /* in the error, or in the output of exit 3 */
    } rows[] = {
        {"--chip|h100", 2, "is missing; give a model"},
        {"--model|70b|--chip|h100|--nodes|1|--prompt|0", 2, "0"},
        {"--model|70b|--chip|h100|--nodes|1|--ttft|0ms", 2, "is no time at all"},
        {"--model|70b|--chip|h100|--nodes|1|--tpot|soon", 2, "soon"},
        {"--model|70b|--chip|h100|--nodes|1|--engine|maxtext", 2, "does not run on"},
        {"--model|70b|--chip|v5e|--chips|8|--engine|tensorrt-llm", 2, "does not run on"},
        {"--model|70b|--chip|h100|--nodes|1|--engine|triton", 2, "is not one of its values"},
        {"--model|70b|--chip|h100|--nodes|1|--precision|fp7", 2, "is not one of its values"},
        {"--model|70b|--chip|h100|--nodes|1|--require|tensor", 2, "is no condition"},
        {"--model|70b|--chip|h100|--nodes|1|--require|tensors=2", 2, "is no condition"},
        {"--model|70b|--chip|h100|--nodes|1|--speculate|3", 2, "has no acceptance"},
        {"--model|70b|--chip|h100|--nodes|1|--objective|chips", 2, "give --rate as well"},
        {"--model|70b|--chip|h100|--nodes|1|--rate|4/s|--concurrency|3", 2, "give one of them"},
        {"--model|70b|--chip|h100|--nodes|1|--profile|nobody", 2, "there is no serving profile"},
        {"--model|gpt2|--chip|h100|--nodes|1|--prompt|5000", 2, "beyond the 1024 positions"},
        {"--model|70b|--chip|h100|--chips|1", 3, "nothing fits"},
        {"--model|8b|--chip|h100|--nodes|1|--require|tensor=3", 3, "meets --require"},
        {"--model|70b|--chip|h100|--nodes|1|--tpot|1ms", 3, "nothing meets the limits, "},
        {"--model|70b|--chip|h100|--nodes|1|--rate|100000/s", 3, "nothing meets the limits, "},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Run result = run(rows[i].words);
        cr_expect_eq(result.code, rows[i].code, "%s: exit %d: %s", rows[i].words, result.code, result.error.text);
        const char *text = rows[i].code == 2 ? result.error.text : result.out;
        cr_expect(strstr(text, rows[i].expected), "%s: %s", rows[i].words, text);
        cr_expect(rows[i].code == 3 || result.out[0] == '\0', "%s: something is on stdout", rows[i].words);
        free(result.out);
    }
}

/* A limit of time ends the search with what it has; a rate needs as many chips as carry it. */
Test(command_inference, loads_and_limits) {
    Run result = run("--model|deepseek-v3|--chip|h200|--chips|256|--time-limit|0.01");
    cr_expect_eq(result.code, 4, "exit %d", result.code);
    free(result.out);
    double few = first_point("--model|70b|--chip|h100|--nodes|4|--rate|4/s|--objective|chips|--format|json|--top|1",
                             "requests_per_second");
    cr_expect_geq(few, 4);
}

/* What is cut short says how far its best can be from the best of all; what is proven has no gap. */
Test(command_inference, a_limit_of_time_says_its_gap) {
    Run result = run("--model|deepseek-v3|--chip|h200|--chips|256|--time-limit|0.05|--format|json");
    Error error = {0};
    cJSON *json = json_parse(result.out, strlen(result.out), "report", &error);
    const cJSON *gap = json_at(json, "search.gap"),
                *bound = json_at(json, "search.best_bound_tokens_per_second_per_chip");
    const cJSON *best = json_at(json, "best_point.tokens_per_second_per_chip");
    cr_expect_eq(result.code, 4, "exit %d", result.code);
    cr_assert(cJSON_IsNumber(bound) && cJSON_IsNumber(best), "%.300s", result.out);
    cr_expect_float_eq(gap->valuedouble, bound->valuedouble / best->valuedouble - 1, 1e-9);
    /* The best of all lies between the two, as the search to the end proves. */
    cr_expect_leq(best->valuedouble, 1100);
    cr_expect_geq(bound->valuedouble, 1000);
    cJSON_Delete(json);
    free(result.out);
    result = run("--model|deepseek-v3|--chip|h200|--chips|256|--time-limit|0.05");
    cr_expect(strstr(result.out, "Stopped before the proof was complete: no layout gives more"), "%s", result.out);
    free(result.out);
    cr_expect_eq(first_point("--model|8b|--chip|h100|--chips|1|--time-limit|1000|--format|json", "tpot_seconds") > 0,
                 1);
}

/* A workload by its name: the median prompt of Azure's conversations is 1,020 (Patel et al., ISCA 2024), the mean of
 * Mooncake's is 12,035 and 343 (FAST 2025). */
Test(command_inference, workloads_have_names) {
    static const struct {
        const char *name, *prompt, *output;
    } ROWS[] = {{"azure-chat", "1,155", "211"},
                {"azure-code", "2,048", "28"},
                {"mooncake-chat", "12,035", "343"},
                {"mooncake-agent", "8,596", "182"},
                {"summarization", "7,373", "922"}};
    for (size_t i = 0; i < COUNT_OF(ROWS); i += PROBLEMS_SHARE) {
        char words[160], line[160];
        snprintf(words, sizeof words, "--model|8b|--chip|h100|--nodes|1|--lengths|%s", ROWS[i].name);
        snprintf(line, sizeof line, "prompts of %s tokens, answers of %s on", ROWS[i].prompt, ROWS[i].output);
        Run result = run(words);
        char *flat = result.out;
        for (char *at = flat; *at; at++) *at = *at == '\n' ? ' ' : *at;
        cr_expect(strstr(flat, line), "%s: %.300s", line, flat);
        free(result.out);
    }
    Run result = run("--model|8b|--chip|h100|--nodes|1|--lengths|no-such");
    cr_expect_eq(result.code, 2);
    cr_expect(strstr(result.error.text, "azure-chat, azure-code"), "%s", result.error.text);
    free(result.out);
}

/* Lengths that vary: requests of 100 and 300 tokens are 200 in the mean; of those in flight three of four write long
 * answers. */
Test(command_inference, lengths_of_a_file) {
    char path[] = "/tmp/shardopt-lengths-XXXXXX", words[256];
    int file = mkstemp(path);
    static const char TEXT[] = "# prompt output weight\n100 100 1\n300\t300\t1\n";
    cr_assert(write(file, TEXT, sizeof TEXT - 1) == (ssize_t)sizeof TEXT - 1);
    close(file);
    snprintf(words, sizeof words, "--model|8b|--chip|h100|--nodes|1|--format|json|--lengths|%s", path);
    Run result = run(words);
    cr_expect_eq(result.code, 0, "%s", result.error.text);
    cr_expect(strstr(result.out, "\"prompt\": 200"), "%.900s", result.out);
    cr_expect(strstr(result.out, "\"output\": 200"));
    free(result.out);
    unlink(path);
}

/* A page has the document and nothing that a browser would fetch. */
Test(command_inference, a_page_loads_nothing) {
    Run result = run("--model|70b|--chip|h100|--nodes|1|--format|html");
    static const char *const LOADS[] = {"<script src", " src=", "url(http", "<link", "@import", "<img", "<iframe"};
    static const char *const PARTS[] = {"lowest latency", "\"throughput\"", "\"request_seconds\"", "\"places\""};
    cr_expect_eq(result.code, 0, "%s", result.error.text);
    for (size_t i = 0; i < COUNT_OF(LOADS); i++) cr_expect(!strstr(result.out, LOADS[i]), "%s", LOADS[i]);
    for (size_t i = 0; i < COUNT_OF(PARTS); i++) cr_expect(strstr(result.out, PARTS[i]), "%s", PARTS[i]);
    free(result.out);
    result = run("--model|405b|--chip|h100|--chips|1|--format|html");
    cr_expect_eq(result.code, 3);
    cr_expect(strstr(result.out, "othing fits") && !strstr(result.out, "\"places\""), "a page of no point");
    free(result.out);
}

/* The best of the report is a rank of its front, whatever the limits; it keeps them where a point of the front does. */
Test(command_inference, the_best_is_of_the_front) {
    static const char *const ROWS[] = {
        "--model|70b|--chip|h100|--nodes|1|--format|json",
        "--model|70b|--chip|h100|--nodes|1|--ttft|200ms|--tpot|30ms|--format|json",
        "--model|8b|--chip|v5e|--slice|2x4|--precision|int8|--objective|latency|--format|json",
        "--model|deepseek-v3|--chip|h200|--chips|32|--ttft|1s|--tpot|40ms|--format|json",
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i += PROBLEMS_SHARE) {
        Run result = run(ROWS[i]);
        Error error = {0};
        cJSON *json = json_parse(result.out, strlen(result.out), "report", &error);
        cr_assert(json, "%s: %s", ROWS[i], error.text);
        const cJSON *best = json_at(json, "best"), *front = json_at(json, "front");
        cr_assert(cJSON_IsNumber(best), "%s: best is no rank", ROWS[i]);
        const cJSON *point = cJSON_GetArrayItem(front, best->valueint - 1);
        cr_expect_eq(json_at(point, "rank")->valueint, best->valueint);
        cr_expect_leq(json_at(point, "tpot_seconds")->valuedouble, 0.05, "%s", ROWS[i]);
        cr_expect_leq(json_at(point, "ttft_seconds")->valuedouble, 2, "%s", ROWS[i]);
        cJSON_Delete(json);
        free(result.out);
    }
}
