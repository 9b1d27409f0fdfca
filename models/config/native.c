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
#include "models/config/reader.h"
#include "models/mixer.h"
#include "models/parameters.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { REQUIRED = -1, UNLESS_MIXER = -2 };

/* Of a kind of layers. A fallback of REQUIRED: the key must be there; UNLESS_MIXER: it may be left out alongside a
 * mixer. To read one more, add a line. */
static const struct {
    const char *key;
    size_t offset;
    int64_t low, fallback;
} WHOLES[] = {
    {"count", offsetof(LayerKind, count), 1, REQUIRED},
    {"heads", offsetof(LayerKind, heads), 1, UNLESS_MIXER},
    {"kv_heads", offsetof(LayerKind, kv_heads), 1, 0}, /* absent: as many as heads */
    {"head_dim", offsetof(LayerKind, head_dim), 1, 0}, /* absent: d_model / heads */
    {"q_lora_rank", offsetof(LayerKind, q_lora_rank), 0, 0},
    {"kv_lora_rank", offsetof(LayerKind, kv_lora_rank), 0, 0}, /* above 0: the attention is latent */
    {"qk_nope_head_dim", offsetof(LayerKind, qk_nope_head_dim), 0, 0},
    {"qk_rope_head_dim", offsetof(LayerKind, qk_rope_head_dim), 0, 0},
    {"v_head_dim", offsetof(LayerKind, v_head_dim), 0, 0},
    {"window", offsetof(LayerKind, window), 0, 0},
    {"qk_norm_parameters", offsetof(LayerKind, qk_norm_parameters), 0, 0},
    {"d_ff", offsetof(LayerKind, d_ff), 0, 0},
    {"experts", offsetof(LayerKind, experts), 0, 0},
    {"top_k", offsetof(LayerKind, top_k), 0, 0},
    {"d_ff_expert", offsetof(LayerKind, d_ff_expert), 0, 0},
    {"d_ff_shared", offsetof(LayerKind, d_ff_shared), 0, 0},
    {"norms", offsetof(LayerKind, norms), 0, 2},
    {"out_gate", offsetof(LayerKind, out_gate), 0, 0},
    {"attention_width", offsetof(LayerKind, attention_width), 0, 0},
    {"index_heads", offsetof(LayerKind, index_heads), 0, 0},
    {"index_head_dim", offsetof(LayerKind, index_head_dim), 0, 0},
    {"index_top_k", offsetof(LayerKind, index_top_k), 0, 0},
    {"compress", offsetof(LayerKind, compress), 0, 0},
    {"cross_heads", offsetof(LayerKind, cross_heads), 0, 0},
    {"cross_kv_heads", offsetof(LayerKind, cross_kv_heads), 0, 0},
    {"cross_head_dim", offsetof(LayerKind, cross_head_dim), 0, 0},
    {"cross_width", offsetof(LayerKind, cross_width), 0, 0},
    {"expert_width", offsetof(LayerKind, expert_width), 0, 0},
    {"null_experts", offsetof(LayerKind, null_experts), 0, 0},
    {"copies", offsetof(LayerKind, copies), 0, 0},
};

static const struct {
    const char *key;
    size_t offset;
    bool fallback;
} FLAGS[] = {
    {"gated", offsetof(LayerKind, gated), true},
    {"chunked", offsetof(LayerKind, chunked), false},
    {"no_rope", offsetof(LayerKind, no_rope), false},
    {"qkv_bias", offsetof(LayerKind, qkv_bias), false},
    {"out_bias", offsetof(LayerKind, out_bias), false},
    {"sinks", offsetof(LayerKind, sinks), false},
    {"mlp_bias", offsetof(LayerKind, mlp_bias), false},
    {"shared_gate", offsetof(LayerKind, shared_gate), false},
    {"router_bias", offsetof(LayerKind, router_bias), false},
    {"expert_bias", offsetof(LayerKind, expert_bias), false},
    {"parallel_block", offsetof(LayerKind, parallel_block), false},
    {"encoder", offsetof(LayerKind, encoder), false},
};

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
    const char *known[COUNT_OF(WHOLES) + COUNT_OF(FLAGS) + MIXERS_MAX + OBJECTS] = {"attention", "matrices", "vectors"};
    size_t count = OBJECTS;
    for (size_t i = 0; i < COUNT_OF(WHOLES); i++) known[count++] = WHOLES[i].key;
    for (size_t i = 0; i < COUNT_OF(FLAGS); i++) known[count++] = FLAGS[i].key;
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
            return error_set(config->error, ERROR_INPUT, own, "stands alongside %s; a layer has one mixer",
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

/* "matrices": {"hyper": 4096}: parameters alongside those that the fields say, by column. */
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
    for (size_t i = 0; i < COUNT_OF(WHOLES); i++) {
        int64_t *value = (int64_t *)((char *)kind + WHOLES[i].offset);
        int64_t fallback = WHOLES[i].fallback == UNLESS_MIXER ? kind->mixer ? 0 : REQUIRED : WHOLES[i].fallback;
        bool ok =
            fallback == REQUIRED
                ? json_whole(json, WHOLES[i].key, WHOLES[i].low, INT32_MAX, where, value, config->error)
                : json_whole_or(json, WHOLES[i].key, WHOLES[i].low, INT32_MAX, fallback, where, value, config->error);
        if (!ok) return false;
    }
    for (size_t i = 0; i < COUNT_OF(FLAGS); i++)
        if (!json_bool_or(json, FLAGS[i].key, FLAGS[i].fallback, where, (bool *)((char *)kind + FLAGS[i].offset),
                          config->error))
            return false;
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

static bool read_native_type(const Config *config, Model *model) {
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

const ConfigReader NATIVE_READER = {{
    {"shardopt", NULL, read_native_type},
}};
