/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What got worse and what better. */
#include "search/baseline/baseline_check.h"

#include "base/json.h"
#include "base/util.h"

#include <math.h>
#include <string.h>

const char *baseline_status_name(BaselineStatus status) {
    static const char *const NAMES[STATUS_COUNT] = {"same", "better", "worse", "error", "new"};
    return NAMES[status];
}

const char *baseline_change_text(double change, char *text) {
    if (!(fabs(change) < 9.995)) return change_text(change, text);
    double percent = fabs(100 * change);
    if (percent < 0.0995)
        snprintf(text, NUMBER_TEXT_SIZE, "%+.1g%%", 100 * change);
    else
        snprintf(text, NUMBER_TEXT_SIZE, "%+.*f%%", percent < 9.995 ? 2 : percent < 99.95 ? 1 : 0, 100 * change);
    return text;
}

/* ---- the tolerance ---- */

bool share_parse(const char *text, const char *where, double *out, Error *error) {
    if (!number_share(text, where, 0, 10, out, error)) return false;
    if (*out <= 1 || strchr(text, '%')) return true; /* a limit of 400% would never be passed */
    return error_set(error, ERROR_INPUT, where, "is %.30s; give a share such as 0.01, or %.30s%%", text, text);
}

bool tolerance_parse(const char *text, const char *where, Tolerance *out, Error *error) {
    bool given[CHECKED_FIGURES] = {false};
    if (!strchr(text, '=')) {
        if (!share_parse(text, where, &out->of[0], error)) return false;
        for (int figure = 1; figure < CHECKED_FIGURES; figure++) out->of[figure] = out->of[0];
        return true;
    }
    for (const char *at = text;; at++) {
        char word[64];
        size_t length = strcspn(at, ", ");
        snprintf(word, sizeof word, "%.*s", (int)min_whole((int64_t)length, sizeof word - 1), at);
        char *equals = strchr(word, '=');
        if (equals) *equals = '\0';
        int figure = report_figure_named(word);
        if (!equals || figure < 0)
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

/* now / was, of what both plans have; else `otherwise`. */
static double ratio_at(const char *path, const cJSON *was, const cJSON *now, double otherwise) {
    double a = path ? json_real_at(was, path, 0) : 0, b = path ? json_real_at(now, path, 0) : 0;
    return a > 0 && b > 0 ? b / a : otherwise;
}

/* Sums in another order differ by up to a part in 1e9, which is not a change. */
static FigureChange compare_figure(const CheckedFigure *figure, const cJSON *was, const cJSON *now, double tolerance) {
    static const double EQUAL = 1e-9;
    FigureChange change = {.was = json_real_at(was, figure->path, 0), .now = json_real_at(now, figure->path, 0)};
    double own = change.was > 0 ? change.now / change.was : change.now > 0 ? INFINITY : 1;
    double ratio = ratio_at(figure->judged, was, now, own) / ratio_at(figure->of, was, now, 1);
    double worse = figure->less_is_better ? ratio - 1 : 1 - ratio;
    change.change = ratio - 1;
    change.worse = !(worse <= tolerance + EQUAL);
    change.better = worse < -(tolerance + EQUAL);
    return change;
}

void baseline_compare(const Tolerance *tolerance, CheckedEntry *entry) {
    const Snapshot *was = &entry->was, *now = &entry->now;
    entry->status = !now->report ? STATUS_ERROR : STATUS_NEW;
    if (!now->report || !entry->has_was) return;
    entry->lost_proof = was->proven && !now->proven;
    /* A search that was cut short has not shown that nothing fits, so the proof is lost as well. */
    entry->lost_plan = was->plan_count > 0 && now->plan_count == 0;
    entry->found_plan = was->plan_count == 0 && now->plan_count > 0;
    entry->found_proof = !was->proven && now->proven;
    bool worse = entry->lost_plan || entry->lost_proof, better = entry->found_plan || entry->found_proof;
    for (int i = 0; i < CHECKED_FIGURES && baseline_has_both(entry); i++) {
        FigureChange *figure = &entry->figures[i];
        *figure = compare_figure(&now->kind->checked[i], was->best.json, now->best.json, tolerance->of[i]);
        worse = worse || figure->worse;
        better = better || figure->better;
    }
    entry->same_plan = baseline_has_both(entry) && snapshot_same_plan(&was->best, &now->best);
    entry->status = worse ? STATUS_WORSE : better ? STATUS_BETTER : STATUS_SAME;
}

const ReportKind *baseline_kind(const BaselineCheck *check) {
    for (int i = 0; i < check->count; i++) {
        const CheckedEntry *entry = &check->entries[i];
        if (entry->was.kind || entry->now.kind) return entry->was.kind ? entry->was.kind : entry->now.kind;
    }
    return report_kind(NULL);
}

int baseline_count(const BaselineCheck *check, BaselineStatus status) {
    int count = 0;
    for (int i = 0; i < check->count; i++) count += check->entries[i].status == status;
    return count;
}

bool baseline_passes(const BaselineCheck *check) {
    for (int i = 0; i < check->count; i++)
        if (check->entries[i].undecided) return false;
    return baseline_count(check, STATUS_WORSE) == 0 && baseline_count(check, STATUS_ERROR) == 0;
}
