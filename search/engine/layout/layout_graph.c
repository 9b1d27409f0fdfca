/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The strategy graph of a stage, by differences: the cost of a stage is requested under one changed choice, then under
 * two, and what is not explained by what is known becomes the strategy's or the pair's own addition. Nothing of the
 * cost model is known here. */
#include "search/engine/layout/branch.h"

#include "base/util.h"
#include "cost/stage/stage_totals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const CostContext *setting;
    const Shard *shard;
    const Knobs *knobs;
    double weights[MOMENT_COUNT];
    LayoutGraph *graph;
    bool second; /* of two stages: the activations are those of the first */
    const Sharding *shardings;
    StageTotals *sums; /* of each sharding, which both stages have: those that are summed up */
    bool summed[SHARDINGS_MAX];
    bool known[NODE_ACTIVATION][STRATEGIES_MAX];
    bool pair_known[NODE_ACTIVATION][NODE_ACTIVATION][STRATEGIES_MAX][STRATEGIES_MAX];
    LayoutEdge edges[EDGES_MAX];
} Builder;

/* A change of strategy against the default sharding. */
typedef struct {
    int node, strategy;
} Change;

static int strategy_of(LayoutNode *node, int choice) {
    for (int i = 0; i < node->strategy_count; i++)
        if (node->strategies[i].choice == choice) return i;
    if (node->strategy_count == STRATEGIES_MAX) return 0;
    node->strategies[node->strategy_count].choice = choice;
    return node->strategy_count++;
}

static int changes_of(const Builder *builder, const Sharding *sharding, Change changes[NODE_ACTIVATION]) {
    int count = 0;
    for (int node = 0; node < NODE_ACTIVATION; node++) {
        int strategy = strategy_of(&builder->graph->nodes[node], sharding_choice(sharding, node));
        if (strategy > 0) changes[count++] = (Change){node, strategy};
    }
    return count;
}

static LayoutEdge *edge_between(Builder *builder, int first, int second) {
    LayoutGraph *graph = builder->graph;
    for (int i = 0; i < graph->edge_count; i++)
        if (builder->edges[i].first == first && builder->edges[i].second == second) return &builder->edges[i];
    LayoutEdge *edge = &builder->edges[graph->edge_count++];
    memset(edge, 0, sizeof(*edge));
    edge->first = first;
    edge->second = second;
    return edge;
}

/* wanted - known; what only rounding makes of it is nothing. False: nothing differs. */
static bool difference(const Resources *wanted, const Resources *known, Resources *out) {
    bool differs = false;
    for (int i = 0; i < RESOURCE_COUNT; i++) {
        double a = wanted->of[i], b = known->of[i], delta = a - b;
        out->of[i] = fabs(delta) <= 1e-12 * max_real(fabs(a), fabs(b)) ? 0 : delta;
        differs = differs || out->of[i] != 0;
    }
    return differs;
}

static void activation_adds(const Builder *builder, const ActivationCost *cost, int state, Resources *out) {
    memset(out, 0, sizeof(*out));
    resources_add_state(cost, (ActivationState)state, 1, builder->weights, out);
}

/* What a stage takes where no activation's strategy says otherwise: everything saved, or what the required policy
 * has. */
static void stage_as_required(Builder *builder, const Sharding *sharding, const ActivationCost costs[ACTIVATION_COUNT],
                              Resources *out) {
    int at = (int)(sharding - builder->shardings);
    if (!builder->summed[at])
        stage_sums(builder->setting, builder->shard, &builder->knobs->methods, sharding, &builder->sums[at]);
    builder->summed[at] = true;
    resources_of_sums(builder->setting, builder->shard, builder->knobs, sharding, &builder->sums[at], out);
    for (int a = 0; a < ACTIVATION_COUNT; a++)
        for (int state = STATE_RECOMPUTED; state < STATE_COUNT; state++)
            if (builder->graph->required[a][state] > 0)
                resources_add_state(&costs[a], (ActivationState)state, (double)builder->graph->required[a][state],
                                    builder->weights, out);
}

/* Takes in the required policy; false: it cannot be followed here. */
static bool require_policy(Builder *builder, const ActivationCost costs[ACTIVATION_COUNT]) {
    const RematRule *remat = cost_context_remat(builder->setting);
    LayoutGraph *graph = builder->graph;
    bool offloads = graph->rule.offload_bytes_per_second > 0, possible = true;
    for (int a = 0; remat && a < ACTIVATION_COUNT; a++) {
        int64_t *layers = graph->required[a];
        if (!costs[a].exists) continue;
        remat_layers(remat, (Activation)a, (int64_t)graph->layers, layers);
        possible = possible && (layers[STATE_OFFLOADED] == 0 || (offloads && costs[a].offloadable)) &&
                   (layers[STATE_RECOMPUTED] + layers[STATE_PARTLY] == 0 || costs[a].recomputable);
    }
    return possible;
}

static bool add_nodes(Builder *builder, const Sharding *shardings, int count) {
    LayoutGraph *graph = builder->graph;
    if (count < 1) return false;
    ActivationCost costs[ACTIVATION_COUNT];
    stage_activations(builder->setting, builder->shard, builder->knobs, &shardings[0], costs);
    graph->domain = cost_context_domain(builder->setting);
    graph->chunks = max_whole(1, builder->knobs->virtual_stages);
    for (int a = 0; a < ACTIVATION_COUNT; a++) graph->exists[a] = costs[a].exists;
    if (!require_policy(builder, costs)) graph->rule.memory_limit_bytes = -1; /* nothing fits */
    stage_as_required(builder, &shardings[0], costs, &graph->base);
    for (int node = 0; node < NODE_ACTIVATION; node++) {
        graph->nodes[node].units = 1;
        for (int i = 0; i < count; i++) strategy_of(&graph->nodes[node], sharding_choice(&shardings[i], node));
        builder->known[node][0] = true;
    }
    for (int a = 0; a < ACTIVATION_COUNT; a++) {
        LayoutNode *node = &graph->nodes[NODE_ACTIVATION + a];
        node->units = graph->layers;
        node->strategies[node->strategy_count++].choice = STATE_SAVED;
        if (!costs[a].exists || cost_context_remat(builder->setting)) continue;
        for (int state = STATE_RECOMPUTED; state < STATE_COUNT; state++) {
            if (state != STATE_OFFLOADED ? !costs[a].recomputable
                                         : !(graph->rule.offload_bytes_per_second > 0 && costs[a].offloadable))
                continue;
            if (graph->domain ? !graph->domain->has[a][state] : state == STATE_PARTLY) continue;
            Strategy *strategy = &node->strategies[node->strategy_count++];
            strategy->choice = state;
            activation_adds(builder, &costs[a], state, &strategy->adds);
        }
    }
    return true;
}

/* What the graph knows so far of a sharding: all saved, and each activation's states. */
static void predict(const Builder *builder, const Change *changes, int count, Resources *saved,
                    Resources states[NODE_COUNT][STRATEGIES_MAX]) {
    const LayoutGraph *graph = builder->graph;
    int strategy[NODE_ACTIVATION] = {0};
    *saved = graph->base;
    for (int node = NODE_ACTIVATION; node < NODE_COUNT; node++)
        for (int j = 0; j < graph->nodes[node].strategy_count; j++)
            states[node][j] = graph->nodes[node].strategies[j].adds;
    for (int c = 0; c < count; c++) {
        strategy[changes[c].node] = changes[c].strategy;
        const Resources *adds = &graph->nodes[changes[c].node].strategies[changes[c].strategy].adds;
        for (int r = 0; r < RESOURCE_COUNT; r++) saved->of[r] += adds->of[r];
    }
    for (int e = 0; e < graph->edge_count; e++) {
        const LayoutEdge *edge = &builder->edges[e];
        int i = strategy[edge->first];
        bool pair = edge->second < NODE_ACTIVATION;
        for (int j = pair ? strategy[edge->second] : 1; j < graph->nodes[edge->second].strategy_count; j++) {
            Resources *to = pair ? saved : &states[edge->second][j];
            for (int r = 0; r < RESOURCE_COUNT; r++) to->of[r] += edge->adds[i][j].of[r];
            if (pair) break;
        }
    }
}

/* The first strategy, else the first pair, among the changes of which nothing is known. False: all is known. The others
 * are nothing from now on: their part cannot be distinguished from this one's. */
static bool first_unknown(Builder *builder, const Change *changes, int count, Change found[2]) {
    bool any = false;
    for (int c = 0; c < count; c++)
        if (!builder->known[changes[c].node][changes[c].strategy]) {
            if (!any) found[0] = found[1] = changes[c];
            any = builder->known[changes[c].node][changes[c].strategy] = true;
        }
    for (int c = 0; c < count; c++)
        for (int d = c + 1; d < count; d++) {
            bool *known =
                &builder->pair_known[changes[c].node][changes[d].node][changes[c].strategy][changes[d].strategy];
            if (!*known && !any) found[0] = changes[c], found[1] = changes[d];
            any = any || !*known;
            *known = true;
        }
    return any;
}

static void learn(Builder *builder, const Sharding *sharding, const Change *changes, int count) {
    Change unknown[2] = {{0}};
    if (!first_unknown(builder, changes, count, unknown)) return;
    LayoutGraph *graph = builder->graph;
    int node = unknown[0].node, strategy = unknown[0].strategy;
    bool single = unknown[1].node == node;
    Resources wanted, saved, adds, states[NODE_COUNT][STRATEGIES_MAX];
    predict(builder, changes, count, &saved, states);
    ActivationCost costs[ACTIVATION_COUNT];
    if (!builder->second || cost_context_remat(builder->setting))
        stage_activations(builder->setting, builder->shard, builder->knobs, sharding, costs);
    stage_as_required(builder, sharding, costs, &wanted);
    if (difference(&wanted, &saved, &adds)) {
        if (single)
            graph->nodes[node].strategies[strategy].adds = adds;
        else
            edge_between(builder, node, unknown[1].node)->adds[strategy][unknown[1].strategy] = adds;
    }
    if (!single || builder->second) return;
    for (int a = 0; a < ACTIVATION_COUNT; a++) {
        int second = NODE_ACTIVATION + a;
        for (int j = 1; j < graph->nodes[second].strategy_count; j++) {
            activation_adds(builder, &costs[a], graph->nodes[second].strategies[j].choice, &wanted);
            if (difference(&wanted, &states[second][j], &adds))
                edge_between(builder, node, second)->adds[strategy][j] = adds;
        }
    }
}

/* Pairs that stand together in no sharding. */
static void forbid_pairs(Builder *builder) {
    const LayoutGraph *graph = builder->graph;
    for (int a = 0; a < NODE_ACTIVATION; a++)
        for (int b = a + 1; b < NODE_ACTIVATION; b++)
            for (int i = 0; i < graph->nodes[a].strategy_count; i++)
                for (int j = 0; j < graph->nodes[b].strategy_count; j++)
                    if (!builder->pair_known[a][b][i][j]) edge_between(builder, a, b)->forbidden[i][j] = true;
}

/* A default alongside a change is known with it: differences are taken against the default. */
static void know_defaults(Builder *builder, const Sharding *shardings, int count) {
    for (int s = 0; s < count; s++)
        for (int a = 0; a < NODE_ACTIVATION; a++)
            for (int b = a + 1; b < NODE_ACTIVATION; b++) {
                int i = strategy_of(&builder->graph->nodes[a], sharding_choice(&shardings[s], a));
                int j = strategy_of(&builder->graph->nodes[b], sharding_choice(&shardings[s], b));
                if (i == 0 || j == 0) builder->pair_known[a][b][i][j] = true;
            }
}

/* Too large for the stack of a thread that somebody else has started. */
typedef struct {
    Builder builder;
    Sharding shardings[SHARDINGS_MAX];
    StageTotals sums[SHARDINGS_MAX];
} Room;

/* Leaves of the first stage's graph what does not depend on the stage: its nodes, and what activations add. */
static void keep_activations(Builder *builder, const LayoutGraph *first) {
    LayoutGraph *graph = builder->graph;
    *graph = *first;
    graph->edge_count = 0;
    for (int e = 0; e < first->edge_count; e++)
        if (builder->edges[e].second >= NODE_ACTIVATION) builder->edges[graph->edge_count++] = builder->edges[e];
    for (int node = 0; node < NODE_ACTIVATION; node++)
        for (int i = 0; i < graph->nodes[node].strategy_count; i++)
            memset(&graph->nodes[node].strategies[i].adds, 0, sizeof(Resources));
    memset(builder->known, 0, sizeof builder->known);
    memset(builder->pair_known, 0, sizeof builder->pair_known);
}

/* The nodes and edges of a stage; `count` shardings are allowed. */
static bool build(Room *work, int count, Arena *arena, Error *error) {
    Builder *builder = &work->builder;
    LayoutGraph *out = builder->graph;
    const Sharding *shardings = work->shardings;
    know_defaults(builder, shardings, count);
    for (int level = 1; level <= NODE_ACTIVATION; level++)
        for (int s = 1; s < count; s++) {
            Change changes[NODE_ACTIVATION];
            if (changes_of(builder, &shardings[s], changes) == level) learn(builder, &shardings[s], changes, level);
        }
    forbid_pairs(builder);
    out->edges = ARENA_NEW(arena, LayoutEdge, (size_t)out->edge_count);
    if (!out->edges) return error_memory(error);
    memcpy(out->edges, builder->edges, (size_t)out->edge_count * sizeof(LayoutEdge));
    return true;
}

/* The graph of the other stage, where there is one. */
static bool build_other(Room *work, int count, Arena *arena, LayoutGraph *first, Error *error) {
    Builder *builder = &work->builder;
    Shard shard;
    if (!stage_other_pace(builder->setting, builder->shard, &shard)) return true;
    LayoutGraph *other = builder->graph = ARENA_NEW(arena, LayoutGraph, 1);
    if (!other) return error_memory(error);
    builder->shard = &shard;
    builder->second = true;
    keep_activations(builder, first);
    double limit = first->rule.memory_limit_bytes;
    step_rule(builder->setting, &shard, builder->knobs, &other->rule);
    other->rule.memory_limit_bytes = limit; /* nothing fits where a policy cannot be followed */
    ActivationCost costs[ACTIVATION_COUNT];
    if (cost_context_remat(builder->setting))
        stage_activations(builder->setting, &shard, builder->knobs, &work->shardings[0], costs);
    stage_as_required(builder, &work->shardings[0], costs, &other->base);
    for (int node = 0; node < NODE_ACTIVATION; node++) builder->known[node][0] = true;
    if (!build(work, count, arena, error)) return false;
    first->other = other;
    return true;
}

bool layout_graph(const CostContext *setting, const Shard *shard, const Knobs *knobs, Arena *arena, LayoutGraph *out,
                  Error *error) {
    Room *work = malloc(sizeof *work);
    memset(out, 0, sizeof(*out));
    if (!work) return error_memory(error);
    Builder *builder = &work->builder;
    memset(builder, 0, sizeof *builder);
    builder->setting = setting;
    builder->shard = shard;
    builder->knobs = knobs;
    builder->graph = out;
    builder->shardings = work->shardings;
    builder->sums = work->sums;
    out->layers = shard->layers;
    step_rule(setting, shard, knobs, &out->rule);
    microbatches_in_flight(setting, shard, knobs, builder->weights);
    int count = shardings_of(setting, shard, work->shardings);
    bool ok = add_nodes(builder, work->shardings, count) && build(work, count, arena, error) &&
              build_other(work, count, arena, out, error);
    free(work);
    if (count < 1) return error_set(error, ERROR_INTERNAL, "layout", "no sharding is allowed under these degrees");
    return ok;
}
