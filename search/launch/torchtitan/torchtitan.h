/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/launch/torchtitan/torchtitan.h: torchtitan. Internal to its folder. From 0.3 on a run is a Python function
 * that returns a config, and flags over it; up to 0.2 it was a TOML file. Names and rules: the packages torchtitan
 * 0.3.0 (config/configs.py, trainer.py, distributed/parallel_dims.py, distributed/pipeline_parallel.py,
 * models/common/decoder.py) and 0.2.2 (config/job_config.py). */
#pragma once

#include "search/launch/keys.h"

EmitWriter torchtitan_write, torchtitan_toml_write;
EmitNoter torchtitan_notes, torchtitan_toml_notes;
bool torchtitan_has_model(const Model *model); /* by name, or as a plain decoder of other sizes */
void torchtitan_plan_words(const LaunchJob *job, Prose *out);
EmitRefusal torchtitan_toml_cannot;

/* Sequences of one forward-backward call; layers of a chunk, and how many fewer the first and the last have; tokens of
 * a microbatch of a rank, and of a step; whether the residual stream is split over tensor. */
enum { TERM_LOCAL = TERM_OWN, TERM_STEPS, TERM_DTYPE, TERM_COMPILES, TERM_OF_STAGE, TERM_FIRST_LESS, TERM_LAST_LESS };
enum { TERM_TOKENS = TERM_LAST_LESS + 1, TERM_STEP_TOKENS, TERM_ALONG };
enum { TITAN_RESHARD_DEFAULT = 2 }; /* TERM_REGATHER: unless there are stages */
extern const LaunchKey TITAN_KEYS[];
