/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/report/html/paints.h"
#include "search/report/html/pictures.h"

#include "base/util.h"
#include "search/answer/plan_words.h"

#include <assert.h>

static const double LANE = 22, HEAD = 36;

const char *lane_name(Group group) {
    static const char *const NAMES[GROUP_COUNT] = {
        [GROUP_TENSOR] = "tensor",
        [GROUP_EXPERT_TENSOR] = "expert tensor",
        [GROUP_EXPERT] = "expert",
        [GROUP_SEQUENCE] = "sequence",
        [GROUP_ULYSSES] = "heads",
        [GROUP_PIPELINE] = "pipeline",
        [GROUP_WEIGHTS] = "weights",
        [GROUP_EXPERT_WEIGHTS] = "expert weights",
        [GROUP_TENSOR_WEIGHTS] = "over tensor",
        [GROUP_DATA] = "gradients",
        [GROUP_EXPERT_DATA] = "expert grads",
    };
    return NAMES[group];
}

double timeline_lane_seconds(const Estimate *estimate, Group group, Phase phase) {
    Traffic traffic = group_traffic(estimate, group, phase);
    return collective_seconds(estimate->rates.cost[group], traffic.messages, traffic.bytes);
}

static int lane_of(LayerLine *line, int group) {
    for (int lane = 1; lane < line->lanes; lane++)
        if (line->group[lane] == group) return lane;
    line->group[line->lanes] = group;
    return line->lanes++;
}

static void add_bar(LayerLine *line, double from, double to, int lane, Paint paint, const char *name) {
    assert(line->count < LAYER_BARS_MAX);
    if (!(to > from)) return;
    LayerBar *bar = &line->bars[line->count++];
    *bar = (LayerBar){.from = from, .to = to, .lane = lane, .paint = paint};
    snprintf(bar->name, sizeof bar->name, "%s", name);
}

static Paint paint_of_op(OpKind kind) {
    return kind == OP_ATTENTION || kind == OP_SCAN          ? PAINT_ATTENTION
           : kind == OP_MATMUL || kind == OP_GROUPED_MATMUL ? PAINT_MATMUL
                                                            : PAINT_ELEMENTWISE;
}

/* How far a layer has come: now, and when each group of chips is free again. */
typedef struct {
    const Estimate *estimate;
    StepRule rule;
    double now, free_at[GROUP_COUNT];
} Clock;

/* What an op communicates: critical groups make it wait for their exposed share, the rest of them lies before that;
 * what runs in the background queues up in its lane. */
static void add_traffic(LayerLine *line, const Op *op, Phase phase, Clock *clock) {
    const Estimate *estimate = clock->estimate;
    for (int group = 0; group < GROUP_DATA; group++) {
        const Traffic *traffic = &op->traffic[group][phase];
        if (!(traffic->messages > 0) && !(traffic->bytes > 0)) continue;
        double seconds = collective_seconds(estimate->rates.cost[group], traffic->messages, traffic->bytes);
        char name[64];
        if (!(seconds > 0)) continue;
        snprintf(name, sizeof name, "%s of %s", role_name(group_role((Group)group)), op->name);
        bool critical = group < GROUP_WEIGHTS;
        double exposed = critical ? clock->rule.exposed[group] * seconds : 0;
        double from =
            critical ? max_real(0, clock->now - (seconds - exposed)) : max_real(clock->free_at[group], clock->now);
        add_bar(line, from, from + seconds, lane_of(line, group), paint_of_role(group_role((Group)group)), name);
        clock->free_at[group] = from + seconds;
        if (critical) clock->now = max_real(clock->now, from + seconds);
    }
}

/* Weights that arrive for a layer while the one before computes, and leave behind it as gradients. */
static void add_weights(LayerLine *line, const Estimate *estimate, Phase phase, double from) {
    static const Group GROUPS[] = {GROUP_WEIGHTS, GROUP_EXPERT_WEIGHTS, GROUP_TENSOR_WEIGHTS};
    for (size_t i = 0; i < COUNT_OF(GROUPS); i++) {
        Group group = GROUPS[i];
        double seconds = timeline_lane_seconds(estimate, group, phase) / max_real(1, estimate->shard.layers);
        bool there = false;
        for (int b = 0; b < line->count; b++)
            there = there || (line->bars[b].lane > 0 && line->group[line->bars[b].lane] == (int)group);
        if (!(seconds > 0) || (there && phase == PHASE_FORWARD)) continue;
        add_bar(line, from, from + seconds, lane_of(line, group), PAINT_FSDP,
                phase == PHASE_FORWARD ? "weights of the next layer" : "weights, and gradients");
    }
}

static const LayerKind *commonest(const Model *model) {
    const LayerKind *most = &model->kinds[0];
    for (int i = 1; i < model->kind_count; i++)
        if (model->kinds[i].count > most->count) most = &model->kinds[i];
    return most;
}

void layer_line(const Request *request, const RankedPlan *ranked, LayerLine *out) {
    const Estimate *estimate = &ranked->estimate;
    CostContext setting = ranked_cost_context(request, ranked);
    Clock clock = {.estimate = estimate, .rule = rule_at(&estimate->rule, &estimate->rates)};
    Op ops[OPS_MAX];
    *out = (LayerLine){.lanes = 1};
    int count = ops_of_layer(&(ShardedLayer){&request->question.model, commonest(&request->question.model),
                                             &estimate->shard, &ranked->plan.layout.sharding},
                             &ranked->plan.knobs.methods, cost_context_imbalance(&setting), ops);
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        add_weights(out, estimate, (Phase)phase, clock.now);
        for (int i = 0; i < count; i++) {
            const Op *op = &ops[phase == PHASE_FORWARD ? i : count - 1 - i];
            bool bound;
            double seconds = op_seconds(op, (Phase)phase, setting.chip, setting.profile, &bound);
            add_traffic(out, op, (Phase)phase, &clock);
            add_bar(out, clock.now, clock.now + seconds, 0, paint_of_op(op->kind), op->name);
            clock.now += seconds;
        }
        if (phase == PHASE_FORWARD) out->forward = clock.now;
    }
    for (int i = 0; i < out->count; i++) clock.now = max_real(clock.now, out->bars[i].to);
    out->end = clock.now;
}

double layer_line_height(const LayerLine *line) { return HEAD + LANE * line->lanes + 44; }

void layer_line_draw(Svg *svg, const LayerLine *line, double top, double left, double right) {
    double bottom = top + HEAD + LANE * line->lanes;
    SvgScale scale = {0, line->end, left, right, false};
    svg_text(svg, left, top + 16, "start", "head", "One layer of one microbatch, op by op: forward, then backward");
    svg_axis_x(svg, &scale, 8, bottom, top + HEAD - 6, svg_say_seconds, "");
    for (int lane = 0; lane < line->lanes; lane++) {
        int group = line->group[lane];
        const char *name = lane == 0 ? "compute" : lane_name((Group)group);
        svg_text(svg, left - 8, top + HEAD + LANE * lane + 12, "end", NULL, "%s", name);
    }
    for (int i = 0; i < line->count; i++) {
        const LayerBar *bar = &line->bars[i];
        char tip[128], text[NUMBER_TEXT_SIZE];
        double x = svg_at(&scale, bar->from), to = svg_at(&scale, bar->to), y = top + HEAD + LANE * bar->lane;
        snprintf(tip, sizeof tip, "%s: %s", bar->name, step_text(bar->to - bar->from, text));
        svg_bar(svg, x, y, max_real(0.4, to - x - min_real(1, (to - x) / 6)), LANE - 6, bar->paint, tip);
        bool room = to - x > svg_text_width(bar->name) + 6 && bar->lane == 0 && bar->paint == PAINT_MATMUL;
        if (room) svg_text(svg, (x + to) / 2, y + 12, "middle", "small onbar", "%s", bar->name);
    }
    double at = svg_at(&scale, line->forward);
    svg_line(svg, at, top + HEAD - 6, at, bottom, "axis dash");
}

void layer_line_list(const LayerLine *line, Table *table) {
    for (int i = 0; i < line->count; i++) {
        const LayerBar *bar = &line->bars[i];
        double seconds = bar->to - bar->from;
        char name[96], a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE];
        snprintf(name, sizeof name, "%s, %s", bar->name, bar->from < line->forward ? "forward" : "backward");
        const char *cells[] = {name, step_text(seconds, a), share_text(seconds / line->end, b), ""};
        table_row(table, cells);
    }
}
