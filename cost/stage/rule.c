/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/stage/stage.h"

#include "base/util.h"
#include "cost/plan/plan.h"
#include "cost/stage/stage_totals.h"
#include "mesh/host_link.h"

#include <math.h>

/* The time of the optimizer's update, once a step: on the chip, or, where its state lies on the
 * host, by whichever way the launcher has (cost/state/state.h). docs/model.md, "The optimizer". */

double weight_gradient_seconds(const CostContext *setting, const Shard *shard, double layers) {
    double active = shard->layer_active;
    if (!(active > 0)) layer_flops(setting->model, (int64_t)shard->seq, &active);
    double flops = 2 * shard->tokens * active / shard->tensor * layers;
    const Profile *profile = setting->profile;
    double grouped = profile->grouped_efficiency * profile->grouped_factor; /* this may exceed the plain rate */
    double rate = profile->linear_efficiency * profile->compute_factor * max_real(1, grouped);
    return flops / (setting->chip->bf16_flops_per_second.value * rate);
}

/* Bytes that the update of a chip's own parameters reads and writes, gradients as they are kept: accumulated or not. */
static double update_bytes_of(const CostContext *setting, bool accumulated, const LocalParameters *owned) {
    const TrainingState *state = cost_context_state(setting);
    double bytes = (cost_context_gradient_bytes(setting, accumulated) - state->gradient_bytes[1]) * owned->total;
    if (state->uniform) return bytes + state->part[HELD_DENSE].update_bytes * owned->total;
    for (int part = 0; part < HELD_COUNT; part++) bytes += state->part[part].update_bytes * owned->of[part];
    return bytes;
}

/* All state in HBM: it streams through the chip, and where updates are made orthogonal there are matmuls in bf16
 * whatever the precision of the model's. */
static double resident_seconds(const CostContext *setting, const Shard *shard, const Knobs *knobs,
                               const LocalParameters *owned) {
    const TrainingState *state = cost_context_state(setting);
    const Chip *chip = setting->chip;
    double cast = state->parameter_bytes - cost_context_copy_bytes(setting, knobs); /* a copy that is not written */
    double bytes = update_bytes_of(setting, shard->microbatches > 1, owned) - cast * owned->total;
    double seconds = bytes * setting->profile->optimizer_traffic /
                     (chip->hbm_bytes_per_second.value * setting->profile->hbm_efficiency);
    double flops = 0;
    for (int part = 0; part < HELD_COUNT; part++) flops += state->part[part].update_flops * owned->of[part];
    if (flops > 0)
        seconds += flops / (chip->bf16_flops_per_second.value * min_real(1, setting->profile->matrix_efficiency));
    return seconds;
}

/* The host's CPUs update a share of the state: gradients come down as they are kept, weights go up as the chip computes
 * with them. Clipping by the norm of all gradients keeps the CPUs waiting until the last gradient is there, so that the
 * copies of gradients alone hide, behind the backward of the last microbatch; that is counted from FLOPs alone, as no
 * more than it takes. The chip updates the rest of the state meanwhile or before. */
static double cpu_seconds(const CostContext *setting, const Shard *shard, const LocalParameters *owned, double share) {
    const TrainingState *state = cost_context_state(setting);
    const Profile *profile = setting->profile;
    double link = host_one_way_rate(setting->chip) * profile->pcie_efficiency;
    double memory = host_memory_rate(setting->chip) * profile->host_update_efficiency;
    double down = share * owned->total * cost_context_gradient_bytes(setting, shard->microbatches > 1) / link,
           up = share * owned->total * state->parameter_bytes / link,
           update = share * update_bytes_of(setting, true, owned) / memory;
    double backward = 2 * weight_gradient_seconds(setting, shard, shard->layers);
    return max_real(0, down - backward) + update + up;
}

/* Seconds of the update of the parameters that a chip owns. With state on the host it is never less than the same
 * update with state in HBM. */
static double update_seconds(const CostContext *setting, const Shard *shard, const Knobs *knobs,
                             const LocalParameters *owned) {
    double resident = resident_seconds(setting, shard, knobs, owned);
    double on_host = host_optimizer_bytes(setting, knobs, owned);
    if (!(on_host > 0)) return resident;
    if (setting->host_update == HOST_UPDATE_ON_CPU) {
        double share = on_host / optimizer_bytes_of(cost_context_state(setting), owned);
        return max_real(resident, (1 - share) * resident + cpu_seconds(setting, shard, owned, share));
    }
    /* The host's state comes in while the last layer's goes out; this follows the step's own offloading, so that the
     * link is never used twice. */
    return max_real(resident, 2 * on_host / (host_both_ways_rate(setting->chip) * setting->profile->pcie_efficiency));
}

/* Parameters of one chip that have the same replicas. */
typedef struct {
    double ways;             /* the replicas */
    double local;            /* the parameters */
    double orthogonal_bytes; /* that Newton-Schulz gathers of them */
} Replicated;

/* Before the first microbatch and after the last. */
typedef struct {
    Traffic start, end;
} DataTraffic;

/* Messages of a layer's all_reduce, in those of a pass round a ring. Where the steps of a far ring are slow NCCL takes
 * a tree for large buckets: up and down it are 2 log2 n steps where the ring has 2 (n - 1). Single tensors go round. */
static double all_reduce_messages(const Profile *profile, double ways) {
    if (profile->reduced_tensors > 1) return 2 * profile->reduced_tensors;
    return profile->ring_step_seconds > 0 ? 2 * min_real(1, log2(ways) / (ways - 1)) : 2;
}

/* Gradients of some parts over their replicas are reduced once per step; ZeRO-2 cannot hold them whole, so it scatters
 * them with every microbatch. After the last microbatch the tensors that Newton-Schulz needs whole are gathered from
 * the shards that ZeRO made. */
static DataTraffic data_traffic(const CostContext *setting, const Shard *shard, const Knobs *knobs, Replicated part) {
    const TrainingState *state = cost_context_state(setting);
    DataTraffic out = {0};
    if (part.ways <= 1 || part.local <= 0) return out;
    double m = shard->microbatches, buckets = shard->layers;
    double reduced = cost_context_gradient_bytes(setting, m > 1) * part.local;
    if (knobs->zero_stage == 0) {
        out.end = (Traffic){all_reduce_messages(setting->profile, part.ways) * buckets, 2 * reduced};
        return out;
    }
    out.end = (Traffic){buckets, reduced};
    /* What is gathered is the copy for compute; where there is none, the updated master. */
    bool late = setting->profile->gathers_after_update > 0.5;
    bool masters = late || (setting->profile->casts_master > 0.5 && setting->profile->whole_master > 0.5);
    double gathered =
        masters && state->dtypes.master != DTYPE_NONE ? dtype_bytes(state->dtypes.master) : state->parameter_bytes;
    Traffic gather = {buckets, gathered * part.local};
    if (late)
        out.end = (Traffic){out.end.messages + gather.messages, out.end.bytes + gather.bytes};
    else
        out.start = gather;
    if (knobs->zero_stage == 2) {
        out.start.messages += (m - 1) * buckets;
        out.start.bytes += (m - 1) * reduced;
    }
    if (!state->orthogonal) return out;
    out.end.messages += buckets;
    out.end.bytes += part.orthogonal_bytes;
    return out;
}

/* Experts of a folded grid have replicas of their own. */
static void gradient_traffic(const CostContext *setting, const Shard *shard, const Knobs *knobs,
                             const LocalParameters *local, StepRule *rule) {
    const TrainingState *state = cost_context_state(setting);
    double orthogonal[HELD_COUNT], dense = local->total, dense_orthogonal = 0;
    for (int part = 0; part < HELD_COUNT; part++) {
        orthogonal[part] = state->part[part].gathered_bytes * local->of[part];
        dense_orthogonal += orthogonal[part];
    }
    if (shard->grid_expert > 0) {
        Replicated experts = {shard->grid_data, local->of[HELD_EXPERTS], orthogonal[HELD_EXPERTS]};
        DataTraffic traffic = data_traffic(setting, shard, knobs, experts);
        rule->data_start[1] = traffic.start;
        rule->data_end[1] = traffic.end;
        dense = local->of[HELD_DENSE] + local->of[HELD_TABLES];
        dense_orthogonal -= orthogonal[HELD_EXPERTS];
    }
    Replicated others = {shard_data_ways(shard), dense, dense_orthogonal};
    DataTraffic traffic = data_traffic(setting, shard, knobs, others);
    rule->data_start[0] = traffic.start;
    rule->data_end[0] = traffic.end;
}

/* A stage of v chunks has finished a chunk's gradients while the next chunk still runs backward: all but the last
 * chunk's are reduced alongside the rest of the backward. (A circular pipeline is a compiler's loop, which sums the
 * gradients of all its chunks in one array and reduces them after it.) */
static void reduce_by_chunk(double chunks, StepRule *rule) {
    for (int group = 0; group < DATA_GROUPS; group++) {
        Traffic *start = &rule->data_start[group], *end = &rule->data_end[group];
        start->messages += end->messages * (1 - 1 / chunks);
        start->bytes += end->bytes * (1 - 1 / chunks);
        end->messages /= chunks;
        end->bytes /= chunks;
    }
}

static void set_bubble(const CostContext *setting, const Shard *shard, const Knobs *knobs, const StagePace *pace,
                       StepRule *out) {
    Bubble bubble =
        schedule_bubble(knobs->schedule, shard->pipeline, shard->microbatches, (double)knobs->virtual_stages);
    out->bubble[PHASE_FORWARD] = pace->others * bubble.forward;
    out->bubble[PHASE_BACKWARD] = pace->others * bubble.backward;
    if (bubble.weights > 0)
        out->bubble_saved_seconds =
            pace->others * bubble.weights * weight_gradient_seconds(setting, shard, pace->layers);
}

/* Bytes of offloaded activations, out and back added, that fit into a second of the step, whatever the schedule. */
static double offload_rate(const CostContext *setting) {
    if (!host_is_known(setting->chip) || !offload_takes_activations(setting->offload)) return 0;
    return host_offload_rate(setting->chip) * setting->profile->pcie_efficiency;
}

/* What is exposed of FSDP's traffic beyond the share of a few ranks: the more of them a group spans with the tensor and
 * sequence ranks alongside it, the longer it waits for the slowest, in a rack as among nodes of 8, which all runs that
 * say so have. By the roles alone, which are the same for all plans of a tuple of degrees. */
static double far_growth(const CostContext *setting, const Shard *shard) {
    enum { RANKS = 64 }; /* up to which the share is one: runs of 8 to 64 GPUs show no trend */
    double spanned = shard->fsdp * shard->tensor * shard->sequence;
    return shard->fsdp > 1 && spanned > RANKS ? setting->profile->fsdp_growth * log2(spanned / RANKS) : 0;
}

/* The share of each group's time that nothing hides, inside the scale-up network and outside it. */
static void exposed_shares(const CostContext *setting, const Shard *shard, const Knobs *knobs, StepRule *out) {
    const Profile *profile = setting->profile;
    double overlapped = min_real(profile->tensor_overlapped, profile->tensor_exposed);
    out->exposed[GROUP_TENSOR] = knobs->methods.tensor_overlap ? overlapped : profile->tensor_exposed;
    out->exposed[GROUP_EXPERT_TENSOR] = profile->tensor_exposed;
    /* DualPipe runs a forward alongside a backward: one communicates while the other computes. */
    out->exposed[GROUP_EXPERT] = knobs->schedule == SCHEDULE_DUALPIPE
                                     ? min_real(profile->expert_overlapped, profile->expert_exposed)
                                     : profile->expert_exposed;
    out->exposed[GROUP_ULYSSES] = profile->sequence_exposed;
    out->exposed[GROUP_SEQUENCE] = out->ring ? profile->ring_attention_exposed : profile->sequence_exposed;
    /* chunks of a stage have more transfers, and other chunks to work on meanwhile */
    out->exposed[GROUP_PIPELINE] = profile->pipeline_exposed *
                                   (knobs->schedule == SCHEDULE_INTERLEAVED && profile->pipeline_exposed < 1 ? 0.5 : 1);
    out->exposed[GROUP_WEIGHTS] = out->exposed[GROUP_EXPERT_WEIGHTS] = out->exposed[GROUP_TENSOR_WEIGHTS] =
        profile->fsdp_exposed;
    out->exposed[GROUP_DATA] = out->exposed[GROUP_EXPERT_DATA] = profile->data_exposed;
    for (int group = 0; group < GROUP_COUNT; group++) out->exposed_scale_out[group] = out->exposed[group];
    out->exposed_scale_out[GROUP_TENSOR] = out->exposed_scale_out[GROUP_EXPERT_TENSOR] = 1;
    for (int group = GROUP_WEIGHTS; group <= GROUP_TENSOR_WEIGHTS; group++)
        out->exposed_scale_out[group] = max_real(profile->fsdp_exposed, profile->data_exposed);
    double growth = far_growth(setting, shard);
    for (int group = GROUP_WEIGHTS; group <= GROUP_EXPERT_WEIGHTS; group++) {
        out->exposed[group] = min_real(1, out->exposed[group] + growth);
        out->exposed_scale_out[group] = min_real(1, out->exposed_scale_out[group] + growth);
    }
}

/* Parameters that live on the host come for each forward and, unless they are kept, for backward again. Nothing hides
 * them: a layer's copies and its gather follow each other, and QLoRA of 70B on two RTX 3090 (AnswerDotAI/fsdp_qlora,
 * 178 tokens/s) leaves no time in which they would. */
static double fetch_seconds(const CostContext *setting, const Shard *shard, const Knobs *knobs,
                            const StageTotals *sums) {
    const Tuning *tuning = cost_context_tuning(setting);
    if (!tuning || !tuning->on_host) return 0;
    LocalParameters local = local_parameters(setting, shard, knobs, sums, false);
    double width = cost_context_state(setting)->parameter_bytes, stored = cost_context_stored_bytes(setting);
    double bytes = stored * (local.of[HELD_DENSE] + local.of[HELD_EXPERTS]) + width * local.of[HELD_TABLES];
    double passes = cost_context_forwards(setting) + (knobs->regather ? 1 : 0);
    return shard->microbatches * passes * bytes /
           (host_one_way_rate(setting->chip) * setting->profile->pcie_efficiency);
}

void rule_once_of_sums(const CostContext *setting, const Shard *shard, const Knobs *knobs, const StageTotals *sums,
                       StepRule *out) {
    const Profile *profile = setting->profile;
    LocalParameters trained = trained_parameters(setting, shard, knobs, sums, false),
                    owned = owned_parameters(shard, knobs, &trained);
    double layers = stage_pace(setting, shard).layers;
    double ranks = knobs->zero_stage > 0 ? shard_data_ways(shard) * profile->rank_seconds : 0;
    for (int group = 0; group < DATA_GROUPS; group++) out->data_start[group] = out->data_end[group] = (Traffic){0, 0};
    out->other_seconds = profile->step_overhead_seconds + ranks +
                         shard->microbatches * (profile->microbatch_seconds + layers * fixed_layer_seconds(setting) +
                                                profile->sequence_seconds * (double)knobs->microbatch_sequences);
    out->other_seconds += fetch_seconds(setting, shard, knobs, sums);
    gradient_traffic(setting, shard, knobs, &trained, out);
    if (knobs->schedule == SCHEDULE_INTERLEAVED) reduce_by_chunk((double)knobs->virtual_stages, out);
    out->optimizer_seconds = update_seconds(setting, shard, knobs, &owned);
}

void rule_of_sums(const CostContext *setting, const Shard *shard, const Knobs *knobs, const StageTotals *sums,
                  StepRule *out) {
    StagePace pace = stage_pace(setting, shard);
    *out = (StepRule){
        .microbatches = shard->microbatches,
        .ring = context_is_ring(knobs->methods.context),
        .offload_bytes_per_second = offload_rate(setting),
        .host_exposed = setting->profile->host_exposed,
        .memory_limit_bytes = cost_context_memory_limit(setting),
    };
    exposed_shares(setting, shard, knobs, out);
    set_bubble(setting, shard, knobs, &pace, out);
    rule_once_of_sums(setting, shard, knobs, sums, out);
}

void step_rule(const CostContext *setting, const Shard *shard, const Knobs *knobs, StepRule *out) {
    Sharding shardings[SHARDINGS_MAX];
    shardings_of(setting, shard, shardings);
    StageTotals sums;
    stage_sums(setting, shard, &knobs->methods, &shardings[0], &sums);
    rule_of_sums(setting, shard, knobs, &sums, out);
}
