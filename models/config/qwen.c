/* SPDX-License-Identifier: GPL-3.0-or-later */
/* qwen2, qwen3 and their mixtures: one rule for windows, one for which layers are mixtures. */
#include "models/config/reader.h"

#include <math.h>

/* Unless use_sliding_window is set, sliding_window is a leftover that no layer obeys. */
static bool read_window(const Config *config, const Model *model, LayerKind *layer, LayerPattern *pattern) {
    bool used;
    int64_t full_layers;
    if (!hf_flag(config, "use_sliding_window", false, &used) ||
        !hf_number(config, "max_window_layers", 28, &full_layers) ||
        (used && !hf_dimension(config, "sliding_window", 4096, &layer->window)))
        return false;
    for (int64_t i = 0; i < model->layers; i++) pattern->marks[i] = i >= full_layers ? LAYER_WINDOW : 0;
    return hf_layer_types(config, model, layer, pattern);
}

/* A layer is a mixture unless mlp_only_layers names it or decoder_sparse_step skips it. */
static bool read_mixture_layers(const Config *config, const Model *model, LayerPattern *pattern) {
    int64_t step;
    if (!hf_dimension(config, "decoder_sparse_step", 1, &step)) return false;
    for (int64_t i = 0; i < model->layers; i++) pattern->marks[i] |= (i + 1) % step == 0 ? LAYER_EXPERTS : 0;
    const cJSON *dense = hf_at(config, "mlp_only_layers"), *layer;
    if (dense && !cJSON_IsArray(dense)) return hf_wrong(config, "mlp_only_layers", "should be a list of layer numbers");
    cJSON_ArrayForEach(layer, dense) {
        double i = cJSON_IsNumber(layer) ? layer->valuedouble : -1;
        if (!(i >= 0 && i < (double)model->layers && floor(i) == i))
            return hf_wrong(config, "mlp_only_layers", "should hold layer numbers from 0 to %lld",
                            (long long)model->layers - 1);
        pattern->marks[(int64_t)i] &= (unsigned char)~LAYER_EXPERTS;
    }
    return true;
}

/* intermediate_size is the width of the layers that are no mixtures; a file may leave it out where there are none. */
static bool read_dense_width(const Config *config, const Model *model, const LayerPattern *pattern, LayerKind *layer) {
    bool dense = false;
    for (int64_t i = 0; i < model->layers; i++) dense |= !(pattern->marks[i] & LAYER_EXPERTS);
    return hf_dimension(config, "intermediate_size", dense ? 0 : 1, &layer->d_ff);
}

static bool read_mixture(const Config *config, int64_t experts, int64_t top_k, LayerKind *layer) {
    return hf_dimension(config, "num_experts", experts, &layer->experts) &&
           hf_dimension(config, "num_experts_per_tok", top_k, &layer->top_k) &&
           hf_dimension(config, "moe_intermediate_size", 0, &layer->d_ff_expert);
}

/* Queries, keys and values have biases that no key speaks of; the output has none. */
static bool read_qwen2_type(const Config *config, Model *model) {
    LayerKind layer = {.qkv_bias = true};
    LayerPattern pattern;
    if (!hf_decoder(config, (HfDefaults){0}, model, &layer) ||
        !hf_dimension(config, "intermediate_size", 0, &layer.d_ff) || !read_window(config, model, &layer, &pattern))
        return false;
    hf_kinds(model, &layer, &pattern);
    return true;
}

/* The shared expert is weighed by a gate of its own, d_model -> 1. */
static bool read_qwen2_moe_type(const Config *config, Model *model) {
    LayerKind layer = {.shared_gate = true};
    LayerPattern pattern;
    if (!hf_decoder(config, (HfDefaults){0}, model, &layer) || !hf_flag(config, "qkv_bias", true, &layer.qkv_bias) ||
        !read_window(config, model, &layer, &pattern) || !read_mixture_layers(config, model, &pattern) ||
        !read_dense_width(config, model, &pattern, &layer) || !read_mixture(config, 60, 4, &layer) ||
        !hf_dimension(config, "shared_expert_intermediate_size", 0, &layer.d_ff_shared))
        return false;
    hf_kinds(model, &layer, &pattern);
    return true;
}

/* Each head's query and key go through a norm of head_dim, one for queries and one for keys. */
static bool read_qwen3(const Config *config, HfDefaults defaults, Model *model, LayerKind *layer) {
    bool attention_bias;
    if (!hf_decoder(config, defaults, model, layer) || !hf_flag(config, "attention_bias", false, &attention_bias))
        return false;
    layer->qkv_bias = layer->out_bias = attention_bias;
    layer->qk_norm_parameters = 2 * layer->head_dim;
    return true;
}

static bool read_qwen3_type(const Config *config, Model *model) {
    LayerKind layer = {0};
    LayerPattern pattern;
    if (!read_qwen3(config, (HfDefaults){.head_dim = 128}, model, &layer) ||
        !hf_dimension(config, "intermediate_size", 0, &layer.d_ff) || !read_window(config, model, &layer, &pattern))
        return false;
    hf_kinds(model, &layer, &pattern);
    return true;
}

static bool read_qwen3_moe_type(const Config *config, Model *model) {
    LayerKind layer = {0};
    LayerPattern pattern;
    if (!read_qwen3(config, (HfDefaults){.kv_heads = 4}, model, &layer) ||
        !read_window(config, model, &layer, &pattern) || !read_mixture_layers(config, model, &pattern) ||
        !read_dense_width(config, model, &pattern, &layer) || !read_mixture(config, 128, 8, &layer))
        return false;
    hf_kinds(model, &layer, &pattern);
    return true;
}

const ConfigReader QWEN_READER = {{
    {"qwen2", "Qwen2ForCausalLM", read_qwen2_type},
    {"qwen2_moe", "Qwen2MoeForCausalLM", read_qwen2_moe_type},
    {"qwen3", "Qwen3ForCausalLM", read_qwen3_type},
    {"qwen3_moe", "Qwen3MoeForCausalLM", read_qwen3_moe_type},
    {"qwen2_vl", "Qwen2VLForConditionalGeneration", read_qwen2_type},
    {"qwen2_vl_text", NULL, read_qwen2_type},
    {"qwen2_5_vl", "Qwen2_5_VLForConditionalGeneration", read_qwen2_type},
    {"qwen2_5_vl_text", NULL, read_qwen2_type},
    {"qwen3_vl", "Qwen3VLForConditionalGeneration", read_qwen3_type},
    {"qwen3_vl_text", NULL, read_qwen3_type},
    {"qwen3_vl_moe", "Qwen3VLMoeForConditionalGeneration", read_qwen3_moe_type},
    {"qwen3_vl_moe_text", NULL, read_qwen3_moe_type},
}};
