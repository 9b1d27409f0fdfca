/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/config/layer_fields.h"

#include "base/util.h"

const LayerWhole LAYER_WHOLES[] = {
    {"count", offsetof(LayerKind, count), LAYER_ALWAYS, 1, FIELD_REQUIRED, 1},
    {"heads", offsetof(LayerKind, heads), LAYER_ATTENTION, 1, FIELD_UNLESS_MIXER, FIELD_REQUIRED},
    {"kv_heads", offsetof(LayerKind, kv_heads), LAYER_ATTENTION, 1, 0, 0}, /* absent: as many as heads */
    {"head_dim", offsetof(LayerKind, head_dim), LAYER_ATTENTION, 1, 0, 0}, /* absent: d_model / heads */
    {"q_lora_rank", offsetof(LayerKind, q_lora_rank), LAYER_ATTENTION, 0, 0, 0},
    {"kv_lora_rank", offsetof(LayerKind, kv_lora_rank), LAYER_ATTENTION, 0, 0, 0}, /* above 0: latent attention */
    {"qk_nope_head_dim", offsetof(LayerKind, qk_nope_head_dim), LAYER_ATTENTION, 0, 0, 0},
    {"qk_rope_head_dim", offsetof(LayerKind, qk_rope_head_dim), LAYER_ATTENTION, 0, 0, 0},
    {"v_head_dim", offsetof(LayerKind, v_head_dim), LAYER_ATTENTION, 0, 0, 0},
    {"window", offsetof(LayerKind, window), LAYER_WINDOW_GROUP, 0, 0, 0},
    {"qk_norm_parameters", offsetof(LayerKind, qk_norm_parameters), LAYER_ATTENTION, 0, 0, 0},
    {"kv_reused", offsetof(LayerKind, kv_reused), LAYER_ATTENTION, 0, 0, 0},
    {"out_rank", offsetof(LayerKind, out_rank), LAYER_ATTENTION, 0, 0, 0},
    {"out_groups", offsetof(LayerKind, out_groups), LAYER_ATTENTION, 0, 0, 0},
    {"out_gate", offsetof(LayerKind, out_gate), LAYER_ATTENTION, 0, 0, 0},
    {"attention_width", offsetof(LayerKind, attention_width), LAYER_ATTENTION, 0, 0, 0},
    {"index_heads", offsetof(LayerKind, index_heads), LAYER_ATTENTION, 0, 0, 0},
    {"index_head_dim", offsetof(LayerKind, index_head_dim), LAYER_ATTENTION, 0, 0, 0},
    {"index_top_k", offsetof(LayerKind, index_top_k), LAYER_ATTENTION, 0, 0, 0},
    {"compress", offsetof(LayerKind, compress), LAYER_ATTENTION, 0, 0, 0},
    {"cross_heads", offsetof(LayerKind, cross_heads), LAYER_ALWAYS, 0, 0, 0},
    {"cross_kv_heads", offsetof(LayerKind, cross_kv_heads), LAYER_ALWAYS, 0, 0, 0},
    {"cross_head_dim", offsetof(LayerKind, cross_head_dim), LAYER_ALWAYS, 0, 0, 0},
    {"cross_width", offsetof(LayerKind, cross_width), LAYER_ALWAYS, 0, 0, 0},
    {"d_ff", offsetof(LayerKind, d_ff), LAYER_DENSE, 0, 0, FIELD_REQUIRED},
    {"experts", offsetof(LayerKind, experts), LAYER_MIXTURE, 0, 0, 0},
    {"top_k", offsetof(LayerKind, top_k), LAYER_EXPERTS, 0, 0, FIELD_REQUIRED},
    {"d_ff_expert", offsetof(LayerKind, d_ff_expert), LAYER_EXPERTS, 0, 0, FIELD_REQUIRED},
    {"d_ff_shared", offsetof(LayerKind, d_ff_shared), LAYER_EXPERTS, 0, 0, 0},
    {"expert_width", offsetof(LayerKind, expert_width), LAYER_EXPERTS, 0, 0, 0},
    {"null_experts", offsetof(LayerKind, null_experts), LAYER_EXPERTS, 0, 0, 0},
    {"norms", offsetof(LayerKind, norms), LAYER_ALWAYS, 0, 2, 2},
    {"copies", offsetof(LayerKind, copies), LAYER_ALWAYS, 0, 0, 0},
};
const int LAYER_WHOLE_COUNT = (int)COUNT_OF(LAYER_WHOLES);
_Static_assert(COUNT_OF(LAYER_WHOLES) <= LAYER_WHOLES_MAX, "family_layers.c has room for them");

const LayerFlag LAYER_FLAGS[] = {
    {"gated", offsetof(LayerKind, gated), LAYER_ALWAYS, true},
    {"chunked", offsetof(LayerKind, chunked), LAYER_WINDOW_GROUP, false},
    {"no_rope", offsetof(LayerKind, no_rope), LAYER_ATTENTION, false},
    {"qkv_bias", offsetof(LayerKind, qkv_bias), LAYER_ATTENTION, false},
    {"out_bias", offsetof(LayerKind, out_bias), LAYER_ATTENTION, false},
    {"sinks", offsetof(LayerKind, sinks), LAYER_ATTENTION, false},
    {"mlp_bias", offsetof(LayerKind, mlp_bias), LAYER_ALWAYS, false},
    {"shared_gate", offsetof(LayerKind, shared_gate), LAYER_EXPERTS, false},
    {"router_bias", offsetof(LayerKind, router_bias), LAYER_EXPERTS, false},
    {"expert_bias", offsetof(LayerKind, expert_bias), LAYER_EXPERTS, false},
    {"parallel_block", offsetof(LayerKind, parallel_block), LAYER_ALWAYS, false},
    {"encoder", offsetof(LayerKind, encoder), LAYER_ALWAYS, false},
};
const int LAYER_FLAG_COUNT = (int)COUNT_OF(LAYER_FLAGS);
_Static_assert(COUNT_OF(LAYER_FLAGS) <= LAYER_FLAGS_MAX, "family_layers.c has room for them");
