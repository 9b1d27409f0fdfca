/* SPDX-License-Identifier: GPL-3.0-or-later */
/* models/config/reader.h: how the readers of Hugging Face configs read. Internal to models/.
 *
 * A reader is a const struct in the file of its family, with one function per model_type. The function fills the
 * dimensions of a zeroed Model; names, sources and the final model_validate() are the caller's. A key that is null
 * counts as absent; a fallback is the default of the library's class (transformers, configuration_<type>.py), not of a
 * released model. */
#pragma once

#include "base/error.h"
#include "base/util.h"
#include "models/model.h"

#include <cjson/cJSON.h>

typedef struct {
    const cJSON *root;
    const char *prefix; /* of the language model's keys: "", or "text_config." in a multimodal wrapper */
    const char *where;  /* names the document */
    Error *error;
} Config;

/* A family of configs: the types that its file reads. A type that is inside a wrapper stands for itself; wrappers whose
 * text_config need not name its own type are types too. The list ends at its first NULL, or when it is full. */
enum { CONFIG_TYPES_MAX = 16 };
typedef struct {
    const char *model_type, *architecture; /* the second counts where the first is missing; NULL means none */
    bool (*read)(const Config *config, Model *model);
} ConfigType;

typedef struct {
    ConfigType types[CONFIG_TYPES_MAX];
} ConfigReader;

/* The list of families: models/config/readers.c. */
enum { CONFIG_READERS_MAX = 16 };
int config_reader_count(void); /* at most CONFIG_READERS_MAX */
const ConfigReader *config_reader_at(int index);

/* The object that holds the language model's keys. */
const cJSON *hf_language(const Config *config);
/* The value of a key of the language model; NULL: absent or null. */
const cJSON *hf_at(const Config *config, const char *key);

/* A dimension, 1 to 2^31 - 1. Absent: the fallback, and with a fallback of 0 an error. */
bool hf_dimension(const Config *config, const char *key, int64_t fallback, int64_t *out);
/* A number that may be 0, and be absent. */
bool hf_number(const Config *config, const char *key, int64_t fallback, int64_t *out);
bool hf_flag(const Config *config, const char *key, bool fallback, bool *out);
/* False: *error says that `key` has a wrong value; always false. `format` is the rest of the sentence. */
bool hf_wrong(const Config *config, const char *key, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* A number in a range; absent: the fallback. */
bool hf_real(const Config *config, const char *key, double low, double high, double fallback, double *out);
/* A word of at most size - 1 bytes; absent: the fallback. */
bool hf_text(const Config *config, const char *key, const char *fallback, char *out, size_t size);
/* Width of a window: null means none, which is not what an absent key means (`absent`; 0: none). */
bool hf_window(const Config *config, const char *key, int64_t absent, int64_t *out);
/* Of two spellings of one key the one that is there, and the first where neither is: what an error then requests. */
const char *hf_spelling(const Config *config, const char *key, const char *other);

/* Number of layers: 1 to MODEL_LAYERS_MAX. */
bool hf_layer_count(const Config *config, const char *key, int64_t *out);
/* d_model / heads; an error where that is no whole number. */
bool hf_even_head_dim(const Config *config, const Model *model, LayerKind *kind);
/* tie_word_embeddings, inside or outside of text_config. */
bool hf_tied(const Config *config, bool fallback, bool *out);

/* Where a class keeps its rotary positions, as far as it is not where llama does. NULL and 0: rope_theta of 10000, the
 * same in all layers, partial_rotary_factor of 1. */
typedef struct {
    const char *theta, *window_theta, *share;
    const char *object; /* NULL: rope_parameters */
    double default_theta, default_window_theta, default_share;
} HfRopeKeys;

/* Reads and checks model->rope; nothing of it is required. */
bool hf_rope(const Config *config, HfRopeKeys keys, Model *model);

/* The value inside text_config, else 0. The library writes of a nested config what differs from the class alone, so
 * that released wrappers leave out sizes; in a file of its own a missing size is an error. */
int64_t hf_nested(const Config *config, int64_t value);

/* What differs between the classes that share llama's keys. 0 means: the key is required (layers, d_model, heads,
 * vocab, max_seq), as many as heads (kv_heads), d_model / heads (head_dim). */
typedef struct {
    int64_t layers, d_model, heads, kv_heads, head_dim, vocab, max_seq;
    bool tied;
    HfRopeKeys rope;
} HfDefaults;

/* num_hidden_layers, hidden_size, heads, vocabulary, positions, tying: all but the MLP; RMSNorm twice a layer, rotary,
 * gated. `template` starts zeroed. */
bool hf_decoder(const Config *config, HfDefaults defaults, Model *model, LayerKind *template);

/* Which layers have experts, a window, or rotary positions that turn nothing: the template's fields of a sort count
 * only in the layers marked so. At most MODEL_KINDS_MAX kinds come of it. */
enum { LAYER_EXPERTS = 1, LAYER_WINDOW = 2, LAYER_NO_ROPE = 4, LAYER_MARKS = 8 };
typedef struct {
    unsigned char marks[MODEL_LAYERS_MAX];
} LayerPattern;

/* layer_types, where it is present, says which layers have the window: it wins over the rule of the type. */
bool hf_layer_types(const Config *config, const Model *model, const LayerKind *template, LayerPattern *pattern);
/* no_rope_layers, where it is present: 1 for each layer whose positions are rotary, 0 for each other. */
bool hf_no_rope_layers(const Config *config, const Model *model, LayerPattern *pattern);
/* Splits the template into kinds along the pattern; NULL: every layer has experts and window, and is rotary. */
void hf_kinds(Model *model, const LayerKind *template, const LayerPattern *pattern);

/* What a plain file says of itself: name, family, source, left_out, stored_as. */
bool hf_read_origin(const Config *config, const char *type, Model *model);
/* Writes model->odd, from the file and from the sizes that were read of it; false: a value that is no such thing. */
bool hf_read_odd(const Config *config, Model *model);
