/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A check as text, for a terminal and a log, and the choice among the forms. */
#include "search/baseline/baseline_check.h"

#include <string.h>

const char *gate_format_name(BaselineFormat format) {
    static const char *const NAMES[GATE_FORMATS] = {"text", "json", "markdown", "junit"};
    return NAMES[format];
}

static void write_lines(const BaselineWords *words, BaselineLine from, TextOut out) {
    for (BaselineLine line = from; line < GATE_LINES; line++) {
        char first[32];
        snprintf(first, sizeof first, "    %s", gate_heading(line));
        if (words->line[line].used > 0) prose_write(out, first, "      ", words->line[line].text);
    }
}

static void write_entry(const BaselineCheck *gate, const CheckedEntry *entry, TextOut out) {
    char name[PROSE_SIZE], first[32];
    BaselineWords words;
    gate_words(gate, entry, &words);
    snprintf(first, sizeof first, "  %s: ", verdict_name(entry->verdict));
    prose_write(out, first, "    ", clean_text(entry->name, name, sizeof name));
    write_lines(&words, GATE_WHAT, out);
}

bool gate_write_text(const BaselineCheck *gate, TextOut out, Error *error) {
    static const BaselineVerdict ORDER[] = {VERDICT_WORSE, VERDICT_ERROR, VERDICT_BETTER, VERDICT_NEW};
    Prose line;
    gate_headline(gate, &line);
    prose_write(out, "", "  ", line.text);
    if (!gate->baseline) {
        BaselineWords words;
        gate_words(gate, gate->entries, &words);
        write_lines(&words, GATE_TERMS, out);
        return !ferror(out.file) || error_memory(error);
    }
    for (size_t v = 0; v < sizeof ORDER / sizeof ORDER[0]; v++)
        for (int i = 0; i < gate->count; i++)
            if (gate->entries[i].verdict == ORDER[v]) write_entry(gate, &gate->entries[i], out);
    gate_hint(gate, &line);
    if (line.used > 0) prose_write(out, "", "  ", line.text);
    return !ferror(out.file) || error_memory(error);
}

bool gate_write(const BaselineCheck *gate, BaselineFormat format, TextOut out, Error *error) {
    switch (format) {
    case GATE_JSON:
        return gate_write_json(gate, out.file, error);
    case GATE_MARKDOWN:
        return gate_write_markdown(gate, out.file, error);
    case GATE_JUNIT:
        return gate_write_junit(gate, out.file, error);
    case GATE_TEXT:
    case GATE_FORMATS:
        break;
    }
    return gate_write_text(gate, out, error);
}
