/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gpt2 (and GPT-3 under its keys), gpt_neox: LayerNorm, biases everywhere, an MLP of two matrices. */
#include "models/hf.h"

bool hf_read_gpt2(const Config *config, Model *model) {
    LayerKind layer = {.norms = 2, .qkv_bias = true, .out_bias = true, .mlp_bias = true};
    const char *positions = hf_at(config, "n_positions") || !hf_at(config, "n_ctx") ? "n_positions" : "n_ctx";
    model->norm = NORM_LAYER;
    model->positions = POSITIONS_LEARNED;
    if (!hf_layer_count(config, "n_layer", &model->layers) || !hf_dimension(config, "n_embd", 0, &model->d_model) ||
        !hf_dimension(config, "n_head", 0, &layer.heads) || !hf_even_head_dim(config, model, &layer) ||
        !hf_dimension(config, "n_inner", 4 * model->d_model, &layer.d_ff) ||
        !hf_dimension(config, "vocab_size", 0, &model->vocab) || !hf_dimension(config, positions, 0, &model->max_seq) ||
        !hf_tied(config, true, &model->tied))
        return false;
    layer.kv_heads = layer.heads;
    model->learned_positions = model->max_seq;
    hf_kinds(model, &layer, NULL);
    return true;
}

/* Attention and MLP read the same stream, each through its own norm. */
bool hf_read_gpt_neox(const Config *config, Model *model) {
    LayerKind layer = {0};
    bool attention_bias;
    if (!hf_decoder(config, (HfDefaults){0}, model, &layer) ||
        !hf_dimension(config, "intermediate_size", 0, &layer.d_ff) ||
        !hf_flag(config, "attention_bias", true, &attention_bias) ||
        !hf_flag(config, "use_parallel_residual", true, &layer.parallel_block))
        return false;
    model->norm = NORM_LAYER;
    layer.gated = false;
    layer.mlp_bias = true;
    layer.qkv_bias = layer.out_bias = attention_bias;
    hf_kinds(model, &layer, NULL);
    return true;
}
