/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/graph/branch_and_bound.h"

#include <math.h>
#include <string.h>

/* A value above every sum: costs are below 2^61 << 44, usages below 2^63, all prices together below 2^46. */
static const __int128 UNREACHABLE = (__int128)1 << 122;
enum { SHIFT_MAX = 44, PRICE_BITS = 46 };

static bool reachable(__int128 value) { return value < UNREACHABLE / 2; }

/* Messages stay far below sums that could overflow, whatever the doubles say. */
static __int128 fixed(double value, int shift) {
    double scaled = ldexp(value, shift), most = 0x1p107;
    if (!(scaled == scaled)) return 0;
    return (__int128)rint(scaled > most ? most : scaled < -most ? -most : scaled);
}

ExactBound *certify_new(const Core *core, Workspace *space) {
    ExactBound *exact = WORKSPACE_NEW(space, ExactBound, 1);
    exact->core = core;
    exact->belief = WORKSPACE_NEW(space, __int128, core->at[core->nodes] + 1);
    exact->reduced = WORKSPACE_NEW(space, __int128, core->at[core->nodes] + 1);
    exact->early_start = WORKSPACE_NEW(space, size_t, core->edges + 1);
    exact->late_start = WORKSPACE_NEW(space, size_t, core->edges + 1);
    for (int e = 0; e < core->edges; e++) {
        exact->early_start[e + 1] = exact->early_start[e] + (size_t)core->count[core->edge_v[e]];
        exact->late_start[e + 1] = exact->late_start[e] + (size_t)core->count[core->edge_u[e]];
    }
    exact->early = WORKSPACE_NEW(space, __int128, exact->early_start[core->edges] + 1);
    exact->late = WORKSPACE_NEW(space, __int128, exact->late_start[core->edges] + 1);
    exact->price = WORKSPACE_NEW(space, __int128, core->times + 1);
    return exact;
}

/* Rounds prices to fractions as fine as the sum of all prices allows. */
static void round_prices(ExactBound *exact, const Dual *dual, __int128 *offset) {
    const Core *core = exact->core;
    double sum = 0, limit = ldexp(1, PRICE_BITS);
    for (int t = 0; t < core->times; t++) sum += dual->price[t];
    exact->shift = SHIFT_MAX;
    while (exact->shift > 0 && ldexp(sum, exact->shift) >= limit) exact->shift--;
    *offset = 0;
    exact->price[0] = 0;
    for (int t = 0; t < core->times; t++) {
        double scaled = fmin(rint(ldexp(dual->price[t], exact->shift)), sum < limit ? limit : 0);
        __int128 price = scaled > 0 ? (__int128)scaled : 0;
        exact->price[t + 1] = exact->price[t] + price;
        *offset += price * core->slack[t];
    }
}

static void start_beliefs(ExactBound *exact, const bool *blocked) {
    const Core *core = exact->core;
    for (int i = 0; i < core->nodes; i++) {
        __int128 *belief = exact->belief + core->at[i];
        for (int s = 0; s < core->count[i]; s++)
            belief[s] = blocked && blocked[core->at[i] + s] ? UNREACHABLE
                                                            : (__int128)core->cost[core->at[i] + s] << exact->shift;
        for (int k = core->item_start[i]; k < core->item_start[i + 1]; k++) {
            __int128 price = exact->price[core->item_past[k]] - exact->price[core->item_first[k]];
            const int64_t *usage = core->usage + core->item_usage[k];
            for (int s = 0; s < core->count[i] && price > 0; s++)
                if (reachable(belief[s])) belief[s] += price * usage[s];
        }
    }
}

/* Adds the messages of earlier neighbours, as the doubles do. */
static void hear_early(ExactBound *exact, const Dual *dual) {
    const Core *core = exact->core;
    for (int i = 0; i < core->nodes; i++)
        for (int k = core->arc_later[i]; k < core->arc_start[i + 1]; k++) {
            const CoreArc *arc = &core->arcs[k];
            __int128 *early = exact->early + exact->early_start[arc->edge],
                     *belief = exact->belief + core->at[arc->other];
            for (int t = 0; t < core->count[arc->other]; t++) {
                early[t] = fixed(dual->message[arc->message + (size_t)t], exact->shift);
                if (reachable(belief[t])) belief[t] += early[t];
            }
        }
}

/* Hands a share of v's belief to the edge to u, and sends the rest to u. */
static void send_back(ExactBound *exact, int edge, int share) {
    const Core *core = exact->core;
    int u = core->edge_u[edge], v = core->edge_v[edge], rows = core->count[u], columns = core->count[v];
    const __int128 *belief_v = exact->belief + core->at[v];
    __int128 *belief_u = exact->belief + core->at[u], *early = exact->early + exact->early_start[edge];
    __int128 *late = exact->late + exact->late_start[edge];
    for (int t = 0; t < columns; t++)
        if (reachable(belief_v[t])) early[t] -= belief_v[t] / share;
    for (int s = 0; s < rows; s++) {
        const int64_t *row = core->entry + core->entry_start[edge] + (size_t)s * (size_t)columns;
        __int128 least = UNREACHABLE;
        for (int t = 0; t < columns; t++) {
            if (is_infinite(row[t]) || !reachable(belief_v[t])) continue;
            __int128 value = ((__int128)row[t] << exact->shift) - early[t];
            if (value < least) least = value;
        }
        late[s] = least;
        if (!reachable(least))
            belief_u[s] = UNREACHABLE;
        else if (reachable(belief_u[s]))
            belief_u[s] += least;
    }
}

void certify(ExactBound *exact, const Dual *dual, const bool *blocked) {
    const Core *core = exact->core;
    __int128 offset;
    round_prices(exact, dual, &offset);
    start_beliefs(exact, blocked);
    hear_early(exact, dual);
    exact->bound = (core->constant << exact->shift) - offset;
    exact->infeasible = false;
    for (int i = core->nodes - 1; i >= 0; i--) {
        __int128 *belief = exact->belief + core->at[i], least = UNREACHABLE;
        int earlier = core->arc_later[i] - core->arc_start[i], later = core->arc_start[i + 1] - core->arc_later[i];
        int share = earlier > later ? earlier : later;
        for (int s = 0; s < core->count[i]; s++) least = belief[s] < least ? belief[s] : least;
        if (!reachable(least)) {
            exact->infeasible = true;
            return;
        }
        exact->bound += least;
        for (int s = 0; s < core->count[i]; s++)
            if (reachable(belief[s])) belief[s] -= least;
        for (int k = core->arc_start[i]; k < core->arc_later[i]; k++) send_back(exact, core->arcs[k].edge, share);
        for (int s = 0; s < core->count[i]; s++)
            if (reachable(belief[s]) && earlier > 0) belief[s] -= (belief[s] / share) * earlier;
    }
}

int64_t certified_cost(const ExactBound *exact) {
    if (exact->infeasible) return INT64_MAX;
    __int128 one = (__int128)1 << exact->shift, cost = exact->bound / one;
    if (cost * one < exact->bound) cost++;
    return cost > INT64_MAX ? INT64_MAX : cost < 0 ? 0 : (int64_t)cost;
}

/* The value that remains at a pair; UNREACHABLE means that the pair is forbidden. */
static __int128 remaining_at(const ExactBound *exact, int edge, int s, int t) {
    const Core *core = exact->core;
    int64_t entry =
        core->entry[core->entry_start[edge] + (size_t)s * (size_t)core->count[core->edge_v[edge]] + (size_t)t];
    __int128 late = exact->late[exact->late_start[edge] + (size_t)s];
    if (is_infinite(entry) || !reachable(late)) return UNREACHABLE;
    return ((__int128)entry << exact->shift) - exact->early[exact->early_start[edge] + (size_t)t] - late;
}

/* The least value that remains at an edge for state s of u, or t of v (the other is -1), over the reachable states of
 * the other end. */
static __int128 least_remaining(const ExactBound *exact, int edge, int s, int t) {
    const Core *core = exact->core;
    int u = core->edge_u[edge], v = core->edge_v[edge];
    __int128 least = UNREACHABLE;
    int count = s >= 0 ? core->count[v] : core->count[u];
    for (int k = 0; k < count; k++) {
        int other = s >= 0 ? core->at[v] + k : core->at[u] + k;
        if (!reachable(exact->belief[other])) continue;
        __int128 remaining = s >= 0 ? remaining_at(exact, edge, s, k) : remaining_at(exact, edge, k, t);
        if (remaining < least) least = remaining;
    }
    return least;
}

/* Adds to the states of one end what remains at an edge at least. */
static void add_least_remaining(ExactBound *exact, int edge, bool of_u) {
    const Core *core = exact->core;
    int node = of_u ? core->edge_u[edge] : core->edge_v[edge];
    for (int s = 0; s < core->count[node]; s++) {
        __int128 *reduced = &exact->reduced[core->at[node] + s];
        if (!reachable(*reduced)) continue;
        __int128 remaining = of_u ? least_remaining(exact, edge, s, -1) : least_remaining(exact, edge, -1, s);
        *reduced = reachable(remaining) ? *reduced + remaining : UNREACHABLE;
    }
}

void certify_reduced(ExactBound *exact) {
    const Core *core = exact->core;
    memcpy(exact->reduced, exact->belief, (size_t)core->at[core->nodes] * sizeof *exact->reduced);
    for (int e = 0; e < core->edges; e++) {
        add_least_remaining(exact, e, true);
        add_least_remaining(exact, e, false);
    }
}

/* Costs are whole: a number above cost - 1 is at least cost. */
static bool is_above(const ExactBound *exact, __int128 reduced, int64_t cost) {
    return !reachable(reduced) || exact->bound + reduced > (__int128)(cost - 1) << exact->shift;
}

bool certified_above(const ExactBound *exact, int node, int state, int64_t cost) {
    return is_above(exact, exact->reduced[exact->core->at[node] + state], cost);
}

static int64_t forbid_pairs(const ExactBound *exact, int e, int64_t cost, Reduction *reduction) {
    const Core *core = exact->core;
    int u = core->edge_u[e], v = core->edge_v[e];
    int64_t count = 0;
    for (int s = 0; s < core->count[u]; s++) {
        __int128 at_u = exact->reduced[core->at[u] + s];
        if (is_above(exact, at_u, cost)) continue;
        at_u -= least_remaining(exact, e, s, -1);
        for (int t = 0; t < core->count[v]; t++) {
            __int128 at_v = exact->reduced[core->at[v] + t], remaining = remaining_at(exact, e, s, t);
            if (is_above(exact, at_v, cost) || !reachable(remaining)) continue;
            if (!is_above(exact, at_u + exact->belief[core->at[v] + t] + remaining, cost)) continue;
            reduction_forbid(reduction, core->edge_of[e], core->edge_flipped[e] ? t : s, core->edge_flipped[e] ? s : t);
            count++;
        }
    }
    return count;
}

int64_t certify_fix(ExactBound *exact, int64_t cost, Reduction *reduction) {
    const Core *core = exact->core;
    int64_t count = 0;
    for (int e = 0; e < core->edges; e++) count += forbid_pairs(exact, e, cost, reduction);
    for (int i = 0; i < core->nodes; i++) {
        for (int s = 0; s < core->count[i]; s++) {
            reduction->keep[s] = !certified_above(exact, i, s, cost);
            count += !reduction->keep[s];
        }
        reduction_keep(reduction, core->node_of[i], reduction->keep);
    }
    return count;
}
