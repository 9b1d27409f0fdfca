/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/launch/torchtitan/torchtitan.h: torchtitan. Internal to its folder. From 0.3 on a run is a Python function
 * that returns a config, and flags over it; up to 0.2 it was a TOML file. Names and rules: the packages torchtitan
 * 0.3.0 (config/configs.py, trainer.py, distributed/parallel_dims.py, distributed/pipeline_parallel.py,
 * models/common/decoder.py) and 0.2.2 (config/job_config.py). */
#pragma once

#include "search/launch/emit.h"
#include "search/launch/import.h"

EmitWriter torchtitan_write, torchtitan_toml_write;
EmitNoter torchtitan_notes, torchtitan_toml_notes;
EmitRefusal titan_cannot, torchtitan_toml_cannot; /* the first: of both eras */
ImportWork torchtitan_work;
ImportPlan torchtitan_plan;

/* A model that its registry has, under both spellings. */
typedef struct {
    const char *name;   /* in our catalog */
    const char *module; /* torchtitan.models.MODULE, and [model] name */
    const char *flavor; /* of 0.2 and of model_registry() in 0.3 */
    const char *base;   /* 0.3: the config function whose optimizer, data and metrics a run takes */
    const char *assets; /* hf_assets_path */
} TitanModel;
const TitanModel *titan_model(const Model *model); /* NULL: there is none */

/* Activation checkpointing: of the three ways the one that recomputes least among those that keep no more than the plan
 * does. */
typedef enum { TITAN_KEEP, TITAN_SELECTIVE, TITAN_FULL } TitanCheckpoint;
TitanCheckpoint titan_checkpoint(const LaunchJob *job);

const char *titan_schedule(Schedule schedule);

/* Sequences of one forward-backward call on a data rank: all microbatches where a pipeline cuts them up, else one. */
int64_t titan_local_batch(const LaunchJob *job);

/* The chunks' modules as a list of lists, Python's and TOML's alike; `head`: what the logits are called. */
void titan_write_chunks(const LaunchJob *job, const char *head, const char *indent, FILE *out);

/* What differs from what was costed, in both eras. */
void titan_note(const LaunchJob *job, EmitNotes *notes);
