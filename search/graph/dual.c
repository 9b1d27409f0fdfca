/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/graph/branch_and_bound.h"

#include "base/util.h"
#include "search/graph/kernel.h"

#include <math.h>
#include <string.h>

/* The volume algorithm: a step shrinks after this many failures in a row, and grows with success. */
enum { FAILURES_MAX = 8 };
static const double SHRINK = 0.6, GROW = 1.15;
/* The share of a new solution in the average. */
static const double NEW_SHARE = 0.1;

Dual *dual_new(const Core *core, Workspace *space) {
    Dual *dual = WORKSPACE_NEW(space, Dual, 1);
    int widest = 0;
    for (int i = 0; i < core->nodes; i++) widest = core->width[i] > widest ? core->width[i] : widest;
    dual->core = core;
    dual->message = WORKSPACE_NEW(space, double, core->message_size + 1);
    dual->price = WORKSPACE_NEW(space, double, core->times + 1);
    dual->sums = WORKSPACE_NEW(space, double, core->times + 2);
    dual->priced = WORKSPACE_NEW(space, double, core->at[core->nodes] + 1);
    dual->unary = WORKSPACE_NEW(space, double, core->at[core->nodes] + 1);
    dual->hat = WORKSPACE_NEW(space, double, widest + 1);
    dual->rest = WORKSPACE_NEW(space, double, widest + 1);
    dual->best_price = WORKSPACE_NEW(space, double, core->times + 1);
    dual->average = WORKSPACE_NEW(space, double, core->times + 1);
    dual->profile = WORKSPACE_NEW(space, int64_t, core->times + 1);
    dual->best_bound = -INFINITY;
    dual_price(dual, dual->price);
    return dual;
}

WIDE static void price_items(const Core *core, const double *sums, double *priced) {
    for (int i = 0; i < core->nodes; i++) {
        double *to = priced + core->at[i];
        int width = core->width[i];
        for (int s = 0; s < width; s++) to[s] = 0;
        for (int k = core->item_start[i]; k < core->item_start[i + 1]; k++) {
            double price = sums[core->item_past[k]] - sums[core->item_first[k]];
            const double *usage = core->usage_real + core->item_usage[k];
            if (price <= 0) continue;
            for (int s = 0; s < width; s++) to[s] += price * usage[s];
        }
    }
}

void price_states(const Core *core, const double *price, double *sums, double *priced) {
    sums[0] = 0;
    for (int t = 0; t < core->times; t++) sums[t + 1] = sums[t] + price[t];
    price_items(core, sums, priced);
}

void dual_price(Dual *dual, const double *price) {
    const Core *core = dual->core;
    if (price != dual->price) memcpy(dual->price, price, (size_t)core->times * sizeof *price);
    dual->offset = 0;
    for (int t = 0; t < core->times; t++) dual->offset += price[t] * (double)core->slack[t];
    price_states(core, price, dual->sums, dual->priced);
    int size = core->at[core->nodes];
    for (int s = 0; s < size; s++)
        dual->unary[s] = core->theta[s] + dual->priced[s] + (dual->blocked ? dual->blocked[s] : 0);
}

static const double *best_prices(const Dual *dual) {
    return dual->best_bound > -INFINITY ? dual->best_price : dual->price;
}

void dual_price_best(Dual *dual) { dual_price(dual, best_prices(dual)); }

void dual_price_as(Dual *dual, const Dual *before) {
    const Core *core = dual->core, *old = before->core;
    const double *price = best_prices(before);
    for (int t = 0; t < core->times; t++) dual->price[t] = 0;
    for (int from = 0, to = 0; from < old->times && core->times > 0; from++) {
        while (to + 1 < core->times && core->slot[to] < old->slot[from]) to++;
        dual->price[to] += price[from];
    }
    dual_price(dual, dual->price);
}

/* The belief of a node: its own cost and the messages of all neighbours. */
INLINE void gather(const Dual *dual, int i, double *restrict hat) {
    const Core *core = dual->core;
    int width = core->width[i];
    memcpy(hat, dual->unary + core->at[i], (size_t)width * sizeof *hat);
    for (int k = core->arc_start[i]; k < core->arc_start[i + 1]; k++)
        vector_add(hat, dual->message + core->arcs[core->arcs[k].back].message, width);
}

INLINE double send(Dual *dual, int i, const CoreArc *arc, double share) {
    const Core *core = dual->core;
    int width = core->width[i], to_width = core->width[arc->other];
    const double *back = dual->message + core->arcs[arc->back].message;
    double *message = dual->message + arc->message, *rest = dual->rest;
    for (int s = 0; s < width; s++) rest[s] = share * dual->hat[s] - back[s];
    min_plus(rest, core->count[i], core->matrix + arc->matrix, to_width, message);
    double least = vector_least(message, core->count[arc->other]);
    for (int t = 0; t < to_width; t++) message[t] -= least;
    return least;
}

/* Takes earlier neighbours as chosen, and later ones by their messages. */
INLINE int round_node(Dual *dual, int i, const int *rounding) {
    const Core *core = dual->core;
    double *rest = dual->rest;
    int width = core->width[i];
    memcpy(rest, dual->unary + core->at[i], (size_t)width * sizeof *rest);
    for (int k = core->arc_start[i]; k < core->arc_start[i + 1]; k++) {
        const CoreArc *arc = &core->arcs[k], *back = &core->arcs[arc->back];
        const double *more = arc->other < i ? core->matrix + back->matrix + (size_t)rounding[arc->other] * (size_t)width
                                            : dual->message + back->message;
        vector_add(rest, more, width);
    }
    return vector_least_at(rest, core->count[i]);
}

INLINE double share_of(const Core *core, int i) {
    int earlier = core->arc_later[i] - core->arc_start[i], later = core->arc_start[i + 1] - core->arc_later[i];
    return 1.0 / (earlier > later ? earlier : later > 0 ? later : 1);
}

WIDE static double sweep(Dual *dual, int *rounding) {
    const Core *core = dual->core;
    double bound = 0;
    for (int i = 0; i < core->nodes; i++) {
        if (rounding) rounding[i] = round_node(dual, i, rounding);
        if (core->arc_later[i] == core->arc_start[i + 1]) continue;
        gather(dual, i, dual->hat);
        for (int k = core->arc_later[i]; k < core->arc_start[i + 1]; k++)
            send(dual, i, &core->arcs[k], share_of(core, i));
    }
    for (int i = core->nodes - 1; i >= 0; i--) {
        gather(dual, i, dual->hat);
        double least = vector_least(dual->hat, core->count[i]);
        for (int s = 0; s < core->width[i]; s++) dual->hat[s] -= least;
        bound += least;
        for (int k = core->arc_start[i]; k < core->arc_later[i]; k++)
            bound += send(dual, i, &core->arcs[k], share_of(core, i));
    }
    return bound;
}

double dual_sweep(Dual *dual, int *rounding) { return sweep(dual, rounding) - dual->offset; }

void volume_start(Dual *dual, double gap) {
    dual->step = gap;
    dual->failures = 0;
    dual->best_bound = -INFINITY;
}

/* Moves from the best prices along the averaged violation, as far as would gain `step` if the bound were linear. */
static void move_prices(Dual *dual) {
    const Core *core = dual->core;
    double norm = 0;
    for (int t = 0; t < core->times; t++) {
        double violation = dual->average[t] - (double)core->slack[t];
        if (violation < 0 && dual->best_price[t] <= 0) continue;
        norm += violation * violation;
    }
    double scale = norm > 0 ? dual->step / norm : 0;
    for (int t = 0; t < core->times; t++) {
        double violation = dual->average[t] - (double)core->slack[t];
        dual->price[t] = max_real(0, dual->best_price[t] + scale * violation);
    }
    dual_price(dual, dual->price);
}

double volume_step(Dual *dual, int sweeps, int *choice) {
    const Core *core = dual->core;
    bool first = dual->best_bound == -INFINITY;
    double bound = 0;
    if (!first) move_prices(dual);
    for (int k = 0; k < sweeps; k++) bound = dual_sweep(dual, k + 1 == sweeps ? choice : NULL);
    core_profile(core, choice, dual->profile);
    double share = first ? 1 : NEW_SHARE;
    for (int t = 0; t < core->times; t++) dual->average[t] += share * ((double)dual->profile[t] - dual->average[t]);
    if (bound > dual->best_bound) {
        dual->best_bound = bound;
        memcpy(dual->best_price, dual->price, (size_t)core->times * sizeof *dual->price);
        dual->failures = 0;
        if (!first) dual->step *= GROW;
    } else if (++dual->failures >= FAILURES_MAX) {
        dual->step *= SHRINK;
        dual->failures = 0;
    }
    return bound;
}
