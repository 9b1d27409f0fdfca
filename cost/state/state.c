/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/state/state.h"

#include "base/util.h"
#include "models/mixer.h"
#include "models/parameters.h"

#include <stdio.h>
#include <string.h>

int layer_matrices(const Model *model, const LayerKind *kind, MatrixShape out[MATRICES_MAX]) {
    int64_t D = model->d_model, nope = kind->qk_nope_head_dim, rope = kind->qk_rope_head_dim;
    bool latent = kind->attention == ATTENTION_LATENT;
    int64_t query = kind->heads * (latent ? nope + rope : kind->head_dim), key = kind->kv_heads * kind->head_dim;
    int64_t head = latent || kind->v_head_dim > 0 ? kind->v_head_dim : kind->head_dim, ups = kind->gated ? 2 : 1;
    int64_t value = kind->heads * head, input = kind->attention_width > 0 ? kind->attention_width : D;
    bool own = kind->kv_reused == KV_OWN, alike = head == kind->head_dim; /* keys and values */
    if (kind->kv_reused == KV_OF_OTHER) key = 0;
    int64_t index = kind->index_heads * kind->index_head_dim, cross = kind->cross_heads * kind->cross_head_dim;
    int64_t wide = kind->expert_width > 0 ? kind->expert_width : D, others = 0;
    for (int part = 0; part < PART_COUNT; part++) others += kind->extra.matrix[part];
    const MatrixShape all[] = {
        {kind->q_lora_rank > 0 ? kind->q_lora_rank : input, query, 1, false},
        {latent ? D : input, kind->q_lora_rank, 1, false},
        {D, latent ? kind->kv_lora_rank + rope : 0, 1, false},
        {latent ? kind->kv_lora_rank : 0, kind->heads * (nope + kind->v_head_dim), 1, false},
        {input, latent ? 0 : key, alike && own ? 2 : 1, false},
        {input, latent || alike || !own ? 0 : kind->kv_heads * head, 1, false},
        {input, kind->out_gate, 1, false},
        {kind->out_rank > 0 ? value / kind->out_groups : value, kind->out_rank > 0 ? kind->out_rank : D, 1, false},
        {kind->out_rank, D, 1, false},
        {D, kind->d_ff, ups, false},
        {kind->d_ff, D, 1, false},
        {D, kind->d_ff_shared, ups, false},
        {kind->d_ff_shared, D, 1, false},
        {D, kind->experts + kind->null_experts, 1, false},
        {wide, kind->experts > 0 ? kind->d_ff_expert : 0, ups * kind->experts, true},
        {kind->d_ff_expert, wide, kind->experts, true},
        {kind->q_lora_rank > 0 ? kind->q_lora_rank : D, index, 1, false},
        {D, kind->index_heads > 0 ? kind->index_head_dim + kind->index_heads : 0, 1, false},
        {D, cross, 1, false},
        {kind->cross_width > 0 ? kind->cross_width : D, 2 * kind->cross_kv_heads * kind->cross_head_dim, 1, false},
        {cross, D, 1, false},
        {D, others / D, 1, false}, /* of any shape: as though they came from the stream */
    };
    _Static_assert(COUNT_OF(all) + MIXER_PARTS_MAX <= MATRICES_MAX, "matrices of a layer");
    int count = 0;
    for (size_t i = 0; i < COUNT_OF(all); i++)
        if (all[i].rows > 0 && all[i].columns > 0 && all[i].count > 0) out[count++] = all[i];
    MixerPart parts[MIXER_PARTS_MAX];
    for (int i = 0, some = kind->mixer ? kind->mixer->parts(model, kind, parts) : 0; i < some; i++)
        if (parts[i].kind == MIXER_MATMUL) out[count++] = (MatrixShape){parts[i].in, parts[i].out, 1, false};
    return count;
}

/* The numbers kept for one moment of a matrix of n x m, per element. */
static double kept(MomentForm form, double n, double m) {
    return form == MOMENT_NONE ? 0 : form == MOMENT_FULL ? 1 : (n + m) / (n * m);
}

/* Sums over the parameters of one part, to be divided by their number. */
typedef struct {
    double parameters, kept_bytes, flops, orthogonal;
} PartTotal;

static void add_block(const OptimizerRule *rule, const StateDtypes *dtypes, double n, double m, double count,
                      PartTotal *to) {
    double elements = n * m * count, small = min_real(n, m), large = max_real(n, m);
    to->parameters += elements;
    to->kept_bytes += elements * (dtype_bytes(dtypes->first) * kept(rule->first, n, m) +
                                  dtype_bytes(dtypes->second) * kept(rule->second, n, m));
    if (rule->newton_schulz_steps == 0) return;
    to->orthogonal += elements;
    to->flops += count * rule->newton_schulz_steps * (4 * small * small * large + 2 * small * small * small);
}

static void add_layers(const Model *model, const Optimizer *optimizer, const StateDtypes *dtypes,
                       PartTotal total[HELD_COUNT]) {
    for (int i = 0; i < model->kind_count; i++) {
        const LayerKind *kind = &model->kinds[i];
        Parameters layer = layer_parameters(model, kind);
        MatrixShape shapes[MATRICES_MAX];
        double layers = (double)kind->count, dense = 0, experts = 0;
        int count = layer_matrices(model, kind, shapes);
        for (int j = 0; j < count; j++) {
            HeldPart part = shapes[j].expert ? HELD_EXPERTS : HELD_DENSE;
            add_block(&optimizer->rule[PARAMETERS_MATRICES], dtypes, (double)shapes[j].rows, (double)shapes[j].columns,
                      layers * (double)shapes[j].count, &total[part]);
            *(part == HELD_EXPERTS ? &experts : &dense) +=
                (double)shapes[j].rows * (double)shapes[j].columns * (double)shapes[j].count;
        }
        /* The vectors of experts are a few in a million: they are counted with the others. */
        double vectors = max_real(0, (double)layer.total - dense - experts);
        add_block(&optimizer->rule[PARAMETERS_VECTORS], dtypes, 1, vectors, layers, &total[HELD_DENSE]);
    }
}

static PartState part_state(const PartTotal *total, const TrainingState *state) {
    double parameters = max_real(1, total->parameters), master = dtype_bytes(state->dtypes.master);
    PartState part = {
        .optimizer_bytes = master + total->kept_bytes / parameters,
        .update_flops = total->flops / parameters,
        .gathered_bytes = dtype_bytes(DTYPE_BF16) * total->orthogonal / parameters,
    };
    /* Without a master the update changes the copy for compute, which is then read as well. */
    part.update_bytes =
        2 * part.optimizer_bytes + state->gradient_bytes[1] + state->parameter_bytes * (master > 0 ? 1 : 2);
    return part;
}

static StateDtypes resolved(const StateDtypes *dtypes, const Optimizer *optimizer) {
    StateDtypes all = *dtypes;
    Dtype moments = optimizer->eight_bits ? DTYPE_FP8 : DTYPE_FP32;
    if (all.parameters == DTYPE_DEFAULT) all.parameters = DTYPE_BF16;
    if (all.first == DTYPE_DEFAULT) all.first = moments;
    if (all.second == DTYPE_DEFAULT) all.second = moments;
    if (all.master == DTYPE_DEFAULT) all.master = all.parameters == DTYPE_FP32 ? DTYPE_NONE : DTYPE_FP32;
    return all;
}

TrainingState training_state(const Model *model, const Optimizer *optimizer, const StateDtypes *given) {
    StateDtypes dtypes = resolved(given, optimizer);
    bool requested = dtypes.gradients != DTYPE_DEFAULT;
    TrainingState state = {
        .dtypes = dtypes,
        .said_bf16 = given->parameters == DTYPE_BF16,
        .parameter_bytes = dtype_bytes(dtypes.parameters),
        .gradient_bytes = {dtype_bytes(requested ? dtypes.gradients : DTYPE_BF16),
                           dtype_bytes(requested ? dtypes.gradients : DTYPE_FP32)},
        .scatter_bytes = dtype_bytes(requested ? dtypes.gradients : DTYPE_BF16),
    };
    snprintf(state.optimizer, sizeof state.optimizer, "%s", optimizer->title);
    PartTotal total[HELD_COUNT] = {{0, 0, 0, 0}};
    add_layers(model, optimizer, &dtypes, total);
    add_block(&optimizer->rule[PARAMETERS_TABLES], &dtypes, (double)(model->vocab + model->learned_positions),
              (double)model->d_model, 1, &total[HELD_TABLES]);
    for (int part = 0; part < HELD_COUNT; part++) {
        state.part[part] = part_state(&total[part], &state);
        state.orthogonal = state.orthogonal || total[part].orthogonal > 0;
        state.moments = state.moments || total[part].kept_bytes > 0;
    }
    if (!(total[HELD_EXPERTS].parameters > 0)) state.part[HELD_EXPERTS] = state.part[HELD_DENSE];
    state.uniform = memcmp(&state.part[HELD_DENSE], &state.part[HELD_EXPERTS], sizeof(PartState)) == 0 &&
                    memcmp(&state.part[HELD_DENSE], &state.part[HELD_TABLES], sizeof(PartState)) == 0;
    return state;
}

const TrainingState *training_state_default(void) {
    static const TrainingState STATE = {
        .optimizer = "AdamW",
        .dtypes = {DTYPE_BF16, DTYPE_DEFAULT, DTYPE_FP32, DTYPE_FP32, DTYPE_FP32},
        .parameter_bytes = 2,
        .gradient_bytes = {2, 4},
        .scatter_bytes = 2,
        .part = {{12, 30, 0, 0}, {12, 30, 0, 0}, {12, 30, 0, 0}},
        .uniform = true,
        .moments = true,
    };
    return &STATE;
}

const char *training_state_words(const TrainingState *state, char text[STATE_WORDS_SIZE]) {
    const StateDtypes *dtypes = &state->dtypes;
    char moments[64], gradients[64];
    snprintf(text, STATE_WORDS_SIZE,
             dtypes->parameters == DTYPE_BF16 ? "bf16 weights and activations" : "%s weights, bf16 activations",
             dtype_name(dtypes->parameters));
    if (!state->moments)
        snprintf(moments, sizeof moments, "%s without moments", state->optimizer);
    else if (dtypes->first == dtypes->second)
        snprintf(moments, sizeof moments, "%s %s moments", dtype_name(dtypes->first), state->optimizer);
    else
        snprintf(moments, sizeof moments, "%s first and %s second moments of %s", dtype_name(dtypes->first),
                 dtype_name(dtypes->second), state->optimizer);
    if (dtypes->gradients == DTYPE_DEFAULT)
        snprintf(gradients, sizeof gradients, "gradients fp32 when accumulated over microbatches, else bf16");
    else
        snprintf(gradients, sizeof gradients, "gradients %s", dtype_name(dtypes->gradients));
    size_t used = strlen(text);
    bool alike = state->moments && dtypes->master == dtypes->first && dtypes->first == dtypes->second;
    if (alike)
        snprintf(text + used, STATE_WORDS_SIZE - used, ", %s master weights and %s moments, %s",
                 dtype_name(dtypes->master), state->optimizer, gradients);
    else if (dtypes->master == DTYPE_NONE)
        snprintf(text + used, STATE_WORDS_SIZE - used, ", no master weights, %s, %s", moments, gradients);
    else
        snprintf(text + used, STATE_WORDS_SIZE - used, ", %s master weights, %s, %s", dtype_name(dtypes->master),
                 moments, gradients);
    return text;
}

const char *offload_name(Offload offload) {
    static const char *const NAMES[OFFLOAD_COUNT] = {"all", "activations", "optimizer", "none"};
    return NAMES[offload];
}

bool offload_parse(const char *text, const char *where, Offload *out, Error *error) {
    for (Offload offload = OFFLOAD_ALL; offload < OFFLOAD_COUNT; offload++)
        if (strcmp(text, offload_name(offload)) == 0) return *out = offload, true;
    return error_set(error, ERROR_INPUT, where, "\"%.40s\" is not none, optimizer, activations, all or auto", text);
}
