/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tests/search/layout_random.h: random layout graphs and rates, and the best layout by trying all of them. */
#pragma once

#include "search/engine/layout/layout.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    uint64_t state;
} Random;

static inline uint64_t random_next(Random *random) { /* splitmix64 */
    uint64_t z = random->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}
static inline double random_real(Random *random, double low, double high) {
    return low + (high - low) * (double)(random_next(random) >> 11) * 0x1p-53;
}
static inline int random_below(Random *random, int n) { return (int)(random_next(random) % (uint64_t)n); }
static inline bool random_chance(Random *random, double share) { return random_real(random, 0, 1) < share; }

/* Time and traffic of about `size` of a stage; attention is the same for all layouts. Sparse, as real ones are. */
static inline void random_resources(Random *random, double size, double density, Resources *out) {
    memset(out, 0, sizeof(*out));
    for (int i = RES_COMPUTE_FORWARD; i <= RES_COMPUTE_BACKWARD; i++)
        if (random_chance(random, density)) out->of[i] = size * random_real(random, 0, 1);
    for (int i = RES_MESSAGES; i < RES_MEMORY; i++)
        if (random_chance(random, density)) out->of[i] = size * random_real(random, 0, 1) * (i < RES_BYTES ? 100 : 1e9);
}

typedef struct {
    LayoutGraph graph;
    LayoutEdge edges[EDGES_MAX];
    Rates rates;
} RandomCase;

static inline void random_rates(Random *random, Rates *out) {
    memset(out, 0, sizeof(*out));
    out->axis_count = 1 + random_below(random, 5);
    for (int group = 0; group < GROUP_COUNT; group++) {
        if (random_chance(random, 0.2)) continue;
        CollectiveCost *cost = &out->cost[group];
        cost->latency_seconds[0] = random_real(random, 0, 1e-3);
        cost->seconds_per_byte[1] = random_real(random, 0, 4e-10);
        if (random_chance(random, 0.4)) cost->seconds_per_byte[0] = cost->seconds_per_byte[1]; /* a switch */
        out->axes[group] = (unsigned)random_below(random, 1 << out->axis_count);
    }
    if (random_chance(random, 0.5)) out->host_lane = 1u << (out->axis_count - 1);
}

/* `layers` of the stage; `kinds` activations that exist; `tight`: share of the saved activations that must go, at
 * about. */
static inline void random_case(Random *random, int layers, int kinds, double tight, RandomCase *out) {
    LayoutGraph *graph = &out->graph;
    memset(out, 0, sizeof(*out));
    graph->layers = layers;
    graph->edges = out->edges;
    StepRule *rule = &graph->rule;
    rule->microbatches = 1 + random_below(random, 6);
    for (int phase = 0; phase < PHASE_COUNT; phase++)
        rule->bubble[phase] = random_chance(random, 0.5) ? random_real(random, 0, 0.5) : 0;
    rule->ring = random_chance(random, 0.3);
    for (int group = 0; group < GROUP_COUNT; group++)
        rule->exposed[group] = random_chance(random, 0.5) ? group < GROUP_WEIGHTS : random_real(random, 0, 1);
    for (int i = 0; i < DATA_GROUPS; i++) {
        rule->data_end[i] = (Traffic){random_real(random, 0, 10), random_real(random, 0, 1e9)};
        rule->data_start[i] = (Traffic){random_real(random, 0, 10), random_real(random, 0, 1e9)};
    }
    rule->optimizer_seconds = random_real(random, 0, 0.05);
    rule->other_seconds = random_real(random, 0, 0.05);
    rule->offload_bytes_per_second = random_chance(random, 0.7) ? random_real(random, 1e9, 60e9) : 0;

    rule->host_exposed = random_chance(random, 0.5) ? random_real(random, 0, 0.3) : 0;
    random_resources(random, 1, 0.7, &graph->base);
    graph->base.of[RES_ATTENTION_FORWARD] = random_real(random, 0, 0.5);
    graph->base.of[RES_ATTENTION_BACKWARD] = random_real(random, 0, 0.5);
    for (int node = 0; node < NODE_COUNT; node++) {
        graph->nodes[node].units = node < NODE_ACTIVATION ? 1 : layers;
        graph->nodes[node].strategy_count = 1;
    }
    for (int node = 0; node < NODE_ACTIVATION; node++) {
        int count = node == NODE_KV ? 1 + random_below(random, 3) : 1 + random_below(random, 2);
        graph->nodes[node].strategy_count = count;
        for (int i = 1; i < count; i++) {
            graph->nodes[node].strategies[i].choice = i;
            Resources *adds = &graph->nodes[node].strategies[i].adds;
            random_resources(random, 0.05, 0.4, adds);
            for (int r = 0; r < RES_MEMORY; r++) /* part of the base is traded away */
                if (random_chance(random, 0.3) && (r < RES_ATTENTION_FORWARD || r > RES_OFFLOAD_BYTES))
                    adds->of[r] -= 0.05 * graph->base.of[r];
            for (int moment = 0; moment < MOMENT_COUNT; moment++)
                adds->of[RES_MEMORY + moment] = random_real(random, -2e9, 2e9);
        }
    }
    double weights[MOMENT_COUNT], bytes[ACTIVATION_COUNT], saved = 0;
    for (int moment = 0; moment < MOMENT_COUNT; moment++)
        weights[moment] = random_chance(random, 0.3) ? 0 : random_real(random, 0.3, 1);
    for (int a = 0; a < kinds; a++) {
        LayoutNode *node = &graph->nodes[NODE_ACTIVATION + a];
        bytes[a] = random_real(random, 0.1e9, 4e9);
        if (random_chance(random, 0.2)) bytes[a] = floor(bytes[a] / 1e9 + 1) * 1e9; /* ties */
        saved += bytes[a] * layers;
        node->strategies[0].choice = STATE_SAVED;
        for (int state = STATE_RECOMPUTED; state <= STATE_OFFLOADED; state++) {
            if (state == STATE_RECOMPUTED ? random_chance(random, 0.15) : rule->offload_bytes_per_second == 0) continue;
            Strategy *strategy = &node->strategies[node->strategy_count++];
            strategy->choice = state;
            if (state == STATE_RECOMPUTED)
                random_resources(random, 0.1, 0.2, &strategy->adds);
            else
                strategy->adds.of[RES_OFFLOAD_BYTES] = 2 * bytes[a];
            for (int moment = 0; moment < MOMENT_COUNT; moment++)
                strategy->adds.of[RES_MEMORY + moment] = -weights[moment] * bytes[a];
        }
    }
    for (int first = 0; first < NODE_ACTIVATION; first++)
        for (int second = first + 1; second < NODE_ACTIVATION + kinds; second++) {
            const LayoutNode *a = &graph->nodes[first], *b = &graph->nodes[second];
            if (a->strategy_count < 2 || b->strategy_count < 2 || !random_chance(random, 0.25)) continue;
            LayoutEdge *edge = &out->edges[graph->edge_count++];
            edge->first = first, edge->second = second;
            for (int i = 1; i < a->strategy_count; i++)
                for (int j = 1; j < b->strategy_count; j++) {
                    edge->forbidden[i][j] = random_chance(random, 0.2);
                    random_resources(random, 0.02, 0.2, &edge->adds[i][j]);
                    if (b->strategies[j].choice == STATE_OFFLOADED && second >= NODE_ACTIVATION)
                        memset(&edge->adds[i][j], 0, sizeof(Resources));
                    for (int moment = 0; moment < MOMENT_COUNT; moment++)
                        edge->adds[i][j].of[RES_MEMORY + moment] =
                            random_real(random, -1, 1) * (second < NODE_ACTIVATION ? 1e9 : 0.05e9);
                }
        }
    for (int moment = 0; moment < MOMENT_COUNT; moment++)
        graph->base.of[RES_MEMORY + moment] = 10e9 + weights[moment] * saved + random_real(random, 0, 1e9);
    rule->memory_limit_bytes = 10e9 + (1 - tight) * saved + random_real(random, 0, 1e9);
    random_rates(random, &out->rates);
}

/* Tries every layout. The sums are written out here anew, from the header's words. */
typedef struct {
    const RandomCase *of;
    int strategy[NODE_COUNT];
    int counts[NODE_COUNT][STRATEGIES_MAX];
    double best;
    const Rates *rates;
} Exhaustive;

/* What the layout takes of a stage in seconds; INFINITY: it does not fit, or is forbidden. */
static inline double exhaustive_seconds(const Exhaustive *search, const LayoutGraph *graph) {
    Resources sum = graph->base;
    for (int node = 0; node < NODE_COUNT; node++)
        for (int j = 0; j < graph->nodes[node].strategy_count; j++) {
            double times = node < NODE_ACTIVATION ? search->strategy[node] == j : search->counts[node][j];
            for (int r = 0; r < RESOURCE_COUNT; r++) sum.of[r] += times * graph->nodes[node].strategies[j].adds.of[r];
        }
    for (int e = 0; e < graph->edge_count; e++) {
        const LayoutEdge *edge = &graph->edges[e];
        int i = search->strategy[edge->first];
        for (int j = 0; j < graph->nodes[edge->second].strategy_count; j++) {
            double times =
                edge->second < NODE_ACTIVATION ? search->strategy[edge->second] == j : search->counts[edge->second][j];
            if (times > 0 && edge->forbidden[i][j]) return INFINITY;
            for (int r = 0; r < RESOURCE_COUNT; r++) sum.of[r] += times * edge->adds[i][j].of[r];
        }
    }
    for (int moment = 0; moment < MOMENT_COUNT; moment++)
        if (sum.of[RES_MEMORY + moment] > graph->rule.memory_limit_bytes) return INFINITY;
    return step_seconds(&graph->rule, &sum, search->rates);
}

/* A step is the longer of both stages that may set the pace. */
static inline void exhaustive_price(Exhaustive *search) {
    const LayoutGraph *graph = &search->of->graph;
    double seconds = exhaustive_seconds(search, graph);
    if (seconds < search->best && graph->other) seconds = max_real(seconds, exhaustive_seconds(search, graph->other));
    if (seconds < search->best) search->best = seconds;
}

static inline void exhaustive_node(Exhaustive *search, int node) {
    const LayoutGraph *graph = &search->of->graph;
    if (node == NODE_COUNT) {
        exhaustive_price(search);
        return;
    }
    int strategies = graph->nodes[node].strategy_count, layers = (int)graph->layers;
    if (node < NODE_ACTIVATION) {
        for (search->strategy[node] = 0; search->strategy[node] < strategies; search->strategy[node]++)
            exhaustive_node(search, node + 1);
        return;
    }
    for (int second = 0; second <= (strategies > 1 ? layers : 0); second++)
        for (int third = 0; third <= (strategies > 2 ? layers - second : 0); third++) {
            search->counts[node][0] = layers - second - third;
            search->counts[node][1] = second;
            search->counts[node][2] = third;
            exhaustive_node(search, node + 1);
        }
}

/* INFINITY: no layout fits. */
static inline double exhaustive_best(const RandomCase *of, const Rates *rates) {
    Exhaustive search = {.of = of, .best = INFINITY, .rates = rates};
    exhaustive_node(&search, 0);
    return search.best;
}
