/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/config/family.h"

#include "base/json.h"
#include "models/config/family_scope.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- keys that look like sizes and that no family names ----
 *
 * A class may take a size from a key that its family here does not read: the count is then wrong and nothing else shows
 * it. Its name and its value show such a key. */

enum { SHOWN_MAX = 6 };

/* Parts of the names of sizes, and of flags that add parameters. */
static const char SIZE_PARTS[] = " size dim dims rank heads head layers experts expert width hidden intermediate inner "
                                 "channels lora latent ffn ff kernel groups blocks streams expand mult state headdim "
                                 "num n d ";
static const char FLAG_PARTS[] = " bias gate gated latent lora ";

/* What many classes have and no size of a layer follows from: bookkeeping, positions, routing by groups, the shapes of
 * images, and copies of other keys. */
static const char IGNORED[] =
    " num_channels in_channels out_channels image_size qk_head_dim expand rotary_dim n_group num_expert_group "
    "num_nextn_predict_layers num_mtp_modules mtp_num_hidden_layers num_return_sequences num_beams num_beam_groups "
    "projection_dim num_logits_to_keep max_window_layers no_repeat_ngram_size encoder_no_repeat_ngram_size "
    "chunk_size_feed_forward original_vocab_size unpadded_vocab_size use_routing_bias ep_size ";

static bool is_word_of(const char *text, const char *word, size_t length) {
    for (const char *at = text; (at = strstr(at, word)); at += length) {
        bool starts = at == text || (!isalnum((unsigned char)at[-1]) && at[-1] != '_');
        if (starts && !isalnum((unsigned char)at[length]) && at[length] != '_') return true;
    }
    return false;
}

static bool has_part(const char *key, const char *parts) {
    char part[24];
    for (const char *at = key; *at;) {
        size_t length = strcspn(at, "_");
        if (length > 0 && length < sizeof part) {
            snprintf(part, sizeof part, "%.*s", (int)length, at);
            if (is_word_of(parts, part, length)) return true;
        }
        at += length + (at[length] == '_');
    }
    return false;
}

static bool looks_like_size(const cJSON *item) {
    const cJSON *number = cJSON_IsArray(item) ? item->child : item;
    if (cJSON_IsTrue(item)) return has_part(item->string, FLAG_PARTS);
    return cJSON_IsNumber(number) && number->valuedouble >= 2 && floor(number->valuedouble) == number->valuedouble &&
           has_part(item->string, SIZE_PARTS) && !text_ends_in(item->string, "_token_id") &&
           !text_ends_in(item->string, "_token_index");
}

static bool is_named(const FamiliesRead *read, const char *key) {
    bool is = is_word_of(IGNORED, key, strlen(key));
    for (int i = 0; i < read->count && !is; i++) is = is_word_of(read->types[i]->json, key, strlen(key));
    return is;
}

static void look_through(const Config *config, const FamiliesRead *read, Model *model, int *shown) {
    const cJSON *item;
    cJSON_ArrayForEach(item, hf_language(config)) {
        size_t used = strlen(model->left_out);
        if (!item->string[0] || !looks_like_size(item) || is_named(read, item->string) ||
            hf_near_size(config, item->string) || ++*shown > SHOWN_MAX)
            continue;
        snprintf(model->left_out + used, sizeof model->left_out - used, "%s%.30s%.60s (%.30s is not known to have it)",
                 used ? ", " : "", config->prefix, item->string, read->types[0]->type);
    }
}

/* Adds to model->left_out what was passed over of the config and of the objects inside it that were read. A family
 * names a key by reading it or in its list "ignored". */
static void say_unknown(const Scope *scope, Model *model) {
    const cJSON *parts[] = {scope->text ? scope_at(scope, "text") : NULL,
                            model->tower_count ? scope_at(scope, "towers") : NULL};
    int shown = 0;
    look_through(&scope->config, scope->families, model, &shown);
    for (int i = 0; i < 2; i++) {
        const cJSON *part = i && parts[1] ? parts[1]->child : parts[i];
        for (; part; part = i ? part->next : NULL) {
            const cJSON *at = cJSON_GetObjectItemCaseSensitive(part, "at");
            char prefix[TYPE_SIZE];
            Config inside = scope->config;
            if (!cJSON_IsString(at) || !cJSON_IsObject(hf_at(&scope->config, at->valuestring))) continue;
            snprintf(prefix, sizeof prefix, "%.60s.", at->valuestring);
            inside.prefix = prefix;
            look_through(&inside, scope->families, model, &shown);
        }
    }
}

/* ---- the model and the parts inside it ---- */

/* What the class refuses, or what is not counted: by condition, what is said of it. */
static bool check_refused(Scope *scope) {
    for (int c = 0; c < scope->chain_count; c++) {
        const cJSON *refused = cJSON_GetObjectItemCaseSensitive(scope->chain[c], "refused"), *one;
        cJSON_ArrayForEach(one, refused) {
            Value value;
            scope->expression.missing[0] = scope->expression.requested[0] = '\0';
            if (!expression_value(one->string, &scope->expression, &value)) return false;
            if (value_is_true(value))
                return error_set(scope->config.error, ERROR_INPUT, scope->config.where, "%s%s", scope->config.prefix,
                                 one->valuestring);
        }
    }
    return true;
}

static bool read_rope(Scope *scope, Model *model) {
    HfRopeKeys keys = {.theta = scope_text(scope, "rope.theta_key"),
                       .window_theta = scope_text(scope, "rope.window_theta_key"),
                       .share = scope_text(scope, "rope.share_key"),
                       .default_theta = json_real_at(scope_at(scope, "rope"), "theta", 0),
                       .default_window_theta = json_real_at(scope_at(scope, "rope"), "window_theta", 0),
                       .default_share = json_real_at(scope_at(scope, "rope"), "share", 0)};
    return hf_rope(&scope->config, keys, model);
}

/* The rotated part of a head as a width, where the family says one. */
static bool read_rotary(Scope *scope, Model *model) {
    int64_t rotary = 0, width = model->kinds[0].head_dim;
    if (!scope_whole(scope, "rotary", 1, INT32_MAX, 0, &rotary)) return false;
    if (rotary > width && width > 0)
        return error_set(scope->config.error, ERROR_INPUT, scope->config.where,
                         "%s is %lld, more than a head's width of %lld", scope->expression.requested, (long long)rotary,
                         (long long)width);
    if (rotary > 0 && width > 0) model->rope.share = (double)rotary / (double)width;
    return true;
}

/* The decoder, and the encoder next to it where there is one. */
static bool read_language(Scope *scope, Model *model) {
    static const char *const NORMS[] = {
        [NORM_RMS] = "rms", [NORM_LAYER_NO_BIAS] = "layer_no_bias", [NORM_LAYER] = "layer"};
    static const char *const POSITIONS[] = {[POSITIONS_ROTARY] = "rotary",
                                            [POSITIONS_LEARNED] = "learned",
                                            [POSITIONS_ALIBI] = "alibi",
                                            [POSITIONS_NONE] = "none"};
    size_t norm = 0, positions = 0;
    int64_t layers = 0, encoder_layers = 0;
    bool last_norm = true;
    if (!scope_whole(scope, "layers", 1, MODEL_LAYERS_MAX, FIELD_REQUIRED, &layers) ||
        !scope_whole(scope, "d_model", 1, INT32_MAX, FIELD_REQUIRED, &model->d_model) ||
        !scope_whole(scope, "vocab", 1, INT32_MAX, FIELD_REQUIRED, &model->vocab) ||
        !scope_whole(scope, "max_seq", 1, INT32_MAX, FIELD_REQUIRED, &model->max_seq) ||
        !scope_flag(scope, "tied", false, &model->tied) || !scope_word(scope, "norm", NORMS, COUNT_OF(NORMS), &norm) ||
        !scope_word(scope, "positions", POSITIONS, COUNT_OF(POSITIONS), &positions) ||
        !scope_whole(scope, "learned_positions", 0, INT32_MAX, 0, &model->learned_positions) ||
        !scope_whole(scope, "embedding_width", 0, INT32_MAX, 0, &model->embedding_width) ||
        !scope_flag(scope, "embedding_norm", false, &model->embedding_norm) ||
        !scope_flag(scope, "logits_bias", false, &model->logits_bias) ||
        !scope_flag(scope, "no_head", false, &model->no_head) || !scope_flag(scope, "last_norm", true, &last_norm) ||
        !scope_whole(scope, "encoder_layers_beside", 0, MODEL_LAYERS_MAX, 0, &encoder_layers) || !check_refused(scope))
        return false;
    model->norm = (NormKind)norm;
    model->positions = (PositionKind)positions;
    model->no_last_norm = !last_norm;
    if (model->embedding_width == model->d_model) model->embedding_width = 0;
    if (positions == POSITIONS_ROTARY && !read_rope(scope, model)) return false;
    if (!family_layers(scope, layers, model->max_seq, false, model) || !read_rotary(scope, model)) return false;
    if (encoder_layers > 0) {
        Scope encoder = *scope;
        const cJSON *overlay = scope_at(scope, "encoder");
        if (overlay && encoder.chain_count < CHAIN_MAX) {
            memmove(encoder.chain + 1, encoder.chain, sizeof encoder.chain - sizeof *encoder.chain);
            encoder.chain[0] = overlay;
            encoder.chain_count++;
        }
        encoder.expression.error = scope->config.error;
        if (!family_layers(&encoder, encoder_layers, model->max_seq, true, model)) return false;
    }
    return family_extra(scope, "model_matrices", "model_vectors", &model->extra);
}

/* The scope of an object inside the config: {"at": its key, "type": the type where the object names none, and what
 * differs here from its family}. A type that the object names and no family has is an error. */
static bool open_inside(Scope *scope, Scope *outer, const cJSON *part, char prefix[TYPE_SIZE]) {
    const char *at = json_text_at(part, "at"), *type = json_text_at(part, "type");
    Config config = outer->config;
    const cJSON *object = hf_at(&outer->config, at);
    if (object && !cJSON_IsObject(object)) return hf_wrong(&outer->config, at, "should be an object");
    bool flat = !object && cJSON_IsObject(hf_language(&outer->config)) && hf_at(&outer->config, "num_hidden_layers");
    if (!flat) snprintf(prefix, TYPE_SIZE, "%.30s%.30s.", outer->config.prefix, at);
    config.prefix = flat ? outer->config.prefix : prefix;
    scope_open(scope, outer, &config, outer->families);
    const char *named = json_text_at(object, "model_type");
    if (named[0] && !json_at(part, "fixed")) {
        if (!family_of_type(named))
            return hf_wrong(&config, "model_type",
                            "\"%.40s\" is not known; `python -m shardopt.describe MODEL_OR_FOLDER "
                            "-o model.json` writes a file that is",
                            named);
        type = named;
    }
    scope->chain[scope->chain_count++] = part;
    if (type[0] && !scope_chain(scope, type)) return false;
    const char *usual = json_text_at(part, "type"); /* released towers may carry the type of the whole (qwen3_5) */
    if (!json_at(part, "part") || scope_at(scope, "parameters") || strcmp(type, usual) == 0) return true;
    scope->chain_count = 1;
    return scope_chain(scope, usual);
}

static bool read_tower(Scope *outer, const cJSON *part, Scope *scope, char prefix[TYPE_SIZE], Model *model) {
    Tower *tower = &model->towers[model->tower_count];
    const char *column = json_text_at(part, "part");
    bool is = true;
    if (cJSON_IsString(json_at(part, "when"))) { /* of the wrapper's keys */
        Value value;
        if (!expression_value(json_text_at(part, "when"), &outer->expression, &value)) return false;
        is = value_is_true(value);
    }
    if (!is || model->tower_count == TOWERS_MAX) return true;
    if (!open_inside(scope, outer, part, prefix)) return false;
    *tower = (Tower){.part = strcmp(column, "audio") == 0 ? PART_AUDIO : PART_VISION};
    *(tower->part == PART_AUDIO ? &outer->audio : &outer->vision) = scope;
    const char *type = json_text_at(hf_language(&scope->config), "model_type");
    snprintf(tower->type, sizeof tower->type, "%.31s", type[0] ? type : json_text_at(part, "type"));
    for (char *c = tower->type; *c; c++)
        if (*c < ' ' || *c > '~') *c = '?';
    model->tower_count++;
    return scope_whole(scope, "layers", 0, MODEL_LAYERS_MAX, FIELD_REQUIRED, &tower->layers) &&
           scope_whole(scope, "d_model", 1, INT32_MAX, FIELD_REQUIRED, &tower->width) &&
           scope_whole(scope, "heads", 0, INT32_MAX, 0, &tower->heads) &&
           scope_whole(scope, "d_ff", 0, INT32_MAX, 0, &tower->d_ff) &&
           scope_whole(scope, "patch", 0, INT32_MAX, 0, &tower->patch) &&
           scope_whole(scope, "parameters", 0, INT64_C(1) << 52, FIELD_REQUIRED, &tower->parameters) &&
           check_refused(scope);
}

static bool read_whole(Scope *scope, Model *model) {
    const cJSON *text = scope_at(scope, "text"), *towers = scope_at(scope, "towers"), *part;
    Scope language, tower[TOWERS_MAX];
    char prefix[TYPE_SIZE], tower_prefix[TOWERS_MAX][TYPE_SIZE];
    int count = 0;
    const char *alone = scope_text(scope, "text_class"); /* the language model of the wrapper has a class of its own */
    const cJSON *named = cJSON_GetArrayItem(hf_at(&scope->config, "architectures"), 0);
    if (text && alone && cJSON_IsString(named) && strcmp(named->valuestring, alone) == 0)
        return open_inside(&language, scope, text, prefix) && read_language(&language, model);
    if (text) {
        if (!open_inside(&language, scope, text, prefix)) return false;
        scope->text = &language;
    }
    cJSON_ArrayForEach(part, towers) {
        if (count == TOWERS_MAX) break;
        if (!read_tower(scope, part, &tower[count], tower_prefix[count], model)) return false;
        count++;
    }
    if (!text) return read_language(scope, model); /* which may ask for its towers */
    language.vision = scope->vision, language.audio = scope->audio;
    return read_language(&language, model) && scope_flag(scope, "tied", model->tied, &model->tied) &&
           family_extra(scope, "model_matrices", "model_vectors", &model->extra);
}

bool family_read(const Config *config, const char *type, Model *model) {
    FamiliesRead families = {.count = 0};
    Scope scope;
    scope_open(&scope, NULL, config, &families);
    bool ok = scope_chain(&scope, type) && read_whole(&scope, model);
    if (ok) say_unknown(&scope, model);
    for (int i = 0; i < families.count; i++) cJSON_Delete(families.families[i]);
    return ok;
}
