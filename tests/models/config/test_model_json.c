/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/json.h"
#include "base/util.h"
#include "models/config/model_json.h"
#include "models/parameters.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static bool read_text(const char *text, Model *model, Error *error) {
    cJSON *json = json_parse(text, strlen(text), "config.json", error);
    bool ok = json && model_from_json(json, "config.json", false, model, error);
    cJSON_Delete(json);
    return ok;
}

/* Configs as the hubs have them, with the keys that mean nothing here, odd spellings and defaults left out. The totals
 * are those of models.tsv, or arithmetic that stands beside them. */
static const struct {
    const char *name, *config;
    int64_t total, active;
    int kinds;
} ROWS[] = {
    {"llama2-7b: no num_key_value_heads, no tie_word_embeddings",
     "{\"_name_or_path\": \"meta-llama/Llama-2-7b-hf\", \"architectures\": [\"LlamaForCausalLM\"], \"bos_token_id\": 1,"
     " \"hidden_act\": \"silu\", \"hidden_size\": 4096, \"initializer_range\": 0.02, \"intermediate_size\": 11008,"
     " \"max_position_embeddings\": 4096, \"model_type\": \"llama\", \"num_attention_heads\": 32,"
     " \"num_hidden_layers\": 32, \"pretraining_tp\": 1, \"rms_norm_eps\": 1e-05, \"rope_scaling\": null,"
     " \"torch_dtype\": \"float16\", \"transformers_version\": \"4.31.0\", \"use_cache\": true, \"vocab_size\": 32000}",
     6738415616, 6738415616, 1},
    {"llama: biases on", /* 2 * (64 + 32 + 32 + 64 + 3*8*16 + biases 8+4+4+8 + 16+16+8 + 16) + 8 + 512 */
     "{\"model_type\": \"llama\", \"hidden_size\": 8, \"intermediate_size\": 16, \"max_position_embeddings\": 64,"
     " \"num_attention_heads\": 2, \"num_key_value_heads\": 1, \"num_hidden_layers\": 2, \"vocab_size\": 32,"
     " \"attention_bias\": true, \"mlp_bias\": true, \"head_dim\": null}",
     2 * (192 + 384 + 24 + 40 + 16) + 8 + 512, 2 * (192 + 384 + 24 + 40 + 16) + 8 + 512, 1},
    {"architectures alone, head_dim of its own, tied", /* heads 2 x 16 on d 8 */
     "{\"architectures\": [\"LlamaForCausalLM\"], \"hidden_size\": 8, \"intermediate_size\": 16, \"head_dim\": 16,"
     " \"max_position_embeddings\": 64, \"num_attention_heads\": 2, \"num_hidden_layers\": 1, \"vocab_size\": 32,"
     " \"tie_word_embeddings\": true}",
     4 * 8 * 32 + 384 + 24 + 256, 4 * 8 * 32 + 384 + 24 + 256, 1},
    {"mixtral-8x7b",
     "{\"model_type\": \"mixtral\", \"hidden_size\": 4096, \"intermediate_size\": 14336, \"num_attention_heads\": 32,"
     " \"num_hidden_layers\": 32, \"num_key_value_heads\": 8, \"num_local_experts\": 8, \"num_experts_per_tok\": 2,"
     " \"max_position_embeddings\": 32768, \"router_aux_loss_coef\": 0.02, \"sliding_window\": null, \"vocab_size\": "
     "32000}",
     46702792704, 12879925248, 1},
    {"mistral-7b inside a multimodal wrapper; sizes outside mean the vision tower",
     "{\"architectures\": [\"Mistral3ForConditionalGeneration\"], \"model_type\": \"mistral3\", \"vocab_size\": 7,"
     " \"vision_config\": {\"hidden_size\": 1024, \"model_type\": \"pixtral\"}, \"text_config\": {\"model_type\": "
     "\"mistral\","
     " \"hidden_size\": 4096, \"intermediate_size\": 14336, \"num_attention_heads\": 32, \"num_hidden_layers\": 32,"
     " \"num_key_value_heads\": 8, \"max_position_embeddings\": 32768, \"sliding_window\": 4096, \"vocab_size\": "
     "32000}}",
     7241732096, 7241732096, 1},
    {"qwen2.5-7b with its window switched off",
     "{\"model_type\": \"qwen2\", \"hidden_size\": 3584, \"intermediate_size\": 18944, \"num_attention_heads\": 28,"
     " \"num_hidden_layers\": 28, \"num_key_value_heads\": 4, \"max_position_embeddings\": 131072, "
     "\"max_window_layers\": 28,"
     " \"sliding_window\": 131072, \"use_sliding_window\": false, \"vocab_size\": 152064, \"use_mrope\": false}",
     7615616512, 7615616512, 1},
    {"qwen2 whose upper layers have a window", /* 4 * (192 + 384 + 16 + 8 + 4 + 4) + 8 + 512 */
     "{\"model_type\": \"qwen2\", \"hidden_size\": 8, \"intermediate_size\": 16, \"max_position_embeddings\": 64,"
     " \"num_attention_heads\": 2, \"num_key_value_heads\": 1, \"num_hidden_layers\": 4, \"vocab_size\": 32,"
     " \"use_sliding_window\": true, \"sliding_window\": 16, \"max_window_layers\": 3}",
     4 * 608 + 520, 4 * 608 + 520, 2},
    {"qwen2_moe, every second layer, one of them dense by name",
     /* attention 256 + biases 24 + norms 16 = 296 a layer; dense 3*8*16 = 384; mixture: router 32, gate 8,
        shared 3*8*6, experts 4 of 3*8*5 = 120 (2 used);
        layers 2 and 4 of 4 are mixtures, but the fourth is named dense */
     "{\"model_type\": \"qwen2_moe\", \"hidden_size\": 8, \"intermediate_size\": 16, \"max_position_embeddings\": 64,"
     " \"num_attention_heads\": 2, \"num_key_value_heads\": 2, \"num_hidden_layers\": 4, \"vocab_size\": 32,"
     " \"num_experts\": 4, \"num_experts_per_tok\": 2, \"moe_intermediate_size\": 5, \"decoder_sparse_step\": 2,"
     " \"shared_expert_intermediate_size\": 6, \"mlp_only_layers\": [3]}",
     4 * 296 + 3 * 384 + 40 + 144 + 480 + 8 + 512, 4 * 296 + 3 * 384 + 40 + 144 + 240 + 8 + 512, 2},
    {"gemma2-2b alternates",
     "{\"model_type\": \"gemma2\", \"hidden_size\": 2304, \"intermediate_size\": 9216, \"num_attention_heads\": 8,"
     " \"num_hidden_layers\": 26, \"num_key_value_heads\": 4, \"head_dim\": 256, \"max_position_embeddings\": 8192,"
     " \"sliding_window\": 4096, \"vocab_size\": 256000, \"attn_logit_softcapping\": 50.0}",
     2614341888, 2614341888, 2},
    {"gemma3-4b as released: heads, vocabulary and positions left to the class", /* 3880099328 + 64 rows more */
     "{\"architectures\": [\"Gemma3ForConditionalGeneration\"], \"model_type\": \"gemma3\", \"mm_tokens_per_image\": "
     "256,"
     " \"text_config\": {\"hidden_size\": 2560, \"intermediate_size\": 10240, \"model_type\": \"gemma3_text\","
     " \"num_hidden_layers\": 34, \"rope_scaling\": {\"factor\": 8.0, \"rope_type\": \"linear\"}, \"sliding_window\": "
     "1024},"
     " \"vision_config\": {\"hidden_size\": 1152, \"num_hidden_layers\": 27}}",
     3880099328 + 64 * 2560, 3880099328 + 64 * 2560, 2},
    {"gpt2: older n_ctx, n_inner null",
     "{\"model_type\": \"gpt2\", \"n_embd\": 768, \"n_head\": 12, \"n_layer\": 12, \"n_ctx\": 1024, \"n_inner\": null,"
     " \"vocab_size\": 50257, \"activation_function\": \"gelu_new\"}",
     124439808, 124439808, 1},
    {"gpt-neox-20b",
     "{\"model_type\": \"gpt_neox\", \"hidden_size\": 6144, \"intermediate_size\": 24576, \"num_attention_heads\": 64,"
     " \"num_hidden_layers\": 44, \"max_position_embeddings\": 2048, \"rotary_pct\": 0.25, \"tie_word_embeddings\": "
     "false,"
     " \"vocab_size\": 50432}",
     20554567680, 20554567680, 1},
    {"deepseek-v3: dense first, MTP not counted",
     "{\"model_type\": \"deepseek_v3\", \"first_k_dense_replace\": 3, \"hidden_size\": 7168, \"intermediate_size\": "
     "18432,"
     " \"kv_lora_rank\": 512, \"max_position_embeddings\": 163840, \"moe_intermediate_size\": 2048, "
     "\"moe_layer_freq\": 1,"
     " \"n_group\": 8, \"n_routed_experts\": 256, \"n_shared_experts\": 1, \"num_attention_heads\": 128,"
     " \"num_experts_per_tok\": 8, \"num_hidden_layers\": 61, \"num_key_value_heads\": 128, "
     "\"num_nextn_predict_layers\": 1,"
     " \"q_lora_rank\": 1536, \"qk_nope_head_dim\": 128, \"qk_rope_head_dim\": 64, \"quantization_config\": {\"fmt\": "
     "\"e4m3\"},"
     " \"tie_word_embeddings\": false, \"v_head_dim\": 128, \"vocab_size\": 129280}",
     671026419200, 37552297472, 2},
};

Test(model_json, imports) {
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Model model;
        Error error = {0};
        bool ok = read_text(ROWS[i].config, &model, &error);
        cr_expect(ok, "%s: %s: %s", ROWS[i].name, error.where, error.text);
        if (!ok) continue;
        Parameters p = model_parameters(&model);
        cr_expect_eq(p.language, ROWS[i].total, "%s: total %lld", ROWS[i].name, (long long)p.language);
        cr_expect_eq(p.active - (p.total - p.language), ROWS[i].active, "%s: active %lld", ROWS[i].name,
                     (long long)p.active);
        cr_expect_eq(model.kind_count, ROWS[i].kinds, "%s: %d kinds", ROWS[i].name, model.kind_count);
        cr_expect(model.source[0] && model.name[0], "%s", ROWS[i].name);
    }
}

static Model imported(size_t row) {
    Model model = {0};
    Error error = {0};
    cr_assert(read_text(ROWS[row].config, &model, &error), "%s", error.text);
    return model;
}

Test(model_json, what_the_dimensions_mean) {
    Model llama = imported(0), wrapped = imported(4), upper = imported(6), gemma = imported(9), deep = imported(12);
    cr_expect_str_eq(llama.name, "Llama-2-7b-hf");
    cr_expect_eq(llama.kinds[0].kv_heads, 32);
    cr_expect_eq(wrapped.kinds[0].window, 4096);
    cr_expect(strstr(wrapped.left_out, "vision tower"), "%s", wrapped.left_out);
    cr_expect_str_eq(wrapped.model_type, "mistral3");
    cr_expect(upper.kinds[0].count == 3 && upper.kinds[0].window == 0, "the lower three see all");
    cr_expect(upper.kinds[1].count == 1 && upper.kinds[1].window == 16);
    cr_expect(gemma.kinds[0].count == 29 && gemma.kinds[0].window == 1024, "34 layers, 5 of them full");
    cr_expect(gemma.kinds[1].count == 5 && gemma.kinds[1].window == 0);
    cr_expect(deep.kinds[0].count == 3 && deep.kinds[0].experts == 0 && deep.kinds[0].d_ff == 18432);
    cr_expect(deep.kinds[1].count == 58 && deep.kinds[1].d_ff == 0 && deep.kinds[1].d_ff_shared == 2048);
    cr_expect(strstr(deep.left_out, "multi-token"), "%s", deep.left_out);
}

/* A good llama with one key written otherwise; an empty value leaves the key out. */
static const char *const KEYS[] = {
    "model_type",          "hidden_size",         "intermediate_size", "max_position_embeddings",
    "num_attention_heads", "num_key_value_heads", "num_hidden_layers", "vocab_size"};
static const char *const VALUES[] = {"\"llama\"", "8", "16", "64", "2", "1", "2", "32"};

static bool read_changed(const char *key, const char *value, Error *error) {
    char text[2048] = "{\"x\": 0";
    bool found = false;
    for (size_t i = 0; i < COUNT_OF(KEYS); i++) {
        bool change = strcmp(KEYS[i], key) == 0;
        found |= change;
        const char *written = change ? value : VALUES[i];
        if (written[0]) sprintf(text + strlen(text), ", \"%s\": %s", KEYS[i], written);
    }
    if (!found) sprintf(text + strlen(text), ", \"%s\": %s", key, value);
    strcat(text, "}");
    Model model;
    return read_text(text, &model, error);
}

Test(model_json, hostile) {
    const struct {
        const char *key, *value, *word; /* the word must stand in the error */
    } rows[] = {
        {"hidden_size", "", "hidden_size"},
        {"intermediate_size", "", "intermediate_size"},
        {"num_attention_heads", "", "num_attention_heads"},
        {"num_hidden_layers", "", "num_hidden_layers"},
        {"vocab_size", "", "vocab_size"},
        {"max_position_embeddings", "null", "max_position_embeddings"},
        {"hidden_size", "0", "hidden_size"},
        {"hidden_size", "-8", "hidden_size"},
        {"hidden_size", "1e30", "hidden_size"},
        {"hidden_size", "8.5", "hidden_size"},
        {"hidden_size", "\"8\"", "hidden_size"},
        {"hidden_size", "[8]", "hidden_size"},
        {"hidden_size", "true", "hidden_size"},
        {"hidden_size", "2147483648", "hidden_size"},
        {"hidden_size", "2147483646", "2^60"},
        {"head_dim", "2147483647", ""},
        {"head_dim", "0", "head_dim"},
        {"num_hidden_layers", "1e9", "num_hidden_layers"},
        {"num_hidden_layers", "-1", "num_hidden_layers"},
        {"num_key_value_heads", "3", "kv_heads"},
        {"num_key_value_heads", "0", "num_key_value_heads"},
        {"attention_bias", "\"yes\"", "attention_bias"},
        {"tie_word_embeddings", "1", "tie_word_embeddings"},
        {"model_type", "\"hal9000\"", "shardopt.describe"},
        {"model_type", "\"hal\\u0007\\n9000\"", "known"},
        {"model_type", "", "missing"},
        {"model_type", "17", "missing"},
        {"architectures", "[\"HalForCausalLM\"]", ""}, /* model_type wins */
        {"text_config", "{}", ""},                     /* a wrapper around the class as it is */
        {"text_config", "{\"num_hidden_layers\": 0}", "text_config.num_hidden_layers"},
        {"text_config", "{\"model_type\": \"hal\"}", "known"},
        {"shardopt", "{}", "shardopt.name"},
        {"shardopt", "7", "shardopt.name"},
        {"shardopt", "{\"name\": \"x\", \"family\": \"y\", \"source\": \"\"}", "empty"},
        {"shardopt", "{\"name\": \"x\", \"family\": \"y\", \"source\": \"z\", \"aliases\": [1]}", "aliases"},
        {"shardopt", "{\"name\": \"x\", \"family\": \"y\", \"source\": \"z\", \"aliases\": {}}", "aliases"},
        {"shardopt", "{\"name\": \"x\", \"family\": \"y\", \"source\": \"z\", \"published\": {\"parameters\": 5}}",
         "published"},
        {"shardopt", "{\"name\": \"x\", \"family\": \"y\", \"source\": \"z\", \"training\": {\"seq\": 5}}", "training"},
        {"shardopt", "{\"name\": \"x\", \"family\": \"y\", \"source\": \"z\", \"training\": {\"tokens\": 1e30}}",
         "training.tokens"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Error error = {0};
        bool ok = read_changed(rows[i].key, rows[i].value, &error);
        cr_expect_eq(ok, rows[i].word[0] == '\0', "%s: %s: %s", rows[i].key, rows[i].value, error.text);
        if (ok) continue;
        cr_expect(error.kind == ERROR_INPUT && strstr(error.where, "config.json"), "%s: %s", rows[i].key, error.where);
        cr_expect(strstr(error.text, rows[i].word), "%s: %s: \"%s\"", rows[i].key, rows[i].value, error.text);
    }
}

/* Lists inside configs: too short, too long, of the wrong kind; and products that only meet in one type. */
Test(model_json, hostile_in_other_types) {
#define QWEN(extra)                                                                                                    \
    "{\"model_type\": \"qwen2_moe\", \"hidden_size\": 8, \"intermediate_size\": 16, \"max_position_embeddings\": 64,"  \
    " \"num_attention_heads\": 2, \"num_hidden_layers\": 2, \"vocab_size\": 32, \"num_experts\": 4,"                   \
    " \"num_experts_per_tok\": 2, \"moe_intermediate_size\": 5, \"shared_expert_intermediate_size\": 6" extra "}"
#define DEEP(extra)                                                                                                    \
    "{\"model_type\": \"deepseek_v2\", \"hidden_size\": 8, \"intermediate_size\": 16, \"max_position_embeddings\": "   \
    "64,"                                                                                                              \
    " \"num_attention_heads\": 2, \"num_hidden_layers\": 2, \"vocab_size\": 32, \"num_experts_per_tok\": 2" extra "}"
    const struct {
        const char *config, *word;
    } rows[] = {
        {QWEN(""), ""},
        {QWEN(", \"layer_types\": [\"full_attention\"]"), "layer_types"},
        {QWEN(", \"layer_types\": \"full_attention\""), "layer_types"},
        {QWEN(", \"layer_types\": [\"full_attention\", 3]"), "layer_types"},
        {QWEN(", \"layer_types\": [\"full_attention\", \"linear_attention\"]"), "linear_attention"},
        {QWEN(", \"layer_types\": [\"full_attention\", \"sliding_attention\"]"), "layer_types"},
        {QWEN(", \"layer_types\": [\"full_attention\", \"full_attention\"]"), ""},
        {QWEN(", \"mlp_only_layers\": 1"), "mlp_only_layers"},
        {QWEN(", \"mlp_only_layers\": [2]"), "mlp_only_layers"},
        {QWEN(", \"mlp_only_layers\": [-1]"), "mlp_only_layers"},
        {QWEN(", \"mlp_only_layers\": [0.5]"), "mlp_only_layers"},
        {QWEN(", \"mlp_only_layers\": [\"0\"]"), "mlp_only_layers"},
        {QWEN(", \"mlp_only_layers\": [0, 1]"), ""},
        {QWEN(", \"decoder_sparse_step\": 0"), "decoder_sparse_step"},
        {DEEP(", \"moe_intermediate_size\": 5"), ""},
        {DEEP(", \"moe_intermediate_size\": 5, \"n_routed_experts\": 1"), "top_k"},
        {DEEP(", \"moe_intermediate_size\": 2147483647, \"n_shared_experts\": 2147483647"), "d_ff_shared"},
        {DEEP(", \"moe_intermediate_size\": 5, \"q_lora_rank\": \"all\""), "q_lora_rank"},
        {"[]", "object"},
        {"{}", "model_type"},
        {"{\"text_config\": 3}", "model_type"},
        {"{\"architectures\": \"LlamaForCausalLM\"}", "model_type"},
        {"{\"model_type\": \"gpt2\", \"n_layer\": 2, \"n_embd\": 2147483646, \"n_head\": 2, \"n_ctx\": 8, "
         "\"vocab_size\": 9}",
         "d_ff"},
        {"{\"model_type\": \"olmo2\", \"num_hidden_layers\": 1, \"hidden_size\": 8, \"num_attention_heads\": "
         "2147483647,"
         " \"head_dim\": 2147483647, \"intermediate_size\": 8, \"vocab_size\": 9, \"max_position_embeddings\": 8}",
         "qk_norm"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Model model;
        Error error = {0};
        bool ok = read_text(rows[i].config, &model, &error);
        cr_expect_eq(ok, rows[i].word[0] == '\0', "row %zu: %s", i, error.text);
        if (!ok) cr_expect(strstr(error.text, rows[i].word), "row %zu: \"%s\"", i, error.text);
    }
}

/* As many aliases as there is room for, each as long as there is room for, come back whole; one more of either is
 * refused. */
Test(model_json, aliases_up_to_their_room) {
    static const struct {
        int count, length;
        bool good;
    } CASES[] = {{MODEL_ALIASES_MAX, MODEL_NAME_SIZE - 1, true},
                 {MODEL_ALIASES_MAX + 1, 1, false},
                 {1, MODEL_NAME_SIZE, false},
                 {1, 1, true},
                 {1, 0, false}};
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        char text[2048], names[MODEL_ALIASES_MAX + 1][MODEL_NAME_SIZE + 1];
        Model model = {0};
        Error error = {0};
        int used = snprintf(text, sizeof text,
                            "{\"model_type\": \"llama\", \"hidden_size\": 8, \"intermediate_size\": 16, "
                            "\"max_position_embeddings\": 64, \"num_attention_heads\": 2, \"num_hidden_layers\": 2, "
                            "\"vocab_size\": 32, \"shardopt\": {\"name\": \"x\", \"family\": \"y\", \"source\": \"z\", "
                            "\"aliases\": [");
        for (int a = 0; a < CASES[i].count; a++) {
            memset(names[a], 'a' + a, (size_t)CASES[i].length);
            names[a][CASES[i].length] = '\0';
            used += snprintf(text + used, sizeof text - (size_t)used, "%s\"%s\"", a ? ", " : "", names[a]);
        }
        snprintf(text + used, sizeof text - (size_t)used, "]}}");
        cJSON *json = json_parse(text, strlen(text), "x.json", &error);
        cr_assert(json, "%s", error.text);
        cr_expect_eq(model_from_json(json, "x.json", true, &model, &error), CASES[i].good, "%zu: %s", i, error.text);
        cJSON_Delete(json);
        if (!CASES[i].good) {
            cr_expect(strstr(error.text, "aliases"), "%s", error.text);
            continue;
        }
        cr_assert_eq(model.alias_count, CASES[i].count);
        for (int a = 0; a < CASES[i].count; a++) cr_expect_str_eq(model.aliases[a], names[a]);
        cr_expect_str_eq(model.family, "y");
    }
}
