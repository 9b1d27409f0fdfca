/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine/layout/layout.h: the layout stage: for fixed degrees and knobs the strategy graph of a stage, its relaxation
 * for bounds, and its exact solution for given rates: GLPK's relaxation, and a search around it. */
#pragma once

#include "cost/stage/sharding.h"
#include "cost/stage/stage.h"

enum {
    NODE_ACTIVATION = CHOICE_COUNT, /* behind the choices of a sharding */
    NODE_COUNT = NODE_ACTIVATION + ACTIVATION_COUNT,
    STRATEGIES_MAX = STATE_COUNT,
    EDGES_MAX = 50
};

/* What one unit of a strategy adds to the base (the default sharding, everything saved). May be negative. */
typedef struct {
    int choice;     /* the enum value it stands for (ResidualChoice ..., ActivationState) */
    Resources adds; /* per unit: nodes of choices have one unit; activations one per layer of the fullest stage */
} Strategy;

typedef struct {
    int strategy_count;
    double units; /* 1, or layers of the fullest stage: how often strategies are taken in sum */
    Strategy strategies[STRATEGIES_MAX];
} LayoutNode;

/* Between a choice and a choice or an activation: what the pair adds beyond both, per unit of the second; or that it is
 * forbidden. */
typedef struct {
    int first, second; /* nodes; first is a choice */
    bool forbidden[STRATEGIES_MAX][STRATEGIES_MAX];
    Resources adds[STRATEGIES_MAX][STRATEGIES_MAX];
} LayoutEdge;

typedef struct LayoutGraph LayoutGraph;
struct LayoutGraph {
    const LayoutGraph
        *other; /* the same layouts priced as the other stage that may set the pace; NULL: there is none */
    Resources base;
    LayoutNode nodes[NODE_COUNT];
    LayoutEdge *edges;
    int edge_count;
    StepRule rule;
    double layers; /* of the fullest stage */
    /* Of these, how many hold an activation recomputed or offloaded because a policy is required; that is in `base`,
     * and activations then have no strategies */
    int64_t required[ACTIVATION_COUNT][STATE_COUNT];
    const RematDomain *domain; /* not NULL: a layout follows one of its rules, under a plain sharding */
    bool exists[ACTIVATION_COUNT];
    int64_t chunks; /* of a stage */
};

/* The graph of a plan's degrees and knobs, in the arena, priced as the shard says. Placement plays no part. A required
 * policy (setting->remat) that cannot be followed, because the host has no room, makes a graph of which no layout
 * fits. */
bool layout_graph(const CostContext *setting, const Shard *shard, const Knobs *knobs, Arena *arena, LayoutGraph *out,
                  Error *error);

/* The resources of one layout in the graph (base + nodes + edges): what step_seconds takes. */
void layout_resources(const LayoutGraph *graph, const Layout *layout, Resources *out);

/* Admissible relaxation, of the graph's own stage. For every layout of the graph that fits and all rates >= `least`:
 *   step of the layout >= relaxed_seconds(relaxation, rates), which never falls when rates rise,
 * and equal to the best layout's when the fastest layout fits and is least in every resource. One row per choice of
 * NODE_MLP (its strategies trade exposed for hidden traffic), component-wise least over the other choices. A row's
 * bound is the larger of
 *   its step with everything saved, and
 *   serial_weight * (that step with nothing hidden: axes taken away) + serial_constant: what freeing the missing
 *   memory takes. */
typedef struct {
    int rows;
    struct {
        Resources resources;  /* component-wise least over the other nodes, all activations saved */
        double serial_weight; /* 0: the second bound says nothing */
        double serial_constant;
        /* bit g: the second bound counts group g by its second affine piece, else by its first */
        unsigned second_piece;
        /* least extra time that freeing the missing memory takes, at the least rates; 0 when it fits */
        double extra_seconds;
    } row[STRATEGIES_MAX];
    bool fits;            /* false: no layout can fit: least memory above the limit at some moment */
    double missing_bytes; /* then: by how much, the worst moment */
} Relaxation;

void layout_relax(const LayoutGraph *graph, const Rates *least, Relaxation *out);
double relaxed_seconds(const StepRule *rule, const Relaxation *relaxation, const Rates *rates);
/* The same where every layout also exposes `other_exposed` seconds of communication of which resources and rates say
 * nothing. Where everything saved has something on the host link, behind which they may hide, they do not count. */
double relaxed_seconds_with_other(const StepRule *rule, const Relaxation *relaxation, const Rates *rates,
                                  double other_exposed);

/* The exact best layout for these rates, whose seconds are those of the longer stage. found = false: none fits. Ties:
 * deterministic. `solver_calls` counts linear programs (0 when the fastest layout fits and no program had to be
 * solved). GLPK is silenced, its abort hooked (a defect of GLPK becomes ERROR_INTERNAL). */
typedef struct {
    bool found;
    double seconds;
    double bound_seconds; /* nothing is faster: `seconds`, to 1e-9; less only when a limit on work ended the proof, or
                           * each stage has the other as the longer one under its own best layout */
    Layout layout;
    Resources resources;
    int solver_calls;
    int64_t work; /* what whole numbers of layers took, in bounds of their search: some 50 ns each */
} LayoutSolution;
bool layout_solve(const LayoutGraph *graph, const Rates *rates, LayoutSolution *out, Error *error);
