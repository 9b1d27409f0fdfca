/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The GPTs: gpt2 (and GPT-3 under its keys), gpt_neox, opt, phi: LayerNorm, biases everywhere, an MLP of two
 * matrices. */
#include "models/config/reader.h"

static bool read_gpt2_type(const Config *config, Model *model) {
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
static bool read_gpt_neox_type(const Config *config, Model *model) {
    LayerKind layer = {0};
    bool attention_bias;
    const HfRopeKeys rope = {.theta = "rotary_emb_base", .share = "rotary_pct", .default_share = 0.25};
    if (!hf_decoder(config, (HfDefaults){.rope = rope}, model, &layer) ||
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

/* The table of positions has two rows that no token uses. OPT-350M alone has its norms behind the blocks and an
 * embedding narrower than the stream: this list of ops has no place for either. */
static bool read_opt_type(const Config *config, Model *model) {
    LayerKind layer = {.norms = 2};
    int64_t embedding;
    bool biased, norm_first, last_norm_removed;
    const char *width = hf_spelling(config, "hidden_size", "d_model");
    model->norm = NORM_LAYER;
    model->positions = POSITIONS_LEARNED;
    if (!hf_layer_count(config, "num_hidden_layers", &model->layers) ||
        !hf_dimension(config, width, 0, &model->d_model) || !hf_dimension(config, "ffn_dim", 0, &layer.d_ff) ||
        !hf_dimension(config, "num_attention_heads", 0, &layer.heads) || !hf_even_head_dim(config, model, &layer) ||
        !hf_dimension(config, "vocab_size", 0, &model->vocab) ||
        !hf_dimension(config, "max_position_embeddings", 2048, &model->max_seq) ||
        !hf_dimension(config, "word_embed_proj_dim", model->d_model, &embedding) ||
        !hf_flag(config, "enable_bias", true, &biased) || !hf_flag(config, "do_layer_norm_before", true, &norm_first) ||
        !hf_flag(config, "_remove_final_layer_norm", false, &last_norm_removed) || !hf_tied(config, true, &model->tied))
        return false;
    if (embedding != model->d_model)
        return hf_wrong(config, "word_embed_proj_dim",
                        "is %lld; an embedding of another width than the stream (%lld) is not modelled",
                        (long long)embedding, (long long)model->d_model);
    if (!norm_first || last_norm_removed)
        return hf_wrong(config, norm_first ? "_remove_final_layer_norm" : "do_layer_norm_before",
                        "is %s; a decoder without a last norm is not modelled", norm_first ? "true" : "false");
    layer.kv_heads = layer.heads;
    layer.qkv_bias = layer.out_bias = layer.mlp_bias = biased;
    model->learned_positions = model->max_seq + 2;
    hf_kinds(model, &layer, NULL);
    return true;
}

/* phi-1 to phi-2: attention and MLP read the stream through one norm; the logits have a bias too. */
static bool read_phi_type(const Config *config, Model *model) {
    LayerKind layer = {0};
    bool qk_norm;
    if (!hf_decoder(config, (HfDefaults){.rope.default_share = 0.5}, model, &layer) ||
        !hf_dimension(config, "intermediate_size", 0, &layer.d_ff) || !hf_flag(config, "qk_layernorm", false, &qk_norm))
        return false;
    model->norm = NORM_LAYER;
    model->logits_bias = true;
    layer.gated = false;
    layer.norms = 1;
    layer.parallel_block = layer.qkv_bias = layer.out_bias = layer.mlp_bias = true;
    layer.qk_norm_parameters = qk_norm ? 4 * layer.head_dim : 0; /* two LayerNorms with bias */
    hf_kinds(model, &layer, NULL);
    return true;
}

const ConfigReader GPT_READER = {{
    {"gpt2", "GPT2LMHeadModel", read_gpt2_type},
    {"gpt_neox", "GPTNeoXForCausalLM", read_gpt_neox_type},
    {"opt", "OPTForCausalLM", read_opt_type},
    {"phi", "PhiForCausalLM", read_phi_type},
}};
