/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/report.h"

#include "search/report_make.h"

#include <string.h>

void request_copy(const Request *request, Request *copy) {
    *copy = *request;
    copy->top = 1;
    copy->variants = false;
}

bool report_ask(Request *changed, Answer *out, Error *error) {
    Arena arena = {0};
    SearchResult result = {0};
    *out = (Answer){0};
    bool ok = search_run(changed, &arena, &result, error);
    if (ok) {
        out->cut_short = result.certificate.proof == PROOF_GAP;
        out->found = result.plan_count > 0;
        if (out->found) out->best = result.plans[0];
    }
    arena_free(&arena);
    return ok;
}

bool plan_is_as_asked(const Request *request, const RankedPlan *ranked) {
    return ranked->padding == 0 && ranked->machine.mesh.chips == request->machine.mesh.chips &&
           ranked->work.sequences == request->work.sequences;
}

bool report_make(const Request *request, Arena *arena, Report *report, Error *error) {
    memset(report, 0, sizeof *report);
    report->request = request;
    if (!search_run(request, arena, &report->result, error)) return false;
    Request *scratch = ARENA_NEW(arena, Request, 1);
    if (!scratch) return error_memory(error);
    const SearchResult *result = &report->result;
    bool proven = result->certificate.proof == PROOF_OPTIMAL;
    bool divides = result->plan_count > 0 ? plan_is_as_asked(request, &result->plans[0])
                                          : result->certificate.plans_pruned[PRUNED_INDIVISIBLE] == 0;
    if (proven && !divides && !report_make_ways(report, scratch, error)) return false;
    if (result->plan_count == 0) return report_make_nearest(report, scratch, error);
    return !proven || request->brute_force || report_make_helps(report, scratch, error);
}
