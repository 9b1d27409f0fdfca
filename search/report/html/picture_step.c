/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Step time, split: plan 1 part by part, and what the other plans have more or less of. */
#include "base/text/bars.h"
#include "search/answer/doubts.h"
#include "search/report/html/paints.h"
#include "search/report/html/pictures.h"

#include "base/util.h"

static const char *say_term(const Term *term, Paint paint, char text[WORDS_SIZE]) {
    bool communicates = paint >= PAINT_TENSOR && paint <= PAINT_PIPELINE;
    snprintf(text, WORDS_SIZE, "%s%s", communicates ? "exposed " : "", term->name);
    return text;
}

/* `rank` 0: it has none. */
static void list_terms(Table *table, int rank, const RankedPlan *ranked, const Term *terms, int count) {
    double total = ranked->estimate.time.seconds;
    for (int i = 0; i < count; i++) {
        char plan[24], name[WORDS_SIZE], seconds[NUMBER_TEXT_SIZE], share[NUMBER_TEXT_SIZE], whole[NUMBER_TEXT_SIZE];
        if (!(terms[i].seconds > 0) && !(terms[i].whole_seconds > 0)) continue;
        snprintf(plan, sizeof plan, rank > 0 ? "plan %d" : "the plan", rank);
        const char *cells[] = {plan, say_term(&terms[i], paint_of_term(terms[i].name), name),
                               step_text(terms[i].seconds, seconds), share_text(terms[i].seconds / total, share),
                               terms[i].whole_seconds > 0 ? step_text(terms[i].whole_seconds, whole) : ""};
        table_row(table, cells);
    }
    char plan[24], seconds[NUMBER_TEXT_SIZE];
    snprintf(plan, sizeof plan, rank > 0 ? "plan %d" : "the plan", rank);
    const char *cells[] = {plan, "step", step_text(total, seconds), "100.0%", ""};
    table_row(table, cells);
}

/* "2  fsdp=256 tensor=2" */
static void whole_label(const PageView *view, int rank, char label[WORDS_SIZE]) {
    char plan[WORDS_SIZE];
    plan_label(&view->report->result.plans[rank], plan);
    if (view_is_named(view))
        snprintf(label, WORDS_SIZE, "%s", plan);
    else
        snprintf(label, WORDS_SIZE, rank == 0 ? "plan %d: %.300s" : "%d  %.300s", rank + 1, plan);
}

static void fill_bars(const PageView *view, int plans, Bars *bars, Table *table) {
    *bars = (Bars){.rows = plans, .say = svg_say_seconds, .amount = step_text};
    for (int w = 0; w < plans; w++) {
        Term terms[TERMS_MAX];
        const RankedPlan *ranked = &view->report->result.plans[w];
        int count = step_terms(&ranked->estimate, &ranked->plan.degrees, terms);
        whole_label(view, w, bars->row[w].label);
        bars->row[w].total = ranked->estimate.time.seconds;
        for (int i = 0; i < count; i++) {
            char name[WORDS_SIZE];
            Paint paint = paint_of_term(terms[i].name);
            int part = bars_part(bars, say_term(&terms[i], paint, name), paint);
            bars->row[w].of[part] += terms[i].seconds;
        }
        list_terms(table, view_is_named(view) ? 0 : w + 1, ranked, terms, count);
    }
}

bool picture_step(const PageView *view, FILE *out, Prose *words, Table *table) {
    const SearchResult *result = &view->report->result;
    int plans = (int)min_whole(result->plan_count, PLANS_SHOWN);
    if (plans == 0) return false;
    const StepTime *time = &result->plans[0].estimate.time;
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], c[NUMBER_TEXT_SIZE], d[NUMBER_TEXT_SIZE];
    double likely[2] = {0, 0};
    if (!plan_likely(view->report->request, &result->plans[0], &likely[0], &likely[1])) likely[1] = 0;
    prose_add(words, "%s computes for %s of its step of %s; communication that is not overlapped takes %s",
              view_plan(view), share_text(time->compute_seconds / time->seconds, a), step_text(time->seconds, b),
              share_text(time->exposed_seconds / time->seconds, c));
    if (time->bubble_seconds > 0)
        prose_add(words, ", and the bubble takes %s", share_text(time->bubble_seconds / time->seconds, d));
    prose_add(words, ".");
    *table = table_new(view->arena, "Where a step goes, by plan",
                       "plan|part|>seconds of the step|>share|>with the overlapped part");
    Bars *bars = ARENA_NEW(view->arena, Bars, 1);
    if (!bars) {
        table->failed = true;
        return true;
    }
    fill_bars(view, plans, bars, table);
    bars_draw_first(bars, "step-svg", "Where a step goes", words->text, likely, out);
    bars_draw_others(bars, "step-others-svg", "Where steps of the other plans differ", words->text, out);
    return true;
}
