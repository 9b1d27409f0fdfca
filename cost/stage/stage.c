/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/stage/stage.h"

#include "base/util.h"
#include "cost/plan/bytes.h"
#include "cost/stage/stage_totals.h"

#include <string.h>

double stage_layer_weight(const CostContext *setting, int64_t seq) {
    const Profile *profile = setting->profile;
    const Model *model = setting->model;
    /* forward FLOPs of a token in the mean layer: of all ops, of experts, and of experts over their rate beside plain
     * matmuls */
    double active, all = layer_flops(model, seq, &active), experts = 0, slowed = 0;
    for (int i = 0; i < model->kind_count; i++) {
        const LayerKind *kind = &model->kinds[i];
        if (kind->experts == 0) continue;
        double width = (double)kind->top_k * (double)kind->d_ff_expert * (double)model->d_model;
        double flops = 2 * (kind->gated ? 3 : 2) * width * (double)kind->count / (double)model->layers;
        double biased = kind->expert_bias ? profile->biased_expert_efficiency : 1;
        experts += flops;
        slowed += flops / (profile->grouped_efficiency * profile->grouped_factor * biased);
    }
    double plain = profile->matrix_efficiency * profile->compute_factor; /* the rate of logits */
    double linear = (2 * active - experts + slowed) / (profile->linear_efficiency * profile->compute_factor);
    double flash = profile->attention_efficiency * profile->attention_factor;
    double attention = (all - 2 * active) * (1 + 2 / profile->attention_backward_rate) / 3 / flash;
    if (profile->unfused_attention > 0.5) attention = 2 * (all - 2 * active) / plain; /* whole squares */
    return (linear + attention) * plain / all;
}

StagePace stage_pace(const CostContext *setting, const Shard *shard) {
    const Model *model = setting->model;
    if (shard->pipeline <= 1) return (StagePace){shard->layers, 0, true, true};
    double layers = (double)model->layers;
    double layer = shard->layer_flops > 0 ? shard->layer_flops : layer_flops(model, (int64_t)shard->seq, NULL);
    layer *= work_layer_weight(&setting->work);
    double head = 2.0 * (double)model->vocab * (double)model->d_model;
    double first = shard->layers * layer, last = shard->layers_last * layer + head, total = layers * layer + head;
    double longest = max_real(first, last);
    StagePace pace = {.layers = last > first ? shard->layers_last : shard->layers,
                      .embedding = last <= first,
                      .logits = last > first};
    pace.others = max_real(0, (total - longest) / longest);
    return pace;
}

static void add_traffic(Resources *to, Group group, Phase phase, double messages, double bytes) {
    to->of[res_messages(group, phase)] += messages;
    to->of[res_bytes(group, phase)] += bytes;
}

/* fsdp gathers weights for forward, again for backward unless they are kept, and scatters their gradient. */
static void add_gathers(Resources *to, Group group, const TrainingState *state, const Knobs *knobs, double messages,
                        double weights) {
    double again = knobs->regather ? 1 : 0;
    add_traffic(to, group, PHASE_FORWARD, messages, state->parameter_bytes * weights);
    add_traffic(to, group, PHASE_BACKWARD, (again + 1) * messages,
                (again * state->parameter_bytes + state->scatter_bytes) * weights);
}

/* Newton-Schulz gathers the updates of a layer's matrices once a step: each microbatch counts its share of that. */
static void add_orthogonal(Resources *to, Group group, const Shard *shard, const PartState *state, double layers,
                           double weights) {
    if (!(state->gathered_bytes > 0)) return;
    add_traffic(to, group, PHASE_BACKWARD, layers / shard->microbatches,
                layers * state->gathered_bytes * weights / shard->microbatches);
}

/* The traffic of a part in one phase. The sums count weights that the layout gathers over tensor again for backward,
 * and their gradient scattered; where gathered weights are kept, only the gradient is sent. */
static Traffic traffic_of_part(const TrainingState *state, const Knobs *knobs, const PartSums *part, int group,
                               int phase) {
    Traffic traffic = part->traffic[group][phase];
    if (group == GROUP_TENSOR_WEIGHTS && phase == PHASE_BACKWARD && !knobs->regather) {
        traffic.messages /= 2;
        traffic.bytes *= state->scatter_bytes / (state->parameter_bytes + state->scatter_bytes);
    }
    return traffic;
}

static void add_sums(const TrainingState *state, const Knobs *knobs, const PartSums *part, double times,
                     Resources *to) {
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        to->of[RES_COMPUTE_FORWARD + phase] += times * part->compute[phase];
        to->of[RES_ATTENTION_FORWARD + phase] += times * part->attention[phase];
        for (int group = 0; group < GROUP_DATA; group++) {
            Traffic traffic = traffic_of_part(state, knobs, part, group, phase);
            add_traffic(to, group, phase, times * traffic.messages, times * traffic.bytes);
        }
    }
}

static void add_communication(const ShardedStage *stage, const StagePace *pace, const StageTotals *sums,
                              Resources *to) {
    const CostContext *setting = stage->setting;
    const Shard *shard = stage->shard;
    const Knobs *knobs = stage->knobs;
    const Sharding *sharding = stage->sharding;
    const TrainingState *state = cost_context_state(setting);
    if (shard_weight_ways(shard) > 1) {
        add_gathers(to, GROUP_WEIGHTS, state, knobs, pace->layers, pace->layers * sums->layer.dense_weights);
        if (pace->embedding) add_gathers(to, GROUP_WEIGHTS, state, knobs, 1, sums->embedding.dense_weights);
        bool own_table = pace->logits && !(setting->model->tied && pace->embedding);
        if (own_table) add_gathers(to, GROUP_WEIGHTS, state, knobs, 1, sums->logits.dense_weights);
        add_orthogonal(to, GROUP_WEIGHTS, shard, &state->part[HELD_DENSE], pace->layers, sums->layer.dense_weights);
    }
    if (shard_expert_ways(shard) > 1 && sums->layer.expert_weights > 0) {
        add_gathers(to, GROUP_EXPERT_WEIGHTS, state, knobs, pace->layers, pace->layers * sums->layer.expert_weights);
        add_orthogonal(to, GROUP_EXPERT_WEIGHTS, shard, &state->part[HELD_EXPERTS], pace->layers,
                       sums->layer.expert_weights);
    }
    if (shard->pipeline > 1) {
        double tokens = sharding->residual == RESIDUAL_SEQUENCE ? shard->tokens / shard->tensor : shard->tokens;
        double bytes = BF16_BYTES * tokens * (double)setting->model->d_model, chunks = (double)knobs->virtual_stages;
        for (int phase = 0; phase < PHASE_COUNT; phase++)
            add_traffic(to, GROUP_PIPELINE, phase, chunks, chunks * bytes);
    }
}

void resources_of_sums(const CostContext *setting, const Shard *shard, const Knobs *knobs, const Sharding *sharding,
                       const StageTotals *sums, Resources *out) {
    StagePace pace = stage_pace(setting, shard);
    memset(out, 0, sizeof(*out));
    const TrainingState *state = cost_context_state(setting);
    add_sums(state, knobs, &sums->layer, pace.layers, out);
    if (pace.embedding) add_sums(state, knobs, &sums->embedding, 1, out);
    if (pace.logits) add_sums(state, knobs, &sums->logits, 1, out);
    const ShardedStage stage = {setting, shard, knobs, sharding};
    add_communication(&stage, &pace, sums, out);

    double weights[MOMENT_COUNT], saved = saved_of_sums(sums);
    microbatches_in_flight(shard, knobs, weights);
    for (int moment = 0; moment < MOMENT_COUNT; moment++) {
        MemoryRows rows;
        rows_of_sums(&stage, sums, (Moment)moment, weights[moment] * shard->layers * saved, &rows);
        out->of[RES_MEMORY + moment] = memory_total(&rows);
    }
}

void stage_resources(const CostContext *setting, const Shard *shard, const Knobs *knobs, const Sharding *sharding,
                     Resources *out) {
    StageTotals sums;
    stage_sums(setting, shard, &knobs->methods, sharding, &sums);
    resources_of_sums(setting, shard, knobs, sharding, &sums, out);
}

void resources_add_state(const ActivationCost *cost, ActivationState state, double count,
                         const double weights[MOMENT_COUNT], Resources *resources) {
    if (state == STATE_SAVED) return;
    for (int moment = 0; moment < MOMENT_COUNT; moment++)
        resources->of[RES_MEMORY + moment] -= count * weights[moment] * cost->bytes;
    if (state == STATE_OFFLOADED) {
        resources->of[RES_OFFLOAD_BYTES] += 2 * count * cost->bytes;
        return;
    }
    resources->of[RES_COMPUTE_BACKWARD] += count * cost->recompute_seconds;
    for (int group = 0; group < GROUP_DATA; group++)
        add_traffic(resources, group, PHASE_BACKWARD, count * cost->recompute_messages[group],
                    count * cost->recompute_bytes[group]);
}
