/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What got worse, and what better. */
#include "search/baseline/baseline_check.h"

#include "base/util.h"

#include <math.h>
#include <string.h>

const char *gate_figure_name(BaselineFigure figure) {
    static const char *const NAMES[GATE_FIGURES] = {"step", "mfu", "memory"};
    return NAMES[figure];
}

const char *verdict_name(BaselineVerdict verdict) {
    static const char *const NAMES[VERDICT_COUNT] = {"same", "better", "worse", "error", "new"};
    return NAMES[verdict];
}

/* ---- the tolerance ---- */

bool share_parse(const char *text, const char *where, double *out, Error *error) {
    if (!number_share(text, where, 0, 10, out, error)) return false;
    if (*out <= 1 || strchr(text, '%')) return true; /* a gate of 400% would never close */
    return error_set(error, ERROR_INPUT, where, "is %.30s; give a share such as 0.01, or %.30s%%", text, text);
}

bool tolerance_parse(const char *text, const char *where, Tolerance *out, Error *error) {
    bool given[GATE_FIGURES] = {false};
    double all;
    if (!strchr(text, '=')) {
        if (!share_parse(text, where, &all, error)) return false;
        for (BaselineFigure figure = 0; figure < GATE_FIGURES; figure++) out->of[figure] = all;
        return true;
    }
    for (const char *at = text;; at++) {
        char word[64];
        size_t length = strcspn(at, ", ");
        BaselineFigure figure = 0;
        snprintf(word, sizeof word, "%.*s", (int)min_whole((int64_t)length, sizeof word - 1), at);
        char *equals = strchr(word, '=');
        if (equals) *equals = '\0';
        while (figure < GATE_FIGURES && strcmp(word, gate_figure_name(figure)) != 0) figure++;
        if (!equals || figure == GATE_FIGURES)
            return error_set(error, ERROR_INPUT, where,
                             "\"%.40s\" is not a tolerance; give 1%%, or some of step=1%%,mfu=1%%,memory=5%%", word);
        if (given[figure]) return error_set(error, ERROR_INPUT, where, "%s is given twice; give it once", word);
        given[figure] = true;
        if (!share_parse(equals + 1, where, &out->of[figure], error)) return false;
        at += length;
        if (!*at) return true;
    }
}

/* ---- one entry ---- */

/* Sums in another order differ by up to a part in 1e9, which is not a change. */
static FigureChange change_of(double was, double now, double ratio, bool more_is_worse, double tolerance) {
    FigureChange change = {.was = was, .now = now, .change = ratio - 1};
    double worse = more_is_worse ? ratio - 1 : 1 - ratio;
    change.worse = !(worse <= tolerance + 1e-9);
    change.better = worse < -(tolerance + 1e-9);
    return change;
}

static double ratio_of(double was, double now) { return was > 0 ? now / was : now > 0 ? INFINITY : 1; }

static void compare_plans(const Tolerance *tolerance, CheckedEntry *entry) {
    const SnapshotPlan *was = &entry->was.best, *now = &entry->now.best;
    const double *within = tolerance->of;
    bool ranked = was->ranked_seconds > 0 && now->ranked_seconds > 0;
    double step = ranked ? now->ranked_seconds / was->ranked_seconds : now->seconds / was->seconds;
    bool limits = was->hbm_limit_bytes > 0 && now->hbm_limit_bytes > 0;
    double memory = ratio_of(was->hbm_bytes, now->hbm_bytes);
    if (limits) memory *= was->hbm_limit_bytes / now->hbm_limit_bytes;
    entry->figures[GATE_STEP] = change_of(was->seconds, now->seconds, step, true, within[GATE_STEP]);
    entry->figures[GATE_MFU] = change_of(was->mfu, now->mfu, ratio_of(was->mfu, now->mfu), false, within[GATE_MFU]);
    entry->figures[GATE_MEMORY] = change_of(was->hbm_bytes, now->hbm_bytes, memory, true, within[GATE_MEMORY]);
    entry->same_plan = snapshot_same_plan(was, now);
}

static BaselineVerdict verdict_of(const CheckedEntry *entry) {
    bool worse = entry->lost_plan || entry->lost_proof, better = entry->found_plan || entry->found_proof;
    for (BaselineFigure figure = 0; figure < GATE_FIGURES; figure++) {
        worse = worse || entry->figures[figure].worse;
        better = better || entry->figures[figure].better;
    }
    return worse ? VERDICT_WORSE : better ? VERDICT_BETTER : VERDICT_SAME;
}

static bool moved(const CheckedEntry *entry) {
    bool any = entry->verdict != VERDICT_SAME;
    for (BaselineFigure figure = 0; figure < GATE_FIGURES; figure++)
        any = any || fabs(entry->figures[figure].change) > 1e-9;
    return any;
}

void gate_compare(const Tolerance *tolerance, CheckedEntry *entry) {
    if (!entry->now.report) {
        entry->verdict = VERDICT_ERROR;
        return;
    }
    if (!entry->has_was) {
        entry->verdict = VERDICT_NEW;
        return;
    }
    const Snapshot *was = &entry->was, *now = &entry->now;
    entry->lost_proof = was->proven && !now->proven;
    /* A search that was cut short has not shown that nothing fits, so the proof is lost as well. */
    entry->lost_plan = was->plan_count > 0 && now->plan_count == 0;
    entry->found_plan = was->plan_count == 0 && now->plan_count > 0;
    entry->found_proof = !was->proven && now->proven;
    if (gate_has_both(entry)) compare_plans(tolerance, entry);
    entry->verdict = verdict_of(entry);
    entry->cause_count = causes_find(was, now, entry->edited, moved(entry), entry->causes);
}

int gate_verdicts(const BaselineCheck *gate, BaselineVerdict verdict) {
    int count = 0;
    for (int i = 0; i < gate->count; i++) count += gate->entries[i].verdict == verdict;
    return count;
}

bool gate_passes(const BaselineCheck *gate) {
    for (int i = 0; i < gate->count; i++)
        if (gate->entries[i].undecided) return false;
    return gate_verdicts(gate, VERDICT_WORSE) == 0 && gate_verdicts(gate, VERDICT_ERROR) == 0;
}
