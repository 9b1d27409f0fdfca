/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a check found, in words. */
#include "search/baseline/baseline_check.h"

#include "base/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- figures ---- */

static double ratio_change(double was, double now) { return was > 0 && now > 0 ? now / was - 1 : 0; }

static void add_change(const FigureChange *figure, Prose *to) {
    char change[NUMBER_TEXT_SIZE];
    if (fabs(figure->change) > 1e-9) prose_add(to, " (%s)", baseline_change_text(figure->change, change));
}

static void add_figures_of_point(const CheckedEntry *entry, Prose *to) {
    for (int i = 0; i < BASELINE_FIGURES; i++) {
        const Field *figure = checked_field(entry->now.kind, i);
        const FigureChange *of = &entry->figures[i];
        char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE];
        prose_item(to, i ? ", " : "; ", "%s %s -> %s", figure->name, figure->unit(of->was, a),
                   figure->unit(of->now, b));
        add_change(of, to);
    }
}

static void add_figures(const CheckedEntry *entry, Prose *to) {
    const FigureChange *step = &entry->figures[BASELINE_STEP], *mfu = &entry->figures[BASELINE_MFU],
                       *memory = &entry->figures[BASELINE_MEMORY];
    const SnapshotPlan *was = &entry->was.best, *now = &entry->now.best;
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], limit[NUMBER_TEXT_SIZE];
    const char *objective = json_text_at(entry->now.report, "request.objective");
    prose_item(to, "; ", "step %s -> %s", step_text(step->was, a), step_text(step->now, b));
    if (objective[0] && strcmp(objective, "time") != 0)
        prose_add(to, ", by %.20s", objective);
    else if (fabs(step->now / step->was - 1 - step->change) > 1e-6)
        prose_add(to, ", in rank"); /* for as many tokens, with what is odd */
    add_change(step, to);
    prose_item(to, ", ", "MFU %s -> %s", share_text(mfu->was, a), share_text(mfu->now, b));
    add_change(mfu, to);
    prose_item(to, ", ", "HBM %s", number_bytes(memory->was, a));
    bool moved_limit = fabs(ratio_change(was->hbm_limit_bytes, now->hbm_limit_bytes)) > 1e-9;
    if (moved_limit) prose_add(to, " of %s", number_bytes(was->hbm_limit_bytes, limit));
    prose_add(to, " -> %s", number_bytes(memory->now, b));
    if (now->hbm_limit_bytes > 0) prose_add(to, " of %s", number_bytes(now->hbm_limit_bytes, limit));
    add_change(memory, to);
}

static void add_lost_plan(const Snapshot *now, Prose *to) {
    char needed[NUMBER_TEXT_SIZE], limit[NUMBER_TEXT_SIZE], label[PROSE_NAME_SIZE];
    double bytes = json_real_at(now->report, "shortfall.needed_bytes", 0),
           room = json_real_at(now->report, "shortfall.limit_bytes", 0);
    prose_item(to, "; ", now->proven ? "no %s fits any more" : "no %s was found before the limit", now->kind->one);
    if (bytes > 0 && room > 0)
        prose_add(to, ": the nearest plan, %s, needs %s of HBM, and only %s are usable",
                  clean_name(json_text_at(now->report, "shortfall.notation"), label), number_bytes(bytes, needed),
                  number_bytes(room, limit));
}

/* Compares a plan that is launched with the best. */
static void add_launched(const BaselineCheck *check, const CheckedEntry *entry, Prose *to) {
    const FigureChange *step = &entry->figures[BASELINE_STEP];
    char best[NUMBER_TEXT_SIZE], own[NUMBER_TEXT_SIZE], slower[NUMBER_TEXT_SIZE], within[NUMBER_TEXT_SIZE];
    char needed[NUMBER_TEXT_SIZE], limit[NUMBER_TEXT_SIZE];
    double bytes = json_real_at(entry->now.report, "shortfall.needed_bytes", 0),
           room = json_real_at(entry->now.report, "shortfall.limit_bytes", 0);
    if (entry->now.plan_count == 0) {
        if (bytes > 0)
            prose_add(to, "does not fit: it needs %s of HBM, and only %s are usable", number_bytes(bytes, needed),
                      number_bytes(room, limit));
        else
            prose_add(to, "does not fit or is not in this search space");
        prose_add(to, "; the best plan takes %s", step_text(entry->was.best.seconds, best));
        return;
    }
    prose_add(to, "takes %s, the best plan %s", step_text(step->now, own), step_text(step->was, best));
    if (fabs(step->change) < 5e-4)
        prose_add(to, ": it is as fast");
    else
        prose_add(to, ": it is %s slower%s, and %s is allowed", (baseline_change_text(step->change, slower) + 1),
                  fabs(step->now / step->was - 1 - step->change) > 1e-6 ? " in rank" : "",
                  share_text(check->tolerance.of[BASELINE_STEP], within));
    prose_add(to, "; its MFU is %s, that of the best plan %s", share_text(entry->now.best.mfu, own),
              share_text(entry->was.best.mfu, best));
}

static void add_what(const CheckedEntry *entry, Prose *to) {
    char text[sizeof entry->message];
    if (entry->status == STATUS_ERROR) {
        prose_add(to, "cannot be planned: %s", clean_text(entry->message, text, sizeof text));
        return;
    }
    if (entry->lost_plan) add_lost_plan(&entry->now, to);
    if (entry->found_plan) prose_item(to, "; ", "a plan fits now, and none did before");
    if (entry->lost_proof && !entry->lost_plan)
        prose_item(to, "; ", "the plan is not proven any more: the best may be %.2g%% faster", 100 * entry->now.gap);
    if (entry->found_proof) prose_item(to, "; ", "the plan is proven now");
    if (baseline_has_both(entry)) (entry->now.kind->command ? add_figures_of_point : add_figures)(entry, to);
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
        if (fabs(change) < 1e-3 * entry->was.best.seconds) break;
        prose_item(to, ", ", "%s %s%s", clean_name(parts[i].name, name), change > 0 ? "+" : "-",
                   number_time(fabs(change), time));
    }
}

static void add_plan(const CheckedEntry *entry, Prose *to) {
    char time[NUMBER_TEXT_SIZE], change[NUMBER_TEXT_SIZE];
    const SnapshotPlan *was = &entry->was.best, *now = &entry->now.best;
    if (!entry->has_was || entry->was.plan_count == 0) return;
    if (baseline_has_both(entry)) {
        Prose changes = {0};
        snapshot_plan_changes(was, now, &changes);
        if (entry->same_plan)
            prose_add(to, "%s, as before", now->label);
        else if (strcmp(was->label, now->label) != 0)
            prose_add(to, "%s -> %s%s%s", was->label, now->label, changes.used ? ", " : "", changes.text);
        else
            prose_add(to, "%s, with %s", now->label, changes.used ? changes.text : "other knobs");
    } else {
        prose_add(to, "%s before", was->label);
    }
    if (entry->old_plan == OLD_PLAN_TOO_LARGE) prose_add(to, "; the previous plan does not fit any more");
    if (entry->old_plan == OLD_PLAN_NONE) prose_add(to, "; the previous plan is not in this search space any more");
    if (entry->old_plan != OLD_PLAN_PRICED) return;
    double moved = entry->old_plan_seconds / was->seconds - 1;
    if (fabs(moved) < 1e-9)
        prose_add(to, "; the previous plan still takes %s: the search no longer finds it",
                  step_text(entry->old_plan_seconds, time));
    else
        prose_add(to, "; the previous plan now takes %s (%s)", step_text(entry->old_plan_seconds, time),
                  baseline_change_text(moved, change));
}

const char *baseline_heading(BaselineLine line) {
    static const char *const HEADINGS[BASELINE_LINES] = {"", "because: ", "in the step: ", "plan: "};
    return HEADINGS[line];
}

void baseline_words(const BaselineCheck *check, const CheckedEntry *entry, BaselineWords *out) {
    Prose *line = out->line;
    memset(out, 0, sizeof *out);
    add_terms(entry, &line[BASELINE_TERMS]);
    if (!check->baseline) {
        add_launched(check, entry, &line[BASELINE_WHAT]);
        prose_add(&line[BASELINE_PLAN], "%s is the best", entry->was.best.label);
        if (entry->now.plan_count > 0) prose_add(&line[BASELINE_PLAN], ", %s is launched", entry->now.best.label);
        return;
    }
    add_what(entry, &line[BASELINE_WHAT]);
    for (int i = 0; i < entry->cause_count; i++) prose_item(&line[BASELINE_CAUSE], "; ", "%s", entry->causes[i].text);
    add_plan(entry, &line[BASELINE_PLAN]);
}

/* ---- all of them ---- */

/* "1.0%", or each figure's own. */
static void add_tolerance(const BaselineCheck *check, Prose *to) {
    const double *of = check->tolerance.of;
    bool one = of[BASELINE_STEP] == of[BASELINE_MFU] && of[BASELINE_STEP] == of[BASELINE_MEMORY];
    prose_add(to, "tolerance ");
    for (BaselineFigure figure = 0; figure < (one ? 1 : BASELINE_FIGURES); figure++)
        prose_add(to, "%s%s%s%.4g%%", figure ? ", " : "", one ? "" : baseline_kind(check)->checked[figure].key,
                  one ? "" : " ", 100 * of[figure]);
}

static void add_count(int count, const char *one, const char *many, Prose *to) {
    if (count > 0) prose_item(to, ", ", "%d %s", count, count == 1 ? one : many);
}

static void add_updated(const BaselineCheck *check, const char *file, Prose *to) {
    Prose counts = {0};
    add_count(baseline_count(check, STATUS_WORSE), "worse", "worse", &counts);
    add_count(baseline_count(check, STATUS_BETTER), "better", "better", &counts);
    add_count(baseline_count(check, STATUS_NEW), "new", "new", &counts);
    prose_add(to, "%s is rewritten with %d plan%s: %s.", file, check->count, check->count == 1 ? "" : "s",
              counts.used ? counts.text : "all are unchanged");
}

/* Lists what changed, each with the number of changed plans that depend on it. */
static void add_causes(const BaselineCheck *check, Prose *to) {
    Prose list = {0};
    for (int i = 0; i < check->count; i++) {
        const CheckedEntry *entry = &check->entries[i];
        for (int c = 0; c < entry->cause_count && entry->status != STATUS_SAME; c++) {
            const Cause *cause = &entry->causes[c];
            int count = 0;
            bool said = false;
            for (int j = 0; j < check->count; j++)
                for (int k = 0; k < check->entries[j].cause_count && check->entries[j].status != STATUS_SAME; k++) {
                    const Cause *other = &check->entries[j].causes[k];
                    if (other->kind != cause->kind || strcmp(other->file, cause->file) != 0) continue;
                    said = said || j < i;
                    count++;
                }
            if (said) continue;
            const char *name = cause->kind == CAUSE_PROGRAM || cause->kind == CAUSE_VERSION ? "the program"
                               : cause->kind == CAUSE_REQUEST                               ? "the request"
                               : cause->kind == CAUSE_LIMIT                                 ? "the time limit"
                               : cause->kind == CAUSE_DATA                                  ? "data files"
                                                                                            : cause->file;
            prose_item(&list, ", ", "%s (%d plan%s)", name, count, count == 1 ? "" : "s");
        }
    }
    if (list.used) prose_add(to, " What changed: %s.", list.text);
}

void baseline_headline(const BaselineCheck *check, Prose *out) {
    char file[PROSE_NAME_SIZE];
    int worse = baseline_count(check, STATUS_WORSE), errors = baseline_count(check, STATUS_ERROR),
        better = baseline_count(check, STATUS_BETTER);
    *out = (Prose){0};
    if (!check->baseline) {
        BaselineWords words;
        baseline_words(check, check->entries, &words);
        char name[PROSE_SIZE];
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
        prose_add(out, "%s %d plan%s %s as good as in %s (", check->count == 1 ? "The" : "All", check->count,
                  check->count == 1 ? "" : "s", check->count == 1 ? "is" : "are", file);
        add_tolerance(check, out);
        prose_add(out, ")");
        if (better > 0) prose_add(out, ", %d of them better", better);
        prose_add(out, ".");
    } else {
        prose_add(out, "%d of %d plan%s %s worse than in %s (", worse, check->count, check->count == 1 ? "" : "s",
                  worse == 1 ? "is" : "are", file);
        add_tolerance(check, out);
        prose_add(out, ")");
        if (errors > 0) prose_add(out, ", %d cannot be planned any more", errors);
        if (better > 0) prose_add(out, ", %d %s better", better, better == 1 ? "is" : "are");
        prose_add(out, ".");
    }
    add_causes(check, out);
}

void baseline_hint(const BaselineCheck *check, Prose *out) {
    char file[PROSE_NAME_SIZE];
    *out = (Prose){0};
    if (!check->baseline || check->updated) return;
    clean_name(check->baseline, file);
    if (!baseline_passes(check))
        prose_add(out, "If this is intended, shardopt check --baseline %s --update makes these plans the baseline.",
                  file);
    else if (baseline_count(check, STATUS_BETTER) > 0)
        prose_add(out, "shardopt check --baseline %s --update makes the better plans the baseline.", file);
}
