/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/launch/megatron/emit.h: the parts of a script for Megatron-LM's pretrain_gpt.py. Internal to search/emit.
 * Flags and their rules: Megatron-LM d98e8a64dd and megatron-core 0.16.1 (core/transformer/transformer_config.py,
 * core/model_parallel_config.py, core/distributed/distributed_data_parallel_config.py, training/arguments.py). */
#pragma once

#include "search/launch/gpu_job.h"
#include "search/launch/megatron/megatron.h"

/* Vocabulary is padded to a multiple of this x tensor (build_tokenizer.py). */
enum { MEGATRON_VOCAB_DIVISOR = 128 };

void megatron_write_model(const GpuJob *job, FILE *out);
void megatron_note_model(const GpuJob *job, EmitNotes *notes);

/* Recomputation and offloading: the nearest that keeps no more than the plan does, so that memory still fits. */
const char *megatron_cannot_offload(const GpuJob *job); /* a sentence where nothing keeps so little; NULL */
void megatron_write_activations(const GpuJob *job, FILE *out);
void megatron_note_activations(const GpuJob *job, EmitNotes *notes);
