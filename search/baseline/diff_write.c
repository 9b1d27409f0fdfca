/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two reports side by side: the document, as it is or in a page, and its sections as tables. */
#include "search/baseline/diff.h"

#include "base/escape.h"
#include "base/json.h"
#include "base/text/page.h"
#include "base/util.h"

#include <math.h>
#include <string.h>

/* A section of the answer, and a row of it as people read it. */
typedef struct {
    const cJSON *json;   /* NULL: the answer has no such section */
    const Field *fields; /* that name its rows, or NULL */
    FieldUnit *parts;    /* of a sum, or NULL; rows of neither are texts */
    double whole;        /* of a sum: the largest part in B */
} DiffSection;
typedef struct {
    const char *name, *a, *b, *change;
    char text[3][NUMBER_TEXT_SIZE + 1];
} DiffTexts;

/* What the tables are called, in their order; "%s" is the plan or point. */
static const struct {
    const char *key, *title;
} SECTIONS[] = {{"request", "Request"},        {"figures", "Best %s"},      {"plan", "Settings of the best %s"},
                {"terms_seconds", "Its step"}, {"memory_bytes", "Its HBM"}, {"plans", "Plans, by rank"},
                {"search", "Search"}};

static Table begin_table(Arena *arena, const char *headings) {
    Table table = table_new(arena, NULL, headings);
    for (int c = 0; c < table.columns; c++) table_wrap(&table, c, 34);
    return table;
}

/* A cell, of which no more than that many characters are shown. */
static void add_cell(Table *table, const char *text) {
    char clean[512];
    table_cell(table, "%s", clean_text(text, clean, sizeof clean));
}

/* What each part has more (+) or less (-) in B; "" for a part that is nothing in both. */
static const char *part_change(double a, double b, double whole, FieldUnit *unit, char text[NUMBER_TEXT_SIZE + 1]) {
    double nothing = 1e-9 * whole;
    if (fabs(a) <= nothing && fabs(b) <= nothing) return "";
    if (fabs(b - a) <= nothing) return "none";
    text[0] = b > a ? '+' : '-';
    unit(fabs(b - a), text + 1);
    return text;
}

static DiffSection diff_section(const Differences *diff, const char *key) {
    DiffSection section = {.json = json_at(diff->json, key)};
    const cJSON *row;
    section.parts = strcmp(key, "terms_seconds") == 0  ? number_time
                    : strcmp(key, "memory_bytes") == 0 ? number_bytes
                                                       : NULL;
    if (strcmp(key, "figures") == 0) section.fields = diff->kind->fields;
    cJSON_ArrayForEach(row, section.json) section.whole = fmax(section.whole, json_real_at(row, "b", 0));
    return section;
}

static bool diff_row(const DiffSection *section, const cJSON *row, DiffTexts *out) {
    const Field *field = section->fields ? field_named(section->fields, row->string) : NULL;
    FieldUnit *unit = field ? field->unit : section->parts;
    double a = json_real_at(row, "a", 0), b = json_real_at(row, "b", 0);
    out->name = field ? field->name : row->string;
    out->a = json_text_at(row, "a"), out->b = json_text_at(row, "b"), out->change = NULL;
    if (!unit) return true;
    out->a = unit(a, out->text[0]), out->b = unit(b, out->text[1]);
    out->change = field ? diff_change(a, b, out->text[2]) : part_change(a, b, section->whole, unit, out->text[2]);
    return out->change[0] != '\0';
}

static Table diff_section_table(const DiffSection *section, Arena *arena) {
    bool numbers = section->fields || section->parts;
    Table table = begin_table(arena, numbers ? "|>A|>B|>change" : "|A|B");
    const cJSON *row;
    DiffTexts texts;
    cJSON_ArrayForEach(row, section->json) {
        if (!diff_row(section, row, &texts)) continue;
        add_cell(&table, texts.name);
        add_cell(&table, texts.a[0] ? texts.a : "-");
        add_cell(&table, texts.b[0] ? texts.b : "-");
        if (numbers) add_cell(&table, texts.change);
    }
    return table;
}

/* A plan that is not listed is slower than all that the other report shows. */
static Table diff_ranks_table(const cJSON *plans, Arena *arena) {
    static const char *const RANKS[] = {"rank_a", "rank_b"}, *const SECONDS[] = {"step_seconds_a", "step_seconds_b"};
    Table table = begin_table(arena, "plan|>in A|>in B|>step A|>step B|>change");
    const cJSON *plan;
    int listed[2] = {0, 0};
    cJSON_ArrayForEach(plan, plans) for (int side = 0; side < 2; side++) listed[side] +=
        json_at(plan, RANKS[side]) != NULL;
    cJSON_ArrayForEach(plan, plans) {
        char text[NUMBER_TEXT_SIZE];
        double rank[2], seconds[2];
        for (int side = 0; side < 2; side++)
            rank[side] = json_real_at(plan, RANKS[side], 0), seconds[side] = json_real_at(plan, SECONDS[side], 0);
        add_cell(&table, json_text_at(plan, "plan"));
        for (int side = 0; side < 2; side++) table_cell(&table, rank[side] > 0 ? "%.0f" : "-", rank[side]);
        for (int side = 0; side < 2; side++) add_cell(&table, rank[side] > 0 ? step_text(seconds[side], text) : "-");
        int others = rank[0] > 0 ? listed[1] : listed[0];
        add_cell(&table, rank[0] > 0 && rank[1] > 0                 ? diff_change(seconds[0], seconds[1], text)
                         : others > 0 && rank[0] + rank[1] > others ? "not listed"
                         : rank[0] > 0                              ? "gone"
                                                                    : "new");
    }
    return table;
}

/* ---- text and Markdown ---- */

static void write_line(bool markdown, const char *heading, const char *text, TextOut out) {
    char clean[PROSE_SIZE];
    if (!markdown) {
        prose_write(out, heading, "   ", clean_text(text, clean, sizeof clean));
        return;
    }
    fputs(heading, out.file);
    escape_write(ESCAPE_MARKDOWN, text, out.file);
    fputs("\n\n", out.file);
}

static bool write_text(const Differences *diff, bool markdown, TextOut out) {
    Arena arena = {0};
    Prose sides[2] = {0}, because = {0};
    const cJSON *cause;
    bool ok = true;
    for (int side = 0; side < 2; side++)
        prose_add(&sides[side], "%s: %s", json_text_at(diff->json, side ? "b.file" : "a.file"),
                  json_text_at(diff->json, side ? "b.of" : "a.of"));
    write_line(markdown, "A  ", sides[0].text, out);
    write_line(markdown, "B  ", sides[1].text, out);
    write_line(markdown, "", diff->headline.text, out);
    cJSON_ArrayForEach(cause, json_at(diff->json, "causes"))
        prose_item(&because, "; ", "%s", json_text_at(cause, "text"));
    if (because.used > 0) write_line(markdown, "Because: ", because.text, out);
    for (size_t i = 0; i < COUNT_OF(SECTIONS) && diff->different && ok; i++) {
        DiffSection section = diff_section(diff, SECTIONS[i].key);
        Table table =
            cJSON_IsArray(section.json) ? diff_ranks_table(section.json, &arena) : diff_section_table(&section, &arena);
        ok = !table.failed;
        if (table.rows == 0) continue;
        fputs(markdown ? "\n**" : "\n", out.file);
        fprintf(out.file, SECTIONS[i].title, diff->kind->one);
        fputs(markdown ? "**\n\n" : "\n", out.file);
        ok = ok && (markdown ? table_write_markdown(&table, out.file) : table_write_text(&table, "  ", out));
    }
    arena_free(&arena);
    return ok;
}

bool diff_write(const Differences *diff, DiffFormat format, TextOut out, Error *error) {
    if (format == DIFF_HTML) return page_write(diff->json, out.file, error);
    bool ok = format == DIFF_JSON ? json_print(out.file, diff->json) : write_text(diff, format == DIFF_MARKDOWN, out);
    return (ok && !ferror(out.file)) || error_memory(error);
}
