/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/config/family_scope.h"

#include "models/mixer.h"
#include "models/parameters.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What was evaluated without looking at the layer's number is the same for all layers. */
typedef struct {
    bool known[LAYER_WHOLES_MAX + LAYER_FLAGS_MAX + 8];
    LayerKind kind;
    bool conditions[8];
} SameForAll;

typedef enum { MIXTURE, WINDOWED, ATTENDS, FEEDS, DENSE_AND_EXPERTS } Condition;
static const struct {
    const char *field;
    bool fallback;
} CONDITIONS[] = {
    [MIXTURE] = {"mixture", true},           /* its experts are there */
    [WINDOWED] = {"windowed", true},         /* its window is obeyed */
    [ATTENDS] = {"attends", true},           /* it has attention; false by default next to a mixer */
    [FEEDS] = {"feeds", true},               /* it has an MLP or a mixture */
    [DENSE_AND_EXPERTS] = {"beside", false}, /* a dense MLP stands next to the mixture */
};

static bool condition(Scope *scope, SameForAll *same, Condition which, bool fallback, bool *out) {
    bool *known = &same->known[LAYER_WHOLES_MAX + LAYER_FLAGS_MAX + which];
    if (*known) return *out = same->conditions[which], true;
    scope->layer_used = false;
    if (!scope_flag(scope, CONDITIONS[which].field, fallback, out)) return false;
    *known = !scope->layer_used && which != ATTENDS;
    same->conditions[which] = *out;
    return true;
}

static bool read_group(Scope *scope, SameForAll *same, LayerGroup group, LayerKind *kind) {
    for (int f = 0; f < LAYER_WHOLE_COUNT; f++) {
        const LayerWhole *whole = &LAYER_WHOLES[f];
        if (whole->group != group) continue;
        int64_t *value = (int64_t *)((char *)kind + whole->offset),
                *kept = (int64_t *)((char *)&same->kind + whole->offset);
        if (same->known[f]) {
            *value = *kept;
            continue;
        }
        scope->layer_used = false;
        if (!scope_whole(scope, whole->key, whole->low, INT32_MAX, whole->family_fallback, value)) return false;
        same->known[f] = !scope->layer_used;
        *kept = *value;
    }
    for (int f = 0; f < LAYER_FLAG_COUNT; f++) {
        const LayerFlag *flag = &LAYER_FLAGS[f];
        if (flag->group != group) continue;
        bool *value = (bool *)((char *)kind + flag->offset), *kept = (bool *)((char *)&same->kind + flag->offset);
        if (same->known[LAYER_WHOLES_MAX + f]) {
            *value = *kept;
            continue;
        }
        scope->layer_used = false;
        if (!scope_flag(scope, flag->key, flag->fallback, value)) return false;
        same->known[LAYER_WHOLES_MAX + f] = !scope->layer_used;
        *kept = *value;
    }
    return true;
}

static bool read_mixer(Scope *scope, LayerKind *kind) {
    Value value;
    bool found;
    char name[64];
    if (!scope_field(scope, "mixer", &value, &found)) return false;
    if (value.type == VALUE_NULL || value_is(value, "attention")) return true;
    snprintf(name, sizeof name, "%.*s", (int)(value.length < 60 ? value.length : 60), value.text ? value.text : "");
    kind->mixer = value.type == VALUE_TEXT ? mixer_named(name) : NULL;
    if (!kind->mixer)
        return error_set(scope->config.error, ERROR_INPUT, scope->config.where,
                         "layer %lld has \"%.40s\", a kind of layer that is not known", (long long)scope->layer, name);
    for (int s = 0; s < mixer_size_count(kind->mixer); s++) {
        const MixerSize *size = &kind->mixer->sizes[s];
        char field[96];
        snprintf(field, sizeof field, "%s.%s", kind->mixer->name, size->key);
        if (!scope_whole(scope, field, size->low, INT32_MAX, size->fallback, &kind->sizes[s])) return false;
    }
    return true;
}

bool family_extra(Scope *scope, const char *matrices, const char *vectors, ExtraParameters *extra) {
    for (int k = 0; k < 2; k++)
        for (int c = 0; c < scope->chain_count; c++) {
            const cJSON *object = cJSON_GetObjectItemCaseSensitive(scope->chain[c], k ? vectors : matrices), *item;
            cJSON_ArrayForEach(item, object) {
                int part = model_part_named(item->string);
                char field[96];
                int64_t count = 0;
                snprintf(field, sizeof field, "%s.%.40s", k ? vectors : matrices, item->string);
                if (part < 0) return error_set(scope->config.error, ERROR_INPUT, "models/families", "%s", field);
                if (!scope_whole(scope, field, 0, INT64_C(1) << 52, 0, &count)) return false;
                *(k ? &extra->vector[part] : &extra->matrix[part]) = count;
            }
        }
    return true;
}

static bool read_attention(Scope *scope, SameForAll *same, int64_t d_model, int64_t max_seq, LayerKind *kind) {
    bool windowed = false;
    if (!read_group(scope, same, LAYER_ATTENTION, kind) ||
        !condition(scope, same, WINDOWED, CONDITIONS[WINDOWED].fallback, &windowed))
        return false;
    if (windowed && !read_group(scope, same, LAYER_WINDOW_GROUP, kind)) return false;
    if (windowed && kind->window == 0 && scope_at(scope, "windowed"))
        return error_set(scope->config.error, ERROR_INPUT, scope->config.where,
                         "%s gives layer %lld a window, but its width (sliding_window, attention_chunk_size) is absent "
                         "or not in use",
                         "layer_types", (long long)scope->layer);
    if (kind->kv_heads == 0) kind->kv_heads = kind->heads;
    if (kind->head_dim == 0 && kind->heads > 0) kind->head_dim = d_model / kind->heads; /* as the classes round */
    if (kind->window >= max_seq) kind->window = 0; /* as long as the longest sequence it hides nothing */
    if (kind->window == 0) kind->chunked = false;
    if (kind->kv_lora_rank > 0) {
        kind->attention = ATTENTION_LATENT;
        kind->kv_heads = kind->heads; /* every head has its own keys once they are projected up */
        kind->head_dim = kind->qk_nope_head_dim + kind->qk_rope_head_dim;
    }
    return true;
}

static bool read_layer(Scope *scope, SameForAll *same, int64_t d_model, int64_t max_seq, LayerKind *kind) {
    bool attends = true, feeds = true, mixture = false, dense_and_experts = false;
    memset(kind, 0, sizeof *kind);
    kind->count = 1;
    if (!read_mixer(scope, kind) || !condition(scope, same, ATTENDS, !kind->mixer, &attends) ||
        !condition(scope, same, FEEDS, CONDITIONS[FEEDS].fallback, &feeds) ||
        !read_group(scope, same, LAYER_ALWAYS, kind) ||
        (attends && !read_attention(scope, same, d_model, max_seq, kind)))
        return false;
    if (feeds) {
        if (!condition(scope, same, MIXTURE, CONDITIONS[MIXTURE].fallback, &mixture) ||
            !condition(scope, same, DENSE_AND_EXPERTS, CONDITIONS[DENSE_AND_EXPERTS].fallback, &dense_and_experts) ||
            (mixture && !read_group(scope, same, LAYER_MIXTURE, kind)))
            return false;
        if (kind->experts > 0 && !read_group(scope, same, LAYER_EXPERTS, kind)) return false;
        if ((kind->experts == 0 || dense_and_experts) && !read_group(scope, same, LAYER_DENSE, kind)) return false;
    }
    if (!feeds && !kind->mixer) kind->mixer = mixer_named("none"); /* attention alone */
    return family_extra(scope, "matrices", "vectors", &kind->extra);
}

static bool add_layer(Scope *scope, Model *model, const LayerKind *layer, int64_t count) {
    for (int i = 0; i < model->kind_count; i++) {
        LayerKind kind = model->kinds[i];
        kind.count = 1;
        if (memcmp(&kind, layer, sizeof kind) == 0) return model->kinds[i].count += count, true;
    }
    if (model->kind_count == MODEL_KINDS_MAX)
        return error_set(scope->config.error, ERROR_INPUT, scope->config.where,
                         "the model has more than %d kinds of layers; that many are not planned", MODEL_KINDS_MAX);
    model->kinds[model->kind_count] = *layer;
    model->kinds[model->kind_count++].count = count;
    return true;
}

/* Lists of words, one for each layer: their length, and that each is known. */
static bool check_words(Scope *scope, int64_t layers) {
    for (int c = 0; c < scope->chain_count; c++) {
        const cJSON *lists = cJSON_GetObjectItemCaseSensitive(scope->chain[c], "words"), *known;
        cJSON_ArrayForEach(known, lists) {
            const cJSON *list = hf_at(&scope->config, known->string), *item;
            int64_t layer = 0;
            if (!list) continue;
            if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) != layers)
                return hf_wrong(&scope->config, known->string, "should be a list of %lld words, one for each layer",
                                (long long)layers);
            cJSON_ArrayForEach(item, list) {
                const char *word = cJSON_IsString(item) ? item->valuestring : "";
                const cJSON *one;
                char all[160] = "";
                bool is = false;
                cJSON_ArrayForEach(one, known) {
                    is = is || strcmp(one->valuestring, word) == 0;
                    size_t used = strlen(all);
                    snprintf(all + used, sizeof all - used, "%s%s", used ? ", " : "", one->valuestring);
                }
                if (!is)
                    return hf_wrong(&scope->config, known->string, "has \"%.40s\" for layer %lld; known: %s", word,
                                    (long long)layer, all);
                layer++;
            }
        }
        if (lists) return true; /* the nearest */
    }
    return true;
}

/* Lists of numbers of layers ("indices"), and lists of 0 or 1 for each layer ("marks"). An empty list of marks counts
 * as absent in the classes. */
static bool check_numbers(Scope *scope, const char *sort, bool marks, int64_t layers) {
    const cJSON *keys = scope_at(scope, sort), *key;
    cJSON_ArrayForEach(key, keys) {
        const cJSON *list = hf_at(&scope->config, key->valuestring), *item;
        if (!list || (cJSON_IsArray(list) && !list->child)) continue;
        if (!cJSON_IsArray(list) || (marks && cJSON_GetArraySize(list) != layers))
            return hf_wrong(&scope->config, key->valuestring,
                            marks ? "should be a list of %lld numbers, one for each layer"
                                  : "should be a list of layer numbers below %lld",
                            (long long)layers);
        cJSON_ArrayForEach(item, list) {
            double value = cJSON_IsNumber(item) ? item->valuedouble : -1;
            if (!(value >= 0 && value < (marks ? 2 : (double)layers) && floor(value) == value))
                return marks ? hf_wrong(&scope->config, key->valuestring, "should hold 1 or 0 for each layer")
                             : hf_wrong(&scope->config, key->valuestring, "should hold layer numbers from 0 to %lld",
                                        (long long)layers - 1);
        }
    }
    return true;
}

bool family_layers(Scope *scope, int64_t layers, int64_t max_seq, bool encoder, Model *model) {
    SameForAll same;
    memset(&same, 0, sizeof same);
    if (!check_words(scope, layers) || !check_numbers(scope, "indices", false, layers) ||
        !check_numbers(scope, "marks", true, layers))
        return false;
    scope->layers_differ = false;
    for (scope->layer = 0; scope->layer < layers; scope->layer++) {
        LayerKind layer;
        if (!read_layer(scope, &same, model->d_model, max_seq, &layer)) return false;
        layer.encoder = encoder;
        if (!scope->layers_differ) scope->layer = layers; /* read one, read all */
        if (!add_layer(scope, model, &layer, scope->layers_differ ? 1 : layers)) return false;
    }
    model->layers += layers;
    scope->layer = 0;
    const char *key = encoder ? NULL : scope_text(scope, "some_mixture");
    if (key && cJSON_IsString(scope_at(scope, "mixture")) && model_layers_with(model, true) == 0)
        return hf_wrong(&scope->config, key, "leaves none of %lld layers with experts", (long long)layers);
    return true;
}
