/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A report as one page: the verdict, the plans, the pictures, what it rests on. */
#include "base/escape.h"
#include "base/text/html.h"
#include "base/util.h"
#include "search/answer/doubts.h"
#include "search/report/html/pictures.h"
#include "search/report/html/write.h"
#include "search/report/text/parts.h"
#include "search/request/knobs.h"

#include <stdlib.h>

static const struct {
    const char *id, *heading;
    Picture *draw;
} PICTURES[] = {
    {"step", "Where a step goes", picture_step},
    {"memory", "What lies in HBM", picture_memory},
    {"mesh", "Where the roles lie", picture_mesh},
    {"timeline", "One step in time", picture_timeline},
    {"pareto", "Less memory, fewer chips", picture_pareto},
    {"scaling", "Other machines and batches", picture_scaling},
    {"sensitivity", "How sure the answer is", picture_sensitivity},
};

static bool draw(const PageView *view, Picture *picture, Drawn *out) {
    FILE *svg = drawn_open(out);
    return svg && drawn_close(out, svg, picture(view, svg, &out->words, &out->table));
}

static void write_cards(const PageView *view, FILE *out) {
    const Request *request = view->report->request;
    const RankedPlan *first = view_first(view);
    const Estimate *estimate = &first->estimate;
    double low, high;
    Training training = training_of(request, first);
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], c[NUMBER_TEXT_SIZE], value[NUMBER_TEXT_SIZE + 8],
        more[WORDS_SIZE] = "";
    fputs("<dl class=\"cards\">\n", out);
    if (plan_likely(request, first, &low, &high))
        snprintf(more, sizeof more, "likely %s to %s", number_time(low, a), number_time(high, b));
    html_card(out, "Step", step_text(estimate->time.seconds, c), more);
    snprintf(more, sizeof more, "%s per chip used", rate_text(estimate->tokens_per_second_per_chip, "token", a));
    html_card(out, "MFU", share_text(estimate->mfu, c), more);
    snprintf(more, sizeof more, "of %s that plans may use", number_bytes(estimate->memory_limit_bytes, a));
    html_card(out, "HBM per chip", number_bytes(memory_total(&estimate->memory), c), more);
    snprintf(more, sizeof more, "%s tokens, %s chip-hours", number_short(training.tokens, a),
             number_short(training.chip_hours, b));
    html_card(out, "Training", duration_text(training.seconds, c), more);
    if (training.usd >= 0) {
        snprintf(value, sizeof value, "$%s", number_short(training.usd, a));
        snprintf(more, sizeof more, "at $%.2f per chip-hour", request->question.chip.usd_per_chip_hour.value);
        html_card(out, "Cost", value, more);
    }
    snprintf(more, sizeof more, "%s next, %.0f%% away", bound_text(estimate->bound_next, &first->machine.mesh),
             100 * (1 - estimate->bound_next_share));
    html_card(out, "Bound by", bound_text(estimate->bound_by, &first->machine.mesh), more);
    if (!view_is_named(view)) {
        bool proven = view->report->result.certificate.proof == PROOF_OPTIMAL;
        char covered[COUNT_TEXT_SIZE];
        snprintf(more, sizeof more, "%s plans covered",
                 count_text(view->report->result.certificate.plans_covered, true, covered));
        html_card(out, "Best of all plans", proven ? "proven" : "not proven", more);
    }
    fputs("</dl>\n", out);
}

/* A table of the page; nothing where it has no rows. */
static bool write_table(const Table *table, FILE *out) {
    if (!table->failed && table->rows > 0) table_write_html(table, out);
    return !table->failed;
}

static void write_why(const PageView *view, FILE *out) {
    Why why;
    report_why(view_first(view), &why);
    html_heading(out, view_is_named(view) ? "About this plan" : "Why plan 1");
    fputs("<ul>\n", out);
    for (int i = 0; i < why.count; i++) {
        fputs("<li>", out);
        escape_write(ESCAPE_HTML, why.text[i], out);
        fputs("</li>\n", out);
    }
    fputs("</ul>\n", out);
}

static void write_line(const char *before, const char *code, FILE *out) {
    fprintf(out, "<p>%s <code>", before);
    escape_write(ESCAPE_HTML, code, out);
    fputs("</code></p>\n", out);
}

/* The plan as --plan takes it: its degrees, and the knobs that are not at their first setting. Sequences of a
 * microbatch follow from the number of microbatches. */
static void plan_option(const RankedPlan *ranked, Prose *to) {
    const Degrees *degrees = &ranked->plan.degrees;
    const Knobs *knobs = &ranked->plan.knobs;
    char text[KNOB_TEXT_SIZE];
    for (Role role = 0; role < ROLE_COUNT; role++)
        if (degrees->of[role] > 1) prose_item(to, " ", "%s=%lld", role_name(role), (long long)degrees->of[role]);
    for (Knob knob = KNOB_NONE + 1; knob < KNOB_COUNT; knob++) {
        int64_t setting = knob_setting(knob, knobs), first = knob_takes(knob, 0) ? 0 : 1;
        bool follows = knob == KNOB_MICROBATCH_SEQUENCES ||
                       (knob == KNOB_CONTEXT_METHOD && degrees->of[ROLE_SEQUENCE] == 1) ||
                       (knob == KNOB_SCHEDULE && degrees->of[ROLE_PIPELINE] == 1);
        if (setting == first || follows) continue;
        prose_item(to, " ", "%s=%s", knob_name(knob), knob_text(knob, setting, text));
    }
}

/* What to type: the plan, the command that writes its launch configuration, and the one that made this page. */
static void write_launch(const PageView *view, FILE *out) {
    const Request *request = view->report->request;
    const RankedPlan *first = view_first(view);
    const Launcher *launcher = launcher_of(request);
    const char *requested = request->requested.words;
    Prose words = {0}, line = {0}, plan = {0};
    html_heading(out, "Launch it");
    launcher_words(launcher, request, first, &words);
    if (words.used > 0) {
        prose_add(&line, "In %s's words: %s.", launcher->name, words.text);
        html_paragraph(out, line.text);
    }
    plan_option(first, &plan);
    write_line("The plan, for --plan:", plan.text, out);
    if (!requested[0]) return;
    line = (Prose){0};
    if (launcher && launcher->formats[0].name && !view_is_named(view)) {
        prose_add(&line, "shardopt emit %s %s", launcher->formats[0].name, requested);
        if (launcher->formats[0].file) prose_add(&line, " -o %s", launcher->formats[0].file);
        write_line("Its launch file:", line.text, out);
    }
    line = (Prose){0};
    prose_add(&line, view_is_named(view) ? "shardopt explain %s" : "shardopt plan %s", requested);
    if (request->requested.choices[0]) prose_add(&line, " %s", request->requested.choices);
    if (view_is_named(view)) prose_add(&line, " --plan '%s'", plan.text);
    prose_add(&line, " --format html -o page.html");
    write_line("This page:", line.text, out);
}

static bool write_verdict(const PageView *view, FILE *out) {
    const char *verdict = verdict_text(view), *sensitivities = sensitivities_text(view);
    if (!verdict || !sensitivities) return false;
    html_section_open(out, "verdict", "The verdict");
    if (view_first(view)) write_cards(view, out);
    html_paragraph(out, verdict);
    html_paragraph(out, sensitivities);
    if (view_first(view)) write_launch(view, out);
    bool ok = true;
    if (view_first(view)) {
        html_heading(out, view_is_named(view) ? "The plan" : "The plans");
        Table plans = plans_table(view);
        if (view_is_named(view)) plans.caption = "The plan, priced as it was named";
        ok = write_table(&plans, out);
        write_why(view, out);
    } else {
        Table nearest = nearest_table(view);
        ok = write_table(&nearest, out);
    }
    Table ways = alternatives_table(view);
    if (ways.rows > 0) html_heading(out, "Alternatives");
    ok = write_table(&ways, out) && ok;
    html_section_close(out);
    return ok;
}

static bool write_misses(const Table *misses, const Table *closest, FILE *out) {
    html_section_open(out, "misses", "Near misses");
    html_paragraph(
        out, "The plans ranked after the first, each with the one figure that would have to change least for it to "
             "win, with all else and both layouts unchanged; and the degrees that the search cut as a whole.");
    bool ok = write_table(misses, out);
    ok = write_table(closest, out) && ok;
    html_section_close(out);
    return ok;
}

static bool write_basis(const PageView *view, FILE *out) {
    const Request *request = view->report->request;
    const char *assumed = assumed_text(view), *searched = searched_text(view);
    Table tables[] = {request_table(view), chip_table(view), profile_table(view)};
    static const char *const NAMES[] = {"Options", "The chip, figure by figure", "The profile, figure by figure"};
    bool ok = assumed && searched;
    html_section_open(out, "basis", "What the answer rests on");
    html_paragraph(out, assumed);
    html_paragraph(out, searched);
    if (request->question.profile.source[0]) {
        char source[PROFILE_SOURCE_SIZE + 64], clean[PROFILE_SOURCE_SIZE];
        snprintf(source, sizeof source, "Profile %s: %s", request->question.profile.name,
                 clean_text(request->question.profile.source, clean, sizeof clean));
        html_paragraph(out, source);
    }
    for (size_t i = 0; i < COUNT_OF(tables); i++) {
        fprintf(out, "<details><summary>%s</summary>\n", NAMES[i]);
        ok = write_table(&tables[i], out) && ok;
        fputs("</details>\n", out);
    }
    if (view->report->data_sha256[0]) {
        char line[128];
        snprintf(line, sizeof line, "Data files: SHA-256 %s.", view->report->data_sha256);
        html_paragraph(out, line);
    }
    html_section_close(out);
    return ok;
}

static bool write_page(const PageView *view, const Drawn *drawn, FILE *out) {
    const char *title = title_text(view);
    Table misses = misses_table(view), closest = closest_table(view);
    HtmlLink links[COUNT_OF(PICTURES) + 3] = {{"verdict", "The verdict"}};
    int count = 1;
    if (!title || misses.failed || closest.failed) return false;
    for (size_t i = 0; i < COUNT_OF(PICTURES); i++)
        if (drawn[i].drawn) links[count++] = (HtmlLink){PICTURES[i].id, PICTURES[i].heading};
    bool missed = misses.rows + closest.rows > 0;
    if (missed) links[count++] = (HtmlLink){"misses", "Near misses"};
    links[count++] = (HtmlLink){"basis", "What the answer rests on"};
    html_open(out, title, view_is_named(view) ? "One plan in full" : "The best way to shard it, and why");
    html_contents(out, links, count);
    bool ok = write_verdict(view, out);
    for (size_t i = 0; i < COUNT_OF(PICTURES); i++)
        if (drawn[i].drawn) drawn_section(&drawn[i], PICTURES[i].id, PICTURES[i].heading, out);
    ok = (!missed || write_misses(&misses, &closest, out)) && ok;
    ok = write_basis(view, out) && ok;
    html_close(out);
    return ok;
}

bool report_write_html(const Report *report, const PageFacts *facts, FILE *out, Error *error) {
    Arena arena = {0};
    PageView view = {report, facts, &arena};
    Drawn *drawn = calloc(COUNT_OF(PICTURES), sizeof *drawn);
    bool ok = drawn != NULL;
    for (size_t i = 0; i < COUNT_OF(PICTURES) && ok; i++) ok = draw(&view, PICTURES[i].draw, &drawn[i]);
    ok = ok && write_page(&view, drawn, out);
    for (size_t i = 0; i < COUNT_OF(PICTURES) && drawn; i++) free(drawn[i].svg);
    free(drawn);
    arena_free(&arena);
    if (!ok) return error_memory(error);
    return !ferror(out) || error_stream(error, "report", "the page");
}
