/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/walk/search.h: the k best plans, and the proof that nothing left out is better.
 *
 * Space: every offered machine (the asked one and, within max_idle, its idle shapes) x every batch within the tolerance
 * x every factorization x knobs, in one order of the roles or, --nesting all, in every one: each degree tuple in all
 * orders of its roles above 1, counted as so many plans, also where two place the same since roles share no axis. Order
 * of the loops: degrees by rising bound, then knobs, then placements, then layouts (reference/search.md, section 3).
 */
#ifndef SHARDOPT_SEARCH_WALK_SEARCH_H
#define SHARDOPT_SEARCH_WALK_SEARCH_H

#include "cost/estimate.h"
#include "search/launch/placement.h"
#include "search/request/request.h"

typedef enum {
    PRUNED_REQUIRE,      /* --require, --for */
    PRUNED_INDIVISIBLE,  /* sizes that do not divide, and --padding does not allow it */
    PRUNED_EQUAL,        /* the same plan as another under knobs that make no difference */
    PRUNED_MEMORY,       /* does not fit whatever the layout */
    PRUNED_DEGREE_BOUND, /* bound of the degrees above the k-th best */
    PRUNED_KNOB_BOUND,   /* bound of the knobs above the k-th best */
    PRUNED_TIME_LIMIT,   /* not reached when the time limit came */
    PRUNED_COUNT
} PruneReason;
/* "require" "indivisible" "equal" "memory" "degree_bound" "knob_bound" "time_limit" */
const char *prune_reason_name(PruneReason reason);

typedef enum { PROOF_OPTIMAL, PROOF_GAP } Proof;

/* A machine of the space. */
typedef struct {
    Machine machine;
    Count factorizations;
    int64_t degree_tuples;
} SearchedMachine;

/* A degree tuple with a batch or a range of batches, and the least bound of what was cut there. */
typedef struct {
    double bound; /* ranked; INFINITY: nothing was cut */
    Degrees degrees;
    int machine, machines;           /* SearchResult.machines from there on: as many devices, bounded as one */
    int64_t batch_least, batch_most; /* sequences */
    bool opened;                     /* false: cut whole, by the bound of its degrees */
} CutTuple;
enum { CLOSEST_MAX = 10 };

typedef struct {
    Count factorizations; /* of the machine asked for */
    Count plans_covered, plans_evaluated, plans_pruned[PRUNED_COUNT];
    Count layouts_solved; /* by the ILP */
    int machines;         /* shapes searched */
    int batches;
    int64_t degree_tuples, degree_tuples_opened;
    Proof proof;
    double gap;                /* 0 when optimal: (k-th best - least open bound) / k-th best */
    double best_bound_seconds; /* the least bound among what was cut: nothing that was left out is faster */
    /* Ranked: the k-th best, or what was asked for; INFINITY: fewer than k plans fit. What is cut for being too slow has
     * a bound above it, or is beside a plan that is known: one of the same degrees, schedule and expert grid, of which
     * only the best is a row. */
    double threshold;
    CutTuple least_cut;            /* of the least bound of all that was cut */
    CutTuple least_beyond;         /* of the least bound above the threshold */
    CutTuple closest[CLOSEST_MAX]; /* cut whole, by rising bound */
    int closest_count;
} Certificate;

typedef struct {
    Plan plan;
    Nesting nesting; /* in which its placement is to be read */
    Machine machine;
    Work work; /* its batch */
    /* what plans are ordered by: step seconds x requested tokens / its tokens (x chips for chip-hours and cost) */
    double ranked_seconds;
    PaddingSet padding;
    LauncherSet launchable_by;
    LaunchAnswer launch[LAUNCHER_COUNT]; /* of the launchers that take its degrees and knobs: how they would place it */
    int launch_count;
    Estimate estimate;
    /* placements of these degrees and knobs, in this order of roles, that cost the same, itself included */
    Count equal_placements;
    /* plans (placements and knobs) of these degrees, schedule and order within 1% of it, layouts relaxed */
    Count within_one_percent;
    bool tied; /* within 0.5% of the first */
} RankedPlan;

/* Why nothing fits, when nothing does. */
typedef struct {
    bool known;
    Plan plan; /* the plan that lacks least */
    double needed_bytes, limit_bytes;
    MemoryRows memory;
} Shortfall;

typedef struct {
    RankedPlan *plans;
    int plan_count;
    Certificate certificate;
    const SearchedMachine *machines; /* certificate.machines of them: the one asked for, then its idle shapes */
    const struct Ledger *ledger;     /* search/proof/certificate.h; NULL unless the request wants it */
    Shortfall shortfall;
    double seconds; /* wall time, for --timing only */
} SearchResult;

/* Everything in `result` lives in `arena`. No plan that fits is an answer (plan_count 0), not an error. */
bool search_run(const Request *request, Arena *arena, SearchResult *result, Error *error);

/* Which launchers take the degrees, knobs and padding of a plan (divisibility, schedule, context method:
 * reference/exports.md, "Enforced"), wherever its roles lie: that is search/launch/placement.h. Pure. */
LauncherSet plan_launchers(const Model *model, const Work *work, const Plan *plan, PaddingSet padding,
                           const Mesh *mesh);

/* Why a launcher does not take the degrees, knobs or padding of a plan: a sentence that names the rule; NULL: it takes
 * them. Pure. */
const char *launch_refusal(Launcher launcher, const Model *model, const Work *work, const Plan *plan,
                           PaddingSet padding, const Mesh *mesh);

/* The padding rule of a request as it is on a mesh: where a plan must be launched by somebody (PADDING_LAUNCHABLE, or
 * `launchers`, of which one is asked for; 0: none is) and none of them pads anything there, nothing is padded. */
PaddingRule padding_on(PaddingRule rule, LauncherSet launchers, const Mesh *mesh);

#endif
