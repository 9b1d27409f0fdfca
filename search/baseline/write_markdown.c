/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A check as Markdown: for the summary of a GitHub job, or a comment. */
#include "base/escape.h"
#include "base/text/table.h"
#include "base/util.h"
#include "search/baseline/baseline_check.h"

#include <math.h>

static void escaped(const char *text, FILE *out) { escape_write(ESCAPE_MARKDOWN, text, out); }

/* "1.843 s → 1.921 s (+4.2%)", or one figure where it did not move. */
static void add_figure(Table *table, const CheckedEntry *entry, BaselineFigure figure,
                       const char *(*unit)(double, char *)) {
    char was[NUMBER_TEXT_SIZE], now[NUMBER_TEXT_SIZE], change[NUMBER_TEXT_SIZE];
    const FigureChange *of = &entry->figures[figure];
    Prose cell = {0};
    if (!gate_has_both(entry))
        prose_add(&cell, "-");
    else if (fabs(of->change) <= 1e-9)
        prose_add(&cell, "%s", unit(of->now, now));
    else
        prose_add(&cell, "%s → %s (%s)", unit(of->was, was), unit(of->now, now), gate_change_text(of->change, change));
    table_cell(table, "%s", cell.text);
}

static void add_row(Table *table, const BaselineCheck *gate, const CheckedEntry *entry) {
    BaselineWords words;
    gate_words(gate, entry, &words);
    table_cell(table, "%s", verdict_name(entry->verdict));
    table_cell(table, "%s", entry->name);
    add_figure(table, entry, GATE_STEP, step_text);
    add_figure(table, entry, GATE_MFU, share_text);
    add_figure(table, entry, GATE_MEMORY, number_bytes);
    table_cell(table, "%s", words.line[GATE_PLAN].text);
}

/* False: memory is out. */
static bool write_table(const BaselineCheck *gate, bool moved, FILE *out) {
    static const BaselineVerdict ORDER[] = {VERDICT_WORSE, VERDICT_ERROR, VERDICT_BETTER, VERDICT_NEW, VERDICT_SAME};
    static const char *const HEADINGS[] = {"of", "step", "MFU", "HBM", "plan"};
    Arena arena = {0};
    Table table = table_new(&arena, NULL, NULL);
    table_column(&table, NULL, false); /* of verdicts */
    for (size_t i = 0; i < COUNT_OF(HEADINGS); i++) table_column(&table, HEADINGS[i], false);
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
    bool ok = true;
    if (moved > 0) {
        ok = write_table(gate, true, out);
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
        ok = write_table(gate, false, out) && ok;
        fputs("\n</details>\n", out);
    }
    return (ok && !ferror(out)) || error_memory(error);
}
