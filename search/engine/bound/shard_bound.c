/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/engine/bound/shard_bound.h"

#include "base/util.h"
#include "cost/time/slack.h"
#include "cost/time/step_terms.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static MergedTime merged_time(const StepRule *rule, const Resources *resources, const Rates *rates) {
    StepTerm compute_term = step_compute_term(rule);
    double of_compute[PHASE_COUNT], certain = 0, critical = 0;
    for (int phase = 0; phase < PHASE_COUNT; phase++) of_compute[phase] = step_compute_seconds(resources, phase);
    double compute = term_part_a(&compute_term, of_compute) + of_compute[1], longest = compute;
    for (int group = 0; group < GROUP_COUNT; group++) {
        StepTerm term = step_term(rule, group, rates->leaves_scale_up >> group & 1);
        double seconds[PHASE_COUNT];
        for (int phase = 0; phase < PHASE_COUNT; phase++) {
            Traffic traffic = step_traffic(rule, resources, group, phase);
            seconds[phase] = collective_seconds(rates->cost[group], traffic.messages, traffic.bytes);
        }
        double exposed = term_exposed_whole(&term, seconds, &resources->of[RES_ATTENTION_FORWARD]);
        certain += exposed;
        if (term.critical) critical += exposed;
        longest = max_real(longest, term.hidden * term_whole(&term, seconds));
    }
    return (MergedTime){.main = certain + longest, .passes = compute + critical};
}

double merged_seconds(const StepRule *rule, const Resources *resources, const Rates *rates, double bubble_share) {
    MergedTime time = merged_time(rule, resources, rates);
    return time.main + bubble_share * time.passes + rule->optimizer_seconds + rule->other_seconds;
}

double most_chunks(const CostContext *context, double stages) {
    double slots = stages == floor(stages) ? (double)slots_of_stage(context->model, (int64_t)stages) : 0;
    return max_real(max_real(1, slots), floor((double)context->model->layers / stages));
}

void relax_rule(const Bounds *bounds, const Shard *shard, double share, StepRule *rule) {
    const CostContext *context = bounds->context;
    const Profile *profile = context->profile;
    double others = stage_pace(context, shard).others;
    if (bounds->domain->overlaps)
        rule->exposed[GROUP_TENSOR] = min_real(rule->exposed[GROUP_TENSOR], profile->tensor_overlapped);
    if (shard->pipeline > 1)
        rule->exposed[GROUP_EXPERT] = min_real(rule->exposed[GROUP_EXPERT], profile->expert_overlapped);
    rule->bubble[PHASE_FORWARD] = rule->bubble[PHASE_BACKWARD] = others * share;
    rule->bubble_saved_seconds = 0;
    /* without ZeRO there is no gather at the start; its second pass at the end is not counted either */
    memset(rule->data_start, 0, sizeof(rule->data_start));
}

Knobs least_time(const Shard *shard, const Knobs *member) {
    Knobs knobs = *member;
    bool replicated = shard_data_ways(shard) > 1 || shard_expert_data_ways(shard) > 1;
    knobs.schedule = shard->pipeline > 1 ? SCHEDULE_1F1B : SCHEDULE_NONE;
    knobs.virtual_stages = 1;
    knobs.zero_stage = replicated ? 1 : 0;
    /* no choice where nothing is gathered */
    knobs.regather = shard_weight_ways(shard) <= 1 && shard_expert_ways(shard) <= 1;
    knobs.offload_optimizer = false;
    knobs.methods.tensor_overlap = false;
    return knobs;
}

int least_states(const Bounds *bounds, int zero_stage, LeastState states[LEAST_STATES_MAX]) {
    const Profile *profile = bounds->context->profile;
    bool offloads = bounds->domain->offloads, casts = profile->casts_master > 0.5;
    int count = 0;
    states[count++] = (LeastState){zero_stage > 0 ? 2 : 0, offloads};
    if (zero_stage == 0 || !casts) return count;
    states[count++] = (LeastState){0, offloads};
    /* a whole master in HBM may take less than the copy for compute that its absence requires */
    if (offloads && profile->whole_master > 0.5) states[count++] = (LeastState){2, false};
    return count;
}

void least_rule(const CostContext *context, const Shard *shard, const Knobs *knobs, const StageTotals *totals,
                StepRule *rule) {
    rule_of_sums(context, shard, knobs, totals, rule);
    /* what ZeRO takes for each rank is not there without it, nor the copy for compute that it may need */
    const Profile *profile = context->profile;
    if (profile->rank_seconds > 0 || profile->casts_master > 0.5 || profile->gathers_after_update > 0.5 ||
        profile->ring_step_seconds > 0) {
        StepRule plain;
        Knobs whole = *knobs;
        whole.zero_stage = 0;
        rule_once_of_sums(context, shard, &whole, totals, &plain);
        rule->other_seconds = min_real(rule->other_seconds, plain.other_seconds);
        rule->optimizer_seconds = min_real(rule->optimizer_seconds, plain.optimizer_seconds);
        for (int group = 0; group < DATA_GROUPS; group++) {
            Traffic *end = &rule->data_end[group];
            end->messages = min_real(end->messages, plain.data_end[group].messages);
            end->bytes = min_real(end->bytes, plain.data_end[group].bytes);
        }
    }
    if (shard->pipeline <= 1) return;
    StepRule two;
    Knobs other = *knobs;
    other.schedule = SCHEDULE_DUALPIPE;
    rule_once_of_sums(context, shard, &other, totals, &two);
    rule->optimizer_seconds = min_real(rule->optimizer_seconds, two.optimizer_seconds);
}

/* Idle seconds of a step alongside each second of a microbatch's passes, with at most `most` microbatches. */
static double idle_share(const CostContext *context, const Shard *shard, double most) {
    double stages = shard->pipeline;
    return stage_pace(context, shard).others *
           schedule_least_share(stages, most, most_chunks(context, stages), WEIGHT_GRADIENTS_MOST);
}

/* Rule and resources, but for memory, of a shard of least time with one choice of the MLP. */
static void least_inputs(const Bounds *bounds, const Shard *shard, const Knobs *knobs, const TotalsSlot *slot,
                         StepRule *rule, Resources *resources) {
    const CostContext *context = bounds->context;
    Sharding sharding = totals_sharding(slot);
    least_rule(context, shard, knobs, &slot->totals, rule);
    relax_rule(bounds, shard, 0, rule);
    moved_of_sums(context, shard, knobs, &sharding, &slot->totals, resources);
    totals_add_required(context, shard, slot, resources);
}

void shard_times(const Bounds *bounds, const Rates *least, const Shard *shard, const Knobs *member, ShardTimes *out) {
    Knobs knobs = least_time(shard, member);
    for (int mlp = MLP_TENSOR; mlp <= MLP_GATHERED; mlp++) {
        const TotalsSlot *slot = totals_cache_get(bounds, shard, &knobs.methods, (MlpChoice)mlp);
        StepRule rule;
        Resources resources;
        out->allowed[mlp] = slot->allowed;
        if (!slot->allowed) continue;
        least_inputs(bounds, shard, &knobs, slot, &rule, &resources);
        out->time[mlp] = merged_time(&rule, &resources, least);
        out->optimizer_seconds[mlp] = rule.optimizer_seconds;
        out->other_seconds[mlp] = rule.other_seconds;
    }
}

/* merged_seconds() of one choice of the MLP. */
static double times_seconds(const ShardTimes *times, int mlp, double share) {
    return times->time[mlp].main + share * times->time[mlp].passes + times->optimizer_seconds[mlp] +
           times->other_seconds[mlp];
}

double shard_bound(const Bounds *bounds, const Shard *shard, const ShardTimes *times, double most) {
    double best = INFINITY, share = idle_share(bounds->context, shard, most) / most;
    for (int mlp = MLP_TENSOR; mlp <= MLP_GATHERED; mlp++)
        if (times->allowed[mlp]) best = min_real(best, times_seconds(times, mlp, share));
    return best * SLACK;
}

double shard_bound_idle_beside(const Bounds *bounds, const Shard *small, const ShardTimes *times,
                               const ShardTimes *small_times, double most) {
    double best = INFINITY, share = idle_share(bounds->context, small, most);
    for (int mlp = MLP_TENSOR; mlp <= MLP_GATHERED; mlp++) {
        if (!times->allowed[mlp]) continue;
        assert(small_times->allowed[mlp]); /* sequences decide nothing about shardings */
        best = min_real(best, times_seconds(times, mlp, 0) + share * small_times->time[mlp].passes);
    }
    return best * SLACK;
}

double least_memory(const CostContext *context, const Shard *shard, const Knobs *knobs, const Sharding *sharding,
                    const StageTotals *totals) {
    double worst = 0, kept = totals_kept_bytes(context, shard, totals), weights[MOMENT_COUNT];
    microbatches_in_flight(context, shard, knobs, weights);
    for (int moment = 0; moment < MOMENT_COUNT; moment++) {
        MemoryRows rows;
        rows_of_sums(&(ShardedStage){context, shard, knobs, sharding}, totals, (Moment)moment, weights[moment] * kept,
                     &rows);
        worst = max_real(worst, memory_total(&rows));
    }
    return worst;
}

double shard_bytes(const Bounds *bounds, const Shard *shard, const Knobs *member) {
    const CostContext *context = bounds->context;
    Knobs small = least_time(shard, member);
    double least = INFINITY;
    LeastState states[LEAST_STATES_MAX];
    int count = least_states(bounds, small.zero_stage, states);
    small.regather = true;
    for (int at = 0; at < 2 * count; at++) {
        const TotalsSlot *slot = totals_cache_get(bounds, shard, &small.methods, (MlpChoice)(MLP_TENSOR + at % 2));
        small.zero_stage = states[at / 2].zero_stage;
        small.offload_optimizer = states[at / 2].offload_optimizer;
        if (!slot->allowed) continue;
        Sharding sharding = totals_sharding(slot);
        least = min_real(least, least_memory(context, shard, &small, &sharding, &slot->totals));
        if (shard->pipeline <= 1) continue;
        Knobs two = small; /* stages a chip: less optimizer state, where the last stage is the smaller */
        two.schedule = SCHEDULE_DUALPIPE;
        least = min_real(least, least_memory(context, shard, &two, &sharding, &slot->totals));
    }
    return least * SLACK;
}

int64_t sequences_of_replica(const CostContext *context, const Degrees *degrees) {
    return divide_up(context->work.sequences, degrees_replicas(degrees));
}

Knobs knobs_of_methods(const Degrees *degrees, const Methods *methods, StageSplit split, int64_t sequences) {
    return (Knobs){.microbatches = 1,
                   .microbatch_sequences = sequences,
                   .schedule = degrees->of[ROLE_PIPELINE] > 1 ? SCHEDULE_1F1B : SCHEDULE_NONE,
                   .virtual_stages = 1,
                   .stages = split,
                   .methods = *methods};
}
