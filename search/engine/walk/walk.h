/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine/walk/walk.h: the state of a search, and its parts: the k best plans, the walk up in levels, the answer.
 * Internal to this folder. */
#pragma once

#include "search/engine/explore/tuple_list.h"
#include "search/engine/proof/certificate.h"

/* What the expansions of an entry have come to: what became of its plans, but for those that are left. */
typedef struct {
    ExploreStats stats;
    DeferredList left;
    double least_out; /* the least bound of what was left and is out for good, as it is above the k-th best */
} Expanded;

typedef struct {
    const Request *request;
    Arena *arena;
    TupleList tuples;
    ExploreCache *caches; /* one for each thread */
    int threads;
    BestPlan *best; /* the k best plans, and those that are tied with the first, sorted */
    int best_count;
    ExploreStats stats;
    Budget *budget; /* that all of this is taken from: */
    Budget own;
    int64_t kept;        /* bytes of `expanded` and what it has, of the budget */
    bool forgets;        /* memory is short: what an expanded tuple leaves is not kept, it is expanded again */
    bool full;           /* a limit of memory ended the search */
    Expanded **expanded; /* by entry; NULL where it was never expanded */
    Certificate *certificate;
    SearchLog *search_log; /* NULL where none is wanted */
    int64_t work;          /* of all expansions so far: ExploreStats.work */
    bool sampled;          /* the plans are of a sample alone, which were not looked for up to a threshold */
    bool timed_out;        /* a limit of time or work, or an interrupt ended the search */
    bool skipped;          /* some machines have too many tuples to be listed */
    bool interrupted;      /* an interrupt did */
    double started;        /* by the world's clock */
    FirstPlan first;       /* all 0 until there is a plan */
    double floor;          /* the least bound of what was not even bounded in time; INFINITY where all was bounded */
    double open;           /* the least bound of the entries that a limit left undecided; INFINITY where none was */
} Search;

/* Whether time is up or an interrupt has come; once it is, it stays so. */
bool search_is_over(Search *search);

/* What the clock reads when time is up; 0: there is no limit. */
double search_until(const Search *search);

/* ---- the k best (threshold.c) ---- */

/* How many plans are kept at most. */
int search_room(const Search *search);

/* The ranked time above which plans are of no use: that of the k-th best, or up to which they are tied with the first
 * where that is later; or what was requested. */
double search_threshold(const Search *search);

/* Whether nothing in a tuple with this bound can be among the best. */
bool search_beats(const Search *search, double bound);

/* Keeps a plan if it is one of the k best: one for each (degrees, expert grid, schedule); with --variants one for each
 * knob setting. */
void search_keep(Search *search, const BestPlan *plan);

/* Adds the counts of `from`, and keeps the least of each bound. */
void search_merge_stats(ExploreStats *to, const ExploreStats *from);

/* ---- what is kept of expanded entries (expanded.c) ---- */

/* Whether entries go on with what they have left. In many orders of roles they do not: they are expanded again. So it
 * is where memory is short. */
bool search_keeps_left(const Search *search);

/* Begins what is kept of an entry, if it is not there. */
bool expanded_note(Search *search, int64_t index, Error *error);

/* Keeps a list in place of what an entry had left; `left` is empty then. */
void expanded_keep(Search *search, Expanded *expanded, DeferredList *left);

/* Keeps nothing that is left any more, in this share: it counts as cut, and an entry that comes again is expanded as a
 * whole, which counts anew. */
void expanded_forget(Search *search);
void expanded_free(Search *search);

/* ---- the walk (levels.c) ---- */

/* Searches the share of the space that is listed, and counts what became of it. */
bool search_walk(Search *search, Error *error);

/* Searches what is listed until there are plans, and counts nothing. */
bool search_walk_sample(Search *search, Error *error);

/* Searches what is listed for plans that are better than those that are known, until so much work is done
 * (Search.work), and counts nothing. */
bool search_walk_near(Search *search, int64_t until, Error *error);

/* ---- a plan before the space (primal.c) ---- */

/* Looks for plans in a sample of the space, and near what it finds. */
bool search_primal(Search *search, Error *error);

/* Looks for plans near the seeds of the request, in a sample, and near what it finds, as far as the request's limit
 * of work goes. It ends with a gap. */
bool search_quick(Search *search, Error *error);

/* ---- the answer (answer.c) ---- */

/* Fills the result from what was found. */
bool search_answer(Search *search, SearchResult *result, Error *error);

/* ---- the whole (walk.c) ---- */

/* One search of a request that has no subproblems, whatever it leaves open about offloading. */
bool search_one(const Request *request, Arena *arena, SearchResult *result, Error *error);
