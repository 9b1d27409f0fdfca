/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/engine/explore/larger_batch.h"

#include "base/util.h"
#include "cost/time/slack.h"
#include "search/engine/space/plan_count.h"
#include "search/launch/launcher.h"

#include <math.h>

void microbatch_bounds(TupleNode *tuple, int64_t methods_index, const MicrobatchQuestion *question,
                       MicrobatchBounds *out) {
    const ExploreProblem *problem = tuple->problem;
    int contexts = tuple->space.methods.context_count;
    double scale = problem->scale, wrong = 1 + problem->request->control.range_error; /* 1 but in tests */
    double least = INFINITY;
    Rates still = *tuple_node_minimum(tuple, methods_index);
    still.cost[GROUP_SEQUENCE] = still.cost[GROUP_ULYSSES] = (CollectiveCost){{0, 0}, {0, 0}};
    Bounds bounds = explorer_bounds(tuple->explorer);
    tuple->explorer->stats.work++;
    for (int i = 0; i < contexts; i++) least = min_real(least, question->context_each[i]);
    family_rows(&bounds, question->shard, question->knobs, &still, question->threshold / scale - least,
                question->scratch);
    out->least_bytes = question->scratch->least_bytes;
    for (int i = 0; i < contexts; i++)
        out->of[i] =
            rows_seconds_with_other(question->scratch, &still, question->context_each[i]) * scale * SLACK * wrong;
}

static bool microbatches_required(const Request *request) {
    for (int i = 0; i < request->space.requirement_count; i++)
        if (request->space.requirements[i].knob == KNOB_MICROBATCHES) return true;
    return false;
}

static bool some_counts_microbatches(LauncherSet requested) {
    for (int i = 0; i < launcher_count(); i++)
        if ((requested == 0 || requested >> i & 1) && launcher_at(i)->counts_microbatches) return true;
    return false;
}

LargerBatch larger_batch(const ExploreProblem *problem, const Degrees *degrees) {
    const Request *request = problem->request;
    int64_t stages = degrees->of[ROLE_PIPELINE], replicas = degrees_replicas(degrees);
    LargerBatch out = {.stages = stages, .least = larger_batch_fills(stages)};
    /* With --variants each number of microbatches is a row of its own; one compiled program makes the loss of all of
     * them at once. A pipeline is ranked by its played step, of which that is not proven. */
    out.any = stages <= 1 && request->space.batch_tolerance > 0 && !request->control.brute_force &&
              !request->control.variants && problem->padding != PADDING_ANY &&
              !(problem->setting.profile->whole_program > 0.5) && !microbatches_required(request);
    out.most = batch_most(request, replicas) / replicas;
    out.whole_steps = stages > 1 && some_counts_microbatches(request->space.launchers);
    return out;
}

bool larger_batch_takes_more(const ExploreProblem *problem, const Degrees *degrees, const Methods *methods,
                             StageSplit split) {
    static const Schedule KEEPS_ALL[] = {SCHEDULE_GPIPE, SCHEDULE_CIRCULAR};
    LauncherSet requested = problem->request->space.launchers;
    if (degrees->of[ROLE_PIPELINE] <= 1) return false;
    for (size_t i = 0; i < COUNT_OF(KEEPS_ALL); i++) {
        Knobs like = {.schedule = KEEPS_ALL[i], .stages = split, .methods = *methods};
        if (!(problem->request->space.schedules >> KEEPS_ALL[i] & 1)) continue;
        if (requested == 0 || launchers_taking_some(requested, problem->setting.model, &problem->setting.work, degrees,
                                                    &like, problem->catalog_mesh))
            return true;
    }
    return false;
}

bool larger_batch_beats(const LargerBatch *larger, int64_t sequences, int64_t size) {
    int64_t microbatches = sequences / size;
    bool full = microbatches % larger->stages == 0; /* the last group of a schedule in chunks */
    if (!larger->any || microbatches < larger->least || (larger->whole_steps && !full)) return false;
    return larger->most >= sequences && (larger->most - sequences) / size >= (full ? larger->stages : 1);
}

int64_t larger_batch_least_size(const LargerBatch *larger, int64_t fewest, int64_t sequences) {
    if (!larger->any || larger->whole_steps || larger->most < sequences) return 1;
    return 1 + min_whole((larger->most - sequences) / larger->stages, fewest / larger->least);
}
