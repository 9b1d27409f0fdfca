/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/report/html/tables.h"

#include "search/launch/launcher.h"
#include "search/report/text/parts.h"

#include <stdlib.h>
#include <string.h>

const char *compare_to_best_text(const Report *report, int rank, Arena *arena) {
    const SearchResult *result = &report->result;
    Prose text = {0};
    char label[WORDS_SIZE];
    prose_add(&text, "Plan %d, %s: ", rank, plan_label(&result->plans[rank - 1], label));
    report_why_not(&result->plans[0], &result->plans[rank - 1], &text);
    return arena_text(arena, text.text);
}

Table plans_table(const Report *report, Arena *arena) {
    const SearchResult *result = &report->result;
    bool named = !report->requested; /* alone, without a rank */
    Table table = table_new(arena, "The best plans, one for each set of degrees and schedule",
                            named ? "plan|>step|>MFU|>HBM|>exposed|>bubble|bound by|launched by"
                                  : ">rank|plan|>step|>behind|>MFU|>HBM|>exposed|>bubble|bound by|launched by");
    for (int i = 0; i < result->plan_count; i++) {
        const RankedPlan *ranked = &result->plans[i];
        const Estimate *estimate = &ranked->estimate;
        const StepTime *time = &estimate->time;
        char label[WORDS_SIZE], launchers[WORDS_SIZE], text[NUMBER_TEXT_SIZE];
        bool stages = ranked->plan.degrees.of[ROLE_PIPELINE] > 1;
        double behind = ranked->ranked_seconds / result->plans[0].ranked_seconds - 1;
        Prose moves = {0};
        plan_moves(report, i + 1, &moves);
        if (!named) table_cell(&table, "%d", i + 1);
        table_cell(&table, "%s%s%.*s", plan_label(ranked, label), moves.used ? ", " : "", WORDS_SIZE, moves.text);
        table_cell(&table, "%s", step_text(time->seconds, text));
        if (!named && i == 0) table_cell(&table, "%s", "");
        if (!named && i > 0) table_cell(&table, "%+.1f%%%s", 100 * behind, ranked->tied ? " (tied)" : "");
        table_cell(&table, "%s", share_text(estimate->mfu, text));
        table_cell(&table, "%s", number_bytes(memory_total(&estimate->memory), text));
        table_cell(&table, "%s", share_text(time->exposed_seconds / time->seconds, text));
        table_cell(&table, "%s", stages ? share_text(time->bubble_seconds / time->seconds, text) : "");
        table_cell(&table, "%s", bound_text(estimate->bound_by, &ranked->machine.mesh));
        table_cell(&table, "%s", launch_text(ranked, " ", launchers));
    }
    return table;
}

Table alternatives_table(const Report *report, Arena *arena) {
    Table table =
        table_new(arena, "Alternatives where sizes do not divide, each with its best plan; the price is per token",
                  "way|what changes|>step|>price|plan|launched by");
    bool any = report->result.plan_count > 0; /* without a plan only what is a way out is one */
    for (int i = 0; i < ALTERNATIVE_COUNT; i++) any = any || report->alternatives[i].found;
    for (int i = 0; i < ALTERNATIVE_COUNT && any; i++) {
        char words[ALTERNATIVE_CELLS][WORDS_SIZE];
        if (!report->alternatives[i].tried) continue;
        alternative_words(report, (Alternative)i, words);
        const char *cells[] = {words[0], words[1], words[2], words[3], words[4], words[5]};
        table_row(&table, cells);
    }
    return table;
}

Table nearest_table(const Report *report, Arena *arena) {
    Table table = table_new(arena, "The nearest machines that fit", "machine|>chips|>HBM|>step|plan");
    for (int i = 0; i < report->nearest_count; i++) {
        const RankedPlan *ranked = &report->nearest[i];
        char chips[NUMBER_TEXT_SIZE], hbm[NUMBER_TEXT_SIZE], step[NUMBER_TEXT_SIZE], label[WORDS_SIZE];
        const char *cells[] = {ranked->machine.text, number_grouped(ranked->machine.mesh.chips, chips),
                               number_bytes(memory_total(&ranked->estimate.memory), hbm),
                               step_text(ranked->estimate.time.seconds, step), plan_label(ranked, label)};
        table_row(&table, cells);
    }
    return table;
}

Table request_table(const Report *report, Arena *arena) {
    Table table =
        table_new(arena, "Every option in force that can change the answer, defaults included", "option|value");
    char launchers[LAUNCHER_NAMES_SIZE];
    cJSON *json = cJSON_CreateObject();
    const cJSON *value;
    request_launchers(report->request, launchers);
    if (!json || !request_add_json(report->request, launchers, json)) table.failed = true;
    cJSON_ArrayForEach(value, json) {
        char number[NUMBER_TEXT_SIZE], key[64];
        snprintf(key, sizeof key, "--%s", value->string);
        for (char *at = key; *at; at++)
            if (*at == '_') *at = '-';
        bool raw = cJSON_IsRaw(value), real = raw && strpbrk(value->valuestring, ".e") != NULL;
        snprintf(number, sizeof number, "%.15g", real ? strtod(value->valuestring, NULL) : value->valuedouble);
        const char *cells[] = {key, real || cJSON_IsNumber(value)  ? number
                                    : raw || cJSON_IsString(value) ? value->valuestring
                                    : cJSON_IsBool(value)          ? cJSON_IsTrue(value) ? "yes" : "no"
                                                                   : ""};
        table_row(&table, cells);
    }
    cJSON_Delete(json);
    return table;
}
