/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/launch/megatron/megatron.h"

/* Order: d98e8a64dd core/parallel_state.py, tp-cp-ep-dp-pp, and tp-cp-ep-pp-dp with --use-tp-pp-dp-mapping; its data
 * ranks are our fsdp inside our data. Padding: uneven stages by --pipeline-model-parallel-layout; the vocabulary to
 * 128 * tp (build_tokenizer.py). */
const Launcher MEGATRON_LAUNCHER = {
    .name = "megatron",
    .usual_on_gpus = true,
    .nestings = {{.name = "megatron",
                  .order = {{ROLE_TENSOR, ROLE_SEQUENCE, ROLE_EXPERT, ROLE_FSDP, ROLE_DATA, ROLE_PIPELINE}}},
                 {.name = "megatron-pp-dp",
                  .order = {{ROLE_TENSOR, ROLE_SEQUENCE, ROLE_EXPERT, ROLE_PIPELINE, ROLE_FSDP, ROLE_DATA}},
                  .option = "--use-tp-pp-dp-mapping"}},
    .gpus_only = true,
    .pads = 1u << PAD_STAGES | 1u << PAD_VOCAB,
    .refuses_degrees = megatron_refuses_degrees,
    .refuses = megatron_refuses,
    .offloads_optimizer = megatron_offloads_optimizer,
    .host_update = HOST_UPDATE_ON_CPU,
    .remat = megatron_remat_rules,
    .remat_by_chunk = true,
    .remat_words = megatron_remat_words,
    .plan_words = megatron_plan_words,
    .signs = {"tensor-model-parallel-size", "pipeline-model-parallel-size", "micro-batch-size", "num-layers",
              "global-batch-size", "context-parallel-size", "use-distributed-optimizer"},
    .signs_yield = true,
    .import_work = megatron_work,
    .import_plan = megatron_plan,
    .formats = {{"megatron", emit_megatron, emit_megatron_notes, "a bash script that runs Megatron-LM", "train.sh"}},
};
