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
static const BaselineStatus ORDER[] = {STATUS_WORSE, STATUS_ERROR, STATUS_BETTER, STATUS_NEW, STATUS_SAME};

/* ---- text ---- */

static void write_lines(const BaselineWords *words, BaselineLine from, TextOut out) {
    for (BaselineLine line = from; line < BASELINE_LINES; line++) {
        char first[32];
        snprintf(first, sizeof first, "    %s", baseline_heading(line));
        if (words->line[line].used > 0) prose_write(out, first, "      ", words->line[line].text);
    }
}

static void write_text_entry(const BaselineCheck *check, const CheckedEntry *entry, TextOut out) {
    char name[PROSE_SIZE], first[32];
    BaselineWords words;
    baseline_words(check, entry, &words);
    snprintf(first, sizeof first, "  %s: ", baseline_status_name(entry->status));
    prose_write(out, first, "    ", clean_text(entry->name, name, sizeof name));
    write_lines(&words, BASELINE_WHAT, out);
}

static void write_text(const BaselineCheck *check, TextOut out) {
    Prose line;
    baseline_headline(check, &line);
    prose_write(out, "", "  ", line.text);
    if (!check->baseline) {
        BaselineWords words;
        baseline_words(check, check->entries, &words);
        write_lines(&words, BASELINE_TERMS, out);
        return;
    }
    for (size_t v = 0; v < COUNT_OF(ORDER); v++)
        for (int i = 0; i < check->count && ORDER[v] != STATUS_SAME; i++)
            if (check->entries[i].status == ORDER[v]) write_text_entry(check, &check->entries[i], out);
    baseline_hint(check, &line);
    if (line.used > 0) prose_write(out, "", "  ", line.text);
}

/* ---- JSON: every add_* gives false when memory is out; a NULL parent passes that on ---- */

static bool add_side(cJSON *to, const char *key, const Snapshot *side) {
    if (!side->report) return json_add_text(to, key, NULL);
    cJSON *json = json_add_object(to, key);
    const SnapshotPlan *plan = &side->best;
    if (!json_add_text(json, "proof", side->proven ? "optimal" : "gap")) return false;
    if (side->plan_count == 0) return json_add_text(json, "plan", NULL);
    if (side->kind->command) {
        bool ok = json_add_text(json, "plan", plan->label);
        for (int i = 0; i < BASELINE_FIGURES && ok; i++)
            ok = json_add_real(json, side->kind->checked[i].key,
                               json_real_at(plan->json, side->kind->checked[i].path, 0));
        return ok;
    }
    return json_add_text(json, "plan", plan->label) && json_add_real(json, "step_seconds", plan->seconds) &&
           (plan->ranked_seconds == 0 || json_add_real(json, "ranked_seconds", plan->ranked_seconds)) &&
           json_add_real(json, "mfu", plan->mfu) && json_add_real(json, "hbm_bytes", plan->hbm_bytes) &&
           json_add_real(json, "hbm_limit_bytes", plan->hbm_limit_bytes);
}

static bool add_reasons(cJSON *to, const CheckedEntry *entry) {
    cJSON *json = json_add_array(to, "reasons");
    bool ok = json != NULL;
    for (BaselineFigure figure = 0; figure < BASELINE_FIGURES && ok; figure++)
        if (entry->figures[figure].worse) ok = json_add_text(json, NULL, entry->now.kind->checked[figure].key);
    return ok && (!entry->lost_plan || json_add_text(json, NULL, "no_plan")) &&
           (!entry->lost_proof || json_add_text(json, NULL, "proof")) &&
           (entry->status != STATUS_ERROR || json_add_text(json, NULL, "error"));
}

static bool add_figures(cJSON *to, const char *key, const ReportKind *kind, const double of[BASELINE_FIGURES]) {
    cJSON *json = json_add_object(to, key);
    bool ok = json != NULL;
    for (BaselineFigure figure = 0; figure < BASELINE_FIGURES && ok; figure++)
        ok = json_add_real(json, kind->checked[figure].key, of[figure]);
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
    double change[BASELINE_FIGURES];
    for (BaselineFigure figure = 0; figure < BASELINE_FIGURES; figure++) change[figure] = entry->figures[figure].change;
    int count = snapshot_step_changes(&entry->was.best, &entry->now.best, parts);
    cJSON *json = add_figures(to, "change", entry->now.kind, change) ? json_add_object(to, "terms_seconds") : NULL;
    bool ok = json != NULL;
    for (int i = 0; i < count && ok; i++) {
        cJSON *item = json_add_object(json, parts[i].name);
        ok = json_add_real(item, was, parts[i].was) && json_add_real(item, now, parts[i].now);
    }
    return ok;
}

static bool add_entry(cJSON *to, const BaselineCheck *check, const CheckedEntry *entry) {
    const char *was = check->baseline ? "was" : "best", *now = check->baseline ? "now" : "launched";
    BaselineWords words;
    baseline_words(check, entry, &words);
    if (!json_add_text(to, "name", entry->name) || !json_add_text(to, "verdict", baseline_status_name(entry->status)) ||
        !json_add_text(to, "text", words.line[BASELINE_WHAT].text) || !add_reasons(to, entry) ||
        !(entry->has_was ? add_side(to, was, &entry->was) : json_add_text(to, was, NULL)) ||
        !add_side(to, now, &entry->now) || (baseline_has_both(entry) && !add_changes(to, entry, was, now)) ||
        (check->baseline && !causes_add_json(to, entry->causes, entry->cause_count)))
        return false;
    if (entry->old_plan == OLD_PLAN_NOT_ASKED) return true;
    if (entry->old_plan != OLD_PLAN_PRICED) return json_add_text(to, "old_plan_seconds", NULL);
    return json_add_real(to, "old_plan_seconds", entry->old_plan_seconds);
}

static bool add_head(cJSON *to, const BaselineCheck *check) {
    cJSON *program = json_add_whole(to, "format_version", 1) ? json_add_object(to, "program") : NULL;
    if (!json_add_text(program, "version", check->version) ||
        !json_add_text(program, "data_sha256", check->data_sha256) ||
        !json_add_bool(to, "passed", check->updated || baseline_passes(check)))
        return false;
    if (!check->baseline) return json_add_real(to, "within", check->tolerance.of[BASELINE_STEP]);
    cJSON *counts = json_add_text(to, "baseline", check->baseline) && json_add_bool(to, "updated", check->updated) &&
                            add_figures(to, "tolerance", baseline_kind(check), check->tolerance.of)
                        ? json_add_object(to, "counts")
                        : NULL;
    bool ok = counts != NULL;
    for (BaselineStatus status = 0; status < STATUS_COUNT && ok; status++)
        ok = json_add_whole(counts, baseline_status_name(status), baseline_count(check, status));
    return ok;
}

static bool write_json(const BaselineCheck *check, FILE *out) {
    cJSON *json = cJSON_CreateObject();
    bool ok = add_head(json, check);
    cJSON *entries = ok && check->baseline ? json_add_array(json, "entries") : NULL;
    if (ok && !check->baseline) ok = add_entry(json, check, check->entries);
    for (int i = 0; check->baseline && i < check->count && ok; i++)
        ok = add_entry(json_add_object(entries, NULL), check, &check->entries[i]);
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
    for (BaselineLine line = 0; line < BASELINE_LINES; line++) {
        if (words->line[line].used == 0) continue;
        fputs(baseline_heading(line), out);
        escape_write(ESCAPE_XML, words->line[line].text, out);
        fputc('\n', out);
    }
}

/* The kind of a failure is the first figure that got worse. */
static const char *type_of(const CheckedEntry *entry) {
    if (entry->lost_plan) return "no_plan";
    if (entry->lost_proof) return "proof";
    for (BaselineFigure figure = 0; figure < BASELINE_FIGURES; figure++)
        if (entry->figures[figure].worse) return entry->now.kind->checked[figure].key;
    return "error";
}

static void write_case(const BaselineCheck *check, const CheckedEntry *entry, FILE *out) {
    BaselineWords words;
    baseline_words(check, entry, &words);
    bool failed = entry->status == STATUS_WORSE, broken = entry->status == STATUS_ERROR;
    const char *tag = check->updated || !(failed || broken) ? "system-out" : failed ? "failure" : "error";
    fputs("    <testcase classname=\"shardopt.check\"", out);
    attribute("name", entry->name, out);
    fprintf(out, ">\n      <%s", tag);
    if (tag[0] != 's') {
        attribute("type", type_of(entry), out);
        attribute("message", words.line[BASELINE_WHAT].text, out);
    }
    fputc('>', out);
    write_words(&words, out);
    fprintf(out, "      </%s>\n    </testcase>\n", tag);
}

static void write_counts(const BaselineCheck *check, FILE *out) {
    fprintf(out, " tests=\"%d\" failures=\"%d\" errors=\"%d\"", check->count,
            check->updated ? 0 : baseline_count(check, STATUS_WORSE),
            check->updated ? 0 : baseline_count(check, STATUS_ERROR));
}

static void write_junit(const BaselineCheck *check, FILE *out) {
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"shardopt check\"", out);
    write_counts(check, out);
    fputs(">\n  <testsuite", out);
    attribute("name", check->baseline ? check->baseline : "launched plan", out);
    write_counts(check, out);
    fputs(" skipped=\"0\">\n    <properties>\n      <property name=\"version\"", out);
    attribute("value", check->version, out);
    fputs("/>\n      <property name=\"data_sha256\"", out);
    attribute("value", check->data_sha256, out);
    fputs("/>\n    </properties>\n", out);
    for (int i = 0; i < check->count; i++) write_case(check, &check->entries[i], out);
    fputs("  </testsuite>\n</testsuites>\n", out);
}

/* ---- Markdown ---- */

static void escaped(const char *text, FILE *out) { escape_write(ESCAPE_MARKDOWN, text, out); }

/* "1.843 s → 1.921 s (+4.2%)", or one figure where it did not move. */
static void add_figure(Table *table, const CheckedEntry *entry, BaselineFigure figure) {
    char was[NUMBER_TEXT_SIZE], now[NUMBER_TEXT_SIZE], change[NUMBER_TEXT_SIZE];
    const FigureChange *of = &entry->figures[figure];
    FieldUnit *unit = baseline_has_both(entry) ? checked_field(entry->now.kind, (int)figure)->unit : NULL;
    if (!unit)
        table_cell(table, "-");
    else if (fabs(of->change) <= 1e-9)
        table_cell(table, "%s", unit(of->now, now));
    else
        table_cell(table, "%s → %s (%s)", unit(of->was, was), unit(of->now, now),
                   baseline_change_text(of->change, change));
}

static void add_row(Table *table, const BaselineCheck *check, const CheckedEntry *entry) {
    BaselineWords words;
    baseline_words(check, entry, &words);
    table_cell(table, "%s", baseline_status_name(entry->status));
    table_cell(table, "%s", entry->name);
    for (BaselineFigure figure = 0; figure < BASELINE_FIGURES; figure++) add_figure(table, entry, figure);
    table_cell(table, "%s", words.line[BASELINE_PLAN].text);
}

/* False: memory is out. */
static bool write_table(const BaselineCheck *check, bool moved, FILE *out) {
    Arena arena = {0};
    const ReportKind *kind = baseline_kind(check);
    char heads[160];
    snprintf(heads, sizeof heads, "|of|%s|%s|%s|%s", checked_field(kind, 0)->name, checked_field(kind, 1)->name,
             checked_field(kind, 2)->name, kind->one);
    Table table = table_new(&arena, NULL, heads);
    if (!table.failed) table.column[0].name = NULL; /* of statuses */
    for (size_t v = 0; v < COUNT_OF(ORDER); v++)
        for (int i = 0; i < check->count; i++)
            if (check->entries[i].status == ORDER[v] && moved == (ORDER[v] != STATUS_SAME))
                add_row(&table, check, &check->entries[i]);
    bool ok = table_write_markdown(&table, out);
    arena_free(&arena);
    return ok;
}

static void write_details(const BaselineCheck *check, const CheckedEntry *entry, FILE *out) {
    BaselineWords words;
    baseline_words(check, entry, &words);
    fprintf(out, "- **%s**: ", baseline_status_name(entry->status));
    escaped(entry->name, out);
    fputc('\n', out);
    for (BaselineLine line = 0; line < BASELINE_LINES; line++) {
        if (words.line[line].used == 0) continue;
        fprintf(out, "  - %s", baseline_heading(line));
        escaped(words.line[line].text, out);
        fputc('\n', out);
    }
}

static bool write_markdown(const BaselineCheck *check, FILE *out) {
    Prose line;
    bool ok = true;
    int same = baseline_count(check, STATUS_SAME);
    baseline_headline(check, &line);
    fprintf(out, "### Plan quality: %s\n\n",
            check->updated           ? "new baseline"
            : baseline_passes(check) ? "passed"
                                     : "failed");
    escaped(line.text, out);
    fputs("\n\n", out);
    if (!check->baseline) {
        write_details(check, check->entries, out);
        return true;
    }
    if (check->count > same) {
        ok = write_table(check, true, out);
        fputc('\n', out);
        for (int i = 0; i < check->count; i++)
            if (check->entries[i].status != STATUS_SAME) write_details(check, &check->entries[i], out);
        fputc('\n', out);
    }
    baseline_hint(check, &line);
    escaped(line.text, out);
    if (line.used > 0) fputs("\n\n", out);
    if (same > 0) {
        fprintf(out, "<details><summary>As before: %d</summary>\n\n", same);
        ok = write_table(check, false, out) && ok;
        fputs("\n</details>\n", out);
    }
    return ok;
}

bool baseline_write(const BaselineCheck *check, BaselineFormat format, TextOut out, Error *error) {
    bool ok = true;
    if (format == BASELINE_JSON)
        ok = write_json(check, out.file);
    else if (format == BASELINE_MARKDOWN)
        ok = write_markdown(check, out.file);
    else if (format == BASELINE_JUNIT)
        write_junit(check, out.file);
    else
        write_text(check, out);
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

static void write_annotation(const BaselineCheck *check, const CheckedEntry *entry, const char *command, FILE *out) {
    BaselineWords words;
    Prose message = {0};
    baseline_words(check, entry, &words);
    for (BaselineLine line = 0; line < BASELINE_LINES; line++)
        if (words.line[line].used > 0)
            prose_item(&message, "\n", "%s%s", baseline_heading(line), words.line[line].text);
    write_start(command, check->baseline ? check->baseline : entry->file, entry->line, entry->name, out);
    escape_write(ESCAPE_ANNOTATION, message.text, out);
    fputc('\n', out);
}

static void write_kind(const BaselineCheck *check, const char *command, bool fails, FILE *out) {
    int count = fails ? baseline_count(check, STATUS_WORSE) + baseline_count(check, STATUS_ERROR)
                      : baseline_count(check, STATUS_BETTER);
    int most = count > SHOWN_MAX ? SHOWN_MAX - 1 : SHOWN_MAX, shown = 0;
    for (int i = 0; i < check->count && shown < most; i++) {
        const CheckedEntry *entry = &check->entries[i];
        bool failed = entry->status == STATUS_WORSE || entry->status == STATUS_ERROR;
        if (fails ? !failed : entry->status != STATUS_BETTER) continue;
        write_annotation(check, entry, command, out);
        shown++;
    }
    if (count <= SHOWN_MAX) return;
    Prose title = {0};
    prose_add(&title, "%d more plans are %s", count - shown, fails ? "worse" : "better");
    write_start(command, check->baseline, 0, title.text, out);
    fputs("the log and the summary of the job list all of them\n", out);
}

bool baseline_write_annotations(const BaselineCheck *check, FILE *out, Error *error) {
    if (check->updated) return true;
    write_kind(check, "error", true, out);
    write_kind(check, "notice", false, out);
    return !ferror(out) || error_set(error, ERROR_IO, "standard error", "cannot be written");
}
