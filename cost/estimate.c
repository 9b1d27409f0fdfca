/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/estimate.h"

#include "base/util.h"
#include "cost/played.h"

#include <assert.h>
#include <math.h>
#include <string.h>

const char *bound_name(BoundBy bound) {
    static const char *const NAMES[BOUND_COUNT] = {"compute", "hbm",  "ici",  "dcn",     "nvlink",
                                                   "network", "pcie", "host", "latency", "bubble"};
    return NAMES[bound];
}

static BoundBy bound_of_level(AxisLevel level) {
    switch (level) {
    case LEVEL_ICI:
        return BOUND_ICI;
    case LEVEL_NVLINK:
        return BOUND_NVLINK;
    case LEVEL_PCIE:
        return BOUND_PCIE;
    case LEVEL_NETWORK:
        return BOUND_NETWORK;
    default:
        return BOUND_DCN;
    }
}

static void add_parts(const CostContext *setting, const Op *ops, int count, double times, double microbatches,
                      Estimate *out) {
    for (int i = 0; i < count; i++) {
        EstimatePart *part = NULL;
        for (int j = 0; j < out->part_count && !part; j++)
            if (strcmp(out->parts[j].name, ops[i].name) == 0) part = &out->parts[j];
        if (!part) {
            assert(out->part_count < ESTIMATE_PARTS_MAX); /* the names of all ops together are fewer */
            part = &out->parts[out->part_count++];
            *part = (EstimatePart){.name = ops[i].name,
                                   .kind = ops[i].kind,
                                   .m = ops[i].m,
                                   .n = ops[i].n,
                                   .k = ops[i].k,
                                   .score_elements = ops[i].score_elements,
                                   .head_dim = ops[i].head_dim,
                                   .call_flops = ops[i].flops[PHASE_FORWARD],
                                   .runs_in_precision = ops[i].runs_in_precision};
        }
        double repeats = times * microbatches;
        bool bound[PHASE_COUNT];
        part->forward_seconds += cost_context_forwards(setting) * repeats *
                                 op_seconds(&ops[i], PHASE_FORWARD, setting->chip, setting->profile, &bound[0]);
        part->backward_seconds +=
            repeats * op_seconds(&ops[i], PHASE_BACKWARD, setting->chip, setting->profile, &bound[1]);
        part->memory_bound = bound[0];
        part->flops += repeats * (ops[i].flops[0] + ops[i].flops[1]);
        part->hbm_bytes += repeats * (ops[i].hbm_bytes[0] + ops[i].hbm_bytes[1]);
    }
}

/* Lists every op of the fullest stage. With several stages the embedding or the logits are there only where they set
 * the pace, as in the resources. */
static void list_parts(const CostContext *setting, const Plan *plan, Estimate *out) {
    Op ops[OPS_MAX];
    const Model *model = setting->model;
    const Sharding *sharding = &plan->layout.sharding;
    StagePace pace = stage_pace(setting, &out->shard);
    const LayerSoftware software = cost_context_software(setting);
    for (int i = 0; i < model->kind_count; i++) {
        double times = pace.layers * (double)model->kinds[i].count / (double)model->layers;
        int count = ops_of_layer_under(&(ShardedLayer){model, &model->kinds[i], &out->shard, sharding},
                                       &plan->knobs.methods, &software, ops);
        add_parts(setting, ops, count, times, out->shard.microbatches, out);
    }
    const Tuning *tuning = cost_context_tuning(setting);
    double microbatches = out->shard.microbatches;
    if (pace.embedding)
        add_parts(setting, ops, ops_of_embedding(model, &out->shard, sharding, tuning, ops), 1, microbatches, out);
    if (pace.logits)
        add_parts(setting, ops, ops_of_logits(model, &out->shard, sharding, tuning, ops), 1, microbatches, out);
    for (int i = 0; i < out->part_count; i++) {
        const EstimatePart *part = &out->parts[i];
        double seconds = part->forward_seconds + part->backward_seconds;
        if (part->kind == OP_ATTENTION || part->kind == OP_SCAN) /* what mixes tokens */
            out->attention_seconds += seconds;
        else if (part->kind == OP_MATMUL || part->kind == OP_GROUPED_MATMUL)
            out->matmul_seconds += seconds;
        else
            out->elementwise_seconds += seconds;
    }
    out->recompute_seconds = max_real(0, out->time.compute_seconds - out->attention_seconds - out->matmul_seconds -
                                             out->elementwise_seconds);
}

/* Latency dominates where messages, not bytes, make most of the busiest level's time. */
static bool latency_rules(const Estimate *estimate, const Mesh *mesh, AxisLevel level) {
    double messages = 0, whole = 0;
    for (int group = 0; group < GROUP_COUNT; group++) {
        unsigned on_level = 0;
        for (int axis = 0; axis < mesh->axis_count; axis++)
            if (mesh->axes[axis].level == level) on_level |= 1u << axis;
        if (!(estimate->rates.axes[group] & on_level) || estimate->time.group_seconds[group] <= 0) continue;
        double count = 0;
        if (group >= GROUP_DATA)
            count = estimate->rule.data_start[group - GROUP_DATA].messages +
                    estimate->rule.data_end[group - GROUP_DATA].messages;
        else
            for (int phase = 0; phase < PHASE_COUNT; phase++)
                count += estimate->rule.microbatches * estimate->resources.of[res_messages((Group)group, (Phase)phase)];
        messages += count * max_real(estimate->rates.cost[group].latency_seconds[0],
                                     estimate->rates.cost[group].latency_seconds[1]);
        whole += estimate->time.group_seconds[group];
    }
    return messages > whole / 2;
}

static void find_bound(const Mesh *mesh, bool offloads, Estimate *out) {
    double seconds[BOUND_COUNT] = {0};
    double memory_bound = 0;
    for (int i = 0; i < out->part_count; i++)
        if (out->parts[i].memory_bound) memory_bound += out->parts[i].forward_seconds + out->parts[i].backward_seconds;
    seconds[BOUND_COMPUTE] = out->time.compute_seconds - min_real(memory_bound, out->time.compute_seconds);
    seconds[BOUND_HBM] = memory_bound;
    seconds[BOUND_PCIE] = out->time.pcie_seconds + out->time.host_lane_seconds;
    /* State on the host streams over PCIe, or its CPUs update it, and the step waits for that. */
    seconds[!offloads ? BOUND_HBM : out->updates_on_cpu ? BOUND_HOST : BOUND_PCIE] += out->time.optimizer_seconds;
    seconds[BOUND_BUBBLE] = out->time.bubble_seconds;
    for (int axis = 0; axis < mesh->axis_count; axis++) {
        AxisLevel level = mesh->axes[axis].level;
        BoundBy bound = latency_rules(out, mesh, level) ? BOUND_LATENCY : bound_of_level(level);
        seconds[bound] = max_real(seconds[bound], out->time.axis_seconds[axis]);
    }
    out->bound_by = BOUND_COMPUTE;
    for (int i = 0; i < BOUND_COUNT; i++)
        if (seconds[i] > seconds[out->bound_by]) out->bound_by = (BoundBy)i;
    out->bound_next = out->bound_by == BOUND_COMPUTE ? BOUND_HBM : BOUND_COMPUTE;
    for (int i = 0; i < BOUND_COUNT; i++)
        if (i != (int)out->bound_by && seconds[i] > seconds[out->bound_next]) out->bound_next = (BoundBy)i;
    out->bound_next_share = seconds[out->bound_by] > 0 ? seconds[out->bound_next] / seconds[out->bound_by] : 0;
}

/* The bytes of activations that a layer of one microbatch keeps in HBM, over all layers of the fullest stage. */
static double kept_bytes(const CostContext *setting, const Shard *shard, const Plan *plan) {
    ActivationCost costs[ACTIVATION_COUNT];
    double kept = 0;
    stage_activations(setting, shard, &plan->knobs, &plan->layout.sharding, costs);
    for (int i = 0; i < ACTIVATION_COUNT; i++)
        if (costs[i].exists) kept += layout_kept_bytes(&costs[i], &plan->layout, (Activation)i);
    return kept;
}

double plan_memory(const CostContext *setting, const Shard *shard, const Plan *plan, Moment moment, MemoryRows *rows) {
    double weights[MOMENT_COUNT];
    microbatches_in_flight(setting, shard, &plan->knobs, weights);
    memory_rows(&(ShardedStage){setting, shard, &plan->knobs, &plan->layout.sharding}, moment,
                weights[moment] * kept_bytes(setting, shard, plan), rows);
    return memory_total(rows);
}

static void find_peak(const CostContext *setting, const Plan *plan, Estimate *out) {
    double most = -1, weights[MOMENT_COUNT], kept = kept_bytes(setting, &out->shard, plan);
    const ShardedStage stage = {setting, &out->shard, &plan->knobs, &plan->layout.sharding};
    microbatches_in_flight(setting, &out->shard, &plan->knobs, weights);
    for (int moment = 0; moment < MOMENT_COUNT; moment++) {
        MemoryRows rows;
        memory_rows(&stage, (Moment)moment, weights[moment] * kept, &rows);
        double total = memory_total(&rows);
        if (total <= most) continue;
        most = total;
        out->memory = rows;
        out->moment = (Moment)moment;
    }
    out->memory_limit_bytes = out->rule.memory_limit_bytes;
    out->reserve_bytes = setting->chip->hbm_bytes.value * setting->hbm_reserve;
}

void plan_resources(const CostContext *setting, const Shard *shard, const Plan *plan, Resources *out) {
    ActivationCost costs[ACTIVATION_COUNT];
    double weights[MOMENT_COUNT];
    stage_resources(setting, shard, &plan->knobs, &plan->layout.sharding, out);
    stage_activations(setting, shard, &plan->knobs, &plan->layout.sharding, costs);
    microbatches_in_flight(setting, shard, &plan->knobs, weights);
    for (int i = 0; i < ACTIVATION_COUNT; i++)
        for (int state = STATE_RECOMPUTED; state < STATE_COUNT; state++)
            if (costs[i].exists && plan->layout.layers[i][state] > 0)
                resources_add_state(&costs[i], (ActivationState)state, (double)plan->layout.layers[i][state], weights,
                                    out);
}

/* Rule, resources and time of a plan whose shard and rates are known, priced as one of its stages. */
static void estimate_stage(const CostContext *setting, const Plan *plan, Estimate *out) {
    step_rule(setting, &out->shard, &plan->knobs, &out->rule);
    plan_resources(setting, &out->shard, plan, &out->resources);
    step_time(&out->rule, &out->resources, &out->rates, &out->time);
}

/* Shard, rule, resources, rates and time of a plan, those of the stage that takes longest. False means that it cannot
 * be used under `padding`. */
static bool estimate_time(const CostContext *setting, const NestedMesh *nested_mesh, const Plan *plan,
                          PaddingRule padding, Estimate *out) {
    memset(out, 0, sizeof(*out));
    if (!shard_of_plan(setting->model, &setting->work, &plan->degrees, &plan->knobs, padding, &out->shard))
        return false;
    Mesh effective = profile_mesh(setting->profile, nested_mesh->mesh);
    NestedMesh effective_nested = {&effective, nested_mesh->nesting};
    rates_of_placement(&effective_nested, &plan->placement, &plan->knobs.methods, &out->rates);
    estimate_stage(setting, plan, out);
    Shard other;
    if (!stage_other_pace(setting, &out->shard, &other)) return true;
    Estimate by_other = *out;
    by_other.shard = other;
    estimate_stage(setting, plan, &by_other);
    if (by_other.time.seconds > out->time.seconds) *out = by_other;
    return true;
}

double estimate_seconds(const CostContext *setting, const NestedMesh *nested_mesh, const Plan *plan) {
    Estimate estimate;
    return estimate_time(setting, nested_mesh, plan, PADDING_ANY, &estimate) ? estimate.time.seconds : INFINITY;
}

/* What the played step is longer by than the formula's are waits of stages. */
static void play(const CostContext *setting, const Plan *plan, Estimate *out) {
    StepTime *time = &out->time;
    out->formula_seconds = time->seconds;
    out->played_seconds = out->shard.pipeline > 1
                              ? played_seconds(&(PlayedPlan){setting, &out->shard, plan, &out->rates})
                              : time->seconds;
    time->seconds = step_of_both(out->formula_seconds, out->played_seconds);
    double more = time->seconds - out->formula_seconds;
    time->bubble_seconds += more, time->lower_seconds += more, time->serial_seconds += more;
}

bool estimate_plan(const CostContext *setting, const NestedMesh *nested_mesh, const Plan *plan, PaddingRule padding,
                   Estimate *out, Error *error) {
    const Mesh *mesh = nested_mesh->mesh;
    if (!estimate_time(setting, nested_mesh, plan, padding, out))
        return error_set(error, ERROR_INPUT, "plan",
                         "these degrees do not divide the model and the batch; --padding any prices them padded");
    play(setting, plan, out);
    out->updates_on_cpu = plan->knobs.offload_optimizer && setting->host_update == HOST_UPDATE_ON_CPU;
    find_peak(setting, plan, out);
    list_parts(setting, plan, out);
    find_bound(mesh, plan->knobs.offload_optimizer, out);

    double tokens = (double)setting->work.sequences * (double)setting->work.seq, chips = (double)mesh->chips;
    double per_chip = tokens / chips / out->time.seconds;
    out->flops_per_token = model_flops_per_token(setting->model, FLOPS_CAUSAL, setting->work.seq);
    out->mfu = out->flops_per_token * per_chip / setting->precision_flops_per_second;
    out->mfu_full_attention = model_flops_per_token(setting->model, FLOPS_FULL_ATTENTION, setting->work.seq) *
                              per_chip / setting->precision_flops_per_second;
    out->tokens_per_second_per_chip = per_chip;
    return true;
}
