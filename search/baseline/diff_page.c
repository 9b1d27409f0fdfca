/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two reports side by side, as a page: what moved, the step and the memory of both best plans as sums whose parts are
 * drawn, and the ranks of all plans. */
#include "search/baseline/diff.h"

#include "base/text/bars.h"
#include "base/text/html.h"
#include "base/util.h"
#include "search/report/html/paints.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- pictures ---- */

/* A sum of A and of B, part by part: seconds or bytes. */
typedef struct {
    const char *id, *heading; /* of its section */
    const char *a, *b;        /* the plans */
    const DiffRows *parts;
    SvgSay *say, *amount; /* ticks, and figures */
} DiffBars;

/* A term's own paint; other parts take the first that none before them has. */
static Paint part_paint(const Bars *bars, const char *name) {
    static const Paint PAINTS[] = {PAINT_MATMUL, PAINT_TENSOR,   PAINT_OPTIMIZER, PAINT_ATTENTION,
                                   PAINT_FSDP,   PAINT_PIPELINE, PAINT_SEQUENCE,  PAINT_EXPERT};
    Paint paint = paint_of_term(name);
    if (paint != PAINT_OTHER || strcmp(name, "other") == 0) return paint;
    for (size_t i = 0; i < COUNT_OF(PAINTS); i++) {
        bool used = false;
        for (int part = 0; part < bars->parts; part++) used = used || bars->paint[part] == PAINTS[i];
        if (!used) return PAINTS[i];
    }
    return PAINT_OTHER;
}

static void name_whole(BarRow *whole, const char *side, const char *words) {
    char clean[WORDS_SIZE];
    snprintf(whole->label, sizeof whole->label, "%s%s%.300s", side, words[0] ? ": " : "",
             clean_text(words, clean, sizeof clean));
}

/* False: these are no sums that can be drawn. */
static bool fill(const DiffBars *from, Bars *to) {
    *to = (Bars){.rows = 2, .say = from->say, .amount = from->amount, .heading = "B: more, or less, of each than A"};
    name_whole(&to->row[0], "A", from->a);
    name_whole(&to->row[1], "B", from->b);
    for (int i = 0; i < from->parts->count; i++) {
        const DiffRow *part = &from->parts->row[i];
        char name[BAR_NAME_SIZE];
        clean_text(part->key, name, sizeof name);
        int own = bars_part(to, name, part_paint(to, name));
        double a = isnan(part->x) ? 0 : part->x, b = isnan(part->y) ? 0 : part->y;
        if (!(a >= 0 && b >= 0)) return false;
        to->row[0].of[own] += a, to->row[0].total += a;
        to->row[1].of[own] += b, to->row[1].total += b;
    }
    return to->row[0].total > 0 && to->row[1].total > 0 && isfinite(to->row[0].total + to->row[1].total);
}

/* "A's 1.575 s become 806.7 ms in B, -48.8%; most of it is matmul, -614 ms." */
static void bars_words(const DiffBars *from, const Bars *bars, Prose *to) {
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], change[NUMBER_TEXT_SIZE];
    double was = bars->row[0].total, now = bars->row[1].total, most = 0;
    int which = 0;
    for (int i = 0; i < bars->parts; i++) {
        double moved = bars->row[1].of[i] - bars->row[0].of[i];
        if (fabs(moved) > fabs(most)) most = moved, which = i;
    }
    prose_add(to, "A's %s become %s in B, %s", from->amount(was, a), from->amount(now, b),
              diff_change(was, now, change));
    if (most != 0)
        prose_add(to, "; what moves most is %s, %s%s", bars->name[which], most > 0 ? "+" : "-",
                  from->amount(fabs(most), a));
    prose_add(to, ".");
}

/* A section that draws A in full, part under part, and next to it what each part has more or less of in B; its table
 * has the same. No picture where the sum of one side is not positive. False: memory is out. */
static bool write_bars(const DiffBars *from, Arena *arena, FILE *out) {
    static const double UNKNOWN[2] = {0, 0};
    Bars *bars = calloc(1, sizeof *bars);
    Drawn drawn = {.table = diff_table(from->parts, arena)};
    bool ok = bars && !drawn.table.failed, any = ok && fill(from, bars);
    char first[64], others[64];
    snprintf(first, sizeof first, "%s-svg", from->id);
    snprintf(others, sizeof others, "%s-others-svg", from->id);
    FILE *svg = any ? drawn_open(&drawn) : NULL;
    if (svg) {
        bars_words(from, bars, &drawn.words);
        bars_draw_first(bars, first, from->heading, drawn.words.text, UNKNOWN, svg);
        bars_draw_others(bars, others, from->heading, drawn.words.text, svg);
        drawn.table.caption = from->heading;
        drawn.table.column[0].name = "part";
        ok = drawn_close(&drawn, svg, true);
        if (ok) drawn_section(&drawn, from->id, from->heading, out);
    } else if (any) {
        ok = false;
    }
    free(drawn.svg);
    free(bars);
    return ok;
}

/* ---- the rest ---- */

/* A table under its title, whose first column is named for who hears it; nothing where it has no rows. */
static bool write_table(const char *title, Table table, FILE *out) {
    if (table.failed || table.rows == 0) return !table.failed;
    table.caption = title;
    if (!table.column[0].name || !table.column[0].name[0]) table.column[0].name = "what";
    return table_write_html(&table, out);
}

static bool is_one_word(const char *text) {
    static const char PLAIN[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/+-";
    return text[0] && text[0] != '-' && text[strspn(text, PLAIN)] == '\0';
}

/* The line that writes the page again; nothing where a shell would not take the names as they are. */
static void write_again(const char *a, const char *b, FILE *out) {
    Prose command = {0};
    prose_add(&command, "shardopt diff %s %s --format html -o page.html", a, b);
    if (is_one_word(a) && is_one_word(b)) html_again(out, command.text);
}

static void write_side(const char *side, const char *file, const char *words, FILE *out) {
    Prose line = {0};
    char clean[PROSE_SIZE];
    prose_add(&line, "%s is %s: %s.", side, file, words);
    html_paragraph(out, clean_text(line.text, clean, sizeof clean));
}

static void write_cards(const Diff *diff, FILE *out) {
    fputs("<dl class=\"cards\">\n", out);
    for (int i = 0; i < diff->figures.count; i++) {
        const DiffRow *figure = &diff->figures.row[i];
        char more[2 * NUMBER_TEXT_SIZE + 16];
        snprintf(more, sizeof more, figure->x == figure->y ? "as in A" : "%s, from %s in A", figure->change, figure->a);
        html_card(out, figure->name, figure->b, more);
    }
    fputs("</dl>\n", out);
}

static bool write_moved(const Diff *diff, Arena *arena, FILE *out) {
    Prose because = {0};
    char clean[PROSE_SIZE], settings[64];
    snprintf(settings, sizeof settings, "Settings of the best %ss", diff->a.kind->one);
    html_section_open(out, "moved", "What moved");
    if (diff->both && diff->different) write_cards(diff, out);
    write_side("A", diff->a_file, diff->a_words, out);
    write_side("B", diff->b_file, diff->b_words, out);
    for (int i = 0; i < diff->cause_count; i++)
        prose_item(&because, "; ", "%s%s", because.used ? "" : "Because: ", diff->causes[i].text);
    html_paragraph(out, clean_text(because.text, clean, sizeof clean));
    bool ok = write_table("The request", diff_table(&diff->request, arena), out) &&
              write_table(settings, diff_table(&diff->plan, arena), out) &&
              write_table("The searches", diff_table(&diff->search, arena), out);
    html_section_close(out);
    return ok;
}

static bool write_pictures(const Diff *diff, Arena *arena, FILE *out) {
    const char *a = diff->a.best.label, *b = diff->b.best.label;
    DiffBars step = {"step", "Where a step goes", a, b, &diff->step, svg_say_seconds, number_time};
    DiffBars memory = {"memory", "What is in HBM", a, b, &diff->memory, svg_say_bytes, number_bytes};
    return write_bars(&step, arena, out) && write_bars(&memory, arena, out);
}

static bool write_ranks(const Diff *diff, Arena *arena, FILE *out) {
    html_section_open(out, "plans", "The plans of both");
    bool ok = write_table("Plans, by rank", diff_plans_table(diff, arena), out);
    html_section_close(out);
    return ok;
}

static void write_links(const Diff *diff, FILE *out) {
    static const HtmlLink LINKS[] = {{"moved", "What moved"}, {"plans", "The plans of both"}},
                          BOTH[] = {{"moved", "What moved"},
                                    {"step", "Where a step goes"},
                                    {"memory", "What is in HBM"},
                                    {"plans", "The plans of both"}};
    if (diff->both)
        html_contents(out, BOTH, diff->plans_count > 0 ? COUNT_OF(BOTH) : COUNT_OF(BOTH) - 1);
    else
        html_contents(out, LINKS, diff->plans_count > 0 ? 2 : 1);
}

bool diff_write_page(const Diff *diff, FILE *out, Error *error) {
    Arena arena = {0};
    Prose headline;
    diff_headline(diff, &headline);
    char title[64];
    snprintf(title, sizeof title, "Two %ss side by side", diff->a.kind->one);
    html_open(out, title, headline.text);
    if (diff->different) write_links(diff, out);
    bool ok = write_moved(diff, &arena, out) &&
              (!diff->different || !diff->both || write_pictures(diff, &arena, out)) &&
              (!diff->different || diff->plans_count == 0 || write_ranks(diff, &arena, out));
    write_again(diff->a_file, diff->b_file, out);
    html_close(out);
    arena_free(&arena);
    return (ok && !ferror(out)) || error_memory(error);
}
