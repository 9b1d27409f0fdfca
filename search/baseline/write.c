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

static bool fails(const CheckedEntry *entry) { return entry->status == STATUS_WORSE || entry->status == STATUS_ERROR; }

/* The lines that say something, each behind `before` and its heading, escaped. */
static void write_lines(const BaselineWords *words, const char *before, EscapeKind kind, FILE *out) {
    for (BaselineLine line = 0; line < BASELINE_LINES; line++) {
        if (words->line[line].used == 0) continue;
        fprintf(out, "%s%s", before, baseline_heading(line));
        escape_write(kind, words->line[line].text, out);
        fputc('\n', out);
    }
}

/* ---- text ---- */

static void write_text_entry(const BaselineCheck *check, const CheckedEntry *entry, BaselineLine from, TextOut out) {
    char name[PROSE_SIZE], first[32];
    BaselineWords words;
    baseline_words(check, entry, &words);
    snprintf(first, sizeof first, "  %s: ", baseline_status_name(entry->status));
    if (from == BASELINE_WHAT) prose_write(out, first, "    ", clean_text(entry->name, name, sizeof name));
    for (BaselineLine line = from; line < BASELINE_LINES; line++) {
        snprintf(first, sizeof first, "    %s", baseline_heading(line));
        if (words.line[line].used > 0) prose_write(out, first, "      ", words.line[line].text);
    }
}

static void write_text(const BaselineCheck *check, TextOut out) {
    Prose line;
    baseline_headline(check, &line);
    prose_write(out, "", "  ", line.text);
    if (!check->baseline) write_text_entry(check, check->entries, BASELINE_TERMS, out);
    for (size_t v = 0; v < COUNT_OF(ORDER) && check->baseline; v++)
        for (int i = 0; i < check->count && ORDER[v] != STATUS_SAME; i++)
            if (check->entries[i].status == ORDER[v]) write_text_entry(check, &check->entries[i], BASELINE_WHAT, out);
    baseline_hint(check, &line);
    if (line.used > 0) prose_write(out, "", "  ", line.text);
}

/* ---- JSON: json_print() says whether memory was out ---- */

static void add_side(cJSON *to, const char *key, const Snapshot *side, bool there) {
    if (!there || !side->report) {
        json_add_text(to, key, NULL);
        return;
    }
    cJSON *json = json_add_object(to, key);
    json_add_text(json, "proof", side->proven ? "optimal" : "gap");
    json_add_text(json, "plan", side->plan_count > 0 ? side->best.label : NULL);
    for (int i = 0; i < CHECKED_FIGURES && side->plan_count > 0; i++) {
        const CheckedFigure *figure = &side->kind->checked[i];
        const char *const PATHS[] = {figure->path, figure->judged, figure->of};
        for (size_t k = 0; k < COUNT_OF(PATHS); k++) {
            double value = PATHS[k] ? json_real_at(side->best.json, PATHS[k], 0) : 0;
            if (PATHS[k] && (value > 0 || PATHS[k] != figure->judged))
                json_add_real(json, field_flat(field_named(side->kind->fields, PATHS[k])), value);
        }
    }
}

/* Why it fails. Returns how many reasons there are. */
static int reasons_of(const CheckedEntry *entry, const char *out[CHECKED_FIGURES + 3]) {
    int count = 0;
    for (int i = 0; i < CHECKED_FIGURES; i++)
        if (entry->figures[i].worse) out[count++] = entry->now.kind->checked[i].key;
    if (entry->lost_plan) out[count++] = "no_plan";
    if (entry->lost_proof) out[count++] = "proof";
    if (entry->status == STATUS_ERROR) out[count++] = "error";
    return count;
}

/* What moved between two plans: the figures, and the step part by part. */
static void add_changes(cJSON *to, const CheckedEntry *entry, const char *was, const char *now) {
    PartChange parts[PART_CHANGES_MAX];
    cJSON *change = json_add_object(to, "change"), *terms = json_add_object(to, "terms_seconds");
    for (int i = 0; i < CHECKED_FIGURES; i++)
        json_add_real(change, entry->now.kind->checked[i].key, entry->figures[i].change);
    for (int i = 0, count = snapshot_step_changes(&entry->was.best, &entry->now.best, parts); i < count; i++) {
        cJSON *item = json_add_object(terms, parts[i].name);
        json_add_real(item, was, parts[i].was);
        json_add_real(item, now, parts[i].now);
    }
}

static void add_entry(cJSON *to, const BaselineCheck *check, const CheckedEntry *entry) {
    const char *was = check->baseline ? "was" : "best", *now = check->baseline ? "now" : "launched";
    const char *reasons[CHECKED_FIGURES + 3];
    BaselineWords words;
    Cause causes[CAUSES_MAX];
    baseline_words(check, entry, &words);
    json_add_text(to, "name", entry->name);
    json_add_text(to, "verdict", baseline_status_name(entry->status));
    json_add_text(to, "text", words.line[BASELINE_WHAT].text);
    cJSON *list = json_add_array(to, "reasons");
    for (int i = 0, count = reasons_of(entry, reasons); i < count; i++) json_add_text(list, NULL, reasons[i]);
    add_side(to, was, &entry->was, entry->has_was);
    add_side(to, now, &entry->now, true);
    if (baseline_has_both(entry)) add_changes(to, entry, was, now);
    if (check->baseline) causes_add_json(json_add_array(to, "causes"), causes, baseline_causes(entry, causes));
    if (entry->old_plan == OLD_PLAN_PRICED)
        json_add_real(to, "old_plan_seconds", entry->old_plan_seconds);
    else if (entry->old_plan != OLD_PLAN_NOT_ASKED)
        json_add_text(to, "old_plan_seconds", NULL);
}

static bool write_json(const BaselineCheck *check, FILE *out) {
    cJSON *json = cJSON_CreateObject();
    if (!json) return false;
    json_add_whole(json, "format_version", 1);
    cJSON *program = json_add_object(json, "program");
    json_add_text(program, "version", check->version);
    json_add_text(program, "data_sha256", check->data_sha256);
    json_add_bool(json, "passed", check->updated || baseline_passes(check));
    if (check->baseline) {
        json_add_text(json, "baseline", check->baseline);
        json_add_bool(json, "updated", check->updated);
        cJSON *tolerance = json_add_object(json, "tolerance"), *counts = json_add_object(json, "counts");
        for (int i = 0; i < CHECKED_FIGURES; i++)
            json_add_real(tolerance, baseline_kind(check)->checked[i].key, check->tolerance.of[i]);
        for (BaselineStatus status = 0; status < STATUS_COUNT; status++)
            json_add_whole(counts, baseline_status_name(status), baseline_count(check, status));
        cJSON *entries = json_add_array(json, "entries");
        for (int i = 0; i < check->count; i++) add_entry(json_add_object(entries, NULL), check, &check->entries[i]);
    } else {
        json_add_real(json, "within", check->tolerance.of[0]);
        add_entry(json, check, check->entries);
    }
    bool ok = json_print(out, json);
    cJSON_Delete(json);
    return ok;
}

/* ---- JUnit ---- */

static void attribute(const char *name, const char *value, FILE *out) {
    fprintf(out, " %s=\"", name);
    escape_write(ESCAPE_XML, value, out);
    fputc('"', out);
}

static void write_case(const BaselineCheck *check, const CheckedEntry *entry, FILE *out) {
    BaselineWords words;
    const char *reasons[CHECKED_FIGURES + 3] = {"error"};
    reasons_of(entry, reasons);
    bool failed = !check->updated && fails(entry);
    const char *type = entry->lost_proof && !entry->lost_plan ? "proof" : reasons[0]; /* worse than any figure */
    const char *tag = entry->undecided                ? "skipped"
                      : !failed                       ? "system-out"
                      : entry->status == STATUS_WORSE ? "failure"
                                                      : "error";
    baseline_words(check, entry, &words);
    fputs("    <testcase classname=\"shardopt.check\"", out);
    attribute("name", entry->name, out);
    fprintf(out, ">\n      <%s", tag);
    if (failed) attribute("type", type, out);
    if (failed) attribute("message", words.line[BASELINE_WHAT].text, out);
    fputs(">\n", out);
    write_lines(&words, "", ESCAPE_XML, out);
    fprintf(out, "      </%s>\n    </testcase>\n", tag);
}

static void write_junit(const BaselineCheck *check, FILE *out) {
    char counts[96];
    int skipped = check->entries[0].undecided; /* of a launched plan, which is alone */
    snprintf(counts, sizeof counts, " tests=\"%d\" failures=\"%d\" errors=\"%d\"", check->count,
             check->updated ? 0 : baseline_count(check, STATUS_WORSE),
             check->updated ? 0 : baseline_count(check, STATUS_ERROR));
    fprintf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"shardopt check\"%s>\n  <testsuite",
            counts);
    attribute("name", check->baseline ? check->baseline : "launched plan", out);
    fprintf(out, "%s skipped=\"%d\">\n    <properties>\n      <property name=\"version\"", counts, skipped);
    attribute("value", check->version, out);
    fputs("/>\n      <property name=\"data_sha256\"", out);
    attribute("value", check->data_sha256, out);
    fputs("/>\n    </properties>\n", out);
    for (int i = 0; i < check->count; i++) write_case(check, &check->entries[i], out);
    fputs("  </testsuite>\n</testsuites>\n", out);
}

/* ---- Markdown ---- */

/* "1.843 s → 1.921 s (+4.2%)", or one figure where it did not move. */
static void add_figure(Table *table, const CheckedEntry *entry, int i) {
    char was[NUMBER_TEXT_SIZE], now[NUMBER_TEXT_SIZE], change[NUMBER_TEXT_SIZE];
    const FigureChange *of = &entry->figures[i];
    FieldUnit *unit = baseline_has_both(entry) ? checked_field(entry->now.kind, i)->unit : NULL;
    if (!unit)
        table_cell(table, "-");
    else if (fabs(of->change) <= 1e-9)
        table_cell(table, "%s", unit(of->now, now));
    else
        table_cell(table, "%s → %s (%s)", unit(of->was, was), unit(of->now, now),
                   baseline_change_text(of->change, change));
}

/* False: memory is out. */
static bool write_table(const BaselineCheck *check, bool moved, FILE *out) {
    Arena arena = {0};
    BaselineWords words;
    const ReportKind *kind = baseline_kind(check);
    Table table = table_new(&arena, NULL, NULL);
    table_column(&table, NULL, false); /* of statuses */
    table_column(&table, "of", false);
    for (int i = 0; i < CHECKED_FIGURES; i++) table_column(&table, checked_field(kind, i)->name, false);
    table_column(&table, kind->one, false);
    for (size_t v = 0; v < COUNT_OF(ORDER); v++)
        for (int i = 0; i < check->count; i++) {
            const CheckedEntry *entry = &check->entries[i];
            if (entry->status != ORDER[v] || moved == (ORDER[v] == STATUS_SAME)) continue;
            baseline_words(check, entry, &words);
            table_cell(&table, "%s", baseline_status_name(entry->status));
            table_cell(&table, "%s", entry->name);
            for (int figure = 0; figure < CHECKED_FIGURES; figure++) add_figure(&table, entry, figure);
            table_cell(&table, "%s", words.line[BASELINE_PLAN].text);
        }
    bool ok = table_write_markdown(&table, out);
    arena_free(&arena);
    return ok;
}

static void write_details(const BaselineCheck *check, FILE *out) {
    for (int i = 0; i < check->count; i++) {
        const CheckedEntry *entry = &check->entries[i];
        BaselineWords words;
        if (check->baseline && entry->status == STATUS_SAME) continue;
        baseline_words(check, entry, &words);
        fprintf(out, "- **%s**: ", baseline_status_name(entry->status));
        escape_write(ESCAPE_MARKDOWN, entry->name, out);
        fputc('\n', out);
        write_lines(&words, "  - ", ESCAPE_MARKDOWN, out);
    }
}

static bool write_markdown(const BaselineCheck *check, FILE *out) {
    Prose headline, hint;
    int same = baseline_count(check, STATUS_SAME);
    bool ok = true, passed = baseline_passes(check), moved = check->baseline && check->count > same;
    baseline_headline(check, &headline);
    baseline_hint(check, &hint);
    fprintf(out, "### Plan quality: %s\n\n",
            check->updated                ? "new baseline"
            : check->entries[0].undecided ? "not decided"
            : passed                      ? "passed"
                                          : "failed");
    escape_write(ESCAPE_MARKDOWN, headline.text, out);
    fputs("\n\n", out);
    if (moved) ok = write_table(check, true, out);
    if (moved) fputc('\n', out);
    write_details(check, out);
    if (moved) fputc('\n', out);
    escape_write(ESCAPE_MARKDOWN, hint.text, out);
    if (hint.used > 0) fputs("\n\n", out);
    if (same == 0 || !check->baseline) return ok;
    fprintf(out, "<details><summary>As before: %d</summary>\n\n", same);
    ok = write_table(check, false, out) && ok;
    fputs("\n</details>\n", out);
    return ok;
}

bool baseline_write(const BaselineCheck *check, BaselineFormat format, TextOut out, Error *error) {
    bool ok = true;
    if (format == BASELINE_JSON)
        ok = write_json(check, out.file);
    else if (format == BASELINE_MARKDOWN)
        ok = write_markdown(check, out.file);
    else
        format == BASELINE_JUNIT ? write_junit(check, out.file) : write_text(check, out);
    return (ok && !ferror(out.file)) || error_memory(error);
}

/* ---- workflow commands of GitHub, which it shows with the files of a pull request ---- */

/* `file`: NULL for none; `line`: of the file, 0: none of them. */
static void write_command(const char *command, const char *file, int64_t line, const char *title, const char *message,
                          FILE *out) {
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
    escape_write(ESCAPE_ANNOTATION, message, out);
    fputc('\n', out);
}

static void write_kind(const BaselineCheck *check, bool failed, FILE *out) {
    enum { SHOWN_MAX = 10 }; /* of each kind that GitHub shows of a step */
    const char *command = failed ? "error" : "notice";
    int count = 0, shown = 0;
    for (int i = 0; i < check->count; i++) {
        const CheckedEntry *entry = &check->entries[i];
        count += failed ? fails(entry) : entry->status == STATUS_BETTER;
    }
    for (int i = 0; i < check->count && shown < (count > SHOWN_MAX ? SHOWN_MAX - 1 : count); i++) {
        const CheckedEntry *entry = &check->entries[i];
        BaselineWords words;
        Prose message = {0};
        if (failed ? !fails(entry) : entry->status != STATUS_BETTER) continue;
        baseline_words(check, entry, &words);
        for (BaselineLine line = 0; line < BASELINE_LINES; line++)
            if (words.line[line].used > 0)
                prose_item(&message, "\n", "%s%s", baseline_heading(line), words.line[line].text);
        write_command(command, check->baseline ? check->baseline : entry->file, entry->line, entry->name, message.text,
                      out);
        shown++;
    }
    if (shown == count) return;
    Prose title = {0};
    prose_add(&title, "%d more plans are %s", count - shown, failed ? "worse" : "better");
    write_command(command, check->baseline, 0, title.text, "the log and the summary of the job list all of them", out);
}

bool baseline_write_annotations(const BaselineCheck *check, FILE *out, Error *error) {
    if (!check->updated) write_kind(check, true, out);
    if (!check->updated) write_kind(check, false, out);
    return !ferror(out) || error_set(error, ERROR_IO, "standard error", "cannot be written");
}
