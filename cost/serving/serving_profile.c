/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/serving/serving_profile.h"

#include "base/file.h"
#include "base/json.h"
#include "base/util.h"

#include <stdio.h>
#include <string.h>

/* To add a figure, add a line. */
static const struct {
    const char *key;
    size_t offset;
    double low, high;
} FIGURES[] = {
#define FIGURE(name, low, high)                                                                                        \
    { #name, offsetof(ServingProfile, name), low, high }
#define FIGURE_AT(name, suffix, index, low, high)                                                                      \
    { #name "_" suffix, offsetof(ServingProfile, name) + (index) * sizeof(double), low, high }
    FIGURE_AT(matmul_floor_seconds, "bf16", ARITHMETIC_BF16, 0, 1e-2),
    FIGURE_AT(matmul_floor_seconds, "fp8", ARITHMETIC_FP8, 0, 1e-2),
    FIGURE_AT(matmul_floor_seconds, "fp4", ARITHMETIC_FP4, 0, 1e-2),
    FIGURE_AT(matmul_hbm_share, "bf16", ARITHMETIC_BF16, 0.01, 1),
    FIGURE_AT(matmul_hbm_share, "fp8", ARITHMETIC_FP8, 0.01, 1),
    FIGURE_AT(matmul_hbm_share, "fp4", ARITHMETIC_FP4, 0.01, 1),
    FIGURE_AT(matmul_flops_share, "bf16", ARITHMETIC_BF16, 0.01, 1),
    FIGURE_AT(matmul_flops_share, "fp8", ARITHMETIC_FP8, 0.01, 1),
    FIGURE_AT(matmul_flops_share, "fp4", ARITHMETIC_FP4, 0.01, 1),
    FIGURE(attention_floor_seconds, 0, 1e-2),
    FIGURE_AT(attention_hbm_share, "bf16", 0, 0.01, 1),
    FIGURE_AT(attention_hbm_share, "fp8", 1, 0.01, 1),
    FIGURE(latent_floor_seconds, 0, 1e-2),
    FIGURE_AT(latent_hbm_share, "bf16", 0, 0.01, 1),
    FIGURE_AT(latent_hbm_share, "fp8", 1, 0.01, 1),
    FIGURE(prefill_attention_flops_share, 0.01, 1),
    FIGURE_AT(sparse_heads, "bf16", 0, 1, 1024),
    FIGURE_AT(sparse_heads, "fp8", 1, 1, 1024),
    FIGURE_AT(sparse_flops_share, "bf16", 0, 0.01, 1),
    FIGURE_AT(sparse_flops_share, "fp8", 1, 0.01, 1),
    FIGURE(sparse_launch_seconds, 0, 1e-1),
    FIGURE(index_floor_seconds, 0, 1e-2),
    FIGURE(index_key_seconds, 0, 1e-6),
    FIGURE(index_flops_share, 0.01, 1),
    FIGURE_AT(expert_floor_seconds, "bf16", EXPERT_BF16, 0, 1e-2),
    FIGURE_AT(expert_floor_seconds, "fp8", EXPERT_FP8, 0, 1e-2),
    FIGURE_AT(expert_floor_seconds, "narrow", EXPERT_NARROW, 0, 1e-2),
    FIGURE_AT(expert_hbm_share, "bf16", EXPERT_BF16, 0.01, 1),
    FIGURE_AT(expert_hbm_share, "fp8", EXPERT_FP8, 0.01, 1),
    FIGURE_AT(expert_hbm_share, "narrow", EXPERT_NARROW, 0.01, 1),
    FIGURE_AT(expert_flops_share, "bf16", EXPERT_BF16, 0.01, 1),
    FIGURE_AT(expert_flops_share, "fp8", EXPERT_FP8, 0.01, 1),
    FIGURE_AT(expert_flops_share, "narrow", EXPERT_NARROW, 0.01, 1),
    FIGURE_AT(expert_token_bytes, "bf16", EXPERT_BF16, 0, 1000),
    FIGURE_AT(expert_token_bytes, "fp8", EXPERT_FP8, 0, 1000),
    FIGURE_AT(expert_token_bytes, "narrow", EXPERT_NARROW, 0, 1000),
    FIGURE(routing_skew, 0, 10),
    FIGURE(balanced_skew, 0, 10),
    FIGURE(layer_seconds, 0, 1),
    FIGURE(step_seconds, 0, 1),
    FIGURE(collective_floor_seconds, 0, 1e-2),
    FIGURE(exchange_floor_seconds, 0, 1e-2),
    FIGURE(link_share, 0.01, 1),
    FIGURE(exchange_share, 0.01, 1),
    FIGURE(exchange_network_share, 0.01, 1),
    FIGURE(two_batches, 0, 1),
    FIGURE(dispatch_bytes, 0.5, 4),
    FIGURE(overlap, 0, 1),
    FIGURE(unquantised_bytes, 0, 4),
    FIGURE(pipeline_share, 0.1, 1),
    FIGURE(draft_share, 0, 100),
    FIGURE(memory_fraction, 0.1, 1),
    FIGURE(driver_memory, 0, 1),
    FIGURE(workspace_bytes, 0, 1e11),
    FIGURE(activations_share, 0, 4),
    FIGURE(page_tokens, 1, 65536),
    FIGURE(prefill_load, 0.01, 1),
    FIGURE(queue, 0, 1),
    FIGURE(start_sequences, 1, 1e6),
    FIGURE(start_tokens, 1, 1e6),
    FIGURE(kernel_extra, -0.9, 10),
    FIGURE(expert_extra, -0.9, 10),
    FIGURE(message_extra, -0.9, 10),
    FIGURE(prompt_extra, -0.9, 10),
    FIGURE(knee, 0, 1),
    FIGURE(sequence_seconds, 0, 1),
    FIGURE(first_token_seconds, 0, 10),
    FIGURE(burst, 0, 1),
    FIGURE(likely_factor, 1, 10),
#undef FIGURE
#undef FIGURE_AT
};

typedef struct {
    const char *where;
    ServingProfile *profile;
    bool seen[COUNT_OF(FIGURES)];
    Error *error;
} Reading;

static bool read_figure(Reading *to, const cJSON *figure) {
    for (size_t i = 0; i < COUNT_OF(FIGURES); i++) {
        if (strcmp(figure->string, FIGURES[i].key) != 0) continue;
        double *value = (double *)((char *)to->profile + FIGURES[i].offset);
        char source[SERVING_SOURCE_SIZE];
        to->seen[i] = true;
        return json_real(figure, "value", FIGURES[i].low, FIGURES[i].high, to->where, value, to->error) &&
               json_text(figure, "source", to->where, source, sizeof source, to->error);
    }
    return error_set(to->error, ERROR_INPUT, to->where,
                     "there is no figure %.60s; cost/serving/profiles/ideal.json has "
                     "them all",
                     figure->string);
}

static bool read_figures(Reading *to, const cJSON *owner) {
    const cJSON *figure;
    cJSON_ArrayForEach(figure, json_at(owner, "figures")) {
        if (!read_figure(to, figure)) return false;
    }
    return true;
}

/* A chip that has no narrow matmuls needs no figures of them: its narrow weights are widened. */
static bool all_given(const Reading *to, const Chip *chip) {
    for (size_t i = 0; i < COUNT_OF(FIGURES); i++) {
        bool narrow = strstr(FIGURES[i].key, "fp4") && !(chip->fp4_flops_per_second.value > 0);
        if (!to->seen[i] && !narrow)
            return error_set(to->error, ERROR_INPUT, to->where, "has no figure %s for %s; give one", FIGURES[i].key,
                             chip->name);
    }
    return true;
}

static bool names_include(const cJSON *owner, const char *key, const char *name) {
    const cJSON *one;
    cJSON_ArrayForEach(one, json_at(owner, key)) {
        if (cJSON_IsString(one) && name_matches(one->valuestring, name)) return true;
    }
    return false;
}

static const cJSON *entry_of(const cJSON *json, const char *list, const char *key, const char *name) {
    const cJSON *entry;
    cJSON_ArrayForEach(entry, json_at(json, list)) {
        const cJSON *said = json_at(entry, key);
        if (names_include(entry, key, name) || (cJSON_IsString(said) && strcmp(said->valuestring, name) == 0))
            return entry;
    }
    return NULL;
}

/* All that is said of an engine: on any chip, then on chips like this one. */
static bool read_engine(Reading *to, const cJSON *json, const char *engine, const char *chip) {
    const cJSON *entry;
    cJSON_ArrayForEach(entry, json_at(json, "engines")) {
        const cJSON *name = json_at(entry, "engine");
        if (!cJSON_IsString(name) || strcmp(name->valuestring, engine) != 0) continue;
        if (json_at(entry, "chips") && !names_include(entry, "chips", chip)) continue;
        if (!read_figures(to, entry)) return false;
    }
    return true;
}

/* A table of messages. A time that falls where the message grows is the switch of an algorithm: the larger time of a
 * smaller message stands for it, so that a step never gets quicker by having more to do. */
static bool read_table(Reading *to, const cJSON *json) {
    ServingProfile *profile = to->profile;
    const cJSON *bytes = json_at(json, "bytes"), *seconds = json_at(json, "seconds");
    int count = cJSON_GetArraySize(bytes);
    if (profile->table_count == MESSAGE_TABLES_MAX || count < 2 || count > MESSAGE_POINTS_MAX ||
        cJSON_GetArraySize(seconds) != count)
        return error_set(to->error, ERROR_INPUT, to->where,
                         "all_reduce: give at most %d tables, each with the same 2 to %d "
                         "numbers of bytes and seconds",
                         MESSAGE_TABLES_MAX, MESSAGE_POINTS_MAX);
    MessageTable *table = &profile->tables[profile->table_count++];
    *table = (MessageTable){.count = count};
    if (!json_text(json, "engine", to->where, table->engine, sizeof table->engine, to->error) ||
        !json_whole(json, "ranks", 2, 1 << 20, to->where, &table->ranks, to->error))
        return false;
    for (int i = 0; i < count; i++) {
        const cJSON *b = cJSON_GetArrayItem(bytes, i), *s = cJSON_GetArrayItem(seconds, i);
        if (!cJSON_IsNumber(b) || !cJSON_IsNumber(s) || !(s->valuedouble > 0) ||
            !(b->valuedouble > (i > 0 ? table->bytes[i - 1] : 0)))
            return error_set(to->error, ERROR_INPUT, to->where,
                             "all_reduce: bytes have to rise, and seconds to be above 0");
        table->bytes[i] = b->valuedouble;
        table->seconds[i] = i > 0 ? max_real(table->seconds[i - 1], s->valuedouble) : s->valuedouble;
    }
    return true;
}

static bool read_tables(Reading *to, const cJSON *entry) {
    const cJSON *table;
    cJSON_ArrayForEach(table, json_at(entry, "all_reduce")) {
        if (!read_table(to, table)) return false;
    }
    return true;
}

/* Keeps the tables of one engine; without one, the quickest of each number of ranks. */
static void keep_tables(ServingProfile *profile, const char *engine) {
    int kept = 0;
    bool own = false;
    for (int i = 0; i < profile->table_count; i++)
        own = own || (engine && strcmp(profile->tables[i].engine, engine) == 0);
    for (int i = 0; i < profile->table_count; i++) {
        if (own && strcmp(profile->tables[i].engine, engine) != 0) continue;
        int same = 0;
        while (same < kept && profile->tables[same].ranks != profile->tables[i].ranks) same++;
        MessageTable *into = &profile->tables[same];
        if (same == kept)
            profile->tables[kept++] = profile->tables[i];
        else
            for (int p = 0; p < into->count && p < profile->tables[i].count; p++)
                into->seconds[p] = min_real(into->seconds[p], profile->tables[i].seconds[p]);
    }
    profile->table_count = kept;
}

/* What was fitted to measured runs of this engine on chips of this generation (that of the entry's `fit_with`, where it
 * names one), else on all GPUs. */
static const cJSON *fit_of(const cJSON *json, const char *engine, const Chip *chip, const cJSON *versions) {
    const cJSON *entry, *with = json_at(entry_of(json, "chips", "chips", chip->name), "fit_with"), *general = NULL;
    const char *name = cJSON_IsString(with) ? with->valuestring : chip->name;
    cJSON_ArrayForEach(entry, json_at(json, "fits")) {
        const cJSON *of = json_at(entry, "engine");
        const cJSON *of_versions = json_at(entry, "versions");
        bool same = cJSON_IsString(of) && strcmp(of->valuestring, engine ? engine : "none") == 0 &&
                    (versions ? cJSON_Compare(of_versions, versions, true) : !of_versions);
        if (same && names_include(entry, "chips", name)) return entry;
        if (same && chip_has_domains(chip) && names_include(entry, "chips", "@gpu")) general = entry;
    }
    return general;
}

bool serving_profile_from_json(const cJSON *json, const char *where, const Chip *chip, const char *engine,
                               ServingProfile *out, Error *error) {
    ServingProfile profile = {0};
    Reading to = {.where = where, .profile = &profile, .error = error};
    const char *general = chip_has_domains(chip) ? "@gpu" : "@tpu";
    const cJSON *parent = entry_of(json, "chips", "chips", general),
                *own = entry_of(json, "chips", "chips", chip->name);
    if (!json_is_plain(json, where, error) ||
        !json_text(json, "name", where, profile.name, sizeof profile.name, error) ||
        !json_text(json, "source", where, profile.source, sizeof profile.source, error) || !read_figures(&to, json) ||
        !read_figures(&to, parent) || !read_figures(&to, own) || !read_tables(&to, own) ||
        !read_engine(&to, json, engine ? engine : "none", chip->name) ||
        !read_figures(&to, fit_of(json, engine, chip, NULL)) || !all_given(&to, chip))
        return false;
    int figures = cJSON_GetArraySize(json_at(own, "figures")), all = cJSON_GetArraySize(json_at(parent, "figures"));
    if (parent && figures < (chip_has_domains(chip) ? all : 1)) /* those of TPUs in general are v6e's own */
        snprintf(profile.borrowed, sizeof profile.borrowed, "%s", chip_has_domains(chip) ? "H100" : "v6e");
    for (int a = ARITHMETIC_BF16 + 1; a < ARITHMETIC_COUNT; a++)
        if (!(profile.matmul_hbm_share[a] > 0)) {
            profile.matmul_floor_seconds[a] = profile.matmul_floor_seconds[ARITHMETIC_BF16];
            profile.matmul_hbm_share[a] = profile.matmul_hbm_share[ARITHMETIC_BF16];
            profile.matmul_flops_share[a] = profile.matmul_flops_share[ARITHMETIC_BF16];
        }
    keep_tables(&profile, engine);
    *out = profile;
    return true;
}

const cJSON *serving_older_versions(const cJSON *json, const char *engine, const char *version) {
    const cJSON *versions = json_at(json_at(entry_of(json, "engines", "engine", engine), "older"), "versions"), *one;
    cJSON_ArrayForEach(one, versions) {
        if (cJSON_IsString(one) && strncmp(version, one->valuestring, strlen(one->valuestring)) == 0) return versions;
    }
    return NULL;
}

bool serving_profile_use_older(const cJSON *json, const char *where, const Chip *chip, const cJSON *versions,
                               ServingProfile *profile, Error *error) {
    Reading to = {.where = where, .profile = profile, .error = error};
    const cJSON *engine;
    cJSON_ArrayForEach(engine, json_at(json, "engines")) {
        const cJSON *name = json_at(engine, "engine");
        if (json_at(json_at(engine, "older"), "versions") == versions && cJSON_IsString(name))
            return read_figures(&to, fit_of(json, name->valuestring, chip, versions));
    }
    return true;
}

StoredType serving_published_weights(const cJSON *json, const char *called, const char *model) {
    const cJSON *own = entry_of(json, "published_weights", "models", called);
    const cJSON *said = json_at(own ? own : entry_of(json, "published_weights", "models", model), "weights");
    for (int type = 0; type < STORED_COUNT; type++)
        if (cJSON_IsString(said) && strcmp(said->valuestring, stored_name((StoredType)type)) == 0)
            return (StoredType)type;
    return STORED_BF16;
}

static const struct {
    const char *name;
    double bytes;
} TYPES[STORED_COUNT] = {
    [STORED_BF16] = {"bf16", 2},
    [STORED_FP8] = {"fp8", 1},
    [STORED_INT8] = {"int8", 1},
    [STORED_MXFP4] = {"mxfp4", 0.5 + 1.0 / 32},
    [STORED_NVFP4] = {"nvfp4", 0.5 + 1.0 / 16},
    [STORED_INT4] = {"int4", 0.5},
};

const char *stored_name(StoredType type) { return TYPES[type].name; }

double stored_bytes(StoredType type) { return TYPES[type].bytes; }

Arithmetic stored_arithmetic(StoredType type, const Chip *chip) {
    if (type == STORED_FP8 && chip->fp8_flops_per_second.value > 0) return ARITHMETIC_FP8;
    if ((type == STORED_MXFP4 || type == STORED_NVFP4) && chip->fp4_flops_per_second.value > 0) return ARITHMETIC_FP4;
    return ARITHMETIC_BF16;
}

double arithmetic_peak(const Chip *chip, Arithmetic arithmetic) {
    switch (arithmetic) {
    case ARITHMETIC_FP8:
        return chip->fp8_flops_per_second.value;
    case ARITHMETIC_FP4:
        return chip->fp4_flops_per_second.value;
    default:
        return chip->bf16_flops_per_second.value;
    }
}

/* Finds the serving profile that --profile names. */

cJSON *serving_profile_open(const char *argument, Arena *arena, const char **path, Error *error) {
    *path = argument;
    if (argument[0] == '\0')
        return error_set(error, ERROR_INPUT, "--profile", "is empty; give default, ideal, a name or a file"), NULL;
    if (!file_names_json(argument)) {
        char **names;
        size_t count, at = 0;
        const char *folder = file_data_folder("cost/serving/profiles", arena, error);
        if (!folder || !file_list(folder, ".json", arena, &names, &count, error)) return NULL;
        while (at < count && (strncmp(names[at], argument, strlen(argument)) != 0 ||
                              strcmp(names[at] + strlen(argument), ".json") != 0))
            at++;
        if (at == count)
            return error_set(error, ERROR_INPUT, "--profile",
                             "there is no serving profile \"%.60s\"; give default, ideal, "
                             "a name in cost/serving/profiles, or a file",
                             argument),
                   NULL;
        *path = arena_format(arena, "%s/%s", folder, names[at]);
        if (!*path) return error_memory(error), NULL;
    }
    return json_read_file(*path, error);
}
