/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A class may take a size from a key that its family here does not read: the count is then wrong and nothing else shows
 * it. Its name and its value show such a key. */
#include "models/config/family_unknown.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

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

static bool ends_with(const char *key, const char *end) {
    size_t length = strlen(key), tail = strlen(end);
    return length >= tail && strcmp(key + length - tail, end) == 0;
}

static bool looks_like_size(const cJSON *item) {
    const cJSON *number = cJSON_IsArray(item) ? item->child : item;
    if (cJSON_IsTrue(item)) return has_part(item->string, FLAG_PARTS);
    return cJSON_IsNumber(number) && number->valuedouble >= 2 && floor(number->valuedouble) == number->valuedouble &&
           has_part(item->string, SIZE_PARTS) && !ends_with(item->string, "_token_id") &&
           !ends_with(item->string, "_token_index");
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

void family_unknown(const Scope *scope, Model *model) {
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
