/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The whole training against the size of the machine, one line for each batch; and the MFU that is left of it. */
#include "search/report/html/pictures.h"

#include "base/text/lines.h"
#include "base/util.h"

enum { MIDDLE = 1 };
static const int KINDS[PAGE_BATCHES] = {1, 0, 2}; /* marks: a square, a disc, a triangle */

static double chips_of(const PagePoint *point) { return (double)point->chips; }

/* A training is seldom a round number of seconds. */
typedef struct {
    double seconds;
    const char *label;
} Unit;
static Unit unit_of(double longest) {
    static const Unit UNITS[] = {
        {31557600, "years"}, {86400, "days"}, {3600, "hours"}, {60, "minutes"}, {1, "seconds"}};
    size_t i = 0;
    while (i + 1 < COUNT_OF(UNITS) && longest < 3 * UNITS[i].seconds) i++;
    return UNITS[i];
}

/* `unit`: of the time of the whole training; 0: MFU is drawn. */
static void add_batch(Lines *lines, const PageFacts *facts, int b, double unit) {
    char style[16], tokens[NUMBER_TEXT_SIZE];
    int series = NOT_JOINED;
    for (int s = 0; s < PAGE_SIZES; s++) {
        const PagePoint *point = &facts->size[s][b];
        char chips[NUMBER_TEXT_SIZE], step[NUMBER_TEXT_SIZE], time[NUMBER_TEXT_SIZE], mfu[NUMBER_TEXT_SIZE];
        if (!point->found) continue;
        if (series == NOT_JOINED) {
            snprintf(style, sizeof style, "s%d thick", KINDS[b] % SVG_COLORS);
            series = lines_series(lines, JOIN_LINE, arena_text(lines->arena, style), NULL);
            lines_legend(lines, KINDS[b], arena_format(lines->arena, "batch %s", number_short(point->tokens, tokens)));
        }
        lines_point(lines,
                    (LinePoint){.x = chips_of(point),
                                .y = unit > 0 ? point->training_seconds / unit : point->mfu,
                                .kind = KINDS[b],
                                .size = facts->size_factor[s] == 1 && b == MIDDLE ? 6.5 : 4.5,
                                .series = series},
                    "%s chips (%s): %s, steps of %s, %s MFU: %s", svg_say_count(chips_of(point), chips), point->machine,
                    duration_text(point->training_seconds, time), step_text(point->step_seconds, step),
                    share_text(point->mfu, mfu), point->plan);
    }
}

/* What as many chip-hours as plan 1 takes would give. */
static void add_ideal(Lines *lines, const PageFacts *facts, double unit) {
    double product = 0;
    int series = lines_series(lines, JOIN_LINE, "axis dash", "linear scaling from plan 1, the larger mark");
    for (int s = 0; s < PAGE_SIZES; s++)
        if (facts->size_factor[s] == 1 && facts->size[s][MIDDLE].found)
            product = facts->size[s][MIDDLE].training_seconds * chips_of(&facts->size[s][MIDDLE]);
    for (int s = 0; s < PAGE_SIZES && product > 0; s++) {
        const PagePoint *point = &facts->size[s][MIDDLE];
        if (!point->found) continue;
        lines_point(lines, (LinePoint){.x = chips_of(point), .y = product / chips_of(point) / unit, .series = series},
                    "linear scaling");
    }
}

static void list_points(const PageFacts *facts, Table *table) {
    for (int b = 0; b < PAGE_BATCHES; b++)
        for (int s = 0; s < PAGE_SIZES; s++) {
            const PagePoint *point = &facts->size[s][b];
            char tokens[NUMBER_TEXT_SIZE], chips[NUMBER_TEXT_SIZE], step[NUMBER_TEXT_SIZE], time[NUMBER_TEXT_SIZE],
                mfu[NUMBER_TEXT_SIZE], factor[48];
            if (!point->requested) continue;
            snprintf(factor, sizeof factor, "machine x %g, batch x %g", facts->size_factor[s], facts->batch_factor[b]);
            if (!point->found) {
                const char *cells[] = {
                    factor, "", "", "", "", "", point->cut_short ? "the search ended early" : "no plan fits"};
                table_row(table, cells);
                continue;
            }
            const char *cells[] = {factor,
                                   svg_say_count(chips_of(point), chips),
                                   number_grouped((int64_t)point->tokens, tokens),
                                   step_text(point->step_seconds, step),
                                   share_text(point->mfu, mfu),
                                   duration_text(point->training_seconds, time),
                                   point->plan};
            table_row(table, cells);
        }
}

static void add_words(const PageView *view, Prose *words) {
    const PageFacts *facts = view->facts;
    const PagePoint *least = NULL, *most = NULL;
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], c[NUMBER_TEXT_SIZE];
    for (int s = 0; s < PAGE_SIZES; s++) {
        const PagePoint *point = &facts->size[s][MIDDLE];
        if (!point->found) continue;
        if (!least) least = point;
        most = point;
    }
    if (!least) return;
    prose_add(words, "%s tokens take %s on %s chips", number_short(view->report->request->question.training_tokens, a),
              duration_text(least->training_seconds, b), svg_say_count(chips_of(least), c));
    if (most != least) {
        double ideal = least->training_seconds * chips_of(least) / chips_of(most);
        prose_add(words, " and %s on %s", duration_text(most->training_seconds, a), svg_say_count(chips_of(most), b));
        prose_add(words, ", which is %s of linear scaling", share_text(ideal / most->training_seconds, c));
    }
    prose_add(words, ", with the batch as requested. Each point is a search of its own, on machines like plan 1's.");
    if (facts->thin) prose_add(words, " The search is large, so fewer points were searched.");
    page_say_left_out(facts, PAGE_SCALING, words);
}

/* The time of the whole training; else MFU. */
static bool draw_panel(const PageView *view, FILE *out, bool training, const char *words) {
    const PageFacts *facts = view->facts;
    Lines lines = lines_new(view->arena, PAGE_SIZES * (PAGE_BATCHES + 1));
    double longest = 0;
    for (int s = 0; s < PAGE_SIZES; s++)
        for (int b = 0; b < PAGE_BATCHES; b++)
            if (facts->size[s][b].found) longest = max_real(longest, facts->size[s][b].training_seconds);
    Unit unit = unit_of(longest);
    lines.id = training ? "scaling-svg" : "scaling-mfu-svg", lines.words = words;
    lines.title = training ? "Time against the machine and the batch" : "MFU against the machine and the batch";
    lines.heading = training ? "The whole training" : "MFU";
    lines.x = (LineAxis){svg_say_count, "chips", false, true};
    lines.y =
        training ? (LineAxis){svg_say_number, unit.label, false, false} : (LineAxis){svg_say_share, "", true, false};
    for (int b = 0; b < PAGE_BATCHES; b++) add_batch(&lines, facts, b, training ? unit.seconds : 0);
    if (training) add_ideal(&lines, facts, unit.seconds);
    return lines_draw(&lines, out);
}

bool picture_scaling(const PageView *view, FILE *out, Prose *words, Table *table) {
    const PageFacts *facts = view->facts;
    int found = 0;
    for (int s = 0; facts && s < PAGE_SIZES; s++)
        for (int b = 0; b < PAGE_BATCHES; b++) found += facts->size[s][b].found;
    if (found == 0) return false;
    add_words(view, words);
    bool ok = draw_panel(view, out, true, words->text) && draw_panel(view, out, false, words->text);
    *table = table_new(view->arena, "Other machines and batches",
                       "against plan 1|>chips|>tokens a step|>step|>MFU|>training|best plan");
    list_points(facts, table);
    table->failed = table->failed || !ok;
    return true;
}
