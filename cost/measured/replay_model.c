/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/measured/replay.h"

#include "base/util.h"
#include "models/mixer.h"

#include <math.h>
#include <stdio.h>

/* The kind of most layers, which the columns describe. */
static const LayerKind *main_kind(const Model *model) {
    const LayerKind *most = &model->kinds[0];
    for (int i = 1; i < model->kind_count; i++) {
        const LayerKind *kind = &model->kinds[i];
        bool mixture = kind->experts > 0 && most->experts == 0, same = (kind->experts > 0) == (most->experts > 0);
        if (mixture || (same && kind->count > most->count)) most = kind;
    }
    return most;
}

static bool agrees(int64_t column, int64_t value) { return column == 0 || column == value; }

/* Whether the columns that are given agree with the zoo's model. */
static bool is_model(const Run *run, const Model *model) {
    const LayerKind *kind = main_kind(model);
    bool latent = kind->attention == ATTENTION_LATENT;
    return run->layers > 0 && run->d_model > 0 && agrees(run->layers, model->layers) &&
           agrees(run->d_model, model->d_model) && (run->heads == 0 || kind->heads == run->heads) &&
           (latent || agrees(run->kv_heads, kind->kv_heads)) && agrees(run->experts, kind->experts) &&
           agrees(run->top_k, kind->top_k) && agrees(run->d_ff, kind->experts > 0 ? kind->d_ff_expert : kind->d_ff);
}

/* The zoo's model of a name, of a repository ("mistralai/Mistral-7B-v0.1"), or of a name and a size. */
static const Model *named_model(const Zoo *zoo, const Run *run) {
    char sized[64];
    const Model *found = zoo_find(zoo, run->model);
    if (!found) found = zoo_of_repository(zoo, run->model);
    if (found || !(run->params_b > 0)) return found;
    snprintf(sized, sizeof sized, "%.40s-%gb", run->model, run->params_b);
    return zoo_find(zoo, sized);
}

static const Model *find_model(const Zoo *zoo, const Run *run) {
    const Model *named = named_model(zoo, run);
    if (named && (is_model(run, named) || run->layers == 0 || run->d_model == 0)) return named;
    for (int i = 0; i < zoo->count; i++) { /* a row without a gate is a GPT's, which rotates nothing */
        PositionKind positions = zoo->models[i].positions;
        bool alike = run->gated || positions == POSITIONS_LEARNED || positions == POSITIONS_ALIBI;
        if (alike && is_model(run, &zoo->models[i])) return &zoo->models[i];
    }
    return NULL;
}

bool replay_model_read(Zoo *zoo, const Run *run, Error *error) {
    const Model *known = find_model(zoo, run);
    return !known || zoo_complete(&zoo->models[known - zoo->models], error);
}

/* The number of layers that a dense model's size implies with one table, among the numbers that divide its stages; 0
 * means not known. */
static int64_t layers_of_size(const Run *run) {
    if (!(run->params_b > 0) || run->experts > 0 || run->d_model <= 0 || run->d_ff <= 0) return 0;
    double d_model = (double)run->d_model, stages = (double)max_whole(1, run->pipeline);
    double layer = d_model * (4 * d_model + (run->gated ? 3 : 2) * (double)run->d_ff);
    double layers = (run->params_b * 1e9 - (double)run->vocab * d_model) / layer;
    return layers >= 1 && layers < 10000 ? max_whole(1, (int64_t)round(layers / stages)) * (int64_t)stages : 0;
}

/* "tied embeddings" of the notes. */
static bool says_untied(const Run *run) { return text_has(run->notes, "untied embeddings"); }
static bool says_tied(const Run *run) { return text_has(run->notes, "tied embeddings") && !says_untied(run); }

/* Layers for multi-token prediction, which the zoo leaves out and a run computes all the same: each is one more layer
 * of those with the experts (and of those with attention, where they have none), a join of two streams before it, and
 * the logits once more. One set of weights is used again for each of them (Megatron-Core, mtp_use_repeated_layer). */
static void add_mtp_layers(Model *model) {
    const LayerKind *feeding = main_kind(model), *attending = model_attending(model);
    int count = kind_mixes(feeding) ? 1 : 2;
    if (model->training.mtp_layers == 0 || model->kind_count + count > MODEL_KINDS_MAX) return;
    for (int i = 0; i < count; i++) {
        LayerKind *kind = &model->kinds[model->kind_count++];
        *kind = i == 0 ? *feeding : *attending;
        kind->count = model->training.mtp_layers;
        kind->copies = 1;
        if (i == 0) kind->extra.matrix[PART_MTP] = (2 * model->d_model + model->vocab) * model->d_model;
        model->layers += kind->count;
    }
}

bool replay_model(const Zoo *zoo, Replay *replay) {
    const Run *run = replay->run;
    const Model *known = find_model(zoo, run);
    Error error = {0};
    if (known) {
        replay->model = *known;
        if (run->vocab > 0) replay->model.vocab = run->vocab;
        add_mtp_layers(&replay->model);
        return true;
    }
    int64_t heads = run->heads;
    if (heads <= 0 && run->d_model > 0) {
        heads = max_whole(1, run->d_model / (run->d_model % 128 == 0 ? 128 : 96));
        replay_note(replay, true, "%lld heads assumed", (long long)heads);
    }
    int64_t layers = run->layers > 0 ? run->layers : layers_of_size(run);
    if (layers <= 0 || run->d_model <= 0 || run->d_ff <= 0)
        return replay_skip(replay, "its model has no dimensions in the table, and the zoo has no %.40s", run->model);
    if (run->layers <= 0) replay_note(replay, true, "%lld layers make its size", (long long)layers);
    Model model = {.layers = layers,
                   .d_model = run->d_model,
                   .vocab = run->vocab > 0 ? run->vocab : 51200,
                   .max_seq = run->seq,
                   .tied = says_tied(run) || (!run->gated && run->experts == 0 && !says_untied(run)),
                   .positions = run->gated ? POSITIONS_ROTARY : POSITIONS_LEARNED,
                   .learned_positions = run->gated ? 0 : run->seq,
                   .norm = run->gated ? NORM_RMS : NORM_LAYER,
                   .rope = {.theta = 10000, .type = "default", .factor = 1, .share = 1},
                   .kind_count = 1};
    snprintf(model.name, sizeof model.name, "%.*s", (int)sizeof model.name - 1, run->model);
    snprintf(model.family, sizeof model.family, "measured");
    snprintf(model.model_type, sizeof model.model_type, "shardopt");
    snprintf(model.source, sizeof model.source, "columns of the run");
    LayerKind *kind = &model.kinds[0];
    *kind = (LayerKind){.count = layers,
                        .attention = ATTENTION_HEADS,
                        .heads = heads,
                        .kv_heads = run->kv_heads > 0 ? run->kv_heads : heads,
                        .head_dim = run->head_dim > 0 ? run->head_dim : max_whole(1, run->d_model / heads),
                        .gated = run->gated,
                        .norms = 2};
    if (run->experts > 0) {
        kind->experts = run->experts;
        kind->top_k = run->top_k > 0 ? run->top_k : 1;
        kind->d_ff_expert = run->d_ff;
    } else {
        kind->d_ff = run->d_ff;
    }
    if (!run->gated) model.rope = (Rope){0};
    if (!model_validate(&model, "run", &error)) return replay_skip(replay, "its model: %.120s", error.text);
    replay->model = model;
    return true;
}
