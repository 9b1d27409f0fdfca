/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A check as Markdown: for the summary of a GitHub job, or a comment. */
#include "base/escape.h"
#include "search/baseline/baseline_check.h"

#include <math.h>

static void escaped(const char *text, FILE *out) { escape_write(ESCAPE_MARKDOWN, text, out); }

static void write_cell(const char *text, FILE *out) {
    fputs("| ", out);
    escaped(text, out);
    fputc(' ', out);
}

/* "1.843 s → 1.921 s (+4.2%)", or one figure where it did not move. */
static void write_figure(const CheckedEntry *entry, BaselineFigure figure, const char *(*unit)(double, char *),
                         FILE *out) {
    char was[NUMBER_TEXT_SIZE], now[NUMBER_TEXT_SIZE], change[NUMBER_TEXT_SIZE];
    const FigureChange *of = &entry->figures[figure];
    Prose cell = {0};
    if (!gate_has_both(entry))
        prose_add(&cell, "-");
    else if (fabs(of->change) <= 1e-9)
        prose_add(&cell, "%s", unit(of->now, now));
    else
        prose_add(&cell, "%s → %s (%s)", unit(of->was, was), unit(of->now, now), gate_change_text(of->change, change));
    write_cell(cell.text, out);
}

static void write_row(const BaselineCheck *gate, const CheckedEntry *entry, FILE *out) {
    BaselineWords words;
    gate_words(gate, entry, &words);
    fprintf(out, "| %s ", verdict_name(entry->verdict));
    write_cell(entry->name, out);
    write_figure(entry, GATE_STEP, step_text, out);
    write_figure(entry, GATE_MFU, share_text, out);
    write_figure(entry, GATE_MEMORY, number_bytes, out);
    write_cell(words.line[GATE_PLAN].text, out);
    fputs("|\n", out);
}

static void write_table(const BaselineCheck *gate, bool moved, FILE *out) {
    static const BaselineVerdict ORDER[] = {VERDICT_WORSE, VERDICT_ERROR, VERDICT_BETTER, VERDICT_NEW, VERDICT_SAME};
    fputs("| | of | step | MFU | HBM | plan |\n|---|---|---|---|---|---|\n", out);
    for (size_t v = 0; v < sizeof ORDER / sizeof ORDER[0]; v++)
        for (int i = 0; i < gate->count; i++)
            if (gate->entries[i].verdict == ORDER[v] && moved == (ORDER[v] != VERDICT_SAME))
                write_row(gate, &gate->entries[i], out);
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

bool gate_write_markdown(const BaselineCheck *gate, FILE *out, Error *error) {
    Prose line;
    gate_headline(gate, &line);
    fprintf(out, "### Plan quality: %s\n\n", gate->updated ? "new baseline" : gate_passes(gate) ? "passed" : "failed");
    escaped(line.text, out);
    fputs("\n\n", out);
    int same = gate_verdicts(gate, VERDICT_SAME), moved = gate->count - same;
    if (!gate->baseline) {
        write_details(gate, gate->entries, out);
        return !ferror(out) || error_memory(error);
    }
    if (moved > 0) {
        write_table(gate, true, out);
        fputc('\n', out);
        for (int i = 0; i < gate->count; i++)
            if (gate->entries[i].verdict != VERDICT_SAME) write_details(gate, &gate->entries[i], out);
        fputc('\n', out);
    }
    gate_hint(gate, &line);
    if (line.used > 0) {
        escaped(line.text, out);
        fputs("\n\n", out);
    }
    if (same > 0) {
        fprintf(out, "<details><summary>As before: %d</summary>\n\n", same);
        write_table(gate, false, out);
        fputs("\n</details>\n", out);
    }
    return !ferror(out) || error_memory(error);
}
