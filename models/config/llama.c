/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The decoders that keep llama's keys: llama, mistral, mixtral, phi3, olmo2, gemma. */
#include "models/config/reader.h"

/* The sizes that the classes of llama and mistral share. */
static HfDefaults nested_sizes(const Config *config, int64_t vocab, int64_t max_seq) {
    return (HfDefaults){.layers = hf_nested(config, 32),
                        .d_model = hf_nested(config, 4096),
                        .heads = hf_nested(config, 32),
                        .vocab = hf_nested(config, vocab),
                        .max_seq = hf_nested(config, max_seq)};
}

static bool read_llama_type(const Config *config, Model *model) {
    LayerKind layer = {0};
    bool attention_bias;
    if (!hf_decoder(config, nested_sizes(config, 32000, 2048), model, &layer) ||
        !hf_dimension(config, "intermediate_size", hf_nested(config, 11008), &layer.d_ff) ||
        !hf_flag(config, "attention_bias", false, &attention_bias) ||
        !hf_flag(config, "mlp_bias", false, &layer.mlp_bias))
        return false;
    layer.qkv_bias = layer.out_bias = attention_bias;
    hf_kinds(model, &layer, NULL);
    return true;
}

/* No biases; one window for all layers, unless layer_types says which. */
static bool read_mistral(const Config *config, HfDefaults defaults, int64_t window, Model *model) {
    LayerKind layer = {0};
    LayerPattern pattern;
    defaults.kv_heads = 8;
    if (!hf_decoder(config, defaults, model, &layer) ||
        !hf_dimension(config, "intermediate_size", hf_nested(config, 14336), &layer.d_ff) ||
        !hf_window(config, "sliding_window", window, &layer.window))
        return false;
    for (int64_t i = 0; i < model->layers; i++) pattern.marks[i] = LAYER_WINDOW;
    if (!hf_layer_types(config, model, &layer, &pattern)) return false;
    hf_kinds(model, &layer, &pattern);
    return true;
}

static bool read_mistral_type(const Config *config, Model *model) {
    return read_mistral(config, nested_sizes(config, 32000, 131072), 4096, model);
}

static bool read_ministral3_type(const Config *config, Model *model) {
    HfDefaults defaults = nested_sizes(config, 131072, 262144);
    defaults.layers = hf_nested(config, 34);
    defaults.head_dim = 128;
    defaults.rope.default_theta = 1e6;
    return read_mistral(config, defaults, 0, model);
}

/* Every layer is a mixture, and intermediate_size is the width of one expert. */
static bool read_mixtral_type(const Config *config, Model *model) {
    LayerKind layer = {0};
    if (!hf_decoder(config, (HfDefaults){.kv_heads = 8, .rope.default_theta = 1e6}, model, &layer) ||
        !hf_dimension(config, "intermediate_size", 0, &layer.d_ff_expert) ||
        !hf_dimension(config, "num_local_experts", 8, &layer.experts) ||
        !hf_dimension(config, "num_experts_per_tok", 2, &layer.top_k) ||
        !hf_window(config, "sliding_window", 0, &layer.window))
        return false;
    hf_kinds(model, &layer, NULL);
    return true;
}

/* qkv and gate_up are stored as one tensor each, which changes no count. */
static bool read_phi3_type(const Config *config, Model *model) {
    LayerKind layer = {0};
    if (!hf_decoder(config, (HfDefaults){0}, model, &layer) ||
        !hf_dimension(config, "intermediate_size", 0, &layer.d_ff) ||
        !hf_window(config, "sliding_window", 0, &layer.window))
        return false;
    hf_kinds(model, &layer, NULL);
    return true;
}

/* Queries and keys are normed over all heads at once; both norms of a layer stand behind their block. */
static bool read_olmo2_type(const Config *config, Model *model) {
    LayerKind layer = {0};
    bool attention_bias;
    if (!hf_decoder(config, (HfDefaults){0}, model, &layer) ||
        !hf_dimension(config, "intermediate_size", 0, &layer.d_ff) ||
        !hf_flag(config, "attention_bias", false, &attention_bias))
        return false;
    layer.qkv_bias = layer.out_bias = attention_bias;
    if (__builtin_mul_overflow(layer.heads + layer.kv_heads, layer.head_dim, &layer.qk_norm_parameters))
        return hf_wrong(config, "head_dim", "times the heads is too large; give smaller dimensions");
    hf_kinds(model, &layer, NULL);
    return true;
}

static bool read_gemma_type(const Config *config, Model *model) {
    LayerKind layer = {0};
    if (!hf_decoder(config, (HfDefaults){.head_dim = 256, .tied = true}, model, &layer) ||
        !hf_dimension(config, "intermediate_size", 0, &layer.d_ff))
        return false;
    hf_kinds(model, &layer, NULL);
    return true;
}

/* Norms before and behind each block; layers 0, 2, .. have the window. */
static bool read_gemma2_type(const Config *config, Model *model) {
    LayerKind layer = {0};
    LayerPattern pattern;
    if (!hf_decoder(config, (HfDefaults){.kv_heads = 4, .head_dim = 256, .tied = true}, model, &layer) ||
        !hf_dimension(config, "intermediate_size", 0, &layer.d_ff) ||
        !hf_dimension(config, "sliding_window", 4096, &layer.window))
        return false;
    layer.norms = 4;
    for (int64_t i = 0; i < model->layers; i++) pattern.marks[i] = i % 2 == 0 ? LAYER_WINDOW : 0;
    if (!hf_layer_types(config, model, &layer, &pattern)) return false;
    hf_kinds(model, &layer, &pattern);
    return true;
}

/* Five windows, then one full layer. Released wrappers leave out of text_config what the class has as its default. */
static bool read_gemma3_type(const Config *config, Model *model) {
    const HfDefaults defaults = {
        .layers = hf_nested(config, 26),
        .d_model = hf_nested(config, 2304),
        .heads = 8,
        .kv_heads = 4,
        .head_dim = 256,
        .vocab = 262208,
        .max_seq = 131072,
        .tied = true,
        .rope = {.default_theta = 1e6, .window_theta = "rope_local_base_freq", .default_window_theta = 1e4}};
    LayerKind layer = {0};
    LayerPattern pattern;
    int64_t full_every;
    if (!hf_decoder(config, defaults, model, &layer) ||
        !hf_dimension(config, "intermediate_size", hf_nested(config, 9216), &layer.d_ff) ||
        !hf_dimension(config, "sliding_window", 4096, &layer.window) ||
        !hf_dimension(config, "sliding_window_pattern", 6, &full_every))
        return false;
    layer.norms = 4;
    layer.qk_norm_parameters = 2 * layer.head_dim;
    for (int64_t i = 0; i < model->layers; i++) pattern.marks[i] = (i + 1) % full_every ? LAYER_WINDOW : 0;
    if (!hf_layer_types(config, model, &layer, &pattern)) return false;
    hf_kinds(model, &layer, &pattern);
    return true;
}

/* Nemotron-3 and -4: LayerNorm, squared ReLU instead of a gate, half of a head's width turned. */
static bool read_nemotron_type(const Config *config, Model *model) {
    LayerKind layer = {0};
    bool attention_bias;
    if (!hf_decoder(config, (HfDefaults){.rope.default_share = 0.5}, model, &layer) ||
        !hf_dimension(config, "intermediate_size", 0, &layer.d_ff) ||
        !hf_flag(config, "attention_bias", false, &attention_bias) ||
        !hf_flag(config, "mlp_bias", false, &layer.mlp_bias))
        return false;
    model->norm = NORM_LAYER;
    layer.gated = false;
    layer.qkv_bias = layer.out_bias = attention_bias;
    hf_kinds(model, &layer, NULL);
    return true;
}

const ConfigReader LLAMA_READER = {{
    {"llama", "LlamaForCausalLM", read_llama_type},
    {"mistral", "MistralForCausalLM", read_mistral_type},
    {"ministral", "MinistralForCausalLM", read_mistral_type},
    {"ministral3", "Ministral3ForCausalLM", read_ministral3_type},
    {"mixtral", "MixtralForCausalLM", read_mixtral_type},
    {"phi3", "Phi3ForCausalLM", read_phi3_type},
    {"olmo2", "Olmo2ForCausalLM", read_olmo2_type},
    {"gemma", "GemmaForCausalLM", read_gemma_type},
    {"gemma2", "Gemma2ForCausalLM", read_gemma2_type},
    {"gemma3_text", "Gemma3ForCausalLM", read_gemma3_type},
    {"gemma3", "Gemma3ForConditionalGeneration", read_gemma3_type},
    {"nemotron", "NemotronForCausalLM", read_nemotron_type},
    {"mistral3", "Mistral3ForConditionalGeneration", read_mistral_type},
    {"llava", "LlavaForConditionalGeneration", read_llama_type},
}};
