/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/report/around.h"

#include "base/util.h"
#include "search/answer/tie.h"
#include "search/engine/explore/cache_pool.h"

#include <stdlib.h>
#include <string.h>

/* Of what the plan took, so much for all of these searches: a bound of these takes
 * longer than one of the plan's, and drawing takes something too. Where a plan takes a moment, LEAST: some 0.2 s. */
static const double SHARE = 0.7;
static const int64_t LEAST = 150000;

/* What a search for the request on plan 1's machine answers: the fastest of all plans, if it is among those. */
static const RankedPlan *nominal_of(const Report *report) {
    const RankedPlan *first = &report->result.plans[0], *fastest = search_fastest(&report->result);
    bool same_request = !fastest->request || fastest->request == report->request;
    bool same_machine = strcmp(fastest->machine.text, first->machine.text) == 0 &&
                        memcmp(&fastest->nesting, &first->nesting, sizeof first->nesting) == 0;
    bool proven = report->result.certificate.proof == PROOF_OPTIMAL;
    return proven && same_request && same_machine ? fastest : NULL;
}

bool around_asking_begin(Report *report, AroundProgress progress, Arena *arena, Around *out, Asking *asking,
                         Error *error) {
    SensitivityMode mode = report->request->control.sensitivity;
    *asking = (Asking){.report = report,
                       .first = &report->result.plans[0],
                       .nominal = nominal_of(report),
                       .progress = progress,
                       .out = out,
                       .limited = mode != SENSITIVITY_ALL};
    if (mode == SENSITIVITY_FAST) {
        double may = SHARE * (double)report->plan_effort - (double)(report->effort - report->plan_effort);
        asking->allowance = max_whole(LEAST, (int64_t)may);
    }
    asking->questions = side_searches_new(QUESTIONS_MAX, error);
    asking->caches = cache_pool_new(arena);
    asking->scratch = ARENA_NEW(arena, Request, 1);
    asking->moved = ARENA_NEW(arena, RankedPlan, 1);
    return asking->questions && ((asking->caches && asking->scratch && asking->moved) || error_memory(error));
}

void around_asking_end(Asking *asking) {
    free(asking->questions);
    if (asking->caches) cache_pool_close(asking->caches);
}

void around_request_on(const Asking *asking, const RankedPlan *ranked, Request *out) {
    request_copy(asking->report->request, out);
    request_fix_machine(ranked, out);
    out->control.caches = asking->caches;
}

/* ---- answers ---- */

static bool same_row(const RankedPlan *a, const RankedPlan *b) {
    return knobs_compete(&a->plan.knobs, &b->plan.knobs) && degrees_compare(&a->plan.degrees, &b->plan.degrees) == 0;
}

static void take_point(const Report *report, const RankedPlan *ranked, AroundPoint *out) {
    const Estimate *estimate = &ranked->estimate;
    double seq = (double)ranked->work.seq;
    out->found = true;
    out->chips = ranked->machine.mesh.chips;
    out->tokens = (double)ranked->work.sequences * seq;
    out->step_seconds = estimate->time.seconds;
    out->mfu = estimate->mfu;
    out->memory_bytes = memory_total(&estimate->memory);
    out->limit_bytes = estimate->memory_limit_bytes;
    out->training_seconds = report->request->question.training_tokens / out->tokens * estimate->time.seconds;
    snprintf(out->machine, sizeof out->machine, "%s", ranked->machine.text);
    plan_label(ranked, out->plan);
}

static void take_move(const RankedPlan *first, const RankedPlan *best, AroundFigure *figure, int move) {
    figure->at[move].searched = figure->at[move].found = true;
    figure->at[move].relative = best->ranked_seconds / first->ranked_seconds - 1;
    figure->at[move].changed = !same_row(best, first);
    plan_label(best, figure->at[move].winner);
}

void around_take(Asking *asking, AnswerOf of, const RankedPlan *best) {
    if (of.point)
        take_point(asking->report, best, of.point);
    else
        take_move(asking->first, best, of.figure, of.move);
}

static void leave_out(Asking *asking, AnswerOf of) {
    asking->out->left_out[of.part]++;
    if (of.point) of.point->requested = false;
}

static void take_answer(Asking *asking, int i) {
    const SideAnswer *answer = &asking->questions[i].answer;
    AnswerOf of = asking->of[i];
    asking->allowance -= answer->effort;
    asking->spent[of.part] += answer->effort;
    asking->requested[of.part]++;
    if (answer->left_out) {
        leave_out(asking, of);
        return;
    }
    if (answer->cut_short) asking->out->cut_short = true;
    if (of.point) of.point->cut_short = answer->cut_short;
    if (of.figure) of.figure->at[of.move].searched = !answer->cut_short || answer->found;
    if (answer->found) around_take(asking, of, &answer->best);
}

/* ---- which questions there are ---- */

/* What a search of this part takes, from those before: of the part or, at first, of all of this report's. */
static int64_t expected(const Asking *asking, AroundPart part) {
    const Report *report = asking->report;
    int64_t searches = 1 + report->searches;
    return asking->requested[part] > 0 ? asking->spent[part] / asking->requested[part] : report->effort / searches;
}

bool around_ask_pending(Asking *asking, Error *error) {
    static const char *const WHAT[AROUND_PARTS] = {[AROUND_MEMORY] = "less memory",
                                                   [AROUND_SCALING] = "other machines and batches",
                                                   [AROUND_SENSITIVITY] = "figures moved by a tenth"};
    int count = asking->pending;
    if (count == 0) return true;
    AroundPart part = asking->of[0].part;
    if (asking->progress.tell) asking->progress.tell(asking->progress.of, WHAT[part], asking->done, asking->all);
    asking->pending = 0;
    for (int i = 0; i < count && asking->limited; i++)
        asking->questions[i].work_limit = max_whole(expected(asking, part), asking->allowance / count);
    if (!report_ask_all(asking->report, asking->questions, count, error)) return false;
    for (int i = 0; i < count; i++) take_answer(asking, i);
    asking->done = (int)min_whole(asking->done + count, asking->all);
    return true;
}

/* Whether there is room for another of the part alongside those that are pending. The first of a part runs alone, so
 * that it is known what they take. */
static bool is_allowed(const Asking *asking, AroundPart part) {
    if (!asking->limited) return true;
    if (asking->pending > 0 && asking->requested[part] == 0) return false;
    return asking->allowance >= (asking->pending + 1) * expected(asking, part);
}

bool around_next_question(Asking *asking, AnswerOf of, SideSearch **question, Error *error) {
    *question = NULL;
    bool full = asking->pending == QUESTIONS_MAX || !is_allowed(asking, of.part);
    if ((full || (asking->pending > 0 && asking->of[0].part != of.part)) && !around_ask_pending(asking, error))
        return false;
    if (!is_allowed(asking, of.part)) {
        leave_out(asking, of);
        return true;
    }
    int i = asking->pending++;
    asking->of[i] = of;
    *question = &asking->questions[i];
    memset(*question, 0, sizeof **question);
    around_request_on(asking, asking->first, &(*question)->changed);
    return true;
}
