/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/config/model_json.h"

#include "base/json.h"
#include "base/util.h"
#include "models/config/reader.h"
#include "models/parameters.h"

#include <stdio.h>
#include <string.h>

/* To read one more type, add its function to hf.h and a line here. */
static const struct {
    const char *model_type, *architecture; /* the second where the first is missing */
    ReadType read;
} TYPES[] = {
    {"llama", "LlamaForCausalLM", hf_read_llama},
    {"mistral", "MistralForCausalLM", hf_read_mistral},
    {"ministral", "MinistralForCausalLM", hf_read_mistral},
    {"ministral3", "Ministral3ForCausalLM", hf_read_ministral3},
    {"mixtral", "MixtralForCausalLM", hf_read_mixtral},
    {"phi3", "Phi3ForCausalLM", hf_read_phi3},
    {"olmo2", "Olmo2ForCausalLM", hf_read_olmo2},
    {"qwen2", "Qwen2ForCausalLM", hf_read_qwen2},
    {"qwen2_moe", "Qwen2MoeForCausalLM", hf_read_qwen2_moe},
    {"qwen3", "Qwen3ForCausalLM", hf_read_qwen3},
    {"qwen3_moe", "Qwen3MoeForCausalLM", hf_read_qwen3_moe},
    {"gemma", "GemmaForCausalLM", hf_read_gemma},
    {"gemma2", "Gemma2ForCausalLM", hf_read_gemma2},
    {"gemma3_text", "Gemma3ForCausalLM", hf_read_gemma3},
    {"gemma3", "Gemma3ForConditionalGeneration", hf_read_gemma3},
    {"deepseek_v2", "DeepseekV2ForCausalLM", hf_read_deepseek_v2},
    {"deepseek_v3", "DeepseekV3ForCausalLM", hf_read_deepseek_v3},
    {"kimi_k2", NULL, hf_read_deepseek_v3},
    {"gpt2", "GPT2LMHeadModel", hf_read_gpt2},
    {"gpt_neox", "GPTNeoXForCausalLM", hf_read_gpt_neox},
    {"opt", "OPTForCausalLM", hf_read_opt},
    {"phi", "PhiForCausalLM", hf_read_phi},
    {"nemotron", "NemotronForCausalLM", hf_read_nemotron},
    {"bloom", "BloomForCausalLM", hf_read_bloom},
    {"falcon", "FalconForCausalLM", hf_read_falcon},
    {"RefinedWeb", "RWForCausalLM", hf_read_falcon}, /* as Falcon's first files called it */
    {"RefinedWebModel", NULL, hf_read_falcon},
    {"mpt", "MPTForCausalLM", hf_read_mpt},
    {"dbrx", "DbrxForCausalLM", hf_read_dbrx},
    {"gpt_oss", "GptOssForCausalLM", hf_read_gpt_oss},
    {"llama4_text", "Llama4ForCausalLM", hf_read_llama4},
    {"llama4", "Llama4ForConditionalGeneration", hf_read_llama4},
    {"glm4_moe", "Glm4MoeForCausalLM", hf_read_glm4_moe},
    {"minimax_m2", "MiniMaxM2ForCausalLM", hf_read_minimax_m2},
    {"internlm", "InternLMForCausalLM", hf_read_internlm},
    {"olmo3", "Olmo3ForCausalLM", hf_read_olmo3},
    {"smollm3", "SmolLM3ForCausalLM", hf_read_smollm3},
    {"cohere", "CohereForCausalLM", hf_read_cohere},
    {"starcoder2", "Starcoder2ForCausalLM", hf_read_starcoder2},
    {"stablelm", "StableLmForCausalLM", hf_read_stablelm},
    {"shardopt", NULL, hf_read_native},
    /* Wrappers whose text_config need not name its own type, and multimodal models that have none. */
    {"mistral3", "Mistral3ForConditionalGeneration", hf_read_mistral},
    {"llava", "LlavaForConditionalGeneration", hf_read_llama},
    {"qwen2_vl", "Qwen2VLForConditionalGeneration", hf_read_qwen2},
    {"qwen2_vl_text", NULL, hf_read_qwen2},
    {"qwen2_5_vl", "Qwen2_5_VLForConditionalGeneration", hf_read_qwen2},
    {"qwen2_5_vl_text", NULL, hf_read_qwen2},
    {"qwen3_vl", "Qwen3VLForConditionalGeneration", hf_read_qwen3},
    {"qwen3_vl_text", NULL, hf_read_qwen3},
    {"qwen3_vl_moe", "Qwen3VLMoeForConditionalGeneration", hf_read_qwen3_moe},
    {"qwen3_vl_moe_text", NULL, hf_read_qwen3_moe},
    {"glm4v_moe", "Glm4vMoeForConditionalGeneration", hf_read_glm4_moe},
    {"glm4v_moe_text", NULL, hf_read_glm4_moe},
};

static const char *text_at(const cJSON *object, const char *path) {
    const cJSON *text = json_at(object, path);
    return cJSON_IsString(text) && text->valuestring[0] ? text->valuestring : NULL;
}

static const char *architecture_at(const cJSON *object, const char *path) {
    const cJSON *first = cJSON_GetArrayItem(json_at(object, path), 0);
    return cJSON_IsString(first) ? first->valuestring : NULL;
}

/* The types that are known, those nearest to the word first, as many as there is room for. */
static void list_known(const char *said, char *text, size_t size) {
    bool listed[COUNT_OF(TYPES)] = {0};
    size_t used = 0;
    text[0] = '\0';
    for (size_t n = 0; n < COUNT_OF(TYPES); n++) {
        size_t best = COUNT_OF(TYPES);
        for (size_t i = 0; i < COUNT_OF(TYPES); i++) {
            if (listed[i]) continue;
            if (best == COUNT_OF(TYPES) ||
                (said && name_distance(said, TYPES[i].model_type) < name_distance(said, TYPES[best].model_type)))
                best = i;
        }
        if (used + 2 + strlen(TYPES[best].model_type) + sizeof ", .." > size) { /* 2: the comma before it */
            snprintf(text + used, size - used, ", ..");
            return;
        }
        used += (size_t)snprintf(text + used, size - used, "%s%s", n ? ", " : "", TYPES[best].model_type);
        listed[best] = true;
    }
}

static bool type_unknown(const char *said, const char *where, Error *error) {
    char known[280];
    list_known(said, known, sizeof known);
    if (!said) return error_set(error, ERROR_INPUT, where, "model_type is missing; known: %s", known);
    return error_set(error, ERROR_INPUT, where, "model_type \"%.60s\" is not known; known: %s", said, known);
}

/* The wrapped language model's own type counts; a wrapper that does not name it (gemma3) stands in the table itself. */
static bool find_type(const Config *config, size_t *type) {
    char nested[32];
    snprintf(nested, sizeof nested, "%smodel_type", config->prefix);
    const char *word = text_at(config->root, nested);
    if (!word) word = text_at(config->root, "model_type");
    const char *architecture = word ? NULL : architecture_at(config->root, "architectures");
    for (size_t i = 0; i < COUNT_OF(TYPES); i++) {
        bool same = word ? strcmp(TYPES[i].model_type, word) == 0
                         : architecture && TYPES[i].architecture && strcmp(TYPES[i].architecture, architecture) == 0;
        if (same) return *type = i, true;
    }
    return type_unknown(word ? word : architecture, config->where, config->error);
}

static bool read_aliases(const cJSON *root, const char *where, Model *model, Error *error) {
    const cJSON *aliases = json_at(root, "shardopt.aliases"), *alias;
    if (!aliases) return true;
    if (!cJSON_IsArray(aliases) || cJSON_GetArraySize(aliases) > MODEL_ALIASES_MAX)
        return error_set(error, ERROR_INPUT, where, "shardopt.aliases should be a list of at most %d names",
                         MODEL_ALIASES_MAX);
    cJSON_ArrayForEach(alias, aliases) {
        size_t length = cJSON_IsString(alias) ? strlen(alias->valuestring) : 0;
        if (length == 0 || length >= MODEL_NAME_SIZE)
            return error_set(error, ERROR_INPUT, where, "shardopt.aliases should hold names of 1 to %d characters",
                             MODEL_NAME_SIZE - 1);
        memcpy(model->aliases[model->alias_count++], alias->valuestring, length + 1);
    }
    return true;
}

/* What only the zoo says; a figure without its source is refused. */
static bool read_zoo_object(const cJSON *root, const char *where, Model *model, Error *error) {
    const int64_t most = (int64_t)1 << 60;
    TrainingDefaults *training = &model->training;
    if (!json_text(root, "shardopt.name", where, model->name, sizeof model->name, error) ||
        !json_text(root, "shardopt.family", where, model->family, sizeof model->family, error) ||
        !json_text(root, "shardopt.source", where, model->source, sizeof model->source, error) ||
        !read_aliases(root, where, model, error) ||
        !json_whole_or(root, "shardopt.published.parameters", 1, most, 0, where, &model->published_parameters, error) ||
        !json_whole_or(root, "shardopt.published.active_parameters", 1, most, 0, where,
                       &model->published_active_parameters, error) ||
        !json_text_or(root, "shardopt.published.source", "", where, model->published_source,
                      sizeof model->published_source, error) ||
        !json_text_or(root, "shardopt.published.note", "", where, model->published_note, sizeof model->published_note,
                      error) ||
        !json_whole_or(root, "shardopt.training.batch_tokens", 1, INT64_C(1) << 40, 0, where, &training->batch_tokens,
                       error) ||
        !json_whole_or(root, "shardopt.training.seq", 1, INT32_MAX, 0, where, &training->seq, error) ||
        !json_real_or(root, "shardopt.training.tokens", 1, 1e18, 0, where, &training->tokens, error) ||
        !json_real_or(root, "shardopt.training.capacity_factor", 1, 64, 0, where, &training->capacity_factor, error) ||
        !json_text_or(root, "shardopt.training.source", "", where, training->source, sizeof training->source, error))
        return false;
    if (!model->name[0] || !model->source[0])
        return error_set(error, ERROR_INPUT, where, "shardopt.name or shardopt.source is empty; give both");
    if ((model->published_parameters || model->published_active_parameters) && !model->published_source[0])
        return error_set(error, ERROR_INPUT, where, "shardopt.published has no source; say where the figures stand");
    if ((training->batch_tokens || training->seq || training->tokens > 0 || training->capacity_factor > 0) &&
        !training->source[0])
        return error_set(error, ERROR_INPUT, where, "shardopt.training has no source; say where the figures stand");
    return true;
}

bool model_from_json(const cJSON *config, const char *where, bool zoo, Model *out, Error *error) {
    if (!cJSON_IsObject(config))
        return error_set(error, ERROR_INPUT, where, "is no JSON object; give a Hugging Face config.json");
    bool wrapped = cJSON_IsObject(json_at(config, "text_config"));
    Config reading = {.root = config, .prefix = wrapped ? "text_config." : "", .where = where, .error = error};
    Model model = {0};
    size_t type = 0;
    if (!find_type(&reading, &type) || !TYPES[type].read(&reading, &model)) return false;
    snprintf(model.model_type, sizeof model.model_type, "%s", TYPES[type].model_type);
    bool described = zoo || json_at(config, "shardopt");
    if (!hf_read_origin(&reading, TYPES[type].model_type, &model) ||
        (described && !read_zoo_object(config, where, &model, error)))
        return false;
    if (!model_validate(&model, where, error)) return false;
    *out = model;
    return true;
}
