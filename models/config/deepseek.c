/* SPDX-License-Identifier: GPL-3.0-or-later */
/* deepseek_v2, deepseek_v3 (also kimi_k2): MLA, leading dense layers, then mixtures with shared experts. */
#include "models/config/reader.h"

/* A q_lora_rank of null is no gap: V2-Lite projects its queries at full rank. */
static bool read_latent_attention(const Config *config, LayerKind *layer) {
    bool full_rank = cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(hf_language(config), "q_lora_rank"));
    layer->attention = ATTENTION_LATENT;
    if (!(full_rank || hf_dimension(config, "q_lora_rank", 1536, &layer->q_lora_rank)) ||
        !hf_dimension(config, "kv_lora_rank", 512, &layer->kv_lora_rank) ||
        !hf_dimension(config, "qk_nope_head_dim", 128, &layer->qk_nope_head_dim) ||
        !hf_dimension(config, "qk_rope_head_dim", 64, &layer->qk_rope_head_dim) ||
        !hf_dimension(config, "v_head_dim", 128, &layer->v_head_dim))
        return false;
    layer->kv_heads = layer->heads; /* every head has its own keys once they are projected up */
    layer->head_dim = layer->qk_nope_head_dim + layer->qk_rope_head_dim;
    layer->qk_norm_parameters = layer->q_lora_rank + layer->kv_lora_rank; /* a norm on each latent */
    return true;
}

typedef struct {
    int64_t experts, shared, dense_layers;
    bool router_bias;
} MixtureDefaults;

/* What leaves no layer with experts would make a dense model of a file that names them. */
static bool has_mixtures(const Config *config, const Model *model, int64_t dense_layers, int64_t every) {
    if (dense_layers >= model->layers)
        return hf_wrong(config, "first_k_dense_replace", "leaves none of %lld layers with experts",
                        (long long)model->layers);
    int64_t first = (dense_layers + every - 1) / every * every; /* the first multiple behind the dense ones */
    return first < model->layers ||
           hf_wrong(config, "moe_layer_freq", "leaves none of %lld layers with experts", (long long)model->layers);
}

/* Routing among groups of experts, of which the best few are chosen. */
static bool groups_divide(const Config *config, const LayerKind *layer) {
    int64_t groups, requested;
    if (!hf_dimension(config, "n_group", 1, &groups) || !hf_dimension(config, "topk_group", 1, &requested))
        return false;
    if (layer->experts % groups != 0)
        return hf_wrong(config, "n_group", "does not divide the %lld experts", (long long)layer->experts);
    return requested <= groups ||
           hf_wrong(config, "topk_group", "is more than n_group, which is %lld", (long long)groups);
}

static bool read_deepseek(const Config *config, MixtureDefaults defaults, Model *model) {
    LayerKind layer = {.router_bias = defaults.router_bias};
    LayerPattern pattern;
    int64_t dense_layers, every, shared;
    bool attention_bias;
    /* num_key_value_heads and head_dim mean nothing in these files; a head_dim of 1 keeps d_model / heads out. */
    if (!hf_decoder(config, (HfDefaults){.head_dim = 1}, model, &layer) || !read_latent_attention(config, &layer) ||
        !hf_flag(config, "attention_bias", false, &attention_bias) ||
        !hf_dimension(config, "intermediate_size", 0, &layer.d_ff) ||
        !hf_dimension(config, "n_routed_experts", defaults.experts, &layer.experts) ||
        !hf_number(config, "n_shared_experts", defaults.shared, &shared) ||
        !hf_dimension(config, "num_experts_per_tok", 0, &layer.top_k) ||
        !hf_dimension(config, "moe_intermediate_size", 0, &layer.d_ff_expert) ||
        !hf_number(config, "first_k_dense_replace", defaults.dense_layers, &dense_layers) ||
        !hf_dimension(config, "moe_layer_freq", 1, &every))
        return false;
    if (!has_mixtures(config, model, dense_layers, every) || !groups_divide(config, &layer)) return false;
    layer.qkv_bias = layer.out_bias = attention_bias;
    if (__builtin_mul_overflow(shared, layer.d_ff_expert, &layer.d_ff_shared))
        return hf_wrong(config, "n_shared_experts", "is too large");
    for (int64_t i = 0; i < model->layers; i++)
        pattern.marks[i] = i >= dense_layers && i % every == 0 ? LAYER_EXPERTS : 0;
    hf_kinds(model, &layer, &pattern);
    return true;
}

static bool read_deepseek_v2_type(const Config *config, Model *model) {
    return read_deepseek(config, (MixtureDefaults){.experts = 64, .shared = 2}, model);
}

/* The router carries a correction per expert that balances the load without a loss. */
static bool read_deepseek_v3_type(const Config *config, Model *model) {
    return read_deepseek(config, (MixtureDefaults){.experts = 256, .shared = 1, .dense_layers = 3, .router_bias = true},
                         model);
}

const ConfigReader DEEPSEEK_READER = {{
    {"deepseek_v2", "DeepseekV2ForCausalLM", read_deepseek_v2_type},
    {"deepseek_v3", "DeepseekV3ForCausalLM", read_deepseek_v3_type},
    {"kimi_k2", NULL, read_deepseek_v3_type},
}};
