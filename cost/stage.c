/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/stage.h"

#include "base/util.h"
#include "cost/sums.h"

#include <math.h>
#include <string.h>

static const double ELEMENT = 2; /* bytes of bf16 */

bool sharding_allowed(const Setting *setting, const Shard *shard, const Sharding *sharding) {
    bool split = shard->tensor > 1;
    double local = shard->seq / shard->sequence;
    bool sequence_divides = split && fmod(local, shard->tensor) == 0;
    if (sharding->residual == RESIDUAL_SEQUENCE && !sequence_divides) return false;
    bool has_dense = false, copies = false;
    for (int i = 0; i < setting->model->kind_count; i++) {
        const LayerKind *kind = &setting->model->kinds[i];
        has_dense = has_dense || kind->d_ff > 0 || kind->d_ff_shared > 0;
        copies = copies || (kind->kv_heads > 0 && (double)kind->kv_heads < shard->tensor);
    }
    if (sharding->mlp == MLP_GATHERED && (sharding->residual != RESIDUAL_SEQUENCE || !has_dense)) return false;
    if ((sharding->kv == KV_SPLIT) == copies) return false;
    if (!split && (sharding->embedding != TABLE_VOCABULARY || sharding->logits != TABLE_VOCABULARY)) return false;
    return true;
}

int shardings_of(const Setting *setting, const Shard *shard, Sharding out[SHARDINGS_MAX]) {
    static const ResidualChoice RESIDUALS[] = {RESIDUAL_SEQUENCE, RESIDUAL_REPLICATED};
    int count = 0;
    for (int residual = 0; residual < 2; residual++)
        for (int mlp = MLP_TENSOR; mlp <= MLP_GATHERED; mlp++)
            for (int kv = KV_SPLIT; kv <= KV_GATHERED; kv++)
                for (int embedding = TABLE_VOCABULARY; embedding <= TABLE_D_MODEL; embedding++)
                    for (int logits = TABLE_VOCABULARY; logits <= TABLE_D_MODEL; logits++) {
                        Sharding sharding = {RESIDUALS[residual], (MlpChoice)mlp, (KvChoice)kv, (TableChoice)embedding, (TableChoice)logits};
                        if (count < SHARDINGS_MAX && sharding_allowed(setting, shard, &sharding)) out[count++] = sharding;
                    }
    return count;
}

double bubble_factor(double stages, double microbatches, double virtual_stages) {
    double last = microbatches - stages * (ceil(microbatches / stages) - 1);
    return (1 + (virtual_stages - 1) * (stages - last) / (stages - 1)) / virtual_stages;
}

StagePace stage_pace(const Setting *setting, const Shard *shard, const Knobs *knobs) {
    const Model *model = setting->model;
    if (shard->pipeline <= 1) return (StagePace){shard->layers, 0, true, true};
    double layer = 0, layers = 0;
    for (int i = 0; i < model->kind_count; i++) {
        const LayerKind *kind = &model->kinds[i];
        Parameters parameters = layer_parameters(model, kind);
        double span = attention_span(kind, (int64_t)shard->seq, false);
        layer += (double)kind->count * (2.0 * (double)parameters.active + 4 * span * (double)(kind->heads * kind->head_dim));
        layers += (double)kind->count;
    }
    layer /= layers;
    double head = 2.0 * (double)model->vocab * (double)model->d_model;
    double first = shard->layers * layer, last = shard->layers_last * layer + head, total = layers * layer + head;
    double longest = max_real(first, last);
    StagePace pace = {.layers = last > first ? shard->layers_last : shard->layers, .embedding = last <= first, .logits = last > first};
    pace.bubble_ratio = max_real(0, (total - longest) / longest) *
                        bubble_factor(shard->pipeline, shard->microbatches, (double)knobs->virtual_stages);
    return pace;
}

/* Chips that hold one copy of a parameter between them: everything but data splits it. */
static double weight_ways(const Shard *shard) { return shard->expert * shard->sequence * shard->fsdp; }
static double expert_ways(const Shard *shard) { return shard->sequence * shard->fsdp; }

static void add_traffic(Resources *to, Group group, Phase phase, double messages, double bytes) {
    to->of[res_messages(group, phase)] += messages;
    to->of[res_bytes(group, phase)] += bytes;
}

/* fsdp: weights come together for forward, again for backward unless kept, and their gradient is scattered. */
static void add_gathers(Resources *to, Group group, const Knobs *knobs, double messages, double weights) {
    double passes = knobs->regather ? 2 : 1;
    add_traffic(to, group, PHASE_FORWARD, messages, ELEMENT * weights);
    add_traffic(to, group, PHASE_BACKWARD, passes * messages, passes * ELEMENT * weights);
}

static void add_sums(Resources *to, const PartSums *part, double times) {
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        to->of[RES_COMPUTE_FORWARD + phase] += times * part->compute[phase];
        to->of[RES_ATTENTION_FORWARD + phase] += times * part->attention[phase];
        for (int group = 0; group < GROUP_DATA; group++)
            add_traffic(to, group, phase, times * part->traffic[group][phase].messages, times * part->traffic[group][phase].bytes);
    }
}

static void add_communication(const Setting *setting, const Shard *shard, const Knobs *knobs, const Sharding *sharding, const StagePace *pace,
                              const StageSums *sums, Resources *to) {
    if (weight_ways(shard) > 1) {
        add_gathers(to, GROUP_WEIGHTS, knobs, pace->layers, pace->layers * sums->layer.dense_weights);
        if (pace->embedding) add_gathers(to, GROUP_WEIGHTS, knobs, 1, sums->embedding.dense_weights);
        bool own_table = pace->logits && !(setting->model->tied && pace->embedding);
        if (own_table) add_gathers(to, GROUP_WEIGHTS, knobs, 1, sums->logits.dense_weights);
    }
    if (expert_ways(shard) > 1 && sums->layer.expert_weights > 0)
        add_gathers(to, GROUP_EXPERT_WEIGHTS, knobs, pace->layers, pace->layers * sums->layer.expert_weights);
    if (shard->pipeline > 1) {
        double tokens = sharding->residual == RESIDUAL_SEQUENCE ? shard->tokens / shard->tensor : shard->tokens;
        double bytes = ELEMENT * tokens * (double)setting->model->d_model, chunks = (double)knobs->virtual_stages;
        for (int phase = 0; phase < PHASE_COUNT; phase++) add_traffic(to, GROUP_PIPELINE, phase, chunks, chunks * bytes);
    }
}

void moment_weights(const Shard *shard, const Knobs *knobs, double weights[MOMENT_COUNT]) {
    double p = shard->pipeline, v = (double)knobs->virtual_stages, m = shard->microbatches;
    /* Chunks of microbatches between their forward and their backward: 1F1B holds p - s on stage s; interleaving 2 (p - s - 1) + (v - 1) p + 1
     * chunks of 1/v (Megatron's warm-up; Korthikanti's 1 + (p - 1)/(p v) on the first stage). */
    double first = min_real(m * v, v > 1 ? (v + 1) * p - 1 : p), last = min_real(m * v, v > 1 ? (v - 1) * p + 1 : 1);
    weights[MOMENT_FIRST_BACKWARD] = first / v;
    weights[MOMENT_LAST_LOGITS] = last / v * (shard->layers_last / shard->layers);
    weights[MOMENT_LAST_BACKWARD] = weights[MOMENT_LAST_LOGITS];
    weights[MOMENT_UPDATE] = 0;
}

/* Parameters of one stage on one chip, before fsdp. */
static void stage_weights(const Setting *setting, const Shard *shard, const StageSums *sums, bool last, double *dense, double *expert) {
    double layers = last ? shard->layers_last : shard->layers;
    bool whole = shard->pipeline <= 1;
    *dense = layers * sums->layer.dense_weights;
    *expert = layers * sums->layer.expert_weights;
    if (whole || !last) *dense += sums->embedding.dense_weights;
    if ((whole && !setting->model->tied) || (!whole && last)) *dense += sums->logits.dense_weights;
}

void rows_of_sums(const Setting *setting, const Shard *shard, const Knobs *knobs, const Sharding *sharding, const StageSums *sums,
                           Moment moment, double saved_bytes, MemoryRows *out) {
    bool last = shard->pipeline > 1 && (moment == MOMENT_LAST_LOGITS || moment == MOMENT_LAST_BACKWARD);
    double dense, expert, d_model = (double)setting->model->d_model;
    stage_weights(setting, shard, sums, last, &dense, &expert);
    double held = dense / weight_ways(shard) + expert / expert_ways(shard);
    bool accumulates = shard->microbatches > 1;
    double gradient_ways = knobs->zero_stage >= 2 ? shard->data : 1, optimizer_ways = knobs->zero_stage >= 1 ? shard->data : 1;
    /* With one microbatch no gradient exists before backward begins. */
    double gradients = accumulates ? 4 : moment == MOMENT_UPDATE ? 2 : 0;

    /* Two layers gathered (the next arrives while one works), or the whole stage when they are kept; and the gradient of one before its
     * reduce_scatter. */
    double layers = last ? shard->layers_last : shard->layers, one = sums->layer.gathered_weights;
    bool gathers = one > 0;
    double gathered = knobs->regather ? min_real(2, layers) * one : layers * one;
    double head = moment == MOMENT_LAST_LOGITS && weight_ways(shard) > 1 ? sums->logits.dense_weights : 0;
    *out = (MemoryRows){
        .parameters_bytes = 2 * held,
        .gradients_bytes = gradients * held / gradient_ways,
        .optimizer_bytes = 12 * held / optimizer_ways,
        .activations_bytes = saved_bytes,
        .gathered_bytes = gathers || head > 0 ? ELEMENT * (gathered + one + 2 * head) : 0,
    };
    double own = sharding->residual == RESIDUAL_SEQUENCE ? shard->tokens / shard->tensor : shard->tokens;
    double stream = ELEMENT * own * d_model;
    if (moment == MOMENT_LAST_LOGITS) {
        double whole = sharding->logits == TABLE_D_MODEL && shard->tensor > 1 ? ELEMENT * shard->vocab * shard->tensor : 0;
        out->logits_bytes = shard->tokens * (6 * shard->vocab + whole); /* fp32 logits and their bf16 gradient */
        out->transient_bytes = 2 * stream + ELEMENT * shard->tokens * d_model;
    } else {
        /* One layer in backward: its activations, made again or not, and the gradients of its widest pair. */
        double working = 0;
        for (int i = 0; i < ACTIVATION_COUNT; i++) working += sums->layer.saved[i];
        double mlp = sums->layer.saved[ACTIVATION_GATE_UP] + sums->layer.saved[ACTIVATION_PRODUCT];
        double attention = sums->layer.saved[ACTIVATION_QKV] + sums->layer.saved[ACTIVATION_CONTEXT];
        out->transient_bytes = working + max_real(mlp, attention) + stream;
    }
}

void memory_rows(const Setting *setting, const Shard *shard, const Knobs *knobs, const Sharding *sharding, Moment moment,
                 double saved_bytes, MemoryRows *out) {
    StageSums sums;
    stage_sums(setting, shard, knobs->context, sharding, &sums);
    rows_of_sums(setting, shard, knobs, sharding, &sums, moment, saved_bytes, out);
}

double memory_total(const MemoryRows *rows) {
    return rows->parameters_bytes + rows->gradients_bytes + rows->optimizer_bytes + rows->activations_bytes + rows->gathered_bytes +
           rows->logits_bytes + rows->transient_bytes;
}

static double saved_per_layer(const StageSums *sums) {
    double bytes = 0;
    for (int i = 0; i < ACTIVATION_COUNT; i++) bytes += sums->layer.saved[i];
    return bytes;
}

void resources_of_sums(const Setting *setting, const Shard *shard, const Knobs *knobs, const Sharding *sharding, const StageSums *sums,
                       Resources *out) {
    StagePace pace = stage_pace(setting, shard, knobs);
    memset(out, 0, sizeof(*out));
    add_sums(out, &sums->layer, pace.layers);
    if (pace.embedding) add_sums(out, &sums->embedding, 1);
    if (pace.logits) add_sums(out, &sums->logits, 1);
    add_communication(setting, shard, knobs, sharding, &pace, sums, out);

    double weights[MOMENT_COUNT], saved = saved_per_layer(sums);
    moment_weights(shard, knobs, weights);
    for (int moment = 0; moment < MOMENT_COUNT; moment++) {
        MemoryRows rows;
        rows_of_sums(setting, shard, knobs, sharding, sums, (Moment)moment, weights[moment] * shard->layers * saved, &rows);
        out->of[RES_MEMORY + moment] = memory_total(&rows);
    }
}

void stage_resources(const Setting *setting, const Shard *shard, const Knobs *knobs, const Sharding *sharding, Resources *out) {
    StageSums sums;
    stage_sums(setting, shard, knobs->context, sharding, &sums);
    resources_of_sums(setting, shard, knobs, sharding, &sums, out);
}

void resources_add_state(const ActivationCost *cost, ActivationState state, double count, const double weights[MOMENT_COUNT], Resources *resources) {
    if (state == STATE_SAVED) return;
    for (int moment = 0; moment < MOMENT_COUNT; moment++) resources->of[RES_MEMORY + moment] -= count * weights[moment] * cost->bytes;
    if (state == STATE_OFFLOADED) {
        resources->of[RES_OFFLOAD_BYTES] += 2 * count * cost->bytes;
        return;
    }
    resources->of[RES_COMPUTE_BACKWARD] += count * cost->recompute_seconds;
    for (int group = 0; group < GROUP_DATA; group++)
        add_traffic(resources, group, PHASE_BACKWARD, count * cost->recompute_messages[group], count * cost->recompute_bytes[group]);
}

/* Gradients over data: once per step; ZeRO-2 cannot hold them whole, so it scatters them with every microbatch. */
static void data_traffic(const Shard *shard, const Knobs *knobs, double dense, double expert, StepRule *rule) {
    if (shard->data <= 1) return;
    double held = dense / weight_ways(shard) + expert / expert_ways(shard), m = shard->microbatches;
    double reduced = (m > 1 ? 4 : 2) * held, buckets = shard->layers;
    if (knobs->zero_stage == 0) {
        rule->data_end = (Traffic){2 * buckets, 2 * reduced};
        return;
    }
    rule->data_end = (Traffic){buckets, reduced};
    rule->data_start = (Traffic){buckets, ELEMENT * held};
    if (knobs->zero_stage == 2) {
        rule->data_start.messages += (m - 1) * buckets;
        rule->data_start.bytes += (m - 1) * reduced;
    }
}

void step_rule(const Setting *setting, const Shard *shard, const Knobs *knobs, StepRule *out) {
    Sharding shardings[SHARDINGS_MAX];
    shardings_of(setting, shard, shardings);
    StageSums sums;
    stage_sums(setting, shard, knobs->context, &shardings[0], &sums);
    rule_of_sums(setting, shard, knobs, &sums, out);
}

/* Bytes of offloading, out and back added, that a second of the step has room for. In a pipeline forwards and backwards take turns and both
 * directions of the link are in use all the time: twice the rate. On one stage what leaves has to do so in forward, a third of the step (HBM is
 * short when backward begins), and comes back in the other two: 2/3 of the rate, which is exact where forward just suffices and the safe side beyond. */
static double offload_rate(const Setting *setting, const Shard *shard) {
    if (!(setting->chip->host_bytes.value > 0)) return 0;
    double one_way = setting->chip->pcie_bytes_per_second.value * setting->profile->pcie_efficiency;
    return one_way * (shard->pipeline > 1 ? 2 : 2.0 / 3);
}

void rule_of_sums(const Setting *setting, const Shard *shard, const Knobs *knobs, const StageSums *sums, StepRule *out) {
    const Profile *profile = setting->profile;
    double dense, expert;
    stage_weights(setting, shard, sums, false, &dense, &expert);
    StagePace pace = stage_pace(setting, shard, knobs);

    *out = (StepRule){
        .microbatches = shard->microbatches,
        .bubble_ratio = pace.bubble_ratio,
        .ring = knobs->context == CONTEXT_RING,
        .other_seconds = profile->step_seconds + shard->microbatches * (profile->microbatch_seconds + pace.layers * profile->layer_seconds),
        .offload_bytes_per_second = offload_rate(setting, shard),
        .memory_limit_bytes = setting->chip->hbm_bytes.value * (1 - setting->hbm_reserve),
    };
    out->exposed[GROUP_TENSOR] = profile->tensor_exposed;
    out->exposed[GROUP_EXPERT] = profile->expert_exposed;
    out->exposed[GROUP_SEQUENCE] = out->ring ? profile->ring_attention_exposed : profile->sequence_exposed;
    out->exposed[GROUP_PIPELINE] = profile->pipeline_exposed;
    out->exposed[GROUP_WEIGHTS] = out->exposed[GROUP_EXPERT_WEIGHTS] = out->exposed[GROUP_TENSOR_WEIGHTS] = profile->fsdp_exposed;
    out->exposed[GROUP_DATA] = profile->data_exposed;
    for (int group = 0; group < GROUP_COUNT; group++) out->far_exposed[group] = out->exposed[group];
    out->far_exposed[GROUP_TENSOR] = 1;
    for (int group = GROUP_WEIGHTS; group <= GROUP_TENSOR_WEIGHTS; group++)
        out->far_exposed[group] = max_real(profile->fsdp_exposed, profile->data_exposed);
    data_traffic(shard, knobs, dense, expert, out);

    /* AdamW: master, m and v read and written in fp32, the gradient read, the bf16 copy written: 30 bytes. */
    double optimizer_ways = knobs->zero_stage >= 1 ? shard->data : 1;
    double owned = (dense / weight_ways(shard) + expert / expert_ways(shard)) / optimizer_ways;
    out->optimizer_seconds = 30 * owned / (setting->chip->hbm_bytes_per_second.value * profile->hbm_efficiency);
}
