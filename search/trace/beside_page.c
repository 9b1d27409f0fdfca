/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/trace/beside_page.h"

#include "base/escape.h"
#include "base/text/html.h"
#include "base/util.h"
#include "search/trace/beside_words.h"

#include <stdlib.h>

static const struct {
    const char *id, *heading;
    BesidePicture *draw;
} PICTURES[] = {{"time", "One step in time", beside_picture_time},
                {"terms", "Where a step goes", beside_picture_terms}};

static const char *first_heading(const Beside *beside) {
    return beside->plan ? "Measured beside predicted" : "What was measured";
}

static bool draw(const Beside *beside, Arena *arena, BesidePicture *picture, Drawn *out) {
    FILE *svg = drawn_open(out);
    return svg && drawn_close(out, svg, picture(beside, arena, svg, &out->words, &out->table));
}

static void write_cards(const Beside *beside, FILE *out) {
    const RankMatch *match = &beside->match;
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], value[NUMBER_TEXT_SIZE + 16], more[2 * NUMBER_TEXT_SIZE + 64] = "";
    fputs("<dl class=\"cards\">\n", out);
    if (beside->plan && beside->plan->step > 0)
        snprintf(more, sizeof more, "the plan has %s (%s)", step_text(beside->plan->step, a),
                 change_text(beside->step_measured / beside->plan->step - 1, b));
    html_card(out, "Step", step_text(beside->step_measured, value), more);
    snprintf(value, sizeof value, "%d", beside->rank_count);
    snprintf(more, sizeof more, "%d %s", beside->ranks[0].steps_used,
             beside->ranks[0].steps_used == 1 ? "step counts" : "steps of the first count");
    html_card(out, beside->rank_count == 1 ? "Device" : "Devices", value, more);
    html_card(out, "Placed", share_text(beside->placed_share, value), "of the kernels' time has a term");
    if (beside_peak(beside) >= 0) {
        more[0] = '\0';
        if (beside->plan && beside->plan->memory_bytes > 0)
            snprintf(more, sizeof more, "the plan has %s", number_bytes(beside->plan->memory_bytes, a));
        html_card(out, "Most memory", number_bytes((double)beside_peak(beside), value), more);
    }
    if (match->known && match->straggler >= 0) {
        const RankTrace *late = &beside->ranks[match->straggler];
        snprintf(value, sizeof value, "rank %lld", (long long)(late->rank >= 0 ? late->rank : late->device));
        snprintf(more, sizeof more, "others wait %s for it, in all of the trace",
                 step_text(match->caused[match->straggler], a));
        html_card(out, "Comes last", value, more);
    }
    fputs("</dl>\n", out);
}

static void write_list(const char *tag, const char *const *texts, int count, FILE *out) {
    fprintf(out, "<%s>\n", tag);
    for (int i = 0; i < count; i++) {
        fputs("<li>", out);
        escape_write(ESCAPE_HTML, texts[i], out);
        fputs("</li>\n", out);
    }
    fprintf(out, "</%s>\n", tag);
}

static void write_differences(const Beside *beside, FILE *out) {
    if (!beside->plan) return;
    html_heading(out, "What is most off");
    if (beside->difference_count == 0) html_paragraph(out, "No term is off by more than 0.5% of the step.");
    if (beside->difference_count > 0) write_list("ol", beside->differences, beside->difference_count, out);
}

static bool write_verdict(const Beside *beside, Arena *arena, FILE *out) {
    Prose head = {0}, plan = {0};
    beside_head_words(beside, &head);
    html_section_open(out, "verdict", first_heading(beside));
    write_cards(beside, out);
    html_paragraph(out, head.text);
    if (beside->plan) prose_add(&plan, "Plan %lld: %s", (long long)beside->plan->rank, beside->plan->notation);
    html_paragraph(out, plan.text);
    write_differences(beside, out);
    html_heading(out, "Term by term");
    Table table = beside_table(beside, arena);
    Table stages = beside_stage_table(beside, arena);
    bool ok = !table.failed && !stages.failed;
    if (ok) table_write_html(&table, out);
    if (ok && stages.rows > 0) {
        html_heading(out, "Stage by stage");
        table_write_html(&stages, out);
    }
    html_section_close(out);
    return ok;
}

static void write_basis(const Beside *beside, const char *more, FILE *out) {
    Prose rates = {0}, ranks = {0}, placed = {0}, memory = {0};
    beside_rates_words(beside, &rates);
    beside_ranks_words(beside, &ranks);
    beside_placed_words(beside, &placed);
    beside_memory_words(beside, &memory);
    html_section_open(out, "basis", "What it rests on");
    html_paragraph(out, rates.text);
    html_paragraph(out, ranks.text);
    html_paragraph(out, placed.text);
    html_paragraph(out, memory.text);
    if (beside->note_count > 0) write_list("ul", beside->notes, beside->note_count, out);
    if (more[0]) {
        fputs("<pre>", out);
        escape_write(ESCAPE_HTML, more, out);
        fputs("</pre>\n", out);
    }
    html_section_close(out);
}

static bool write_page(const Beside *beside, const Drawn *drawn, const char *more, Arena *arena, FILE *out) {
    HtmlLink links[COUNT_OF(PICTURES) + 2] = {{"verdict", first_heading(beside)}};
    int count = 1;
    for (size_t i = 0; i < COUNT_OF(PICTURES); i++)
        if (drawn[i].drawn) links[count++] = (HtmlLink){PICTURES[i].id, PICTURES[i].heading};
    links[count++] = (HtmlLink){"basis", "What it rests on"};
    html_open(out, beside->plan ? "A measured step beside its plan" : "A measured step",
              "Where the time of a step went, by what a profiler recorded");
    html_contents(out, links, count);
    bool ok = write_verdict(beside, arena, out);
    for (size_t i = 0; i < COUNT_OF(PICTURES); i++)
        if (drawn[i].drawn) drawn_section(&drawn[i], PICTURES[i].id, PICTURES[i].heading, out);
    write_basis(beside, more, out);
    html_close(out);
    return ok;
}

bool beside_write_page(const Beside *beside, const char *more, FILE *out, Error *error) {
    Arena arena = {0};
    Drawn *drawn = calloc(COUNT_OF(PICTURES), sizeof *drawn);
    bool ok = drawn != NULL;
    for (size_t i = 0; i < COUNT_OF(PICTURES) && ok; i++) ok = draw(beside, &arena, PICTURES[i].draw, &drawn[i]);
    ok = ok && write_page(beside, drawn, more, &arena, out);
    for (size_t i = 0; i < COUNT_OF(PICTURES) && drawn; i++) free(drawn[i].svg);
    free(drawn);
    arena_free(&arena);
    return ok || error_memory(error);
}
