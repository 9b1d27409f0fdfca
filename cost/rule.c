/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/rule.h"

#include "base/util.h"
#include "cost/bytes.h"
#include "cost/sums.h"

#include <math.h>

double bubble_factor(double stages, double microbatches, double virtual_stages) {
    double last = microbatches - stages * (ceil(microbatches / stages) - 1);
    return (1 + (virtual_stages - 1) * (stages - last) / (stages - 1)) / virtual_stages;
}

/* Gradients over data: once per step; ZeRO-2 cannot hold them whole, so it scatters them with every microbatch. Behind
 * the last, what Newton-Schulz wants whole of the shards that ZeRO left. */
static void data_traffic(const TrainingState *state, const Shard *shard, const Knobs *knobs, const Held *held,
                         StepRule *rule) {
    if (shard->data <= 1) return;
    double m = shard->microbatches, buckets = shard->layers;
    double reduced = state->gradient_bytes[m > 1 ? 1 : 0] * held->total;
    if (knobs->zero_stage == 0) {
        rule->data_end = (Traffic){2 * buckets, 2 * reduced};
        return;
    }
    rule->data_end = (Traffic){buckets, reduced};
    rule->data_start = (Traffic){buckets, state->parameter_bytes * held->total};
    if (knobs->zero_stage == 2) {
        rule->data_start.messages += (m - 1) * buckets;
        rule->data_start.bytes += (m - 1) * reduced;
    }
    if (!state->orthogonal) return;
    rule->data_end.messages += buckets;
    for (int part = 0; part < HELD_COUNT; part++)
        rule->data_end.bytes += state->part[part].gathered_bytes * held->of[part];
}

/* The update of what a chip owns: state streamed through HBM, and, where updates are made orthogonal, matmuls in bf16
 * whatever the precision of the model's. */
static double update_seconds(const Setting *setting, const Held *held, double ways) {
    const TrainingState *state = setting_state(setting);
    const Chip *chip = setting->chip;
    double bytes = 0, flops = 0, owned = held->total / ways;
    for (int part = 0; part < HELD_COUNT; part++) {
        bytes += state->part[part].update_bytes * held->of[part] / ways;
        flops += state->part[part].update_flops * held->of[part] / ways;
    }
    if (state->uniform) bytes = state->part[HELD_DENSE].update_bytes * owned;
    double seconds = bytes / (chip->hbm_bytes_per_second.value * setting->profile->hbm_efficiency);
    if (flops > 0)
        seconds += flops / (chip->bf16_flops_per_second.value * min_real(1, setting->profile->matrix_efficiency));
    return seconds;
}

/* Bytes of offloading, out and back added, that a second of the step has room for. In a pipeline forwards and backwards
 * take turns and both directions of the link are in use all the time: twice the rate. On one stage what leaves has to
 * do so in forward, a third of the step (HBM is short when backward begins), and comes back in the other two: 2/3 of
 * the rate, which is exact where forward just suffices and the safe side beyond. */
static double offload_rate(const Setting *setting, const Shard *shard) {
    if (!(setting->chip->host_bytes.value > 0)) return 0;
    double one_way = setting->chip->pcie_bytes_per_second.value * setting->profile->pcie_efficiency;
    return one_way * (shard->pipeline > 1 ? 2 : 2.0 / 3);
}

/* The share of each group's time that nothing hides, within the scale-up network and beyond it. */
static void exposed_shares(const Profile *profile, StepRule *out) {
    out->exposed[GROUP_TENSOR] = profile->tensor_exposed;
    out->exposed[GROUP_EXPERT] = profile->expert_exposed;
    out->exposed[GROUP_SEQUENCE] = out->ring ? profile->ring_attention_exposed : profile->sequence_exposed;
    out->exposed[GROUP_PIPELINE] = profile->pipeline_exposed;
    out->exposed[GROUP_WEIGHTS] = out->exposed[GROUP_EXPERT_WEIGHTS] = out->exposed[GROUP_TENSOR_WEIGHTS] =
        profile->fsdp_exposed;
    out->exposed[GROUP_DATA] = profile->data_exposed;
    for (int group = 0; group < GROUP_COUNT; group++) out->far_exposed[group] = out->exposed[group];
    out->far_exposed[GROUP_TENSOR] = 1;
    for (int group = GROUP_WEIGHTS; group <= GROUP_TENSOR_WEIGHTS; group++)
        out->far_exposed[group] = max_real(profile->fsdp_exposed, profile->data_exposed);
}

void rule_of_sums(const Setting *setting, const Shard *shard, const Knobs *knobs, const StageSums *sums,
                  StepRule *out) {
    const Profile *profile = setting->profile;
    Held held = held_of_sums(setting, shard, sums, false);
    StagePace pace = stage_pace(setting, shard, knobs);

    *out = (StepRule){
        .microbatches = shard->microbatches,
        .bubble_ratio = pace.bubble_ratio,
        .ring = knobs->context == CONTEXT_RING,
        .other_seconds = profile->step_seconds +
                         shard->microbatches * (profile->microbatch_seconds + pace.layers * profile->layer_seconds),
        .offload_bytes_per_second = offload_rate(setting, shard),
        .memory_limit_bytes = setting->chip->hbm_bytes.value * (1 - setting->hbm_reserve),
    };
    exposed_shares(profile, out);
    data_traffic(setting_state(setting), shard, knobs, &held, out);
    out->optimizer_seconds = update_seconds(setting, &held, knobs->zero_stage >= 1 ? shard->data : 1);
}

void step_rule(const Setting *setting, const Shard *shard, const Knobs *knobs, StepRule *out) {
    Sharding shardings[SHARDINGS_MAX];
    shardings_of(setting, shard, shardings);
    StageSums sums;
    stage_sums(setting, shard, knobs->context, &shardings[0], &sums);
    rule_of_sums(setting, shard, knobs, &sums, out);
}
