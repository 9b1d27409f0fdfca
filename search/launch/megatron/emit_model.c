/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Megatron's words for a model: the array MODEL of the script. */
#include "search/launch/megatron/megatron.h"

#include <inttypes.h>

/* Of the kinds of layers the first with experts, and the first without; NULL: there is none. */
static const LayerKind *kind_with(const Model *model, bool experts) {
    for (int i = 0; i < model->kind_count; i++)
        if ((model->kinds[i].experts > 0) == experts) return &model->kinds[i];
    return NULL;
}

static int64_t layers_without_window(const Model *model) {
    int64_t layers = 0;
    for (int i = 0; i < model->kind_count; i++) layers += model->kinds[i].window == 0 ? model->kinds[i].count : 0;
    return layers;
}

static int64_t widest_window(const Model *model) {
    int64_t window = 0;
    for (int i = 0; i < model->kind_count; i++)
        if (model->kinds[i].window > window) window = model->kinds[i].window;
    return window;
}

static bool biased(const Model *model) {
    for (int i = 0; i < model->kind_count; i++)
        if (model->kinds[i].out_bias || model->kinds[i].mlp_bias || model->kinds[i].expert_bias) return true;
    return false;
}

static bool alternates(const Model *model) { return model_layers_with(model, true) == model_layers_with(model, false); }

static void write_attention(const LayerKind *kind, FILE *out) {
    if (kind->attention == ATTENTION_LATENT) {
        fprintf(out, "    --multi-latent-attention\n");
        if (kind->q_lora_rank > 0) fprintf(out, "    --q-lora-rank %" PRId64 "\n", kind->q_lora_rank);
        fprintf(out,
                "    --kv-lora-rank %" PRId64 "\n    --qk-head-dim %" PRId64 "\n    --qk-pos-emb-head-dim %" PRId64
                "\n    --v-head-dim %" PRId64 "\n",
                kind->kv_lora_rank, kind->qk_nope_head_dim, kind->qk_rope_head_dim, kind->v_head_dim);
    } else {
        fprintf(out, "    --kv-channels %" PRId64 "\n", kind->head_dim);
        if (kind->kv_heads != kind->heads)
            fprintf(out, "    --group-query-attention\n    --num-query-groups %" PRId64 "\n", kind->kv_heads);
    }
    if (kind->qk_norm_parameters > 0 && kind->attention != ATTENTION_LATENT) fprintf(out, "    --qk-layernorm\n");
    if (kind->sinks) fprintf(out, "    --softmax-type learnable\n");
}

static void write_positions(const Model *model, FILE *out) {
    const char *type = model->positions == POSITIONS_ROTARY    ? "rope"
                       : model->positions == POSITIONS_LEARNED ? "learned_absolute"
                                                               : "none";
    fprintf(out, "    --position-embedding-type %s\n", type);
    if (model->positions != POSITIONS_ROTARY) return;
    if (model->rope.theta > 0) fprintf(out, "    --rotary-base %.0f\n", model->rope.theta);
    if (model->rope.share > 0 && model->rope.share < 1) fprintf(out, "    --rotary-percent %.9g\n", model->rope.share);
}

/* Windows everywhere, or everywhere but in every so many-th layer. */
static void write_windows(const Model *model, FILE *out) {
    int64_t window = widest_window(model), full = layers_without_window(model);
    if (window == 0) return;
    fprintf(out, "    --window-size %" PRId64 ",0\n", window - 1);
    if (full > 0) fprintf(out, "    --window-attn-skip-freq %" PRId64 "\n", (model->layers + full / 2) / full);
}

/* Which layers have experts: dense ones first (DeepSeek-V3, Kimi K2), or in turns where there are as many of each. */
static void write_experts(const LaunchJob *job, FILE *out) {
    const Model *model = job->model;
    const LayerKind *mixture = kind_with(model, true);
    int64_t dense = model_layers_with(model, false);
    if (!mixture) return;
    fprintf(out,
            "    --num-experts %" PRId64 "\n    --moe-router-topk %" PRId64 "\n    --moe-ffn-hidden-size %" PRId64 "\n"
            "    --moe-grouped-gemm\n    --moe-token-dispatcher-type alltoall\n",
            mixture->experts, mixture->top_k, mixture->d_ff_expert);
    if (mixture->top_k == 1) fprintf(out, "    --moe-router-pre-softmax\n");
    if (mixture->d_ff_shared > 0)
        fprintf(out, "    --moe-shared-expert-intermediate-size %" PRId64 "\n", mixture->d_ff_shared);
    if (dense > 0 && alternates(model))
        fprintf(out, "    --moe-layer-freq '([0,1]*%" PRId64 ")'\n", dense);
    else if (dense > 0)
        fprintf(out, "    --moe-layer-freq '([0]*%" PRId64 "+[1]*%" PRId64 ")'\n", dense, model->layers - dense);
    if (model->training.capacity_factor > 0)
        fprintf(out,
                "    --moe-router-load-balancing-type aux_loss\n    --moe-expert-capacity-factor %.9g\n"
                "    --moe-pad-expert-input-to-capacity\n",
                model->training.capacity_factor);
}

void megatron_write_model(const LaunchJob *job, FILE *out) {
    const Model *model = job->model;
    const LayerKind *kind = &model->kinds[0], *dense = kind_with(model, false);
    int64_t width = dense ? dense->d_ff : kind->d_ff_expert;
    bool bias = biased(model);
    fprintf(out,
            "\nMODEL=(\n    --num-layers %" PRId64 "\n    --hidden-size %" PRId64 "\n    --ffn-hidden-size %" PRId64
            "\n    --num-attention-heads %" PRId64 "\n",
            model->layers, model->d_model, width, kind->heads);
    write_attention(kind, out);
    write_positions(model, out);
    write_windows(model, out);
    fprintf(out,
            "    --max-position-embeddings %" PRId64 "\n    --normalization %s\n    --vocab-size %" PRId64
            " # of NullTokenizer, which adds one; others bring their own\n"
            "    --make-vocab-size-divisible-by %d\n",
            model->max_seq > job->ranked->work.seq ? model->max_seq : job->ranked->work.seq,
            model->norm == NORM_RMS ? "RMSNorm" : "LayerNorm", model->vocab - 1, MEGATRON_VOCAB_DIVISOR);
    if (kind->gated) fprintf(out, "    --swiglu\n");
    if (!bias) fprintf(out, "    --disable-bias-linear\n");
    if (!bias && kind->qkv_bias) fprintf(out, "    --add-qkv-bias\n");
    if (!model->tied) fprintf(out, "    --untie-embeddings-and-output-weights\n");
    write_experts(job, out);
    fprintf(out, "    --attention-dropout 0.0\n    --hidden-dropout 0.0\n)\n");
}

void megatron_note_model(const LaunchJob *job, EmitNotes *notes) {
    const Model *model = job->model;
    for (int i = 0; i < model->kind_count; i++)
        if (model->kinds[i].norms > 2) {
            emit_note(notes,
                      "Megatron has two norms in a layer where %s has %" PRId64 ": write them into the layer's spec",
                      model->name, model->kinds[i].norms);
            break;
        }
    for (int i = 0; i < model->kind_count; i++)
        if (model->kinds[i].chunked) {
            emit_note(notes, "attention in fixed chunks was costed; --window-size slides, at the same cost");
            break;
        }
    if (layers_without_window(model) > 0 && widest_window(model) > 0)
        emit_note(notes, "which layers attend without a window (--window-attn-skip-freq) is taken as evenly spaced");
    if (kind_with(model, true) && kind_with(model, false))
        emit_note(notes,
                  "layers with experts are taken %s (--moe-layer-freq); how the router scores and balances "
                  "is yours to say",
                  alternates(model) ? "in turns with dense ones" : "behind the dense ones");
}
