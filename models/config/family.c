/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The reader of families. A field of a family is an expression over the keys of the file, over the defaults of the
 * class where a key is left out, and over other fields; fields of layers also over the layer's number i. */
#include "models/config/family.h"

#include "base/json.h"
#include "models/config/expression.h"
#include "models/config/layer_fields.h"
#include "models/mixer.h"
#include "models/parameters.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TREES_MAX = 24, CHAIN_MAX = 12, BUSY_MAX = 24, TYPE_SIZE = 64 };

/* ---- the texts ---- */

/* Where the type's object starts: types stand two blanks in, and nothing else does. */
static const char *type_in(const char *text, const char *type) {
    char line[TYPE_SIZE + 16];
    snprintf(line, sizeof line, "\n  \"%.*s\": {", TYPE_SIZE, type);
    return strstr(text, line);
}

static const char *text_of_type(const char *type) {
    for (int i = 0; FAMILY_TEXTS[i]; i++)
        if (type_in(FAMILY_TEXTS[i], type)) return FAMILY_TEXTS[i];
    return NULL;
}

bool family_has(const char *type) { return strlen(type) < TYPE_SIZE && text_of_type(type); }

bool family_wraps(const char *type) {
    const char *text = text_of_type(type), *at = text ? type_in(text, type) : NULL;
    const char *end = at ? strstr(at, "\n  }") : NULL, *like = at ? strstr(at, "\"like\": \"") : NULL;
    const char *found = at ? strstr(at, "\n    \"text\": {") : NULL;
    if (found && end && found < end) return true;
    if (!like || !end || like > end) return false;
    char other[TYPE_SIZE];
    snprintf(other, sizeof other, "%.*s", (int)strcspn(like + 9, "\""), like + 9);
    return family_wraps(other);
}

/* The type whose line is the last before `at`. */
static bool type_before(const char *text, const char *at, char *out, size_t size) {
    const char *found = NULL;
    for (const char *line = strstr(text, "\n  \""); line && line < at; line = strstr(line + 1, "\n  \"")) found = line + 4;
    if (!found) return false;
    snprintf(out, size, "%.*s", (int)strcspn(found, "\""), found);
    return true;
}

bool family_of_class(const char *class_name, char *out, size_t size) {
    char line[128];
    if ((size_t)snprintf(line, sizeof line, "\"class\": \"%s\"", class_name) >= sizeof line) return false;
    for (int i = 0; FAMILY_TEXTS[i]; i++) {
        const char *at = strstr(FAMILY_TEXTS[i], line);
        if (at) return type_before(FAMILY_TEXTS[i], at, out, size);
    }
    return false;
}

bool family_has_class(const char *type, const char *class_name) {
    const char *text = text_of_type(type), *at = text ? type_in(text, type) : NULL;
    char line[128];
    if (!at || (size_t)snprintf(line, sizeof line, "class\": \"%s\"", class_name) >= sizeof line) return false;
    const char *end = strstr(at + 1, "\n  \""), *found = strstr(at, line), *any = strstr(at, "class\": \"");
    return (found && (!end || found < end)) || !any || (end && any > end); /* one without a class of its own */
}

bool family_nearest(const char *type, char *out, size_t size) {
    size_t best = strlen(type) / 3 + 1;
    bool any = false;
    for (int i = 0; FAMILY_TEXTS[i]; i++)
        for (const char *line = strstr(FAMILY_TEXTS[i], "\n  \""); line; line = strstr(line + 1, "\n  \"")) {
            char name[TYPE_SIZE];
            snprintf(name, sizeof name, "%.*s", (int)strcspn(line + 4, "\""), line + 4);
            size_t distance = (size_t)name_distance(type, name);
            if (distance >= best) continue;
            best = distance;
            any = true;
            snprintf(out, size, "%s", name);
        }
    return any;
}

/* ---- scopes ---- */

/* What one config is read with: the files of families that were parsed for it. */
typedef struct {
    const char *texts[TREES_MAX];
    cJSON *trees[TREES_MAX];
    int count;
} Parsed;

/* One object of the config (the whole, the language model's, a tower's) under the family that reads it. */
typedef struct Scope {
    ExpressionScope expression; /* the first: the evaluator knows this alone */
    Parsed *parsed;
    Config config;
    bool nested;
    const cJSON *chain[CHAIN_MAX]; /* the family, and what it is like, the nearest first */
    int chain_count;
    const char *busy[BUSY_MAX]; /* fields that are being evaluated: there a name is the file's key */
    int busy_count;
    int64_t layer;
    bool layer_used;
    struct Scope *outer, *text, *vision, *audio;
} Scope;

static const cJSON *type_object(Parsed *parsed, const char *type, Error *error) {
    const char *text = text_of_type(type);
    for (int i = 0; i < parsed->count && text; i++)
        if (parsed->texts[i] == text) return cJSON_GetObjectItemCaseSensitive(parsed->trees[i], type);
    if (!text || parsed->count == TREES_MAX) {
        error_set(error, ERROR_INPUT, "models/families", "no family has the type \"%.60s\"", type);
        return NULL;
    }
    cJSON *tree = json_parse(text, strlen(text), "models/families", error);
    if (!tree) return NULL;
    parsed->texts[parsed->count] = text;
    parsed->trees[parsed->count++] = tree;
    return cJSON_GetObjectItemCaseSensitive(tree, type);
}

/* The type's object, and those that it is like. */
static bool chain_type(Scope *scope, const char *type) {
    while (type) {
        const cJSON *object = type_object(scope->parsed, type, scope->config.error);
        if (!object) return false;
        if (scope->chain_count == CHAIN_MAX)
            return error_set(scope->config.error, ERROR_INPUT, "models/families", "%.60s is like too many", type);
        scope->chain[scope->chain_count++] = object;
        const cJSON *like = cJSON_GetObjectItemCaseSensitive(object, "like");
        type = cJSON_IsString(like) ? like->valuestring : NULL;
    }
    return true;
}

/* The nearest value of the family under a path; NULL: there is none, or it is null. */
static const cJSON *family_at(const Scope *scope, const char *path) {
    for (int i = 0; i < scope->chain_count; i++) {
        const cJSON *found = json_at(scope->chain[i], path);
        if (found) return found;
    }
    return NULL;
}

static const char *family_text(const Scope *scope, const char *path) {
    const cJSON *found = family_at(scope, path);
    return cJSON_IsString(found) ? found->valuestring : NULL;
}

static bool family_lists(const Scope *scope, const char *list, const char *key) {
    for (int i = 0; i < scope->chain_count; i++) {
        const cJSON *words = cJSON_GetObjectItemCaseSensitive(scope->chain[i], list), *word;
        cJSON_ArrayForEach(word, words) {
            if (cJSON_IsString(word) && strcmp(word->valuestring, key) == 0) return true;
        }
        if (words) return false; /* the nearest list is the list */
    }
    return false;
}

static bool is_null_in_file(const Scope *scope, const char *key) {
    return cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(hf_language(&scope->config), key));
}

/* The class's default of a key: the nearest that says one, and null is one. */
static const cJSON *default_of(const Scope *scope, const char *key) {
    for (int i = 0; i < scope->chain_count; i++) {
        const cJSON *defaults = cJSON_GetObjectItemCaseSensitive(scope->chain[i], "defaults");
        if (cJSON_GetObjectItemCaseSensitive(defaults, key)) return cJSON_GetObjectItemCaseSensitive(defaults, key);
        const cJSON *nested = strchr(key, '.') ? json_at(defaults, key) : NULL;
        if (nested) return nested;
    }
    return NULL;
}

/* A key of the file; one that is left out has the class's default, except that a file of its own must say what the
 * family requires. */
static bool key_value(Scope *scope, const char *key, Value *out) {
    char path[128];
    const cJSON *found = hf_at(&scope->config, key);
    memset(out, 0, sizeof *out);
    if (!found && is_null_in_file(scope, key) && family_lists(scope, "nullable", key)) return true;
    if (!found) {
        snprintf(path, sizeof path, "aliases.%.90s", key);
        const char *alias = family_text(scope, path);
        if (alias) found = hf_at(&scope->config, alias);
    }
    if (!found && (scope->nested || !family_lists(scope, "required", key))) found = default_of(scope, key);
    *out = value_of(found);
    const cJSON *kept = default_of(scope, key);
    if (found && kept && cJSON_IsBool(kept) != cJSON_IsBool(found) && (cJSON_IsBool(kept) || cJSON_IsNumber(kept)))
        return hf_wrong(&scope->config, key, "should be %s", cJSON_IsBool(kept) ? "true or false" : "a number");
    if (out->type == VALUE_NUMBER && !(fabs(out->number) < 9007199254740992.0))
        return hf_wrong(&scope->config, key, "is %g; give a smaller number", out->number);
    return true;
}

static bool is_busy(const Scope *scope, const char *field) {
    for (int i = 0; i < scope->busy_count; i++)
        if (strcmp(scope->busy[i], field) == 0) return true;
    return false;
}

/* A field of the family; *found says whether it has it. */
static bool field_value(Scope *scope, const char *field, Value *out, bool *found) {
    const cJSON *json = family_at(scope, field);
    memset(out, 0, sizeof *out);
    *found = json != NULL;
    if (!cJSON_IsString(json)) return *out = value_of(json), true;
    if (scope->busy_count == BUSY_MAX)
        return error_set(scope->config.error, ERROR_INPUT, "models/families", "%.60s asks too many others", field);
    scope->busy[scope->busy_count++] = field;
    bool ok = expression_value(json->valuestring, &scope->expression, out);
    scope->busy_count--;
    return ok;
}

static bool name_value(ExpressionScope *expression, const char *name, Value *out) {
    Scope *scope = (Scope *)expression;
    const struct {
        const char *prefix;
        Scope *scope;
    } others[] = {{"text.", scope->text}, {"vision.", scope->vision}, {"audio.", scope->audio}, {"outer.", scope->outer}};
    memset(out, 0, sizeof *out);
    if (strcmp(name, "i") == 0) {
        scope->layer_used = true;
        *out = (Value){.type = VALUE_NUMBER, .number = (double)scope->layer};
        return true;
    }
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        size_t length = strlen(others[i].prefix);
        if (strncmp(name, others[i].prefix, length) != 0) continue;
        return !others[i].scope || name_value(&others[i].scope->expression, name + length, out);
    }
    bool found = false;
    if (!strchr(name, '.') && !is_busy(scope, name) && !field_value(scope, name, out, &found)) return false;
    if (!found && !key_value(scope, name, out)) return false;
    size_t used = strlen(expression->asked); /* of the field itself, not of those that it asks for */
    if (!found && scope->busy_count <= 1 && out->type != VALUE_NULL)
        snprintf(expression->asked + used, sizeof expression->asked - used, "%s%s%.60s", used ? ", " : "",
                 scope->config.prefix, name);
    return true;
}

/* ---- fields ---- */

enum { REQUIRED = FIELD_REQUIRED };

static bool missing_field(Scope *scope, const char *field) {
    const char *key = scope->expression.missing;
    return error_set(scope->config.error, ERROR_INPUT, scope->config.where, "%s%s is missing; give a whole number",
                     key[0] ? scope->config.prefix : "", key[0] ? key : field);
}

static bool whole_field(Scope *scope, const char *field, int64_t low, int64_t high, int64_t fallback, int64_t *out) {
    Value value;
    bool found;
    scope->expression.missing[0] = scope->expression.asked[0] = '\0';
    if (!field_value(scope, field, &value, &found)) return false;
    if (value.type == VALUE_NULL) {
        if (fallback == REQUIRED) return missing_field(scope, field);
        *out = fallback;
        return true;
    }
    const char *key = scope->expression.asked[0] ? scope->expression.asked : field;
    if (value.type != VALUE_NUMBER)
        return error_set(scope->config.error, ERROR_INPUT, scope->config.where, "%s should be a number", key);
    if (!(value.number >= (double)low && value.number <= (double)high) || floor(value.number) != value.number)
        return error_set(scope->config.error, ERROR_INPUT, scope->config.where,
                         "%s: %s is %.17g; expected a whole number from %lld to %lld", key, field, value.number,
                         (long long)low, (long long)high);
    *out = (int64_t)value.number;
    return true;
}

static bool flag_field(Scope *scope, const char *field, bool fallback, bool *out) {
    Value value;
    bool found;
    scope->expression.asked[0] = '\0';
    if (!field_value(scope, field, &value, &found)) return false;
    if (value.type == VALUE_TEXT)
        return error_set(scope->config.error, ERROR_INPUT, scope->config.where, "%s should be true or false",
                         scope->expression.asked[0] ? scope->expression.asked : field);
    *out = value.type == VALUE_NULL ? fallback : value_is_true(value);
    return true;
}

/* One of a few words; the first where the family says nothing. */
static bool word_field(Scope *scope, const char *field, const char *const *words, size_t count, size_t *out) {
    Value value;
    bool found;
    if (!field_value(scope, field, &value, &found)) return false;
    *out = 0;
    for (size_t i = 0; i < count; i++)
        if (value_is(value, words[i])) return *out = i, true;
    return value.type == VALUE_NULL ||
           error_set(scope->config.error, ERROR_INPUT, scope->config.where, "%s: \"%.*s\" is no %s",
                     scope->expression.asked, (int)(value.length < 40 ? value.length : 40),
                     value.text ? value.text : "", field);
}

/* ---- layers ---- */

/* What was evaluated without looking at the layer's number is the same for all layers. */
typedef struct {
    bool known[LAYER_WHOLES_MAX + LAYER_FLAGS_MAX + 8];
    LayerKind kind;
    bool conditions[8];
} SameForAll;

typedef enum { MIXTURE, WINDOWED, ATTENDS, FEEDS, BESIDE } Condition;
static const struct {
    const char *field;
    bool fallback;
} CONDITIONS[] = {
    [MIXTURE] = {"mixture", true},   /* its experts are there */
    [WINDOWED] = {"windowed", true}, /* its window is obeyed */
    [ATTENDS] = {"attends", true},   /* it has attention; false by default beside a mixer */
    [FEEDS] = {"feeds", true},       /* it has an MLP or a mixture */
    [BESIDE] = {"beside", false},    /* a dense MLP stands beside the mixture */
};

static bool condition(Scope *scope, SameForAll *same, Condition which, bool fallback, bool *out) {
    bool *known = &same->known[LAYER_WHOLES_MAX + LAYER_FLAGS_MAX + which];
    if (*known) return *out = same->conditions[which], true;
    scope->layer_used = false;
    if (!flag_field(scope, CONDITIONS[which].field, fallback, out)) return false;
    *known = !scope->layer_used && which != ATTENDS;
    same->conditions[which] = *out;
    return true;
}

static bool read_group(Scope *scope, SameForAll *same, LayerGroup group, LayerKind *kind) {
    for (int f = 0; f < LAYER_WHOLE_COUNT; f++) {
        const LayerWhole *whole = &LAYER_WHOLES[f];
        if (whole->group != group) continue;
        int64_t *value = (int64_t *)((char *)kind + whole->offset), *kept = (int64_t *)((char *)&same->kind + whole->offset);
        if (same->known[f]) {
            *value = *kept;
            continue;
        }
        scope->layer_used = false;
        if (!whole_field(scope, whole->key, whole->low, INT32_MAX, whole->family_fallback, value)) return false;
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
        if (!flag_field(scope, flag->key, flag->fallback, value)) return false;
        same->known[LAYER_WHOLES_MAX + f] = !scope->layer_used;
        *kept = *value;
    }
    return true;
}

static bool read_mixer(Scope *scope, LayerKind *kind) {
    Value value;
    bool found;
    char name[64];
    if (!field_value(scope, "mixer", &value, &found)) return false;
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
        if (!whole_field(scope, field, size->low, INT32_MAX, size->fallback, &kind->sizes[s])) return false;
    }
    return true;
}

/* "matrices" and "vectors" of a layer, "model_matrices" and "model_vectors" of the model: by column. */
static bool read_extra(Scope *scope, const char *matrices, const char *vectors, ExtraParameters *extra) {
    for (int k = 0; k < 2; k++)
        for (int c = 0; c < scope->chain_count; c++) {
            const cJSON *object = cJSON_GetObjectItemCaseSensitive(scope->chain[c], k ? vectors : matrices), *item;
            cJSON_ArrayForEach(item, object) {
                int part = model_part_named(item->string);
                char field[96];
                int64_t count = 0;
                snprintf(field, sizeof field, "%s.%.40s", k ? vectors : matrices, item->string);
                if (part < 0) return error_set(scope->config.error, ERROR_INPUT, "models/families", "%s", field);
                if (!whole_field(scope, field, 0, INT64_C(1) << 52, 0, &count)) return false;
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
    if (windowed && kind->window == 0 && family_at(scope, "windowed"))
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
    bool attends = true, feeds = true, mixture = false, beside = false;
    memset(kind, 0, sizeof *kind);
    kind->count = 1;
    if (!read_mixer(scope, kind) || !condition(scope, same, ATTENDS, !kind->mixer, &attends) ||
        !condition(scope, same, FEEDS, CONDITIONS[FEEDS].fallback, &feeds) ||
        !read_group(scope, same, LAYER_ALWAYS, kind) ||
        (attends && !read_attention(scope, same, d_model, max_seq, kind)))
        return false;
    if (feeds) {
        if (!condition(scope, same, MIXTURE, CONDITIONS[MIXTURE].fallback, &mixture) ||
            !condition(scope, same, BESIDE, CONDITIONS[BESIDE].fallback, &beside) ||
            (mixture && !read_group(scope, same, LAYER_MIXTURE, kind)))
            return false;
        if (kind->experts > 0 && !read_group(scope, same, LAYER_EXPERTS, kind)) return false;
        if ((kind->experts == 0 || beside) && !read_group(scope, same, LAYER_DENSE, kind)) return false;
    }
    if (!feeds && !kind->mixer) kind->mixer = mixer_named("none"); /* attention alone */
    return read_extra(scope, "matrices", "vectors", &kind->extra);
}

static bool add_layer(Scope *scope, Model *model, const LayerKind *layer) {
    for (int i = 0; i < model->kind_count; i++) {
        LayerKind kind = model->kinds[i];
        kind.count = 1;
        if (memcmp(&kind, layer, sizeof kind) == 0) return model->kinds[i].count++, true;
    }
    if (model->kind_count == MODEL_KINDS_MAX)
        return error_set(scope->config.error, ERROR_INPUT, scope->config.where,
                         "the model has more than %d kinds of layers; that many are not planned", MODEL_KINDS_MAX);
    model->kinds[model->kind_count++] = *layer;
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
    const cJSON *keys = family_at(scope, sort), *key;
    cJSON_ArrayForEach(key, keys) {
        const cJSON *list = hf_at(&scope->config, key->valuestring), *item;
        if (!list || (cJSON_IsArray(list) && !list->child)) continue;
        if (!cJSON_IsArray(list) || (marks && cJSON_GetArraySize(list) != layers))
            return hf_wrong(&scope->config, key->valuestring, marks ? "should be a list of %lld numbers, one for each layer"
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

/* What the class refuses, or what is not counted: by condition, what is said of it. */
static bool check_refused(Scope *scope) {
    for (int c = 0; c < scope->chain_count; c++) {
        const cJSON *refused = cJSON_GetObjectItemCaseSensitive(scope->chain[c], "refused"), *one;
        cJSON_ArrayForEach(one, refused) {
            Value value;
            scope->expression.missing[0] = scope->expression.asked[0] = '\0';
            if (!expression_value(one->string, &scope->expression, &value)) return false;
            if (value_is_true(value))
                return error_set(scope->config.error, ERROR_INPUT, scope->config.where, "%s%s", scope->config.prefix,
                                 one->valuestring);
        }
    }
    return true;
}

static bool read_layers(Scope *scope, int64_t layers, int64_t max_seq, bool encoder, Model *model) {
    SameForAll same;
    memset(&same, 0, sizeof same);
    if (!check_words(scope, layers) || !check_numbers(scope, "indices", false, layers) ||
        !check_numbers(scope, "marks", true, layers))
        return false;
    for (scope->layer = 0; scope->layer < layers; scope->layer++) {
        LayerKind layer;
        if (!read_layer(scope, &same, model->d_model, max_seq, &layer)) return false;
        layer.encoder = encoder;
        if (!add_layer(scope, model, &layer)) return false;
    }
    model->layers += layers;
    scope->layer = 0;
    const char *key = encoder ? NULL : family_text(scope, "some_mixture");
    if (key && cJSON_IsString(family_at(scope, "mixture")) && model_layers_with(model, true) == 0)
        return hf_wrong(&scope->config, key, "leaves none of %lld layers with experts", (long long)layers);
    return true;
}

/* ---- the model ---- */

static bool read_rope(Scope *scope, Model *model) {
    HfRopeKeys keys = {.theta = family_text(scope, "rope.theta_key"),
                       .window_theta = family_text(scope, "rope.window_theta_key"),
                       .share = family_text(scope, "rope.share_key"),
                       .default_theta = json_real_at(family_at(scope, "rope"), "theta", 0),
                       .default_window_theta = json_real_at(family_at(scope, "rope"), "window_theta", 0),
                       .default_share = json_real_at(family_at(scope, "rope"), "share", 0)};
    return hf_rope(&scope->config, keys, model);
}

/* The rotated part of a head as a width, where the family says one. */
static bool read_rotary(Scope *scope, Model *model) {
    int64_t rotary = 0, width = model->kinds[0].head_dim;
    if (!whole_field(scope, "rotary", 1, INT32_MAX, 0, &rotary)) return false;
    if (rotary > width && width > 0)
        return error_set(scope->config.error, ERROR_INPUT, scope->config.where,
                         "%s is %lld, more than a head's width of %lld", scope->expression.asked, (long long)rotary,
                         (long long)width);
    if (rotary > 0 && width > 0) model->rope.share = (double)rotary / (double)width;
    return true;
}

/* The decoder, and the encoder beside it where there is one. */
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
    if (!whole_field(scope, "layers", 1, MODEL_LAYERS_MAX, REQUIRED, &layers) ||
        !whole_field(scope, "d_model", 1, INT32_MAX, REQUIRED, &model->d_model) ||
        !whole_field(scope, "vocab", 1, INT32_MAX, REQUIRED, &model->vocab) ||
        !whole_field(scope, "max_seq", 1, INT32_MAX, REQUIRED, &model->max_seq) ||
        !flag_field(scope, "tied", false, &model->tied) || !word_field(scope, "norm", NORMS, COUNT_OF(NORMS), &norm) ||
        !word_field(scope, "positions", POSITIONS, COUNT_OF(POSITIONS), &positions) ||
        !whole_field(scope, "learned_positions", 0, INT32_MAX, 0, &model->learned_positions) ||
        !whole_field(scope, "embedding_width", 0, INT32_MAX, 0, &model->embedding_width) ||
        !flag_field(scope, "embedding_norm", false, &model->embedding_norm) ||
        !flag_field(scope, "logits_bias", false, &model->logits_bias) ||
        !flag_field(scope, "no_head", false, &model->no_head) ||
        !flag_field(scope, "last_norm", true, &last_norm) ||
        !whole_field(scope, "encoder_layers_beside", 0, MODEL_LAYERS_MAX, 0, &encoder_layers) ||
        !check_refused(scope))
        return false;
    model->norm = (NormKind)norm;
    model->positions = (PositionKind)positions;
    model->no_last_norm = !last_norm;
    if (model->embedding_width == model->d_model) model->embedding_width = 0;
    if (positions == POSITIONS_ROTARY && !read_rope(scope, model)) return false;
    if (!read_layers(scope, layers, model->max_seq, false, model) || !read_rotary(scope, model)) return false;
    if (encoder_layers > 0) {
        Scope encoder = *scope;
        const cJSON *overlay = family_at(scope, "encoder");
        if (overlay && encoder.chain_count < CHAIN_MAX) {
            memmove(encoder.chain + 1, encoder.chain, sizeof encoder.chain - sizeof *encoder.chain);
            encoder.chain[0] = overlay;
            encoder.chain_count++;
        }
        encoder.expression.error = scope->config.error;
        if (!read_layers(&encoder, encoder_layers, model->max_seq, true, model)) return false;
    }
    return read_extra(scope, "model_matrices", "model_vectors", &model->extra);
}

static void open_scope(Scope *scope, Scope *outer, const Config *config, Parsed *parsed) {
    memset(scope, 0, sizeof *scope);
    scope->expression.name = name_value;
    scope->expression.error = config->error;
    scope->expression.where = config->where;
    scope->parsed = parsed;
    scope->config = *config;
    scope->nested = config->prefix[0] != '\0';
    scope->outer = outer;
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
    open_scope(scope, outer, &config, outer->parsed);
    const char *named = json_text_at(object, "model_type");
    if (named[0] && !json_at(part, "fixed")) {
        if (!family_has(named))
            return hf_wrong(&config, "model_type", "\"%.40s\" is not known; `python -m shardopt.describe MODEL_OR_FOLDER "
                            "-o model.json` writes a file that is", named);
        type = named;
    }
    scope->chain[scope->chain_count++] = part;
    if (type[0] && !chain_type(scope, type)) return false;
    const char *usual = json_text_at(part, "type"); /* released towers may carry the type of the whole (qwen3_5) */
    if (!json_at(part, "part") || family_at(scope, "parameters") || strcmp(type, usual) == 0) return true;
    scope->chain_count = 1;
    return chain_type(scope, usual);
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
    return whole_field(scope, "layers", 0, MODEL_LAYERS_MAX, REQUIRED, &tower->layers) &&
           whole_field(scope, "d_model", 1, INT32_MAX, REQUIRED, &tower->width) &&
           whole_field(scope, "heads", 0, INT32_MAX, 0, &tower->heads) &&
           whole_field(scope, "d_ff", 0, INT32_MAX, 0, &tower->d_ff) &&
           whole_field(scope, "patch", 0, INT32_MAX, 0, &tower->patch) &&
           whole_field(scope, "parameters", 0, INT64_C(1) << 52, REQUIRED, &tower->parameters);
}

static bool read_whole(Scope *scope, Model *model) {
    const cJSON *text = family_at(scope, "text"), *towers = family_at(scope, "towers"), *part;
    Scope language, tower[TOWERS_MAX];
    char prefix[TYPE_SIZE], tower_prefix[TOWERS_MAX][TYPE_SIZE];
    int count = 0;
    const char *alone = family_text(scope, "text_class"); /* the language model of the wrapper has a class of its own */
    const cJSON *named = cJSON_GetArrayItem(hf_at(&scope->config, "architectures"), 0);
    if (text && alone && cJSON_IsString(named) && strcmp(named->valuestring, alone) == 0)
        return open_inside(&language, scope, text, prefix) && read_language(&language, model);
    if (!text) {
        if (!read_language(scope, model)) return false;
    } else {
        if (!open_inside(&language, scope, text, prefix)) return false;
        scope->text = &language;
    }
    cJSON_ArrayForEach(part, towers) {
        if (count == TOWERS_MAX) break;
        if (!read_tower(scope, part, &tower[count], tower_prefix[count], model)) return false;
        count++;
    }
    if (!text) return true;
    language.vision = scope->vision, language.audio = scope->audio;
    return read_language(&language, model) && flag_field(scope, "tied", model->tied, &model->tied) &&
           read_extra(scope, "model_matrices", "model_vectors", &model->extra);
}

bool family_read(const Config *config, const char *type, Model *model) {
    Parsed parsed = {.count = 0};
    Scope scope;
    open_scope(&scope, NULL, config, &parsed);
    bool ok = chain_type(&scope, type) && read_whole(&scope, model);
    for (int i = 0; i < parsed.count; i++) cJSON_Delete(parsed.trees[i]);
    return ok;
}
