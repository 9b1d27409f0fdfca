/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/trace/comparison.h"

#include "base/util.h"

/* What of a term is worth a row. */
static const double ROW_SHARE = 1e-6;

static void add_row(Comparison *compared, ComparisonRow row) {
    double least = ROW_SHARE * compared->step_measured;
    if (row.measured < least && row.predicted < least && row.exposed_measured < least && row.exposed_predicted < least)
        return;
    compared->rows[compared->row_count++] = row;
}

static double transfer_of(const Comparison *compared, TraceTerm term, double length) {
    const RankMatch *match = &compared->match;
    if (!match->known || !term_is_collective(term) || !(match->lasted[term] > 0)) return -1;
    return length * min_real(1, match->transfer[term] / match->lasted[term]);
}

static double mean(const Comparison *compared, size_t offset) {
    double sum = 0;
    for (int r = 0; r < compared->rank_count; r++) sum += *(const double *)((const char *)&compared->ranks[r] + offset);
    return sum / compared->rank_count;
}

static double bytes_of(const Comparison *compared, TraceTerm term) {
    double bytes = 0;
    for (int r = 0; r < compared->rank_count; r++)
        for (int u = 0; u < compared->ranks[r].use_count; u++)
            if (compared->ranks[r].uses[u].term == term) bytes += compared->ranks[r].uses[u].bytes;
    return bytes / compared->rank_count;
}

static bool recompute_seen(const Comparison *compared) {
    for (int r = 0; r < compared->rank_count; r++)
        if (compared->ranks[r].placed.recompute_seen) return true;
    return false;
}

/* The plan's terms as this trace can see them: recomputation that the trace cannot distinguish runs the forward again,
 * so its share goes to the kinds of work that it is made of, in proportion. */
static void predicted_as_seen(const Comparison *compared, double length[TERM_COUNT], double exposed[TERM_COUNT]) {
    static const TraceTerm MADE_OF[] = {TERM_MATMUL, TERM_ATTENTION, TERM_ELEMENTWISE};
    double sum = 0;
    for (int term = 0; term < TERM_COUNT; term++) {
        length[term] = compared->plan ? compared->plan->length[term] : 0;
        exposed[term] = compared->plan ? compared->plan->exposed[term] : 0;
    }
    for (size_t i = 0; i < COUNT_OF(MADE_OF); i++) sum += length[MADE_OF[i]];
    if (recompute_seen(compared) || !(length[TERM_RECOMPUTE] > 0) || !(sum > 0)) return;
    double factor = 1 + length[TERM_RECOMPUTE] / sum;
    for (size_t i = 0; i < COUNT_OF(MADE_OF); i++) {
        length[MADE_OF[i]] *= factor;
        exposed[MADE_OF[i]] *= factor;
    }
    length[TERM_RECOMPUTE] = exposed[TERM_RECOMPUTE] = 0;
}

/* Passes that take less time leave the rest of the step to the bubble. */
static void take_share(double share, double length[TERM_COUNT], double exposed[TERM_COUNT]) {
    for (TraceTerm term = 0; term < TERM_COUNT; term++) {
        if (!plan_term_is_of_passes(term)) continue;
        exposed[TERM_BUBBLE] += (1 - share) * exposed[term];
        length[term] *= share;
        exposed[term] *= share;
    }
    length[TERM_BUBBLE] = exposed[TERM_BUBBLE];
}

/* What the plan has of a stage (-1: of the fullest), as this trace can see it: seconds, and shares of the step. A stage
 * that computes less than the fullest has a longer bubble. */
void comparison_predicted(const Comparison *compared, int64_t stage, double length[TERM_COUNT],
                          double exposed[TERM_COUNT]) {
    predicted_as_seen(compared, length, exposed);
    if (compared->plan && stage >= 0) take_share(plan_stage_share(compared->plan, stage), length, exposed);
}

/* Of the ranks that were read, each as the stage that it is: shares of stages are what terms are linear in. */
static void predicted_of_ranks(const Comparison *compared, double length[TERM_COUNT], double exposed[TERM_COUNT]) {
    double share = 0;
    predicted_as_seen(compared, length, exposed);
    if (!compared->plan || compared->plan->shape.degree[TERM_PIPELINE] < 2) return;
    for (int r = 0; r < compared->rank_count; r++)
        share += plan_stage_share(compared->plan, plan_stage(compared->plan, compared->ranks[r].rank)) /
                 compared->rank_count;
    take_share(share, length, exposed);
}

static void fill_rows(Comparison *compared) {
    double length[TERM_COUNT], exposed[TERM_COUNT];
    predicted_of_ranks(compared, length, exposed);
    for (int term = 0; term < TERM_COUNT; term++) {
        double measured = mean(compared, offsetof(RankTrace, length) + (size_t)term * sizeof(double));
        double shown = mean(compared, offsetof(RankTrace, exposed) + (size_t)term * sizeof(double));
        if (term >= TERM_BUBBLE) measured = shown; /* idle is nobody's interval */
        add_row(compared, (ComparisonRow){.term = (TraceTerm)term,
                                          .measured = measured,
                                          .predicted = length[term],
                                          .exposed_measured = shown,
                                          .exposed_predicted = exposed[term],
                                          .transfer = transfer_of(compared, (TraceTerm)term, measured),
                                          .bytes = bytes_of(compared, (TraceTerm)term)});
    }
}

/* ---- stages: each as its ranks measured it and as the schedule has it ---- */

enum { STAGES_MOST = 4096 };

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

static bool find_stages(Comparison *compared, Arena *arena) {
    int64_t stages = compared->plan ? compared->plan->shape.degree[TERM_PIPELINE] : 1;
    if (stages < 2 || stages > STAGES_MOST) return true;
    ComparisonStage *all = ARENA_NEW(arena, ComparisonStage, (size_t)stages);
    if (!all) return false;
    for (int r = 0; r < compared->rank_count; r++) {
        int64_t stage = plan_stage(compared->plan, compared->ranks[r].rank);
        if (stage >= 0) all[stage].ranks++;
    }
    for (int r = 0; r < compared->rank_count; r++) {
        int64_t stage = plan_stage(compared->plan, compared->ranks[r].rank);
        if (stage >= 0) add_up(compared->ranks[r].exposed, &all[stage].measured, 1.0 / all[stage].ranks);
    }
    for (int64_t stage = 0; stage < stages; stage++) {
        double length[TERM_COUNT], exposed[TERM_COUNT];
        if (all[stage].ranks == 0) continue;
        comparison_predicted(compared, stage, length, exposed);
        add_up(exposed, &all[stage].predicted, 1);
        all[stage].stage = stage;
        all[compared->stage_count++] = all[stage];
    }
    compared->stages = all;
    return true;
}

/* ---- all of it ---- */

void comparison_price(Comparison *compared, const PlanTerms *plan) {
    compared->plan = plan;
    compared->row_count = 0;
    fill_rows(compared);
}

static double placed_share(const Comparison *compared) {
    double placed = 0, all = 0;
    for (int r = 0; r < compared->rank_count; r++) {
        const PlaceTotals *totals = &compared->ranks[r].placed;
        placed += totals->placed_ns + totals->fallback_ns;
        all += totals->placed_ns + totals->fallback_ns + totals->unplaced_ns;
    }
    return all > 0 ? placed / all : 1;
}

bool comparison_make(const RankTrace *ranks, int count, const PlanTerms *plan, Arena *arena, Comparison *out,
                     Error *error) {
    *out = (Comparison){.ranks = ranks, .rank_count = count, .plan = plan};
    out->step_measured = mean(out, offsetof(RankTrace, step_mean));
    out->placed_share = placed_share(out);
    if (!ranks_match(ranks, count, arena, &out->match, error)) return false;
    for (int term = 0; term < TERM_COUNT; term++) {
        out->transfer += out->match.transfer[term];
        out->lasted += out->match.lasted[term];
    }
    fill_rows(out);
    return (find_stages(out, arena) && comparison_find_differences(out, arena) && comparison_find_notes(out, arena)) ||
           error_memory(error);
}
