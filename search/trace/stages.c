/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stages of a pipeline, each as its ranks measured it and as the schedule has it. */
#include "search/trace/beside.h"

#include "base/util.h"

enum { STAGES_MOST = 4096 };
/* A stage that computes for so much longer than the plan has, beside the stage in the middle, is slow. */
static const double SLOW = 1.05;

/* Adds the shares of a step up: computation, collectives, and what neither is of. */
static void add_up(const double exposed[TERM_COUNT], StageTimes *out, double weight) {
    for (TraceTerm term = 0; term < TERM_COUNT; term++) {
        double *to = term_is_compute(term)      ? &out->compute
                     : term_is_collective(term) ? &out->communication
                     : term == TERM_BUBBLE      ? &out->bubble
                                                : &out->other;
        *to += weight * exposed[term];
    }
}

bool beside_find_stages(Beside *beside, Arena *arena) {
    int64_t stages = beside->plan ? beside->plan->shape.degree[TERM_PIPELINE] : 1;
    if (stages < 2 || stages > STAGES_MOST) return true;
    BesideStage *all = ARENA_NEW(arena, BesideStage, (size_t)stages);
    if (!all) return false;
    for (int r = 0; r < beside->rank_count; r++) {
        int64_t stage = plan_stage(beside->plan, beside->ranks[r].rank);
        if (stage >= 0) all[stage].ranks++;
    }
    for (int r = 0; r < beside->rank_count; r++) {
        int64_t stage = plan_stage(beside->plan, beside->ranks[r].rank);
        if (stage >= 0) add_up(beside->ranks[r].exposed, &all[stage].measured, 1.0 / all[stage].ranks);
    }
    for (int64_t stage = 0; stage < stages; stage++) {
        double length[TERM_COUNT], exposed[TERM_COUNT];
        if (all[stage].ranks == 0) continue;
        beside_predicted(beside, stage, length, exposed);
        add_up(exposed, &all[stage].predicted, 1);
        all[stage].stage = stage;
        all[beside->stage_count++] = all[stage];
    }
    beside->stages = all;
    return true;
}

static double slowness(const BesideStage *stage) {
    return stage->predicted.compute > 0 ? stage->measured.compute / stage->predicted.compute : 0;
}

/* How many stages are slower than this one. */
static int slower(const Beside *beside, int than) {
    int count = 0;
    for (int i = 0; i < beside->stage_count; i++)
        count += slowness(&beside->stages[i]) > slowness(&beside->stages[than]);
    return count;
}

void beside_slow_stage(const Beside *beside, Prose *out) {
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE];
    const BesideStage *slow = NULL;
    double middle = 0;
    if (beside->stage_count < 3) return;
    for (int i = 0; i < beside->stage_count; i++) {
        int rank = slower(beside, i);
        if (rank == 0) slow = &beside->stages[i];
        if (rank <= beside->stage_count / 2)
            middle = middle > 0 ? min_real(middle, slowness(&beside->stages[i])) : slowness(&beside->stages[i]);
    }
    if (!slow || !(slowness(slow) > SLOW * middle)) return;
    prose_add(out,
              "stage %lld computes for %s, %.2f times what the plan has, and a stage in the middle %.2f times: the "
              "others wait for it (its bubble is %s)",
              (long long)slow->stage + 1, step_text(slow->measured.compute, a), slowness(slow), middle,
              step_text(slow->measured.bubble, b));
}
