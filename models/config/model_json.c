/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/config/model_json.h"

#include "base/json.h"
#include "base/util.h"
#include "models/config/family.h"
#include "models/config/reader.h"
#include "models/parameters.h"

#include <stdio.h>
#include <string.h>

static const char *architecture_at(const cJSON *object, const char *path) {
    const cJSON *first = cJSON_GetArrayItem(json_at(object, path), 0);
    return cJSON_IsString(first) ? first->valuestring : NULL;
}

/* The way out stands in the error: whoever has the model has transformers too. */
static bool type_unknown(const char *said, const char *where, Error *error) {
    static const char DESCRIBE[] = "python -m shardopt.describe MODEL_OR_FOLDER -o model.json";
    if (!said)
        return error_set(error, ERROR_INPUT, where,
                         "model_type is missing; give it, or write a file that names its "
                         "layers: `%s`",
                         DESCRIBE);
    const char *near = family_nearest(said);
    return error_set(error, ERROR_INPUT, where, "model_type \"%.60s\" is not known%s%s; `%s` writes a file that is",
                     said, near ? ", but like " : "", near ? near : "", DESCRIBE);
}

/* By the family of the whole file's type; else by that of the language model inside, which stands for itself. NULL:
 * *error says why not. */
static const char *read_type(const Config *whole, const Config *inside, Model *model) {
    const char *said = hf_text_at(whole->root, "model_type"),
               *nested = hf_text_at(whole->root, "text_config.model_type");
    const char *architecture = said ? NULL : architecture_at(whole->root, "architectures");
    const FamilyType *type = said ? family_of_type(said) : architecture ? family_of_class(architecture) : NULL;
    const FamilyType *within = nested ? family_of_type(nested) : NULL;
    const Config *config = whole;
    if (said && strcmp(said, "shardopt") == 0) return native_read(whole, model) ? said : NULL;
    if (said && type && inside->prefix[0] && !family_wraps(type)) { /* a text_config is the model */
        config = inside;
        if (nested) type = within;
    } else if (!type && within) {
        config = inside;
        type = within;
    }
    if (!type) return type_unknown(nested ? nested : said ? said : architecture, whole->where, whole->error), NULL;
    return family_read(config, type->type, model) ? type->type : NULL;
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
        !json_whole_or(root, "shardopt.training.mtp_layers", 1, 16, 0, where, &training->mtp_layers, error) ||
        !json_real_or(root, "shardopt.training.capacity_factor", 1, 64, 0, where, &training->capacity_factor, error) ||
        !json_text_or(root, "shardopt.training.source", "", where, training->source, sizeof training->source, error))
        return false;
    if (!model->name[0] || !model->source[0])
        return error_set(error, ERROR_INPUT, where, "shardopt.name or shardopt.source is empty; give both");
    if ((model->published_parameters || model->published_active_parameters) && !model->published_source[0])
        return error_set(error, ERROR_INPUT, where, "shardopt.published has no source; say where the figures stand");
    if ((training->batch_tokens || training->seq || training->tokens > 0 || training->capacity_factor > 0 ||
         training->mtp_layers) &&
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
    if (wrapped) reading.prefix = "text_config.";
    const char *type = read_type(&whole, &reading, &model);
    if (!type) return false;
    snprintf(model.model_type, sizeof model.model_type, "%s", type);
    bool described = zoo || json_at(config, "shardopt");
    if (!hf_read_origin(&reading, type, &model) || !hf_read_odd(&reading, &model) ||
        (described && !read_zoo_object(config, where, &model, error)))
        return false;
    if (!model_validate(&model, where, error)) return false;
    *out = model;
    return true;
}
