/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/serving/matrices.h"

#include "base/util.h"
#include "models/mixer.h"
#include "models/parameters.h"

#include <math.h>

bool model_has_experts(const Model *model) { return model_layers_with(model, true) > 0; }

double experts_touched(double share_of_expert, double tokens) {
    if (share_of_expert >= 1) return 1;
    return -expm1(tokens * log1p(-share_of_expert));
}

StoredType matrix_type(const Model *model, const WorkerLayout *layout, const ServingProfile *profile, bool expert,
                       bool quantised) {
    bool narrow = layout->weights == STORED_MXFP4 || layout->weights == STORED_NVFP4;
    if (!(profile->unquantised_bytes > 0)) return layout->weights;
    if (!quantised) return STORED_BF16;
    return narrow && !expert && model_has_experts(model) ? STORED_BF16 : layout->weights;
}

double head_parameters(const Model *model, const WorkerLayout *layout) {
    return (double)divide_up(model->vocab, layout->tensor) * (double)model->d_model;
}

static void add(WorkerMatrices *to, double parameters, bool of_group, bool quantised) {
    if (parameters > 0) to->list[to->count++] = (WorkerMatrix){parameters, of_group, quantised};
}

/* Heads of keys and values beyond their number are copied: a chip never has less than one. */
static void add_heads(const Model *model, const LayerKind *kind, int64_t tensor, WorkerMatrices *to) {
    double d = (double)model->d_model, h = (double)kind->head_dim;
    double heads = (double)kind->heads / (double)tensor;
    double kv_heads = (double)divide_up(kind->kv_heads, min_whole(tensor, kind->kv_heads));
    double v = kind->v_head_dim > 0 ? (double)kind->v_head_dim : h, gate = (double)kind->out_gate / (double)tensor;
    double keys = kind->kv_reused == KV_OF_OTHER ? 0 : kind->kv_reused == KV_OWN ? h + v : h;
    double rank = (double)kind->q_lora_rank, out = (double)kind->out_rank / (double)tensor;
    add(to, d * ((rank > 0 ? rank : heads * h) + kv_heads * keys + gate), false, true);
    add(to, rank * heads * h, false, true);
    if (out > 0) add(to, out * (double)kind->heads * v / (double)kind->out_groups, false, true);
    add(to, d * (out > 0 ? out : heads * v), false, true);
}

/* MLA: what leads into the latents has no heads and is copied; what leads out of them is cut by heads. */
static void add_latent(const Model *model, const LayerKind *kind, int64_t tensor, WorkerMatrices *to) {
    double d = (double)model->d_model, heads = (double)kind->heads / (double)tensor;
    double q = (double)(kind->qk_nope_head_dim + kind->qk_rope_head_dim), rank = (double)kind->kv_lora_rank;
    double into = d * (rank + (double)kind->qk_rope_head_dim);
    if (kind->q_lora_rank > 0) {
        add(to, into + d * (double)kind->q_lora_rank, false, true);
        add(to, (double)kind->q_lora_rank * heads * q, false, true);
    } else
        add(to, into + d * heads * q, false, true);
    add(to, rank * heads * (double)(kind->qk_nope_head_dim + kind->v_head_dim), false, true);
    add(to, d * (heads * (double)kind->v_head_dim + (double)kind->out_gate / (double)tensor), false, true);
}

static void add_mixer(const Model *model, const LayerKind *kind, int64_t tensor, WorkerMatrices *to) {
    MixerPart parts[MIXER_PARTS_MAX];
    for (int i = 0, count = kind->mixer->parts(model, kind, parts); i < count; i++) {
        double share = mixer_share(&parts[i], (double)tensor);
        if (parts[i].kind == MIXER_MATMUL)
            add(to, (double)parts[i].in * (double)parts[i].out * share, false, true);
        else if (parts[i].column == PART_LINEAR)
            to->other_parameters += (double)parts[i].parameters * share; /* norms are there already */
    }
}

/* An indexer and what is alongside attention and MLP are whole on every chip; cross attention is cut by heads. */
static void add_others(const Model *model, const LayerKind *kind, int64_t tensor, WorkerMatrices *to) {
    double d = (double)model->d_model, index = (double)(kind->index_heads * kind->index_head_dim), extra = 0;
    double rank = kind->q_lora_rank > 0 ? (double)kind->q_lora_rank : d, ways = (double)tensor;
    double width = kind->cross_width > 0 ? (double)kind->cross_width : d, cross = (double)kind->cross_head_dim / ways;
    if (index > 0) add(to, rank * index + d * (double)(kind->index_head_dim + kind->index_heads), false, true);
    add(to, 2 * d * (double)kind->cross_heads * cross, false, true);
    add(to, 2 * width * (double)kind->cross_kv_heads * cross, false, true);
    for (int part = 0; part < PART_COUNT; part++) {
        extra += (double)kind->extra.matrix[part];
        if (part != PART_NORMS && part != PART_BIASES) to->other_parameters += (double)kind->extra.vector[part];
    }
    add(to, extra, false, true);
}

/* A dense model spreads its MLPs over the whole group; alongside experts they are cut over tensor alone, and copied
 * for each group that attends. */
static void add_mlp(const Model *model, const LayerKind *kind, const WorkerLayout *layout, WorkerMatrices *to) {
    bool of_group = layout->attention_data > 1 && !model_has_experts(model);
    double ways = (double)(of_group ? worker_group(layout) : layout->tensor), d = (double)model->d_model;
    double width = (double)kind->d_ff / ways, shared = (double)kind->d_ff_shared / (double)layout->tensor;
    add(to, (kind->gated ? 2 : 1) * d * width, of_group, true);
    add(to, d * width, of_group, true);
    add(to, (kind->gated ? 2 : 1) * d * shared, false, true);
    add(to, d * shared, false, true);
}

/* LoRA behind attention's projections, the MLP's and a shared expert's. As vLLM cuts it by default: of a matmul whose
 * result is split the inner matrix is whole, of one whose operand is split the outer. Queries, keys and values are one
 * matmul, as are gate and up. */
static void add_adapter(const Model *model, const LayerKind *kind, const WorkerLayout *layout, WorkerMatrices *to) {
    double d = (double)model->d_model, ways = (double)layout->tensor, heads = (double)kind->heads / ways;
    double h = (double)kind->head_dim, v = kind->v_head_dim > 0 ? (double)kind->v_head_dim : h, width = 0;
    double rank = (double)kind->q_lora_rank, latent = (double)(kind->kv_lora_rank + kind->qk_rope_head_dim);
    if (kind->heads > 0 && kind->attention == ATTENTION_LATENT) {
        double q = heads * (double)(kind->qk_nope_head_dim + kind->qk_rope_head_dim);
        double up = (double)kind->kv_lora_rank + heads * ((double)kind->qk_nope_head_dim + v);
        width = d + latent + up + (rank > 0 ? d + rank + rank + q : d + q) + heads * v + d;
    } else if (kind->heads > 0) {
        double kv_heads = (double)divide_up(kind->kv_heads, min_whole(layout->tensor, kind->kv_heads));
        width = 3 * d + heads * h + kv_heads * (h + v) + heads * v + d;
    }
    to->adapter_matmuls = kind->heads > 0 ? 2 : 0;
    for (int shared = 0; shared < 2; shared++) {
        double f = (double)(shared ? kind->d_ff_shared : kind->d_ff) / ways;
        if (!(f > 0)) continue;
        width += (kind->gated ? 2 : 1) * (d + f) + f + d;
        to->adapter_matmuls += 2;
    }
    to->adapter_width = width;
}

void worker_matrices(const Model *model, const LayerKind *kind, const WorkerLayout *layout, WorkerMatrices *out) {
    Parameters all = layer_parameters(model, kind);
    *out = (WorkerMatrices){.other_parameters = (double)(all.norms + all.biases)};
    if (kind->heads > 0 && kind->attention == ATTENTION_LATENT)
        add_latent(model, kind, layout->tensor, out);
    else if (kind->heads > 0)
        add_heads(model, kind, layout->tensor, out);
    if (kind->mixer) add_mixer(model, kind, layout->tensor, out);
    add_others(model, kind, layout->tensor, out);
    add_mlp(model, kind, layout, out);
    add_adapter(model, kind, layout, out);
    if (kind->experts == 0) return;
    add(out, (double)all.router, false, false);
    out->experts =
        (double)divide_up(kind->experts, layout->expert); /* the fullest have copies where they do not divide */
    out->expert_width = (double)(kind->expert_width > 0 ? kind->expert_width : model->d_model);
    out->expert_parameters =
        (kind->gated ? 3 : 2) * out->expert_width * (double)kind->d_ff_expert / (double)layout->expert_tensor;
    out->expert_share = (double)kind->top_k / (double)kind->experts;
    out->expert_ranks = layout->expert;
}
