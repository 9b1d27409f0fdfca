/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How plan 1 is launched, and how far it is from what else could be had. */
#include "search/report/text/parts.h"

#include "base/util.h"
#include "search/answer/search_end.h"
#include "search/launch/launcher.h"

#include <math.h>
#include <string.h>

static void write_words(const Report *report, const RankedPlan *first, TextOut out) {
    const Request *request = report->request;
    const Launcher *launcher = launcher_of(request);
    Prose words = {0}, line = {0};
    char tokens[NUMBER_TEXT_SIZE], flops[NUMBER_TEXT_SIZE];
    double peak = request_cost_context(request).precision_flops_per_second;
    launcher_words(launcher, request, first, &words);
    if (words.used > 0) prose_add(&line, "In %s's words: %s.", launcher->name, words.text);
    prose_item(&line, " ", "%s tokens/s and %s of model FLOPs per chip.",
               number_grouped((int64_t)(first->estimate.tokens_per_second_per_chip + 0.5), tokens),
               rate_text(first->estimate.mfu * peak, "FLOP", flops));
    prose_write(out, "", "  ", line.text);
    Prose command = {0};
    emit_command(report, false, &command);
    if (command.used > 0) fprintf(out.file, "  %s\n", command.text);
}

static void write_measured(const Report *report, const RankedPlan *first, TextOut out) {
    const MeasuredRun *run = report->measured;
    char chips[NUMBER_TEXT_SIZE], rate[NUMBER_TEXT_SIZE], says[NUMBER_TEXT_SIZE], own[NUMBER_TEXT_SIZE];
    char model[PROSE_NAME_SIZE], framework[PROSE_NAME_SIZE], plan[PROSE_NAME_SIZE], name[PROSE_NAME_SIZE];
    double peak = request_cost_context(report->request).precision_flops_per_second;
    Prose line = {0};
    if (!run) return;
    prose_add(&line, "Nearest measured run (%s): %s on %s %s in %s, sequences of %s, %s with %s, reached %s per chip; ",
              clean_name(run->id, name), clean_name(run->model, model), number_grouped(run->chips, chips), run->chip,
              run->precision, number_grouped(run->seq, own), clean_name(run->framework, framework),
              clean_name(run->plan, plan), rate_text(run->measured * run->flops_per_token, "FLOP", rate));
    prose_add(&line, "this model predicts %s for it (%+.0f%%), and %s for plan 1.",
              rate_text(run->predicted * run->flops_per_token, "FLOP", says),
              100 * (run->predicted / run->measured - 1), rate_text(first->estimate.mfu * peak, "FLOP", own));
    prose_write(out, "", "  ", line.text);
}

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

static void write_risks(const RankedPlan *first, TextOut out) {
    Risk risks[RISKS_MAX];
    int count = plan_risks(first, risks);
    Prose line = {0};
    for (int i = 0; i < count; i++) prose_item(&line, "; ", "%s", risks[i].text);
    if (count == 0) return;
    prose_add(&line, ".");
    prose_write(out, "Risks: ", "  ", line.text);
}

void launching_write(const Report *report, TextOut out) {
    const RankedPlan *first = &report->result.plans[0];
    Prose line = {0};
    write_words(report, first, out);
    write_measured(report, first, out);
    if (report->request->space.launchers == 0 && report->requested && report->requested->subproblem_count > 0)
        prose_add(&line, "No plan of this chip's usual launchers %s: this layout is for no launcher (--for any).",
                  search_end_words(subproblems_end(&report->result)));
    add_others(report, first, &line);
    if (line.used > 0) prose_write(out, "", "  ", line.text);
    write_risks(first, out);
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
