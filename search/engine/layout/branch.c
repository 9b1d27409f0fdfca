/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/engine/layout/branch.h"

#include "base/util.h"

#include <math.h>
#include <string.h>

static void add_resources(Resources *to, const Resources *adds) {
    for (int i = 0; i < RESOURCE_COUNT; i++) to->of[i] += adds->of[i];
}

int branch_count(const LayoutGraph *graph) {
    int count = 1;
    for (int node = 0; node < NODE_ACTIVATION; node++) count *= graph->nodes[node].strategy_count;
    return count;
}

bool branch_at(const LayoutGraph *graph, int index, Branch *out) {
    out->saved = graph->base;
    for (int node = NODE_ACTIVATION - 1; node >= 0; node--) {
        out->strategy[node] = index % graph->nodes[node].strategy_count;
        index /= graph->nodes[node].strategy_count;
    }
    for (int node = 0; node < NODE_ACTIVATION; node++)
        if (out->strategy[node] > 0)
            add_resources(&out->saved, &graph->nodes[node].strategies[out->strategy[node]].adds);

    int first_item[NODE_COUNT];
    out->item_count = 0;
    for (int node = NODE_ACTIVATION; node < NODE_COUNT; node++) {
        first_item[node] = out->item_count;
        for (int j = 1; j < graph->nodes[node].strategy_count; j++)
            out->items[out->item_count++] = (BranchItem){
                .activation = node - NODE_ACTIVATION,
                .state = (ActivationState)graph->nodes[node].strategies[j].choice,
                .layers = floor(graph->nodes[node].units),
                .adds = graph->nodes[node].strategies[j].adds,
            };
    }
    for (int e = 0; e < graph->edge_count; e++) {
        const LayoutEdge *edge = &graph->edges[e];
        int i = out->strategy[edge->first];
        if (edge->second < NODE_ACTIVATION) {
            int j = out->strategy[edge->second];
            if (edge->forbidden[i][j]) return false;
            add_resources(&out->saved, &edge->adds[i][j]);
            continue;
        }
        for (int j = 1; j < graph->nodes[edge->second].strategy_count; j++) {
            BranchItem *item = &out->items[first_item[edge->second] + j - 1];
            add_resources(&item->adds, &edge->adds[i][j]);
            if (edge->forbidden[i][j]) item->layers = 0;
        }
    }
    /* Sums of differences: what rounding leaves below zero is zero. */
    for (int i = 0; i < out->item_count; i++)
        for (int r = 0; r < RES_MEMORY; r++) out->items[i].adds.of[r] = max_real(0, out->items[i].adds.of[r]);
    for (int r = 0; r < RES_MEMORY; r++) out->saved.of[r] = max_real(0, out->saved.of[r]);
    return true;
}

/* The counts of a branch under a rule; false: it cannot follow it. */
static bool follow(const LayoutGraph *graph, const Branch *branch, int index, int64_t counts[ITEMS_MAX]) {
    const RematRule *rule = &graph->domain->rules[index];
    int64_t layers = (int64_t)graph->layers, in = rule->layers > 0 ? min_whole(rule->layers, layers) : layers;
    memset(counts, 0, sizeof(int64_t) * ITEMS_MAX);
    if (graph->domain->by_chunk && in < layers && in % graph->chunks != 0) return false;
    for (int a = 0; a < ACTIVATION_COUNT; a++) {
        if (rule->state[a] == STATE_SAVED || !graph->exists[a]) continue;
        int item = 0;
        while (item < branch->item_count &&
               !(branch->items[item].activation == a && branch->items[item].state == rule->state[a]))
            item++;
        if (item == branch->item_count || (double)in > branch->items[item].layers) return false;
        counts[item] = in;
    }
    return true;
}

static bool frees_memory(const BranchItem *item) {
    for (int moment = 0; moment < MOMENT_COUNT; moment++)
        if (item->layers > 0 && item->adds.of[RES_MEMORY + moment] < 0) return true;
    return false;
}

static bool item_covers(const BranchItem *item, const BranchItem *other) {
    if (item->activation != other->activation || item->layers < other->layers) return false;
    for (int r = 0; r < RESOURCE_COUNT; r++)
        if (item->adds.of[r] > other->adds.of[r]) return false;
    return true;
}

void branch_drop_useless(Branch *branch) {
    bool keep[ITEMS_MAX];
    for (int i = 0; i < branch->item_count; i++) keep[i] = frees_memory(&branch->items[i]);
    for (int i = 0; i < branch->item_count; i++)
        for (int j = 0; j < branch->item_count && keep[i]; j++)
            if (j != i && keep[j] && item_covers(&branch->items[j], &branch->items[i])) keep[i] = false;
    int kept = 0;
    for (int i = 0; i < branch->item_count; i++)
        if (keep[i]) branch->items[kept++] = branch->items[i];
    branch->item_count = kept;
}

void branch_resources(const Branch *branch, const int64_t counts[ITEMS_MAX], Resources *out) {
    *out = branch->saved;
    for (int i = 0; i < branch->item_count; i++) {
        if (counts[i] == 0) continue;
        for (int r = 0; r < RESOURCE_COUNT; r++) out->of[r] += (double)counts[i] * branch->items[i].adds.of[r];
    }
}

Layout branch_layout(const LayoutGraph *graph, const Branch *branch, const int64_t counts[ITEMS_MAX]) {
    Layout layout;
    memset(&layout, 0, sizeof(layout));
    for (int node = 0; node < NODE_ACTIVATION; node++)
        sharding_choose(&layout.sharding, node, graph->nodes[node].strategies[branch->strategy[node]].choice);
    for (int a = 0; a < ACTIVATION_COUNT; a++) {
        layout.layers[a][STATE_SAVED] = (int64_t)graph->layers;
        for (int state = STATE_RECOMPUTED; state < STATE_COUNT; state++) {
            layout.layers[a][state] = graph->required[a][state];
            layout.layers[a][STATE_SAVED] -= graph->required[a][state];
        }
    }
    for (int i = 0; i < branch->item_count; i++) {
        const BranchItem *item = &branch->items[i];
        layout.layers[item->activation][item->state] += counts[i];
        layout.layers[item->activation][STATE_SAVED] -= counts[i];
    }
    return layout;
}

/* The branch of a layout's sharding; a choice that the graph does not know stands for the default. */
static int branch_of_sharding(const LayoutGraph *graph, const Sharding *sharding) {
    int index = 0;
    for (int node = 0; node < NODE_ACTIVATION; node++) {
        int strategy = 0;
        for (int i = 0; i < graph->nodes[node].strategy_count; i++)
            if (graph->nodes[node].strategies[i].choice == sharding_choice(sharding, node)) strategy = i;
        index = index * graph->nodes[node].strategy_count + strategy;
    }
    return index;
}

void layout_resources(const LayoutGraph *graph, const Layout *layout, Resources *out) {
    Branch branch;
    branch_at(graph, branch_of_sharding(graph, &layout->sharding), &branch);
    int64_t counts[ITEMS_MAX] = {0};
    for (int i = 0; i < branch.item_count; i++)
        counts[i] = layout->layers[branch.items[i].activation][branch.items[i].state];
    branch_resources(&branch, counts, out);
}

bool domain_layout_next(const LayoutGraph *graph, DomainLayout *at) {
    int branches = branch_count(graph);
    for (; at->index < branches; at->index++, at->rule = 0) {
        if (at->rule == 0 && !branch_at(graph, at->index, &at->branch)) continue;
        while (at->rule < graph->domain->count) {
            if (!follow(graph, &at->branch, at->rule++, at->counts)) continue;
            branch_resources(&at->branch, at->counts, &at->resources);
            return true;
        }
    }
    return false;
}

void domain_layout_fits(const LayoutGraph *graph, DomainLayout *at) {
    if (graph->domain->first_least && at->rule == 1) at->rule = graph->domain->count;
}
