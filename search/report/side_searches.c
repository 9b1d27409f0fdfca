/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/report/side_searches.h"

#include "base/locale.h"
#include "base/threads.h"
#include "base/util.h"
#include "search/answer/tie.h"

#include <omp.h>
#include <stdlib.h>

void request_copy(const Request *request, Request *copy) {
    *copy = *request;
    copy->control.top = 1;
    copy->control.tie = 0;
    copy->control.variants = false;
    copy->control.keep_search_log = false;
    copy->control.seed_count = 0;
}

int64_t search_effort(const SearchResult *result) {
    /* What an expanded tuple of degrees takes in addition to its bounds, and what listing them takes: by the time of
     * forty searches of dense models and mixtures, on GPUs and TPUs. */
    static const int64_t OF_OPENED = 10, TUPLES_LISTED = 32;
    const Certificate *certificate = &result->certificate;
    return result->work + OF_OPENED * certificate->degree_tuples_expanded + certificate->degree_tuples / TUPLES_LISTED;
}

/* One search that only looks at plans up to `limit` (ranked; 0: at all). */
static bool ask_within(Report *report, Request *changed, double limit, int64_t work_limit, SideAnswer *out,
                       Error *error) {
    Arena arena = {0};
    SearchResult result = {0};
    *out = (SideAnswer){.cut_short = report->seconds_left == 0 || environment_stops(&changed->control.environment)};
    if (out->cut_short) return true;
    changed->control.limit_seconds = limit;
    changed->control.within_limit_is_little = false;
    changed->control.work_limit = work_limit;
    changed->control.uncounted = true;
    changed->control.time_limit_seconds = max_real(0, report->seconds_left);
    bool ok = search_run(changed, &arena, &result, error);
    if (ok) {
        out->cut_short = result.certificate.proof == PROOF_GAP;
        out->effort = search_effort(&result);
        /* What a quick search has is all that is needed of it; what another search has so far is the best of
         * nothing. */
        bool quick = changed->control.quick;
        out->left_out = out->cut_short && work_limit > 0 && result.work > work_limit && !quick;
        out->found = result.plan_count > 0 && !out->left_out;
        if (out->found) out->best = *search_fastest(&result);
        out->best.request = NULL; /* it ends with this search */
    }
    if (report->seconds_left > 0) report->seconds_left = max_real(0, report->seconds_left - result.seconds);
    arena_free(&arena);
    return ok;
}

void request_seed(const Request *request, const RankedPlan *plan, Request *changed) {
    SearchControl *control = &changed->control;
    if (control->seed_count == SEEDS_MAX) return;
    double per_sequence = plan->ranked_seconds / (double)request->question.work.sequences;
    control->seeds[control->seed_count++] =
        (SearchSeed){plan->plan.degrees, per_sequence * (double)changed->question.work.sequences};
}

bool request_require(const Degrees *degrees, const Knobs *knobs, KnobSet open, Request *changed) {
    SpaceRules *space = &changed->space;
    for (Role role = 0; role < ROLE_COUNT; role++) {
        if (space->requirement_count == REQUIREMENTS_MAX) return false;
        space->requirements[space->requirement_count++] =
            (Requirement){.role = role, .op = REQUIRE_EQUAL, .degree = degrees->of[role]};
    }
    for (Knob knob = KNOB_NONE + 1; knob < KNOB_COUNT; knob++) {
        if (open >> knob & 1) continue;
        if (space->requirement_count == REQUIREMENTS_MAX) return false;
        space->requirements[space->requirement_count++] =
            (Requirement){.op = REQUIRE_EQUAL, .knob = knob, .degree = knob_setting(knob, knobs)};
    }
    return true;
}

void request_pin(const RankedPlan *plan, Request *changed) {
    SpaceRules *space = &changed->space;
    space->nesting = plan->nesting;
    space->nesting_all = false;
    space->pin_count = pins_of_placement(&plan->machine.mesh, &plan->plan.placement, space->pins);
}

/* What the fastest plan takes per sequence, for the sequences of the changed request. */
static double as_fast(const Report *report, const Request *changed) {
    const RankedPlan *fastest = search_fastest(&report->result);
    double per_sequence = fastest->ranked_seconds / (double)report->request->question.work.sequences;
    return per_sequence * (double)changed->question.work.sequences;
}

/* Counts a search; those of two threads come at once. */
static void note_search(Report *report, const SideAnswer *answer, bool counts) {
    int left_out = counts && answer->left_out;
#pragma omp atomic
    report->left_out += left_out;
#pragma omp atomic
    report->effort += answer->effort;
#pragma omp atomic
    report->searches += 1;
}

bool report_ask(Report *report, Request *changed, SideAnswer *out, Error *error) {
    bool ok = ask_within(report, changed, 0, report->work_limit, out, error);
    note_search(report, out, true);
    return ok;
}

SideSearch *side_searches_new(int count, Error *error) {
    SideSearch *questions = calloc((size_t)count, sizeof(SideSearch));
    if (!questions) error_memory(error);
    return questions;
}

static bool ask_question(Report *report, SideSearch *question, Error *error) {
    IN_LOCALE_C; /* a thread of its own */
    double limit = question->no_slower ? (1 + 1e-9) * as_fast(report, &question->changed) : question->limit_seconds;
    if (report->result.plan_count > 0) request_seed(report->request, &report->result.plans[0], &question->changed);
    int64_t work_limit =
        question->work_limit > 0 ? question->work_limit : report->work_limit * (question->patient ? 2 : 1);
    return ask_within(report, &question->changed, limit, work_limit, &question->answer, error);
}

/* One of `count` searches side by side: a thread, and a part of the memory. */
static void ask_alone(SearchControl *control, int count) {
    int64_t limit = control->memory_limit_bytes > 0 ? control->memory_limit_bytes : MEMORY_USUAL;
    control->threads = 1;
    control->memory_limit_bytes = max_whole(MEMORY_LEAST, limit / count);
}

bool report_ask_all(Report *report, SideSearch *questions, int count, Error *error) {
    Error errors[QUESTIONS_MAX] = {0};
    bool ok[QUESTIONS_MAX] = {false};
    int threads = threads_usable(report->request->control.threads);
    bool nested = omp_in_parallel() != 0; /* other questions, which have the other threads */
    /* a limit is for all of them together, and one alone has all threads */
    bool apart = report->seconds_left >= 0 || threads == 1 || (count == 1 && !nested);
    if (apart) threads = 1;
#pragma omp parallel for schedule(dynamic, 1) num_threads((int)min_whole(threads, max_whole(1, count)))
    for (int i = 0; i < count; i++) {
        if (!apart) ask_alone(&questions[i].changed.control, threads);
        ok[i] = ask_question(report, &questions[i], &errors[i]);
    }
    for (int i = 0; i < count; i++) note_search(report, &questions[i].answer, questions[i].work_limit == 0);
    for (int i = 0; i < count; i++) {
        if (ok[i]) continue;
        *error = errors[i];
        return false;
    }
    return true;
}
