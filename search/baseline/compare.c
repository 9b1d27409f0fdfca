/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What got worse, what better, and because of what: the hashes of a report say which file changed, and the figures that
 * it carries of the file say how. */
#include "search/baseline/baseline_check.h"

#include "base/json.h"
#include "base/util.h"

#include <math.h>
#include <string.h>

const char *baseline_status_name(BaselineStatus status) {
    static const char *const NAMES[STATUS_COUNT] = {"same", "better", "worse", "error", "new"};
    return NAMES[status];
}

/* ---- the tolerance ---- */

bool share_parse(const char *text, const char *where, double *out, Error *error) {
    if (!number_share(text, where, 0, 10, out, error)) return false;
    if (*out <= 1 || strchr(text, '%')) return true; /* a limit of 400% would never be passed */
    return error_set(error, ERROR_INPUT, where, "is %.30s; give a share such as 0.01, or %.30s%%", text, text);
}

bool tolerance_parse(const char *text, const char *where, Tolerance *out, Error *error) {
    bool given[BASELINE_FIGURES] = {false};
    double all;
    if (!strchr(text, '=')) {
        if (!share_parse(text, where, &all, error)) return false;
        for (BaselineFigure figure = 0; figure < BASELINE_FIGURES; figure++) out->of[figure] = all;
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

const char *baseline_change_text(double change, char *text) {
    if (!(fabs(change) < 9.995)) return change_text(change, text);
    double percent = fabs(100 * change);
    if (percent < 0.0995)
        snprintf(text, NUMBER_TEXT_SIZE, "%+.1g%%", 100 * change);
    else
        snprintf(text, NUMBER_TEXT_SIZE, "%+.*f%%", percent < 9.995 ? 2 : percent < 99.95 ? 1 : 0, 100 * change);
    return text;
}

const char *cause_name(CauseKind kind) {
    static const char *const NAMES[CAUSE_COUNT] = {"request", "model",   "chip",    "profile",   "optimizer",
                                                   "data",    "version", "program", "time_limit"};
    return NAMES[kind];
}

/* ---- what of a file's figures can be seen in two reports ---- */

typedef const char *(*Unit)(double value, char *text);

static const char *link_unit(double value, char *text) { return rate_text(value, "B", text); }
static const char *flops_unit(double value, char *text) { return rate_text(value, "FLOP", text); }

static void add_figure(const char *name, double was, double now, Unit unit, Prose *to) {
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], change[NUMBER_TEXT_SIZE];
    if (!(was > 0 && now > 0) || fabs(now / was - 1) < 1e-12) return;
    prose_item(to, ", ", "%s %s -> %s, %s", name, unit(was, a), unit(now, b),
               baseline_change_text(now / was - 1, change));
}

/* A figure of the axes of a mesh: its key, and what it is called of one axis and of several. */
typedef struct {
    const char *key, *one, *many;
    Unit unit;
} AxisFigure;

/* Axes whose figure changed alike are named together: "links of x, y 45.0 GB/s -> 36.0 GB/s". */
static void add_axes(const cJSON *was, const cJSON *now, AxisFigure figure, Prose *to) {
    char names[96] = "";
    double before = 0, after = 0;
    int count = 0;
    const cJSON *axis, *axes = json_at(was, "mesh.axes"), *other = json_at(now, "mesh.axes");
    other = other ? other->child : NULL;
    cJSON_ArrayForEach(axis, axes) {
        double a = json_real_at(axis, figure.key, 0), b = json_real_at(other, figure.key, 0);
        char name[PROSE_NAME_SIZE];
        size_t length = strlen(names);
        if (!other) break;
        other = other->next;
        if (!(a > 0 && b > 0) || a == b || (count > 0 && (a != before || b != after))) continue;
        before = a, after = b;
        snprintf(names + length, sizeof names - length, "%s%.16s", count++ ? ", " : "",
                 clean_name(json_text_at(axis, "name"), name));
    }
    if (count == 0) return;
    char words[128];
    snprintf(words, sizeof words, "%s %s", count > 1 ? figure.many : figure.one, names);
    add_figure(words, before, after, figure.unit, to);
}

static void add_chip(const Snapshot *was, const Snapshot *now, Prose *to) {
    add_axes(was->report, now->report, (AxisFigure){"bytes_per_second", "link of", "links of", link_unit}, to);
    add_axes(was->report, now->report, (AxisFigure){"latency_seconds", "latency of", "latencies of", number_time}, to);
    double limit_was = json_real_at(was->report, "shortfall.limit_bytes", 0),
           limit_now = json_real_at(now->report, "shortfall.limit_bytes", 0);
    if (was->plan_count > 0) limit_was = was->best.hbm_limit_bytes;
    if (now->plan_count > 0) limit_now = now->best.hbm_limit_bytes;
    add_figure("usable HBM", limit_was, limit_now, number_bytes, to);
    if (was->plan_count > 0 && now->plan_count > 0)
        add_figure("peak", was->best.peak_flops, now->best.peak_flops, flops_unit, to);
}

static void add_model(const Snapshot *was, const Snapshot *now, Prose *to) {
    static const struct {
        const char *name, *path;
    } FIGURES[] = {{"parameters", "model.parameters"},
                   {"active parameters", "model.active_parameters"},
                   {"FLOP per token", "model.flops_per_token"}};
    for (size_t i = 0; i < COUNT_OF(FIGURES); i++)
        add_figure(FIGURES[i].name, json_real_at(was->report, FIGURES[i].path, 0),
                   json_real_at(now->report, FIGURES[i].path, 0), number_short, to);
}

/* ---- which file ---- */

typedef enum { UNKNOWN, EQUAL, DIFFERENT } SideAnswer;

static SideAnswer compare_texts(const Snapshot *was, const Snapshot *now, const char *path) {
    const char *a = json_text_at(was->report, path), *b = json_text_at(now->report, path);
    return !a[0] || !b[0] ? UNKNOWN : strcmp(a, b) == 0 ? EQUAL : DIFFERENT;
}

static SideAnswer compare_files(const Snapshot *was, const Snapshot *now, DataPart part) {
    char path[64];
    SideAnswer answer = UNKNOWN;
    if (part == DATA_PROFILE) answer = compare_texts(was, now, "program.data.profile.figures_sha256");
    if (answer != UNKNOWN) return answer;
    snprintf(path, sizeof path, "program.data.%s.sha256", data_part_name(part));
    answer = compare_texts(was, now, path);
    return answer == UNKNOWN && part == DATA_PROFILE ? compare_texts(was, now, "program.profile_sha256") : answer;
}

static Cause *new_cause(CauseKind kind, Cause out[CAUSES_MAX], int *count) {
    out[*count] = (Cause){.kind = kind};
    return &out[(*count)++];
}

static void say_file(const Snapshot *was, const Snapshot *now, DataPart part, Cause *cause) {
    char path[64], file[192], other[192];
    Prose seen = {0};
    snprintf(path, sizeof path, "program.data.%s.file", data_part_name(part));
    clean_text(json_text_at(now->report, path), cause->file, sizeof cause->file);
    if (!cause->file[0]) clean_text(json_text_at(now->report, "program.profile"), cause->file, sizeof cause->file);
    snprintf(file, sizeof file, "%s", cause->file);
    clean_text(json_text_at(was->report, path), other, sizeof other);
    bool other_file = other[0] && strcmp(other, file) != 0;
    if (part == DATA_CHIP && !other_file) add_chip(was, now, &seen);
    if (part == DATA_MODEL && !other_file) add_model(was, now, &seen);
    if (part == DATA_PROFILE && compare_texts(was, now, "program.profile") == DIFFERENT) {
        char a[PROSE_NAME_SIZE], b[PROSE_NAME_SIZE];
        prose_add(&seen, "%s -> %s", clean_name(json_text_at(was->report, "program.profile"), a),
                  clean_name(json_text_at(now->report, "program.profile"), b));
    }
    const char *of = part == DATA_PROFILE ? "the profile's figures for this work changed in " : "";
    if (other_file)
        snprintf(cause->text, sizeof cause->text, "the %s is now %.150s, not %.150s%s%.120s%s", data_part_name(part),
                 file, other, seen.used ? " (" : "", seen.text, seen.used ? ")" : "");
    else
        snprintf(cause->text, sizeof cause->text, "%s%.190s%s%s%.400s%s", of, file, of[0] ? "" : " changed",
                 seen.used ? " (" : "", seen.text, seen.used ? ")" : "");
}

/* Compares the data folder as a whole if the baseline does not record its parts. */
static void find_data(const Snapshot *was, const Snapshot *now, bool parts_known, Cause out[CAUSES_MAX], int *count) {
    if (parts_known || compare_texts(was, now, "program.data_sha256") != DIFFERENT) return;
    Cause *cause = new_cause(CAUSE_DATA, out, count);
    Prose seen = {0};
    add_model(was, now, &seen);
    add_chip(was, now, &seen);
    snprintf(cause->text, sizeof cause->text, "data files changed, and the baseline does not record which%s%.400s%s",
             seen.used ? " (" : "", seen.text, seen.used ? ")" : "");
}

int causes_find(const Snapshot *was, const Snapshot *now, bool edited, bool moved, Cause out[CAUSES_MAX]) {
    static const CauseKind KINDS[DATA_COUNT] = {[DATA_MODEL] = CAUSE_MODEL,
                                                [DATA_CHIP] = CAUSE_CHIP,
                                                [DATA_PROFILE] = CAUSE_PROFILE,
                                                [DATA_OPTIMIZER] = CAUSE_OPTIMIZER};
    int count = 0;
    bool known = true;
    if (edited)
        snprintf(new_cause(CAUSE_REQUEST, out, &count)->text, CAUSE_SIZE,
                 "the baseline's request was edited after it was planned");
    for (DataPart part = 0; part < DATA_COUNT; part++) {
        SideAnswer answer = compare_files(was, now, part);
        known = known && answer != UNKNOWN;
        if (answer == DIFFERENT) say_file(was, now, part, new_cause(KINDS[part], out, &count));
    }
    find_data(was, now, known, out, &count);
    if (was->proven && !now->proven)
        snprintf(new_cause(CAUSE_LIMIT, out, &count)->text, CAUSE_SIZE, "a time limit ended the search");
    const char *before = json_text_at(was->report, "program.version"),
               *after = json_text_at(now->report, "program.version");
    char a[PROSE_NAME_SIZE], b[PROSE_NAME_SIZE];
    if (strcmp(before, after) != 0)
        snprintf(new_cause(CAUSE_VERSION, out, &count)->text, CAUSE_SIZE, "the program changed, %s -> %s",
                 before[0] ? clean_name(before, a) : "a version that the baseline does not record",
                 clean_name(after, b));
    else if (moved && count == 0)
        snprintf(new_cause(CAUSE_PROGRAM, out, &count)->text, CAUSE_SIZE,
                 "the program changed, although its version is still %s and its data files are the same",
                 clean_name(after, a));
    return count;
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

/* Figures as they stand, of a point. */
static void compare_points(const Tolerance *tolerance, CheckedEntry *entry) {
    const ReportKind *kind = entry->now.kind;
    for (int i = 0; i < BASELINE_FIGURES; i++) {
        double was = json_real_at(entry->was.best.json, kind->checked[i].path, 0),
               now = json_real_at(entry->now.best.json, kind->checked[i].path, 0);
        entry->figures[i] = change_of(was, now, ratio_of(was, now), kind->less_is_better[i], tolerance->of[i]);
    }
}

static void compare_plans(const Tolerance *tolerance, CheckedEntry *entry) {
    const SnapshotPlan *was = &entry->was.best, *now = &entry->now.best;
    const double *within = tolerance->of;
    bool ranked = was->ranked_seconds > 0 && now->ranked_seconds > 0;
    double step = ranked ? now->ranked_seconds / was->ranked_seconds : now->seconds / was->seconds;
    bool limits = was->hbm_limit_bytes > 0 && now->hbm_limit_bytes > 0;
    double memory = ratio_of(was->hbm_bytes, now->hbm_bytes);
    if (limits) memory *= was->hbm_limit_bytes / now->hbm_limit_bytes;
    entry->figures[BASELINE_STEP] = change_of(was->seconds, now->seconds, step, true, within[BASELINE_STEP]);
    entry->figures[BASELINE_MFU] =
        change_of(was->mfu, now->mfu, ratio_of(was->mfu, now->mfu), false, within[BASELINE_MFU]);
    entry->figures[BASELINE_MEMORY] = change_of(was->hbm_bytes, now->hbm_bytes, memory, true, within[BASELINE_MEMORY]);
}

static BaselineStatus status_of(const CheckedEntry *entry) {
    bool worse = entry->lost_plan || entry->lost_proof, better = entry->found_plan || entry->found_proof;
    for (BaselineFigure figure = 0; figure < BASELINE_FIGURES; figure++) {
        worse = worse || entry->figures[figure].worse;
        better = better || entry->figures[figure].better;
    }
    return worse ? STATUS_WORSE : better ? STATUS_BETTER : STATUS_SAME;
}

static bool moved(const CheckedEntry *entry) {
    bool any = entry->status != STATUS_SAME;
    for (BaselineFigure figure = 0; figure < BASELINE_FIGURES; figure++)
        any = any || fabs(entry->figures[figure].change) > 1e-9;
    return any;
}

void baseline_compare(const Tolerance *tolerance, CheckedEntry *entry) {
    if (!entry->now.report) {
        entry->status = STATUS_ERROR;
        return;
    }
    if (!entry->has_was) {
        entry->status = STATUS_NEW;
        return;
    }
    const Snapshot *was = &entry->was, *now = &entry->now;
    entry->lost_proof = was->proven && !now->proven;
    /* A search that was cut short has not shown that nothing fits, so the proof is lost as well. */
    entry->lost_plan = was->plan_count > 0 && now->plan_count == 0;
    entry->found_plan = was->plan_count == 0 && now->plan_count > 0;
    entry->found_proof = !was->proven && now->proven;
    if (baseline_has_both(entry)) {
        (now->kind->command ? compare_points : compare_plans)(tolerance, entry);
        entry->same_plan = snapshot_same_plan(&was->best, &now->best);
    }
    entry->status = status_of(entry);
    entry->cause_count = causes_find(was, now, entry->edited, moved(entry), entry->causes);
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
