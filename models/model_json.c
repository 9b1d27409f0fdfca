/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/model_json.h"

#include "base/json.h"
#include "base/util.h"
#include "models/hf.h"
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
};

static const char *text_at(const cJSON *object, const char *path) {
    const cJSON *text = json_at(object, path);
    return cJSON_IsString(text) && text->valuestring[0] ? text->valuestring : NULL;
}

static const char *architecture_at(const cJSON *object, const char *path) {
    const cJSON *first = cJSON_GetArrayItem(json_at(object, path), 0);
    return cJSON_IsString(first) ? first->valuestring : NULL;
}

static bool type_unknown(const char *said, const char *where, Error *error) {
    char known[256] = "";
    for (size_t i = 0, used = 0; i < COUNT_OF(TYPES) && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", TYPES[i].model_type);
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
        !json_whole_or(root, "shardopt.training.batch_tokens", 1, INT64_C(1) << 40, 0, where, &training->batch_tokens,
                       error) ||
        !json_whole_or(root, "shardopt.training.seq", 1, INT32_MAX, 0, where, &training->seq, error) ||
        !json_real_or(root, "shardopt.training.tokens", 1, 1e18, 0, where, &training->tokens, error) ||
        !json_text_or(root, "shardopt.training.source", "", where, training->source, sizeof training->source, error))
        return false;
    if (!model->name[0] || !model->source[0])
        return error_set(error, ERROR_INPUT, where, "shardopt.name or shardopt.source is empty; give both");
    if ((model->published_parameters || model->published_active_parameters) && !model->published_source[0])
        return error_set(error, ERROR_INPUT, where, "shardopt.published has no source; say where the figures stand");
    if ((training->batch_tokens || training->seq || training->tokens > 0) && !training->source[0])
        return error_set(error, ERROR_INPUT, where, "shardopt.training has no source; say where the figures stand");
    return true;
}

/* A plain config is named after where it came from: the last word of _name_or_path, else the folder or file. */
static void name_by_origin(const cJSON *root, const char *where, const char *type, Model *model) {
    static const char FILE_NAME[] = "/config.json";
    const char *path = text_at(root, "_name_or_path");
    if (!path) path = where;
    size_t length = strlen(path), tail = sizeof FILE_NAME - 1;
    if (length > tail && strcmp(path + length - tail, FILE_NAME) == 0) length -= tail;
    while (length > 0 && path[length - 1] == '/') length--;
    size_t start = length;
    while (start > 0 && path[start - 1] != '/') start--;
    const char *word = path + start;
    if (length == start || word[0] == '.') {
        word = type;
        length = strlen(type);
        start = 0;
    }
    snprintf(model->name, sizeof model->name, "%.*s",
             (int)(length - start < MODEL_NAME_SIZE ? length - start : MODEL_NAME_SIZE - 1), word);
    snprintf(model->family, sizeof model->family, "%s", type);
}

/* Names and sources end in reports: bytes that a terminal or JSON could choke on (paths may hold any) become '?'. */
static void keep_printable(char *text) {
    for (; *text; text++)
        if (*text < ' ' || *text > '~') *text = '?';
}

static void source_by_origin(const Config *config, Model *model) {
    int64_t predictors = 0;
    const cJSON *extra = hf_at(config, "num_nextn_predict_layers");
    if (cJSON_IsNumber(extra) && extra->valuedouble >= 1 && extra->valuedouble < 1e6)
        predictors = (int64_t)extra->valuedouble;
    int used = snprintf(model->source, sizeof model->source, "%.200s", config->where);
    if (config->prefix[0])
        used += snprintf(model->source + used, sizeof model->source - (size_t)used,
                         "; text_config alone, what stands beside it (a vision tower) is left out");
    if (predictors)
        snprintf(model->source + used, sizeof model->source - (size_t)used,
                 "; %lld layers for multi-token prediction are left out", (long long)predictors);
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
    if (zoo || json_at(config, "shardopt")) {
        if (!read_zoo_object(config, where, &model, error)) return false;
    } else {
        name_by_origin(config, where, TYPES[type].model_type, &model);
        source_by_origin(&reading, &model);
        keep_printable(model.name);
        keep_printable(model.source);
    }
    if (!model_validate(&model, where, error)) return false;
    *out = model;
    return true;
}
