/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/report/text/brief_bars.h"

#include "base/util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BAR = 8, LEFT_COLUMNS = 40, PARTS_MAX = TERMS_MAX + 1 };

typedef struct {
    const char *name;
    double value;
} Part;

/* What has no name of its own comes last, where it goes into the rest. */
static int by_size(const void *left, const void *right) {
    const Part *a = left, *b = right;
    bool a_other = strcmp(a->name, "other") == 0, b_other = strcmp(b->name, "other") == 0;
    if (a_other != b_other) return a_other ? 1 : -1;
    if (a->value != b->value) return a->value > b->value ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* The largest of them, the rest as one part: at most `rows`. Returns how many are left. */
static int keep_largest(Part *parts, int count, int rows) {
    qsort(parts, (size_t)count, sizeof *parts, by_size);
    if (count <= rows) return count;
    Part rest = {rows == 1 ? "used" : "other", 0};
    for (int i = rows - 1; i < count; i++) rest.value += parts[i].value;
    parts[rows - 1] = rest;
    return rows;
}

static int time_parts(const RankedPlan *ranked, int rows, Part parts[PARTS_MAX]) {
    Term terms[TERMS_MAX];
    int count = 0, terms_count = step_terms(&ranked->estimate, &ranked->plan.degrees, terms);
    for (int i = 0; i < terms_count; i++)
        if (terms[i].seconds > 1e-6 * ranked->estimate.time.seconds)
            parts[count++] = (Part){terms[i].name, terms[i].seconds};
    return keep_largest(parts, count, rows);
}

static int memory_parts_of(const RankedPlan *ranked, int rows, Part parts[PARTS_MAX]) {
    const MemoryRows *memory = &ranked->estimate.memory;
    const Part all[] = {{"parameters", memory->parameters_bytes}, {"gradients", memory->gradients_bytes},
                        {"optimizer", memory->optimizer_bytes},   {"activations", memory->activations_bytes},
                        {"gathered", memory->gathered_bytes},     {"logits", memory->logits_bytes},
                        {"transients", memory->transient_bytes}};
    double limit = ranked->estimate.memory_limit_bytes, total = memory_total(memory);
    int count = 0;
    for (size_t i = 0; i < COUNT_OF(all); i++)
        if (all[i].value > 0) parts[count++] = all[i];
    count = keep_largest(parts, count, rows - 1);
    parts[count++] = (Part){total > limit ? "lacking" : "free", fabs(limit - total)};
    return count;
}

/* "  matmul        5.70 s  76% ██████  "; columns of it. */
static int write_part(const Part *part, const char *value, double whole, TextOut out) {
    static const char *const EIGHTHS[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    double share = whole > 0 ? part->value / whole : 0;
    int eighths = (int)(min_real(1, max_real(0, share)) * BAR * 8 + 0.5);
    int columns = fprintf(out.file, "  %-12s%9s %3.0f%%%s", part->name, value, 100 * share, eighths ? " " : "");
    if (eighths == 0) return columns;
    text_bar(out);
    for (int i = 0; i < eighths / 8; i++) fputs("█", out.file);
    fputs(EIGHTHS[eighths % 8], out.file);
    text_plain(out);
    return columns + (eighths + 7) / 8;
}

static int write_time(const Part *part, const RankedPlan *ranked, TextOut out) {
    char text[NUMBER_TEXT_SIZE];
    return write_part(part, number_time(part->value, text), ranked->estimate.time.seconds, out);
}

static int write_memory(const Part *part, const RankedPlan *ranked, TextOut out) {
    char text[NUMBER_TEXT_SIZE];
    return write_part(part, number_bytes(part->value, text), ranked->estimate.memory_limit_bytes, out);
}

static void write_heading(const char *text, TextOut out) {
    text_strong(out);
    fputs(text, out.file);
    text_plain(out);
}

void brief_bars_write(const RankedPlan *ranked, int rows, TextOut out) {
    static const char TITLE[] = "Step of plan 1 (full report: -v)";
    Part left[PARTS_MAX], right[PARTS_MAX];
    char memory[WORDS_SIZE];
    int left_count = time_parts(ranked, rows, left), right_count = memory_parts_of(ranked, rows, right);
    bool paired = out.terminal.columns == 0 || out.terminal.columns >= 2 * LEFT_COLUMNS - 2;
    snprintf(memory, sizeof memory, "Peak HBM per chip, %s",
             moment_text(ranked->estimate.moment, ranked->plan.degrees.of[ROLE_PIPELINE] > 1));
    write_heading(TITLE, out);
    if (paired) {
        fprintf(out.file, "%*s", LEFT_COLUMNS - (int)strlen(TITLE), "");
        write_heading(memory, out);
    }
    fputc('\n', out.file);
    for (int i = 0; i < left_count || (paired && i < right_count); i++) {
        int columns = i < left_count ? write_time(&left[i], ranked, out) : 0;
        if (paired && i < right_count) {
            fprintf(out.file, "%*s", LEFT_COLUMNS - columns, "");
            write_memory(&right[i], ranked, out);
        }
        fputc('\n', out.file);
    }
    if (paired) return;
    write_heading(memory, out);
    fputc('\n', out.file);
    for (int i = 0; i < right_count; i++) {
        write_memory(&right[i], ranked, out);
        fputc('\n', out.file);
    }
}
