/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/config/model_json.h"

#include "base/json.h"
#include "base/util.h"
#include "models/config/family.h"
#include "models/config/reader.h"
#include "models/parameters.h"

#include <stdio.h>
#include <string.h>

enum { TYPES_MAX = CONFIG_READERS_MAX * CONFIG_TYPES_MAX };

/* Every type of every family in one list; returns how many there are. */
static int list_types(const ConfigType *types[TYPES_MAX]) {
    int count = 0;
    for (int i = 0; i < config_reader_count(); i++) {
        const ConfigType *own = config_reader_at(i)->types;
        for (int t = 0; t < CONFIG_TYPES_MAX && own[t].model_type; t++) types[count++] = &own[t];
    }
    return count;
}

static const char *text_at(const cJSON *object, const char *path) {
    const cJSON *text = json_at(object, path);
    return cJSON_IsString(text) && text->valuestring[0] ? text->valuestring : NULL;
}

static const char *architecture_at(const cJSON *object, const char *path) {
    const cJSON *first = cJSON_GetArrayItem(json_at(object, path), 0);
    return cJSON_IsString(first) ? first->valuestring : NULL;
}

/* The way out stands in the error: whoever has the model has transformers too. */
static bool type_unknown(const char *said, const char *where, Error *error) {
    static const char DESCRIBE[] = "python -m shardopt.describe MODEL_OR_FOLDER -o model.json";
    char near[MODEL_NAME_SIZE];
    if (!said)
        return error_set(error, ERROR_INPUT, where, "model_type is missing; give it, or write a file that names its "
                         "layers: `%s`", DESCRIBE);
    bool like = family_nearest(said, near, sizeof near);
    return error_set(error, ERROR_INPUT, where, "model_type \"%.60s\" is not known%s%s; `%s` writes a file that is",
                     said, like ? ", but like " : "", like ? near : "", DESCRIBE);
}

/* The wrapped language model's own type counts; a wrapper that does not name it (gemma3) is a type itself. NULL:
 * *error says which types are known. */
static const ConfigType *find_type(const Config *config) {
    const ConfigType *types[TYPES_MAX];
    int count = list_types(types);
    char nested[32];
    snprintf(nested, sizeof nested, "%smodel_type", config->prefix);
    const char *word = text_at(config->root, nested);
    if (!word) word = text_at(config->root, "model_type");
    const char *architecture = word ? NULL : architecture_at(config->root, "architectures");
    for (int i = 0; i < count; i++) {
        const char *by_class = types[i]->architecture;
        bool same = word ? strcmp(types[i]->model_type, word) == 0
                         : architecture && by_class && strcmp(by_class, architecture) == 0;
        if (same) return types[i];
    }
    type_unknown(word ? word : architecture, config->where, config->error);
    return NULL;
}

/* By the family of the whole file's type; else by that of the language model inside, which stands for itself. */
static bool read_type(const Config *whole, const Config *inside, char type[MODEL_NAME_SIZE], Model *model) {
    const char *said = text_at(whole->root, "model_type"), *nested = text_at(whole->root, "text_config.model_type");
    const char *architecture = said ? NULL : architecture_at(whole->root, "architectures");
    type[0] = '\0';
    if (said && family_has(said)) { /* of a type that wraps nothing, a text_config is the model */
        bool within = inside->prefix[0] && !family_wraps(said);
        if (within && nested && !family_has(nested)) return type_unknown(nested, whole->where, whole->error);
        snprintf(type, MODEL_NAME_SIZE, "%s", within && nested ? nested : said);
        return family_read(within ? inside : whole, type, model);
    }
    if (architecture && family_of_class(architecture, type, MODEL_NAME_SIZE)) return family_read(whole, type, model);
    if (nested && family_has(nested)) {
        snprintf(type, MODEL_NAME_SIZE, "%s", nested);
        return family_read(inside, type, model);
    }
    const ConfigType *own = find_type(inside);
    if (!own) return false;
    snprintf(type, MODEL_NAME_SIZE, "%s", own->model_type);
    return own->read(inside, model);
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
    if (!json_is_plain(json_at(root, "shardopt"), where, error) ||
        !json_text(root, "shardopt.name", where, model->name, sizeof model->name, error) ||
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
    Config whole = {.root = config, .prefix = "", .where = where, .error = error}, reading = whole;
    Model model = {0};
    char type[MODEL_NAME_SIZE];
    if (wrapped) reading.prefix = "text_config.";
    if (!read_type(&whole, &reading, type, &model)) return false;
    snprintf(model.model_type, sizeof model.model_type, "%s", type);
    bool described = zoo || json_at(config, "shardopt");
    if (!hf_read_origin(&reading, type, &model) || !hf_read_odd(&reading, &model) ||
        (described && !read_zoo_object(config, where, &model, error)))
        return false;
    if (!model_validate(&model, where, error)) return false;
    *out = model;
    return true;
}
