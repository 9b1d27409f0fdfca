/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/config/reader.h"

#include "base/json.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *hf_text_at(const cJSON *object, const char *path) {
    const cJSON *text = json_at(object, path);
    return cJSON_IsString(text) && text->valuestring[0] ? text->valuestring : NULL;
}

enum { PATH_SIZE = 128 };

static const char *path_of(const Config *config, const char *key, char *path) {
    if (!config->prefix[0]) return key;
    snprintf(path, PATH_SIZE, "%s%s", config->prefix, key);
    return path;
}

const cJSON *hf_language(const Config *config) {
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s", config->prefix);
    if (path[0]) path[strlen(path) - 1] = '\0'; /* the dot */
    return path[0] ? json_at(config->root, path) : config->root;
}

const cJSON *hf_at(const Config *config, const char *key) {
    char path[PATH_SIZE];
    return json_at(config->root, path_of(config, key, path));
}

bool hf_dimension(const Config *config, const char *key, int64_t fallback, int64_t *out) {
    char room[PATH_SIZE];
    const char *path = path_of(config, key, room);
    if (fallback == 0) return json_whole(config->root, path, 1, INT32_MAX, config->where, out, config->error);
    return json_whole_or(config->root, path, 1, INT32_MAX, fallback, config->where, out, config->error);
}

bool hf_number(const Config *config, const char *key, int64_t fallback, int64_t *out) {
    char path[PATH_SIZE];
    return json_whole_or(config->root, path_of(config, key, path), 0, INT32_MAX, fallback, config->where, out,
                         config->error);
}

bool hf_flag(const Config *config, const char *key, bool fallback, bool *out) {
    char path[PATH_SIZE];
    return json_bool_or(config->root, path_of(config, key, path), fallback, config->where, out, config->error);
}

bool hf_real(const Config *config, const char *key, double low, double high, double fallback, double *out) {
    char path[PATH_SIZE];
    return json_real_or(config->root, path_of(config, key, path), low, high, fallback, config->where, out,
                        config->error);
}

bool hf_text(const Config *config, const char *key, const char *fallback, char *out, size_t size) {
    char path[PATH_SIZE];
    return json_text_or(config->root, path_of(config, key, path), fallback, config->where, out, size, config->error);
}

const char *hf_spelling(const Config *config, const char *key, const char *other) {
    return hf_at(config, key) || !hf_at(config, other) ? key : other;
}

bool hf_wrong(const Config *config, const char *key, const char *format, ...) {
    char path[PATH_SIZE], text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return error_set(config->error, ERROR_INPUT, config->where, "%s %s", path_of(config, key, path), text);
}

/* Rotary positions in their three spellings: rope_theta next to rope_scaling {type or rope_type, factor, ..}; one
 * object rope_parameters with all of it; and one such object per type of layer. */

/* How transformers and the files in the wild stretch positions; the factor must be there where the stretch is by it. */
static const struct {
    const char *type;
    bool needs_factor;
} STRETCHES[] = {
    {"default", false},  {"linear", true}, {"dynamic", true}, {"yarn", true},          {"llama3", true},
    {"longrope", false}, {"su", false},    {"mrope", false},  {"proportional", false},
};

/* Below 10 a head's slowest pair turns nearly as fast as its fastest; the largest theta in use is 3.6e9. */
static const double THETA_LOW = 10, THETA_HIGH = 1e12, FACTOR_HIGH = 1e6;

static bool unknown_stretch(const Config *config, const char *key, const char *word) {
    char known[128];
    size_t used = 0;
    for (size_t i = 0; i < COUNT_OF(STRETCHES) && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", STRETCHES[i].type);
    return hf_wrong(config, key, "is \"%.40s\", no way to stretch positions; known: %s", word, known);
}

/* The object under `path`, which holds everything but, in old files, theta. */
static bool read_stretch(const Config *config, const char *path, Rope *rope) {
    char key[96], word[64];
    snprintf(key, sizeof key, "%s.rope_type", path);
    if (!hf_at(config, key)) snprintf(key, sizeof key, "%s.type", path);
    if (!hf_text(config, key, "default", word, sizeof word)) return false;
    size_t i = 0;
    while (i < COUNT_OF(STRETCHES) && strcmp(STRETCHES[i].type, word) != 0) i++;
    if (i == COUNT_OF(STRETCHES)) return unknown_stretch(config, key, word);
    snprintf(rope->type, sizeof rope->type, "%s", STRETCHES[i].type);

    snprintf(key, sizeof key, "%s.factor", path);
    if (STRETCHES[i].needs_factor && !hf_at(config, key))
        return hf_wrong(config, key, "is missing, and positions are stretched by it (%s); give a number from 1 to %g",
                        rope->type, FACTOR_HIGH);
    if (!hf_real(config, key, 1, FACTOR_HIGH, 1, &rope->factor)) return false;
    snprintf(key, sizeof key, "%s.original_max_position_embeddings", path);
    return !hf_at(config, key) || hf_dimension(config, key, 0, &rope->original_max_seq);
}

static bool read_object(const Config *config, const char *path, HfRopeKeys keys, Rope *rope) {
    char key[96];
    snprintf(key, sizeof key, "%s.rope_theta", path);
    if (!hf_real(config, key, THETA_LOW, THETA_HIGH, rope->theta, &rope->theta)) return false;
    snprintf(key, sizeof key, "%s.%s", path, keys.share ? keys.share : "partial_rotary_factor");
    if (!hf_at(config, key)) snprintf(key, sizeof key, "%s.partial_rotary_factor", path);
    return hf_real(config, key, 0.001, 1, rope->share, &rope->share) && read_stretch(config, path, rope);
}

static bool is_object(const Config *config, const char *key) {
    const cJSON *value = hf_at(config, key);
    return !value || cJSON_IsObject(value) || hf_wrong(config, key, "should be an object");
}

/* One object, or the objects for full and for windowed layers in it. */
static bool read_new(const Config *config, const char *object, HfRopeKeys keys, Rope *rope) {
    static const char FULL[] = "rope_parameters.full_attention", WINDOW[] = "rope_parameters.sliding_attention";
    if (!hf_at(config, FULL) && !hf_at(config, WINDOW)) return read_object(config, object, keys, rope);
    Rope window = *rope;
    if (window.window_theta > 0) window.theta = window.window_theta;
    if (!is_object(config, FULL) || !is_object(config, WINDOW) || !read_object(config, FULL, keys, rope) ||
        !read_object(config, WINDOW, keys, &window))
        return false;
    rope->window_theta = window.theta == rope->theta ? 0 : window.theta;
    return true;
}

bool hf_rope(const Config *config, HfRopeKeys keys, Model *model) {
    Rope rope = {.type = "default", .factor = 1, .share = keys.default_share > 0 ? keys.default_share : 1};
    const char *object = keys.object ? keys.object : "rope_parameters";
    const char *theta = keys.theta ? keys.theta : "rope_theta",
               *share = keys.share ? keys.share : "partial_rotary_factor";
    if (!hf_real(config, theta, THETA_LOW, THETA_HIGH, keys.default_theta > 0 ? keys.default_theta : 10000,
                 &rope.theta) ||
        !hf_real(config, share, 0.001, 1, rope.share, &rope.share) ||
        (keys.window_theta &&
         !hf_real(config, keys.window_theta, THETA_LOW, THETA_HIGH, keys.default_window_theta, &rope.window_theta)) ||
        !is_object(config, "rope_scaling") || !is_object(config, object))
        return false;
    /* Both may stand in one file (a converted one): the new form is what the library then reads. */
    if (hf_at(config, object) ? !read_new(config, object, keys, &rope)
                              : hf_at(config, "rope_scaling") && !read_stretch(config, "rope_scaling", &rope))
        return false;
    model->rope = rope;
    return true;
}
