/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/graph/descent.h"

#include "base/util.h"
#include "search/graph/kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TREE_MAX = 3000, NOISE = 1 << 14, NOISE_RUN = 1 << 12 };
/* The worth of memory in a move, as factors of the prices in force. */
static const double PRICE_FACTORS[] = {0, 0.3, 0.7, 1, 1, 1, 1.5, 3};

/* splitmix64 (Steele, Lea and Flood 2014). */
static uint64_t random_next(Descent *descent) {
    uint64_t z = descent->random += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static int random_below(Descent *descent, int limit) {
    return (int)(((random_next(descent) >> 32) * (uint64_t)limit) >> 32);
}

static double random_real(Descent *descent) { return (double)(random_next(descent) >> 11) * 0x1p-53; }

/* ---- usage over time ---- */

/* values[t] for each time. */
static void fill_set(Fill *fill, const int64_t *values, int times) {
    memset(fill->added, 0, 2 * (size_t)fill->leaves * sizeof *fill->added);
    for (int t = 0; t < fill->leaves; t++) fill->most[fill->leaves + t] = t < times ? values[t] : INT64_MIN / 4;
    for (int p = fill->leaves - 1; p > 0; p--) fill->most[p] = max_whole(fill->most[2 * p], fill->most[2 * p + 1]);
}

static Fill fill_new(int times, Workspace *space) {
    Fill fill = {.leaves = 1};
    while (fill.leaves < times) fill.leaves *= 2;
    fill.most = WORKSPACE_NEW(space, int64_t, 2 * (size_t)fill.leaves);
    fill.added = WORKSPACE_NEW(space, int64_t, 2 * (size_t)fill.leaves);
    fill_set(&fill, NULL, 0);
    return fill;
}

static void fill_renew(Fill *fill, int p) {
    for (p /= 2; p > 0; p /= 2) fill->most[p] = max_whole(fill->most[2 * p], fill->most[2 * p + 1]) + fill->added[p];
}

static void fill_add(Fill *fill, int first, int past, int64_t more) {
    int left = first + fill->leaves, right = past + fill->leaves;
    for (int l = left, r = right; l < r; l /= 2, r /= 2) {
        if (l & 1) {
            fill->most[l] += more;
            fill->added[l++] += more;
        }
        if (r & 1) {
            fill->most[--r] += more;
            fill->added[r] += more;
        }
    }
    fill_renew(fill, left);
    fill_renew(fill, right - 1);
}

static int64_t fill_most(const Fill *fill) { return fill->most[1]; }

/* ---- the choice in force ---- */

Descent *descent_new(const Core *core, Workspace *space, uint64_t seed) {
    Descent *descent = WORKSPACE_NEW(space, Descent, 1);
    size_t nodes = (size_t)core->nodes + 1;
    descent->core = core;
    descent->random = seed;
    descent->random = random_next(descent); /* neighbouring seeds would give the same draws, one step later */
    descent->choice = WORKSPACE_NEW(space, int, nodes);
    descent->best = WORKSPACE_NEW(space, int, nodes);
    descent->local = WORKSPACE_NEW(space, double, core->at[core->nodes] + 1);
    descent->fill = fill_new(core->times, space);
    descent->over = WORKSPACE_NEW(space, int64_t, core->times + 1);
    descent->change = WORKSPACE_NEW(space, int64_t, core->times + 1);
    descent->tree = WORKSPACE_NEW(space, int, nodes);
    descent->via = WORKSPACE_NEW(space, int, nodes);
    descent->parent = WORKSPACE_NEW(space, int, nodes);
    descent->frontier = WORKSPACE_NEW(space, int, nodes);
    descent->seen = WORKSPACE_NEW(space, int, nodes);
    descent->inside = WORKSPACE_NEW(space, int, nodes);
    descent->wanted = WORKSPACE_NEW(space, int, nodes);
    descent->changed = WORKSPACE_NEW(space, int, nodes);
    descent->mark = WORKSPACE_NEW(space, int, nodes);
    descent->offset = WORKSPACE_NEW(space, int, nodes);
    descent->pieces = WORKSPACE_NEW(space, Piece, nodes);
    descent->belief = WORKSPACE_NEW(space, double, core->at[core->nodes] + core->states_max + CORE_LANES);
    descent->best_cost = INFINITY;
    /* Gumbel's distribution for minima: the least of the costs with this noise added is a draw from Boltzmann's
     * distribution. */
    descent->noise = WORKSPACE_NEW(space, double, NOISE + NOISE_RUN + CORE_LANES);
    for (int k = 0; k < NOISE + NOISE_RUN + CORE_LANES; k++)
        descent->noise[k] = log(-log(0.5 * 0x1p-53 + random_real(descent)));
    return descent;
}

static const double *row_of(const Core *core, const CoreArc *arc, int state) {
    return core->matrix + arc->matrix + (size_t)state * (size_t)core->width[arc->other];
}

static void note_best(Descent *descent) {
    if (!descent->fits || descent->cost >= descent->best_cost - 0.25 || descent->cost >= descent->core->cap) return;
    descent->best_cost = descent->cost;
    memcpy(descent->best, descent->choice, (size_t)descent->core->nodes * sizeof *descent->best);
}

WIDE static double renew_local(const Core *core, const int *choice, double *local) {
    double cost = 0, twice = 0;
    memcpy(local, core->theta, (size_t)core->at[core->nodes] * sizeof *local);
    for (int i = 0; i < core->nodes; i++)
        for (int k = core->arc_start[i]; k < core->arc_start[i + 1]; k++) {
            const CoreArc *arc = &core->arcs[k];
            vector_add(local + core->at[arc->other], row_of(core, arc, choice[i]), core->width[arc->other]);
        }
    for (int i = 0; i < core->nodes; i++) {
        cost += core->theta[core->at[i] + choice[i]];
        twice += local[core->at[i] + choice[i]] - core->theta[core->at[i] + choice[i]];
    }
    return cost + twice / 2;
}

static void renew_memory(Descent *descent) {
    const Core *core = descent->core;
    core_profile(core, descent->choice, descent->over);
    descent->excess = 0;
    for (int t = 0; t < core->times; t++) {
        descent->over[t] -= core->slack[t];
        if (descent->over[t] > 0) descent->excess += descent->over[t];
    }
    descent->fits = descent->excess == 0;
    if (descent->fits) fill_set(&descent->fill, descent->over, core->times);
}

void descent_renew(Descent *descent) {
    descent->cost = renew_local(descent->core, descent->choice, descent->local);
    renew_memory(descent);
    note_best(descent);
}

void descent_start(Descent *descent, const int *choice) {
    memcpy(descent->choice, choice, (size_t)descent->core->nodes * sizeof *choice);
    descent_renew(descent);
}

/* ---- pieces of a proposal ---- */

/* The cost of a pair that a piece changes at both ends is counted from each end with the other one as it was: this
 * corrects it. */
static double pair_correction(const Descent *descent, int i, const CoreArc *arc) {
    const double *from = row_of(descent->core, arc, descent->choice[i]);
    const double *to = row_of(descent->core, arc, descent->wanted[i]);
    int j = arc->other;
    return to[descent->wanted[j]] - to[descent->choice[j]] - from[descent->wanted[j]] + from[descent->choice[j]];
}

/* Finds the connected pieces of the nodes that want to change, each with its effect. */
static int find_pieces(Descent *descent, const int *nodes, int count) {
    const Core *core = descent->core;
    int pieces = 0, changed = 0, wants = ++descent->mark_stamp, taken = ++descent->mark_stamp;
    for (int k = 0; k < count; k++)
        if (descent->wanted[nodes[k]] != descent->choice[nodes[k]]) descent->mark[nodes[k]] = wants;
    for (int k = 0; k < count; k++) {
        if (descent->mark[nodes[k]] != wants) continue;
        Piece piece = {.first = changed};
        descent->changed[changed++] = nodes[k];
        descent->mark[nodes[k]] = taken;
        for (int next = piece.first; next < changed; next++) {
            int i = descent->changed[next];
            const double *local = descent->local + core->at[i];
            piece.cost += local[descent->wanted[i]] - local[descent->choice[i]];
            if (descent->priced)
                piece.priced += descent->priced[core->at[i] + descent->wanted[i]] -
                                descent->priced[core->at[i] + descent->choice[i]];
            for (int a = core->arc_start[i]; a < core->arc_start[i + 1]; a++) {
                const CoreArc *arc = &core->arcs[a];
                if (descent->mark[arc->other] == wants) {
                    descent->mark[arc->other] = taken;
                    descent->changed[changed++] = arc->other;
                }
                if (descent->mark[arc->other] == taken && arc->other < i)
                    piece.cost += pair_correction(descent, i, arc);
            }
            descent->work += core->arc_start[i + 1] - core->arc_start[i];
        }
        piece.past = changed;
        descent->pieces[pieces++] = piece;
    }
    return pieces;
}

/* Adds the piece's changes (sign 1) or takes them back (-1); true means that it takes more memory somewhere. */
static bool fill_piece(Descent *descent, const Piece *piece, int sign) {
    const Core *core = descent->core;
    bool more = false;
    for (int k = piece->first; k < piece->past; k++) {
        int i = descent->changed[k];
        size_t from = (size_t)descent->choice[i], to = (size_t)descent->wanted[i];
        for (int m = core->item_start[i]; m < core->item_start[i + 1]; m++) {
            const int64_t *usage = core->usage + core->item_usage[m];
            int64_t change = usage[to] - usage[from];
            if (change == 0) continue;
            more |= change > 0;
            fill_add(&descent->fill, core->item_first[m], core->item_past[m], sign * change);
            descent->work += 8;
        }
    }
    return more;
}

WIDE static void choose(Descent *descent, const Piece *piece) {
    const Core *core = descent->core;
    for (int k = piece->first; k < piece->past; k++) {
        int i = descent->changed[k], from = descent->choice[i], to = descent->wanted[i];
        for (int a = core->arc_start[i]; a < core->arc_start[i + 1]; a++) {
            const CoreArc *arc = &core->arcs[a];
            double *local = descent->local + core->at[arc->other];
            vector_subtract(local, row_of(core, arc, from), core->width[arc->other]);
            vector_add(local, row_of(core, arc, to), core->width[arc->other]);
            descent->work += core->width[arc->other];
        }
        descent->choice[i] = to;
    }
    descent->cost += piece->cost;
}

/* While nothing fits yet, a piece is taken if it lowers the excess over the limit, or if it costs less at the same
 * excess. */
static bool take_unfitting(Descent *descent, const Piece *piece) {
    const Core *core = descent->core;
    int first = core->times, past = 0;
    double cap = core->cap;
    for (int k = piece->first; k < piece->past; k++) {
        int i = descent->changed[k];
        for (int m = core->item_start[i]; m < core->item_start[i + 1]; m++) {
            const int64_t *usage = core->usage + core->item_usage[m];
            int64_t change = usage[descent->wanted[i]] - usage[descent->choice[i]];
            if (change == 0) continue;
            descent->change[core->item_first[m]] += change;
            descent->change[core->item_past[m]] -= change;
            first = core->item_first[m] < first ? core->item_first[m] : first;
            past = core->item_past[m] > past ? core->item_past[m] : past;
        }
    }
    __int128 more = 0;
    int64_t change = 0;
    for (int t = first; t < past; t++) {
        change += descent->change[t];
        more += max_whole(0, descent->over[t] + change) - max_whole(0, descent->over[t]);
    }
    bool take = piece->cost < -0.5 * cap || (piece->cost < 0.5 * cap && more < 0) ||
                (more == 0 && piece->cost + piece->priced < -1e-9 * fabs(descent->cost));
    change = 0;
    for (int t = first; t < past; t++) {
        change += descent->change[t];
        if (take) descent->over[t] += change;
        descent->change[t] = 0;
    }
    if (first < past) descent->change[past] = 0;
    descent->work += past > first ? past - first : 0;
    if (!take) return false;
    descent->excess += more;
    choose(descent, piece);
    if (descent->excess == 0) {
        descent->fits = true;
        fill_set(&descent->fill, descent->over, core->times);
    }
    return true;
}

static bool take_piece(Descent *descent, const Piece *piece) {
    if (!descent->fits) return take_unfitting(descent, piece);
    bool worth = (descent->temperature > 0 && piece->cost < 0.5 * descent->core->cap) || piece->cost < -0.25 ||
                 (piece->cost + piece->priced < -1e-7 * fabs(piece->priced) - 0.25 &&
                  descent->cost + piece->cost < descent->best_cost * (1 + descent->wander));
    if (!worth) return false;
    if (fill_piece(descent, piece, 1) && fill_most(&descent->fill) > 0) {
        fill_piece(descent, piece, -1);
        return false;
    }
    choose(descent, piece);
    return true;
}

/* Pieces that free memory come first; then pieces by number, so that sorting has one outcome. */
static int by_priced(const void *a, const void *b) {
    const Piece *x = a, *y = b;
    if (x->priced != y->priced) return x->priced < y->priced ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

/* `wanted[i]` holds the new states of the nodes listed: takes the pieces that are worth it. */
static void propose(Descent *descent, const int *nodes, int count) {
    bool taken = false;
    int pieces = find_pieces(descent, nodes, count);
    if (pieces > 1) qsort(descent->pieces, (size_t)pieces, sizeof *descent->pieces, by_priced);
    for (int k = 0; k < pieces; k++) taken |= take_piece(descent, &descent->pieces[k]);
    if (taken) note_best(descent);
}

/* ---- trees ---- */

/* A node may join while exactly one neighbour is inside. */
static int grow(Descent *descent, int root, int size) {
    const Core *core = descent->core;
    int count = 0, waiting = 0, stamp = ++descent->stamp;
    int style = random_below(descent, 3); /* bushy, or mostly along paths */
    descent->frontier[waiting++] = root;
    descent->seen[root] = stamp;
    descent->inside[root] = 1;
    descent->via[root] = -1;
    while (waiting > 0 && count < size) {
        int pick = style == 0 && random_below(descent, 8) ? waiting - 1 : random_below(descent, waiting);
        int i = descent->frontier[pick];
        descent->frontier[pick] = descent->frontier[--waiting];
        if (descent->inside[i] != 1) continue; /* two neighbours have joined meanwhile */
        descent->inside[i] = -1;
        descent->tree[count++] = i;
        for (int k = core->arc_start[i]; k < core->arc_start[i + 1]; k++) {
            int j = core->arcs[k].other;
            if (descent->seen[j] != stamp) {
                descent->seen[j] = stamp;
                descent->inside[j] = 1;
                descent->via[j] = k;
                descent->parent[j] = i;
                descent->frontier[waiting++] = j;
            } else if (descent->inside[j] > 0) {
                descent->inside[j]++;
            }
        }
        descent->work += core->arc_start[i + 1] - core->arc_start[i];
    }
    return count;
}

/* Writes to `wanted` the best states of a tree's nodes, with everything else fixed and memory at `factor` times its
 * price. */
WIDE static void solve_tree(Descent *descent, int count, double factor) {
    const Core *core = descent->core;
    const int *parent = descent->parent;
    int used = 0;
    int *offset = descent->offset; /* by node: the place of its beliefs */
    for (int k = 0; k < count; k++) {
        int i = descent->tree[k], width = core->width[i];
        double *belief = descent->belief + used;
        offset[i] = used;
        used += width;
        memcpy(belief, descent->local + core->at[i], (size_t)width * sizeof *belief);
        if (factor > 0 && descent->priced)
            for (int s = 0; s < width; s++) belief[s] += factor * descent->priced[core->at[i] + s];
        if (descent->temperature > 0) {
            const double *noise = descent->noise + random_below(descent, NOISE);
            for (int s = 0; s < width; s++) belief[s] += descent->temperature * noise[s & (NOISE_RUN - 1)];
        }
        if (k > 0)
            vector_subtract(belief, row_of(core, &core->arcs[descent->via[i]], descent->choice[parent[i]]), width);
    }
    double *message = descent->belief + used;
    for (int k = count - 1; k > 0; k--) {
        int i = descent->tree[k];
        const CoreArc *up = &core->arcs[core->arcs[descent->via[i]].back];
        double *to = descent->belief + offset[up->other];
        min_plus(descent->belief + offset[i], core->count[i], core->matrix + up->matrix, core->width[up->other],
                 message);
        vector_add(to, message, core->width[up->other]);
        vector_subtract(to, row_of(core, up, descent->choice[i]), core->width[up->other]);
        descent->work += (int64_t)core->count[i] * core->width[up->other];
    }
    for (int k = 0; k < count; k++) {
        int i = descent->tree[k], now = descent->choice[i];
        double *belief = descent->belief + offset[i];
        if (k > 0)
            vector_add(belief, row_of(core, &core->arcs[descent->via[i]], descent->wanted[parent[i]]), core->width[i]);
        int least = vector_least_at(belief, core->count[i]);
        descent->wanted[i] = belief[now] <= belief[least] ? now : least;
    }
}

static void move_once(Descent *descent) {
    const Core *core = descent->core;
    int most = core->nodes < TREE_MAX ? core->nodes : TREE_MAX;
    int size = 2 + (int)(exp(random_real(descent) * log((double)most)) - 0.5);
    int root = random_below(descent, core->nodes);
    int count = grow(descent, root, size);
    double factor = descent->temperature > 0 ? 0.6 + 0.5 * random_real(descent)
                                             : PRICE_FACTORS[random_below(descent, COUNT_OF(PRICE_FACTORS))];
    solve_tree(descent, count, factor);
    propose(descent, descent->tree, count);
    descent->work += 16 * (int64_t)count + 64;
}

void descent_run(Descent *descent, int64_t work) {
    int64_t end = descent->work + work;
    if (descent->core->nodes == 0) return;
    while (descent->work < end) move_once(descent);
}

void descent_cross(Descent *descent, const int *other) {
    const Core *core = descent->core;
    int count = 0;
    for (int i = 0; i < core->nodes; i++) {
        descent->wanted[i] = other[i];
        if (other[i] != descent->choice[i]) descent->tree[count++] = i;
    }
    propose(descent, descent->tree, count);
}
