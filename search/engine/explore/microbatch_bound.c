/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/engine/explore/microbatch_bound.h"

#include "base/util.h"
#include "cost/time/slack.h"

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
        out->of[i] = rows_seconds_beside(question->scratch, &still, question->context_each[i]) * scale * SLACK * wrong;
}
