/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine/layout/branch.h: a layout graph with all its choices made. What is left are counts of layers per activation
 * state, and everything is linear in them: the form in which layouts are bounded and solved. Internal to
 * engine/layout. */
#pragma once

#include "search/engine/layout/layout.h"

enum { ITEMS_MAX = ACTIVATION_COUNT * (STRATEGIES_MAX - 1) };

/* One activation in one state other than saved. */
typedef struct {
    int activation;
    ActivationState state;
    double layers;  /* that may be in this state, a whole number; the states of one activation share them */
    Resources adds; /* per layer; memory negative, all else >= 0 */
} BranchItem;

typedef struct {
    int strategy[NODE_ACTIVATION];
    Resources saved; /* everything saved */
    BranchItem items[ITEMS_MAX];
    int item_count;
} Branch;

/* Combinations of the choices' strategies, forbidden ones included; index 0 is the default. */
int branch_count(const LayoutGraph *graph);

/* The branch of an index; false: forbidden, or not plain where the graph has an offer. */
bool branch_at(const LayoutGraph *graph, int index, Branch *out);

/* The layouts of a graph with an offer, one after the other: every branch under every rule that it can follow (it
 * cannot where something is not to be made again, or the host has no room). `Offered at = {0};` stands before the
 * first. */
typedef struct {
    int index, rule; /* the branch, and the rule behind the one that it stands at */
    Branch branch;
    int64_t counts[ITEMS_MAX];
    Resources resources;
} DomainLayout;
bool domain_layout_next(const LayoutGraph *graph, DomainLayout *at); /* false: that was the last */
/* The one it stands at fits: where that is the least that the branch can do, its other rules are passed over. */
void domain_layout_fits(const LayoutGraph *graph, DomainLayout *at);

/* Drops items that no best layout needs: those that free no memory, and those that another state of the same activation
 * is as good as in every resource. */
void branch_drop_useless(Branch *branch);

/* saved + sum of counts x adds, in the order of the items. */
void branch_resources(const Branch *branch, const int64_t counts[ITEMS_MAX], Resources *out);

Layout branch_layout(const LayoutGraph *graph, const Branch *branch, const int64_t counts[ITEMS_MAX]);

/* No layout of the branch that fits in memory takes less (layout_relax.c); INFINITY: none fits. */
double branch_bound(const StepRule *rule, const Branch *branch, const Rates *rates);

/* The relaxation (layout.h) of one branch alone. */
void branch_relax(const StepRule *rule, const Branch *branch, const Rates *least, Relaxation *out);

static inline bool resources_fit(const Resources *resources, double limit) {
    for (int moment = 0; moment < MOMENT_COUNT; moment++)
        if (!(resources->of[RES_MEMORY + moment] <= limit)) return false;
    return true;
}
