/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/commands/asked_run.h"

#include "base/util.h"
#include "cost/measured/replay.h"
#include "search/cli/commands.h"
#include "search/cli/planning.h"
#include "search/options/one_plan.h"

#include <string.h>

enum { WORDS_MAX = 128 };

/* The words of a line, between blanks; a word in quotation marks may hold some. Returns their number; -1: there are
 * more than WORDS_MAX, or a quotation mark is left open. */
static int split(char *line, char *words[WORDS_MAX]) {
    int count = 0;
    for (char *at = line + strspn(line, " "); *at; at += strspn(at, " ")) {
        if (count == WORDS_MAX) return -1;
        char *to = words[count++] = at, quote = '\0';
        for (; *at && (quote || *at != ' '); at++) {
            if (*at == quote)
                quote = '\0';
            else if (!quote && (*at == '"' || *at == '\''))
                quote = *at;
            else
                *to++ = *at;
        }
        if (quote) return -1;
        if (*at) at++;
        *to = '\0';
    }
    return count;
}

/* The options of the run's request, with its plan. */
static bool read_words(const Run *run, Arena *arena, Options *out, Error *error) {
    char *words[WORDS_MAX + 1] = {(char *)"explain"}, *copy = arena_text(arena, run->request.words);
    if (!copy) return error_memory(error);
    int count = split(copy, words + 1);
    if (count < 0)
        return error_set(error, ERROR_INPUT, "its options", "more than %d words, or a quotation mark without its end",
                         WORDS_MAX);
    if (!options_parse(count + 1, words, &COMMAND_EXPLAIN, arena, out, error)) return false;
    if (run->plan[0]) out->text[OPTION_PLAN] = run->plan, out->where[OPTION_PLAN] = "plan";
    return true;
}

static bool price(Run *run, Arena *arena, Error *error) {
    Options options;
    ReportPlan from = {0};
    NamedPrice unused;
    Report *report = ARENA_NEW(arena, Report, 1);
    Request *request = ARENA_NEW(arena, Request, 1);
    RunGiven *given = ARENA_NEW(arena, RunGiven, 1);
    if (!report || !request || !given) return error_memory(error);
    if (!read_words(run, arena, &options, error) ||
        !one_plan_request(&options, "request", arena, request, &from, error) ||
        !named_plan_price(&(NamedPlan){&options, request, &from, arena}, report, &unused, error))
        return false;
    if (report->result.plan_count == 0) {
        run->not_replayed = "its plan has no price: `shardopt explain` with the same words says why";
        return true;
    }
    const RankedPlan *plan = &report->result.plans[0];
    const Request *of = plan->request ? plan->request : report->result.request;
    const Question *question = &of->question;
    *given = (RunGiven){.model = question->model,
                        .chip = *request_cost_context(of).chip,
                        .mesh = plan->machine.mesh,
                        .slices = plan->machine.slices,
                        .nesting = plan->nesting,
                        .plan = plan->plan,
                        .work = plan->work,
                        .state = question->state};
    run->given = given;
    run->request.chip = arena_text(arena, question->chip.name);
    run->request.stack = arena_text(arena, question->profile.stack);
    if (!run->model[0]) run->model = arena_text(arena, question->model.name);
    run->request.chips = plan->machine.mesh.chips;
    run->request.seq = plan->work.seq;
    run->request.sequences = plan->work.sequences;
    run->request.precision = question->precision;
    run->request.remat = question->remat;
    return (run->request.chip && run->request.stack && run->model) || error_memory(error);
}

bool asked_runs_price(const RunTable *table, const char *path, Arena *arena, Error *error) {
    for (Run *run = table->runs; run < table->runs + table->count; run++) {
        Error own = {0};
        if (!run->request.words || price(run, arena, &own)) continue;
        if (own.kind != ERROR_INPUT) return *error = own, false;
        return run_wrong(run, path, strcmp(own.where, "plan") == 0 ? "plan" : "request", error, "%.60s: %.170s",
                         own.where, own.text);
    }
    return true;
}
