/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/util.h"
#include "cost/measured/replay.h"
#include "mesh/host_link.h"
#include "models/mixer.h"

#include <stdio.h>
#include <string.h>

/* ---- model ---- */

/* The kind of most layers, one with experts before all others. */
static const LayerKind *main_kind(const Model *model) {
    const LayerKind *most = &model->kinds[0];
    for (int i = 1; i < model->kind_count; i++) {
        const LayerKind *kind = &model->kinds[i];
        bool mixture = kind->experts > 0 && most->experts == 0, same = (kind->experts > 0) == (most->experts > 0);
        if (mixture || (same && kind->count > most->count)) most = kind;
    }
    return most;
}

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

bool replay_model_read(Zoo *zoo, const Run *run, Error *error) {
    const Model *known = zoo_find(zoo, run->request.model);
    return !known || zoo_complete(&zoo->models[known - zoo->models], error);
}

bool replay_model(const Zoo *zoo, Replay *replay) {
    const RunRequest *request = &replay->run->request;
    Error error = {0};
    if (request->model[0]) {
        const Model *known = zoo_find(zoo, request->model);
        if (!known) return replay_skip(replay, "the zoo has no %.60s", request->model);
        replay->model = *known;
        if (request->vocab > 0) replay->model.vocab = request->vocab;
        add_mtp_layers(&replay->model);
    } else if (!run_model(replay->run, &replay->model, &error)) {
        return replay_skip(replay, "its model: %.120s", error.text);
    }
    if (request->capacity_factor > 0) replay->model.training.capacity_factor = request->capacity_factor;
    for (int i = 0; i < replay->model.kind_count && request->document_tokens > 0; i++)
        if (replay->model.kinds[i].window == 0) replay->model.kinds[i].window = request->document_tokens;
    return true;
}

/* ---- plan ---- */

/* Offloaded bytes move alongside the step; where the catalog has no rate for that, they move for free. */
static void price_offload(Replay *replay) {
    if (host_is_known(&replay->chip)) return;
    replay->chip.pcie_bytes_per_second.value = 1e15;
    replay->chip.host_bytes.value = 1e15;
}

/* Writes the rows of a rule as a layout holds them. */
void replay_layout(Replay *replay) {
    Layout *layout = &replay->plan.layout;
    Degrees *degrees = &replay->plan.degrees;
    int64_t fullest = replay->model.layers, last = fullest, stages = degrees->of[ROLE_PIPELINE];
    bool along = degrees->of[ROLE_TENSOR] > 1 && replay->run->request.sequence_parallel;
    bool copies = false;
    for (int i = 0; i < replay->model.kind_count; i++)
        copies = copies ||
                 (replay->model.kinds[i].kv_heads > 0 && replay->model.kinds[i].kv_heads < degrees->of[ROLE_TENSOR]);
    layout->sharding = (Sharding){.residual = along ? RESIDUAL_SEQUENCE : RESIDUAL_REPLICATED,
                                  .mlp = MLP_TENSOR,
                                  .kv = copies ? KV_REPLICATED : KV_SPLIT,
                                  .embedding = TABLE_VOCABULARY,
                                  .logits = TABLE_VOCABULARY};
    if (stages > 1) layers_per_stage(&replay->model, &replay->work, stages, replay->plan.knobs.stages, &fullest, &last);
    for (int a = 0; a < ACTIVATION_COUNT; a++)
        remat_layers(&replay->run->request.remat, (Activation)a, fullest, layout->layers[a]);
}

/* Whether the numbers of a plan are those of some plan of this batch, model and machine: products stay small. */
static bool is_plausible(const Replay *replay) {
    const Run *run = replay->run;
    const Knobs *knobs = &run->knobs;
    const Methods *methods = &knobs->methods;
    int64_t devices = 1;
    for (Role role = 0; role < ROLE_COUNT && devices <= replay->mesh.devices; role++) devices *= run->degrees.of[role];
    return devices == replay->mesh.devices && knobs->microbatches <= run->request.sequences &&
           knobs->microbatch_sequences <= run->request.sequences && knobs->virtual_stages <= replay->model.layers &&
           methods->grid.expert <= devices && methods->grid.expert_tensor <= devices && methods->ulysses <= devices;
}

bool replay_plan(const Optimizer *optimizer, Replay *replay) {
    const Run *run = replay->run;
    if (!is_plausible(replay))
        return replay_skip(replay, "its plan does not multiply to its %lld devices, or is not of its batch and model",
                           (long long)replay->mesh.devices);
    replay->plan.degrees = run->degrees;
    replay->plan.knobs = run->knobs;
    replay->work = (Work){.sequences = run->request.sequences, .seq = run->request.seq};
    replay->precision = run->request.precision;
    if (!(precision_peak(&replay->chip, replay->precision) > 0))
        return replay_skip(replay, "%s has no figure of %s", replay->chip.name, precision_name(replay->precision));
    price_offload(replay);
    replay->state = training_state(&replay->model, optimizer, &run->request.state);
    replay->state.tuning = run->request.tuning;
    return true;
}

/* ---- kind ---- */

static RunKind dense_kind(const Degrees *degrees, bool full) {
    if (degrees->of[ROLE_PIPELINE] > 1)
        return degrees->of[ROLE_SEQUENCE] > 1 ? KIND_DENSE_PIPELINE_CONTEXT
               : full                         ? KIND_DENSE_PIPELINE_FULL
                                              : KIND_DENSE_PIPELINE;
    if (degrees->of[ROLE_TENSOR] > 1) return KIND_DENSE_TENSOR;
    if (degrees->of[ROLE_SEQUENCE] > 1) return KIND_DENSE_CONTEXT;
    if (degrees->of[ROLE_FSDP] > 1) return full ? KIND_DENSE_FSDP_FULL : KIND_DENSE_FSDP;
    return KIND_DENSE_REPLICATED;
}

RunKind replay_kind(const Replay *replay) {
    const Degrees *degrees = &replay->plan.degrees;
    RematRule full = {0};
    Error error = {0};
    bool recomputed = remat_parse("full", "", &full, &error) &&
                      memcmp(full.state, replay->run->request.remat.state, sizeof full.state) == 0;
    if (main_kind(&replay->model)->experts <= 1) return dense_kind(degrees, recomputed);
    if (!chip_has_domains(&replay->chip)) return KIND_MOE_TPU;
    return degrees->of[ROLE_PIPELINE] > 1 ? KIND_MOE_PIPELINE : KIND_MOE_FLAT;
}

const char *run_kind_name(RunKind kind) {
    static const char *const NAMES[KIND_COUNT] = {
        [KIND_DENSE_FSDP] = "dense FSDP",
        [KIND_DENSE_FSDP_FULL] = "dense FSDP, full recomputation",
        [KIND_DENSE_PIPELINE] = "dense pipeline",
        [KIND_DENSE_PIPELINE_FULL] = "dense pipeline, full recomputation",
        [KIND_DENSE_PIPELINE_CONTEXT] = "dense pipeline and context",
        [KIND_DENSE_CONTEXT] = "dense context",
        [KIND_DENSE_TENSOR] = "dense tensor",
        [KIND_DENSE_REPLICATED] = "dense, parameters replicated",
        [KIND_MOE_PIPELINE] = "MoE pipeline",
        [KIND_MOE_FLAT] = "MoE without pipeline",
        [KIND_MOE_TPU] = "MoE on TPU",
    };
    return NAMES[kind];
}
