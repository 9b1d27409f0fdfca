/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A check as JUnit's XML, which CI systems show: a test case for each plan. */
#include "base/escape.h"
#include "search/baseline/baseline_check.h"

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
    fputs("    <testcase classname=\"shardopt.check\"", out);
    attribute("name", entry->name, out);
    if ((!failed && !broken) || gate->updated) {
        fputs(">\n      <system-out>", out);
        write_words(&words, out);
        fputs("      </system-out>\n    </testcase>\n", out);
        return;
    }
    fprintf(out, ">\n      <%s", failed ? "failure" : "error");
    attribute("type", type_of(entry), out);
    attribute("message", words.line[GATE_WHAT].text, out);
    fputc('>', out);
    write_words(&words, out);
    fprintf(out, "      </%s>\n    </testcase>\n", failed ? "failure" : "error");
}

static void write_counts(const BaselineCheck *gate, FILE *out) {
    fprintf(out, " tests=\"%d\" failures=\"%d\" errors=\"%d\"", gate->count,
            gate->updated ? 0 : gate_verdicts(gate, VERDICT_WORSE),
            gate->updated ? 0 : gate_verdicts(gate, VERDICT_ERROR));
}

bool gate_write_junit(const BaselineCheck *gate, FILE *out, Error *error) {
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
    return !ferror(out) || error_memory(error);
}
