/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/serving/memory.h"

#include "base/util.h"
#include "cost/serving/cache.h"

#include <math.h>

static double stage_share(const Model *model, const WorkerLayout *layout) {
    return (double)divide_up(model->layers, layout->pipeline) / (double)model->layers;
}

double worker_weights_bytes(const ServedModel *served, const WorkerLayout *layout) {
    const Model *model = served->model;
    const ServingProfile *profile = served->profile;
    double bytes = 0, expert = stored_bytes(matrix_type(model, layout, profile, true, true));
    double plain = stored_bytes(matrix_type(model, layout, profile, false, false));
    for (int i = 0; i < model->kind_count; i++) {
        WorkerMatrices matrices;
        worker_matrices(model, &model->kinds[i], layout, &matrices);
        double adapters = (double)(served->adapters.count * served->adapters.rank) * matrices.adapter_width;
        double layer =
            2 * adapters + matrices.experts * matrices.expert_parameters * expert + matrices.other_parameters * plain;
        for (int m = 0; m < matrices.count; m++)
            layer += matrices.list[m].parameters *
                     stored_bytes(matrix_type(model, layout, profile, false, matrices.list[m].quantised));
        bytes += layer * (double)model->kinds[i].count;
    }
    double others = 0; /* tables and matrices that are in no layer, and towers, split over tensor */
    for (int part = 0; part < PART_COUNT; part++)
        others += (double)(model->extra.matrix[part] + model->extra.vector[part]);
    for (int i = 0; i < model->tower_count; i++) others += (double)model->towers[i].parameters;
    double tables = layout->pipeline == 1 && !model->tied ? 2 : 1; /* embedding and head are on different stages */
    return bytes * stage_share(model, layout) + tables * head_parameters(model, layout) * plain +
           others / (double)layout->tensor * plain;
}

double worker_cache_bytes(const ServedModel *served, const WorkerLayout *layout, double tokens) {
    const Model *model = served->model;
    double bytes = 0, page = served->profile->page_tokens;
    for (int i = 0; i < model->kind_count; i++) {
        const LayerKind *kind = &model->kinds[i];
        double span = ceil(cache_span(kind, stored_bytes(layout->cache), tokens) / page) * page;
        double share = cache_share_of_chip(kind, layout->tensor, layout->kv_sequence);
        bytes += (double)kind->count * (span * share * cache_bytes_per_layer(kind, stored_bytes(layout->cache)) +
                                        (double)layout->kv_batch * state_bytes_per_layer(model, kind, layout->tensor));
    }
    return bytes * stage_share(model, layout);
}

/* One layer's inputs, residuals and widest hidden activation, for one token. */
static double activation_bytes(const Model *model, const WorkerLayout *layout) {
    double widest = 0, d = (double)model->d_model;
    for (int i = 0; i < model->kind_count; i++) {
        const LayerKind *kind = &model->kinds[i];
        double heads = (double)(kind->heads + 2 * kind->kv_heads) * (double)max_whole(kind->head_dim, kind->v_head_dim);
        double experts = (double)kind->top_k * (d + 2 * (double)kind->d_ff_expert / (double)layout->expert_tensor);
        double hidden = 2 * (double)(kind->d_ff + kind->d_ff_shared) / (double)layout->tensor;
        widest = max_real(widest, max_real(heads / (double)layout->tensor, hidden + experts));
    }
    return 2 * (4 * d + widest);
}

void memory_plan(const ServedModel *served, const WorkerLayout *layout, double tokens, MemoryPlan *out) {
    const ServingProfile *profile = served->profile;
    double share = profile->activations_share;
    *out = (MemoryPlan){
        .limit_bytes = served->device->hbm_bytes.value * profile->memory_fraction,
        .weights_bytes = worker_weights_bytes(served, layout),
        .workspace_bytes = profile->workspace_bytes,
        .sequence_bytes = worker_cache_bytes(served, layout, tokens),
        .token_bytes = share * activation_bytes(served->model, layout) / (double)layout->attention_data,
        .logits_bytes = share * 4 * (double)divide_up(served->model->vocab, layout->tensor),
        .ranks = layout->attention_data,
        .cuts = layout->kv_batch,
        .stages = layout->pipeline,
    };
}

void memory_of_load(const MemoryPlan *plan, double sequences, double step_tokens, WorkerMemory *out) {
    double own = ceil(ceil(sequences / (double)plan->ranks) / (double)plan->cuts);
    double ending = ceil(ceil(sequences / (double)plan->stages) / (double)plan->ranks);
    *out = (WorkerMemory){
        .limit_bytes = plan->limit_bytes,
        .weights_bytes = plan->weights_bytes,
        .kv_bytes = own * plan->sequence_bytes,
        .activations_bytes = step_tokens * plan->token_bytes + ending * plan->logits_bytes,
        .workspace_bytes = plan->workspace_bytes,
    };
}
