/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/report/report.h"

#include "base/locale.h"
#include "base/threads.h"
#include "base/util.h"
#include "search/answer/doubts.h"
#include "search/answer/tie.h"
#include "search/engine/explore/cache_pool.h"
#include "search/report/questions.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)SENSITIVITIES_MAX <= (int)QUESTIONS_MAX && (int)ALTERNATIVE_COUNT <= (int)QUESTIONS_MAX,
               "questions at once");

void request_copy(const Request *request, Request *copy) {
    *copy = *request;
    copy->control.top = 1;
    copy->control.tie = 0;
    copy->control.variants = false;
    copy->control.keep_search_log = false;
    copy->control.seed_count = 0;
    copy->space.offload_open = false; /* what may go to the host is what the answer has there */
}

int64_t search_effort(const SearchResult *result) {
    /* What an opened tuple of degrees takes beside its bounds, and what listing them takes: by the time of forty
     * searches of dense models and mixtures, on GPUs and TPUs. */
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
        /* What a glance has is all that is asked of it; what another search has so far is the best of nothing. */
        bool glance = changed->control.quick;
        out->left_out = out->cut_short && work_limit > 0 && result.work > work_limit && !glance;
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
    bool beside = omp_in_parallel() != 0; /* other questions, which have the other threads */
    /* a limit is for all of them together, and one alone has all threads */
    bool apart = report->seconds_left >= 0 || threads == 1 || (count == 1 && !beside);
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

bool plan_is_as_asked(const Request *request, const RankedPlan *ranked) {
    return ranked->padding == 0 && ranked->machine.mesh.chips == request->question.machine.mesh.chips &&
           ranked->work.sequences == request->question.work.sequences;
}

/* The main search: of answers that differ in kind only the best of each contender is looked for. */
static bool search_main(const Request *request, CachePool *caches, Arena *arena, Report *report, Error *error) {
    Request *main = ARENA_NEW(arena, Request, 1);
    if (!main) return error_memory(error);
    *main = *request;
    main->control.caches = caches;
    main->control.each = request->control.different;
    if (request->control.different) main->control.top = 1;
    if (!search_run(main, arena, &report->result, error)) return false;
    report->request = report->result.request;
    report->effort = report->plan_effort = search_effort(&report->result);
    return true;
}

/* Hands the report to its reader. What plans may be off by is worked out for those that are in it by now: how probable
 * each is the fastest is said of all rows together. */
static bool tell(Report *report, const ReportReader *reader, ReportStage stage, Error *error) {
    SearchResult *result = &report->result;
    bool alone = stage == STAGE_PLAN && report->asked->control.different && result->plan_count > 1;
    bool doubts = (stage == STAGE_PLAN && reader->made) || stage == STAGE_ROWS;
    if (doubts && !plans_doubt(report->request, result->plans, alone ? 1 : result->plan_count, error)) return false;
    return !reader->made || reader->made(reader->context, report, stage, error);
}

/* What surrounds a plan that is proven. */
static bool surround(Report *report, const ReportReader *reader, Arena *arena, Error *error) {
    /* What a search may take at least, so that nothing is left out where all take a moment. Beyond that it may take a
     * quarter more than the plan's own: one that asks the same with a little less memory takes about as much. */
    static const int64_t WORK_LEAST = 200000, WAYS_LEAST = 50000;
    SensitivityMode helps = report->asked->control.sensitivity;
    bool none = helps == SENSITIVITY_NONE, more = !none && !reader->plans_alone;
    bool divides = plan_is_as_asked(report->request, &report->result.plans[0]);
    bool short_answer = reader->plans_alone || reader->thrifty;
    bool glance = short_answer && helps == SENSITIVITY_FAST;
    Request *scratch = ARENA_NEW(arena, Request, 1);
    if (!scratch) return error_memory(error);
    report->work_limit = helps == SENSITIVITY_ALL ? 0 : max_whole(WORK_LEAST, report->result.work / 4 * 5);
    bool ok = tell(report, reader, STAGE_PLAN, error) && report_make_rows(report, glance, arena, error) &&
              (none || short_answer || report_make_headroom(report, arena, error)) &&
              (none || report_make_expressible(report, arena, error)) && tell(report, reader, STAGE_ROWS, error);
    report->plan_effort = report->effort;
    if (reader->thrifty && report->work_limit > 0)
        report->work_limit = min_whole(report->work_limit, max_whole(WAYS_LEAST, report->plan_effort / 6));
    ok = ok && (!more || divides || report_make_alternatives(report, scratch, error)) &&
         tell(report, reader, STAGE_WAYS, error) && (!more || report_make_sensitivities(report, arena, error));
    report->work_limit = 0;
    return ok && tell(report, reader, STAGE_WHOLE, error);
}

/* Where nothing fits, or the plan is not proven: what is left to say of it. */
static bool make_rest(Report *report, const ReportReader *reader, Arena *arena, Error *error) {
    const SearchResult *result = &report->result;
    Request *scratch = ARENA_NEW(arena, Request, 1);
    if (!scratch) return error_memory(error);
    bool proven = result->certificate.proof == PROOF_OPTIMAL;
    bool divides = result->plan_count > 0 ? plan_is_as_asked(report->request, &result->plans[0])
                                          : result->certificate.plans_pruned[PRUNED_INDIVISIBLE] == 0;
    if (proven && !divides && !report_make_alternatives(report, scratch, error)) return false;
    if (result->plan_count == 0 && !report_make_nearest(report, scratch, error)) return false;
    for (ReportStage stage = STAGE_PLAN; stage < STAGE_COUNT; stage++)
        if (!tell(report, reader, stage, error)) return false;
    return true;
}

static bool make_around(const Request *request, CachePool *caches, const ReportReader *reader, Arena *arena,
                        Report *report, Error *error) {
    memset(report, 0, sizeof *report);
    report->asked = request;
    if (!search_main(request, caches, arena, report, error)) return false;
    double limit = request->control.time_limit_seconds;
    const SearchResult *result = &report->result;
    report->seconds_left = limit > 0 ? max_real(0, limit - result->seconds) : -1;
    bool surrounded =
        result->certificate.proof == PROOF_OPTIMAL && result->plan_count > 0 && !request->control.brute_force;
    return surrounded ? surround(report, reader, arena, error) : make_rest(report, reader, arena, error);
}

bool report_make_for(const Request *request, const ReportReader *reader, Arena *arena, Report *report, Error *error) {
    CachePool *caches = cache_pool_new(arena); /* all its searches price much the same layers */
    if (!caches) return error_memory(error);
    bool ok = make_around(request, caches, reader, arena, report, error);
    cache_pool_close(caches);
    return ok;
}

bool report_make(const Request *request, Arena *arena, Report *report, Error *error) {
    return report_make_for(request, &(ReportReader){0}, arena, report, error);
}
