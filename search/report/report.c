/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/report/report.h"

#include "base/util.h"
#include "search/answer/doubts.h"
#include "search/engine/explore/cache_pool.h"
#include "search/report/side_searches.h"

#include <string.h>

_Static_assert((int)SENSITIVITIES_MAX <= (int)QUESTIONS_MAX && (int)ALTERNATIVE_COUNT <= (int)QUESTIONS_MAX,
               "questions at once");

/* Whether the plan is what was requested to the letter: the whole machine, its batch, nothing padded. */
static bool plan_is_as_asked(const Request *request, const RankedPlan *ranked) {
    return ranked->padding == 0 && ranked->machine.mesh.chips == request->question.machine.mesh.chips &&
           ranked->work.sequences == request->question.work.sequences;
}

/* The main search: of answers that differ in kind only the best of each subproblem is looked for. */
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

double report_claim(const Report *report, const RankedPlan *ranked) {
    double low, high, measured = report->measured ? report->measured->flops_per_second : 0;
    double beyond = plan_claim(report->request, ranked, measured);
    bool known = beyond > 0 && plan_likely(report->request, ranked, &low, &high);
    return known && beyond > high / ranked->estimate.time.seconds - 1 ? beyond : 0;
}

/* Hands the report to its reader. What plans may be off by is worked out for those that are in it by now: how probable
 * each is the fastest is said of all rows together. */
static bool tell(Report *report, const ReportReader *reader, ReportStage stage, Error *error) {
    SearchResult *result = &report->result;
    bool alone = stage == STAGE_PLAN && report->requested->control.different && result->plan_count > 1;
    bool doubts = (stage == STAGE_PLAN && reader->made) || stage == STAGE_ROWS;
    double measured = report->measured ? report->measured->flops_per_second : 0;
    if (doubts && !plans_doubt(report->request, result->plans, alone ? 1 : result->plan_count, measured, error))
        return false;
    return !reader->made || reader->made(reader->context, report, stage, error);
}

/* What surrounds a plan that is proven. */
static bool surround(Report *report, const ReportReader *reader, Arena *arena, Error *error) {
    /* What a search may take at least, so that nothing is left out where all take a moment. Beyond that it may take a
     * quarter more than the plan's own: one that searches the same with a little less memory takes about as much. */
    static const int64_t WORK_LEAST = 200000, ROWS_WAYS_LEAST = 2000;
    SensitivityMode mode = report->requested->control.sensitivity;
    bool none = mode == SENSITIVITY_NONE, rows = mode == SENSITIVITY_ROWS;
    bool divides = plan_is_as_asked(report->request, &report->result.plans[0]);
    Request *scratch = ARENA_NEW(arena, Request, 1);
    if (!scratch) return error_memory(error);
    report->work_limit = mode == SENSITIVITY_ALL ? 0 : max_whole(WORK_LEAST, report->result.work / 4 * 5);
    bool ok = tell(report, reader, STAGE_PLAN, error) && report_make_rows(report, arena, error) &&
              (none || rows || report_make_headroom(report, arena, error)) &&
              (none || report_make_expressible(report, arena, error)) &&
              (none || !report->request->question.tuning.what.on_host || report->requested->requested.offload ||
               report_make_ways_out(report, scratch, error)) &&
              tell(report, reader, STAGE_ROWS, error);
    report->plan_effort = report->effort;
    if (rows) report->work_limit = max_whole(ROWS_WAYS_LEAST, report->plan_effort / 40);
    ok = ok && (none || divides || report_make_alternatives(report, scratch, error)) &&
         tell(report, reader, STAGE_WAYS, error) && (none || rows || report_make_sensitivities(report, arena, error));
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
    report->requested = request;
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
