/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether a degree tuple is out for every batch up to one, by the bounds of ranges of microbatches. */
#include "base/util.h"
#include "search/engine/bound/tuple_bound.h"
#include "search/engine/explore/explore.h"
#include "search/engine/explore/larger_batch.h"

#include <math.h>

/* What bounds of one range are, before they are compared. */
typedef struct {
    Explorer *explorer;
    const Degrees *degrees;
    double threshold;                         /* ranked */
    Methods methods;                          /* of the ranges that are looked at now */
    Rates least;                              /* under these methods, over all machines */
    StageSplit split;                         /* likewise */
    const MethodSpace *contexts;              /* of the degrees */
    bool refused;                             /* no launcher that was requested takes anything */
    double context_seconds[STAGES_SLOTS + 1]; /* context_bound(), by split */
    double bound, missing;                    /* the least so far of what is too slow, and of what is too large */
    int64_t least_size;                       /* of microbatches that no larger batch beats */
    bool beaten;                              /* smaller ones were left out */
} RangeCut;

/* Whether microbatches of low .. high sequences are all too slow or too large, in halves where one bound does not say
 * so. */
static bool microbatch_range_is_cut(RangeCut *cut, int64_t low, int64_t high) {
    const ExploreProblem *problem = cut->explorer->problem;
    double bytes, limit = cost_context_memory_limit(&problem->setting);
    double scale = explore_scale(problem, cut->degrees);
    if (explorer_stops(cut->explorer)) return false;
    cut->explorer->stats.work++;
    Bounds bounds = explorer_bounds(cut->explorer);
    MicrobatchRange range = {.degrees = cut->degrees,
                             .methods = &cut->methods,
                             .split = cut->split,
                             .context_seconds = cut->context_seconds[cut->split],
                             .low = low,
                             .high = high};
    double seconds = range_bound(&bounds, &range, &cut->least, cut->threshold * CUT / scale, &bytes) * scale * SLACK;
    seconds *= 1 + problem->request->control.range_error;
    if (!(seconds < INFINITY)) return true;
    if (seconds > cut->threshold * CUT) {
        cut->bound = min_real(cut->bound, seconds);
        return true;
    }
    if (bytes > limit) {
        cut->missing = min_real(cut->missing, bytes - limit);
        return true;
    }
    if (low == high) return false;
    int64_t middle = low + (high - low) / 2;
    return microbatch_range_is_cut(cut, low, middle) && microbatch_range_is_cut(cut, middle + 1, high);
}

/* Every microbatch under the methods of the cut, with each split of the layers. */
static bool methods_are_cut(RangeCut *cut) {
    const ExploreProblem *problem = cut->explorer->problem;
    const Degrees *degrees = cut->degrees;
    int64_t most = max_whole(1, problem->setting.work.sequences / degrees_replicas(degrees));
    Bounds bounds = explorer_bounds(cut->explorer);
    lower_bound_rates_of(problem->least, degrees, &cut->methods, &cut->least);
    lower_bound_rates_folded(problem->nested_meshes, problem->machine_count, degrees, &cut->methods, &cut->least);
    int last = (int)last_split(problem->setting.model, degrees);
    for (int split = STAGES_EVEN; split <= last; split++) {
        cut->split = (StageSplit)split;
        if (!contexts_admitted(&bounds, degrees, cut->contexts, &cut->methods, cut->split)) continue;
        cut->refused = false;
        bool beaten = cut->least_size > 1 && !larger_batch_takes_more(problem, degrees, &cut->methods, cut->split);
        int64_t least = beaten ? cut->least_size : 1;
        cut->beaten = cut->beaten || beaten;
        if (least <= most && !microbatch_range_is_cut(cut, least, most)) return false;
    }
    return true;
}

bool tuple_range_is_cut(Explorer *explorer, const Degrees *degrees, int64_t fewest, double threshold,
                        RangeVerdict *out) {
    MethodSpace space, contexts;
    RangeCut cut = {.explorer = explorer,
                    .degrees = degrees,
                    .threshold = threshold,
                    .contexts = &contexts,
                    .refused = true,
                    .bound = INFINITY,
                    .missing = INFINITY};
    method_space(degrees, &explorer->problem->domain, &space);
    contexts = space;
    Bounds bounds = explorer_bounds(explorer);
    const LargerBatch larger = larger_batch(explorer->problem, degrees);
    int64_t replicas = degrees_replicas(degrees);
    cut.least_size =
        larger_batch_least_size(&larger, fewest / replicas, explorer->problem->setting.work.sequences / replicas);
    for (int split = STAGES_EVEN; split <= (int)last_split(explorer->problem->setting.model, degrees); split++)
        cut.context_seconds[split] =
            context_bound(&bounds, explorer->problem->least, degrees, &space, (StageSplit)split, NULL);
    space.context_count = 1; /* the bound of a range holds for all context methods */
    for (int64_t index = 0; index < method_space_size(&space); index++) {
        cut.methods = method_space_at(&space, index);
        if (!methods_are_cut(&cut)) return false;
    }
    *out = (RangeVerdict){.refused = cut.refused, .beaten = cut.beaten, .bound = cut.bound, .missing = cut.missing};
    return true;
}
