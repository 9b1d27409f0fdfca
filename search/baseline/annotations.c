/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A check as workflow commands of GitHub Actions, which show beside the files of a pull request. */
#include "base/escape.h"
#include "search/baseline/baseline_check.h"

#include <inttypes.h>

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

static void write_entry(const BaselineCheck *gate, const CheckedEntry *entry, const char *command, FILE *out) {
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
    int count = 0, shown = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < gate->count; i++) {
            const CheckedEntry *entry = &gate->entries[i];
            bool failed = entry->verdict == VERDICT_WORSE || entry->verdict == VERDICT_ERROR;
            if (fails ? !failed : entry->verdict != VERDICT_BETTER) continue;
            if (pass == 0)
                count++;
            else if (shown++ < (count > SHOWN_MAX ? SHOWN_MAX - 1 : SHOWN_MAX))
                write_entry(gate, entry, command, out);
        }
    if (count <= SHOWN_MAX) return;
    Prose title = {0};
    prose_add(&title, "%d more plans are %s", count - (SHOWN_MAX - 1), fails ? "worse" : "better");
    write_start(command, gate->baseline, 0, title.text, out);
    fputs("the log and the summary of the job list all of them\n", out);
}

bool gate_write_annotations(const BaselineCheck *gate, FILE *out, Error *error) {
    if (gate->updated) return true;
    write_kind(gate, "error", true, out);
    write_kind(gate, "notice", false, out);
    return !ferror(out) || error_set(error, ERROR_IO, "standard error", "cannot be written");
}
