/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/answer/ranked_plan.h: one plan of an answer: what it is, where it ranks, what it costs, who launches it. */
#pragma once

#include "cost/estimate.h"
#include "search/answer/odd.h"
#include "search/request/request.h"

typedef enum {
    LAUNCH_DEFAULT,      /* it does so by itself, or as fast a thing: what differs costs nothing */
    LAUNCH_OPTION,       /* when configured so: `needs` */
    LAUNCH_DEVICE_ORDER, /* when the order of devices or nodes is given: `needs` */
    LAUNCH_IMPOSSIBLE,   /* not at all */
} LaunchKind;
const char *launch_kind_name(LaunchKind kind); /* "default" "option" "device_order" "impossible" */

/* How one launcher would place one plan. */
typedef struct {
    int launcher; /* in the list of launchers */
    LaunchKind kind;
    const char *needs; /* an option as the launcher spells it, or words for a device order; NULL means nothing */
    /* The step of the same degrees, knobs and layout if the launcher places them by itself (with the option that it
     * needs to place them at all). Below 0 means that it is not known, and `unpriced` says why. Memory is the same
     * wherever roles are placed. */
    double default_seconds;
    const char *default_needs; /* the option without which it refuses these degrees; NULL means none */
    const char *unpriced;
    /* The step where it cannot express the layout, with the best that it can express; 0 means that it can, or that
     * nobody requested; below 0 that what it can express does not fit. */
    double expressible_seconds;
} LaunchAnswer;

/* In which way a row of an answer differs from the others. */
typedef enum {
    ROW_FASTEST,
    ROW_OF_LAUNCHER,      /* the fastest of another launcher */
    ROW_WITH_PIPELINE,    /* the fastest with stages, where the first has none */
    ROW_WITHOUT_PIPELINE, /* and the other way round */
    ROW_HEADROOM,         /* the fastest that leaves more HBM free */
    ROW_USUAL,            /* the fastest of the degrees that are usually run */
    ROW_SUREST,           /* not the fastest, but the first of those tied with it, or best with what is odd in rank */
    ROW_ODD,              /* faster than the first, but odd (search/answer/odd.h) */
    ROW_IN_HBM,           /* the fastest with nothing on the host, where the first has something there */
    ROW_ON_HOST,          /* the fastest with the optimizer's state there, where the first has it in HBM */
    ROW_KIND_COUNT
} RowKind;
const char *row_kind_name(RowKind kind); /* "fastest" "launcher" "pipeline" "no_pipeline" "headroom" "usual"
                                            * "surest" "odd" "in_hbm" "on_host" */

/* How far a plan may be off: search/answer/doubts.h. */
typedef struct {
    double deviation;   /* of ln(measured / predicted) compared with other plans of this machine; 0 means not known */
    double best_chance; /* of being the fastest of the plans of its answer; 0 means not known, or hardly any */
    double likely_low, likely_high; /* measured / predicted lies between them nine times in ten; 0 means not known */
    double unmeasured;              /* the part of the deviation that comes of figures which no run moved */
    const ProfileFigure *unmeasured_figure; /* the one that it comes of most; NULL means none */
    int unmeasured_figures; /* how many of them move the step by a thousandth or more, each by one deviation */
} PlanDoubt;

typedef struct {
    unsigned row_kinds; /* a bit for each RowKind; 0: one of the k best */
    /* The request that it answers, with the software that priced it. NULL in the answer of a search around the search:
     * that of the report. */
    const Request *request;
    Plan plan;
    Nesting nesting; /* in which its placement is to be read */
    Machine machine;
    Work work; /* its batch */
    /* plans are ordered by this: step seconds x what is odd (odd_factor()) x requested tokens / its tokens (x chips for
     * chip-hours and cost) */
    double ranked_seconds;
    double seconds; /* the same without what oddness costs in rank */
    OddSet odd;
    /* By how much a plan that is undecided might be faster than this one, of those that the row is the best of, as a
     * share of its time; 0: none is, the row is proven (search/answer/tie.h). */
    double gap;
    PaddingSet padding;
    LauncherSet launchable_by;          /* those that take its degrees, knobs and placement */
    LauncherSet exact;                  /* of these, those that can express its layout too */
    LaunchAnswer launch[LAUNCHERS_MAX]; /* of the launchers that take its degrees and knobs: how they would place it */
    int launch_count;
    Estimate estimate;
    /* placements of these degrees and knobs, in this order of roles, that cost the same, itself included */
    Count equal_placements;
    /* plans (placements and knobs) of these degrees, schedule and order within 1% of it, layouts relaxed */
    Count within_one_percent;
    bool tied;       /* within TIE of the fastest */
    PlanDoubt doubt; /* filled by the report; of tied plans by the search, without the chance */
} RankedPlan;
