/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How far plan 1 is from what else could be had. */
#include "search/report/text/parts.h"

#include "base/util.h"
#include "search/answer/search_end.h"
#include "search/launch/launcher.h"

#include <math.h>
#include <string.h>

/* The other launchers of the request, each with its own software. */
static void add_others(const Report *report, const RankedPlan *first, Prose *to) {
    char step[NUMBER_TEXT_SIZE];
    Prose others = {0};
    for (int i = 0; i < report->result.subproblem_count; i++) {
        const SubproblemAnswer *other = &report->result.subproblems[i];
        const Launcher *launcher = launcher_of(other->request);
        if (!launcher || other->request == report->request) continue;
        if (!other->searched)
            prose_item(&others, ", ", "%s was not searched in time", launcher->name);
        else if (!other->best)
            prose_item(&others, ", ", "no plan of %s %s", launcher->name, search_end_words(other->end.kind));
        else
            prose_item(&others, ", ", "%s %s (%+.1f%%)", launcher->name,
                       step_text(other->best->estimate.time.seconds, step),
                       100 * (other->best->ranked_seconds / first->ranked_seconds - 1));
    }
    if (others.used > 0) prose_item(to, " ", "Other launchers, each with its own software: %s.", others.text);
}

static void add_headroom(const Report *report, Prose *to) {
    char change[NUMBER_TEXT_SIZE];
    Prose steps = {0};
    double most = 0;
    for (int i = 0; i < report->headroom_count; i++)
        most = max_real(most, report->headroom[i].found ? report->headroom[i].relative : INFINITY);
    for (int i = 0; i < report->headroom_count && most >= 0.0005; i++) {
        const Headroom *headroom = &report->headroom[i];
        if (headroom->found)
            prose_item(&steps, ", ", "%.0f%% %s", 100 * headroom->free_share,
                       strcmp(change_text(headroom->relative, change), "none") == 0 ? "+0.0%" : change);
        else
            prose_item(&steps, ", ", "%.0f%% more than 10%%", 100 * headroom->free_share);
    }
    if (steps.used > 0) prose_item(to, " ", "More HBM left free costs: %s.", steps.text);
}

void others_write(const Report *report, TextOut out) {
    Prose line = {0};
    add_others(report, &report->result.plans[0], &line);
    if (line.used > 0) prose_write(out, "", "  ", line.text);
}

void around_write(const Report *report, TextOut out) {
    const RankedPlan *first = &report->result.plans[0];
    char step[NUMBER_TEXT_SIZE];
    Prose line = {0};
    if (report->has_free)
        prose_item(&line, " ", "Layouts that no launcher can express (--for any) could reach %s (%+.1f%%).",
                   step_text(report->free.estimate.time.seconds, step),
                   100 * (report->free.ranked_seconds / first->ranked_seconds - 1));
    add_headroom(report, &line);
    if (line.used > 0) prose_write(out, "", "  ", line.text);
}
