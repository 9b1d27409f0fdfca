/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a check found, in words. */
#include "search/baseline/baseline_check.h"

#include "base/json.h"
#include "base/util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- figures ---- */

/* Judged by another figure than the one that is shown. */
static bool is_by_rank(const FigureChange *figure) {
    return fabs(figure->now / figure->was - 1 - figure->change) > 1e-6;
}

/* " of 16.0 GB": what a figure is a share of. */
static void add_whole(double whole, FieldUnit *unit, Prose *to) {
    char text[NUMBER_TEXT_SIZE];
    if (whole > 0) prose_add(to, " of %s", unit(whole, text));
}

static void add_figure(const CheckedEntry *entry, int i, Prose *to) {
    const CheckedFigure *checked = &entry->now.kind->checked[i];
    const FigureChange *figure = &entry->figures[i];
    const Field *field = checked_field(entry->now.kind, i);
    const char *objective = json_text_at(entry->now.report, "request.objective");
    char text[NUMBER_TEXT_SIZE];
    double was = checked->of ? json_real_at(entry->was.best.json, checked->of, 0) : 0,
           now = checked->of ? json_real_at(entry->now.best.json, checked->of, 0) : 0;
    prose_item(to, i ? ", " : "; ", "%s %s", field->name, field->unit(figure->was, text));
    if (was > 0 && now > 0 && fabs(now / was - 1) > 1e-9) add_whole(was, field->unit, to);
    prose_add(to, " -> %s", field->unit(figure->now, text));
    add_whole(now, field->unit, to);
    if (checked->judged && objective[0] && strcmp(objective, "time") != 0)
        prose_add(to, ", by %.20s", objective);
    else if (checked->judged && is_by_rank(figure))
        prose_add(to, ", in rank"); /* for as many tokens, with what is odd */
    if (fabs(figure->change) > 1e-9) prose_add(to, " (%s)", baseline_change_text(figure->change, text));
}

/* "needs 18.0 GB of HBM, and only 16.0 GB are usable", behind `before`; false: the report does not say. */
static bool add_shortfall(const Snapshot *of, const char *before, Prose *to) {
    char needed[NUMBER_TEXT_SIZE], limit[NUMBER_TEXT_SIZE];
    double bytes = json_real_at(of->report, "shortfall.needed_bytes", 0),
           room = json_real_at(of->report, "shortfall.limit_bytes", 0);
    if (!(bytes > 0 && room > 0)) return false;
    prose_add(to, "%s needs %s of HBM, and only %s are usable", before, number_bytes(bytes, needed),
              number_bytes(room, limit));
    return true;
}

static void add_what(const CheckedEntry *entry, Prose *to) {
    const Snapshot *now = &entry->now;
    char text[sizeof entry->message], label[PROSE_NAME_SIZE], nearest[PROSE_NAME_SIZE + 32];
    if (entry->status == STATUS_ERROR)
        prose_add(to, "cannot be planned: %s", clean_text(entry->message, text, sizeof text));
    if (entry->lost_plan) {
        snprintf(nearest, sizeof nearest, ": the nearest plan, %s,",
                 clean_name(json_text_at(now->report, "shortfall.notation"), label));
        prose_add(to, now->proven ? "no %s fits any more" : "no %s was found before the limit", now->kind->one);
        add_shortfall(now, nearest, to);
    }
    if (entry->found_plan) prose_item(to, "; ", "a plan fits now, and none did before");
    if (entry->lost_proof && !entry->lost_plan)
        prose_item(to, "; ", "the plan is not proven any more: the best may be %.2g%% faster",
                   100 * json_real_at(now->report, "search.gap", 0));
    if (entry->found_proof) prose_item(to, "; ", "the plan is proven now");
    for (int i = 0; i < CHECKED_FIGURES && baseline_has_both(entry); i++) add_figure(entry, i, to);
}

/* Compares a plan that is launched with the best. */
static void add_launched(const BaselineCheck *check, const CheckedEntry *entry, Prose *to) {
    const FigureChange *step = &entry->figures[0], *mfu = &entry->figures[1];
    char best[NUMBER_TEXT_SIZE], own[NUMBER_TEXT_SIZE], slower[NUMBER_TEXT_SIZE], within[NUMBER_TEXT_SIZE];
    if (entry->now.plan_count == 0) {
        if (!add_shortfall(&entry->now, "does not fit: it", to))
            prose_add(to, "does not fit or is not in this search space");
        prose_add(to, "; the best plan takes %s", step_text(json_real_at(entry->was.best.step, "seconds", 0), best));
        return;
    }
    prose_add(to, "takes %s, the best plan %s", step_text(step->now, own), step_text(step->was, best));
    if (fabs(step->change) < 5e-4)
        prose_add(to, ": it is as fast");
    else
        prose_add(to, ": it is %s slower%s, and %s is allowed", baseline_change_text(step->change, slower) + 1,
                  is_by_rank(step) ? " in rank" : "", share_text(check->tolerance.of[0], within));
    prose_add(to, "; its MFU is %s, that of the best plan %s", share_text(mfu->now, own), share_text(mfu->was, best));
}

/* ---- why ---- */

static int by_size(const void *a, const void *b) {
    double x = fabs(((const PartChange *)a)->now - ((const PartChange *)a)->was),
           y = fabs(((const PartChange *)b)->now - ((const PartChange *)b)->was);
    return (x < y) - (x > y);
}

/* The parts of the step that moved most, as far as they are a thousandth of it. */
static void add_terms(const CheckedEntry *entry, Prose *to) {
    enum { SHOWN = 4 };
    PartChange parts[PART_CHANGES_MAX];
    char time[NUMBER_TEXT_SIZE], name[PROSE_NAME_SIZE];
    if (!baseline_has_both(entry)) return;
    int count = snapshot_step_changes(&entry->was.best, &entry->now.best, parts);
    qsort(parts, (size_t)count, sizeof *parts, by_size);
    for (int i = 0; i < count && i < SHOWN; i++) {
        double change = parts[i].now - parts[i].was;
        if (fabs(change) < 1e-3 * json_real_at(entry->was.best.step, "seconds", 0)) break;
        prose_item(to, ", ", "%s %s%s", clean_name(parts[i].name, name), change > 0 ? "+" : "-",
                   number_time(fabs(change), time));
    }
}

static void add_plan(const CheckedEntry *entry, Prose *to) {
    char time[NUMBER_TEXT_SIZE], change[NUMBER_TEXT_SIZE];
    const char *was = entry->was.best.label, *now = entry->now.best.label;
    Prose changes = {0};
    if (!entry->has_was || entry->was.plan_count == 0) return;
    if (baseline_has_both(entry)) snapshot_plan_changes(&entry->was.best, &entry->now.best, &changes);
    if (!baseline_has_both(entry))
        prose_add(to, "%s before", was);
    else if (entry->same_plan)
        prose_add(to, "%s, as before", now);
    else if (strcmp(was, now) != 0)
        prose_add(to, "%s -> %s%s%s", was, now, changes.used ? ", " : "", changes.text);
    else
        prose_add(to, "%s, with %s", now, changes.text);
    if (entry->old_plan == OLD_PLAN_TOO_LARGE) prose_add(to, "; the previous plan does not fit any more");
    if (entry->old_plan == OLD_PLAN_NONE) prose_add(to, "; the previous plan is not in this search space any more");
    if (entry->old_plan != OLD_PLAN_PRICED) return;
    double moved = entry->old_plan_seconds / json_real_at(entry->was.best.step, "seconds", 0) - 1;
    step_text(entry->old_plan_seconds, time);
    if (fabs(moved) < 1e-9)
        prose_add(to, "; the previous plan still takes %s: the search no longer finds it", time);
    else
        prose_add(to, "; the previous plan now takes %s (%s)", time, baseline_change_text(moved, change));
}

const char *baseline_heading(BaselineLine line) {
    static const char *const HEADINGS[BASELINE_LINES] = {"", "because: ", "in the step: ", "plan: "};
    return HEADINGS[line];
}

void baseline_words(const BaselineCheck *check, const CheckedEntry *entry, BaselineWords *out) {
    Prose *line = out->line;
    Cause causes[CAUSES_MAX];
    memset(out, 0, sizeof *out);
    add_terms(entry, &line[BASELINE_TERMS]);
    if (!check->baseline) {
        add_launched(check, entry, &line[BASELINE_WHAT]);
        prose_add(&line[BASELINE_PLAN], "%s is the best", entry->was.best.label);
        if (entry->now.plan_count > 0) prose_add(&line[BASELINE_PLAN], ", %s is launched", entry->now.best.label);
        return;
    }
    add_what(entry, &line[BASELINE_WHAT]);
    for (int i = 0, count = baseline_causes(entry, causes); i < count; i++)
        prose_item(&line[BASELINE_CAUSE], "; ", "%s", causes[i].text);
    add_plan(entry, &line[BASELINE_PLAN]);
}

/* ---- all of them ---- */

/* "(tolerance 1%)", or each figure's own. */
static void add_tolerance(const BaselineCheck *check, Prose *to) {
    const double *of = check->tolerance.of;
    bool one = of[0] == of[1] && of[0] == of[2];
    for (int i = 0; i < (one ? 1 : CHECKED_FIGURES); i++)
        prose_add(to, "%s%s%s%.4g%%", i ? ", " : " (tolerance ", one ? "" : baseline_kind(check)->checked[i].key,
                  one ? "" : " ", 100 * of[i]);
    prose_add(to, ")");
}

static void add_updated(const BaselineCheck *check, const char *file, Prose *to) {
    static const BaselineStatus SAID[] = {STATUS_WORSE, STATUS_BETTER, STATUS_NEW};
    Prose counts = {0};
    for (size_t i = 0; i < COUNT_OF(SAID); i++)
        if (baseline_count(check, SAID[i]) > 0)
            prose_item(&counts, ", ", "%d %s", baseline_count(check, SAID[i]), baseline_status_name(SAID[i]));
    prose_add(to, "%s is rewritten with %d plan%s: %s.", file, check->count, check->count == 1 ? "" : "s",
              counts.used ? counts.text : "all are unchanged");
}

/* Lists what changed, each with the number of changed plans that depend on it. */
static void add_causes(const BaselineCheck *check, Prose *to) {
    enum { NAMES_MAX = 128 }; /* all others go unsaid */
    struct {
        char name[192];
        int plans;
    } seen[NAMES_MAX];
    Prose list = {0};
    int names = 0;
    for (int i = 0; i < check->count; i++) {
        Cause causes[CAUSES_MAX];
        int count = check->entries[i].status == STATUS_SAME ? 0 : baseline_causes(&check->entries[i], causes);
        for (int c = 0; c < count; c++) {
            const char *name = causes[c].what ? causes[c].what : causes[c].file;
            int k = 0;
            while (k < names && strcmp(seen[k].name, name) != 0) k++;
            if (k == NAMES_MAX) continue;
            if (k == names) snprintf(seen[names++].name, sizeof seen->name, "%s", name), seen[k].plans = 0;
            seen[k].plans++;
        }
    }
    for (int k = 0; k < names; k++)
        prose_item(&list, ", ", "%s (%d plan%s)", seen[k].name, seen[k].plans, seen[k].plans == 1 ? "" : "s");
    if (list.used) prose_add(to, " What changed: %s.", list.text);
}

void baseline_headline(const BaselineCheck *check, Prose *out) {
    char file[PROSE_NAME_SIZE], name[PROSE_SIZE];
    int worse = baseline_count(check, STATUS_WORSE), errors = baseline_count(check, STATUS_ERROR),
        better = baseline_count(check, STATUS_BETTER), count = check->count;
    *out = (Prose){0};
    if (!check->baseline) {
        BaselineWords words;
        baseline_words(check, check->entries, &words);
        prose_add(out, "%s: %s: the plan %s.",
                  check->entries->undecided ? "not decided"
                  : baseline_passes(check)  ? "passed"
                                            : "FAILED",
                  clean_text(check->entries->name, name, sizeof name), words.line[BASELINE_WHAT].text);
        return;
    }
    clean_name(check->baseline, file);
    if (check->updated) {
        add_updated(check, file, out);
    } else if (worse + errors == 0) {
        prose_add(out, "%s %d plan%s %s as good as in %s", count == 1 ? "The" : "All", count, count == 1 ? "" : "s",
                  count == 1 ? "is" : "are", file);
        add_tolerance(check, out);
        if (better > 0) prose_add(out, ", %d of them better", better);
        prose_add(out, ".");
    } else {
        prose_add(out, "%d of %d plan%s %s worse than in %s", worse, count, count == 1 ? "" : "s",
                  worse == 1 ? "is" : "are", file);
        add_tolerance(check, out);
        if (errors > 0) prose_add(out, ", %d cannot be planned any more", errors);
        if (better > 0) prose_add(out, ", %d %s better", better, better == 1 ? "is" : "are");
        prose_add(out, ".");
    }
    add_causes(check, out);
}

void baseline_hint(const BaselineCheck *check, Prose *out) {
    char file[PROSE_NAME_SIZE];
    bool passes = baseline_passes(check);
    *out = (Prose){0};
    if (!check->baseline || check->updated || (passes && baseline_count(check, STATUS_BETTER) == 0)) return;
    prose_add(out, "%sshardopt check --baseline %s --update makes %s plans the baseline%s.",
              passes ? "" : "If this is intended, ", clean_name(check->baseline, file), passes ? "the better" : "these",
              baseline_count(check, STATUS_ERROR) > 0 ? ", once those that cannot be planned are taken out" : "");
}
