/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/graph/branch_and_bound.h"

#include "base/util.h"
#include "search/graph/range_max.h"

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

/* A part of the space: the states that are left, and the prices that suited it. */
typedef struct {
    int64_t bound;
    int64_t serial; /* for ties: the younger part comes first */
    uint64_t *left; /* bits by core->at: a set bit means that the state is out */
    int prices;
    int *price_time;
    double *price;
} Open;

typedef struct {
    const Core *core;
    Dual *dual;
    ExactBound *exact;
    Descent *descent;
    const JumpAsks *asks;
    Workspace *space;
    int64_t cutoff;
    Open *heap;
    int64_t count, room, serial, bytes;
    bool *blocked;
    double *block; /* the same as costs, for the doubles */
    double *root_message;
    int *choice;
    int64_t *least, *over; /* times + 1: the least usage, and that usage less the slack */
    Peaks peaks;           /* of `over` */
    int words;
} Jump;

/* ---- what is open ---- */

static bool before(const Open *a, const Open *b) {
    return a->bound != b->bound ? a->bound < b->bound : a->serial > b->serial;
}

static void push(Jump *jump, Open open) {
    if (jump->count == jump->room) {
        int64_t room = 2 * jump->room + 64;
        jump->heap = workspace_grow(jump->space, jump->heap, (size_t)jump->room, (size_t)room, sizeof *jump->heap);
        jump->room = room;
    }
    int64_t k = jump->count++;
    for (; k > 0 && before(&open, &jump->heap[(k - 1) / 2]); k = (k - 1) / 2) jump->heap[k] = jump->heap[(k - 1) / 2];
    jump->heap[k] = open;
}

static Open pop(Jump *jump) {
    Open top = jump->heap[0], last = jump->heap[--jump->count];
    int64_t k = 0;
    for (int64_t child; (child = 2 * k + 1) < jump->count; k = child) {
        if (child + 1 < jump->count && before(&jump->heap[child + 1], &jump->heap[child])) child++;
        if (!before(&jump->heap[child], &last)) break;
        jump->heap[k] = jump->heap[child];
    }
    jump->heap[k] = last;
    return top;
}

static void save(Jump *jump, int64_t bound) {
    const Core *core = jump->core;
    Open open = {.bound = bound, .serial = jump->serial++};
    open.left = workspace_take_zeroed(jump->space, (size_t)jump->words, sizeof *open.left);
    for (int s = 0; s < core->at[core->nodes]; s++)
        if (jump->blocked[s]) open.left[s / 64] |= UINT64_C(1) << (s % 64);
    for (int t = 0; t < core->times; t++) open.prices += jump->dual->best_price[t] > 0;
    open.price_time = workspace_take(jump->space, (size_t)open.prices + 1, sizeof *open.price_time);
    open.price = workspace_take(jump->space, (size_t)open.prices + 1, sizeof *open.price);
    for (int t = 0, k = 0; t < core->times; t++) {
        if (jump->dual->best_price[t] <= 0) continue;
        open.price_time[k] = t;
        open.price[k++] = jump->dual->best_price[t];
    }
    jump->bytes += 64 + 8 * (int64_t)jump->words + 16 * (int64_t)open.prices;
    push(jump, open);
}

static void load(Jump *jump, Open *open) {
    const Core *core = jump->core;
    for (int s = 0; s < core->at[core->nodes]; s++) jump->blocked[s] = open->left[s / 64] >> (s % 64) & 1;
    memset(jump->dual->best_price, 0, (size_t)core->times * sizeof *jump->dual->best_price);
    for (int k = 0; k < open->prices; k++) jump->dual->best_price[open->price_time[k]] = open->price[k];
    memcpy(jump->dual->message, jump->root_message, core->message_size * sizeof *jump->root_message);
    jump->bytes -= 64 + 8 * (int64_t)jump->words + 16 * (int64_t)open->prices;
    workspace_give(jump->space, open->left, (size_t)jump->words, sizeof *open->left);
    workspace_give(jump->space, open->price_time, (size_t)open->prices + 1, sizeof *open->price_time);
    workspace_give(jump->space, open->price, (size_t)open->prices + 1, sizeof *open->price);
}

/* ---- one part ---- */

static int states_left(const Jump *jump, int i) {
    int left = 0;
    for (int s = 0; s < jump->core->count[i]; s++) left += !jump->blocked[jump->core->at[i] + s];
    return left;
}

static int64_t least_of_item(const Jump *jump, int i, const int64_t *usage) {
    int64_t least = INT64_MAX;
    for (int s = 0; s < jump->core->count[i]; s++)
        if (!jump->blocked[jump->core->at[i] + s]) least = min_whole(least, usage[s]);
    return least;
}

/* Finds the least memory that the states left take at every time. False means that this is too much somewhere, or that
 * a node has no states left. */
static bool find_least(Jump *jump) {
    const Core *core = jump->core;
    memset(jump->least, 0, ((size_t)core->times + 1) * sizeof *jump->least);
    for (int i = 0; i < core->nodes; i++) {
        if (states_left(jump, i) == 0) return false;
        for (int k = core->item_start[i]; k < core->item_start[i + 1]; k++) {
            int64_t least = least_of_item(jump, i, core->usage + core->item_usage[k]);
            jump->least[core->item_first[k]] += least;
            jump->least[core->item_past[k]] -= least;
        }
    }
    for (int t = 0; t < core->times; t++) {
        if (t > 0) jump->least[t] += jump->least[t - 1];
        if (jump->least[t] > core->slack[t]) return false;
    }
    for (int t = 0; t < core->times; t++) jump->over[t] = jump->least[t] - core->slack[t];
    if (core->times > 0) peaks_fill(&jump->peaks, jump->over);
    return true;
}

/* The excess of a state over the least of its node must fit beside the least of all nodes. True means that a state did
 * not fit and is blocked. */
static bool block_unfitting(Jump *jump, int i) {
    const Core *core = jump->core;
    bool any = false;
    for (int k = core->item_start[i]; k < core->item_start[i + 1]; k++) {
        const int64_t *usage = core->usage + core->item_usage[k];
        int64_t least = least_of_item(jump, i, usage);
        if (least == INT64_MAX) return any;
        int64_t room = -peaks_of(&jump->peaks, core->item_first[k], core->item_past[k]);
        for (int s = 0; s < core->count[i]; s++) {
            if (jump->blocked[core->at[i] + s] || usage[s] - least <= room) continue;
            jump->blocked[core->at[i] + s] = true;
            any = true;
        }
    }
    return any;
}

/* Blocks states that do not fit. False means that nothing is left. */
static bool propagate_memory(Jump *jump) {
    const Core *core = jump->core;
    bool changed = true;
    for (int pass = 0; pass < 3 && changed; pass++) {
        changed = false;
        if (!find_least(jump)) return false;
        for (int i = 0; i < core->nodes; i++)
            if (states_left(jump, i) > 1) changed |= block_unfitting(jump, i);
    }
    return !changed || find_least(jump);
}

static void block(Jump *jump) {
    const Core *core = jump->core;
    for (int s = 0; s < core->at[core->nodes]; s++) jump->block[s] = jump->blocked[s] ? core->cap : 0;
    jump->dual->blocked = jump->block;
}

/* Moves prices while that helps; leaves the best ones in force, with messages that suit them. */
static void bound_part(Jump *jump) {
    Dual *dual = jump->dual;
    const Core *core = jump->core;
    double target = (double)(jump->cutoff - 1) - (double)core->constant;
    dual_price(dual, dual->best_price);
    dual->best_bound = -INFINITY;
    double first = volume_step(dual, 3, jump->choice);
    dual->step = max_real(0.25 * fabs(target - first), 1e-6 * fabs(first) + 1e-3);
    dual->failures = 0;
    for (int k = 0; k < STEPS_MAX && dual->best_bound < target + 0.01 && core->times > 0; k++) {
        if (k == STEPS_FEW && dual->best_bound < first + 0.05 * (target - first)) break;
        volume_step(dual, 2, jump->choice);
    }
    dual_price(dual, dual->best_price);
    dual_sweep(dual, NULL);
    dual_sweep(dual, jump->choice);
}

/* Blocks states by their reduced costs (of certify_reduced); true means that some were blocked. */
static bool fix_states(Jump *jump) {
    const Core *core = jump->core;
    bool any = false;
    for (int i = 0; i < core->nodes; i++)
        for (int s = 0; s < core->count[i]; s++) {
            if (jump->blocked[core->at[i] + s] || !certified_above(jump->exact, i, s, jump->cutoff)) continue;
            jump->blocked[core->at[i] + s] = true;
            any = true;
        }
    return any;
}

static void look_for_better(Jump *jump) {
    Descent *descent = jump->descent;
    if (jump->core->nodes == 0) return;
    descent->best_cost = INFINITY;
    descent->priced = jump->dual->priced;
    descent_start(descent, jump->choice);
    descent_run(descent, DESCENT_WORK + DESCENT_TIMES * (int64_t)jump->core->entry_start[jump->core->edges]);
    if (descent->best_cost < (double)(jump->cutoff - jump->core->constant) - 0.5)
        jump->cutoff = min_whole(jump->cutoff, jump->asks->offer(jump->asks->context, descent->best));
}

/* Chooses the node whose best state is clearest: its second best has the largest reduced cost. *best is that state.
 * Where all are tied, it takes the node with most states. */
static int choose_branch(Jump *jump, int *best, int64_t *rest_bound) {
    const Core *core = jump->core;
    int chosen = -1;
    __int128 widest = -1;
    for (int i = 0; i < core->nodes; i++) {
        if (states_left(jump, i) < 2) continue;
        __int128 first = 0, second = 0;
        int at = -1, others = 0;
        for (int s = 0; s < core->count[i]; s++) {
            if (jump->blocked[core->at[i] + s]) continue;
            __int128 reduced = jump->exact->reduced[core->at[i] + s];
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
        __int128 one = (__int128)1 << jump->exact->shift, cost = (jump->exact->bound + second + one - 1) / one;
        *rest_bound = cost > INT64_MAX ? INT64_MAX : (int64_t)cost;
    }
    return chosen;
}

static bool stopped(Jump *jump) { return jump->asks->stop(jump->asks->context); }

/* Dives from the part in `blocked`, whose bound is at least `bound`, until it is cut. False means that it was stopped
 * on the way (the rest of it is open then). */
static bool dive(Jump *jump, int64_t bound, int64_t *branches, int64_t branches_max) {
    const Core *core = jump->core;
    for (;;) {
        if (*branches >= branches_max || stopped(jump)) {
            save(jump, bound);
            return false;
        }
        (*branches)++;
        if (!propagate_memory(jump)) return true;
        block(jump);
        bound_part(jump);
        look_for_better(jump);
        for (int pass = 0;; pass++) {
            certify(jump->exact, jump->dual, jump->blocked);
            if (certified_cost(jump->exact) >= jump->cutoff) return true;
            certify_reduced(jump->exact);
            if (pass == FIXES_MAX) break;
            bound = max_whole(bound, certified_cost(jump->exact));
            if (!fix_states(jump)) break;
            if (!propagate_memory(jump)) return true;
            block(jump);
            dual_price(jump->dual, jump->dual->price);
            dual_sweep(jump->dual, NULL);
            dual_sweep(jump->dual, jump->choice);
        }
        int best = 0;
        int64_t rest_bound = 0;
        int node = choose_branch(jump, &best, &rest_bound);
        if (node < 0) { /* one choice is left */
            for (int i = 0; i < core->nodes; i++)
                for (int s = 0; s < core->count[i]; s++)
                    if (!jump->blocked[core->at[i] + s]) jump->choice[i] = s;
            jump->cutoff = min_whole(jump->cutoff, jump->asks->offer(jump->asks->context, jump->choice));
            return true;
        }
        rest_bound = max_whole(rest_bound, bound);
        jump->blocked[core->at[node] + best] = true;
        if (rest_bound < jump->cutoff) save(jump, rest_bound);
        for (int s = 0; s < core->count[node]; s++) jump->blocked[core->at[node] + s] = s != best;
    }
}

JumpResult jump_search(const JumpTools *tools, int64_t cutoff, int64_t branches_max, const JumpAsks *asks) {
    Dual *dual = tools->dual;
    Workspace *space = tools->space;
    const Core *core = dual->core;
    size_t size = (size_t)core->at[core->nodes];
    Jump jump = {.core = core,
                 .dual = dual,
                 .exact = tools->exact,
                 .descent = tools->descent,
                 .asks = asks,
                 .space = space,
                 .cutoff = cutoff,
                 .words = (int)(size / 64 + 1)};
    JumpResult result = {0};
    jump.blocked = WORKSPACE_NEW(space, bool, size + 1);
    jump.block = WORKSPACE_NEW(space, double, size + 1);
    jump.choice = WORKSPACE_NEW(space, int, core->nodes + 1);
    jump.least = WORKSPACE_NEW(space, int64_t, core->times + 1);
    jump.over = WORKSPACE_NEW(space, int64_t, core->times + 1);
    jump.peaks = peaks_new(core->times, space);
    jump.root_message = WORKSPACE_NEW(space, double, core->message_size + 1);
    for (int i = 0; i < core->nodes; i++) /* the padding after a node's states is not a state */
        for (int s = core->count[i]; s < core->width[i]; s++) jump.blocked[core->at[i] + s] = true;
    memcpy(jump.root_message, dual->message, core->message_size * sizeof *jump.root_message);
    bool going = dive(&jump, 0, &result.branches, branches_max);
    while (going && jump.count > 0 && jump.bytes < OPEN_BYTES_MAX) {
        Open open = pop(&jump);
        int64_t bound = open.bound;
        load(&jump, &open);
        if (bound < jump.cutoff) going = dive(&jump, bound, &result.branches, branches_max);
    }
    result.bound = INT64_MAX;
    for (int64_t k = 0; k < jump.count; k++)
        if (jump.heap[k].bound < jump.cutoff) result.bound = min_whole(result.bound, jump.heap[k].bound);
    result.finished = result.bound == INT64_MAX;
    dual->blocked = NULL;
    return result;
}
