/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two reports side by side: as text and as Markdown, from the same tables, and as JSON (docs/json.md) and its page. */
#include "base/escape.h"
#include "base/json.h"
#include "base/text/page.h"
#include "search/baseline/diff.h"

/* ---- text and Markdown ---- */

typedef struct {
    TextOut out;
    bool markdown;
    Arena arena; /* of the tables */
    bool ok;     /* false: memory is out */
} Writer;

static void write_table(Writer *writer, const char *title, Table table) {
    if (table.rows == 0 && !table.failed) return;
    fprintf(writer->out.file, writer->markdown ? "\n**%s**\n\n" : "\n%s\n", title);
    bool ok =
        writer->markdown ? table_write_markdown(&table, writer->out.file) : table_write_text(&table, "  ", writer->out);
    writer->ok = writer->ok && ok;
}

static void write_line(const Writer *writer, const char *heading, const char *text) {
    char clean[PROSE_SIZE];
    if (!writer->markdown) {
        prose_write(writer->out, heading, "   ", clean_text(text, clean, sizeof clean));
        return;
    }
    fputs(heading, writer->out.file);
    escape_write(ESCAPE_MARKDOWN, text, writer->out.file);
    fputs("\n\n", writer->out.file);
}

static bool write_text(const Diff *diff, bool markdown, TextOut out) {
    Writer writer = {.out = out, .markdown = markdown, .ok = true};
    Arena *arena = &writer.arena;
    Prose a = {0}, b = {0}, headline, because = {0};
    char best[32], settings[64];
    snprintf(best, sizeof best, "Best %s", diff->a.kind->one);
    snprintf(settings, sizeof settings, "Settings of the best %s", diff->a.kind->one);
    prose_add(&a, "%s: %s", diff->a_file, diff->a_words);
    prose_add(&b, "%s: %s", diff->b_file, diff->b_words);
    diff_headline(diff, &headline);
    write_line(&writer, "A  ", a.text);
    write_line(&writer, "B  ", b.text);
    write_line(&writer, "", headline.text);
    for (int i = 0; i < diff->cause_count; i++) prose_item(&because, "; ", "%s", diff->causes[i].text);
    if (because.used > 0) write_line(&writer, "Because: ", because.text);
    if (diff->different) {
        write_table(&writer, "Request", diff_table(&diff->request, arena));
        write_table(&writer, best, diff_table(&diff->figures, arena));
        write_table(&writer, settings, diff_table(&diff->plan, arena));
        write_table(&writer, "Its step", diff_table(&diff->step, arena));
        write_table(&writer, "Its HBM", diff_table(&diff->memory, arena));
        write_table(&writer, "Plans, by rank", diff_plans_table(diff, arena));
        write_table(&writer, "Search", diff_table(&diff->search, arena));
    }
    arena_free(arena);
    return writer.ok;
}

/* ---- JSON: every add_* gives false when memory is out ---- */

static bool add_side(cJSON *to, const char *key, const char *file, const char *words) {
    cJSON *json = json_add_object(to, key);
    return json_add_text(json, "file", file) && json_add_text(json, "of", words);
}

static bool add_rows(cJSON *to, const char *key, const DiffRows *rows) {
    cJSON *json = json_add_object(to, key);
    bool ok = json != NULL;
    for (int i = 0; i < rows->count && ok; i++) {
        const DiffRow *row = &rows->row[i];
        cJSON *item = json_add_object(json, row->key);
        ok = rows->numbers ? json_add_real(item, "a", row->x) && json_add_real(item, "b", row->y)
                           : json_add_text(item, "a", row->a[0] ? row->a : NULL) &&
                                 json_add_text(item, "b", row->b[0] ? row->b : NULL);
    }
    return ok;
}

static bool add_rank(cJSON *to, const char *rank_key, const char *seconds_key, int rank, double seconds) {
    if (rank == 0) return json_add_text(to, rank_key, NULL) && json_add_text(to, seconds_key, NULL);
    return json_add_whole(to, rank_key, rank) && json_add_real(to, seconds_key, seconds);
}

static bool add_plans(cJSON *to, const Diff *diff) {
    cJSON *json = json_add_array(to, "plans");
    bool ok = json != NULL;
    for (int i = 0; i < diff->plans_count && ok; i++) {
        const DiffPlan *plan = &diff->plans[i];
        cJSON *item = json_add_object(json, NULL);
        ok = json_add_text(item, "plan", plan->label) &&
             add_rank(item, "rank_a", "step_seconds_a", plan->rank_a, plan->seconds_a) &&
             add_rank(item, "rank_b", "step_seconds_b", plan->rank_b, plan->seconds_b);
    }
    return ok;
}

static bool add_words(cJSON *to, const Diff *diff, const char *headline) {
    cJSON *json = json_add_object(to, "words");
    char title[64];
    snprintf(title, sizeof title, "Two %ss side by side", diff->a.kind->one);
    return json_add_text(json, "title", title) && json_add_text(json, "headline", headline);
}

/* JSON, or the page with it. */
static bool write_document(const Diff *diff, bool page, FILE *out, Error *error) {
    cJSON *json = cJSON_CreateObject();
    Prose headline;
    diff_headline(diff, &headline);
    bool ok = json_add_whole(json, "format_version", 1) && add_side(json, "a", diff->a_file, diff->a_words) &&
              add_side(json, "b", diff->b_file, diff->b_words) && json_add_bool(json, "different", diff->different) &&
              add_rows(json, "request", &diff->request) && causes_add_json(json, diff->causes, diff->cause_count) &&
              (!diff->both ||
               (add_rows(json, "figures", &diff->figures) && add_rows(json, "plan", &diff->plan) &&
                add_rows(json, "terms_seconds", &diff->step) && add_rows(json, "memory_bytes", &diff->memory))) &&
              add_plans(json, diff) && add_rows(json, "search", &diff->search) &&
              add_words(json, diff, headline.text) && (page ? page_write(json, out, error) : json_print(out, json));
    cJSON_Delete(json);
    return ok;
}

bool diff_write(const Diff *diff, DiffFormat format, TextOut out, Error *error) {
    bool ok = format == DIFF_JSON || format == DIFF_HTML ? write_document(diff, format == DIFF_HTML, out.file, error)
                                                         : write_text(diff, format == DIFF_MARKDOWN, out);
    return (ok && !ferror(out.file)) || error_memory(error);
}
