/* SPDX-License-Identifier: GPL-3.0-or-later */
/* models/config/model_json.h: a Model from a Hugging Face config.json, and from a zoo file, which is the same plus a
 * "shardopt" object: { "name", "aliases": [], "family", "source", "published": {"parameters", "active_parameters",
 * "source", "note"}, "training": {"batch_tokens", "seq", "tokens", "capacity_factor", "source"} }. `note` says why our
 * count is another than the published one. What no Hugging Face class describes: models/config/native.c. */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "models/model.h"

#include <cjson/cJSON.h>
#include <stdio.h>

/* Pure: a parsed config to a validated Model. `where` names the document. `zoo`: the "shardopt" object is required. */
bool model_from_json(const cJSON *config, const char *where, bool zoo, Model *out, Error *error);

typedef struct {
    Model *models; /* sorted by name */
    int count;
} Zoo;

/* Reads models/zoo of the data folder. */
bool zoo_load(Arena *arena, Zoo *out, Error *error);

/* The same models, but where the build's notes say enough (base/data_index.h), each has only what finds it: name,
 * aliases, path; active parameters, layers, d_model, vocab, max_seq, positions; of each kind of layers the count,
 * attention, heads, kv_heads, experts, top_k, d_ff, d_ff_expert. zoo_complete() reads the rest. */
bool zoo_names(Arena *arena, Zoo *out, Error *error);
/* The same by the notes alone: no models where there are none. */
bool zoo_noted(Arena *arena, Zoo *out, Error *error);
bool zoo_complete(Model *model, Error *error);

/* Prints what zoo_names() takes of a model from the notes, without a new line. */
void zoo_note(FILE *out, const Model *model);

/* A model by name or alias (case and -_. ignored); NULL when there is none. */
const Model *zoo_find(const Zoo *zoo, const char *name);
/* The one of a name in one word that may begin with who trained it on, "Skywork-Reward-Llama-3.1-8B"; NULL: none. */
const Model *zoo_of_name(const Zoo *zoo, const char *argument);
/* The one of a repository, "organisation/Name-70B-Instruct", or of words that may be one; NULL: none. */
const Model *zoo_of_repository(const Zoo *zoo, const char *argument);
/* As what a repository stores weights, by the end of its name: "fp8" of "organisation/Name-70B-FP8"; bf16, fp8, int8,
 * mxfp4, nvfp4, int4, nf4 (bitsandbytes) or GGUF (any of many); NULL: the name does not say. */
const char *repository_stores(const char *argument);
/* The models whose name, or one of whose aliases, has every part of `name` in it ("llama 70b"); in the arena. */
bool zoo_filter(const Zoo *zoo, const char *name, Arena *arena, Zoo *out, Error *error);

/* What --model accepts: a zoo name, a config.json or a folder that holds one. An unknown name is an error that suggests
 * the nearest names. */
bool model_load(const char *argument, Arena *arena, Model *out, Error *error);
