/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decoders that keep llama's keys and change one thing of its layer: internlm (biases), olmo3 (windows), smollm3 (some
 * layers are not rotary), cohere (one norm, blocks in parallel), starcoder2 and stablelm (LayerNorm). */
#include "models/config/reader.h"

/* Norms over all heads at once, as many weights as queries and keys have numbers. */
static bool norm_all_heads(const Config *config, LayerKind *layer) {
    if (__builtin_mul_overflow(layer->heads + layer->kv_heads, layer->head_dim, &layer->qk_norm_parameters))
        return hf_wrong(config, "head_dim", "times the heads is too large; give smaller dimensions");
    return true;
}

static bool read_internlm_type(const Config *config, Model *model) {
    LayerKind layer = {0};
    if (!hf_decoder(config, (HfDefaults){0}, model, &layer) ||
        !hf_dimension(config, "intermediate_size", 0, &layer.d_ff) || !hf_flag(config, "bias", true, &layer.qkv_bias))
        return false;
    layer.out_bias = layer.qkv_bias;
    hf_kinds(model, &layer, NULL);
    return true;
}

/* olmo2's layer; three windows, then one full layer. */
static bool read_olmo3_type(const Config *config, Model *model) {
    LayerKind layer = {0};
    LayerPattern pattern;
    bool attention_bias;
    if (!hf_decoder(config, (HfDefaults){.rope.default_theta = 5e5}, model, &layer) ||
        !hf_dimension(config, "intermediate_size", 0, &layer.d_ff) ||
        !hf_flag(config, "attention_bias", false, &attention_bias) ||
        !hf_window(config, "sliding_window", 4096, &layer.window) || !norm_all_heads(config, &layer))
        return false;
    layer.qkv_bias = layer.out_bias = attention_bias;
    for (int64_t i = 0; i < model->layers; i++) pattern.marks[i] = (i + 1) % 4 ? LAYER_WINDOW : 0;
    if (!hf_layer_types(config, model, &layer, &pattern)) return false;
    hf_kinds(model, &layer, &pattern);
    return true;
}

/* Three rotary layers, then one that turns nothing; a window, where one is used, is of the latter. */
static bool read_smollm3_type(const Config *config, Model *model) {
    const HfDefaults defaults = {.kv_heads = 4, .tied = true, .rope.default_theta = 2e6};
    LayerKind layer = {0};
    LayerPattern pattern;
    int64_t plain_every;
    bool attention_bias, windowed;
    if (!hf_decoder(config, defaults, model, &layer) || !hf_dimension(config, "intermediate_size", 0, &layer.d_ff) ||
        !hf_flag(config, "attention_bias", false, &attention_bias) ||
        !hf_flag(config, "mlp_bias", false, &layer.mlp_bias) ||
        !hf_flag(config, "use_sliding_window", false, &windowed) ||
        (windowed && !hf_window(config, "sliding_window", 0, &layer.window)) ||
        !hf_dimension(config, "no_rope_layer_interval", 4, &plain_every))
        return false;
    layer.qkv_bias = layer.out_bias = attention_bias;
    for (int64_t i = 0; i < model->layers; i++) pattern.marks[i] = (i + 1) % plain_every ? 0 : LAYER_NO_ROPE;
    if (!hf_no_rope_layers(config, model, &pattern)) return false;
    for (int64_t i = 0; i < model->layers; i++)
        if (pattern.marks[i] & LAYER_NO_ROPE) pattern.marks[i] |= LAYER_WINDOW;
    if (!hf_layer_types(config, model, &layer, &pattern)) return false;
    hf_kinds(model, &layer, &pattern);
    return true;
}

static bool read_cohere_type(const Config *config, Model *model) {
    LayerKind layer = {0};
    bool attention_bias, qk_norm;
    if (!hf_decoder(config, (HfDefaults){.tied = true, .rope.default_theta = 5e5}, model, &layer) ||
        !hf_dimension(config, "intermediate_size", 0, &layer.d_ff) ||
        !hf_flag(config, "attention_bias", false, &attention_bias) ||
        !hf_flag(config, "use_qk_norm", false, &qk_norm) || (qk_norm && !norm_all_heads(config, &layer)))
        return false;
    model->norm = NORM_LAYER_NO_BIAS;
    layer.norms = 1;
    layer.parallel_block = true;
    layer.qkv_bias = layer.out_bias = attention_bias;
    hf_kinds(model, &layer, NULL);
    return true;
}

static bool read_starcoder2_type(const Config *config, Model *model) {
    LayerKind layer = {0};
    bool biased;
    if (!hf_decoder(config, (HfDefaults){.kv_heads = 2, .tied = true}, model, &layer) ||
        !hf_dimension(config, "intermediate_size", 0, &layer.d_ff) || !hf_flag(config, "use_bias", true, &biased) ||
        !hf_window(config, "sliding_window", 0, &layer.window))
        return false;
    model->norm = NORM_LAYER;
    layer.gated = false;
    layer.qkv_bias = layer.out_bias = layer.mlp_bias = biased;
    hf_kinds(model, &layer, NULL);
    return true;
}

static bool read_stablelm_type(const Config *config, Model *model) {
    LayerKind layer = {0};
    bool qk_norm;
    if (!hf_decoder(config, (HfDefaults){.rope.default_share = 0.25}, model, &layer) ||
        !hf_dimension(config, "intermediate_size", 0, &layer.d_ff) ||
        !hf_flag(config, "use_qkv_bias", false, &layer.qkv_bias) ||
        !hf_flag(config, "use_parallel_residual", false, &layer.parallel_block) ||
        !hf_flag(config, "qk_layernorm", false, &qk_norm) || (qk_norm && !norm_all_heads(config, &layer)))
        return false;
    model->norm = NORM_LAYER;
    layer.norms = layer.parallel_block ? 1 : 2;
    hf_kinds(model, &layer, NULL);
    return true;
}

const ConfigReader VARIANTS_READER = {{
    {"internlm", "InternLMForCausalLM", read_internlm_type},
    {"olmo3", "Olmo3ForCausalLM", read_olmo3_type},
    {"smollm3", "SmolLM3ForCausalLM", read_smollm3_type},
    {"cohere", "CohereForCausalLM", read_cohere_type},
    {"starcoder2", "Starcoder2ForCausalLM", read_starcoder2_type},
    {"stablelm", "StableLmForCausalLM", read_stablelm_type},
}};
