/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The zoo by the build's notes: what finds a model, without opening a file for each. */
#include "base/data_index.h"
#include "base/util.h"
#include "models/config/model_json.h"
#include "models/parameters.h"

#include <stdlib.h>

/* The whole numbers of a model and of a kind that are noted. */
static const size_t OF_MODEL[] = {offsetof(Model, layers), offsetof(Model, d_model), offsetof(Model, vocab),
                                  offsetof(Model, max_seq)},
                    OF_KIND[] = {offsetof(LayerKind, count),      offsetof(LayerKind, heads),
                                 offsetof(LayerKind, kv_heads),   offsetof(LayerKind, experts),
                                 offsetof(LayerKind, top_k),      offsetof(LayerKind, d_ff),
                                 offsetof(LayerKind, d_ff_expert)};

static void print_wholes(FILE *out, const void *of, const size_t *offsets, size_t count) {
    for (size_t i = 0; i < count; i++)
        fprintf(out, " %lld", (long long)*(const int64_t *)((const char *)of + offsets[i]));
}

void zoo_note(FILE *out, const Model *model) {
    fprintf(out, "%s\t%lld %d %d", model->name, (long long)model_active_parameters(model), (int)model->positions,
            model->kind_count);
    print_wholes(out, model, OF_MODEL, COUNT_OF(OF_MODEL));
    for (int i = 0; i < model->kind_count; i++) {
        fprintf(out, " %d", (int)model->kinds[i].attention);
        print_wholes(out, &model->kinds[i], OF_KIND, COUNT_OF(OF_KIND));
    }
    for (int i = 0; i < model->alias_count; i++) fprintf(out, "\t%s", model->aliases[i]);
}

static void read_wholes(char **at, void *to, const size_t *offsets, size_t count) {
    for (size_t i = 0; i < count; i++) *(int64_t *)((char *)to + offsets[i]) = strtoll(*at, at, 10);
}

/* Takes what zoo_note() printed. False: it is something else. */
static bool take_note(char *facts, Model *out) {
    char *name = index_field(&facts), *at = index_field(&facts), *alias;
    if (!at) return false;
    snprintf(out->name, sizeof out->name, "%s", name);
    out->noted = true;
    out->noted_active = strtoll(at, &at, 10);
    out->positions = (PositionKind)strtol(at, &at, 10);
    out->kind_count = (int)strtol(at, &at, 10);
    if (out->kind_count < 1 || out->kind_count > MODEL_KINDS_MAX) return false;
    read_wholes(&at, out, OF_MODEL, COUNT_OF(OF_MODEL));
    for (int i = 0; i < out->kind_count; i++) {
        out->kinds[i].attention = (AttentionKind)strtol(at, &at, 10);
        read_wholes(&at, &out->kinds[i], OF_KIND, COUNT_OF(OF_KIND));
    }
    while (out->alias_count < MODEL_ALIASES_MAX && (alias = index_field(&facts)))
        snprintf(out->aliases[out->alias_count++], MODEL_NAME_SIZE, "%s", alias);
    return true;
}

/* Numbers inside names count as numbers: llama2-7b stands before llama2-13b. */
static int by_name(const void *a, const void *b) {
    return strverscmp(((const Model *)a)->name, ((const Model *)b)->name);
}

bool zoo_noted(Arena *arena, Zoo *out, Error *error) {
    DataIndex index;
    if (!data_index_read("models/zoo", arena, &index, error)) return false;
    Zoo zoo = {.models = ARENA_NEW(arena, Model, index.count), .count = (int)index.count};
    if (!zoo.models) return error_memory(error);
    for (int i = 0; i < zoo.count; i++) {
        if (!take_note(index.rows[i].facts, &zoo.models[i])) return *out = (Zoo){0}, true;
        zoo.models[i].path = arena_format(arena, "%s/%s", index.folder, index.rows[i].file);
        if (!zoo.models[i].path) return error_memory(error);
    }
    qsort(zoo.models, index.count, sizeof *zoo.models, by_name);
    *out = zoo;
    return true;
}
