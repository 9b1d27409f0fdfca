/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer as one page that loads nothing: what is best, the pictures, what it rests on. */
#include "base/text/html.h"
#include "base/util.h"
#include "search/answer/plan_words.h"
#include "search/serving/report/serving_report.h"

#include <stdlib.h>

static const struct {
    const char *id, *heading;
    ServingPicture *draw;
} PICTURES[] = {
    {"front", "The front", picture_front},
    {"memory", "What lies in the memory of a chip", picture_chip},
    {"step", "Where a step goes", picture_kernels},
    {"timeline", "One request in time", picture_request},
    {"mesh", "Which chips hold what", picture_places},
    {"throughput", "Against batch and context", picture_throughput},
};

static bool draw(const ServingReport *report, Arena *arena, ServingPicture *picture, Drawn *out) {
    FILE *svg = drawn_open(out);
    return svg && drawn_close(out, svg, picture(report, arena, svg, &out->words, &out->table));
}

static void write_cards(const ServingReport *report, const ServingPoint *best, FILE *out) {
    const ServingQuestion *q = report->question;
    const WorkerMemory *memory = &best->pools[best->pool_count - 1].memory;
    char way[POINT_TEXT_SIZE], value[NUMBER_TEXT_SIZE + 32], more[NUMBER_TEXT_SIZE + 64], text[NUMBER_TEXT_SIZE];
    double factor = report->answer->likely_factor;
    double usd = point_usd_per_million(q, best, best->tokens_per_second);
    fputs("<dl class=\"cards\">\n", out);
    html_card(out, "Best", point_engine(best), point_notation(best, way));
    if (best->tpot_seconds > 0) {
        snprintf(more, sizeof more, "nine in ten below %s", step_text(best->tpot_seconds * factor, text));
        html_card(out, "Per token", step_text(best->tpot_seconds, value), factor > 1 ? more : "");
    }
    if (best->ttft_seconds > 0) {
        snprintf(more, sizeof more, "at %.0f%% of the capacity for prompts", 100 * best->prefill_load);
        html_card(out, "First token", step_text(best->ttft_seconds, value), best->prefill_load > 0 ? more : "");
    }
    snprintf(value, sizeof value, "%s tokens/s", digits_text(best->per_chip, text));
    snprintf(more, sizeof more, "%s for each user", digits_text(best->per_user, text));
    html_card(out, "A chip", value, more);
    if (usd >= 0) {
        snprintf(value, sizeof value, "$%.2f", usd);
        snprintf(more, sizeof more, "a million tokens, at $%.2f per chip-hour", q->chip.usd_per_chip_hour.value);
        html_card(out, "Cost", value, more);
    }
    snprintf(more, sizeof more, "of %s that the engine may use", number_bytes(memory->limit_bytes, text));
    html_card(out, "HBM per chip", number_bytes(worker_memory_total(memory), value), more);
    fputs("</dl>\n", out);
}

static void write_basis(const ServingReport *report, FILE *out) {
    const ServingProfile *profile = &report->question->profiles[NO_ENGINE];
    char clean[SERVING_SOURCE_SIZE];
    Prose source = {0}, hashes = {0};
    html_section_open(out, "basis", "What the answer rests on");
    prose_add(&source, "Profile %s: %s", profile->name, clean_text(profile->source, clean, sizeof clean));
    html_paragraph(out, source.text);
    prose_add(&hashes, "shardopt %s; data files: SHA-256 %s; profile: SHA-256 %s.", report->version,
              report->data_sha256, report->profile_sha256);
    html_paragraph(out, hashes.text);
    html_section_close(out);
}

static bool write_page(const ServingReport *report, const Drawn drawn[COUNT_OF(PICTURES)], FILE *out, Error *error) {
    const ServingQuestion *q = report->question;
    char title[WORDS_SIZE + 256], name[PROSE_NAME_SIZE], machine[WORDS_SIZE];
    HtmlLink links[COUNT_OF(PICTURES) + 2] = {{"answer", "The answer"}};
    int count = 1;
    snprintf(title, sizeof title, "%s on %s", clean_name(q->model.name, name),
             machine_of(&q->chip, q->machine.text, 0, machine));
    for (size_t i = 0; i < COUNT_OF(PICTURES); i++)
        if (drawn[i].drawn) links[count++] = (HtmlLink){PICTURES[i].id, PICTURES[i].heading};
    links[count++] = (HtmlLink){"basis", "What the answer rests on"};
    html_open(out, title, "The best way to serve it, and every other one that is not beaten");
    html_contents(out, links, count);
    html_section_open(out, "answer", "The answer");
    if (report->answer->has_best) write_cards(report, &report->answer->best, out);
    if (!serving_write_text(report, (TextOut){out, {COLUMNS_OF_PAGE, false}}, error)) return false;
    html_section_close(out);
    for (size_t i = 0; i < COUNT_OF(PICTURES); i++)
        if (drawn[i].drawn) drawn_section(&drawn[i], PICTURES[i].id, PICTURES[i].heading, out);
    write_basis(report, out);
    html_close(out);
    return true;
}

bool serving_write_html(const ServingReport *report, FILE *out, Error *error) {
    Drawn drawn[COUNT_OF(PICTURES)] = {{0}};
    Arena arena = {0};
    bool ok = true;
    for (size_t i = 0; i < COUNT_OF(PICTURES) && ok; i++) ok = draw(report, &arena, PICTURES[i].draw, &drawn[i]);
    ok = ok ? write_page(report, drawn, out, error) : error_memory(error);
    for (size_t i = 0; i < COUNT_OF(PICTURES); i++) free(drawn[i].svg);
    arena_free(&arena);
    return ok;
}
