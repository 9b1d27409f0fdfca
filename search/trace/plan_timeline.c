/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/trace/comparison.h"

#include "base/util.h"
#include "cost/time/schedule.h"
#include "cost/time/schedule_simulation.h"

#include <math.h>

static const double NS = 1e9;
/* What a pass takes of the terms of computation; of communication forward and backward have half each. */
static const double FORWARD_SHARE = 1.0 / 3;
/* Passes that are drawn one by one; of more, several are drawn as one. */
enum { PASSES_MAX = TIMELINE_MOMENTS / 4 };

/* The terms of a step, and the passes among which they are dealt out. */
typedef struct {
    double length[TERM_COUNT], exposed[TERM_COUNT];
    double passes; /* of each direction */
    TimelineFill fill;
} Dealt;

/* What happens in every microbatch, as opposed to once a step. */
static bool is_of_passes(TraceTerm term) {
    return term <= TERM_RECOMPUTE || (term_is_collective(term) && term != TERM_DATA);
}

static double share_of_pass(TraceTerm term, bool forward) {
    if (term == TERM_RECOMPUTE) return forward ? 0 : 1;
    if (term_is_collective(term)) return 0.5;
    return forward ? FORWARD_SHARE : 1 - FORWARD_SHARE;
}

static double pass_seconds(const Dealt *dealt, bool forward) {
    double sum = 0;
    for (TraceTerm term = 0; term < TERM_COUNT; term++)
        if (is_of_passes(term)) sum += dealt->exposed[term] * share_of_pass(term, forward);
    return sum / dealt->passes;
}

static int64_t whole_ns(double seconds) { return llround(NS * seconds); }

/* Terms one after the other from `from` to `until`, and beneath them what is hidden. */
static void fill_pass(Dealt *dealt, double from, double until, bool forward) {
    double sum = pass_seconds(dealt, forward), at = from;
    if (!(until > from)) return;
    for (TraceTerm term = 0; term < TERM_COUNT && sum > 0; term++) {
        if (!is_of_passes(term)) continue;
        double share = share_of_pass(term, forward) / dealt->passes;
        double own = dealt->exposed[term] * share / sum * (until - from);
        double hidden = term_is_collective(term) ? (dealt->length[term] - dealt->exposed[term]) * share : 0;
        timeline_add(&dealt->fill, term, whole_ns(from), whole_ns(from + hidden));
        timeline_add(&dealt->fill, term, whole_ns(at), whole_ns(at + own));
        at += own;
    }
}

/* What comes once a step. */
static void fill_tail(Dealt *dealt, double from) {
    static const TraceTerm TAIL[] = {TERM_DATA, TERM_WAITS, TERM_OPTIMIZER, TERM_OTHER};
    double hidden = max_real(0, dealt->length[TERM_DATA] - dealt->exposed[TERM_DATA]);
    timeline_add(&dealt->fill, TERM_DATA, whole_ns(max_real(0, from - hidden)), whole_ns(from));
    for (size_t i = 0; i < COUNT_OF(TAIL); i++) {
        timeline_add(&dealt->fill, TAIL[i], whole_ns(from), whole_ns(from + dealt->exposed[TAIL[i]]));
        from += dealt->exposed[TAIL[i]];
    }
}

static double tail_seconds(const Dealt *dealt) {
    return dealt->exposed[TERM_DATA] + dealt->exposed[TERM_WAITS] + dealt->exposed[TERM_OPTIMIZER] +
           dealt->exposed[TERM_OTHER];
}

/* Without stages, or where a schedule cannot be played: forward and backward in turn, and a bubble behind them. */
static void fill_alone(Dealt *dealt, double end) {
    double forward = pass_seconds(dealt, true), backward = pass_seconds(dealt, false), at = 0;
    for (int i = 0; i < (int)dealt->passes; i++) {
        fill_pass(dealt, at, at + forward, true);
        fill_pass(dealt, at + forward, at + forward + backward, false);
        at += forward + backward;
    }
    timeline_add(&dealt->fill, TERM_BUBBLE, whole_ns(at), whole_ns(end));
    fill_tail(dealt, end);
}

/* The passes of one stage as they were played, stretched to the end of the passes of the step. */
static void fill_stage(Dealt *dealt, const Play *play, const Played *played, int stage, double end) {
    double scale = end / played->end, busy = 0;
    for (int i = 0; i < play->count[stage]; i++) {
        double from = scale * played->begins[stage][i], until = scale * played->ends[stage][i];
        PassKind kind = play->passes[stage][i].kind;
        timeline_add(&dealt->fill, TERM_BUBBLE, whole_ns(busy), whole_ns(from));
        double middle = kind == PASS_BOTH ? from + (until - from) * FORWARD_SHARE : from;
        if (kind == PASS_FORWARD) middle = until;
        fill_pass(dealt, from, middle, true);
        fill_pass(dealt, middle, until, false);
        busy = until;
    }
    timeline_add(&dealt->fill, TERM_BUBBLE, whole_ns(busy), whole_ns(end));
    fill_tail(dealt, end);
}

/* True with *played where it is known. False: memory is out. */
static bool play(const Dealt *dealt, const PlanTerms *plan, Arena *arena, Play *out, Played *played, bool *known) {
    int64_t stages = plan->shape.degree[TERM_PIPELINE], m = plan->microbatches, chunks = plan->virtual_stages;
    *known = false;
    if (stages < 2 || plan->schedule == SCHEDULE_NONE || stages > 4096 || m > PLAY_PASSES_MAX / stages / chunks / 4 ||
        !schedule_allowed(plan->schedule, stages, m, chunks))
        return true;
    PassSeconds each = {pass_seconds(dealt, true) * dealt->passes / (double)m,
                        pass_seconds(dealt, false) * dealt->passes / (double)m, 0};
    /* Gradients of weights are half of a backward: those of what goes in are the other. */
    if (plan->schedule == SCHEDULE_ZB_H1 || plan->schedule == SCHEDULE_DUALPIPE) each.W = each.B / 2;
    if (!play_schedule(plan->schedule, (int)stages, (int)m, (int)chunks, arena, out)) return false;
    play_alike(out, each);
    for (int64_t stage = 0; stage < stages; stage++)
        for (int chunk = 0; chunk < out->chunks; chunk++) {
            PassSeconds *own = &out->seconds[stage][chunk];
            double share = plan_stage_share(plan, stage);
            *own = (PassSeconds){share * own->F, share * own->B, share * own->W};
        }
    if (!play_run(out, arena, played)) return false;
    *known = !played->stuck && played->end > 0;
    return true;
}

bool plan_timeline(const Comparison *compared, int64_t stage, TraceTimeline *out) {
    const PlanTerms *plan = compared->plan;
    Dealt dealt = {.passes = (double)min_whole(plan->microbatches, PASSES_MAX)};
    Arena arena = {0};
    Play passes;
    Played played;
    bool known;
    *out = (TraceTimeline){0};
    if (whole_ns(plan->step) <= 0) return true;
    comparison_predicted(compared, -1, dealt.length, dealt.exposed);
    timeline_begin(&dealt.fill, 0, whole_ns(plan->step), out);
    bool ok = play(&dealt, plan, &arena, &passes, &played, &known);
    double end = max_real(0, plan->step - tail_seconds(&dealt));
    if (ok && known) {
        stage = max_whole(0, stage);
        comparison_predicted(compared, stage, dealt.length, dealt.exposed);
        dealt.passes = passes.count[stage] / 2.0; /* halves of backwards are passes of their own: it is scaled */
        fill_stage(&dealt, &passes, &played, (int)stage, end);
    } else if (ok) {
        fill_alone(&dealt, end);
    }
    arena_free(&arena);
    return ok;
}
