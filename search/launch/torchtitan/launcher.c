/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/launch/torchtitan/torchtitan.h"

/* Order: b5bcd76c distributed/parallel_dims.py (pp, dp_replicate, dp_shard, cp, tp; ep innermost of dp_shard). Uneven
 * stages by module_fqns_per_model_part. */
const Launcher TORCHTITAN_LAUNCHER = {
    .name = "torchtitan",
    .usual_on_gpus = true,
    .nestings = {{.name = "torchtitan",
                  .order = {{ROLE_TENSOR, ROLE_SEQUENCE, ROLE_EXPERT, ROLE_FSDP, ROLE_DATA, ROLE_PIPELINE}}}},
    .gpus_only = true,
    .pads = 1u << PAD_STAGES,
    .refuses_degrees = torchtitan_refuses_degrees,
    .refuses = torchtitan_refuses,
    .offloads_optimizer = torchtitan_offloads_optimizer,
    .host_update = HOST_UPDATE_ON_CPU,
    .counts_microbatches = true,
    .remat = torchtitan_remat_rules,
    .remat_words = torchtitan_remat_words,
    .plan_words = torchtitan_plan_words,
    .signs = {"parallelism.", "training.", "activation_checkpoint."},
    .import_work = torchtitan_work,
    .import_plan = torchtitan_plan,
    .formats = {{"torchtitan", emit_torchtitan, emit_torchtitan_notes, "a bash script that runs torchtitan 0.3",
                 "train.sh"},
                {"torchtitan-toml", emit_torchtitan_toml, emit_torchtitan_toml_notes,
                 "a TOML file for torchtitan up to 0.2", "train.toml"}},
};
