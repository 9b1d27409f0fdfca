/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What rows take under launchers that accept their degrees and placement but cannot be told their layout: each with the
 * best layout that it can be told, under the row's own software. */
#include "search/report/questions.h"

#include "base/util.h"
#include "search/launch/launcher.h"

#include <stdlib.h>

/* A launcher of a row. */
typedef struct {
    LaunchAnswer *answer;
    const RankedPlan *row;
} Expressible;

static bool ask(const Report *report, const Expressible *told, Arena *arena, SideSearch *question, Error *error) {
    const RankedPlan *row = told->row;
    const Request *own = row->request ? row->request : report->request;
    Request *changed = &question->changed;
    LauncherSet one = 1u << told->answer->launcher;
    request_copy(own, changed);
    changed->space.launchers = one;
    changed->space.max_idle = 0;
    changed->space.batch_tolerance = 0;
    changed->question.machine = row->machine;
    changed->question.work = row->work;
    changed->question.host_update = launchers_host_update(one);
    request_pin(row, changed);
    return launch_remat(one, &own->question.model, arena, &changed->question.domain, error) &&
           (request_require(&row->plan.degrees, &row->plan.knobs, 0, changed) ||
            error_set(error, ERROR_INPUT, "--require", "has more than %d conditions", REQUIREMENTS_MAX));
}

static bool ask_some(Report *report, Expressible *told, int count, Arena *arena, Error *error) {
    SideSearch *questions = side_searches_new(count, error);
    bool ok = questions != NULL;
    for (int i = 0; i < count && ok; i++) ok = ask(report, &told[i], arena, &questions[i], error);
    ok = ok && report_ask_all(report, questions, count, error);
    for (int i = 0; i < count && ok; i++) {
        const SideAnswer *answer = &questions[i].answer;
        if (answer->found)
            told[i].answer->expressible_seconds = answer->best.estimate.time.seconds;
        else
            told[i].answer->expressible_seconds = answer->cut_short ? 0 : -1;
    }
    free(questions);
    return ok;
}

bool report_make_expressible(Report *report, Arena *arena, Error *error) {
    Expressible told[QUESTIONS_MAX];
    int count = 0;
    for (int i = 0; i < min_whole(report->result.plan_count, ROWS_DIFFERENT); i++) {
        RankedPlan *row = &report->result.plans[i];
        LauncherSet otherwise = row->launchable_by & ~row->exact;
        for (int k = 0; k < row->launch_count; k++) {
            if (!(otherwise >> row->launch[k].launcher & 1)) continue;
            told[count++] = (Expressible){&row->launch[k], row};
            if (count < QUESTIONS_MAX) continue;
            if (!ask_some(report, told, count, arena, error)) return false;
            count = 0;
        }
    }
    return count == 0 || ask_some(report, told, count, arena, error);
}
