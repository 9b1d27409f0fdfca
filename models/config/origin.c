/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a plain config.json says of itself in addition to its dimensions: where it came from, what of the file is not
 * part of the model that we count, and how its weights are stored. */
#include "base/json.h"
#include "models/config/family.h"
#include "models/config/reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A plain config is named after where it came from: the last word of _name_or_path, else the folder or file. */
static void name_by_origin(const cJSON *root, const char *where, const char *type, Model *model) {
    static const char FILE_NAME[] = "/config.json";
    const char *path = hf_text_at(root, "_name_or_path");
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

__attribute__((format(printf, 3, 4))) static void append(char *text, size_t size, const char *format, ...) {
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

/* The towers of a multimodal model stand next to text_config, or next to the keys of the language model themselves. */
static const struct {
    const char *key, *said;
} TOWERS[] = {
    {"vision_config", "vision tower"}, {"vision_tower", "vision tower"},  {"visual", "vision tower"},
    {"audio_config", "audio tower"},   {"speech_config", "speech tower"},
};

/* Keys that decide sizes, in the words of all families. */
static const char *const SIZES[] = {"attention_bias",
                                    "decoder_sparse_step",
                                    "ffn_dim",
                                    "ffn_hidden_size",
                                    "first_k_dense_replace",
                                    "head_dim",
                                    "hidden_size",
                                    "intermediate_size",
                                    "kv_lora_rank",
                                    "max_position_embeddings",
                                    "moe_intermediate_size",
                                    "moe_layer_freq",
                                    "n_routed_experts",
                                    "n_shared_experts",
                                    "num_attention_heads",
                                    "num_experts",
                                    "num_experts_per_tok",
                                    "num_experts_per_token",
                                    "num_hidden_layers",
                                    "num_key_value_heads",
                                    "num_local_experts",
                                    "num_shared_experts",
                                    "o_lora_rank",
                                    "q_lora_rank",
                                    "qk_head_dim",
                                    "qk_nope_head_dim",
                                    "qk_rope_head_dim",
                                    "rope_theta",
                                    "shared_expert_intermediate_size",
                                    "sliding_window",
                                    "tie_word_embeddings",
                                    "v_head_dim",
                                    "vocab_size"};

static bool is_size(const char *key) {
    for (size_t i = 0; i < COUNT_OF(SIZES); i++)
        if (strcmp(key, SIZES[i]) == 0) return true;
    return false;
}

const char *hf_near_size(const Config *config, const char *key) {
    if (is_size(key)) return NULL;
    for (size_t i = 0; i < COUNT_OF(SIZES); i++)
        if (!hf_at(config, SIZES[i]) && name_is_near(key, SIZES[i], 2)) return SIZES[i];
    return NULL;
}

/* A key that is a letter or two from one that decides a size, where that one is missing: its default was taken. */
static void name_misspelt(const Config *config, Model *model) {
    const cJSON *item;
    cJSON_ArrayForEach(item, hf_language(config)) {
        const char *near = hf_near_size(config, item->string);
        if (near)
            append(model->left_out, sizeof model->left_out, "%s%.40s (is it %s?)", model->left_out[0] ? ", " : "",
                   item->string, near);
    }
}

/* The class that the file names, where it is that of another type than it was read as. */
static void name_other_class(const Config *config, const char *type, Model *model) {
    const cJSON *first = cJSON_GetArrayItem(json_at(config->root, "architectures"), 0);
    const char *named = cJSON_IsString(first) ? first->valuestring : "";
    const FamilyType *own = family_of_type(type), *other = family_of_class(named);
    if (config->prefix[0] || !own || !other) return; /* of a wrapper the class is that of the whole */
    if (other != own && !family_has_class(own, named))
        append(model->left_out, sizeof model->left_out, "%sthe class %.60s of %s (read as %s)",
               model->left_out[0] ? ", " : "", named, other->type, type);
}

static bool read_left_out(const Config *config, const char *type, Model *model) {
    char *text = model->left_out, unknown[sizeof model->left_out];
    const size_t size = sizeof model->left_out;
    const char *last = "";
    snprintf(unknown, sizeof unknown, "%s", text); /* what the reader of families passed over stands last */
    text[0] = '\0';
    for (size_t i = 0; i < COUNT_OF(TOWERS); i++) {
        if (!cJSON_IsObject(json_at(config->root, TOWERS[i].key)) || strcmp(last, TOWERS[i].said) == 0) continue;
        append(text, size, "%s%s%s", text[0] ? ", " : "", TOWERS[i].said,
               model->tower_count ? " (its work on images; it is counted)" : "");
        last = TOWERS[i].said;
    }
    if (config->prefix[0] && !text[0] && model->tower_count == 0) append(text, size, "what stands next to text_config");
    int64_t predictors;
    if (!hf_number(config, hf_spelling(config, "num_nextn_predict_layers", "num_mtp_modules"), 0, &predictors))
        return false;
    if (predictors)
        append(text, size, "%s%lld layer%s for multi-token prediction", text[0] ? ", " : "", (long long)predictors,
               predictors == 1 ? "" : "s");
    name_misspelt(config, model);
    name_other_class(config, type, model);
    if (unknown[0]) append(text, size, "%s%s", text[0] ? ", " : "", unknown);
    keep_printable(text);
    return true;
}

/* Next to the language model, or, in a wrapper, outside of it. */
static const cJSON *at_or_outside(const Config *config, const char *key) {
    const cJSON *inside = hf_at(config, key);
    return inside ? inside : json_at(config->root, key);
}

static bool read_stored_as(const Config *config, Model *model) {
    const cJSON *type = at_or_outside(config, "torch_dtype");
    const cJSON *quantized = at_or_outside(config, "quantization_config");
    if (!type) type = at_or_outside(config, "dtype");
    if (cJSON_IsString(type)) append(model->stored_as, sizeof model->stored_as, "%.20s", type->valuestring);
    if (!quantized) return true;
    if (!cJSON_IsObject(quantized)) return hf_wrong(config, "quantization_config", "should be an object");
    const char *method = hf_text_at(quantized, "quant_method"), *format = hf_text_at(quantized, "fmt");
    append(model->stored_as, sizeof model->stored_as, "%squantized (%.20s%s%.10s)", model->stored_as[0] ? ", " : "",
           method ? method : "quantization_config", format ? " " : "", format ? format : "");
    return true;
}

bool hf_read_origin(const Config *config, const char *type, Model *model) {
    if (!read_left_out(config, type, model) || !read_stored_as(config, model)) return false;
    name_by_origin(config->root, config->where, type, model);
    snprintf(model->source, sizeof model->source, "%.200s", config->where);
    keep_printable(model->name);
    keep_printable(model->source);
    keep_printable(model->stored_as);
    return true;
}
