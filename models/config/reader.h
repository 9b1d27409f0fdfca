/* SPDX-License-Identifier: GPL-3.0-or-later */
/* models/config/reader.h: how the readers of Hugging Face configs read. Internal to models/.
 *
 * A reader fills the dimensions of a zeroed Model; names, sources and the final model_validate() are the caller's. A
 * key that is null counts as absent; a fallback is the default of the library's class (transformers), not of a
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

/* Reads a file of our own, "model_type": "shardopt" (native.c); false: *config->error says why not. */
bool native_read(const Config *config, Model *model);

/* The object that holds the keys: the language model's, or a tower's where the prefix is its. */
const cJSON *hf_language(const Config *config);
/* The value of a key of the language model; NULL: absent or null. */
const cJSON *hf_at(const Config *config, const char *key);

/* A text anywhere in a file; NULL: absent, empty or no text. */
const char *hf_text_at(const cJSON *object, const char *path);

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
/* Of two spellings of one key the one that is there, and the first where neither is: what an error then requests. */
const char *hf_spelling(const Config *config, const char *key, const char *other);

/* Where a class keeps its rotary positions, as far as it is not where llama does. NULL and 0: rope_theta of 10000, the
 * same in all layers, partial_rotary_factor of 1. */
typedef struct {
    const char *theta, *window_theta, *share;
    const char *object; /* NULL: rope_parameters */
    double default_theta, default_window_theta, default_share;
} HfRopeKeys;

/* Reads and checks model->rope; nothing of it is required. */
bool hf_rope(const Config *config, HfRopeKeys keys, Model *model);

/* The key for a size that is absent and that a key is a letter or two from; NULL: none. */
const char *hf_near_size(const Config *config, const char *key);
/* What a plain file says of itself: name, family, source, left_out, stored_as. */
bool hf_read_origin(const Config *config, const char *type, Model *model);
/* Writes model->odd, from the file and from the sizes that were read of it; false: a value that is no such thing. */
bool hf_read_odd(const Config *config, Model *model);
