/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/answer/tie.h: which of the plans that the model cannot tell apart stands first. */
#pragma once

#include "search/answer/search_result.h"

/* So many of the fastest are requested at most, however many plans are wanted. */
enum { TIE_MOST = 16 };

/* The plan that takes least, whichever stands first; NULL: there is none. */
const RankedPlan *search_fastest(const SearchResult *result);

/* What is requested of tied plans, in this order; the plan for which less is true stands first. */
typedef enum {
    TIE_BY_HBM,        /* chance that it does not fit, in steps of 5%; not known: HBM in use, in the same steps */
    TIE_BY_UNMEASURED, /* figures that no run has moved and that it leans on */
    TIE_BY_OPTIMIZER,  /* the optimizer's state on the host */
    TIE_BY_HOST,       /* bytes on the host, in steps of 5% of HBM */
    TIE_BY_ODD,        /* what hardly anybody runs of it (odd.h) */
    TIE_BY_ROLES,      /* roles of a degree above 1; like the next, of plans within half a per cent of the fastest */
    TIE_BY_STAGES,     /* of the pipeline */
    TIE_BY_TIME,       /* nothing else differs */
} TieReason;

/* The first of these in which two plans of one chip differ; *less: it is `a` for which less is true. */
TieReason tie_reason(const RankedPlan *a, const RankedPlan *b, bool *less);

/* "more HBM free": what the first of the two has. */
const char *tie_reason_words(TieReason reason);

/* Puts plans, each with its request and estimate and sorted by time, in the order in which they are shown: those that
 * are tied with the fastest, which takes `fastest`, by what is surer (the first TIE_MOST of them), the rest by time.
 * Fills the `doubt` of those that are tied, and `tied` of all. */
void tie_order(const SearchControl *control, const RankedPlan *fastest, RankedPlan *plans, int count);

/* Whether the plan is tied with the fastest: in rank, and in the seconds of the step too. */
bool tie_holds(const SearchControl *control, const RankedPlan *fastest, const RankedPlan *plan);

/* How far a search that did not end is from having proven its first plan. */

/* By how much what is undecided might be faster than the fastest plan, as a share of its time: 0 where that is proven,
 * though a row below may be open; 1 where there is no plan. Certificate.gap is that of the last row. */
double search_gap(const SearchResult *result);

/* The same of one row that takes `seconds` (ranked), where nothing that is undecided takes less than `open` (INFINITY:
 * nothing is). What a layout may be off by and count as solved is no gap. */
double row_gap(double seconds, double open);

/* Whether a limit that was requested, an interrupt, or a machine with more plans than can be listed left the first plan
 * open by more than counts as proven, or none found. */
bool search_left_open(const SearchResult *result);
