/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Knob settings are judged in three grains: a range of microbatches with all context methods by the bound of the range,
 * then family by family, then one by one. */
#include "search/explore/knob_list.h"

#include "base/util.h"
#include "search/bound/range_bound.h"
#include "search/explore/admission.h"
#include "search/explore/family_frontier.h"

#include <math.h>

typedef struct {
    OpenTuple *tuple;
    FamilyFrontier frontier; /* of the family in question */
    BoundedIndexList *list;
    double threshold; /* ranked; what is above is out */
    bool brute;       /* nothing is cut by a bound */
} KnobListing;

static ExploreStats *stats_of(const KnobListing *listing) { return &listing->tuple->explorer->stats; }

static void note_missing(const KnobListing *listing, const Knobs *knobs, double missing) {
    explore_note_missing(stats_of(listing), listing->tuple->degrees, knobs, missing);
}

/* ---- one knob setting ---- */

typedef struct {
    bool listed;
    bool family_out;    /* it was cut with all that is left of its family */
    PruneReason reason; /* why it is out, where it is */
    double bound;       /* at which it was cut or listed, ranked */
} KnobOutcome;

static KnobOutcome knob_out(const KnobListing *listing, PruneReason reason, double bound) {
    stats_of(listing)->pruned[reason] += listing->tuple->placement_total;
    return (KnobOutcome){.reason = reason, .bound = bound};
}

/* Whether the same setting with its optimizer's state in HBM, `resident`, is no worse than this one whatever becomes of
 * it: it is listed, fits however it is laid out, and its update is faster. Where the resident one was cut by its bound
 * nothing follows: that bound has what freeing memory costs, of which this setting has to free less. */
static bool decided_by_resident(const KnobListing *listing, const Knobs *knobs, const Shard *shard,
                                const KnobOutcome *resident) {
    const ExploreProblem *problem = listing->tuple->problem;
    if (listing->brute || problem->request->control.variants || !resident->listed) return false;
    Bounds bounds = explorer_bounds(listing->tuple->explorer);
    return offload_never_pays(&bounds, shard, knobs, resident->bound / problem->scale);
}

/* A setting that is admitted: into the list, or out by memory or by its bound. */
static bool list_admitted(KnobListing *listing, int64_t index, const Knobs *knobs, const Shard *shard,
                          KnobOutcome *out) {
    OpenTuple *tuple = listing->tuple;
    const ExploreProblem *problem = tuple->problem;
    const Rates *least = &tuple->least[knob_space_methods(&tuple->space, index)];
    double limit = cost_context_memory_limit(&problem->setting), threshold = listing->threshold;
    Bounds bounds = explorer_bounds(tuple->explorer);
    BoundRows rows;
    knob_rows(&bounds, shard, knobs, least, threshold / problem->scale, &rows);
    double bytes = rows.least_bytes, bound = rows_seconds(&rows, least) * problem->scale;
    if (!listing->brute && bytes <= limit && bound <= threshold)
        bound = max_real(bound, family_frontier_bound(tuple, &rows, &listing->frontier));
    if (bytes > limit) {
        *out = knob_out(listing, PRUNED_MEMORY, bound);
        note_missing(listing, knobs, bytes - limit);
    } else if (bound > threshold && !listing->brute) {
        *out = knob_out(listing, PRUNED_KNOB_BOUND, bound);
        explore_note_cut(stats_of(listing), bound);
    } else {
        *out = (KnobOutcome){.listed = true, .bound = bound};
        return bounded_index_add(listing->list, (BoundedIndex){bound, index}, &tuple->explorer->error);
    }
    return true;
}

/* One knob setting. `resident` is what became of the same setting without offloading the optimizer's state; NULL means
 * that this one does not offload it. */
static bool list_knob(KnobListing *listing, int64_t index, const KnobOutcome *resident, KnobOutcome *out) {
    OpenTuple *tuple = listing->tuple;
    if (resident && !resident->listed && (resident->reason == PRUNED_INDIVISIBLE || resident->reason == PRUNED_EQUAL)) {
        *out = knob_out(listing, resident->reason, INFINITY);
        return true;
    }
    Knobs knobs = knob_space_at(&tuple->space, index);
    Admission admission;
    if (!knobs_admitted(tuple, &knobs, &admission)) {
        *out = knob_out(listing, admission.reason, INFINITY);
        return true;
    }
    if (resident && decided_by_resident(listing, &knobs, &admission.shard, resident)) {
        *out = knob_out(listing, PRUNED_KNOB_BOUND, resident->bound); /* what is left out the resident one says */
        return true;
    }
    stats_of(listing)->ordered = true;
    if (!listing->brute && !family_frontier_fill(tuple, &listing->frontier)) return false;
    if (!listing->brute && listing->frontier.bound > listing->threshold) {
        *out = (KnobOutcome){.family_out = true};
        return true;
    }
    return list_admitted(listing, index, &knobs, &admission.shard, out);
}

/* ---- one family ---- */

/* Fills the family's rows and bound; *bytes is what its members hold at least. */
static void begin_family(KnobListing *listing, int64_t first, const Knobs *knobs, const Shard *shard, double *bytes) {
    OpenTuple *tuple = listing->tuple;
    const ExploreProblem *problem = tuple->problem;
    FamilyFrontier *frontier = &listing->frontier;
    family_frontier_begin(frontier, knob_space_methods(&tuple->space, first));
    const Rates *least = &tuple->least[frontier->methods_index];
    Bounds bounds = explorer_bounds(tuple->explorer);
    family_rows(&bounds, shard, knobs, least, listing->threshold / problem->scale, &frontier->rows);
    *bytes = frontier->rows.least_bytes;
    frontier->bound = rows_seconds(&frontier->rows, least) * problem->scale;
}

/* Whether a whole family is out: its sizes do not divide, it cannot fit, or its bound at the least rates is above the
 * threshold. Otherwise listing->frontier is begun. */
static bool family_cut(KnobListing *listing, int64_t family) {
    OpenTuple *tuple = listing->tuple;
    const ExploreProblem *problem = tuple->problem;
    ExploreStats *stats = stats_of(listing);
    int64_t size = knob_family_size(&tuple->space), first = family * size;
    Count plans = tuple->placement_total * (Count)size;
    Knobs knobs = knob_space_at(&tuple->space, first);
    Shard shard;
    knobs.virtual_stages = 1; /* with more chunks nothing divides better */
    if (!shard_of_plan(problem->setting.model, &problem->setting.work, tuple->degrees, &knobs, problem->padding,
                       &shard)) {
        stats->pruned[PRUNED_INDIVISIBLE] += plans;
        return true;
    }
    if (listing->brute) return false;
    double bytes, limit = cost_context_memory_limit(&problem->setting);
    begin_family(listing, first, &knobs, &shard, &bytes);
    if (bytes > limit) {
        stats->pruned[PRUNED_MEMORY] += plans;
        note_missing(listing, &knobs, bytes - limit);
        return true;
    }
    if (listing->frontier.bound <= listing->threshold) return false;
    stats->pruned[PRUNED_KNOB_BOUND] += plans;
    explore_note_cut(stats, listing->frontier.bound);
    return true;
}

static bool list_family(KnobListing *listing, int64_t family) {
    const KnobSpace *space = &listing->tuple->space;
    int64_t size = knob_family_size(space);
    if (explorer_stops(listing->tuple->explorer)) return false;
    if (family_cut(listing, family)) return true;
    KnobOutcome outcome = {0};
    for (int64_t i = 0; i < size; i++) {
        /* A setting that offloads comes right after the same setting that does not. */
        bool offloads = space->offload_count > 1 && i % space->offload_count != 0;
        KnobOutcome resident = outcome;
        if (!list_knob(listing, family * size + i, offloads ? &resident : NULL, &outcome)) return false;
        if (!outcome.family_out) continue;
        stats_of(listing)->pruned[PRUNED_KNOB_BOUND] += listing->tuple->placement_total * (Count)(size - i);
        explore_note_cut(stats_of(listing), listing->frontier.bound);
        break;
    }
    return true;
}

/* ---- ranges of microbatches ---- */

/* All context methods with one expert grid, one layout of the parameters over sequence and one split of the layers. */
typedef struct {
    int64_t first_index, index_step; /* numbers of their methods */
    StageSplit split;
    Methods methods; /* of the first */
} MethodFamily;

static int64_t family_at(const KnobSpace *space, const MethodFamily *methods, int context, int64_t microbatch) {
    int64_t index = methods->first_index + context * methods->index_step;
    return (microbatch * space->method_count + index) * space->split_count + (int64_t)methods->split;
}

/* Whether microbatches first .. last are all out by the bound of the range. */
static bool microbatches_are_cut(KnobListing *listing, const MethodFamily *methods, int64_t first, int64_t last) {
    OpenTuple *tuple = listing->tuple;
    const ExploreProblem *problem = tuple->problem;
    const KnobSpace *space = &tuple->space;
    ExploreStats *stats = stats_of(listing);
    double bytes, limit = cost_context_memory_limit(&problem->setting);
    /* What fits in no microbatch at all is out for good, even where it is too slow as well. */
    bool whole = first == 0 && last == space->microbatch_count - 1;
    Bounds bounds = explorer_bounds(tuple->explorer);
    MicrobatchRange range = {tuple->degrees, &methods->methods, methods->split, space->microbatch_sequences[first],
                             space->microbatch_sequences[last]};
    double enough = whole ? INFINITY : listing->threshold / problem->scale;
    double bound = range_bound(&bounds, &range, &tuple->least[methods->first_index], enough, &bytes) * problem->scale;
    if (!(bound < INFINITY)) return false; /* families whose sizes do not divide say so themselves */
    Count plans = tuple->placement_total * (Count)knob_family_size(space) * (Count)space->methods.context_count *
                  (Count)(last - first + 1);
    if (bytes > limit) {
        Knobs knobs = knob_space_at(space, family_at(space, methods, 0, first) * knob_family_size(space));
        stats->pruned[PRUNED_MEMORY] += plans;
        note_missing(listing, &knobs, bytes - limit);
        return true;
    }
    if (bound <= listing->threshold) return false;
    stats->pruned[PRUNED_KNOB_BOUND] += plans;
    explore_note_cut(stats, bound);
    return true;
}

/* Microbatches first .. last, in halves: what the bound of a range leaves goes family by family into the list. */
static bool list_range(KnobListing *listing, const MethodFamily *methods, int64_t first, int64_t last) {
    const KnobSpace *space = &listing->tuple->space;
    bool worth = first < last || space->methods.context_count > 1; /* else the family's own bound says more */
    if (explorer_stops(listing->tuple->explorer)) return false;
    if (worth && !listing->brute && microbatches_are_cut(listing, methods, first, last)) return true;
    if (first < last) {
        int64_t middle = first + (last - first) / 2;
        return list_range(listing, methods, first, middle) && list_range(listing, methods, middle + 1, last);
    }
    for (int context = 0; context < space->methods.context_count; context++)
        if (!list_family(listing, family_at(space, methods, context, first))) return false;
    return true;
}

static bool list_methods(KnobListing *listing, int64_t index, int64_t step, StageSplit split) {
    const KnobSpace *space = &listing->tuple->space;
    MethodFamily methods = {index, step, split, method_space_at(&space->methods, index)};
    bool ok = list_range(listing, &methods, 0, space->microbatch_count - 1);
    family_frontier_free(&listing->frontier);
    return ok;
}

bool knob_list_make(OpenTuple *tuple, BoundedIndexList *list) {
    const KnobSpace *space = &tuple->space;
    KnobListing listing = {.tuple = tuple,
                           .list = list,
                           .threshold = tuple->explorer->stats.threshold * CUT,
                           .brute = tuple->problem->request->control.brute_force};
    if (knob_family_size(space) == 0) return true; /* chunks were asked for, and a stage has one layer */
    int64_t step = space->method_count / space->methods.context_count;
    for (int64_t index = 0; index < step; index++)
        for (int split = 0; split < space->split_count; split++)
            if (!list_methods(&listing, index, step, (StageSplit)split)) return false;
    bounded_indices_sort(list->items, list->count);
    return true;
}
