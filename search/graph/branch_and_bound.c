/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/graph/branch_and_bound.h"

#include "base/util.h"
#include "search/graph/workspace.h"

#include <math.h>
#include <string.h>

enum {
    STEPS_MAX = 24,       /* price changes at a branch */
    STEPS_FEW = 8,        /* price changes after which it must look worth going on */
    FIXES_MAX = 3,        /* rounds of fixing states, in a row at a branch */
    DESCENT_WORK = 60000, /* entries of descent at a branch, plus DESCENT_TIMES for each entry of the core */
    DESCENT_TIMES = 10,
    OPEN_BYTES_MAX = 512 << 20
};

/* A part of the space: the states that remain, and the prices that suited it. */
typedef struct {
    int64_t bound;
    int64_t serial;     /* for ties: the younger part comes first */
    uint64_t *excluded; /* bits by core->at: a set bit means that the state is out */
    int prices;
    int *price_time;
    double *price;
} OpenNode;

typedef struct {
    const Core *core;
    Dual *dual;
    ExactBound *exact;
    Descent *descent;
    const BranchHooks *hooks;
    Workspace *space;
    int64_t cutoff;
    OpenNode *heap;
    int64_t count, room, serial, bytes;
    bool *blocked;
    double *block; /* the same as costs, for the doubles */
    double *root_message;
    int *choice;
    int64_t *least, *over; /* times + 1: the least usage, and that usage less the slack */
    Peaks peaks;           /* of `over` */
    int words;
} Search;

/* ---- what is open ---- */

static bool before(const OpenNode *a, const OpenNode *b) {
    return a->bound != b->bound ? a->bound < b->bound : a->serial > b->serial;
}

static void push(Search *search, OpenNode open) {
    if (search->count == search->room) {
        int64_t room = 2 * search->room + 64;
        search->heap =
            workspace_grow(search->space, search->heap, (size_t)search->room, (size_t)room, sizeof *search->heap);
        search->room = room;
    }
    int64_t k = search->count++;
    for (; k > 0 && before(&open, &search->heap[(k - 1) / 2]); k = (k - 1) / 2)
        search->heap[k] = search->heap[(k - 1) / 2];
    search->heap[k] = open;
}

static OpenNode pop(Search *search) {
    OpenNode top = search->heap[0], last = search->heap[--search->count];
    int64_t k = 0;
    for (int64_t child; (child = 2 * k + 1) < search->count; k = child) {
        if (child + 1 < search->count && before(&search->heap[child + 1], &search->heap[child])) child++;
        if (!before(&search->heap[child], &last)) break;
        search->heap[k] = search->heap[child];
    }
    search->heap[k] = last;
    return top;
}

static void save(Search *search, int64_t bound) {
    const Core *core = search->core;
    OpenNode open = {.bound = bound, .serial = search->serial++};
    open.excluded = workspace_take_zeroed(search->space, (size_t)search->words, sizeof *open.excluded);
    for (int s = 0; s < core->at[core->nodes]; s++)
        if (search->blocked[s]) open.excluded[s / 64] |= UINT64_C(1) << (s % 64);
    for (int t = 0; t < core->times; t++) open.prices += search->dual->best_price[t] > 0;
    open.price_time = workspace_take(search->space, (size_t)open.prices + 1, sizeof *open.price_time);
    open.price = workspace_take(search->space, (size_t)open.prices + 1, sizeof *open.price);
    for (int t = 0, k = 0; t < core->times; t++) {
        if (search->dual->best_price[t] <= 0) continue;
        open.price_time[k] = t;
        open.price[k++] = search->dual->best_price[t];
    }
    search->bytes += 64 + 8 * (int64_t)search->words + 16 * (int64_t)open.prices;
    push(search, open);
}

static void load(Search *search, OpenNode *open) {
    const Core *core = search->core;
    for (int s = 0; s < core->at[core->nodes]; s++) search->blocked[s] = open->excluded[s / 64] >> (s % 64) & 1;
    memset(search->dual->best_price, 0, (size_t)core->times * sizeof *search->dual->best_price);
    for (int k = 0; k < open->prices; k++) search->dual->best_price[open->price_time[k]] = open->price[k];
    memcpy(search->dual->message, search->root_message, core->message_size * sizeof *search->root_message);
    search->bytes -= 64 + 8 * (int64_t)search->words + 16 * (int64_t)open->prices;
    workspace_give(search->space, open->excluded, (size_t)search->words, sizeof *open->excluded);
    workspace_give(search->space, open->price_time, (size_t)open->prices + 1, sizeof *open->price_time);
    workspace_give(search->space, open->price, (size_t)open->prices + 1, sizeof *open->price);
}

/* ---- one part ---- */

static int remaining_states(const Search *search, int i) {
    int remaining = 0;
    for (int s = 0; s < search->core->count[i]; s++) remaining += !search->blocked[search->core->at[i] + s];
    return remaining;
}

static int64_t least_of_item(const Search *search, int i, const int64_t *usage) {
    int64_t least = INT64_MAX;
    for (int s = 0; s < search->core->count[i]; s++)
        if (!search->blocked[search->core->at[i] + s]) least = min_whole(least, usage[s]);
    return least;
}

/* Finds the least memory that the remaining states take at every time. False means that this is too much somewhere, or
 * that a node has no state any more. */
static bool find_least(Search *search) {
    const Core *core = search->core;
    memset(search->least, 0, ((size_t)core->times + 1) * sizeof *search->least);
    for (int i = 0; i < core->nodes; i++) {
        if (remaining_states(search, i) == 0) return false;
        for (int k = core->item_start[i]; k < core->item_start[i + 1]; k++) {
            int64_t least = least_of_item(search, i, core->usage + core->item_usage[k]);
            search->least[core->item_first[k]] += least;
            search->least[core->item_past[k]] -= least;
        }
    }
    for (int t = 0; t < core->times; t++) {
        if (t > 0) search->least[t] += search->least[t - 1];
        if (search->least[t] > core->slack[t]) return false;
    }
    for (int t = 0; t < core->times; t++) search->over[t] = search->least[t] - core->slack[t];
    if (core->times > 0) peaks_fill(&search->peaks, search->over);
    return true;
}

/* The excess of a state over the least of its node must fit in addition to the least of all nodes. True means that a
 * state did not fit and is blocked. */
static bool block_unfitting(Search *search, int i) {
    const Core *core = search->core;
    bool any = false;
    for (int k = core->item_start[i]; k < core->item_start[i + 1]; k++) {
        const int64_t *usage = core->usage + core->item_usage[k];
        int64_t least = least_of_item(search, i, usage);
        if (least == INT64_MAX) return any;
        int64_t room = -peaks_of(&search->peaks, core->item_first[k], core->item_past[k]);
        for (int s = 0; s < core->count[i]; s++) {
            if (search->blocked[core->at[i] + s] || usage[s] - least <= room) continue;
            search->blocked[core->at[i] + s] = true;
            any = true;
        }
    }
    return any;
}

/* Blocks states that do not fit. False means that nothing remains. */
static bool propagate_memory(Search *search) {
    const Core *core = search->core;
    bool changed = true;
    for (int pass = 0; pass < 3 && changed; pass++) {
        changed = false;
        if (!find_least(search)) return false;
        for (int i = 0; i < core->nodes; i++)
            if (remaining_states(search, i) > 1) changed |= block_unfitting(search, i);
    }
    return !changed || find_least(search);
}

static void block(Search *search) {
    const Core *core = search->core;
    for (int s = 0; s < core->at[core->nodes]; s++) search->block[s] = search->blocked[s] ? core->cap : 0;
    search->dual->blocked = search->block;
}

/* Moves prices while that raises the bound; leaves the best ones in force, with messages that suit them. */
static void bound_part(Search *search) {
    Dual *dual = search->dual;
    const Core *core = search->core;
    double target = (double)(search->cutoff - 1) - (double)core->constant;
    dual_price(dual, dual->best_price);
    dual->best_bound = -INFINITY;
    double first = volume_step(dual, 3, search->choice);
    dual->step = max_real(0.25 * fabs(target - first), 1e-6 * fabs(first) + 1e-3);
    dual->failures = 0;
    for (int k = 0; k < STEPS_MAX && dual->best_bound < target + 0.01 && core->times > 0; k++) {
        if (k == STEPS_FEW && dual->best_bound < first + 0.05 * (target - first)) break;
        volume_step(dual, 2, search->choice);
    }
    dual_price(dual, dual->best_price);
    dual_sweep(dual, NULL);
    dual_sweep(dual, search->choice);
}

/* Blocks states by their reduced costs (of certify_reduced); true means that some were blocked. */
static bool fix_states(Search *search) {
    const Core *core = search->core;
    bool any = false;
    for (int i = 0; i < core->nodes; i++)
        for (int s = 0; s < core->count[i]; s++) {
            if (search->blocked[core->at[i] + s] || !certified_above(search->exact, i, s, search->cutoff)) continue;
            search->blocked[core->at[i] + s] = true;
            any = true;
        }
    return any;
}

static void look_for_better(Search *search) {
    Descent *descent = search->descent;
    if (search->core->nodes == 0) return;
    descent->best_cost = INFINITY;
    descent->priced = search->dual->priced;
    descent_start(descent, search->choice);
    descent_run(descent, DESCENT_WORK + DESCENT_TIMES * (int64_t)search->core->entry_start[search->core->edges]);
    if (descent->best_cost < (double)(search->cutoff - search->core->constant) - 0.5)
        search->cutoff = min_whole(search->cutoff, search->hooks->take_choice(search->hooks->context, descent->best));
}

/* Chooses the node whose best state is clearest: its second best has the largest reduced cost. *best is that state.
 * Where all are tied, it takes the node with most states. */
static int choose_branch(Search *search, int *best, int64_t *rest_bound) {
    const Core *core = search->core;
    int chosen = -1;
    __int128 widest = -1;
    for (int i = 0; i < core->nodes; i++) {
        if (remaining_states(search, i) < 2) continue;
        __int128 first = 0, second = 0;
        int at = -1, others = 0;
        for (int s = 0; s < core->count[i]; s++) {
            if (search->blocked[core->at[i] + s]) continue;
            __int128 reduced = search->exact->reduced[core->at[i] + s];
            if (at < 0 || reduced < first) {
                second = first;
                others += at >= 0;
                first = reduced;
                at = s;
            } else if (others++ == 0 || reduced < second) {
                second = reduced;
            }
        }
        if (second - first <= widest) continue;
        widest = second - first;
        chosen = i;
        *best = at;
        __int128 one = (__int128)1 << search->exact->shift, cost = (search->exact->bound + second + one - 1) / one;
        *rest_bound = cost > INT64_MAX ? INT64_MAX : (int64_t)cost;
    }
    return chosen;
}

static bool stopped(Search *search) { return search->hooks->stop(search->hooks->context); }

/* Dives from the part in `blocked`, whose bound is at least `bound`, until it is cut. False means that it was stopped
 * on the way (the rest of it is open then). */
static bool dive(Search *search, int64_t bound, int64_t *branches, int64_t branches_max) {
    const Core *core = search->core;
    for (;;) {
        if (*branches >= branches_max || stopped(search)) {
            save(search, bound);
            return false;
        }
        (*branches)++;
        if (!propagate_memory(search)) return true;
        block(search);
        bound_part(search);
        look_for_better(search);
        for (int pass = 0;; pass++) {
            certify(search->exact, search->dual, search->blocked);
            if (certified_cost(search->exact) >= search->cutoff) return true;
            certify_reduced(search->exact);
            if (pass == FIXES_MAX) break;
            bound = max_whole(bound, certified_cost(search->exact));
            if (!fix_states(search)) break;
            if (!propagate_memory(search)) return true;
            block(search);
            dual_price(search->dual, search->dual->price);
            dual_sweep(search->dual, NULL);
            dual_sweep(search->dual, search->choice);
        }
        int best = 0;
        int64_t rest_bound = 0;
        int node = choose_branch(search, &best, &rest_bound);
        if (node < 0) { /* one choice remains */
            for (int i = 0; i < core->nodes; i++)
                for (int s = 0; s < core->count[i]; s++)
                    if (!search->blocked[core->at[i] + s]) search->choice[i] = s;
            search->cutoff =
                min_whole(search->cutoff, search->hooks->take_choice(search->hooks->context, search->choice));
            return true;
        }
        rest_bound = max_whole(rest_bound, bound);
        search->blocked[core->at[node] + best] = true;
        if (rest_bound < search->cutoff) save(search, rest_bound);
        for (int s = 0; s < core->count[node]; s++) search->blocked[core->at[node] + s] = s != best;
    }
}

BranchResult branch_and_bound(const BranchTools *tools, int64_t cutoff, int64_t branches_max,
                              const BranchHooks *hooks) {
    Dual *dual = tools->dual;
    Workspace *space = tools->space;
    const Core *core = dual->core;
    size_t size = (size_t)core->at[core->nodes];
    Search search = {.core = core,
                     .dual = dual,
                     .exact = tools->exact,
                     .descent = tools->descent,
                     .hooks = hooks,
                     .space = space,
                     .cutoff = cutoff,
                     .words = (int)(size / 64 + 1)};
    BranchResult result = {0};
    search.blocked = WORKSPACE_NEW(space, bool, size + 1);
    search.block = WORKSPACE_NEW(space, double, size + 1);
    search.choice = WORKSPACE_NEW(space, int, core->nodes + 1);
    search.least = WORKSPACE_NEW(space, int64_t, core->times + 1);
    search.over = WORKSPACE_NEW(space, int64_t, core->times + 1);
    search.peaks = peaks_new(core->times, space);
    search.root_message = WORKSPACE_NEW(space, double, core->message_size + 1);
    for (int i = 0; i < core->nodes; i++) /* the padding after a node's states is not a state */
        for (int s = core->count[i]; s < core->width[i]; s++) search.blocked[core->at[i] + s] = true;
    memcpy(search.root_message, dual->message, core->message_size * sizeof *search.root_message);
    bool going = dive(&search, 0, &result.branches, branches_max);
    while (going && search.count > 0 && search.bytes < OPEN_BYTES_MAX) {
        OpenNode open = pop(&search);
        int64_t bound = open.bound;
        load(&search, &open);
        if (bound < search.cutoff) going = dive(&search, bound, &result.branches, branches_max);
    }
    result.bound = INT64_MAX;
    for (int64_t k = 0; k < search.count; k++)
        if (search.heap[k].bound < search.cutoff) result.bound = min_whole(result.bound, search.heap[k].bound);
    result.finished = result.bound == INT64_MAX;
    dual->blocked = NULL;
    return result;
}
