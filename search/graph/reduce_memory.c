/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the memory that every choice takes, the slots that can be too full at all, and the states that do not fit
 * on top of the least memory of all others. */
#include "search/graph/reduction.h"
#include "search/graph/workspace.h"

#include <stdlib.h>

/* The least usage of an item; the next function gives its largest. */
static int64_t least_usage(const MemoryItem *item, int states) {
    int64_t least = item->usage[0];
    for (int s = 1; s < states; s++)
        if (item->usage[s] < least) least = item->usage[s];
    return least;
}

static int64_t largest_usage(const MemoryItem *item, int states) {
    int64_t largest = item->usage[0];
    for (int s = 1; s < states; s++)
        if (item->usage[s] > largest) largest = item->usage[s];
    return largest;
}

int memory_item_order(const void *a, const void *b) {
    const MemoryItem *x = a, *y = b;
    return x->first != y->first ? (x->first > y->first) - (x->first < y->first)
                                : (x->past > y->past) - (x->past < y->past);
}

/* Joins the items with one interval; the order within ties does not matter, because the sums are exact. */
static void join_items(Reduction *reduction, ReducedNode *node) {
    int kept = 0;
    if (node->item_count < 2) return;
    qsort(node->items, (size_t)node->item_count, sizeof *node->items, memory_item_order);
    for (int i = 0; i < node->item_count; i++) {
        MemoryItem *item = &node->items[i], *last = kept ? &node->items[kept - 1] : NULL;
        if (last && memory_item_order(last, item) == 0) {
            for (int s = 0; s < node->states; s++) last->usage[s] += item->usage[s];
            workspace_give(reduction->space, item->usage, (size_t)node->states, sizeof *item->usage);
        } else {
            node->items[kept++] = *item;
        }
    }
    node->item_count = kept;
}

/* The least of each item goes to `more` (by slot, as differences); an item that is then constant is removed. */
static bool take_least(ReducedNode *node, int64_t *more) {
    int kept = 0;
    for (int i = 0; i < node->item_count; i++) {
        MemoryItem *item = &node->items[i];
        int64_t least = least_usage(item, node->states);
        more[item->first] += least;
        more[item->past] -= least;
        for (int s = 0; s < node->states; s++) item->usage[s] -= least;
        if (largest_usage(item, node->states) > 0 && item->first < item->past) node->items[kept++] = *item;
    }
    bool changed = kept < node->item_count;
    node->item_count = kept;
    return changed;
}

/* next[t] is the first slot from t on that can be too full; `slots` means that there is none. */
static void find_tight(const Reduction *reduction, int64_t *most, int *next) {
    next[reduction->slots] = reduction->slots;
    for (int t = 0; t < reduction->slots; t++) most[t + 1] += most[t];
    for (int t = reduction->slots - 1; t >= 0; t--)
        next[t] = reduction->base[t] + most[t] > reduction->graph->usage_limit ? t : next[t + 1];
}

static bool trim_items(ReducedNode *node, const int *next, const int *last) {
    int kept = 0;
    for (int i = 0; i < node->item_count; i++) {
        MemoryItem *item = &node->items[i];
        item->first = next[item->first];
        item->past = last[item->past - 1] + 1;
        if (item->first < item->past) node->items[kept++] = *item;
    }
    bool changed = kept < node->item_count;
    node->item_count = kept;
    return changed;
}

static bool kill_unfitting(Reduction *reduction) {
    bool changed = false;
    Peaks peaks = peaks_new(reduction->slots, reduction->space);
    peaks_fill(&peaks, reduction->base);
    for (int i = 0; i < reduction->node_count && !reduction->infeasible; i++) {
        ReducedNode *node = &reduction->nodes[i];
        if (node->gone || node->item_count == 0) continue;
        for (int s = 0; s < node->states; s++) {
            reduction->keep[s] = true;
            for (int k = 0; k < node->item_count; k++) {
                const MemoryItem *item = &node->items[k];
                if (item->usage[s] > 0 &&
                    peaks_of(&peaks, item->first, item->past) + item->usage[s] > reduction->graph->usage_limit)
                    reduction->keep[s] = false;
            }
        }
        changed |= reduction_keep_some(reduction, i, reduction->keep);
    }
    peaks_free(&peaks, reduction->space);
    return changed;
}

static void find_excess(Reduction *reduction) {
    for (int t = 0; t < reduction->slots; t++) {
        int64_t excess = reduction->base[t] - reduction->graph->usage_limit;
        if (excess <= reduction->excess) continue;
        reduction->infeasible = true;
        reduction->excess = excess;
        reduction->excess_time = reduction->slot_time[t];
    }
}

bool reduction_memory(Reduction *reduction) {
    int slots = reduction->slots;
    bool changed = false;
    if (!reduction->graph->is_limited || slots == 0) return false;
    int64_t *more = WORKSPACE_NEW(reduction->space, int64_t, slots + 1);
    int64_t *most = WORKSPACE_NEW(reduction->space, int64_t, slots + 1);
    int *next = WORKSPACE_NEW(reduction->space, int, slots + 1),
        *last = WORKSPACE_NEW(reduction->space, int, slots + 1);
    for (int i = 0; i < reduction->node_count; i++) {
        ReducedNode *node = &reduction->nodes[i];
        if (node->gone) continue;
        join_items(reduction, node);
        changed |= take_least(node, more);
        for (int k = 0; k < node->item_count; k++) {
            int64_t largest = largest_usage(&node->items[k], node->states);
            most[node->items[k].first] += largest;
            most[node->items[k].past] -= largest;
        }
    }
    for (int t = 0; t < slots; t++) {
        if (t > 0) more[t] += more[t - 1];
        reduction->base[t] += more[t];
    }
    find_excess(reduction);
    find_tight(reduction, most, next);
    for (int t = 0; t < slots; t++) last[t] = next[t] == t ? t : t > 0 ? last[t - 1] : -1;
    for (int i = 0; i < reduction->node_count; i++)
        if (!reduction->nodes[i].gone) changed |= trim_items(&reduction->nodes[i], next, last);
    if (!reduction->infeasible) changed |= kill_unfitting(reduction);
    workspace_give(reduction->space, more, (size_t)slots + 1, sizeof *more);
    workspace_give(reduction->space, most, (size_t)slots + 1, sizeof *most);
    workspace_give(reduction->space, next, (size_t)slots + 1, sizeof *next);
    workspace_give(reduction->space, last, (size_t)slots + 1, sizeof *last);
    return changed;
}
