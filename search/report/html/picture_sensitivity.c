/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the best step moves when a figure is a tenth lower or higher, the largest first, and where another plan wins. */
#include "search/report/html/pictures.h"

#include "base/util.h"

#include <math.h>
#include <stdlib.h>

static const double WIDTH = SVG_PANEL, LEFT = 162, RIGHT = 314, ROW = 24, TOP = 26;
enum { SHOWN_MAX = 14 }; /* of the chip, and of the profile */

/* The best step with a figure moved: what the search found, else of the plans that are here; else plan 1 as it is. */
static double effect(const PageFigure *figure, int move) {
    bool known = (figure->at[move].searched && figure->at[move].found) || figure->at[move].shown;
    return known ? figure->at[move].relative : figure->at[move].repriced;
}

static double largest(const PageFigure *figure) { return max_real(fabs(effect(figure, 0)), fabs(effect(figure, 1))); }

static int by_effect(const void *left, const void *right) {
    const PageFigure *a = *(const PageFigure *const *)left, *b = *(const PageFigure *const *)right;
    double x = largest(a), y = largest(b);
    return x != y ? (x > y ? -1 : 1) : (a > b) - (a < b);
}

static const char *say_change(double share, char *text) {
    snprintf(text, NUMBER_TEXT_SIZE, fabs(share) < 1e-9 ? "0%%" : "%+.3g%%", 100 * share);
    return text;
}

static const char *outcome(const PageFigure *figure, int move, char text[WORDS_SIZE]) {
    if (figure->at[move].shown && figure->at[move].changed)
        snprintf(text, WORDS_SIZE, "of the plans here %.280s leads", figure->at[move].winner);
    else if (figure->at[move].shown)
        snprintf(text, WORDS_SIZE, "of the plans here plan 1 leads");
    else if (!figure->at[move].searched)
        snprintf(text, WORDS_SIZE, figure->at[move].fits ? "not searched" : "plan 1 does not fit unchanged");
    else if (!figure->at[move].found)
        snprintf(text, WORDS_SIZE, "no plan fits");
    else if (figure->at[move].changed)
        snprintf(text, WORDS_SIZE, "%.300s wins", figure->at[move].winner);
    else
        snprintf(text, WORDS_SIZE, "plan 1 stays");
    return text;
}

static void draw_row(Svg *svg, const SvgScale *scale, double y, const PageFigure *figure) {
    double zero = svg_at(scale, 0);
    bool changed[PAGE_MOVES];
    char name[SVG_FIT_SIZE];
    svg_text(svg, LEFT - 8, y + 13, "end", NULL, "%s", svg_fit(figure->name, LEFT - 10, name));
    for (int move = 0; move < PAGE_MOVES; move++) {
        double at = svg_at(scale, effect(figure, move));
        char tip[2 * WORDS_SIZE], change[NUMBER_TEXT_SIZE], words[WORDS_SIZE];
        snprintf(tip, sizeof tip, "%s %s: step %s, %s", figure->name, move == 0 ? "-10%" : "+10%",
                 change_text(effect(figure, move), change), outcome(figure, move, words));
        /* One bar above the other: both may lie on one side. */
        svg_bar(svg, min_real(zero, at), y + 3 + 8 * move, max_real(1, fabs(at - zero)), 7,
                move == 0 ? PAINT_TENSOR : PAINT_ATTENTION, tip);
        changed[move] = figure->at[move].searched ? figure->at[move].changed || !figure->at[move].found
                                                  : figure->at[move].shown && figure->at[move].changed;
    }
    if (!changed[0] && !changed[1]) return;
    svg_mark(svg, 24, RIGHT + 12, y + 9, 5, NULL);
    svg_text(svg, RIGHT + 21, y + 13, "start", NULL, "%s",
             changed[0] && changed[1] ? "both"
             : changed[0]             ? "-10%"
                                      : "+10%");
}

static void list_row(Table *table, const PageFigure *figure) {
    char change[PAGE_MOVES][NUMBER_TEXT_SIZE], repriced[PAGE_MOVES][NUMBER_TEXT_SIZE], words[PAGE_MOVES][WORDS_SIZE];
    for (int move = 0; move < PAGE_MOVES; move++) {
        change_text(effect(figure, move), change[move]);
        if (figure->at[move].fits)
            change_text(figure->at[move].repriced, repriced[move]);
        else
            snprintf(repriced[move], NUMBER_TEXT_SIZE, "does not fit");
        outcome(figure, move, words[move]);
    }
    const char *cells[] = {figure->name, figure->hardware ? "hardware" : "profile",
                           change[0],    repriced[0],
                           words[0],     change[1],
                           repriced[1],  words[1]};
    table_row(table, cells);
}

static void add_words(const PageFacts *facts, const PageFigure *const *figures, int count, Prose *words) {
    int changes = 0, searched = 0, shown = 0;
    char change[NUMBER_TEXT_SIZE];
    Prose names = {0};
    for (int i = 0; i < count; i++) {
        bool here = false;
        for (int move = 0; move < PAGE_MOVES; move++) {
            searched += figures[i]->at[move].searched;
            shown += figures[i]->at[move].shown;
            here = here || (figures[i]->at[move].searched && figures[i]->at[move].changed);
            changes += figures[i]->at[move].searched && figures[i]->at[move].changed;
        }
        if (here) prose_item(&names, ", ", "%s", figures[i]->name);
    }
    prose_add(words, "Of %d answers with one figure 10%% lower or higher, plan 1 stays the best in %d", searched,
              searched - changes);
    if (names.used > 0) prose_add(words, "; another plan wins if one of these changes: %s", names.text);
    prose_add(words, ". The step depends most on %s: a change of 10%% is worth up to %s.", figures[0]->name,
              share_text(largest(figures[0]), change));
    if (shown > 0) prose_add(words, " %d further changes were computed for the plans of this page only.", shown);
    page_say_left_out(facts, PAGE_SENSITIVITY, words);
}

/* Those of the chip, or of the profile: the largest of them. */
static void draw_panel(FILE *out, const PageFigure *const *figures, int count, bool chip, const char *words) {
    const PageFigure *shown[SHOWN_MAX];
    int rows = 0;
    double low = 0, high = 0; /* of all: the two panels have one scale */
    for (int i = 0; i < count; i++) {
        for (int move = 0; move < PAGE_MOVES; move++) {
            low = min_real(low, effect(figures[i], move));
            high = max_real(high, effect(figures[i], move));
        }
        if (figures[i]->hardware == chip && rows < SHOWN_MAX) shown[rows++] = figures[i];
    }
    if (rows == 0) return;
    double room = max_real(0.002, 0.04 * (high - low)), bottom = TOP + ROW * rows + 4;
    SvgScale scale = {low - room, high + room, LEFT, RIGHT, false};
    Svg svg = svg_open(out, chip ? "sensitivity-svg" : "sensitivity-profile-svg", WIDTH, bottom + 82,
                       chip ? "The step when a figure of the chip is a tenth lower or higher"
                            : "The step when a figure of the profile is a tenth lower or higher",
                       words);
    svg_text(&svg, 4, 14, "start", "head", chip ? "Figures of the chip" : "Figures of the profile");
    svg_axis_x(&svg, &scale, 5, bottom, TOP, say_change, "change of the best step");
    for (int i = 0; i < rows; i++) draw_row(&svg, &scale, TOP + 2 + ROW * i, shown[i]);
    svg_line(&svg, svg_at(&scale, 0), TOP, svg_at(&scale, 0), bottom, "axis");
    SvgLegend legend = {4, WIDTH, 4, bottom + 58};
    svg_legend_add_bar(&svg, &legend, PAINT_TENSOR, "figure -10%");
    svg_legend_add_bar(&svg, &legend, PAINT_ATTENTION, "figure +10%");
    svg_legend_add_mark(&svg, &legend, 24, "another plan wins at");
    svg_close(&svg);
}

bool picture_sensitivity(const PageView *view, FILE *out, Prose *words, Table *table) {
    const PageFigure *figures[PAGE_FIGURES_MAX];
    int count = view->facts ? view->facts->figure_count : 0;
    if (count == 0) return false;
    for (int i = 0; i < count; i++) figures[i] = &view->facts->figures[i];
    qsort(figures, (size_t)count, sizeof figures[0], by_effect);
    add_words(view->facts, figures, count, words);
    draw_panel(out, figures, count, true, words->text);
    draw_panel(out, figures, count, false, words->text);
    *table = table_new(view->arena, "Each figure a tenth lower and higher",
                       "figure|of|>-10%: best step|>plan 1 as it is|winner|>+10%: best step|>plan 1 as it is|winner");
    for (int i = 0; i < count; i++) list_row(table, figures[i]);
    return true;
}
