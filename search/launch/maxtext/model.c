/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/launch/maxtext/maxtext.h"

#include "base/util.h"

#include <string.h>

/* configs/models of the release 0.2.5. Layers and width tell a file that only has the name. `muon`: types.py knows the
 * decoder block there. */
typedef struct {
    const char *ours, *theirs;
    int64_t layers, d_model;
    bool muon;
} MaxtextModel;

static const MaxtextModel MODELS[] = {
    {"deepseek-v2-lite", "deepseek2-16b", 27, 2048, true},
    {"deepseek-v2-236b", "deepseek2-236b", 60, 5120, true},
    {"deepseek-v3", "deepseek3-671b", 61, 7168, true},
    {"gemma-2b", "gemma-2b", 18, 2048, false},
    {"gemma-7b", "gemma-7b", 28, 3072, false},
    {"gemma2-2b", "gemma2-2b", 26, 2304, false},
    {"gemma2-9b", "gemma2-9b", 42, 3584, false},
    {"gemma2-27b", "gemma2-27b", 46, 4608, false},
    {"gemma3-4b", "gemma3-4b", 34, 2560, true},
    {"gemma3-12b", "gemma3-12b", 48, 3840, true},
    {"gemma3-27b", "gemma3-27b", 62, 5376, true},
    {"gpt-oss-20b", "gpt-oss-20b", 24, 2880, true},
    {"gpt-oss-120b", "gpt-oss-120b", 36, 2880, true},
    {"gpt3-175b", "gpt3-175b", 96, 12288, false},
    {"kimi-k2", "kimi-k2-1t", 61, 7168, true},
    {"llama2-7b", "llama2-7b", 32, 4096, true},
    {"llama2-13b", "llama2-13b", 40, 5120, true},
    {"llama2-70b", "llama2-70b", 80, 8192, true},
    {"llama3-8b", "llama3-8b", 32, 4096, true},
    {"llama3-70b", "llama3-70b", 80, 8192, true},
    {"llama3.1-8b", "llama3.1-8b", 32, 4096, true},
    {"llama3.1-70b", "llama3.1-70b", 80, 8192, true},
    {"llama3.1-405b", "llama3.1-405b", 126, 16384, true},
    {"llama3.3-70b", "llama3.3-70b", 80, 8192, true},
    {"llama4-scout-17b-16e", "llama4-17b-16e", 48, 5120, false},
    {"llama4-maverick-17b-128e", "llama4-17b-128e", 48, 5120, false},
    {"mistral-7b", "mistral-7b", 32, 4096, false},
    {"mixtral-8x7b", "mixtral-8x7b", 32, 4096, false},
    {"mixtral-8x22b", "mixtral-8x22b", 56, 6144, false},
    {"olmo3-32b", "olmo3-32b", 64, 5120, false},
    {"qwen2.5-1.5b", "qwen2.5-1.5b", 28, 1536, false},
    {"qwen2.5-7b", "qwen2.5-7b", 28, 3584, false},
    {"qwen2.5-14b", "qwen2.5-14b", 48, 5120, false},
    {"qwen3-0.6b", "qwen3-0.6b", 28, 1024, true},
    {"qwen3-1.7b", "qwen3-1.7b", 28, 2048, true},
    {"qwen3-4b", "qwen3-4b", 36, 2560, true},
    {"qwen3-8b", "qwen3-8b", 36, 4096, true},
    {"qwen3-14b", "qwen3-14b", 40, 5120, true},
    {"qwen3-32b", "qwen3-32b", 64, 5120, true},
    {"qwen3-30b-a3b", "qwen3-30b-a3b", 48, 2048, true},
    {"qwen3-235b-a22b", "qwen3-235b-a22b", 94, 4096, true},
    {"qwen3-coder-480b-a35b", "qwen3-480b-a35b", 62, 6144, true},
};

/* ---- keys that are both written and read ---- */

KEY_WORDS(STRATEGIES, {"all_gather", CONTEXT_ALL_GATHER}, {"ring", CONTEXT_RING}, {"ulysses", CONTEXT_ULYSSES},
          {"usp", CONTEXT_ULYSSES_RING});
const KeyWord MAXTEXT_DTYPES[] = {
    {"bfloat16", DTYPE_BF16}, {"float16", DTYPE_FP16}, {"float32", DTYPE_FP32}, {NULL, 0}};

const LaunchKey MAXTEXT_KEYS[] = {
    KEY_SIZE('m', "base_emb_dim", TERM_D_MODEL),
    KEY_SIZE('m', "base_num_decoder_layers", TERM_LAYERS),
    KEY_SIZE('m', "base_num_query_heads", TERM_HEADS),
    KEY_SIZE('m', "base_num_kv_heads", TERM_KV_HEADS),
    KEY_WRITTEN('m', "head_dim", TERM_HEAD_DIM),
    KEY_SIZE('m', "base_mlp_dim", TERM_D_FF),
    KEY_WRITTEN('e', "base_moe_mlp_dim", TERM_D_FF),
    KEY_SIZE('e', "num_experts", TERM_EXPERTS),
    KEY_WRITTEN('e', "num_experts_per_tok", TERM_TOP_K),
    KEY_SIZE('v', "vocab_size", TERM_VOCAB),
    KEY_SIZE('b', "max_target_length", TERM_SEQ),
    KEY_COUNT('g', "gradient_accumulation_steps", TERM_PASSES, 1),
    KEY_NUMBER('p', "num_pipeline_microbatches", TERM_MICROBATCHES, -1, 1 << 24, -1),
    KEY_NUMBER('p', "num_pipeline_repeats", TERM_VIRTUAL_STAGES, -1, 1 << 20, -1),
    KEY_COUNT('p', "num_layers_per_pipeline_stage", TERM_OF_STAGE, 1),
    KEY_NAME('n', "weight_dtype", TERM_WEIGHTS, DTYPE_DEFAULT, MAXTEXT_DTYPES),
    KEY_NAME('n', "grad_dtype", TERM_GRADIENTS, DTYPE_DEFAULT, MAXTEXT_DTYPES),
    KEY_NAME('n', "mu_dtype", TERM_MOMENTS, DTYPE_DEFAULT, MAXTEXT_DTYPES),
    KEY_FLAG('z', "shard_optimizer_over_data", TERM_ZERO),
    KEY_NAME('c', "context_parallel_strategy", TERM_CONTEXT, CONTEXT_ALL_GATHER, STRATEGIES),
    KEY_SWITCHED('c', "context_parallel_load_balance", TERM_BALANCED, true),
    KEY_FLAG('o', "optimizer_memory_host_offload", TERM_OFFLOAD),
    KEY_FLAG('o', "parameter_memory_host_offload", TERM_PARAMETERS_ON_HOST),
    {NULL},
};

/* ---- a model in its words ---- */

static const MaxtextModel *named(const Model *model) {
    for (size_t i = 0; i < COUNT_OF(MODELS); i++)
        if (strcmp(MODELS[i].ours, model->name) == 0 && MODELS[i].layers == model->layers &&
            MODELS[i].d_model == model->d_model)
            return &MODELS[i];
    return NULL;
}

/* Rotary positions stretched as Llama 3.1's, which costs nothing in a step. */
static bool rope_of_llama3(const Model *model) { return strcmp(model->rope.type, "llama3") == 0; }

/* The decoder_block of a layer that is Llama's, Mixtral's or, with biases of queries, keys and values, Qwen 2's: one
 * kind, RMSNorm, rotary positions, a gated MLP, no windows or latents. NULL: it is another. */
static const char *block_of(const Model *model) {
    const LayerKind *kind = &model->kinds[0];
    bool layers = model->kind_count == 1 && kind->attention == ATTENTION_HEADS && kind->window == 0 &&
                  !kind->out_bias && !kind->sinks && kind->qk_norm_parameters == 0 && kind->gated && !kind->mlp_bias &&
                  !kind->expert_bias && !kind->parallel_block && kind->norms == 2 && !kind->mixer &&
                  kind->index_top_k == 0;
    bool mixture = kind->experts > 0 && kind->d_ff == 0 && kind->d_ff_shared == 0 && !kind->qkv_bias;
    bool plain = layers && (kind->experts == 0 || mixture) && model->positions == POSITIONS_ROTARY &&
                 (strcmp(model->rope.type, "default") == 0 || model->rope.type[0] == '\0' || rope_of_llama3(model)) &&
                 model->rope.share == 1 && model->norm == NORM_RMS && !model->embedding_norm && !model->logits_bias;
    return !plain ? NULL : kind->experts > 0 ? "mixtral" : kind->qkv_bias ? "qwen2" : "llama2";
}

bool maxtext_has_model(const Model *model) { return named(model) || block_of(model); }

bool maxtext_has_muon(const Model *model) {
    const MaxtextModel *name = named(model);
    const char *block = block_of(model);
    return name ? name->muon : block && strcmp(block, "llama2") == 0;
}

void maxtext_write_model(const Model *model, FILE *out) {
    const MaxtextModel *name = named(model);
    const LayerKind *kind = &model->kinds[0];
    if (name) {
        fprintf(out, "model_name: \"%s\"\n", name->theirs);
        return;
    }
    fprintf(out,
            "model_name: \"default\"  # MaxText has no name for it: its sizes, with the layer of that block\n"
            "decoder_block: \"%s\"\n",
            block_of(model));
    if (kind->qkv_bias) fprintf(out, "attention_bias: true\n");
    LaunchTerms terms = model_terms(model);
    terms.of[TERM_HEAD_DIM] = kind->head_dim;
    terms.of[TERM_TOP_K] = kind->top_k;
    keys_write(MAXTEXT_KEYS, kind->experts > 0 ? "mev" : "mv", &terms, KEYS_YAML, out);
    fprintf(out, "logits_via_embedding: %s\n", model->tied ? "true" : "false");
    if (rope_of_llama3(model)) fprintf(out, "rope_type: llama3.1\n");
    if (model->rope.theta > 0) fprintf(out, "rope_max_timescale: %.17g\n", model->rope.theta);
}

const char *maxtext_model_ours(const char *model_name) {
    for (size_t i = 0; i < COUNT_OF(MODELS); i++)
        if (strcmp(MODELS[i].theirs, model_name) == 0) return MODELS[i].ours;
    return NULL;
}
