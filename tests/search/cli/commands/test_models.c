/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/json.h"
#include "base/util.h"
#include "search/cli/commands.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 6 };
typedef struct {
    int code;
    char *out; /* the caller frees */
    Error error;
} Run;

static Run run(const char *const words[WORDS_MAX]) {
    Run result = {0};
    char *argv[WORDS_MAX + 1] = {0};
    int argc = 0;
    while (argc < WORDS_MAX && words[argc]) argv[argc] = strdup(words[argc]), argc++;
    size_t length;
    FILE *out = open_memstream(&result.out, &length);
    result.code = command_run(&COMMAND_MODELS, argc, argv, (Streams){.out = out, .err = stderr}, &result.error);
    fclose(out);
    for (int i = 0; i < argc; i++) free(argv[i]);
    return result;
}

Test(command_models, answers) {
    const struct {
        const char *words[WORDS_MAX];
        int code;
        const char *expected; /* in the output, or on failure in the error with nothing put out */
    } rows[] = {
        {{"models"}, 0, "405,853,388,800"},
        {{"models"}, 0, "active off %"},
        {{"models"}, 0, "gqa 128/8"},
        {{"models"}, 0, "128 in 18  128 top 4"},
        {{"models"}, 0, "+16.32 *\n"},
        {{"models"}, 0, "Sources: "},
        {{"models", "kimi-k2"}, 0, "why: the published 1T"},
        {{"models", "llama4-maverick"},
         0,
         "12 layers: gqa, 40 heads, 8 kv, head_dim 128, not rotary, 128 experts of 8192"},
        {{"models", "gpt-oss-20b"}, 0, "positions rotary, theta 150000, yarn by 32 from 4096"},
        {{"models", "deepseek-v2-236b"}, 0, "expert capacity factor"},
        {{"models", SHARDOPT_TEST_DATA "/models/configs/gemma3-27b.json"}, 0, "left out: vision tower"},
        {{"models", SHARDOPT_TEST_DATA "/models/configs/deepseek-v3.json"},
         0,
         "stored as: bfloat16, quantized (fp8 e4m3)"},
        {{"models", SHARDOPT_TEST_DATA "/models/configs/gemma3-27b.json"},
         0,
         "theta 1000000 (10000 in layers with a window)"},
        {{"models", "--format", "text"}, 0, "mixtral-8x7b"},
        {{"models", "--format=json"}, 0, "\"active_parameters\": 12879925248"},
        {{"models", "--help"}, 0, "--format"},
        {{"models", "405b"}, 0, "16,777,216 tokens"},
        {{"models", "405b"}, 0, "also: 405b"},
        {{"models", "deepseek-v3"}, 0, "mla, 128 heads, q_lora 1536"},
        {{"models", "8b", "--format", "json"}, 0, "\"flops_per_token\""},
        {{"models", "--", "8b"}, 0, "llama3.1-8b (llama, llama)"},
        {{"models", SHARDOPT_TEST_DATA "/models/tiny"}, 0, "tiny (llama, llama)"},
        {{"models", "lama3.1-8b"}, 0, "llama3.1-8b"},
        {{"models", "lamma3.1-8b"}, 2, "llama3.1-8b"},
        {{"models", "8b", "70b"}, 2, "one name too many"},
        {{"models", "--format", "yaml"}, 2, "text or json"},
        {{"models", "--format"}, 2, "needs a value"},
        {{"models", "--frobnicate"}, 2, "--help"},
        {{"models", "--format", "json", "--format", "text", "8b"}, 2, "given twice"},
        {{"models", ""}, 2, "empty"},
        /* Nonsense is refused, or named. */
        {{"models", SHARDOPT_TEST_DATA "/models/hostile/dense_to_the_end.json"},
         2,
         "first_k_dense_replace leaves none"},
        {{"models", SHARDOPT_TEST_DATA "/models/hostile/rare_mixtures.json"}, 2, "moe_layer_freq leaves none"},
        {{"models", SHARDOPT_TEST_DATA "/models/hostile/groups.json"},
         2,
         "topk_group is more than n_group"},
        {{"models", SHARDOPT_TEST_DATA "/models/hostile/other_class.json"},
         0,
         "left out: the class MixtralForCausalLM of mixtral (read as llama)"},
        {{"models", SHARDOPT_TEST_DATA "/models/hostile/misspelt.json"},
         0,
         "left out: num_key_value_head (is it num_key_value_heads?)"},
        {{"models", SHARDOPT_TEST_DATA "/models/hostile/nonsense.json"},
         0,
         "odd: hidden_act \"nonsense\" (not known; costs nothing here), a width of 21, a vocabulary of 255, heads of 7 "
         "channels, which rotary positions cannot pair"},
        {{"models", SHARDOPT_TEST_DATA "/models/hostile/epsilon.json"}, 2, "rms_norm_eps is -1; "},
        {{"models", SHARDOPT_TEST_DATA "/models/hostile/activation.json"}, 2, "hidden_act is a number; "},
        /* What is downloaded is not to speak to the terminal: refused in what we read, cleaned in what we are given. */
        {{"models", SHARDOPT_TEST_DATA "/models/hostile/escapes.json"}, 2, "has a control character"},
        {{"models", SHARDOPT_TEST_DATA "/models/hostile/escapes_in_hf.json"}, 0, "evil?[31m (llama, llama)"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Run result = run(rows[i].words);
        cr_expect_eq(result.code, rows[i].code, "row %zu: code %d, %s", i, result.code, result.error.text);
        const char *said = rows[i].code ? result.error.text : result.out;
        cr_expect(strstr(said, rows[i].expected), "row %zu: %s", i, said);
        if (rows[i].code)
            cr_expect(result.out[0] == '\0' && result.error.kind == ERROR_INPUT, "row %zu", i);
        else
            cr_expect_eq(result.error.kind, ERROR_NONE, "row %zu: %s", i, result.error.text);
        free(result.out);
    }
}

Test(command_models, json_is_json) {
    Run list = run((const char *const[WORDS_MAX]){"models", "--format", "json"});
    Run one = run((const char *const[WORDS_MAX]){"models", "405b", "--format", "json"});
    Error error = {0};
    cJSON *all = json_parse(list.out, strlen(list.out), "list", &error);
    cJSON *model = json_parse(one.out, strlen(one.out), "one", &error);
    cr_assert(cJSON_IsArray(all) && cJSON_IsObject(model), "%s", error.text);
    const cJSON *entry;
    cJSON_ArrayForEach(entry, all)
        cr_expect(json_at(entry, "name") && json_at(entry, "source") && json_at(entry, "aliases"));
    const struct {
        const char *path;
        double value;
    } rows[] = {
        {"parameters", 405853388800.0}, {"parts.attention", 126.0 * 16384 * 128 * (2 * 128 + 2 * 8)},
        {"parts.norms", 253 * 16384},   {"training.tokens", 15e12},
        {"flops_per_token.seq", 8192},  {"flops_per_token.6n", 6 * (405853388800.0 - 128256.0 * 16384)},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const cJSON *value = json_at(model, rows[i].path);
        cr_expect(cJSON_IsNumber(value) && value->valuedouble == rows[i].value, "%s: %g", rows[i].path,
                  value ? value->valuedouble : -1);
    }
    cJSON_Delete(all);
    cJSON_Delete(model);
    free(list.out);
    free(one.out);
}
