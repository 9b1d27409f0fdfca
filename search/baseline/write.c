/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A check as text, for a terminal and a log; as JSON (docs/json.md); as Markdown, for the summary of a GitHub job or a
 * comment; as JUnit's XML, which CI systems show: a test case for each plan; and as workflow commands of GitHub. */
#include "search/baseline/baseline_check.h"

#include "base/escape.h"
#include "base/json.h"
#include "base/text/table.h"
#include "base/util.h"

#include <inttypes.h>
#include <math.h>

/* What fails stands first. */
static const BaselineVerdict ORDER[] = {VERDICT_WORSE, VERDICT_ERROR, VERDICT_BETTER, VERDICT_NEW, VERDICT_SAME};

const char *gate_format_name(BaselineFormat format) {
    static const char *const NAMES[GATE_FORMATS] = {"text", "json", "markdown", "junit"};
    return NAMES[format];
}

/* ---- text ---- */

static void write_lines(const BaselineWords *words, BaselineLine from, TextOut out) {
    for (BaselineLine line = from; line < GATE_LINES; line++) {
        char first[32];
        snprintf(first, sizeof first, "    %s", gate_heading(line));
        if (words->line[line].used > 0) prose_write(out, first, "      ", words->line[line].text);
    }
}

static void write_text_entry(const BaselineCheck *gate, const CheckedEntry *entry, TextOut out) {
    char name[PROSE_SIZE], first[32];
    BaselineWords words;
    gate_words(gate, entry, &words);
    snprintf(first, sizeof first, "  %s: ", verdict_name(entry->verdict));
    prose_write(out, first, "    ", clean_text(entry->name, name, sizeof name));
    write_lines(&words, GATE_WHAT, out);
}

static void write_text(const BaselineCheck *gate, TextOut out) {
    Prose line;
    gate_headline(gate, &line);
    prose_write(out, "", "  ", line.text);
    if (!gate->baseline) {
        BaselineWords words;
        gate_words(gate, gate->entries, &words);
        write_lines(&words, GATE_TERMS, out);
        return;
    }
    for (size_t v = 0; v < COUNT_OF(ORDER); v++)
        for (int i = 0; i < gate->count && ORDER[v] != VERDICT_SAME; i++)
            if (gate->entries[i].verdict == ORDER[v]) write_text_entry(gate, &gate->entries[i], out);
    gate_hint(gate, &line);
    if (line.used > 0) prose_write(out, "", "  ", line.text);
}

/* ---- JSON: every add_* gives false when memory is out; a NULL parent passes that on ---- */

static bool add_side(cJSON *to, const char *key, const Snapshot *side) {
    if (!side->report) return json_add_text(to, key, NULL);
    cJSON *json = json_add_object(to, key);
    const SnapshotPlan *plan = &side->best;
    if (!json_add_text(json, "proof", side->proven ? "optimal" : "gap")) return false;
    if (side->plan_count == 0) return json_add_text(json, "plan", NULL);
    return json_add_text(json, "plan", plan->label) && json_add_real(json, "step_seconds", plan->seconds) &&
           (plan->ranked_seconds == 0 || json_add_real(json, "ranked_seconds", plan->ranked_seconds)) &&
           json_add_real(json, "mfu", plan->mfu) && json_add_real(json, "hbm_bytes", plan->hbm_bytes) &&
           json_add_real(json, "hbm_limit_bytes", plan->hbm_limit_bytes);
}

static bool add_reasons(cJSON *to, const CheckedEntry *entry) {
    cJSON *json = json_add_array(to, "reasons");
    bool ok = json != NULL;
    for (BaselineFigure figure = 0; figure < GATE_FIGURES && ok; figure++)
        if (entry->figures[figure].worse) ok = json_add_text(json, NULL, gate_figure_name(figure));
    return ok && (!entry->lost_plan || json_add_text(json, NULL, "no_plan")) &&
           (!entry->lost_proof || json_add_text(json, NULL, "proof")) &&
           (entry->verdict != VERDICT_ERROR || json_add_text(json, NULL, "error"));
}

static bool add_figures(cJSON *to, const char *key, const double of[GATE_FIGURES]) {
    cJSON *json = json_add_object(to, key);
    bool ok = json != NULL;
    for (BaselineFigure figure = 0; figure < GATE_FIGURES && ok; figure++)
        ok = json_add_real(json, gate_figure_name(figure), of[figure]);
    return ok;
}

bool causes_add_json(cJSON *to, const Cause *causes, int count) {
    cJSON *json = json_add_array(to, "causes");
    bool ok = json != NULL;
    for (int i = 0; i < count && ok; i++) {
        const Cause *cause = &causes[i];
        cJSON *item = json_add_object(json, NULL);
        ok = json_add_text(item, "kind", cause_name(cause->kind)) &&
             json_add_text(item, "file", cause->file[0] ? cause->file : NULL) &&
             json_add_text(item, "text", cause->text);
    }
    return ok;
}

/* What moved between two plans: the figures, and the step part by part. */
static bool add_changes(cJSON *to, const CheckedEntry *entry, const char *was, const char *now) {
    PartChange parts[PART_CHANGES_MAX];
    double change[GATE_FIGURES];
    for (BaselineFigure figure = 0; figure < GATE_FIGURES; figure++) change[figure] = entry->figures[figure].change;
    int count = snapshot_step_changes(&entry->was.best, &entry->now.best, parts);
    cJSON *json = add_figures(to, "change", change) ? json_add_object(to, "terms_seconds") : NULL;
    bool ok = json != NULL;
    for (int i = 0; i < count && ok; i++) {
        cJSON *item = json_add_object(json, parts[i].name);
        ok = json_add_real(item, was, parts[i].was) && json_add_real(item, now, parts[i].now);
    }
    return ok;
}

static bool add_entry(cJSON *to, const BaselineCheck *gate, const CheckedEntry *entry) {
    const char *was = gate->baseline ? "was" : "best", *now = gate->baseline ? "now" : "launched";
    BaselineWords words;
    gate_words(gate, entry, &words);
    if (!json_add_text(to, "name", entry->name) || !json_add_text(to, "verdict", verdict_name(entry->verdict)) ||
        !json_add_text(to, "text", words.line[GATE_WHAT].text) || !add_reasons(to, entry) ||
        !(entry->has_was ? add_side(to, was, &entry->was) : json_add_text(to, was, NULL)) ||
        !add_side(to, now, &entry->now) || (gate_has_both(entry) && !add_changes(to, entry, was, now)) ||
        (gate->baseline && !causes_add_json(to, entry->causes, entry->cause_count)))
        return false;
    if (entry->old_plan == OLD_PLAN_NOT_ASKED) return true;
    if (entry->old_plan != OLD_PLAN_PRICED) return json_add_text(to, "old_plan_seconds", NULL);
    return json_add_real(to, "old_plan_seconds", entry->old_plan_seconds);
}

static bool add_head(cJSON *to, const BaselineCheck *gate) {
    cJSON *program = json_add_whole(to, "format_version", 1) ? json_add_object(to, "program") : NULL;
    if (!json_add_text(program, "version", gate->version) ||
        !json_add_text(program, "data_sha256", gate->data_sha256) ||
        !json_add_bool(to, "passed", gate->updated || gate_passes(gate)))
        return false;
    if (!gate->baseline) return json_add_real(to, "within", gate->tolerance.of[GATE_STEP]);
    cJSON *counts = json_add_text(to, "baseline", gate->baseline) && json_add_bool(to, "updated", gate->updated) &&
                            add_figures(to, "tolerance", gate->tolerance.of)
                        ? json_add_object(to, "counts")
                        : NULL;
    bool ok = counts != NULL;
    for (BaselineVerdict verdict = 0; verdict < VERDICT_COUNT && ok; verdict++)
        ok = json_add_whole(counts, verdict_name(verdict), gate_verdicts(gate, verdict));
    return ok;
}

static bool write_json(const BaselineCheck *gate, FILE *out) {
    cJSON *json = cJSON_CreateObject();
    bool ok = add_head(json, gate);
    cJSON *entries = ok && gate->baseline ? json_add_array(json, "entries") : NULL;
    if (ok && !gate->baseline) ok = add_entry(json, gate, gate->entries);
    for (int i = 0; gate->baseline && i < gate->count && ok; i++)
        ok = add_entry(json_add_object(entries, NULL), gate, &gate->entries[i]);
    ok = ok && json_print(out, json);
    cJSON_Delete(json);
    return ok;
}

/* ---- JUnit ---- */

static void attribute(const char *name, const char *value, FILE *out) {
    fprintf(out, " %s=\"", name);
    escape_write(ESCAPE_XML, value, out);
    fputc('"', out);
}

static void write_words(const BaselineWords *words, FILE *out) {
    fputc('\n', out);
    for (BaselineLine line = 0; line < GATE_LINES; line++) {
        if (words->line[line].used == 0) continue;
        fputs(gate_heading(line), out);
        escape_write(ESCAPE_XML, words->line[line].text, out);
        fputc('\n', out);
    }
}

/* The kind of a failure is the first figure that got worse. */
static const char *type_of(const CheckedEntry *entry) {
    if (entry->lost_plan) return "no_plan";
    if (entry->lost_proof) return "proof";
    for (BaselineFigure figure = 0; figure < GATE_FIGURES; figure++)
        if (entry->figures[figure].worse) return gate_figure_name(figure);
    return "error";
}

static void write_case(const BaselineCheck *gate, const CheckedEntry *entry, FILE *out) {
    BaselineWords words;
    gate_words(gate, entry, &words);
    bool failed = entry->verdict == VERDICT_WORSE, broken = entry->verdict == VERDICT_ERROR;
    const char *tag = gate->updated || !(failed || broken) ? "system-out" : failed ? "failure" : "error";
    fputs("    <testcase classname=\"shardopt.check\"", out);
    attribute("name", entry->name, out);
    fprintf(out, ">\n      <%s", tag);
    if (tag[0] != 's') {
        attribute("type", type_of(entry), out);
        attribute("message", words.line[GATE_WHAT].text, out);
    }
    fputc('>', out);
    write_words(&words, out);
    fprintf(out, "      </%s>\n    </testcase>\n", tag);
}

static void write_counts(const BaselineCheck *gate, FILE *out) {
    fprintf(out, " tests=\"%d\" failures=\"%d\" errors=\"%d\"", gate->count,
            gate->updated ? 0 : gate_verdicts(gate, VERDICT_WORSE),
            gate->updated ? 0 : gate_verdicts(gate, VERDICT_ERROR));
}

static void write_junit(const BaselineCheck *gate, FILE *out) {
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"shardopt check\"", out);
    write_counts(gate, out);
    fputs(">\n  <testsuite", out);
    attribute("name", gate->baseline ? gate->baseline : "launched plan", out);
    write_counts(gate, out);
    fputs(" skipped=\"0\">\n    <properties>\n      <property name=\"version\"", out);
    attribute("value", gate->version, out);
    fputs("/>\n      <property name=\"data_sha256\"", out);
    attribute("value", gate->data_sha256, out);
    fputs("/>\n    </properties>\n", out);
    for (int i = 0; i < gate->count; i++) write_case(gate, &gate->entries[i], out);
    fputs("  </testsuite>\n</testsuites>\n", out);
}

/* ---- Markdown ---- */

static void escaped(const char *text, FILE *out) { escape_write(ESCAPE_MARKDOWN, text, out); }

/* "1.843 s → 1.921 s (+4.2%)", or one figure where it did not move. */
static void add_figure(Table *table, const CheckedEntry *entry, BaselineFigure figure) {
    static const char *(*const UNITS[GATE_FIGURES])(double, char *) = {step_text, share_text, number_bytes};
    char was[NUMBER_TEXT_SIZE], now[NUMBER_TEXT_SIZE], change[NUMBER_TEXT_SIZE];
    const FigureChange *of = &entry->figures[figure];
    if (!gate_has_both(entry))
        table_cell(table, "-");
    else if (fabs(of->change) <= 1e-9)
        table_cell(table, "%s", UNITS[figure](of->now, now));
    else
        table_cell(table, "%s → %s (%s)", UNITS[figure](of->was, was), UNITS[figure](of->now, now),
                   gate_change_text(of->change, change));
}

static void add_row(Table *table, const BaselineCheck *gate, const CheckedEntry *entry) {
    BaselineWords words;
    gate_words(gate, entry, &words);
    table_cell(table, "%s", verdict_name(entry->verdict));
    table_cell(table, "%s", entry->name);
    for (BaselineFigure figure = 0; figure < GATE_FIGURES; figure++) add_figure(table, entry, figure);
    table_cell(table, "%s", words.line[GATE_PLAN].text);
}

/* False: memory is out. */
static bool write_table(const BaselineCheck *gate, bool moved, FILE *out) {
    Arena arena = {0};
    Table table = table_new(&arena, NULL, "|of|step|MFU|HBM|plan");
    if (!table.failed) table.column[0].name = NULL; /* of verdicts */
    for (size_t v = 0; v < COUNT_OF(ORDER); v++)
        for (int i = 0; i < gate->count; i++)
            if (gate->entries[i].verdict == ORDER[v] && moved == (ORDER[v] != VERDICT_SAME))
                add_row(&table, gate, &gate->entries[i]);
    bool ok = table_write_markdown(&table, out);
    arena_free(&arena);
    return ok;
}

static void write_details(const BaselineCheck *gate, const CheckedEntry *entry, FILE *out) {
    BaselineWords words;
    gate_words(gate, entry, &words);
    fprintf(out, "- **%s**: ", verdict_name(entry->verdict));
    escaped(entry->name, out);
    fputc('\n', out);
    for (BaselineLine line = 0; line < GATE_LINES; line++) {
        if (words.line[line].used == 0) continue;
        fprintf(out, "  - %s", gate_heading(line));
        escaped(words.line[line].text, out);
        fputc('\n', out);
    }
}

static bool write_markdown(const BaselineCheck *gate, FILE *out) {
    Prose line;
    bool ok = true;
    int same = gate_verdicts(gate, VERDICT_SAME);
    gate_headline(gate, &line);
    fprintf(out, "### Plan quality: %s\n\n", gate->updated ? "new baseline" : gate_passes(gate) ? "passed" : "failed");
    escaped(line.text, out);
    fputs("\n\n", out);
    if (!gate->baseline) {
        write_details(gate, gate->entries, out);
        return true;
    }
    if (gate->count > same) {
        ok = write_table(gate, true, out);
        fputc('\n', out);
        for (int i = 0; i < gate->count; i++)
            if (gate->entries[i].verdict != VERDICT_SAME) write_details(gate, &gate->entries[i], out);
        fputc('\n', out);
    }
    gate_hint(gate, &line);
    escaped(line.text, out);
    if (line.used > 0) fputs("\n\n", out);
    if (same > 0) {
        fprintf(out, "<details><summary>As before: %d</summary>\n\n", same);
        ok = write_table(gate, false, out) && ok;
        fputs("\n</details>\n", out);
    }
    return ok;
}

bool gate_write(const BaselineCheck *gate, BaselineFormat format, TextOut out, Error *error) {
    bool ok = true;
    if (format == GATE_JSON)
        ok = write_json(gate, out.file);
    else if (format == GATE_MARKDOWN)
        ok = write_markdown(gate, out.file);
    else if (format == GATE_JUNIT)
        write_junit(gate, out.file);
    else
        write_text(gate, out);
    return (ok && !ferror(out.file)) || error_memory(error);
}

/* ---- workflow commands of GitHub, which it shows with the files of a pull request ---- */

enum { SHOWN_MAX = 10 }; /* of each kind that GitHub shows of a step */

/* `file`: NULL for none; `line`: of the file, 0: none of them. */
static void write_start(const char *command, const char *file, int64_t line, const char *title, FILE *out) {
    fprintf(out, "::%s ", command);
    if (file) {
        fputs("file=", out);
        escape_write(ESCAPE_ANNOTATION_PROPERTY, file, out);
        if (line > 0) fprintf(out, ",line=%" PRId64, line);
        fputc(',', out);
    }
    fputs("title=", out);
    escape_write(ESCAPE_ANNOTATION_PROPERTY, title, out);
    fputs("::", out);
}

static void write_annotation(const BaselineCheck *gate, const CheckedEntry *entry, const char *command, FILE *out) {
    BaselineWords words;
    Prose message = {0};
    gate_words(gate, entry, &words);
    for (BaselineLine line = 0; line < GATE_LINES; line++)
        if (words.line[line].used > 0) prose_item(&message, "\n", "%s%s", gate_heading(line), words.line[line].text);
    write_start(command, gate->baseline ? gate->baseline : entry->file, entry->line, entry->name, out);
    escape_write(ESCAPE_ANNOTATION, message.text, out);
    fputc('\n', out);
}

static void write_kind(const BaselineCheck *gate, const char *command, bool fails, FILE *out) {
    int count = fails ? gate_verdicts(gate, VERDICT_WORSE) + gate_verdicts(gate, VERDICT_ERROR)
                      : gate_verdicts(gate, VERDICT_BETTER);
    int most = count > SHOWN_MAX ? SHOWN_MAX - 1 : SHOWN_MAX, shown = 0;
    for (int i = 0; i < gate->count && shown < most; i++) {
        const CheckedEntry *entry = &gate->entries[i];
        bool failed = entry->verdict == VERDICT_WORSE || entry->verdict == VERDICT_ERROR;
        if (fails ? !failed : entry->verdict != VERDICT_BETTER) continue;
        write_annotation(gate, entry, command, out);
        shown++;
    }
    if (count <= SHOWN_MAX) return;
    Prose title = {0};
    prose_add(&title, "%d more plans are %s", count - shown, fails ? "worse" : "better");
    write_start(command, gate->baseline, 0, title.text, out);
    fputs("the log and the summary of the job list all of them\n", out);
}

bool gate_write_annotations(const BaselineCheck *gate, FILE *out, Error *error) {
    if (gate->updated) return true;
    write_kind(gate, "error", true, out);
    write_kind(gate, "notice", false, out);
    return !ferror(out) || error_set(error, ERROR_IO, "standard error", "cannot be written");
}
