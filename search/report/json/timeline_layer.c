/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/report/json/timeline.h"

#include "base/json.h"
#include "base/util.h"
#include "search/answer/plan_words.h"

#include <string.h>

/* In each phase every op with what it communicates over each group, and three groups of weights. */
enum { LAYER_BARS_MAX = (int)PHASE_COUNT * ((int)OPS_MAX * (1 + (int)GROUP_DATA) + 3) };

typedef struct {
    double from, to; /* seconds */
    int group;       /* -1: compute */
    const char *of;
    char name[TIMELINE_NAME_SIZE];
} LayerBar;

/* How far a layer has come: now, and when each group of chips is free again. */
typedef struct {
    const Estimate *estimate;
    StepRule rule;
    double now, free_at[GROUP_COUNT];
    LayerBar bars[LAYER_BARS_MAX];
    int count;
} Layer;

static void add_bar(Layer *layer, double from, double to, int group, const char *of, const char *name) {
    if (!(to > from) || layer->count == LAYER_BARS_MAX) return;
    LayerBar *bar = &layer->bars[layer->count++];
    *bar = (LayerBar){.from = from, .to = to, .group = group, .of = of};
    snprintf(bar->name, sizeof bar->name, "%s", name);
}

static const char *op_of(OpKind kind) {
    return kind == OP_ATTENTION || kind == OP_SCAN          ? "attention"
           : kind == OP_MATMUL || kind == OP_GROUPED_MATMUL ? "matmul"
                                                            : "elementwise";
}

/* What an op communicates: critical groups make it wait for their exposed share, the rest of them lies before that;
 * what runs in the background queues up in its lane. */
static void add_traffic(Layer *layer, const Op *op, Phase phase) {
    const Estimate *estimate = layer->estimate;
    for (int group = 0; group < GROUP_DATA; group++) {
        const Traffic *traffic = &op->traffic[group][phase];
        if (!(traffic->messages > 0) && !(traffic->bytes > 0)) continue;
        double seconds = collective_seconds(estimate->rates.cost[group], traffic->messages, traffic->bytes);
        const char *role = role_name(group_role((Group)group));
        char name[TIMELINE_NAME_SIZE];
        if (!(seconds > 0)) continue;
        snprintf(name, sizeof name, "%s of %s", role, op->name);
        bool critical = group < GROUP_WEIGHTS;
        double exposed = critical ? layer->rule.exposed[group] * seconds : 0;
        double from =
            critical ? max_real(0, layer->now - (seconds - exposed)) : max_real(layer->free_at[group], layer->now);
        add_bar(layer, from, from + seconds, group, role, name);
        layer->free_at[group] = from + seconds;
        if (critical) layer->now = max_real(layer->now, from + seconds);
    }
}

/* Weights that arrive for a layer while the one before computes, and leave behind it as gradients. */
static void add_weights(Layer *layer, Phase phase, double from) {
    static const Group GROUPS[] = {GROUP_WEIGHTS, GROUP_EXPERT_WEIGHTS, GROUP_TENSOR_WEIGHTS};
    const Estimate *estimate = layer->estimate;
    for (size_t i = 0; i < COUNT_OF(GROUPS); i++) {
        double seconds = lane_seconds(estimate, GROUPS[i], phase) / max_real(1, estimate->shard.layers);
        bool there = false;
        for (int b = 0; b < layer->count; b++) there = there || layer->bars[b].group == (int)GROUPS[i];
        if (!(seconds > 0) || (there && phase == PHASE_FORWARD)) continue;
        add_bar(layer, from, from + seconds, (int)GROUPS[i], "fsdp",
                phase == PHASE_FORWARD ? "weights of the next layer" : "weights, and gradients");
    }
}

static const LayerKind *commonest(const Model *model) {
    const LayerKind *most = &model->kinds[0];
    for (int i = 1; i < model->kind_count; i++)
        if (model->kinds[i].count > most->count) most = &model->kinds[i];
    return most;
}

/* Fills the bars; returns where forward ends. */
static double play_layer(Layer *layer, const Request *request, const RankedPlan *ranked) {
    const Estimate *estimate = layer->estimate;
    CostContext setting = ranked_cost_context(request, ranked);
    Op ops[OPS_MAX];
    double forward = 0;
    int count = ops_of_layer(&(ShardedLayer){&request->question.model, commonest(&request->question.model),
                                             &estimate->shard, &ranked->plan.layout.sharding},
                             &ranked->plan.knobs.methods, cost_context_imbalance(&setting), ops);
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        add_weights(layer, (Phase)phase, layer->now);
        for (int i = 0; i < count; i++) {
            const Op *op = &ops[phase == PHASE_FORWARD ? i : count - 1 - i];
            bool bound;
            double seconds = op_seconds(op, (Phase)phase, setting.chip, setting.profile, &bound);
            add_traffic(layer, op, (Phase)phase);
            add_bar(layer, layer->now, layer->now + seconds, -1, op_of(op->kind), op->name);
            layer->now += seconds;
        }
        if (phase == PHASE_FORWARD) forward = layer->now;
    }
    for (int i = 0; i < layer->count; i++) layer->now = max_real(layer->now, layer->bars[i].to);
    return forward;
}

bool layer_add_json(cJSON *to, const Request *request, const RankedPlan *ranked) {
    Arena arena = {0};
    Layer *layer = ARENA_NEW(&arena, Layer, 1);
    if (!layer) return false;
    *layer = (Layer){.estimate = &ranked->estimate, .rule = rule_at(&ranked->estimate.rule, &ranked->estimate.rates)};
    double forward = play_layer(layer, request, ranked);
    cJSON *json = json_add_object(to, "layer");
    BarRows bars = bars_begin(json);
    for (int group = -1; group < GROUP_COUNT; group++) {
        bool begun = false;
        for (int i = 0; i < layer->count; i++) {
            const LayerBar *bar = &layer->bars[i];
            if (bar->group != group) continue;
            if (!begun) bars_row(&bars, group < 0 ? "compute" : lane_name((Group)group));
            begun = true;
            bars_add(&bars, bar->name, bar->of, bar->from, bar->to, 0);
        }
    }
    bool ok = bars.ok && json_add_real(json, "forward_end_seconds", forward) &&
              json_add_real(json, "end_seconds", layer->now);
    arena_free(&arena);
    return ok;
}
