/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a step goes, next to where the memory goes. */
#include "search/report/text/parts.h"

#include "base/text/terminal.h"
#include "base/util.h"

#include <math.h>
#include <string.h>

enum { LEFT_COLUMNS = 62, LEFT_BAR = 18, RIGHT_BAR = 12, BARS_MAX = 24 };

typedef struct {
    char text[WORDS_SIZE];
} Line;

/* `share` of `columns` block elements, to an eighth. */
static void add_bar(Prose *to, double share, int columns) {
    static const char *const EIGHTHS[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    if (!(share > 0)) return;
    int eighths = (int)(min_real(share, 1) * columns * 8 + 0.5);
    for (int i = 0; i < eighths / 8; i++) prose_add(to, "█");
    prose_add(to, "%s", EIGHTHS[eighths % 8]);
}

static void keep(const Prose *prose, Line *line) {
    size_t length = prose->used < WORDS_SIZE - 1 ? prose->used : WORDS_SIZE - 1;
    while (length > 0 && prose->text[length - 1] == ' ') length--;
    memcpy(line->text, prose->text, length);
    line->text[length] = '\0';
}

static int time_lines(const RankedPlan *ranked, Line *lines) {
    Term terms[TERMS_MAX];
    int terms_count = step_terms(&ranked->estimate, &ranked->plan.degrees, terms), count = 0;
    double longest = 0, step = ranked->estimate.time.seconds;
    for (int i = 0; i < terms_count; i++) longest = max_real(longest, terms[i].seconds);
    for (int i = 0; i < terms_count; i++) {
        bool shown = terms[i].seconds > 1e-6 * longest; /* less is what rounding leaves */
        if (!shown && terms[i].whole_seconds <= 0) continue;
        char seconds[NUMBER_TEXT_SIZE], whole[NUMBER_TEXT_SIZE];
        Prose line = {0};
        prose_add(&line, "  %-12s%9s %3.0f%%  ", terms[i].name, shown ? number_time(terms[i].seconds, seconds) : "-",
                  100 * terms[i].seconds / step);
        add_bar(&line, longest > 0 ? terms[i].seconds / longest : 0, LEFT_BAR);
        if (terms[i].whole_seconds > terms[i].seconds * (1 + 1e-9))
            prose_add(&line, " exposed of %s", number_time(terms[i].whole_seconds, whole));
        keep(&line, &lines[count++]);
    }
    return count;
}

/* What becomes of the activations, in a few words. */
static void add_remat(const Request *request, const Layout *layout, Prose *to) {
    char name[REMAT_TEXT_SIZE];
    bool recomputed = false, offloaded = false;
    remat_name(&request->question.model, layout, name);
    for (int i = 0; i < ACTIVATION_COUNT; i++) {
        recomputed = recomputed || layout->layers[i][STATE_RECOMPUTED] + layout->layers[i][STATE_PARTLY] > 0;
        offloaded = offloaded || layout->layers[i][STATE_OFFLOADED] > 0;
    }
    if (!recomputed && !offloaded)
        prose_add(to, " all saved");
    else if (strcmp(name, "custom") != 0)
        prose_add(to, " remat %s", name);
    else
        prose_add(to, " %s", !offloaded ? "some recomputed" : !recomputed ? "some offloaded" : "recomputed, offloaded");
}

static int memory_lines(const Request *request, const RankedPlan *ranked, Line *lines) {
    const Estimate *estimate = &ranked->estimate;
    const MemoryRows *rows = &estimate->memory;
    const struct {
        const char *name;
        double bytes;
    } ROWS[] = {
        {"parameters", rows->parameters_bytes}, {"gradients", rows->gradients_bytes},
        {"optimizer", rows->optimizer_bytes},   {"activations", rows->activations_bytes},
        {"gathered", rows->gathered_bytes},     {"logits", rows->logits_bytes},
        {"transients", rows->transient_bytes},
    };
    double largest = 0, total = memory_total(rows);
    int count = 0;
    char bytes[NUMBER_TEXT_SIZE], limit[NUMBER_TEXT_SIZE];
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) largest = max_real(largest, ROWS[i].bytes);
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Prose line = {0};
        prose_add(&line, "  %-12s%9s %3.0f%%  ", ROWS[i].name, number_bytes(ROWS[i].bytes, bytes),
                  100 * ROWS[i].bytes / estimate->memory_limit_bytes);
        add_bar(&line, largest > 0 ? ROWS[i].bytes / largest : 0, RIGHT_BAR);
        if (i == 3) add_remat(request, &ranked->plan.layout, &line);
        keep(&line, &lines[count++]);
    }
    Prose line = {0};
    bool lacks = total > estimate->memory_limit_bytes;
    prose_add(&line, "  %-12s%9s %3.0f%%  of %s", lacks ? "lacking" : "free",
              number_bytes(fabs(estimate->memory_limit_bytes - total), bytes),
              100 * fabs(1 - total / estimate->memory_limit_bytes), number_bytes(estimate->memory_limit_bytes, limit));
    keep(&line, &lines[count++]);
    return count;
}

/* A line with its bar in colour. */
static void write_line(const char *text, TextOut out) {
    const char *start = strstr(text, "\xe2\x96"), *end = start; /* block elements are e2 96 80 to e2 96 9f */
    while (end && end[0] == '\xe2' && end[1] == '\x96') end += 3;
    if (!start) {
        fputs(text, out.file);
        return;
    }
    fprintf(out.file, "%.*s", (int)(start - text), text);
    text_bar(out);
    fprintf(out.file, "%.*s", (int)(end - start), start);
    text_plain(out);
    fputs(end, out.file);
}

static void write_heading(const char *text, TextOut out) {
    text_strong(out);
    fputs(text, out.file);
    text_plain(out);
}

/* One list below the other: for a terminal that is too narrow for both. */
static void write_stacked(const char *title, const Line *lines, int count, TextOut out) {
    write_heading(title, out);
    fputc('\n', out.file);
    for (int i = 0; i < count; i++) {
        write_line(lines[i].text, out);
        fputc('\n', out.file);
    }
}

void bars_write(const char *title, const Request *request, const RankedPlan *ranked, TextOut out) {
    Line left[BARS_MAX], right[BARS_MAX];
    char heading[WORDS_SIZE], memory[WORDS_SIZE];
    int left_count = time_lines(ranked, left), right_count = memory_lines(request, ranked, right);
    bool stages = ranked->plan.degrees.of[ROLE_PIPELINE] > 1;
    int columns = LEFT_COLUMNS, right_columns = 0, room = out.terminal.columns;
    for (int i = 0; i < left_count && i < right_count; i++) /* more where the longest bar has words behind it */
        columns = (int)max_whole(columns, text_columns(left[i].text) + 2);
    for (int i = 0; i < right_count; i++) right_columns = (int)max_whole(right_columns, text_columns(right[i].text));
    snprintf(memory, sizeof memory, "Peak HBM per chip, %s", moment_text(ranked->estimate.moment, stages));
    if (room > 0 && columns + right_columns > room) {
        write_stacked(title, left, left_count, out);
        fputc('\n', out.file);
        write_stacked(memory, right, right_count, out);
        return;
    }
    snprintf(heading, sizeof heading, "%s%*s", title, (int)max_whole(2, columns - text_columns(title)), "");
    write_heading(heading, out);
    write_heading(memory, out);
    fputc('\n', out.file);
    for (int i = 0; i < left_count || i < right_count; i++) {
        const char *first = i < left_count ? left[i].text : "";
        write_line(first, out);
        if (i < right_count) {
            fprintf(out.file, "%*s", (int)max_whole(2, columns - text_columns(first)), "");
            write_line(right[i].text, out);
        }
        fputc('\n', out.file);
    }
}
