/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/views/models_view.h"

#include "base/util.h"

#include <math.h>
#include <stddef.h>

const ModelsConvention MODELS_CONVENTION[MODELS_CONVENTIONS] = {
    {FLOPS_6N, "6n", "6 N, no attention"},
    {FLOPS_FULL_ATTENTION, "full_attention", "+ full attention"},
    {FLOPS_EAGER, "eager", "+ attention under masks"},
    {FLOPS_CAUSAL, "causal", "+ causal attention (MFU)"},
    {FLOPS_HARDWARE, "hardware", "+ full remat (hardware)"},
};

const ModelsPart MODELS_PART[MODELS_PARTS] = {
    {"attention", "attention", offsetof(Parameters, attention)},
    {"mlp", "MLP", offsetof(Parameters, mlp)},
    {"experts", "experts", offsetof(Parameters, experts)},
    {"router", "router", offsetof(Parameters, router)},
    {"embedding", "embedding", offsetof(Parameters, embedding)},
    {"unembedding", "unembedding", offsetof(Parameters, unembedding)},
    {"positions", "positions", offsetof(Parameters, positions)},
    {"norms", "norms", offsetof(Parameters, norms)},
    {"biases", "biases", offsetof(Parameters, biases)},
    {"indexer", "indexer", offsetof(Parameters, indexer)},
    {"cross_attention", "cross attention", offsetof(Parameters, cross_attention)},
    {"linear", "linear and state space", offsetof(Parameters, linear)},
    {"shared_experts", "shared experts", offsetof(Parameters, shared_experts)},
    {"ple", "per-layer embeddings", offsetof(Parameters, ple)},
    {"ngram", "n-gram embeddings", offsetof(Parameters, ngram)},
    {"hyper", "hyper-connections", offsetof(Parameters, hyper)},
    {"mtp", "multi-token prediction", offsetof(Parameters, mtp)},
    {"vision", "vision tower", offsetof(Parameters, vision)},
    {"audio", "audio tower", offsetof(Parameters, audio)},
    {"projector", "projector", offsetof(Parameters, projector)},
    {"other", "other", offsetof(Parameters, other)},
    {"language", "language model", offsetof(Parameters, language)},
    {"total", "total", offsetof(Parameters, total)},
    {"active", "active", offsetof(Parameters, active)},
    {"active_matmul", "active, no look-ups (N)", offsetof(Parameters, active_matmul)},
};

int64_t models_part(const Parameters *parameters, size_t part) {
    return *(const int64_t *)((const char *)parameters + MODELS_PART[part].offset);
}

bool models_part_is_rare(size_t part) {
    return MODELS_PART[part].offset >= offsetof(Parameters, indexer) &&
           MODELS_PART[part].offset < offsetof(Parameters, total);
}

const char *models_attention(const LayerKind *kind) {
    if (kind->heads == 0) return kind->mixer->name;
    if (kind->attention == ATTENTION_LATENT) return "mla";
    if (kind->kv_heads == kind->heads) return "mha";
    return kind->kv_heads == 1 ? "mqa" : "gqa";
}

const char *models_positions(const Model *model) {
    static const char *const WORDS[] = {[POSITIONS_ROTARY] = "rotary",
                                        [POSITIONS_LEARNED] = "learned",
                                        [POSITIONS_ALIBI] = "alibi",
                                        [POSITIONS_NONE] = "none"};
    return WORDS[model->positions];
}

const LayerKind *models_widest_mixture(const Model *model) {
    const LayerKind *widest = &model->kinds[0];
    for (int i = 1; i < model->kind_count; i++)
        if (model->kinds[i].experts > widest->experts) widest = &model->kinds[i];
    return widest;
}

int64_t models_window(const Model *model, int64_t *layers) {
    int64_t window = 0;
    *layers = 0;
    for (int i = 0; i < model->kind_count; i++) {
        const LayerKind *kind = &model->kinds[i];
        if (kind->window == 0) continue;
        window = window ? min_whole(window, kind->window) : kind->window;
        *layers += kind->count;
    }
    return window;
}

int64_t models_usual_seq(const Model *model) {
    return model->training.seq ? model->training.seq : min_whole(8192, model->max_seq);
}

double models_distance_percent(int64_t counted, int64_t published) {
    return published ? 100 * ((double)counted / (double)published - 1) : 0;
}

bool models_is_far(const Model *model) {
    Parameters p = model_parameters(model);
    return fabs(models_distance_percent(p.total, model->published_parameters)) > MODELS_NEAR_PERCENT ||
           fabs(models_distance_percent(p.active, model->published_active_parameters)) > MODELS_NEAR_PERCENT;
}
