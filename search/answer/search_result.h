/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/answer/search_result.h: what a search answers: the ranked plans, and the certificate of what it covered. */
#pragma once

#include "search/answer/ranked_plan.h"

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

/* A degree tuple with a batch or a range of batches, and the lowest bound of the plans cut there. */
typedef struct {
    double bound; /* ranked; INFINITY means that nothing was cut */
    Degrees degrees;
    int machine, machines;           /* the first of SearchResult.machines and their number: they have the same
                                      * number of devices and one bound */
    int64_t batch_least, batch_most; /* sequences */
    bool expanded;                   /* false means that it was cut whole, by the bound of its degrees */
} CutTuple;
enum { CLOSEST_MAX = 10 };

typedef struct {
    Count factorizations; /* of the machine requested */
    Count plans_covered, plans_evaluated, plans_pruned[PRUNED_COUNT];
    Count layouts_solved; /* by the ILP */
    int machines;         /* shapes searched */
    int batches;
    int64_t degree_tuples, degree_tuples_expanded;
    Proof proof;
    double gap;                /* 0 when optimal: (k-th best - least open bound) / k-th best */
    double best_bound_seconds; /* the lowest bound of all cut plans: none of them is faster */
    double open_bound_seconds; /* of those alone that are undecided; INFINITY where none is */
    /* Ranked: the k-th best, or the limit of the request; INFINITY means that fewer than k plans fit. A plan that is
     * cut for being too slow has a bound above it, or there is a known plan with the same degrees, schedule and expert
     * grid, of which only the best is a row. */
    double threshold;
    CutTuple least_cut;             /* of the least bound of all that was cut */
    CutTuple least_above_threshold; /* of the least bound above the threshold */
    CutTuple closest[CLOSEST_MAX];  /* cut whole, by rising bound */
    int closest_count;
} Certificate;

/* Says why no plan fits. */
typedef struct {
    bool known;
    Plan plan; /* the plan that is closest to fitting */
    double needed_bytes, limit_bytes;
    MemoryRows memory;
} Shortfall;

/* What a search has proven of its space (search/answer/search_end.h). */
typedef enum {
    END_NOT_SEARCHED,
    END_OPTIMAL,          /* nothing is faster than its fastest plan */
    END_GAP,              /* a limit or an interrupt left plans undecided, with a plan or without */
    END_NONE_WITHIN,      /* no plan up to the limit of the search (SearchControl.limit_seconds) */
    END_NOTHING_FITS,     /* every plan needs more HBM than there is: SearchResult.shortfall */
    END_NOTHING_DIVIDES,  /* no plan has sizes that divide */
    END_NOTHING_ADMITTED, /* --require, --for or what launchers take leave no plan */
} SearchEndKind;
typedef struct {
    SearchEndKind kind;
    double bound_seconds; /* ranked; no plan of the space takes less. INFINITY where there is none, 0 where not known */
} SearchEnd;

/* What one subproblem of a request came to. */
typedef struct {
    const Request *request; /* as it was searched; where it was searched in two ways, the one with the best plan */
    bool searched;          /* false: a fallback that nobody needed, or a limit came before it */
    RankedPlan *best;       /* NULL: there is none, for the reason in `end`, or none within the request's limit */
    SearchEnd end;
    double gap;
    Count plans_covered;
} SubproblemAnswer;

/* When a search first knew a plan. */
typedef struct {
    int64_t bounds;        /* that were made before, of degrees and of what is within them; the same for any threads */
    double ranked_seconds; /* of that plan */
    double after_seconds;  /* wall time since the search began, for --timing only */
} FirstPlan;

enum { FASTER_MOST = 16 };

typedef struct {
    /* The request that was searched: that of the subproblem that won; the request itself where there are none. The
     * certificate, the machines and the shortfall are of its search alone. */
    const Request *request;
    SubproblemAnswer *subproblems;
    int subproblem_count;
    RankedPlan *plans;
    int plan_count;
    const RankedPlan *fastest; /* where it is not the first of `plans`, though tied with it; else NULL */
    /* The fastest of the plans that take less time than the first, but are seldom run (search/answer/odd.h), so that
     * they rank behind; NULL: there is none. And how many there are, FASTER_MOST for so many or more. */
    const RankedPlan *odd;
    int faster_count;
    bool unsettled; /* a limit came before it was known which plan comes first, and which are faster: PROOF_GAP */
    Certificate certificate;
    const SearchedMachine *machines;    /* certificate.machines of them: the one requested, then its idle shapes */
    const struct SearchLog *search_log; /* search/engine/proof/certificate.h; NULL unless the request wants it */
    Shortfall shortfall;
    double seconds;       /* wall time, for --timing only; 0 in a world without a clock */
    bool memory_full;     /* a limit of memory ended the search */
    int64_t memory_bytes; /* the most that it had taken of that at once, with what its threads may fill */
    int64_t work;         /* in bounds, whatever the number of threads */
    FirstPlan first_plan; /* of all subproblems together; all 0 where there are no plans */
    /* The search, or the answer around it, was interrupted. What the search did not reach is counted as
     * PRUNED_TIME_LIMIT; it keeps no search log then, and the plans of some machines may not even be counted. Numbers
     * that take long to find out about a plan (equal_placements, within_one_percent) may be 0. */
    bool interrupted;
    /* The plan was priced though it needs more HBM than there is: it is no answer to "which plan fits". */
    bool exceeds_hbm;
    int machines_not_counted; /* machines whose plans are in no count of the certificate */
} SearchResult;
