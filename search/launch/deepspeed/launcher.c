/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/launch/deepspeed/deepspeed.h"

#include "search/launch/remat_list.h"

/* Nothing or full. */
static void remat_rules(RematList *list, const Model *model) {
    (void)model;
    remat_list_add_none(list);
    remat_list_add_full(list, 0);
}

/* Order: runtime/pipe/topology.py: pipe, data, model, which is Megatron's. Uneven stages by its partitioning of
 * layers. */
const Launcher DEEPSPEED_LAUNCHER = {
    .name = "deepspeed",
    .usual_on_gpus = true,
    .nestings = {{.name = "megatron",
                  .order = {{ROLE_TENSOR, ROLE_SEQUENCE, ROLE_EXPERT, ROLE_FSDP, ROLE_DATA, ROLE_PIPELINE}}}},
    .gpus_only = true,
    .pads = 1u << PAD_STAGES,
    .refuses_degrees = deepspeed_refuses_degrees,
    .refuses = deepspeed_refuses,
    .offloads_optimizer = deepspeed_offloads_optimizer,
    .host_update = HOST_UPDATE_ON_CPU,
    .remat = remat_rules,
    .plan_words = deepspeed_plan_words,
    .signs = {"zero_optimization.", "train_micro_batch_size_per_gpu", "train_batch_size", "zero_optimization"},
    .import_work = deepspeed_work,
    .import_plan = deepspeed_plan,
    .formats = {{"deepspeed", emit_deepspeed, emit_deepspeed_notes, "a JSON file for DeepSpeed", "ds_config.json"}},
};
