/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Because of what: the hashes say which file changed, and the figures that a report carries of it say how. */
#include "search/baseline/baseline_check.h"

#include "base/json.h"
#include "base/util.h"

#include <math.h>
#include <string.h>

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
    prose_item(to, ", ", "%s %s -> %s, %s", name, unit(was, a), unit(now, b), gate_change_text(now / was - 1, change));
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
        double a = snapshot_real(axis, figure.key), b = snapshot_real(other, figure.key);
        char name[PROSE_NAME_SIZE];
        size_t length = strlen(names);
        if (!other) break;
        other = other->next;
        if (!(a > 0 && b > 0) || a == b || (count > 0 && (a != before || b != after))) continue;
        before = a, after = b;
        snprintf(names + length, sizeof names - length, "%s%.16s", count++ ? ", " : "",
                 clean_name(snapshot_text(axis, "name"), name));
    }
    if (count == 0) return;
    char words[128];
    snprintf(words, sizeof words, "%s %s", count > 1 ? figure.many : figure.one, names);
    add_figure(words, before, after, figure.unit, to);
}

static void add_chip(const Snapshot *was, const Snapshot *now, Prose *to) {
    add_axes(was->report, now->report, (AxisFigure){"bytes_per_second", "link of", "links of", link_unit}, to);
    add_axes(was->report, now->report, (AxisFigure){"latency_seconds", "latency of", "latencies of", number_time}, to);
    double limit_was = snapshot_real(was->report, "shortfall.limit_bytes"),
           limit_now = snapshot_real(now->report, "shortfall.limit_bytes");
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
        add_figure(FIGURES[i].name, snapshot_real(was->report, FIGURES[i].path),
                   snapshot_real(now->report, FIGURES[i].path), number_short, to);
}

/* ---- which file ---- */

typedef enum { UNKNOWN, EQUAL, DIFFERENT } SideAnswer;

static SideAnswer compare_texts(const Snapshot *was, const Snapshot *now, const char *path) {
    const char *a = snapshot_text(was->report, path), *b = snapshot_text(now->report, path);
    return !a[0] || !b[0] ? UNKNOWN : strcmp(a, b) == 0 ? EQUAL : DIFFERENT;
}

static SideAnswer compare_files(const Snapshot *was, const Snapshot *now, DataPart part) {
    char path[64];
    SideAnswer answer = UNKNOWN;
    if (part == DATA_PROFILE) answer = compare_texts(was, now, "program.data.profile.figures_sha256");
    if (answer != UNKNOWN) return answer;
    snprintf(path, sizeof path, "program.data.%s.sha256", data_part_name(part));
    return compare_texts(was, now, path);
}

static Cause *new_cause(CauseKind kind, Cause out[CAUSES_MAX], int *count) {
    out[*count] = (Cause){.kind = kind};
    return &out[(*count)++];
}

static void say_file(const Snapshot *was, const Snapshot *now, DataPart part, Cause *cause) {
    char path[64], file[192], other[192];
    Prose seen = {0};
    snprintf(path, sizeof path, "program.data.%s.file", data_part_name(part));
    clean_text(snapshot_text(now->report, path), cause->file, sizeof cause->file);
    snprintf(file, sizeof file, "%s", cause->file);
    clean_text(snapshot_text(was->report, path), other, sizeof other);
    bool other_file = other[0] && strcmp(other, file) != 0;
    if (part == DATA_CHIP && !other_file) add_chip(was, now, &seen);
    if (part == DATA_MODEL && !other_file) add_model(was, now, &seen);
    if (part == DATA_PROFILE && compare_texts(was, now, "program.profile") == DIFFERENT) {
        char a[PROSE_NAME_SIZE], b[PROSE_NAME_SIZE];
        prose_add(&seen, "%s -> %s", clean_name(snapshot_text(was->report, "program.profile"), a),
                  clean_name(snapshot_text(now->report, "program.profile"), b));
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
    const char *before = snapshot_text(was->report, "program.version"),
               *after = snapshot_text(now->report, "program.version");
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
