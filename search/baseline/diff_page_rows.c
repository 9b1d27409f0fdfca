/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/baseline/diff_page_rows.h"

#include "base/json.h"
#include "base/util.h"

Table diff_table(const DiffRows *rows, Arena *arena) { return diff_section_table(&rows->section, arena); }

Table diff_plans_table(const Diff *diff, Arena *arena) {
    return diff_ranks_table(json_at(diff->from->json, "plans"), arena);
}

void diff_headline(const Diff *diff, Prose *out) { *out = diff->from->headline; }

static bool fill(const Differences *from, const char *key, Arena *arena, DiffRows *out) {
    *out = (DiffRows){.section = diff_section(from, key)};
    out->row = ARENA_NEW(arena, DiffRow, (size_t)cJSON_GetArraySize(out->section.json) + 1);
    const cJSON *row;
    for (row = out->section.json ? out->section.json->child : NULL; row && out->row; row = row->next) {
        DiffTexts texts;
        diff_row(&out->section, row, &texts);
        DiffRow *to = &out->row[out->count++];
        *to = (DiffRow){row->string,
                        texts.name,
                        arena_text(arena, texts.a),
                        arena_text(arena, texts.b),
                        arena_text(arena, texts.change ? texts.change : ""),
                        json_real_at(row, "a", 0),
                        json_real_at(row, "b", 0)};
        if (!to->a || !to->b || !to->change) return false;
    }
    return out->row != NULL;
}

bool diff_write_html(const Differences *diff, FILE *out, Error *error) {
    Arena arena = {0};
    const cJSON *json = diff->json, *cause;
    Diff *page = ARENA_NEW(&arena, Diff, 1);
    bool ok = page && fill(diff, "request", &arena, &page->request) && fill(diff, "search", &arena, &page->search) &&
              fill(diff, "plan", &arena, &page->plan) && fill(diff, "figures", &arena, &page->figures) &&
              fill(diff, "terms_seconds", &arena, &page->step) && fill(diff, "memory_bytes", &arena, &page->memory);
    if (ok) {
        page->from = diff;
        page->a_file = json_text_at(json, "a.file"), page->b_file = json_text_at(json, "b.file");
        page->a_words = json_text_at(json, "a.of"), page->b_words = json_text_at(json, "b.of");
        page->a.kind = page->b.kind = diff->kind;
        page->a.best.label = diff->label[0], page->b.best.label = diff->label[1];
        page->both = json_at(json, "figures") != NULL;
        page->different = diff->different;
        page->plans_count = cJSON_GetArraySize(json_at(json, "plans"));
        cJSON_ArrayForEach(cause, json_at(json, "causes"))
            snprintf(page->causes[page->cause_count++].text, CAUSE_SIZE, "%s", json_text_at(cause, "text"));
    }
    ok = ok ? diff_write_page(page, out, error) : error_memory(error);
    arena_free(&arena);
    return ok;
}
