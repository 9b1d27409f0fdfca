/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Knob settings are judged in three grains: a range of microbatches with all context methods by the bound of the range,
 * then family by family, then one by one. */

#include "base/util.h"
#include "search/engine/bound/tuple_bound.h"
#include "search/engine/explore/frontier.h"
#include "search/engine/explore/larger_batch.h"
#include "search/engine/explore/tuple_node.h"

#include <math.h>

typedef struct {
    TupleNode *tuple;
    FamilyFrontier frontier; /* of the family in question */
    BoundedIndexList *list;
    double threshold;   /* ranked; what is above is out */
    bool brute;         /* nothing is cut by a bound */
    SizesVerdict sizes; /* of the setting in question, and of those that share sizes with it */
    int64_t family;     /* whose frontier is filled to go on with its members; -1: none */
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
 * nothing follows: that bound has what freeing memory costs, of which this setting has to free less. Nor does it of a
 * pipeline: with a longer update the played step may be within a hundredth of the formula's (step_of_both()). */
static bool decided_by_resident(const KnobListing *listing, const Knobs *knobs, const Shard *shard,
                                const KnobOutcome *resident) {
    const ExploreProblem *problem = listing->tuple->problem;
    if (listing->brute || problem->request->control.variants || !resident->listed || shard->pipeline > 1) return false;
    Bounds bounds = explorer_bounds(listing->tuple->explorer);
    return offload_never_pays(&bounds, shard, knobs, resident->bound / tuple_node_scale(listing->tuple, knobs));
}

/* A setting that is admitted: into the list, or out by memory or by its bound. */
static bool list_admitted(KnobListing *listing, int64_t index, const Knobs *knobs, const Shard *shard,
                          KnobOutcome *out) {
    TupleNode *tuple = listing->tuple;
    const ExploreProblem *problem = tuple->problem;
    const Rates *least = tuple_node_minimum(tuple, knob_space_methods(&tuple->space, index));
    double limit = cost_context_memory_limit(&problem->setting), threshold = listing->threshold;
    Bounds bounds = explorer_bounds(tuple->explorer);
    BoundRows rows;
    double scale = tuple_node_scale(tuple, knobs);
    stats_of(listing)->work++;
    knob_rows(&bounds, shard, knobs, least, threshold / scale, &rows);
    double bytes = rows.least_bytes, bound = rows.seconds * scale;
    if (!listing->brute && bytes <= limit && bound <= threshold)
        bound = max_real(bound, family_frontier_bound(tuple, &rows, &listing->frontier));
    if (bytes > limit) {
        *out = knob_out(listing, PRUNED_MEMORY, bound);
        note_missing(listing, knobs, bytes - limit);
    } else if (bound > threshold && !listing->brute) {
        *out = (KnobOutcome){.reason = PRUNED_KNOB_BOUND, .bound = bound};
        Deferred left = {.kind = LEFT_KNOBS, .bound = bound, .index = index, .plans = tuple->placement_total};
        return explorer_leave(tuple->explorer, left);
    } else {
        *out = (KnobOutcome){.listed = true, .bound = bound};
        return bounded_index_add(listing->list, (BoundedIndex){bound, index}, &tuple->explorer->error);
    }
    return true;
}

/* One knob setting, of a family in its order. `resident` is what became of the same setting without offloading the
 * optimizer's state; NULL means that this one does not offload it. */
static bool list_knob(KnobListing *listing, int64_t index, const KnobOutcome *resident, KnobOutcome *out) {
    TupleNode *tuple = listing->tuple;
    if (resident && !resident->listed && (resident->reason == PRUNED_INDIVISIBLE || resident->reason == PRUNED_EQUAL)) {
        *out = knob_out(listing, resident->reason, INFINITY);
        return true;
    }
    Knobs knobs = knob_space_at(&tuple->space, index);
    Admission admission;
    if (index % knob_sizes_shared(&tuple->space) == 0) listing->sizes = knobs_sizes(tuple, &knobs);
    if (!knobs_admitted_of_sizes(tuple, &knobs, &listing->sizes, &admission)) {
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
    TupleNode *tuple = listing->tuple;
    FamilyFrontier *frontier = &listing->frontier;
    family_frontier_begin(frontier, knob_space_methods(&tuple->space, first));
    const Rates *least = tuple_node_minimum(tuple, frontier->methods_index);
    Bounds bounds = explorer_bounds(tuple->explorer);
    family_rows(&bounds, shard, knobs, least, listing->threshold / tuple->scale, &frontier->rows);
    *bytes = frontier->rows.least_bytes;
    frontier->bound = frontier->rows.seconds * tuple->scale;
}

/* Leaves the members of a family from number `from` on closed, at a bound. */
static bool leave_family(const KnobListing *listing, int64_t family, int64_t from, double bound) {
    const TupleNode *tuple = listing->tuple;
    Deferred left = {.kind = LEFT_FAMILY,
                     .bound = bound,
                     .index = family,
                     .first = from,
                     .plans = tuple->placement_total * (Count)(knob_family_size(&tuple->space) - from)};
    return explorer_leave(tuple->explorer, left);
}

/* The shard of a family, at its plainest; false: it does not divide. */
static bool family_shard(const KnobListing *listing, Knobs *knobs, Shard *out) {
    const TupleNode *tuple = listing->tuple;
    const CostContext *setting = &tuple->problem->setting;
    knobs->virtual_stages = 1; /* with more chunks nothing divides better */
    return shard_of_plan(setting->model, &setting->work, tuple->degrees, knobs, tuple->problem->padding, out);
}

static void count_family(const KnobListing *listing, PruneReason reason) {
    const TupleNode *tuple = listing->tuple;
    stats_of(listing)->pruned[reason] += tuple->placement_total * (Count)knob_family_size(&tuple->space);
}

/* Whether some launcher takes a family, and its sizes divide; the knobs and the shard are those of its first member.
 * Where not, it is counted. */
static bool family_admitted(const KnobListing *listing, int64_t family, Knobs *knobs, Shard *shard) {
    const TupleNode *tuple = listing->tuple;
    Bounds bounds = explorer_bounds(tuple->explorer);
    *knobs = knob_space_at(&tuple->space, family * knob_family_size(&tuple->space));
    bool taken = methods_admitted(&bounds, tuple->degrees, &knobs->methods, knobs->stages);
    if (taken && family_shard(listing, knobs, shard)) return true;
    count_family(listing, taken ? PRUNED_INDIVISIBLE : PRUNED_REQUIRE);
    return false;
}

/* Whether a whole family is out for good: no launcher takes it, its sizes do not divide, or it cannot fit. Otherwise
 * listing->frontier is begun. */
static bool family_cut(KnobListing *listing, int64_t family) {
    TupleNode *tuple = listing->tuple;
    double bytes, limit = cost_context_memory_limit(&tuple->problem->setting);
    Knobs knobs;
    Shard shard;
    if (!family_admitted(listing, family, &knobs, &shard)) return true;
    if (listing->brute) return false;
    stats_of(listing)->work++;
    begin_family(listing, family * knob_family_size(&tuple->space), &knobs, &shard, &bytes);
    if (bytes <= limit) return false;
    count_family(listing, PRUNED_MEMORY);
    note_missing(listing, &knobs, bytes - limit);
    return true;
}

/* The members of a family from number `from` on; those before are counted. */
static bool list_family(KnobListing *listing, int64_t family, int64_t from) {
    const KnobSpace *space = &listing->tuple->space;
    int64_t size = knob_family_size(space);
    if (explorer_stops(listing->tuple->explorer)) return false;
    if (family_cut(listing, family)) return true;
    if (!listing->brute && listing->frontier.bound > listing->threshold)
        return leave_family(listing, family, from, listing->frontier.bound);
    KnobOutcome outcome = {0};
    if (from > 0) {
        Knobs knobs = knob_space_at(space, family * size + from);
        listing->sizes = knobs_sizes(listing->tuple, &knobs);
    }
    for (int64_t i = from; i < size; i++) {
        /* A setting that offloads comes right after the same setting that does not. */
        bool offloads = i > from && space->offload_count > 1 && i % space->offload_count != 0;
        KnobOutcome resident = outcome;
        if (!list_knob(listing, family * size + i, offloads ? &resident : NULL, &outcome)) return false;
        if (outcome.family_out) return leave_family(listing, family, i, listing->frontier.bound);
    }
    return true;
}

/* ---- ranges of microbatches ---- */

/* All context methods with one expert grid, one layout of the parameters over sequence and one split of the layers. */
typedef struct {
    int64_t first_index, index_step; /* numbers of their methods */
    StageSplit split;
    Methods methods;             /* of the first */
    const int64_t *microbatches; /* numbers of those in question, in rising order */
    int64_t microbatch_count;
    const int64_t *numbers[2]; /* of those that may divide; of these, what no larger batch beats */
    int64_t counts[2];
    double context_seconds; /* context_bound(), and that of each context method */
    double context_each[CONTEXTS_MAX];
} MethodFamily;

/* Plans of the microbatches of these numbers, with all context methods. */
static Count plans_of_range(const KnobListing *listing, int64_t first, int64_t last) {
    const KnobSpace *space = &listing->tuple->space;
    return listing->tuple->placement_total * (Count)knob_family_size(space) * (Count)space->methods.context_count *
           (Count)(last - first + 1);
}

static int64_t family_at(const KnobSpace *space, const MethodFamily *methods, int context, int64_t microbatch) {
    int64_t index = methods->first_index + context * methods->index_step;
    return (microbatch * space->method_count + index) * space->split_count + (int64_t)methods->split;
}

/* Whether those of the numbers first .. last in methods->microbatches do not fit, by the bound of the range; *above is
 * that bound where it is above the threshold, else 0. */
static bool microbatches_are_cut(KnobListing *listing, const MethodFamily *methods, int64_t first, int64_t last,
                                 double *above) {
    TupleNode *tuple = listing->tuple;
    const ExploreProblem *problem = tuple->problem;
    const KnobSpace *space = &tuple->space;
    ExploreStats *stats = stats_of(listing);
    double bytes, limit = cost_context_memory_limit(&problem->setting);
    /* What fits in no microbatch at all is out for good, even where it is too slow as well. */
    bool whole = first == 0 && last == methods->microbatch_count - 1;
    Bounds bounds = explorer_bounds(tuple->explorer);
    MicrobatchRange range = {.degrees = tuple->degrees,
                             .methods = &methods->methods,
                             .split = methods->split,
                             .context_seconds = methods->context_seconds,
                             .low = space->microbatch_sequences[methods->microbatches[first]],
                             .high = space->microbatch_sequences[methods->microbatches[last]]};
    double enough = whole ? INFINITY : listing->threshold / tuple->scale;
    const Rates *least = tuple_node_minimum(tuple, methods->first_index);
    stats->work++;
    double wrong = 1 + problem->request->control.range_error; /* 1 but in tests */
    double bound = range_bound(&bounds, &range, least, enough, &bytes) * tuple->scale * wrong;
    *above = 0;
    if (!(bound < INFINITY)) return false; /* families of which no sharding is allowed say so themselves */
    if (bytes > limit) {
        int64_t family = family_at(space, methods, 0, methods->microbatches[first]);
        Knobs knobs = knob_space_at(space, family * knob_family_size(space));
        stats->pruned[PRUNED_MEMORY] += plans_of_range(listing, first, last);
        note_missing(listing, &knobs, bytes - limit);
        return true;
    }
    if (bound > listing->threshold) *above = bound;
    return false;
}

static bool leave_range(const KnobListing *listing, const MethodFamily *methods, int64_t first, int64_t last,
                        double bound) {
    Deferred left = {.kind = LEFT_RANGE,
                     .bound = bound,
                     .index = methods->first_index,
                     .split = (int)methods->split,
                     .first = first,
                     .last = last,
                     .plans = plans_of_range(listing, first, last)};
    return explorer_leave(listing->tuple->explorer, left);
}

/* Every context method with one microbatch: what their common bounds leave goes family by family into the list. */
static bool list_contexts(KnobListing *listing, const MethodFamily *methods, int64_t microbatch) {
    enum { FEW = 2 }; /* so many are looked at alone as soon as together */
    TupleNode *tuple = listing->tuple;
    int contexts = tuple->space.methods.context_count;
    double limit = cost_context_memory_limit(&tuple->problem->setting);
    int64_t first = family_at(&tuple->space, methods, 0, microbatch);
    Knobs knobs = knob_space_at(&tuple->space, first * knob_family_size(&tuple->space));
    Shard shard;
    MicrobatchBounds common = {.least_bytes = 0};
    if (contexts > FEW && !listing->brute && family_shard(listing, &knobs, &shard)) {
        MicrobatchQuestion question = {&knobs, &shard, methods->context_each, listing->threshold,
                                       &listing->frontier.rows};
        family_frontier_begin(&listing->frontier, methods->first_index);
        microbatch_bounds(tuple, methods->first_index, &question, &common);
    }
    for (int context = 0; context < contexts; context++) {
        int64_t family = family_at(&tuple->space, methods, context, microbatch);
        if (common.least_bytes <= limit && common.of[context] <= listing->threshold) {
            if (!list_family(listing, family, 0)) return false;
        } else if (!family_admitted(listing, family, &knobs, &shard)) {
            continue;
        } else if (common.least_bytes > limit) {
            count_family(listing, PRUNED_MEMORY);
            note_missing(listing, &knobs, common.least_bytes - limit);
        } else if (!leave_family(listing, family, 0, common.of[context])) {
            return false;
        }
    }
    return true;
}

static bool list_parts(KnobListing *listing, const MethodFamily *methods, int64_t first, int64_t last);

/* Numbers first .. last in methods->microbatches, in halves: what the bound of a range leaves goes family by family
 * into the list. */
static bool list_range(KnobListing *listing, const MethodFamily *methods, int64_t first, int64_t last) {
    const KnobSpace *space = &listing->tuple->space;
    bool worth = first < last || space->methods.context_count > 1; /* else the family's own bound says more */
    if (explorer_stops(listing->tuple->explorer)) return false;
    double above = 0;
    if (worth && !listing->brute && microbatches_are_cut(listing, methods, first, last, &above)) return true;
    if (above > 0) return leave_range(listing, methods, first, last, above);
    return list_parts(listing, methods, first, last);
}

/* The parts of a range: its halves, or the families of one microbatch. */
static bool list_parts(KnobListing *listing, const MethodFamily *methods, int64_t first, int64_t last) {
    if (first < last) {
        int64_t middle = first + (last - first) / 2;
        return list_range(listing, methods, first, middle) && list_range(listing, methods, middle + 1, last);
    }
    return list_contexts(listing, methods, methods->microbatches[first]);
}

/* Sets the methods, the split being known, and which microbatches are in question under them. */
static void set_methods(const TupleNode *tuple, int64_t index, MethodFamily *methods) {
    methods->first_index = index;
    methods->methods = method_space_at(&tuple->space.methods, index);
    bool fewer = methods->counts[1] < methods->counts[0] &&
                 !larger_batch_takes_more(tuple->problem, tuple->degrees, &methods->methods, methods->split);
    methods->microbatches = methods->numbers[fewer];
    methods->microbatch_count = methods->counts[fewer];
}

/* One grid, layout of the parameters and split; `like` has all but the methods. */
static bool list_methods(KnobListing *listing, int64_t index, const MethodFamily *like) {
    TupleNode *tuple = listing->tuple;
    const KnobSpace *space = &tuple->space;
    MethodFamily methods = *like;
    Bounds bounds = explorer_bounds(tuple->explorer);
    set_methods(tuple, index, &methods);
    Count each = tuple->placement_total * (Count)knob_family_size(space) * (Count)space->methods.context_count;
    if (!contexts_admitted(&bounds, tuple->degrees, &space->methods, &methods.methods, methods.split)) {
        stats_of(listing)->pruned[PRUNED_REQUIRE] += each * (Count)space->microbatch_count;
        return true;
    }
    if (!listing->brute && !methods_divide(&bounds, tuple->degrees, &methods.methods, methods.split))
        methods.microbatch_count = methods.counts[0] = 0;
    stats_of(listing)->pruned[PRUNED_INDIVISIBLE] += each * (Count)(space->microbatch_count - methods.counts[0]);
    stats_of(listing)->pruned[PRUNED_KNOB_BOUND] += each * (Count)(methods.counts[0] - methods.microbatch_count);
    bool ok = methods.microbatch_count == 0 || list_range(listing, &methods, 0, methods.microbatch_count - 1);
    family_frontier_free(&listing->frontier);
    return ok;
}

/* The numbers of the microbatches that may divide: unless replicas are padded, those of which a whole number is a
 * replica's share; and of these, those of which a larger batch has not more. */
static bool list_microbatches(const KnobListing *listing, MethodFamily *methods) {
    TupleNode *tuple = listing->tuple;
    const KnobSpace *space = &tuple->space;
    bool any = listing->brute || tuple->problem->padding == PADDING_ANY;
    const LargerBatch larger = larger_batch(tuple->problem, tuple->degrees);
    int64_t *numbers = ARENA_NEW(tuple->arena, int64_t, (size_t)space->microbatch_count);
    int64_t *kept = ARENA_NEW(tuple->arena, int64_t, (size_t)space->microbatch_count);
    if (!numbers || !kept) return error_memory(&tuple->explorer->error);
    for (int64_t i = 0; i < space->microbatch_count; i++) {
        int64_t size = space->microbatch_sequences[i];
        if (!any && space->per_replica % size != 0) continue;
        numbers[methods->counts[0]++] = i;
        if (!larger_batch_beats(&larger, space->per_replica, size)) kept[methods->counts[1]++] = i;
    }
    methods->numbers[0] = numbers;
    methods->numbers[1] = kept;
    return true;
}

/* Sets the split of the layers, and what depends on it. */
static void begin_split(const KnobListing *listing, StageSplit split, MethodFamily *methods) {
    const TupleNode *tuple = listing->tuple;
    Bounds bounds = explorer_bounds(tuple->explorer);
    methods->split = split;
    if (!listing->brute)
        methods->context_seconds = context_bound(&bounds, tuple->problem->least, tuple->degrees, &tuple->space.methods,
                                                 split, methods->context_each);
}

/* Everything with one split of the layers. */
static bool list_split(KnobListing *listing, const MethodFamily *like, StageSplit split) {
    MethodFamily methods = *like;
    begin_split(listing, split, &methods);
    for (int64_t index = 0; index < methods.index_step; index++)
        if (!list_methods(listing, index, &methods)) return false;
    return true;
}

static KnobListing listing_of(TupleNode *tuple, BoundedIndexList *list) {
    return (KnobListing){.tuple = tuple,
                         .list = list,
                         .threshold = tuple->explorer->stats.threshold * CUT,
                         .brute = tuple->problem->request->control.brute_force,
                         .family = -1};
}

bool knob_list_make(TupleNode *tuple, BoundedIndexList *list) {
    const KnobSpace *space = &tuple->space;
    KnobListing listing = listing_of(tuple, list);
    if (knob_family_size(space) == 0) return true; /* such as chunks of one layer */
    MethodFamily methods = {.index_step = space->method_count / space->methods.context_count};
    if (!list_microbatches(&listing, &methods)) return false;
    for (int split = 0; split < space->split_count; split++)
        if (space->splits >> split & 1 && !list_split(&listing, &methods, (StageSplit)split)) return false;
    bounded_indices_sort(list->items, list->count);
    return true;
}

/* ---- what was left before ---- */

/* A range; `methods` has what its split was last begun with. */
static bool go_on_with_range(KnobListing *listing, const Deferred *left, MethodFamily *methods) {
    if (methods->context_seconds < 0 || methods->split != (StageSplit)left->split)
        begin_split(listing, (StageSplit)left->split, methods);
    set_methods(listing->tuple, left->index, methods);
    return list_parts(listing, methods, left->first, left->last);
}

/* One knob setting, which is admitted. Those of a family are left one after the other, and share its frontier. */
static bool go_on_with_knobs(KnobListing *listing, const Deferred *left) {
    TupleNode *tuple = listing->tuple;
    int64_t size = knob_family_size(&tuple->space), family = left->index / size;
    Knobs knobs = knob_space_at(&tuple->space, left->index), plain = knob_space_at(&tuple->space, family * size);
    Admission admission;
    Shard shard;
    KnobOutcome outcome;
    if (!knobs_admitted(tuple, &knobs, &admission) || !family_shard(listing, &plain, &shard))
        return error_set(&tuple->explorer->error, ERROR_INTERNAL, "search", "knobs were admitted once and not again");
    if (family != listing->family) {
        double bytes;
        begin_family(listing, family * size, &plain, &shard, &bytes);
        listing->family = family;
        if (!family_frontier_fill(tuple, &listing->frontier)) return false;
    }
    if (listing->frontier.bound <= listing->threshold)
        return list_admitted(listing, left->index, &knobs, &admission.shard, &outcome);
    Deferred still = *left;
    still.bound = max_real(still.bound, listing->frontier.bound);
    return explorer_leave(tuple->explorer, still);
}

static bool go_on_with(KnobListing *listing, const Deferred *left, MethodFamily *methods) {
    if (left->kind == LEFT_KNOBS) return go_on_with_knobs(listing, left);
    listing->family = -1;
    if (left->kind == LEFT_RANGE) return go_on_with_range(listing, left, methods);
    if (left->kind == LEFT_FAMILY) return list_family(listing, left->index, left->first);
    return bounded_index_add(listing->list, (BoundedIndex){left->bound, left->index}, &listing->tuple->explorer->error);
}

bool knob_list_go_on(TupleNode *tuple, const Deferred *left, int64_t count, BoundedIndexList *list) {
    const KnobSpace *space = &tuple->space;
    KnobListing listing = listing_of(tuple, list);
    MethodFamily methods = {.index_step = space->method_count / space->methods.context_count, .context_seconds = -1};
    bool ok = list_microbatches(&listing, &methods);
    for (int64_t i = 0; ok && i < count; i++)
        ok = left[i].bound > listing.threshold ? explorer_leave(tuple->explorer, left[i])
                                               : go_on_with(&listing, &left[i], &methods);
    family_frontier_free(&listing.frontier);
    bounded_indices_sort(list->items, list->count);
    return ok;
}
