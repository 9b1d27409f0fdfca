/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bloom, falcon, mpt: from the time when positions were slopes, with key names that changed later. An MLP of two
 * matrices. */
#include "models/config/reader.h"

#include <string.h>

/* A norm stands behind the embedding too. */
static bool read_bloom_type(const Config *config, Model *model) {
    LayerKind layer = {.norms = 2, .qkv_bias = true, .out_bias = true, .mlp_bias = true};
    model->norm = NORM_LAYER;
    model->positions = POSITIONS_ALIBI;
    model->embedding_norm = true;
    if (!hf_layer_count(config, hf_spelling(config, "n_layer", "num_hidden_layers"), &model->layers) ||
        !hf_dimension(config, hf_spelling(config, "hidden_size", "n_embed"), 0, &model->d_model) ||
        !hf_dimension(config, hf_spelling(config, "n_head", "num_attention_heads"), 0, &layer.heads) ||
        !hf_even_head_dim(config, model, &layer) || !hf_dimension(config, "n_inner", 4 * model->d_model, &layer.d_ff) ||
        !hf_dimension(config, "vocab_size", 250880, &model->vocab) ||
        !hf_dimension(config, "seq_length", 2048, &model->max_seq) || !hf_tied(config, true, &model->tied))
        return false;
    layer.kv_heads = layer.heads;
    hf_kinds(model, &layer, NULL);
    return true;
}

/* The first Falcon shares one key and value head among all; the new architecture has groups of them, and says how many
 * under a name that changed. What multi_query says is then a leftover. */
static bool falcon_kv_heads(const Config *config, bool new_architecture, LayerKind *layer) {
    bool multi_query;
    if (!hf_flag(config, "multi_query", true, &multi_query)) return false;
    layer->kv_heads = multi_query ? 1 : layer->heads;
    return !new_architecture ||
           hf_dimension(config, hf_spelling(config, "num_kv_heads", "n_head_kv"), layer->heads, &layer->kv_heads);
}

static bool read_falcon_type(const Config *config, Model *model) {
    LayerKind layer = {0};
    bool bias, alibi, new_architecture;
    int64_t parallel_norms;
    model->norm = NORM_LAYER;
    if (!hf_layer_count(config, hf_spelling(config, "num_hidden_layers", "n_layer"), &model->layers) ||
        !hf_dimension(config, hf_spelling(config, "hidden_size", "n_embed"), 0, &model->d_model) ||
        !hf_dimension(config, hf_spelling(config, "num_attention_heads", "n_head"), 0, &layer.heads) ||
        !hf_even_head_dim(config, model, &layer) ||
        !hf_dimension(config, "ffn_hidden_size", 4 * model->d_model, &layer.d_ff) ||
        !hf_dimension(config, "vocab_size", 65024, &model->vocab) ||
        !hf_dimension(config, "max_position_embeddings", 2048, &model->max_seq) ||
        !hf_flag(config, "new_decoder_architecture", false, &new_architecture) ||
        !falcon_kv_heads(config, new_architecture, &layer) || !hf_flag(config, "bias", false, &bias) ||
        !hf_flag(config, "alibi", false, &alibi) || !hf_flag(config, "parallel_attn", true, &layer.parallel_block) ||
        !hf_dimension(config, "num_ln_in_parallel_attn", 2, &parallel_norms) || !hf_tied(config, true, &model->tied))
        return false;
    if (parallel_norms > 2) return hf_wrong(config, "num_ln_in_parallel_attn", "should be 1 or 2");
    layer.parallel_block |= new_architecture; /* which knows nothing else */
    layer.norms = new_architecture ? parallel_norms : layer.parallel_block ? 1 : 2;
    layer.qkv_bias = layer.out_bias = layer.mlp_bias = bias;
    model->positions = alibi ? POSITIONS_ALIBI : POSITIONS_ROTARY;
    if (!alibi && !hf_rope(config, (HfRopeKeys){0}, model)) return false;
    hf_kinds(model, &layer, NULL);
    return true;
}

/* Of attn_config: how many heads have keys of their own, and what positions are. */
static bool mpt_attention(const Config *config, Model *model, LayerKind *layer) {
    char type[32];
    bool alibi, rope, learned, qk_norm;
    if (!hf_text(config, "attn_config.attn_type", "multihead_attention", type, sizeof type) ||
        !hf_dimension(config, "attn_config.kv_n_heads", strcmp(type, "multiquery_attention") == 0 ? 1 : layer->heads,
                      &layer->kv_heads) ||
        !hf_flag(config, "attn_config.alibi", true, &alibi) || !hf_flag(config, "attn_config.rope", false, &rope) ||
        !hf_flag(config, "attn_config.qk_ln", false, &qk_norm) || !hf_flag(config, "learned_pos_emb", true, &learned))
        return false;
    model->positions = alibi ? POSITIONS_ALIBI : rope ? POSITIONS_ROTARY : learned ? POSITIONS_LEARNED : POSITIONS_NONE;
    if (model->positions == POSITIONS_LEARNED) model->learned_positions = model->max_seq;
    if (qk_norm &&
        (__builtin_mul_overflow(layer->heads + layer->kv_heads, layer->head_dim, &layer->qk_norm_parameters) ||
         __builtin_mul_overflow(layer->qk_norm_parameters, model->norm == NORM_LAYER ? 2 : 1,
                                &layer->qk_norm_parameters)))
        return hf_wrong(config, "n_heads", "times the width of a head is too large; give smaller dimensions");
    return model->positions != POSITIONS_ROTARY ||
           hf_rope(config, (HfRopeKeys){.theta = "attn_config.rope_theta"}, model);
}

/* The width of the MLP is a ratio, which newer files may state as a number instead. */
static bool mpt_mlp(const Config *config, const Model *model, LayerKind *layer) {
    double ratio;
    char type[32];
    if (!hf_real(config, "expansion_ratio", 1.0 / 64, 64, 4, &ratio) ||
        !hf_dimension(config, "ffn_config.ffn_hidden_size", (int64_t)(ratio * (double)model->d_model), &layer->d_ff) ||
        !hf_text(config, "ffn_config.ffn_type", "mptmlp", type, sizeof type))
        return false;
    layer->gated = strcmp(type, "mptglu") == 0;
    if (!layer->gated && strcmp(type, "mptmlp") != 0 && strcmp(type, "te_ln_mlp") != 0)
        return hf_wrong(config, "ffn_config.ffn_type", "is \"%s\"; known: mptmlp, mptglu, te_ln_mlp", type);
    return true;
}

static bool read_mpt_type(const Config *config, Model *model) {
    LayerKind layer = {.norms = 2};
    bool no_bias;
    if (!hf_layer_count(config, "n_layers", &model->layers) || !hf_dimension(config, "d_model", 0, &model->d_model) ||
        !hf_dimension(config, "n_heads", 0, &layer.heads) || !hf_even_head_dim(config, model, &layer) ||
        !hf_dimension(config, "vocab_size", 50368, &model->vocab) ||
        !hf_dimension(config, "max_seq_len", 2048, &model->max_seq) || !hf_flag(config, "no_bias", true, &no_bias) ||
        !hf_tied(config, true, &model->tied))
        return false;
    model->norm = no_bias ? NORM_LAYER_NO_BIAS : NORM_LAYER;
    layer.qkv_bias = layer.out_bias = layer.mlp_bias = !no_bias;
    if (!mpt_attention(config, model, &layer) || !mpt_mlp(config, model, &layer)) return false;
    hf_kinds(model, &layer, NULL);
    return true;
}

const ConfigReader ALIBI_READER = {{
    {"bloom", "BloomForCausalLM", read_bloom_type},
    {"falcon", "FalconForCausalLM", read_falcon_type},
    {"RefinedWeb", "RWForCausalLM", read_falcon_type}, /* as Falcon's first files called it */
    {"RefinedWebModel", NULL, read_falcon_type},
    {"mpt", "MPTForCausalLM", read_mpt_type},
}};
