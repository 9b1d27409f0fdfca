/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dbrx, gpt_oss, llama4, glm4_moe, minimax_m2: mixtures that are no one's derivative. */
#include "models/config/reader.h"

#include <math.h>

/* Everything stands in two sub-objects, and every layer is a mixture. */
static bool read_dbrx_type(const Config *config, Model *model) {
    LayerKind layer = {.norms = 2, .gated = true};
    model->norm = NORM_LAYER_NO_BIAS;
    model->positions = POSITIONS_ROTARY;
    if (!hf_layer_count(config, "n_layers", &model->layers) || !hf_dimension(config, "d_model", 0, &model->d_model) ||
        !hf_dimension(config, "n_heads", 0, &layer.heads) || !hf_even_head_dim(config, model, &layer) ||
        !hf_dimension(config, "attn_config.kv_n_heads", 1, &layer.kv_heads) ||
        !hf_dimension(config, "ffn_config.ffn_hidden_size", 3584, &layer.d_ff_expert) ||
        !hf_dimension(config, "ffn_config.moe_num_experts", 4, &layer.experts) ||
        !hf_dimension(config, "ffn_config.moe_top_k", 1, &layer.top_k) ||
        !hf_dimension(config, "vocab_size", 32000, &model->vocab) ||
        !hf_dimension(config, "max_seq_len", 2048, &model->max_seq) || !hf_tied(config, false, &model->tied) ||
        !hf_rope(config, (HfRopeKeys){.theta = "attn_config.rope_theta"}, model))
        return false;
    if (model->tied) return hf_wrong(config, "tie_word_embeddings", "is true, which dbrx refuses; give false");
    hf_kinds(model, &layer, NULL);
    return true;
}

/* Biases everywhere, also of experts and router; a sink per head; every second layer, the first included, sees a window
 * alone. The number of experts per token has two names. */
static bool read_gpt_oss_type(const Config *config, Model *model) {
    const HfDefaults defaults = {
        .heads = 64, .kv_heads = 8, .head_dim = 64, .vocab = 201088, .max_seq = 131072, .rope.default_theta = 150000};
    LayerKind layer = {.sinks = true, .router_bias = true, .expert_bias = true};
    LayerPattern pattern;
    bool attention_bias;
    if (!hf_decoder(config, defaults, model, &layer) ||
        !hf_dimension(config, "intermediate_size", 0, &layer.d_ff_expert) ||
        !hf_dimension(config, "num_local_experts", 128, &layer.experts) ||
        !hf_dimension(config, hf_spelling(config, "num_experts_per_tok", "experts_per_token"), 4, &layer.top_k) ||
        !hf_dimension(config, "sliding_window", 128, &layer.window) ||
        !hf_flag(config, "attention_bias", true, &attention_bias))
        return false;
    layer.qkv_bias = layer.out_bias = attention_bias;
    for (int64_t i = 0; i < model->layers; i++)
        pattern.marks[i] = (unsigned char)(LAYER_EXPERTS | (i % 2 == 0 ? LAYER_WINDOW : 0));
    if (!hf_layer_types(config, model, &layer, &pattern)) return false;
    hf_kinds(model, &layer, &pattern);
    return true;
}

/* Which layers are mixtures: a list of their numbers, or the last of every `step`. */
static bool llama4_mixture_layers(const Config *config, const Model *model, LayerPattern *pattern) {
    const cJSON *list = hf_at(config, "moe_layers"), *item;
    int64_t step;
    if (!hf_dimension(config, "interleave_moe_layer_step", 1, &step)) return false;
    for (int64_t i = 0; i < model->layers && !list; i++) pattern->marks[i] |= (i + 1) % step == 0 ? LAYER_EXPERTS : 0;
    if (list && !cJSON_IsArray(list)) return hf_wrong(config, "moe_layers", "should be a list of layer numbers");
    cJSON_ArrayForEach(item, list) {
        double i = cJSON_IsNumber(item) ? item->valuedouble : -1;
        if (!(i >= 0 && i < (double)model->layers && floor(i) == i))
            return hf_wrong(config, "moe_layers", "should hold layer numbers from 0 to %lld",
                            (long long)model->layers - 1);
        pattern->marks[(int64_t)i] |= LAYER_EXPERTS;
    }
    return true;
}

/* Three rotary layers that see chunks, then one that turns nothing and sees all. Norms of queries and keys have no
 * weights; the shared expert is as wide as a routed one. */
static bool read_llama4_type(const Config *config, Model *model) {
    const HfDefaults defaults = {.layers = hf_nested(config, 48),
                                 .d_model = hf_nested(config, 5120),
                                 .heads = 40,
                                 .kv_heads = 8,
                                 .head_dim = 128,
                                 .vocab = 202048,
                                 .max_seq = 131072,
                                 .rope.default_theta = 500000};
    LayerKind layer = {.chunked = true};
    LayerPattern pattern;
    int64_t full_every;
    bool attention_bias;
    if (!hf_decoder(config, defaults, model, &layer) ||
        !hf_dimension(config, "intermediate_size", 8192, &layer.d_ff_expert) ||
        !hf_dimension(config, "intermediate_size_mlp", 16384, &layer.d_ff) ||
        !hf_dimension(config, "num_local_experts", 16, &layer.experts) ||
        !hf_dimension(config, "num_experts_per_tok", 1, &layer.top_k) ||
        !hf_flag(config, "attention_bias", false, &attention_bias) ||
        !hf_dimension(config, "no_rope_layer_interval", 4, &full_every) ||
        !hf_window(config, "attention_chunk_size", 8192, &layer.window))
        return false;
    layer.d_ff_shared = layer.d_ff_expert;
    layer.qkv_bias = layer.out_bias = attention_bias;
    for (int64_t i = 0; i < model->layers; i++) pattern.marks[i] = (i + 1) % full_every ? 0 : LAYER_NO_ROPE;
    if (!hf_no_rope_layers(config, model, &pattern)) return false;
    for (int64_t i = 0; i < model->layers; i++)
        if (!(pattern.marks[i] & LAYER_NO_ROPE)) pattern.marks[i] |= LAYER_WINDOW;
    if (!hf_layer_types(config, model, &layer, &pattern) || !llama4_mixture_layers(config, model, &pattern))
        return false;
    hf_kinds(model, &layer, &pattern);
    return true;
}

/* As deepseek_v3 routes, over heads as llama has them. attention_bias is of queries, keys and values alone. */
static bool read_glm4_moe_type(const Config *config, Model *model) {
    const HfDefaults defaults = {
        .heads = 96, .kv_heads = 8, .vocab = 151552, .max_seq = 131072, .rope.default_share = 0.5};
    LayerKind layer = {.router_bias = true};
    LayerPattern pattern;
    int64_t shared, dense_layers;
    bool qk_norm;
    if (!hf_decoder(config, defaults, model, &layer) || !hf_flag(config, "attention_bias", false, &layer.qkv_bias) ||
        !hf_flag(config, "use_qk_norm", false, &qk_norm) ||
        !hf_dimension(config, "intermediate_size", 0, &layer.d_ff) ||
        !hf_dimension(config, "moe_intermediate_size", 1408, &layer.d_ff_expert) ||
        !hf_dimension(config, "n_routed_experts", 128, &layer.experts) ||
        !hf_number(config, "n_shared_experts", 1, &shared) ||
        !hf_dimension(config, "num_experts_per_tok", 8, &layer.top_k) ||
        !hf_number(config, "first_k_dense_replace", 1, &dense_layers))
        return false;
    layer.qk_norm_parameters = qk_norm ? 2 * layer.head_dim : 0;
    if (__builtin_mul_overflow(shared, layer.d_ff_expert, &layer.d_ff_shared))
        return hf_wrong(config, "n_shared_experts", "is too large");
    if (dense_layers >= model->layers)
        return hf_wrong(config, "first_k_dense_replace", "leaves none of %lld layers with experts",
                        (long long)model->layers);
    for (int64_t i = 0; i < model->layers; i++) pattern.marks[i] = i >= dense_layers ? LAYER_EXPERTS : 0;
    hf_kinds(model, &layer, &pattern);
    return true;
}

/* One model of the family has layers of linear attention (attn_type_list 0), which no op here is. */
static bool minimax_attends(const Config *config) {
    const cJSON *list = hf_at(config, "attn_type_list"), *item;
    if (list && !cJSON_IsArray(list)) return hf_wrong(config, "attn_type_list", "should be a list of numbers");
    cJSON_ArrayForEach(item, list) {
        if (!cJSON_IsNumber(item) || item->valuedouble != 1)
            return hf_wrong(config, "attn_type_list", "should hold 1 alone: linear attention is not modelled");
    }
    return true;
}

/* Norms over all heads at once; the rotary part is a width, not a share. */
static bool read_minimax_m2_type(const Config *config, Model *model) {
    const HfDefaults defaults = {.kv_heads = 8, .rope.default_theta = 5e6};
    LayerKind layer = {0};
    int64_t turned;
    bool qk_norm;
    if (!minimax_attends(config) || !hf_decoder(config, defaults, model, &layer) ||
        !hf_dimension(config, "intermediate_size", 0, &layer.d_ff_expert) ||
        !hf_dimension(config, "num_local_experts", 256, &layer.experts) ||
        !hf_dimension(config, "num_experts_per_tok", 8, &layer.top_k) ||
        !hf_number(config, "shared_intermediate_size", 0, &layer.d_ff_shared) ||
        !hf_flag(config, "use_routing_bias", true, &layer.router_bias) ||
        !hf_flag(config, "use_qk_norm", true, &qk_norm) || !hf_dimension(config, "rotary_dim", layer.head_dim, &turned))
        return false;
    if (turned > layer.head_dim)
        return hf_wrong(config, "rotary_dim", "is %lld, more than a head's width of %lld", (long long)turned,
                        (long long)layer.head_dim);
    model->rope.share = (double)turned / (double)layer.head_dim;
    if (qk_norm && __builtin_mul_overflow(layer.heads + layer.kv_heads, layer.head_dim, &layer.qk_norm_parameters))
        return hf_wrong(config, "head_dim", "times the heads is too large; give smaller dimensions");
    hf_kinds(model, &layer, NULL);
    return true;
}

const ConfigReader MIXTURE_READER = {{
    {"dbrx", "DbrxForCausalLM", read_dbrx_type},
    {"gpt_oss", "GptOssForCausalLM", read_gpt_oss_type},
    {"llama4_text", "Llama4ForCausalLM", read_llama4_type},
    {"llama4", "Llama4ForConditionalGeneration", read_llama4_type},
    {"glm4_moe", "Glm4MoeForCausalLM", read_glm4_moe_type},
    {"minimax_m2", "MiniMaxM2ForCausalLM", read_minimax_m2_type},
    {"glm4v_moe", "Glm4vMoeForConditionalGeneration", read_glm4_moe_type},
    {"glm4v_moe_text", NULL, read_glm4_moe_type},
}};
