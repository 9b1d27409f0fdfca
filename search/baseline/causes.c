/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Because of what two answers differ: the hashes of a report say which file changed, and the figures that it carries of
 * the file say how. */
#include "search/baseline/baseline_check.h"

#include "base/json.h"
#include "base/util.h"
#include "search/report/report.h"

#include <math.h>
#include <string.h>

/* ---- figures of a file that can be seen in two reports ---- */

static const char *link_unit(double value, char *text) { return rate_text(value, "B", text); }
static const char *flops_unit(double value, char *text) { return rate_text(value, "FLOP", text); }

/* The figures of a part: where the best plan has them, and the report where the plan has not. */
static const struct {
    DataPart part;
    const char *name, *in_plan, *in_report;
    FieldUnit *unit;
} FIGURES[] = {
    {DATA_MODEL, "parameters", NULL, "model.parameters", number_short},
    {DATA_MODEL, "active parameters", NULL, "model.active_parameters", number_short},
    {DATA_MODEL, "FLOP per token", NULL, "model.flops_per_token", number_short},
    {DATA_CHIP, "usable HBM", "memory.limit_bytes", "shortfall.limit_bytes", number_bytes},
    {DATA_CHIP, "peak", "peak_flops_per_chip", NULL, flops_unit},
};

static void add_figure(const char *name, double was, double now, FieldUnit *unit, Prose *to) {
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], change[NUMBER_TEXT_SIZE];
    if (!(was > 0 && now > 0) || fabs(now / was - 1) < 1e-12) return;
    prose_item(to, ", ", "%s %s -> %s, %s", name, unit(was, a), unit(now, b),
               baseline_change_text(now / was - 1, change));
}

/* Axes whose figure changed alike are named together: "links of x, y 45.0 GB/s -> 36.0 GB/s". */
static void add_axes(const cJSON *was, const cJSON *now, const char *key, FieldUnit *unit, Prose *to) {
    char words[128], name[PROSE_NAME_SIZE];
    bool links = unit == link_unit;
    Prose names = {0};
    double before = 0, after = 0;
    int count = 0;
    const cJSON *axis = json_at(was, "mesh.axes"), *other = json_at(now, "mesh.axes");
    axis = axis ? axis->child : NULL, other = other ? other->child : NULL;
    for (; axis && other; axis = axis->next, other = other->next) {
        double a = json_real_at(axis, key, 0), b = json_real_at(other, key, 0);
        if (!(a > 0 && b > 0) || a == b || (count > 0 && (a != before || b != after))) continue;
        before = a, after = b, count++;
        prose_item(&names, ", ", "%.16s", clean_name(json_text_at(axis, "name"), name));
    }
    const char *one = links ? "link" : "latency", *many = links ? "links" : "latencies";
    snprintf(words, sizeof words, "%s of %.90s", count > 1 ? many : one, names.text);
    if (count > 0) add_figure(words, before, after, unit, to);
}

static double value_in(const Snapshot *of, size_t i) {
    if (of->plan_count > 0 && FIGURES[i].in_plan) return json_real_at(of->best.json, FIGURES[i].in_plan, 0);
    return FIGURES[i].in_report ? json_real_at(of->report, FIGURES[i].in_report, 0) : 0;
}

static void add_part(const Snapshot *was, const Snapshot *now, DataPart part, Prose *to) {
    if (part == DATA_CHIP) {
        add_axes(was->report, now->report, "bytes_per_second", link_unit, to);
        add_axes(was->report, now->report, "latency_seconds", number_time, to);
    }
    for (size_t i = 0; i < COUNT_OF(FIGURES); i++)
        if (FIGURES[i].part == part)
            add_figure(FIGURES[i].name, value_in(was, i), value_in(now, i), FIGURES[i].unit, to);
}

/* ---- which file ---- */

typedef enum { UNKNOWN, EQUAL, DIFFERENT } SideAnswer;

static SideAnswer compare_texts(const Snapshot *was, const Snapshot *now, const char *path) {
    const char *a = json_text_at(was->report, path), *b = json_text_at(now->report, path);
    return !a[0] || !b[0] ? UNKNOWN : strcmp(a, b) == 0 ? EQUAL : DIFFERENT;
}

/* By the first of its hashes that both have: the profile's figures for this work, the file, and an older name. */
static SideAnswer compare_files(const Snapshot *was, const Snapshot *now, DataPart part) {
    char path[64];
    snprintf(path, sizeof path, "program.data.%s.sha256", data_part_name(part));
    const char *const PATHS[] = {"program.data.profile.figures_sha256", path, "program.profile_sha256"};
    SideAnswer answer = UNKNOWN;
    for (size_t i = 0; i < COUNT_OF(PATHS) && answer == UNKNOWN; i++)
        if (part == DATA_PROFILE || PATHS[i] == path) answer = compare_texts(was, now, PATHS[i]);
    return answer;
}

static void say_file(const Snapshot *was, const Snapshot *now, DataPart part, Cause *cause) {
    char path[64], other[192], a[PROSE_NAME_SIZE], b[PROSE_NAME_SIZE];
    const char *name = data_part_name(part), *file = cause->file;
    Prose seen = {0};
    snprintf(path, sizeof path, "program.data.%s.file", name);
    clean_text(json_text_at(now->report, path), cause->file, sizeof cause->file);
    if (!file[0]) clean_text(json_text_at(now->report, "program.profile"), cause->file, sizeof cause->file);
    clean_text(json_text_at(was->report, path), other, sizeof other);
    bool moved = other[0] && strcmp(other, file) != 0, figures = part == DATA_PROFILE;
    if (!moved) add_part(was, now, part, &seen);
    if (figures && compare_texts(was, now, "program.profile") == DIFFERENT)
        prose_add(&seen, "%s -> %s", clean_name(json_text_at(was->report, "program.profile"), a),
                  clean_name(json_text_at(now->report, "program.profile"), b));
    Prose text = {0};
    if (moved)
        prose_add(&text, "the %s is now %.150s, not %.150s", name, file, other);
    else
        prose_add(&text, figures ? "the profile's figures for this work changed in %.190s" : "%.190s changed", file);
    if (seen.used) prose_add(&text, " (%.*s)", moved ? 120 : 400, seen.text);
    snprintf(cause->text, sizeof cause->text, "%.895s", text.text);
}

static Cause *new_cause(const char *kind, const char *what, Cause out[CAUSES_MAX], int *count) {
    out[*count] = (Cause){.kind = kind, .what = what};
    return &out[(*count)++];
}

int causes_find(const Snapshot *was, const Snapshot *now, bool edited, bool moved, Cause out[CAUSES_MAX]) {
    int count = 0;
    bool known = true;
    if (edited)
        snprintf(new_cause("request", "the request", out, &count)->text, CAUSE_SIZE,
                 "the baseline's request was edited after it was planned");
    for (DataPart part = 0; part < DATA_COUNT; part++) {
        SideAnswer answer = compare_files(was, now, part);
        known = known && answer != UNKNOWN;
        if (answer == DIFFERENT) say_file(was, now, part, new_cause(data_part_name(part), NULL, out, &count));
    }
    if (!known && compare_texts(was, now, "program.data_sha256") == DIFFERENT) {
        Prose seen = {0};
        add_part(was, now, DATA_MODEL, &seen);
        add_part(was, now, DATA_CHIP, &seen);
        snprintf(new_cause("data", "data files", out, &count)->text, CAUSE_SIZE,
                 "data files changed, and the baseline does not record which%s%.400s%s", seen.used ? " (" : "",
                 seen.text, seen.used ? ")" : "");
    }
    if (was->proven && !now->proven)
        snprintf(new_cause("time_limit", "the time limit", out, &count)->text, CAUSE_SIZE,
                 "a time limit ended the search");
    const char *before = json_text_at(was->report, "program.version"),
               *after = json_text_at(now->report, "program.version");
    char a[PROSE_NAME_SIZE], b[PROSE_NAME_SIZE];
    if (strcmp(before, after) != 0)
        snprintf(new_cause("version", "the program", out, &count)->text, CAUSE_SIZE, "the program changed, %s -> %s",
                 before[0] ? clean_name(before, a) : "a version that the baseline does not record",
                 clean_name(after, b));
    else if (moved && count == 0)
        snprintf(new_cause("program", "the program", out, &count)->text, CAUSE_SIZE,
                 "the program changed, although its version is still %s and its data files are the same",
                 clean_name(after, a));
    return count;
}

int baseline_causes(const CheckedEntry *entry, Cause out[CAUSES_MAX]) {
    bool moved = entry->status != STATUS_SAME;
    for (int i = 0; i < CHECKED_FIGURES; i++) moved = moved || fabs(entry->figures[i].change) > 1e-9;
    return entry->has_was && entry->now.report ? causes_find(&entry->was, &entry->now, entry->edited, moved, out) : 0;
}

void causes_add_json(cJSON *to, const Cause *causes, int count) {
    for (int i = 0; i < count; i++) {
        cJSON *item = json_add_object(to, NULL);
        json_add_text(item, "kind", causes[i].kind);
        json_add_text(item, "file", causes[i].file[0] ? causes[i].file : NULL);
        json_add_text(item, "text", causes[i].text);
    }
}
