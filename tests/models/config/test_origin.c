/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a config.json says of itself: its name, what of it is left out, how its weights are stored. */
#include "base/json.h"
#include "base/util.h"
#include "models/config/model_json.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define LLAMA                                                                                                          \
    "\"model_type\": \"llama\", \"hidden_size\": 8, \"intermediate_size\": 16, \"max_position_embeddings\": 64, "      \
    "\"num_attention_heads\": 2, \"num_hidden_layers\": 2, \"vocab_size\": 32"

static Model model;

/* A llama's file with more in it, as of a place. */
static void read(const char *more, const char *where) {
    char text[1024];
    Error error = {0};
    snprintf(text, sizeof text, "{" LLAMA "%s%s}", more[0] ? ", " : "", more);
    cJSON *json = json_parse(text, strlen(text), where, &error);
    memset(&model, 0, sizeof model);
    cr_assert(json && model_from_json(json, where, false, &model, &error), "%s: %s", text, error.text);
    cJSON_Delete(json);
}

/* Keys that lie a letter or two from one that decides a size, where that one is missing. */
Test(origin, what_is_left_out) {
    static const struct {
        const char *more, *left_out;
    } ROWS[] = {
        {"", ""},
        {"\"num_key_value_head\": 1", "num_key_value_head (is it num_key_value_heads?)"},
        {"\"num_key_value_hea\": 1", "num_key_value_hea (is it num_key_value_heads?)"},
        {"\"num_key_value_he\": 1", ""},
        {"\"num_key_value_head\": 1, \"num_key_value_heads\": 1", ""},
        {"\"rope_thet\": 1, \"head_dimm\": 4", "rope_thet (is it rope_theta?), head_dimm (is it head_dim?)"},
        {"\"routed_expert_hidden_size\": 64", "routed_expert_hidden_size (llama is not known to have it)"},
        {"\"expert_ranks\": [1, 2], \"attn_rank\": [4, 8]", "attn_rank (llama is not known to have it)"},
        {"\"use_output_gate\": true, \"n_group\": 8, \"latent_dim\": 1, \"use_gate\": false",
         "use_output_gate (llama is not known to have it)"},
        {"\"vision_config\": {\"mystery_size\": 8}, \"image_token_id\": 9, \"temperature\": 4", "vision tower"},
        {"\"vision_config\": {}", "vision tower"},
        {"\"vision_config\": {}, \"visual\": {}", "vision tower"},
        {"\"vision_config\": {}, \"audio_config\": {}", "vision tower, audio tower"},
        {"\"speech_config\": {}, \"num_nextn_predict_layers\": 1", "speech tower, 1 layer for multi-token prediction"},
        {"\"num_mtp_modules\": 2", "2 layers for multi-token prediction"},
        {"\"num_nextn_predict_layers\": 0", ""},
        {"\"vision_config\": 5", ""},
        {"\"architectures\": [\"LlamaForCausalLM\"]", ""},
        {"\"architectures\": [\"MixtralForCausalLM\"]", "the class MixtralForCausalLM of mixtral (read as llama)"},
        {"\"architectures\": [\"NobodyForCausalLM\"]", ""},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        read(ROWS[i].more, "config.json");
        cr_expect_str_eq(model.left_out, ROWS[i].left_out, "%s: %s", ROWS[i].more, model.left_out);
    }
}

Test(origin, how_it_is_stored) {
    static const struct {
        const char *more, *stored_as;
    } ROWS[] = {
        {"", ""},
        {"\"torch_dtype\": \"bfloat16\"", "bfloat16"},
        {"\"dtype\": \"float16\"", "float16"},
        {"\"torch_dtype\": \"bfloat16\", \"dtype\": \"float16\"", "bfloat16"},
        {"\"torch_dtype\": 5", ""},
        {"\"quantization_config\": {\"quant_method\": \"fp8\", \"fmt\": \"e4m3\"}", "quantized (fp8 e4m3)"},
        {"\"dtype\": \"bfloat16\", \"quantization_config\": {\"quant_method\": \"mxfp4\"}",
         "bfloat16, quantized (mxfp4)"},
        {"\"quantization_config\": {}", "quantized (quantization_config)"},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        read(ROWS[i].more, "config.json");
        cr_expect_str_eq(model.stored_as, ROWS[i].stored_as, "%s: %s", ROWS[i].more, model.stored_as);
    }
}

/* The last word of where it came from; where there is none, the type. */
Test(origin, names) {
    static const struct {
        const char *more, *where, *name;
    } ROWS[] = {
        {"\"_name_or_path\": \"meta-llama/Llama-2-7b-hf\"", "x/config.json", "Llama-2-7b-hf"},
        {"\"_name_or_path\": \"\"", "models/mine/config.json", "mine"},
        {"", "/config.json", "config.json"},
        {"", "mine///config.json", "mine"},
        {"", "mine.json", "mine.json"},
        {"", "a/b/c.json", "c.json"},
        {"\"_name_or_path\": \"a/b/\"", "x.json", "b"},
        {"\"_name_or_path\": \"/\"", "x.json", "llama"},
        {"\"_name_or_path\": \"./\"", "x.json", "llama"},
        {"\"_name_or_path\": \"../up/.hidden\"", "x.json", "llama"},
        {"\"_name_or_path\": \"a\\u00e9b\"", "x.json", "a??b"},
        {"\"_name_or_path\": \"~ !\"", "x.json", "~ !"},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        read(ROWS[i].more, ROWS[i].where);
        cr_expect_str_eq(model.name, ROWS[i].name, "%s: %s", ROWS[i].more, model.name);
        cr_expect_str_eq(model.family, "llama");
        cr_expect_str_eq(model.source, ROWS[i].where);
    }
    char more[256], longest[MODEL_NAME_SIZE + 8];
    for (int more_by = 0; more_by < 3; more_by++) {
        size_t length = MODEL_NAME_SIZE - 2 + (size_t)more_by;
        memset(longest, 'n', length);
        longest[length] = '\0';
        snprintf(more, sizeof more, "\"_name_or_path\": \"%s\"", longest);
        read(more, "x.json");
        cr_expect_eq(strlen(model.name), length < MODEL_NAME_SIZE ? length : MODEL_NAME_SIZE - 1);
    }
}
