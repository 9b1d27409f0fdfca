/* SPDX-License-Identifier: GPL-3.0-or-later */
/* model_type "shardopt": layers in the words of models/model.h, for models that no Hugging Face class describes.
 *
 *   { "model_type": "shardopt", "d_model": 18432, "vocab": 256000, "tied": true, "max_seq": 2048, "norm": "rms",
 *     "positions": "rotary", "rope": {"rope_theta": 10000},
 *     "layers": [ {"count": 118, "heads": 48, "kv_heads": 1, "head_dim": 256, "d_ff": 73728, "norms": 1,
 *                  "parallel_block": true} ], "shardopt": {..} }
 *
 * A key that is not known is an error: nobody else writes this form, so that it is a slip. */
#include "base/json.h"
#include "models/config/layer_fields.h"
#include "models/config/reader.h"
#include "models/mixer.h"
#include "models/parameters.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const char *const MODEL_KEYS[] = {
    "model_type",      "d_model",           "vocab",       "tied",          "max_seq",
    "positions",       "learned_positions", "norm",        "rope",          "layers",
    "shardopt",        "embedding_norm",    "logits_bias", "architectures", "towers",
    "embedding_width", "no_head",           "matrices",    "vectors"};
static const char *const NORMS[] = {[NORM_RMS] = "rms", [NORM_LAYER_NO_BIAS] = "layer_no_bias", [NORM_LAYER] = "layer"};
static const char *const POSITIONS[] = {[POSITIONS_ROTARY] = "rotary",
                                        [POSITIONS_LEARNED] = "learned",
                                        [POSITIONS_ALIBI] = "alibi",
                                        [POSITIONS_NONE] = "none"};

static bool unknown_key(const Config *config, const char *at, const char *key, const char *const *known, size_t count) {
    const char *nearest = name_nearest(key, known, count);
    return error_set(config->error, ERROR_INPUT, config->where, "%s%.60s is not known%s%s%s", at, key,
                     nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}

static bool check_keys(const Config *config, const cJSON *object, const char *at, const char *const *known,
                       size_t count) {
    const cJSON *item;
    cJSON_ArrayForEach(item, object) {
        size_t i = 0;
        while (i < count && strcmp(known[i], item->string) != 0) i++;
        if (i == count) return unknown_key(config, at, item->string, known, count);
    }
    return true;
}

static bool check_layer_keys(const Config *config, const cJSON *layer, const char *at) {
    enum { MIXERS_MAX = 32, OBJECTS = 3 };
    const char *known[LAYER_WHOLES_MAX + LAYER_FLAGS_MAX + MIXERS_MAX + OBJECTS] = {"attention", "matrices", "vectors"};
    size_t count = OBJECTS;
    for (int i = 0; i < LAYER_WHOLE_COUNT; i++) known[count++] = LAYER_WHOLES[i].key;
    for (int i = 0; i < LAYER_FLAG_COUNT; i++) known[count++] = LAYER_FLAGS[i].key;
    for (int i = 0; MIXERS[i] && i < MIXERS_MAX; i++) known[count++] = MIXERS[i]->name;
    return check_keys(config, layer, at, known, count);
}

/* "mamba2": {"heads": .., "state": ..}: a layer has at most one. */
static bool read_mixer(const Config *config, const cJSON *json, const char *where, LayerKind *kind) {
    for (int i = 0; MIXERS[i]; i++) {
        const Mixer *mixer = MIXERS[i];
        const cJSON *object = json_at(json, mixer->name);
        const char *known[MIXER_SIZES_MAX];
        char own[300];
        int count = mixer_size_count(mixer);
        if (!object) continue;
        snprintf(own, sizeof own, "%s.%s", where, mixer->name);
        if (!cJSON_IsObject(object)) return error_set(config->error, ERROR_INPUT, own, "should be an object");
        if (kind->mixer)
            return error_set(config->error, ERROR_INPUT, own, "stands next to %s; a layer has one mixer",
                             kind->mixer->name);
        kind->mixer = mixer;
        for (int s = 0; s < count; s++) known[s] = mixer->sizes[s].key;
        if (!check_keys(config, object, own + strlen(config->where), known, (size_t)count)) return false;
        for (int s = 0; s < count; s++) {
            const MixerSize *size = &mixer->sizes[s];
            bool ok = size->fallback == MIXER_REQUIRED
                          ? json_whole(object, size->key, size->low, INT32_MAX, own, &kind->sizes[s], config->error)
                          : json_whole_or(object, size->key, size->low, INT32_MAX, size->fallback, own, &kind->sizes[s],
                                          config->error);
            if (!ok) return false;
        }
    }
    return true;
}

/* "matrices": {"hyper": 4096}: parameters in addition to those that the fields say, by column. */
static bool read_extra(const Config *config, const cJSON *json, const char *where, ExtraParameters *extra) {
    static const char *const KEYS[] = {"matrices", "vectors"};
    for (int k = 0; k < 2; k++) {
        const cJSON *object = json_at(json, KEYS[k]), *item;
        if (object && !cJSON_IsObject(object))
            return error_set(config->error, ERROR_INPUT, where, "%s should be an object", KEYS[k]);
        cJSON_ArrayForEach(item, object) {
            int part = model_part_named(item->string);
            if (part < 0)
                return error_set(config->error, ERROR_INPUT, where, "%s.%.60s is no column of parameters", KEYS[k],
                                 item->string);
            if (!json_whole(object, item->string, 0, INT64_C(1) << 52, where,
                            k ? &extra->vector[part] : &extra->matrix[part], config->error))
                return false;
        }
    }
    return true;
}

/* One of a few words; the first is meant where the key is absent. */
static bool read_word(const Config *config, const char *key, const char *const *words, size_t count, size_t *out) {
    char word[32], known[96] = "";
    if (!hf_text(config, key, words[0], word, sizeof word)) return false;
    for (size_t i = 0, used = 0; i < count; i++) {
        if (strcmp(words[i], word) == 0) return *out = i, true;
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", words[i]);
    }
    return hf_wrong(config, key, "is \"%s\"; known: %s", word, known);
}

/* Errors name the key with its place, "layers[1].heads". */
static bool read_layer(const Config *config, const cJSON *json, int index, int64_t d_model, LayerKind *kind) {
    char where[256], at[32];
    snprintf(at, sizeof at, "layers[%d].", index);
    snprintf(where, sizeof where, "%.170s: layers[%d]", config->where, index);
    if (!cJSON_IsObject(json)) return error_set(config->error, ERROR_INPUT, where, "should be an object");
    if (!check_layer_keys(config, json, at) || !read_mixer(config, json, where, kind) ||
        !read_extra(config, json, where, &kind->extra))
        return false;
    for (int i = 0; i < LAYER_WHOLE_COUNT; i++) {
        const LayerWhole *field = &LAYER_WHOLES[i];
        int64_t *value = (int64_t *)((char *)kind + field->offset), fallback = field->fallback;
        if (fallback == FIELD_UNLESS_MIXER) fallback = kind->mixer ? 0 : FIELD_REQUIRED;
        bool ok = fallback == FIELD_REQUIRED
                      ? json_whole(json, field->key, field->low, INT32_MAX, where, value, config->error)
                      : json_whole_or(json, field->key, field->low, INT32_MAX, fallback, where, value, config->error);
        if (!ok) return false;
    }
    for (int i = 0; i < LAYER_FLAG_COUNT; i++) {
        const LayerFlag *field = &LAYER_FLAGS[i];
        bool *value = (bool *)((char *)kind + field->offset);
        if (!json_bool_or(json, field->key, field->fallback, where, value, config->error)) return false;
    }
    if (kind->kv_heads == 0) kind->kv_heads = kind->heads;
    if (kind->kv_lora_rank > 0) {
        kind->attention = ATTENTION_LATENT;
        kind->head_dim = kind->qk_nope_head_dim + kind->qk_rope_head_dim;
    } else if (kind->head_dim == 0 && kind->heads > 0) {
        if (d_model % kind->heads)
            return error_set(config->error, ERROR_INPUT, where,
                             "head_dim is absent, and d_model %lld is no multiple of %lld heads; give head_dim",
                             (long long)d_model, (long long)kind->heads);
        kind->head_dim = d_model / kind->heads;
    }
    return true;
}

static bool read_layers(const Config *config, Model *model) {
    const cJSON *layers = hf_at(config, "layers"), *layer;
    int count = cJSON_IsArray(layers) ? cJSON_GetArraySize(layers) : 0;
    if (count < 1 || count > MODEL_KINDS_MAX)
        return hf_wrong(config, "layers", "should be a list of 1 to %d kinds of layers", MODEL_KINDS_MAX);
    cJSON_ArrayForEach(layer, layers) {
        LayerKind *kind = &model->kinds[model->kind_count];
        if (!read_layer(config, layer, model->kind_count, model->d_model, kind)) return false;
        model->layers += kind->count;
        model->kind_count++;
    }
    return true;
}

/* "towers": [{"part": "vision", "type": "siglip", "layers": .., "width": .., "parameters": ..}] */
static bool read_towers(const Config *config, Model *model) {
    const cJSON *towers = hf_at(config, "towers"), *json;
    static const char *const PARTS[] = {"vision", "audio"};
    static const ModelPart COLUMNS[] = {PART_VISION, PART_AUDIO};
    static const char *const KEYS[] = {"part", "type", "layers", "width", "heads", "d_ff", "patch", "parameters"};
    if (towers && (!cJSON_IsArray(towers) || cJSON_GetArraySize(towers) > TOWERS_MAX))
        return hf_wrong(config, "towers", "should be a list of at most %d towers", TOWERS_MAX);
    cJSON_ArrayForEach(json, towers) {
        char where[256], part[16];
        Tower *tower = &model->towers[model->tower_count];
        snprintf(where, sizeof where, "%.170s: towers[%d]", config->where, model->tower_count++);
        if (!cJSON_IsObject(json)) return error_set(config->error, ERROR_INPUT, where, "should be an object");
        if (!check_keys(config, json, "towers.", KEYS, COUNT_OF(KEYS)) ||
            !json_text_or(json, "part", PARTS[0], where, part, sizeof part, config->error) ||
            !json_text_or(json, "type", "", where, tower->type, sizeof tower->type, config->error) ||
            !json_whole(json, "layers", 0, MODEL_LAYERS_MAX, where, &tower->layers, config->error) ||
            !json_whole(json, "width", 1, INT32_MAX, where, &tower->width, config->error) ||
            !json_whole_or(json, "heads", 0, INT32_MAX, 0, where, &tower->heads, config->error) ||
            !json_whole_or(json, "d_ff", 0, INT32_MAX, 0, where, &tower->d_ff, config->error) ||
            !json_whole_or(json, "patch", 0, INT32_MAX, 0, where, &tower->patch, config->error) ||
            !json_whole(json, "parameters", 0, INT64_C(1) << 52, where, &tower->parameters, config->error))
            return false;
        bool audio = strcmp(part, PARTS[1]) == 0;
        if (!audio && strcmp(part, PARTS[0]) != 0)
            return error_set(config->error, ERROR_INPUT, where, "part is \"%s\"; known: vision, audio", part);
        tower->part = COLUMNS[audio];
    }
    return true;
}

bool native_read(const Config *config, Model *model) {
    size_t norm = 0, positions = 0;
    if (!check_keys(config, config->root, "", MODEL_KEYS, COUNT_OF(MODEL_KEYS)) ||
        !hf_dimension(config, "d_model", 0, &model->d_model) || !hf_dimension(config, "vocab", 0, &model->vocab) ||
        !hf_flag(config, "tied", false, &model->tied) || !hf_dimension(config, "max_seq", 0, &model->max_seq) ||
        !read_word(config, "norm", NORMS, COUNT_OF(NORMS), &norm) ||
        !read_word(config, "positions", POSITIONS, COUNT_OF(POSITIONS), &positions) ||
        !hf_flag(config, "embedding_norm", false, &model->embedding_norm) ||
        !hf_flag(config, "logits_bias", false, &model->logits_bias) ||
        !hf_flag(config, "no_head", false, &model->no_head) ||
        !hf_number(config, "embedding_width", 0, &model->embedding_width) || !read_towers(config, model) ||
        !read_extra(config, config->root, config->where, &model->extra) ||
        !hf_number(config, "learned_positions", positions == POSITIONS_LEARNED ? model->max_seq : 0,
                   &model->learned_positions) ||
        (positions == POSITIONS_ROTARY && !hf_rope(config, (HfRopeKeys){.object = "rope"}, model)))
        return false;
    model->norm = (NormKind)norm;
    model->positions = (PositionKind)positions;
    return read_layers(config, model);
}
