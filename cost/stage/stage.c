/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/stage/stage.h"

#include "base/util.h"
#include "models/mixer.h"
#include "cost/plan/plan.h"
#include "cost/stage/stage_totals.h"
#include "cost/time/schedule.h"

#include <string.h>

/* FLOPs of a token in a layer, at the rates of logits, and in the logits. */
static double layer_load(const CostContext *setting, const Shard *shard) {
    double layer = shard->layer_flops > 0 ? shard->layer_flops : layer_flops(setting->model, (int64_t)shard->seq, NULL);
    return layer * work_layer_weight(&setting->work);
}

static double logits_load(const CostContext *setting) {
    return 2.0 * (double)setting->model->vocab * (double)setting->model->d_model;
}

/* Share of the layers that have experts. */
static double expert_layer_share(const Model *model) {
    double layers = 0;
    for (int i = 0; i < model->kind_count; i++)
        if (model->kinds[i].experts > 0) layers += (double)model->kinds[i].count;
    return layers / (double)model->layers;
}

double fixed_layer_seconds(const CostContext *setting) {
    const Profile *profile = setting->profile;
    return model_blocks_share(setting->model) * profile->layer_seconds +
           expert_layer_share(setting->model) * profile->expert_layer_seconds;
}

static double part_seconds(const PartSums *part) {
    double seconds = 0;
    for (int phase = 0; phase < PHASE_COUNT; phase++) seconds += part->compute[phase] + part->attention[phase];
    return seconds;
}

double stage_layer_weight(const CostContext *setting, int64_t seq) {
    const Model *model = setting->model;
    const Work work = {.sequences = 1, .seq = seq};
    const Knobs plain = {.microbatches = 1, .microbatch_sequences = 1, .virtual_stages = 1};
    Degrees one;
    Shard shard;
    Sharding shardings[SHARDINGS_MAX];
    StageTotals sums;
    for (int role = 0; role < ROLE_COUNT; role++) one.of[role] = 1;
    if (!shard_of_plan(model, &work, &one, &plain, PADDING_ANY, &shard)) return 1;
    for (int i = 0; i < model->kind_count; i++)
        if (model->kinds[i].experts > 0) shard.experts = min_real(shard.experts, (double)model->kinds[i].top_k);
    shardings_of(setting, &shard, shardings);
    stage_sums(setting, &shard, &plain.methods, &shardings[0], &sums);
    double layer =
        max_real(part_seconds(&sums.layer), model_blocks_share(model) * setting->profile->host_layer_seconds);
    layer = (layer + fixed_layer_seconds(setting)) / layer_flops(model, seq, NULL);
    return layer * logits_load(setting) / part_seconds(&sums.logits);
}

StagePace stage_pace(const CostContext *setting, const Shard *shard) {
    if (shard->pipeline <= 1) return (StagePace){shard->layers, 0, true, true};
    double layers = (double)setting->model->layers;
    double layer = layer_load(setting, shard), head = logits_load(setting);
    double first = shard->layers * layer, last = shard->layers_last * layer + head, total = layers * layer + head;
    bool by_last = shard->pace == PACE_BY_FLOPS ? last > first : shard->pace == PACE_LAST;
    double own = by_last ? last : first;
    return (StagePace){.layers = by_last ? shard->layers_last : shard->layers,
                       .others = max_real(0, (total - own) / own),
                       .embedding = !by_last,
                       .logits = by_last};
}

bool stage_other_pace(const CostContext *setting, const Shard *shard, Shard *other) {
    *other = *shard;
    other->pace = stage_pace(setting, shard).logits ? PACE_FIRST : PACE_LAST;
    return shard->pipeline > 1;
}

static double layers_of_stage(const Model *model, const Shard *shard, int64_t stage) {
    int64_t others = (int64_t)shard->pipeline - 1, rest = model->layers - (int64_t)shard->layers_last;
    if (shard->pipeline <= 1) return shard->layers;
    if (stage >= others) return shard->layers_last;
    if (shard->slots_first > 0) return shard->layers - (stage == 0 ? shard->slots_first : 0);
    return (double)(rest / others + (others - stage <= rest % others ? 1 : 0));
}

int64_t chunk_layers(const Model *model, const Shard *shard, int64_t virtual_stages, int64_t stage, int64_t chunk) {
    int64_t layers = (int64_t)layers_of_stage(model, shard, stage), last = (int64_t)shard->pipeline - 1;
    bool fewer = (stage == 0 && chunk == 0) || (stage == last && chunk == virtual_stages - 1);
    if (shard->slots_first > 0) return (int64_t)shard->layers / virtual_stages - fewer;
    return layers / virtual_stages + (chunk < layers % virtual_stages);
}

double stage_share(const CostContext *setting, const Shard *shard, const Knobs *knobs, int64_t stage) {
    if (shard->pipeline <= 1 || schedule_copies(knobs->schedule) > 1) return 1;
    double layer = layer_load(setting, shard), head = logits_load(setting);
    double longest = max_real(shard->layers * layer, shard->layers_last * layer + head);
    double own = layers_of_stage(setting->model, shard, stage) * layer;
    if (stage == (int64_t)shard->pipeline - 1) own += head;
    return min_real(1, own / longest);
}

static void add_traffic(Resources *to, Group group, Phase phase, double messages, double bytes) {
    to->of[res_messages(group, phase)] += messages;
    to->of[res_bytes(group, phase)] += bytes;
}

/* How often the whole of some weights goes round in a gather, and of their gradient in its reduction. */
typedef struct {
    double gather, scatter;
} WeightPasses;

typedef enum { WEIGHTS_LAYERS, WEIGHTS_EXPERTS, WEIGHTS_LOGITS, WEIGHTS_EMBEDDING } WeightKind;

/* One each; but of a group that is the whole slice XLA all_reduces gradients, two passes, or makes rings of the
 * matmuls, which send n + 1 parts where a pass has n - 1. Rows of a table that are looked up make no matmul, the
 * logits' table is gathered before its own, and grouped matmuls are kernels. */
static WeightPasses weight_passes(const CostContext *setting, const Shard *shard, WeightKind kind) {
    const Profile *profile = setting->profile;
    double ways = kind == WEIGHTS_EXPERTS ? shard_expert_ways(shard) : shard_weight_ways(shard);
    bool rings = weights_go_round(setting, shard, ways) && (kind == WEIGHTS_LAYERS || kind == WEIGHTS_LOGITS);
    bool whole = profile->slice_all_reduce > 0.5 && weights_span_slice(setting, shard, ways);
    double round = (ways + 1) / (ways - 1);
    return (WeightPasses){rings && kind == WEIGHTS_LAYERS ? round : 1, rings ? round : whole ? 2 : 1};
}

typedef struct {
    WeightKind kind;
    double messages, weights, trained; /* of one pass: what is gathered, and of what a gradient is reduced */
    double again;                      /* further gathers for backward */
} Gather;

/* How often a compiled loop over a pipeline's iterations touches weights, in microbatches: all m v + p - 1 iterations
 * gather and reduce those of layers, and tables are out of the loop, once a step. */
static double loop_turns(const ShardedStage *stage, WeightKind kind) {
    const Shard *shard = stage->shard;
    if (!(stage->setting->profile->whole_program > 0.5) || shard->pipeline <= 1) return 1;
    if (kind == WEIGHTS_LOGITS || kind == WEIGHTS_EMBEDDING) return 1 / shard->microbatches;
    if (!schedule_is_loop(stage->knobs->schedule)) return 1;
    return 1 + (shard->pipeline - 1) / (shard->microbatches * (double)stage->knobs->virtual_stages);
}

/* fsdp gathers weights for forward, `again` times for backward, and scatters their gradient. A stage that stays whole
 * scatters once a step, and so often gathers what it keeps. */
static void add_gathers(const ShardedStage *stage, Gather of, Resources *to) {
    bool layers = of.kind == WEIGHTS_LAYERS || of.kind == WEIGHTS_EXPERTS;
    double width = layers ? cost_context_stored_bytes(stage->setting)
                          : cost_context_state(stage->setting)->parameter_bytes;
    double trained = of.weights > 0 ? of.trained / of.weights : 1, forwards = cost_context_forwards(stage->setting);
    WeightPasses passes = weight_passes(stage->setting, stage->shard, of.kind);
    Group group = of.kind == WEIGHTS_EXPERTS ? GROUP_EXPERT_WEIGHTS : GROUP_WEIGHTS;
    double turns = loop_turns(stage, of.kind);
    double once = stage_stays_whole(stage->setting, stage->shard) ? 1 / stage->shard->microbatches : turns;
    double gathers = passes.gather * (stage->knobs->regather ? turns : once), again = passes.gather * turns * of.again,
           scatters = passes.scatter * once;
    add_traffic(to, group, PHASE_FORWARD, forwards * gathers * of.messages, forwards * gathers * width * of.weights);
    if (!(of.trained > 0)) scatters = 0;
    add_traffic(to, group, PHASE_BACKWARD, (again + scatters) * of.messages,
                (again * width + scatters * cost_context_scatter_bytes(stage->setting) * trained) * of.weights);
}

/* The logits' table where a chip of tensor makes logits of its own tokens: gathered over fsdp and tensor, and its
 * gradient all_reduced over both, which is two passes. */
static void add_whole_table(const ShardedStage *stage, const StageTotals *sums, Resources *to) {
    double weights = loop_turns(stage, WEIGHTS_LOGITS) * sums->logits.dense_weights * stage->shard->tensor;
    add_traffic(to, GROUP_WEIGHTS, PHASE_FORWARD, 1, cost_context_state(stage->setting)->parameter_bytes * weights);
    add_traffic(to, GROUP_WEIGHTS, PHASE_BACKWARD, 2, 2 * cost_context_scatter_bytes(stage->setting) * weights);
}

/* The tables of the stage. XLA exchanges look-ups where that is known, and gathers a table for one phase alone: rows
 * that were looked up are not read again, and the backward of the logits follows at once. A loss in chunks gathers its
 * table once more. */
static void add_tables(const ShardedStage *stage, const StagePace *pace, const StageTotals *sums, Resources *to) {
    const CostContext *setting = stage->setting;
    const Profile *profile = setting->profile;
    bool exchanged = profile->embedding_exchanged > 0.5 && stage->shard->tensor <= 1 && stage->shard->sequence <= 1;
    double stream = BF16_BYTES * stage->shard->tokens * (double)setting->model->d_model;
    double again = stage->knobs->regather && !(profile->gathers_matrices > 0.5) ? 1 : 0;
    for (int phase = 0; phase < PHASE_COUNT && pace->embedding && exchanged; phase++)
        add_traffic(to, GROUP_WEIGHTS, phase, 1, stream);
    bool once = setting->model->tied && pace->embedding && pace->logits && !exchanged;
    double norm = once ? logits_without_table(setting, stage->shard, &sums->logits, false) : 0,
           trained = once ? logits_without_table(setting, stage->shard, &sums->logits, true) : 0;
    if (pace->embedding && !exchanged)
        add_gathers(stage,
                    (Gather){WEIGHTS_EMBEDDING, 1, sums->embedding.dense_weights + norm,
                             sums->embedding.dense_trained + trained, again},
                    to);
    if (profile->logit_chunks > 1) again++;
    if (pace->logits && !once) {
        if (logits_of_own_tokens(setting, stage->shard))
            add_whole_table(stage, sums, to);
        else
            add_gathers(stage,
                        (Gather){WEIGHTS_LOGITS, 1, sums->logits.dense_weights, sums->logits.dense_trained, again}, to);
    }
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
static Traffic traffic_of_part(const CostContext *setting, const Knobs *knobs, const PartSums *part, int group,
                               int phase) {
    Traffic traffic = part->traffic[group][phase];
    if (group == GROUP_TENSOR_WEIGHTS && phase == PHASE_BACKWARD && !knobs->regather) {
        traffic.messages /= 2;
        double scattered = cost_context_scatter_bytes(setting);
        traffic.bytes *= scattered / (cost_context_state(setting)->parameter_bytes + scattered);
    }
    return traffic;
}

static void add_sums(const CostContext *setting, const Knobs *knobs, const PartSums *part, double times,
                     Resources *to) {
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        to->of[RES_COMPUTE_FORWARD + phase] += times * part->compute[phase];
        to->of[RES_ATTENTION_FORWARD + phase] += times * part->attention[phase];
        for (int group = 0; group < GROUP_DATA; group++) {
            Traffic traffic = traffic_of_part(setting, knobs, part, group, phase);
            add_traffic(to, group, phase, times * traffic.messages, times * traffic.bytes);
        }
    }
}

static void add_communication(const ShardedStage *stage, const StagePace *pace, const StageTotals *sums,
                              Resources *to) {
    const CostContext *setting = stage->setting;
    const Shard *shard = stage->shard;
    const Sharding *sharding = stage->sharding;
    const TrainingState *state = cost_context_state(setting);
    double again = stage->knobs->regather ? 1 : 0;
    if (shard_weight_ways(shard) > 1) {
        add_gathers(stage, (Gather){WEIGHTS_LAYERS, pace->layers, pace->layers * sums->layer.dense_weights,
                                    pace->layers * sums->layer.dense_trained, again}, to);
        add_tables(stage, pace, sums, to);
        add_orthogonal(to, GROUP_WEIGHTS, shard, &state->part[HELD_DENSE], pace->layers, sums->layer.dense_trained);
    }
    if (shard_expert_ways(shard) > 1 && sums->layer.expert_weights > 0) {
        add_gathers(stage, (Gather){WEIGHTS_EXPERTS, pace->layers, pace->layers * sums->layer.expert_weights,
                                    pace->layers * sums->layer.expert_trained, again},
                    to);
        add_orthogonal(to, GROUP_EXPERT_WEIGHTS, shard, &state->part[HELD_EXPERTS], pace->layers,
                       sums->layer.expert_trained);
    }
    if (shard->pipeline > 1) {
        double tokens = sharding->residual == RESIDUAL_SEQUENCE ? shard->tokens / shard->tensor : shard->tokens;
        double chunks = (double)stage->knobs->virtual_stages;
        /* A compiled loop of m v + p - 1 iterations sends in each to the next stage and on in the queue, whole. */
        if (setting->profile->whole_program > 0.5 && schedule_is_loop(stage->knobs->schedule)) {
            chunks = 2 * (chunks + (shard->pipeline - 1) / shard->microbatches);
            tokens = shard->tokens;
        }
        double bytes = BF16_BYTES * tokens * (double)setting->model->d_model;
        for (int phase = 0; phase < PHASE_COUNT; phase++)
            add_traffic(to, GROUP_PIPELINE, phase, chunks, chunks * bytes);
    }
}

/* A layer takes no less than the host needs to launch its kernels, of which backward has two in three. In a pipeline
 * that leaves the domain the ranks of a tensor group wait for each other's messages besides. What is recomputed or
 * exchanged comes on top. */
static void add_host_waits(const ShardedStage *stage, double layers, const PartSums *layer, Resources *to) {
    static const double SHARE[PHASE_COUNT] = {1. / 3, 2. / 3};
    const Profile *profile = stage->setting->profile;
    const Shard *shard = stage->shard;
    double chips = shard->tensor * shard->expert * shard->sequence * shard->fsdp * shard->data * shard->pipeline;
    bool far = shard->pipeline > 1 && chips > (double)stage->setting->chip->domain_chips;
    double least = model_blocks_share(stage->setting->model) * profile->host_layer_seconds +
                   (far ? profile->host_tensor_seconds * (shard->tensor - 1) : 0);
    double messages = shard->pipeline > 1 ? (double)stage->knobs->virtual_stages * profile->stage_message_seconds : 0;
    for (int phase = 0; phase < PHASE_COUNT; phase++)
        to->of[RES_COMPUTE_FORWARD + phase] +=
            layers * max_real(0, SHARE[phase] * least - layer->compute[phase] - layer->attention[phase]) + messages / 2;
}

void moved_of_stage(const ShardedStage *stage, const StageTotals *sums, const StagePace *pace, Resources *out) {
    memset(out, 0, sizeof(*out));
    add_sums(stage->setting, stage->knobs, &sums->layer, pace->layers, out);
    if (pace->embedding) add_sums(stage->setting, stage->knobs, &sums->embedding, 1, out);
    if (pace->logits) add_sums(stage->setting, stage->knobs, &sums->logits, 1, out);
    add_host_waits(stage, pace->layers, &sums->layer, out);
    add_communication(stage, pace, sums, out);
}

void moved_of_sums(const CostContext *setting, const Shard *shard, const Knobs *knobs, const Sharding *sharding,
                   const StageTotals *sums, Resources *out) {
    const ShardedStage stage = {setting, shard, knobs, sharding};
    StagePace pace = stage_pace(setting, shard);
    moved_of_stage(&stage, sums, &pace, out);
}

void resources_of_sums(const CostContext *setting, const Shard *shard, const Knobs *knobs, const Sharding *sharding,
                       const StageTotals *sums, Resources *out) {
    const ShardedStage stage = {setting, shard, knobs, sharding};
    double weights[MOMENT_COUNT], saved = saved_of_sums(sums);
    moved_of_sums(setting, shard, knobs, sharding, sums, out);
    microbatches_in_flight(setting, shard, knobs, weights);
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

double activation_kept_bytes(const ActivationCost *cost, ActivationState state) {
    return state == STATE_SAVED ? cost->bytes : state == STATE_PARTLY ? cost->bytes - cost->part.freed_bytes : 0;
}

double layout_kept_bytes(const ActivationCost *cost, const Layout *layout, Activation activation) {
    const int64_t *layers = layout->layers[activation];
    double bytes = cost->bytes * (double)layers[STATE_SAVED];
    return layers[STATE_PARTLY] > 0 ? bytes + activation_kept_bytes(cost, STATE_PARTLY) * (double)layers[STATE_PARTLY]
                                    : bytes;
}

void resources_add_state(const ActivationCost *cost, ActivationState state, double count,
                         const double weights[MOMENT_COUNT], Resources *resources) {
    if (state == STATE_SAVED) return;
    bool partly = state == STATE_PARTLY;
    double freed = cost->bytes - activation_kept_bytes(cost, state);
    for (int moment = 0; moment < MOMENT_COUNT; moment++)
        resources->of[RES_MEMORY + moment] -= count * weights[moment] * freed;
    if (state == STATE_OFFLOADED) {
        resources->of[RES_OFFLOAD_BYTES] += 2 * count * cost->bytes;
        return;
    }
    const double *messages = partly ? cost->part.recompute_messages : cost->recompute_messages;
    const double *bytes = partly ? cost->part.recompute_bytes : cost->recompute_bytes;
    resources->of[RES_COMPUTE_BACKWARD] += count * (partly ? cost->part.recompute_seconds : cost->recompute_seconds);
    for (int group = 0; group < GROUP_DATA; group++)
        add_traffic(resources, group, PHASE_BACKWARD, count * messages[group], count * bytes[group]);
}
