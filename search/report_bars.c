/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a step goes, beside where the memory goes. */
#include "search/report_parts.h"

#include "base/util.h"

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
    double longest = 0;
    for (int i = 0; i < terms_count; i++) longest = max_real(longest, terms[i].seconds);
    for (int i = 0; i < terms_count; i++) {
        bool shown = terms[i].seconds > 1e-6 * longest; /* less is what rounding leaves */
        if (!shown && terms[i].whole_seconds <= 0) continue;
        char seconds[NUMBER_TEXT_SIZE], whole[NUMBER_TEXT_SIZE];
        Prose line = {0};
        prose_add(&line, "  %-12s%9s  ", terms[i].name, shown ? number_time(terms[i].seconds, seconds) : "-");
        add_bar(&line, longest > 0 ? terms[i].seconds / longest : 0, LEFT_BAR);
        if (terms[i].whole_seconds > terms[i].seconds * (1 + 1e-9))
            prose_add(&line, " of %s, rest may hide", number_time(terms[i].whole_seconds, whole));
        keep(&line, &lines[count++]);
    }
    return count;
}

/* What becomes of the activations, in a few words. */
static void add_remat(const Request *request, const Layout *layout, Prose *to) {
    char name[REMAT_TEXT_SIZE];
    bool recomputed = false, offloaded = false;
    remat_name(&request->model, layout, name);
    for (int i = 0; i < ACTIVATION_COUNT; i++) {
        recomputed = recomputed || layout->layers[i][STATE_RECOMPUTED] > 0;
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
        prose_add(&line, "  %-12s%9s  ", ROWS[i].name, number_bytes(ROWS[i].bytes, bytes));
        add_bar(&line, largest > 0 ? ROWS[i].bytes / largest : 0, RIGHT_BAR);
        if (i == 3) add_remat(request, &ranked->plan.layout, &line);
        keep(&line, &lines[count++]);
    }
    Prose line = {0};
    prose_add(&line, "  %-12s%9s", "free", number_bytes(estimate->memory_limit_bytes - total, bytes));
    prose_add(&line, "  of %s", number_bytes(estimate->memory_limit_bytes, limit));
    keep(&line, &lines[count++]);
    return count;
}

void bars_write(const char *title, const Request *request, const RankedPlan *ranked, FILE *out) {
    Line left[BARS_MAX], right[BARS_MAX];
    char heading[WORDS_SIZE];
    int left_count = time_lines(ranked, left), right_count = memory_lines(request, ranked, right);
    bool stages = ranked->plan.degrees.of[ROLE_PIPELINE] > 1;
    int columns = LEFT_COLUMNS; /* more where the longest bar has words behind it */
    for (int i = 0; i < left_count && i < right_count; i++)
        columns = (int)max_whole(columns, text_columns(left[i].text) + 2);
    snprintf(heading, sizeof heading, "%s%*s", title, (int)max_whole(2, columns - text_columns(title)), "");
    fprintf(out, "%sHBM per chip, %s\n", heading, moment_text(ranked->estimate.moment, stages));
    for (int i = 0; i < left_count || i < right_count; i++) {
        const char *first = i < left_count ? left[i].text : "";
        fputs(first, out);
        if (i < right_count) fprintf(out, "%*s%s", (int)max_whole(2, columns - text_columns(first)), "", right[i].text);
        fputc('\n', out);
    }
}
