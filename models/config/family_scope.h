/* SPDX-License-Identifier: GPL-3.0-or-later */
/* models/config/family_scope.h: what the fields of a family are read in. Internal to the reader of families. */
#pragma once

#include "models/config/expression.h"
#include "models/config/family.h"
#include "models/config/layer_fields.h"
#include "models/config/reader.h"

enum { FAMILIES_MAX = 24, CHAIN_MAX = 12, BUSY_MAX = 24, TYPE_SIZE = 64 };

/* The families that were parsed for one config. */
typedef struct {
    const FamilyType *types[FAMILIES_MAX];
    cJSON *families[FAMILIES_MAX];
    int count;
} FamiliesRead;

/* One object of the config (the whole, the language model's, a tower's) under the family that reads it. */
typedef struct Scope {
    ExpressionScope expression; /* the first: the evaluator knows this alone */
    FamiliesRead *families;
    Config config;
    bool nested;
    const cJSON *chain[CHAIN_MAX]; /* the family, and what it is like, the nearest first */
    int chain_count;
    const char *busy[BUSY_MAX]; /* fields that are being evaluated: there a name is the file's key */
    int busy_count;
    int64_t layer;
    bool layer_used, layers_differ; /* the layer's number was read: by the field, by any field */
    struct Scope *outer, *text, *vision, *audio;
} Scope;

/* Opens a scope without a family over an object of the config. */
void scope_open(Scope *scope, Scope *outer, const Config *config, FamiliesRead *families);
/* Adds the family of a type, and those that it is like. False: *error says why not; so everywhere below. */
bool scope_chain(Scope *scope, const char *type);

/* The nearest value of the family under a path, and it as a word; NULL: there is none, or it is null. */
const cJSON *scope_at(const Scope *scope, const char *path);
const char *scope_text(const Scope *scope, const char *path);

/* A field of the family; *found says whether it has it. */
bool scope_field(Scope *scope, const char *field, Value *out, bool *found);
/* A whole number within bounds; null: the fallback, and an error where that is FIELD_REQUIRED. */
bool scope_whole(Scope *scope, const char *field, int64_t low, int64_t high, int64_t fallback, int64_t *out);
bool scope_flag(Scope *scope, const char *field, bool fallback, bool *out);
/* One of a few words; the first where the family says nothing. */
bool scope_word(Scope *scope, const char *field, const char *const *words, size_t count, size_t *out);

/* ---- family_layers.c: the layers of a model, by its family ---- */

/* Adds the decoder's layers, or the encoder's, to the kinds of the model. False: *error says why not. */
bool family_layers(Scope *scope, int64_t layers, int64_t max_seq, bool encoder, Model *model);
/* "matrices" and "vectors" of a layer, "model_matrices" and "model_vectors" of the model: by column. */
bool family_extra(Scope *scope, const char *matrices, const char *vectors, ExtraParameters *extra);
