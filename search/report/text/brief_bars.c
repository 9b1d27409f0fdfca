/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/report/text/brief_bars.h"

#include "base/memory_stream.h"
#include "base/util.h"
#include "search/report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BAR = 8, LEFT_COLUMNS = 40, COLUMNS = 120 };

void parts_add(Parts *parts, const char *name, double value) {
    if (value > 1e-6 * parts->whole && parts->count < PARTS_MAX) parts->parts[parts->count++] = (Part){name, value};
}

/* What has no name of its own comes last, where it goes into the rest. */
static int by_size(const void *left, const void *right) {
    const Part *a = left, *b = right;
    bool a_other = strcmp(a->name, "other") == 0, b_other = strcmp(b->name, "other") == 0;
    if (a_other != b_other) return a_other ? 1 : -1;
    if (a->value != b->value) return a->value > b->value ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* The largest of them, the rest as one part: at most `rows`, the last of which is what memory has free. */
static void keep_largest(Parts *parts, int rows) {
    double used = 0;
    for (int i = 0; i < parts->count; i++) used += parts->parts[i].value;
    qsort(parts->parts, (size_t)parts->count, sizeof *parts->parts, by_size);
    rows -= parts->bytes;
    if (parts->count > rows) {
        Part rest = {rows == 1 ? "used" : "other", 0};
        for (int i = rows - 1; i < parts->count; i++) rest.value += parts->parts[i].value;
        parts->parts[rows - 1] = rest;
        parts->count = rows;
    }
    if (parts->bytes)
        parts->parts[parts->count++] = (Part){used > parts->whole ? "lacking" : "free", fabs(parts->whole - used)};
}

/* Roles are what they exchange. */
static const char *part_name(const char *term) {
    static const struct {
        const char *term, *name;
    } ROLES[] = {{"tensor", "TP comms"}, {"sequence", "CP comms"}, {"pipeline", "PP comms"},
                 {"expert", "EP comms"}, {"fsdp", "FSDP comms"},   {"data", "DP comms"}};
    for (size_t i = 0; i < COUNT_OF(ROLES); i++)
        if (strcmp(term, ROLES[i].term) == 0) return ROLES[i].name;
    return term;
}

void plan_time_parts(const RankedPlan *ranked, Parts *out) {
    Term terms[TERMS_MAX];
    int count = step_terms(&ranked->estimate, &ranked->plan.degrees, terms);
    *out = (Parts){.title = "Where a step goes (all of it: -v)", .whole = ranked->estimate.time.seconds};
    for (int i = 0; i < count; i++) parts_add(out, part_name(terms[i].name), terms[i].seconds);
}

void plan_memory_parts(const RankedPlan *ranked, Parts *out) {
    const MemoryRows *memory = &ranked->estimate.memory;
    *out = (Parts){.whole = ranked->estimate.memory_limit_bytes, .bytes = true};
    snprintf(out->title, sizeof out->title, "Where HBM goes at its peak, %s",
             moment_text(ranked->estimate.moment, ranked->plan.degrees.of[ROLE_PIPELINE] > 1));
    parts_add(out, "parameters", memory->parameters_bytes);
    parts_add(out, "gradients", memory->gradients_bytes);
    parts_add(out, "optimizer", memory->optimizer_bytes);
    parts_add(out, "activations", memory->activations_bytes);
    parts_add(out, "gathered", memory->gathered_bytes);
    parts_add(out, "logits", memory->logits_bytes);
    parts_add(out, "transients", memory->transient_bytes);
}

/* Columns of the longest name. */
static int name_columns(const Parts *of) {
    int columns = 12;
    for (int i = 0; i < of->count; i++) columns = (int)max_whole(columns, text_columns(of->parts[i].name));
    return columns;
}

/* "  matmul        5.70 s  76% ██████  "; columns of it. */
static int write_part(const Parts *of, int i, TextOut out) {
    static const char *const EIGHTHS[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    if (i >= of->count) return 0;
    char value[NUMBER_TEXT_SIZE];
    const Part *part = &of->parts[i];
    double share = of->whole > 0 ? part->value / of->whole : 0;
    (of->bytes ? number_bytes : number_time)(part->value, value);
    int eighths = (int)(min_real(1, max_real(0, share)) * BAR * 8 + 0.5);
    int columns =
        fprintf(out.file, "  %-*s%9s %3.0f%%%s", name_columns(of), part->name, value, 100 * share, eighths ? " " : "");
    if (eighths == 0) return columns;
    text_bar(out);
    for (int k = 0; k < eighths / 8; k++) fputs("█", out.file);
    fputs(EIGHTHS[eighths % 8], out.file);
    text_plain(out);
    return columns + (eighths + 7) / 8;
}

static void write_heading(const char *text, TextOut out) {
    text_strong(out);
    fputs(text, out.file);
    text_plain(out);
}

void brief_bars_write(const Parts *time, const Parts *memory, int rows, TextOut out) {
    Parts left = *time, right = *memory;
    keep_largest(&left, rows);
    keep_largest(&right, rows);
    enum { WITHOUT_NAME = 28 };
    int columns_left = (int)max_whole(LEFT_COLUMNS, name_columns(&left) + WITHOUT_NAME);
    bool paired = out.terminal.columns == 0 || out.terminal.columns >= columns_left + LEFT_COLUMNS - 2;
    write_heading(left.title, out);
    if (paired) {
        fprintf(out.file, "%*s", (int)max_whole(2, columns_left - text_columns(left.title)), "");
        write_heading(right.title, out);
    }
    fputc('\n', out.file);
    for (int i = 0; i < left.count || (paired && i < right.count); i++) {
        int columns = write_part(&left, i, out);
        if (paired && i < right.count) {
            fprintf(out.file, "%*s", columns_left - columns, "");
            write_part(&right, i, out);
        }
        fputc('\n', out.file);
    }
    if (paired) return;
    write_heading(right.title, out);
    fputc('\n', out.file);
    for (int i = 0; i < right.count; i++) {
        write_part(&right, i, out);
        fputc('\n', out.file);
    }
}

int bar_rows(int used) {
    enum { ROWS_LEAST = 2, ROWS_MOST = 6, HEADING = 1 };
    return (int)max_whole(ROWS_LEAST, min_whole(ROWS_MOST, BRIEF_LINES - HEADING - used));
}

int lines_of(bool (*write)(const void *context, TextOut out), const void *context, TextOut out) {
    char *text = NULL;
    size_t length = 0;
    int lines = 0;
    FILE *memory = memory_stream_open(&text, &length);
    if (!memory) return LINES_UNKNOWN;
    bool written = write(context, (TextOut){memory, out.terminal});
    bool ok = fclose(memory) == 0 && written;
    for (const char *at = text, *end; ok && at && (end = strchr(at, '\n')) != NULL; at = end + 1)
        lines += (int)max_whole(1, divide_up(end - at, COLUMNS)); /* a command to copy is not wrapped */
    free(text);
    return ok ? lines : LINES_UNKNOWN;
}
