/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer as diff_page.c reads it. */
#include "search/baseline/diff.h"

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

bool diff_page_rows(const Differences *diff, Arena *arena, Diff *out, Error *error) {
    const cJSON *json = diff->json, *cause;
    *out = (Diff){.from = diff, .different = diff->different};
    out->a_file = json_text_at(json, "a.file"), out->b_file = json_text_at(json, "b.file");
    out->a_words = json_text_at(json, "a.of"), out->b_words = json_text_at(json, "b.of");
    out->a.kind = out->b.kind = diff->kind;
    out->a.best.label = diff->label[0], out->b.best.label = diff->label[1];
    out->both = json_at(json, "figures") != NULL;
    out->plans_count = cJSON_GetArraySize(json_at(json, "plans"));
    cJSON_ArrayForEach(cause, json_at(json, "causes"))
        snprintf(out->causes[out->cause_count++].text, CAUSE_SIZE, "%s", json_text_at(cause, "text"));
    return (fill(diff, "request", arena, &out->request) && fill(diff, "search", arena, &out->search) &&
            fill(diff, "plan", arena, &out->plan) && fill(diff, "figures", arena, &out->figures) &&
            fill(diff, "terms_seconds", arena, &out->step) && fill(diff, "memory_bytes", arena, &out->memory)) ||
           error_memory(error);
}
