/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is wrong in a config.json, key by key: one change to a good file, and a word of the line that must come. */
#include "base/json.h"
#include "base/util.h"
#include "models/config/model_json.h"
#include "models/parameters.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* Sizes of next to nothing, but every key a file of the type must have. */
static const struct {
    const char *type, *config;
} GOOD[] = {
    {"bloom", "\"n_layer\": 2, \"n_head\": 2, \"hidden_size\": 8, \"vocab_size\": 32"},
    {"falcon", "\"num_hidden_layers\": 2, \"num_attention_heads\": 4, \"hidden_size\": 8, \"vocab_size\": 32"},
    {"mpt", "\"n_layers\": 2, \"n_heads\": 2, \"d_model\": 8, \"vocab_size\": 32"},
    {"opt", "\"num_hidden_layers\": 2, \"num_attention_heads\": 2, \"hidden_size\": 8, \"ffn_dim\": 16,"
            " \"vocab_size\": 32"},
    {"dbrx", "\"n_layers\": 2, \"n_heads\": 2, \"d_model\": 8, \"vocab_size\": 32, \"max_seq_len\": 64"},
    {"gpt_oss", "\"num_hidden_layers\": 2, \"num_attention_heads\": 2, \"num_key_value_heads\": 1, \"hidden_size\": 8,"
                " \"intermediate_size\": 16, \"num_local_experts\": 4, \"num_experts_per_tok\": 2"},
    {"llama4_text", "\"num_hidden_layers\": 4, \"num_attention_heads\": 2, \"num_key_value_heads\": 1,"
                    " \"hidden_size\": 8, \"num_local_experts\": 4"},
    {"glm4_moe", "\"num_hidden_layers\": 2, \"num_attention_heads\": 2, \"num_key_value_heads\": 1,"
                 " \"hidden_size\": 8, \"intermediate_size\": 16, \"num_experts_per_tok\": 2"},
    {"gemma3_text", "\"num_hidden_layers\": 2, \"hidden_size\": 8, \"intermediate_size\": 16"},
    {"phi", "\"num_hidden_layers\": 2, \"num_attention_heads\": 2, \"hidden_size\": 8, \"intermediate_size\": 16,"
            " \"vocab_size\": 32, \"max_position_embeddings\": 64"},
    {"nemotron", "\"num_hidden_layers\": 2, \"num_attention_heads\": 2, \"hidden_size\": 8, \"intermediate_size\": 16,"
                 " \"vocab_size\": 32, \"max_position_embeddings\": 64"},
    {"minimax_m2", "\"num_hidden_layers\": 2, \"num_attention_heads\": 2, \"num_key_value_heads\": 1,"
                   " \"hidden_size\": 8, \"intermediate_size\": 16, \"num_local_experts\": 4,"
                   " \"num_experts_per_tok\": 2, \"vocab_size\": 32, \"max_position_embeddings\": 64"},
    {"smollm3", "\"num_hidden_layers\": 4, \"num_attention_heads\": 4, \"hidden_size\": 8, \"intermediate_size\": 16,"
                " \"vocab_size\": 32, \"max_position_embeddings\": 64"},
    {"olmo3", "\"num_hidden_layers\": 4, \"num_attention_heads\": 2, \"hidden_size\": 8, \"intermediate_size\": 16,"
              " \"vocab_size\": 32, \"max_position_embeddings\": 64"},
    {"deepseek_v2", "\"num_hidden_layers\": 4, \"num_attention_heads\": 2, \"hidden_size\": 8, \"vocab_size\": 32,"
                    " \"max_position_embeddings\": 64, \"intermediate_size\": 16, \"moe_intermediate_size\": 8,"
                    " \"num_experts_per_tok\": 2, \"n_routed_experts\": 8"},
    {"shardopt", "\"d_model\": 8, \"vocab\": 32, \"max_seq\": 64, \"layers\": [{\"count\": 2, \"heads\": 2,"
                 " \"d_ff\": 16}]"},
};

static bool read_text(const char *text, Model *model, Error *error) {
    cJSON *json = json_parse(text, strlen(text), "config.json", error);
    bool ok = json && model_from_json(json, "config.json", false, model, error);
    cJSON_Delete(json);
    return ok;
}

/* The good config of the type with one key set (an empty value takes it out). */
static bool read_changed(const char *type, const char *key, const char *value, Model *model, Error *error) {
    char text[2048];
    size_t i = 0;
    while (i < COUNT_OF(GOOD) && strcmp(GOOD[i].type, type) != 0) i++;
    cr_assert_lt(i, COUNT_OF(GOOD), "%s", type);
    snprintf(text, sizeof text, "{\"model_type\": \"%s\", %s}", type, GOOD[i].config);
    cJSON *json = json_parse(text, strlen(text), "good", error);
    cr_assert(json, "%s", error->text);
    if (key[0]) cJSON_DeleteItemFromObjectCaseSensitive(json, key);
    if (key[0] && value[0]) {
        cJSON *item = json_parse(value, strlen(value), "value", error);
        cr_assert(item, "%s: %s", value, error->text);
        cJSON_AddItemToObject(json, key, item);
    }
    bool ok = model_from_json(json, "config.json", false, model, error);
    cJSON_Delete(json);
    return ok;
}

Test(config_hostile, good_ones_are_good) {
    for (size_t i = 0; i < COUNT_OF(GOOD); i++) {
        Model model;
        Error error = {0};
        cr_expect(read_changed(GOOD[i].type, "", "", &model, &error), "%s: %s", GOOD[i].type, error.text);
    }
}

/* `word` "": it is read. */
static const struct {
    const char *type, *key, *value, *word;
} ROWS[] = {
    {"bloom", "n_layer", "", "n_layer is missing"},
    {"bloom", "hidden_size", "", "hidden_size is missing"},
    {"bloom", "n_head", "", "n_head is missing"},
    {"bloom", "n_head", "3", "head_dim"},
    {"bloom", "n_head", "-2", "n_head"},
    {"bloom", "hidden_size", "9", "head_dim"},
    {"bloom", "n_inner", "null", ""},
    {"bloom", "n_inner", "[]", "n_inner"},
    {"bloom", "hidden_size", "2147483646", "d_ff"},
    {"falcon", "num_hidden_layers", "", "num_hidden_layers is missing"},
    {"falcon", "multi_query", "false", ""},
    {"falcon", "multi_query", "1", "multi_query should be true or false"},
    {"falcon", "new_decoder_architecture", "\"yes\"", "new_decoder_architecture"},
    {"falcon", "num_ln_in_parallel_attn", "3", "num_ln_in_parallel_attn"},
    {"falcon", "hidden_size", "2147483644", "d_ff"},
    {"falcon", "rope_theta", "0", "rope_theta is 0; give a number from 10 to"},
    {"mpt", "d_model", "", "d_model is missing"},
    {"mpt", "expansion_ratio", "-4", "expansion_ratio"},
    {"mpt", "expansion_ratio", "1e9", "expansion_ratio"},
    {"mpt", "expansion_ratio", "\"4\"", "expansion_ratio"},
    {"mpt", "attn_config", "{\"kv_n_heads\": 3}", "kv_heads"},
    {"mpt", "attn_config", "{\"alibi\": 1}", "attn_config.alibi"},
    {"mpt", "attn_config", "{\"attn_type\": \"multiquery_attention\"}", ""},
    {"mpt", "attn_config", "{\"alibi\": false, \"rope\": true, \"rope_theta\": 2}", "attn_config.rope_theta"},
    {"mpt", "attn_config", "{\"qk_ln\": true}", ""},
    {"mpt", "ffn_config", "{\"ffn_type\": \"mb_moe\"}", "ffn_config.ffn_type"},
    {"mpt", "ffn_config", "{\"ffn_type\": \"mptglu\", \"ffn_hidden_size\": 24}", ""},
    {"opt", "ffn_dim", "", "ffn_dim is missing"},
    {"opt", "word_embed_proj_dim", "4", ""},
    {"opt", "word_embed_proj_dim", "8", ""},
    {"opt", "do_layer_norm_before", "false", ""},
    {"opt", "_remove_final_layer_norm", "true", ""},
    {"opt", "max_position_embeddings", "2147483647", "learned_positions"},
    {"dbrx", "tie_word_embeddings", "true", "tie_word_embeddings"},
    {"dbrx", "attn_config", "{\"kv_n_heads\": 4}", "kv_heads"},
    {"dbrx", "attn_config", "{\"rope_theta\": -1}", "attn_config.rope_theta"},
    {"dbrx", "attn_config", "7", ""}, /* holds nothing: the defaults */
    {"dbrx", "ffn_config", "{\"moe_num_experts\": 0}", "d_ff"},
    {"dbrx", "ffn_config", "{\"moe_num_experts\": 4, \"moe_top_k\": 5}", "top_k"},
    {"dbrx", "ffn_config", "{\"ffn_hidden_size\": \"wide\"}", "ffn_config.ffn_hidden_size should be a number"},
    {"deepseek_v2", "kv_lora_rank", "0", "kv_lora_rank is 0"},
    {"deepseek_v2", "kv_lora_rank", "32", ""},
    {"deepseek_v2", "n_group", "3", "n_group does not divide"},
    {"deepseek_v2", "n_group", "4", ""},
    {"deepseek_v2", "moe_layer_freq", "4", ""}, /* layer 0 */
    {"deepseek_v2", "moe_layer_freq", "0", "divides by 0"},
    {"gpt_oss", "intermediate_size", "", "intermediate_size is missing"},
    {"gpt_oss", "num_experts_per_tok", "5", "top_k"},
    {"gpt_oss", "num_experts_per_tok", "", ""}, /* the class default of 4 */
    {"gpt_oss", "layer_types", "[\"full_attention\"]", "layer_types"},
    {"gpt_oss", "layer_types", "[\"full_attention\", \"full_attention\", \"full_attention\"]", "layer_types"},
    {"gpt_oss", "layer_types", "[\"full_attention\", \"full_attention\"]", ""},
    {"gpt_oss", "layer_types", "[\"full_attention\", null]", "layer_types"},
    {"gpt_oss", "num_key_value_heads", "3", "kv_heads"},
    {"gpt_oss", "sliding_window", "0", "sliding_window"},
    {"gpt_oss", "sliding_window", "-128", "sliding_window"},
    {"llama4_text", "moe_layers", "[4]", "moe_layers"},
    {"llama4_text", "moe_layers", "[1.5]", "moe_layers"},
    {"llama4_text", "moe_layers", "{}", "moe_layers"},
    {"llama4_text", "moe_layers", "[1, 3]", ""},
    {"llama4_text", "moe_layers", "[]", ""},
    {"llama4_text", "interleave_moe_layer_step", "0", "interleave_moe_layer_step"},
    {"llama4_text", "no_rope_layers", "[1, 1, 1]", "no_rope_layers"},
    {"llama4_text", "no_rope_layers", "[1, 1, 1, 2]", "no_rope_layers"},
    {"llama4_text", "no_rope_layers", "[1, 1, 1, true]", "no_rope_layers"},
    {"llama4_text", "no_rope_layers", "\"all\"", "no_rope_layers"},
    {"llama4_text", "no_rope_layers", "[]", ""},
    {"llama4_text", "no_rope_layer_interval", "0", "no_rope_layer_interval"},
    {"llama4_text", "attention_chunk_size", "null", ""},
    {"llama4_text", "attention_chunk_size", "0", "attention_chunk_size"},
    {"llama4_text", "num_experts_per_tok", "9", "top_k"},
    {"glm4_moe", "n_shared_experts", "2147483647", "d_ff_shared"},
    {"glm4_moe", "n_shared_experts", "-1", "n_shared_experts"},
    {"glm4_moe", "first_k_dense_replace", "99", "leaves none of 2 layers with experts"},
    {"glm4_moe", "n_routed_experts", "1", "top_k"},
    {"glm4_moe", "partial_rotary_factor", "0", "partial_rotary_factor"},
    {"glm4_moe", "partial_rotary_factor", "1.5", "partial_rotary_factor"},
    {"glm4_moe", "num_nextn_predict_layers", "-1", "num_nextn_predict_layers"},
    {"glm4_moe", "num_nextn_predict_layers", "\"one\"", "num_nextn_predict_layers"},
    {"glm4_moe", "quantization_config", "true", "quantization_config"},
    {"glm4_moe", "quantization_config", "null", ""},
    {"minimax_m2", "attn_type_list", "[1, 1]", ""},
    {"minimax_m2", "attn_type_list", "[0, 1]", ""},
    {"minimax_m2", "attn_type_list", "1", "attn_type_list"},
    {"minimax_m2", "rotary_dim", "129", "rotary_dim"},
    {"minimax_m2", "rotary_dim", "2", ""},
    {"minimax_m2", "num_mtp_modules", "-3", "num_mtp_modules"},
    {"smollm3", "no_rope_layers", "[1, 0]", "no_rope_layers"},
    {"smollm3", "no_rope_layers", "[1, 0, 1, 0]", ""},
    {"smollm3", "use_sliding_window", "true", ""}, /* without a width: none */
    {"smollm3", "sliding_window", "-1", ""},       /* not in use */
    {"olmo3", "sliding_window", "null", ""},
    {"olmo3", "sliding_window", "0", "sliding_window"},
    {"olmo3", "layer_types", "[\"full_attention\", \"sliding_attention\"]", "layer_types"},
    /* Rotary positions in all spellings. */
    {"nemotron", "rope_theta", "1e13", "rope_theta"},
    {"nemotron", "rope_theta", "\"500k\"", "rope_theta is text"},
    {"nemotron", "rope_scaling", "null", ""},
    {"nemotron", "rope_scaling", "[]", "rope_scaling should be an object"},
    {"nemotron", "rope_scaling", "{}", ""},
    {"nemotron", "rope_scaling", "{\"type\": \"linear\"}", "rope_scaling.factor is missing"},
    {"nemotron", "rope_scaling", "{\"type\": \"linear\", \"factor\": 2.0}", ""},
    {"nemotron", "rope_scaling", "{\"type\": \"linear\", \"factor\": 0.5}", "rope_scaling.factor"},
    {"nemotron", "rope_scaling", "{\"rope_type\": \"yarn\", \"factor\": 1e9}", "rope_scaling.factor"},
    /* Just within each bound, and just beyond it. */
    {"nemotron", "rope_scaling", "{\"type\": \"linear\", \"factor\": 1}", ""},
    {"nemotron", "rope_scaling", "{\"type\": \"linear\", \"factor\": 0.99}", "rope_scaling.factor"},
    {"nemotron", "rope_scaling", "{\"type\": \"linear\", \"factor\": 1000000}", ""},
    {"nemotron", "rope_scaling", "{\"type\": \"linear\", \"factor\": 1000001}", "rope_scaling.factor"},
    {"nemotron", "rope_theta", "10", ""},
    {"nemotron", "rope_theta", "9.99", "rope_theta"},
    {"nemotron", "rope_theta", "1e12", ""},
    {"nemotron", "rope_theta", "1.01e12", "rope_theta"},
    {"nemotron", "partial_rotary_factor", "1", ""},
    {"nemotron", "partial_rotary_factor", "1.01", "partial_rotary_factor"},
    {"nemotron", "partial_rotary_factor", "0.001", ""},
    {"nemotron", "partial_rotary_factor", "0.0009", "partial_rotary_factor"},
    {"nemotron", "rope_scaling", "{\"rope_type\": \"yern\", \"factor\": 2}", "known: default, linear"},
    {"nemotron", "rope_scaling", "{\"rope_type\": 7}", "rope_scaling.rope_type is a number"},
    {"nemotron", "rope_scaling", "{\"type\": \"yarn\", \"factor\": 2, \"original_max_position_embeddings\": 0}",
     "rope_scaling.original_max_position_embeddings"},
    {"nemotron", "rope_parameters", "7", "rope_parameters should be an object"},
    {"nemotron", "rope_parameters", "{\"rope_theta\": 3}", "rope_parameters.rope_theta"},
    {"nemotron", "rope_parameters", "{\"rope_type\": \"llama3\", \"rope_theta\": 5e5}", "rope_parameters.factor"},
    {"nemotron", "rope_parameters", "{\"rope_type\": \"default\", \"partial_rotary_factor\": 2}",
     "rope_parameters.partial_rotary_factor"},
    {"gemma3_text", "rope_parameters", "{\"full_attention\": {\"rope_theta\": 1}}",
     "rope_parameters.full_attention.rope_theta"},
    {"gemma3_text", "rope_parameters", "{\"full_attention\": 5}", "rope_parameters.full_attention should be"},
    {"gemma3_text", "rope_parameters", "{\"sliding_attention\": {\"rope_type\": \"spiral\"}}",
     "rope_parameters.sliding_attention.rope_type"},
    {"gemma3_text", "rope_local_base_freq", "-1", "rope_local_base_freq"},
    {"phi", "qk_layernorm", "true", ""},
    /* Our own form: a slip is an error. */
    {"shardopt", "vocab", "", "vocab is missing"},
    {"shardopt", "vocab_size", "32", "vocab_size is not known"},
    {"shardopt", "max_seqs", "32", "did you mean max_seq?"},
    {"shardopt", "norm", "\"batch\"", "known: rms"},
    {"shardopt", "positions", "\"absolute\"", "known: rotary"},
    {"shardopt", "layers", "[]", "layers should be"},
    {"shardopt", "layers", "{}", "layers should be"},
    {"shardopt", "layers", "[7]", "object"},
    {"shardopt", "layers", "[{\"heads\": 2, \"d_ff\": 16}]", "count is missing"},
    {"shardopt", "layers", "[{\"count\": 2, \"heads\": 3, \"d_ff\": 16}]", "head_dim"},
    {"shardopt", "layers", "[{\"count\": 2, \"heads\": 2, \"dff\": 16}]",
     "layers[0].dff is not known; did you mean d_ff"},
    {"shardopt", "layers", "[{\"count\": 2, \"heads\": 2}]", "d_ff"},
    {"shardopt", "layers", "[{\"count\": 2147483647, \"heads\": 2, \"d_ff\": 16}]", "layers"},
    {"shardopt", "layers", "[{\"count\": 2, \"heads\": 2, \"experts\": 4, \"top_k\": 5, \"d_ff_expert\": 8}]", "top_k"},
    {"shardopt", "layers", "[{\"count\": 2, \"heads\": 2, \"kv_lora_rank\": 4, \"d_ff\": 16}]", "head_dim"},
    {"shardopt", "rope", "{\"rope_theta\": 1}", "rope.rope_theta"},
    {"shardopt", "rope", "5", "rope should be an object"},
};

Test(config_hostile, rows) {
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Model model;
        Error error = {0};
        bool ok = read_changed(ROWS[i].type, ROWS[i].key, ROWS[i].value, &model, &error);
        cr_expect_eq(ok, ROWS[i].word[0] == '\0', "%s: %s: %s: %s", ROWS[i].type, ROWS[i].key, ROWS[i].value,
                     error.text);
        if (ok) continue;
        cr_expect(error.kind == ERROR_INPUT && strstr(error.where, "config.json"), "%s: %s", ROWS[i].key, error.where);
        cr_expect(strstr(error.text, ROWS[i].word), "%s: %s: %s: \"%s\"", ROWS[i].type, ROWS[i].key, ROWS[i].value,
                  error.text);
        cr_expect(!strchr(error.text, '\n'), "%s", ROWS[i].key);
    }
}

/* Every key of every good file with every wrong kind of value: an answer or an error, never more. */
Test(config_hostile, every_key_with_every_kind) {
    static const char *const VALUES[] = {"null",
                                         "true",
                                         "-1",
                                         "0",
                                         "1",
                                         "2.5",
                                         "1e300",
                                         "2147483647",
                                         "\"\"",
                                         "[]",
                                         "{}",
                                         "[[]]",
                                         "[1, 2]",
                                         "{\"rope_type\": {}}",
                                         "\"full_attention\""};
    static const char *const MORE[] = {"rope_scaling",  "rope_parameters", "layer_types",   "tie_word_embeddings",
                                       "head_dim",      "attn_config",     "ffn_config",    "text_config",
                                       "vision_config", "torch_dtype",     "architectures", "moe_layers",
                                       "no_rope_layers"};
    for (size_t i = 0; i < COUNT_OF(GOOD); i++) {
        char text[2048];
        Error error = {0};
        snprintf(text, sizeof text, "{%s}", GOOD[i].config);
        cJSON *keys = json_parse(text, strlen(text), "good", &error);
        int own = cJSON_GetArraySize(keys);
        for (int k = 0; k < own + (int)COUNT_OF(MORE); k++) {
            const char *key = k < own ? cJSON_GetArrayItem(keys, k)->string : MORE[k - own];
            for (size_t v = 0; v < COUNT_OF(VALUES); v++) {
                Model model;
                Error said = {0};
                bool ok = read_changed(GOOD[i].type, key, VALUES[v], &model, &said);
                cr_expect(ok ? model_parameters(&model).total > 0 : said.kind == ERROR_INPUT && said.text[0],
                          "%s: %s: %s", GOOD[i].type, key, VALUES[v]);
            }
        }
        cJSON_Delete(keys);
    }
}

/* tie_word_embeddings where no file says it: what the class takes. */
Test(config_hostile, tying_by_class) {
    const struct {
        const char *type;
        bool tied;
    } rows[] = {
        {"bloom", true},     {"falcon", true},   {"mpt", true},     {"opt", true},          {"gemma3_text", true},
        {"dbrx", false},     {"gpt_oss", false}, {"phi", false},    {"llama4_text", false}, {"glm4_moe", false},
        {"nemotron", false}, {"olmo3", false},   {"smollm3", true}, {"minimax_m2", false},  {"shardopt", false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Model model;
        Error error = {0};
        cr_assert(read_changed(rows[i].type, "", "", &model, &error), "%s", error.text);
        cr_expect_eq(model.tied, rows[i].tied, "%s", rows[i].type);
        if (strcmp(rows[i].type, "dbrx") == 0 || strcmp(rows[i].type, "shardopt") == 0) continue;
        cr_assert(read_changed(rows[i].type, "tie_word_embeddings", rows[i].tied ? "false" : "true", &model, &error));
        cr_expect_eq(model.tied, !rows[i].tied, "%s: the file wins", rows[i].type);
    }
}

Test(config_hostile, unknown_types_offer_the_nearest) {
    const struct {
        const char *said, *nearest;
    } rows[] = {
        {"gpt-neoxx", ", but like gpt_neox"}, {"qwen3moe", ", but like qwen3_moe"}, {"lama", ", but like llama"},
        {"falcn", ", but like falcon"},       {"diffusion", ""},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[128], expected[256];
        snprintf(text, sizeof text, "{\"model_type\": \"%s\"}", rows[i].said);
        snprintf(expected, sizeof expected,
                 "model_type \"%s\" is not known%s; `python -m shardopt.describe MODEL_OR_FOLDER -o model.json` writes "
                 "a file that is",
                 rows[i].said, rows[i].nearest);
        Model model;
        Error error = {0};
        cr_expect(!read_text(text, &model, &error));
        cr_expect_str_eq(error.text, expected);
    }
}

/* Towers beside the keys of the language model, and a type outside that the inside does not repeat. */
Test(config_hostile, what_is_left_out) {
    const struct {
        const char *config, *left_out, *type;
    } rows[] = {
        {"{\"model_type\": \"qwen2_vl\", \"hidden_size\": 8, \"intermediate_size\": 16, \"num_attention_heads\": 2,"
         " \"num_hidden_layers\": 2, \"num_key_value_heads\": 2, \"vocab_size\": 32, \"max_position_embeddings\": 64,"
         " \"rope_scaling\": {\"type\": \"mrope\", \"mrope_section\": [1, 1, 2]}, \"vision_config\": {\"depth\": 32}}",
         "vision tower (its work on images; it is counted)", "qwen2_vl"},
        {"{\"model_type\": \"anything\", \"audio_config\": {}, \"vision_config\": {}, \"text_config\": {\"model_type\":"
         " \"llama\", \"hidden_size\": 8, \"intermediate_size\": 16, \"num_attention_heads\": 2, \"num_hidden_layers\":"
         " 2, \"vocab_size\": 32, \"max_position_embeddings\": 64}}",
         "vision tower, audio tower", "llama"},
        {"{\"model_type\": \"llava\", \"text_config\": {\"hidden_size\": 8, \"intermediate_size\": 16,"
         " \"num_attention_heads\": 2, \"num_hidden_layers\": 2, \"vocab_size\": 32, \"max_position_embeddings\":"
         " 64}}",
         "", "llava"},
        {"{\"model_type\": \"llava\", \"text_config\": {\"max_position_embeddings\": 4096, \"model_type\": \"llama\","
         " \"vocab_size\": 32064}, \"vision_config\": {\"hidden_size\": 1024}, \"vocab_size\": 32064}",
         "vision tower (its work on images; it is counted)", "llava"}, /* LLaVA 1.5 leaves Llama's sizes to the class */
        {"{\"model_type\": \"deepseek_v2\", \"hidden_size\": 8, \"intermediate_size\": 16, \"num_attention_heads\": 2,"
         " \"num_hidden_layers\": 2, \"vocab_size\": 32, \"max_position_embeddings\": 64, \"num_experts_per_tok\": 2,"
         " \"moe_intermediate_size\": 5, \"num_nextn_predict_layers\": 3}",
         "3 layers for multi-token prediction", "deepseek_v2"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Model model;
        Error error = {0};
        cr_expect(read_text(rows[i].config, &model, &error), "%zu: %s", i, error.text);
        cr_expect_str_eq(model.left_out, rows[i].left_out, "%zu", i);
        cr_expect_str_eq(model.model_type, rows[i].type, "%zu", i);
    }
}

/* A model is odd below a width of 64, a vocabulary of 256 or heads of 8: what is just as large is not. */
Test(config_hostile, odd_from_just_below) {
    static const struct {
        int width, vocabulary, head;
        const char *odd;
    } rows[] = {{64, 256, 8, ""},
                {63, 256, 8, "a width of 63"},
                {64, 255, 8, "a vocabulary of 255"},
                {64, 256, 6, "heads of 6 channels"},
                {64, 256, 9, "heads of 9 channels, which rotary positions cannot pair"}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "{\"model_type\": \"llama\", \"hidden_size\": %d, \"intermediate_size\": 128, \"head_dim\": %d,"
                 " \"num_attention_heads\": 2, \"num_hidden_layers\": 2, \"vocab_size\": %d,"
                 " \"max_position_embeddings\": 64}",
                 rows[i].width, rows[i].head, rows[i].vocabulary);
        Model model;
        Error error = {0};
        cr_assert(read_text(text, &model, &error), "%s", error.text);
        cr_expect_str_eq(model.odd, rows[i].odd, "%s", model.odd);
    }
}

/* Every way to stretch positions is offered, and nothing behind the last. */
Test(config_hostile, ways_to_stretch_are_offered) {
    static const char END[] = "known: default, linear, dynamic, yarn, llama3, longrope, su, mrope, proportional";
    Model model;
    Error error = {0};
    cr_assert_not(
        read_changed("gemma3_text", "rope_scaling", "{\"rope_type\": \"ntk\", \"factor\": 2}", &model, &error));
    size_t length = strlen(error.text);
    cr_expect(length > strlen(END) && strcmp(error.text + length - strlen(END), END) == 0, "%s", error.text);
}

/* Layers with experts begin behind the dense ones, at the first multiple of the frequency: a file that leaves none of
 * them is refused. 4 layers: 0 to 3. */
Test(config_hostile, layers_with_experts) {
    static const struct {
        int dense, every;
        int64_t mixtures; /* 0: refused */
    } ROWS_OF_LAYERS[] = {{0, 1, 4}, {3, 1, 1}, {4, 1, 0}, {0, 2, 2}, {1, 2, 1}, {2, 2, 1}, {3, 2, 0},
                          {1, 3, 1}, {3, 3, 1}, {0, 3, 2}, {1, 4, 0}, {0, 4, 1}, {0, 5, 1}};
    for (size_t i = 0; i < COUNT_OF(ROWS_OF_LAYERS); i++) {
        char text[1024];
        Model model;
        Error error = {0};
        snprintf(text, sizeof text,
                 "{\"model_type\": \"deepseek_v2\", \"num_hidden_layers\": 4, \"hidden_size\": 64, "
                 "\"num_attention_heads\": 16, \"vocab_size\": 100, \"max_position_embeddings\": 10000, "
                 "\"intermediate_size\": 96, \"num_experts_per_tok\": 6, \"moe_intermediate_size\": 40, "
                 "\"first_k_dense_replace\": %d, \"moe_layer_freq\": %d}",
                 ROWS_OF_LAYERS[i].dense, ROWS_OF_LAYERS[i].every);
        cJSON *json = json_parse(text, strlen(text), "config.json", &error);
        bool ok = json && model_from_json(json, "config.json", false, &model, &error);
        cJSON_Delete(json);
        cr_expect_eq(ok, ROWS_OF_LAYERS[i].mixtures > 0, "%zu: %s", i, error.text);
        if (ok) cr_expect_eq(model_layers_with(&model, true), ROWS_OF_LAYERS[i].mixtures, "%zu", i);
    }
}
