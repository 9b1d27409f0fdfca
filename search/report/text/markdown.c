/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A report for a pull request: short, what is long folded away; and its plans for a spreadsheet. */
#include "search/report/text/markdown.h"
#include "base/escape.h"
#include "search/launch/launcher.h"
#include "search/report/plan_fields.h"
#include "search/report/text/parts.h"
#include "search/report/text/sentences.h"

#include <stdlib.h>
#include <string.h>

/* The plans for a spreadsheet: SI units in the names of the columns, numbers with 17 digits. */

bool report_write_csv(const Report *report, FILE *out, Error *error) {
    Arena arena = {0};
    Table table = table_new(&arena, NULL, NULL);
    fields_begin(&table, PLAN_FIELDS);
    for (int i = 0; i < report->result.plan_count; i++) {
        PlanRecord record;
        plan_record(report->request, &report->result.plans[i], i + 1, &record);
        fields_row(&table, PLAN_FIELDS, &record);
    }
    bool ok = table_write_csv(&table, out);
    arena_free(&arena);
    if (!ok) return error_memory(error);
    return !ferror(out) || error_stream(error, "report", "the table");
}

/* ---- tables and sentences of the Markdown: in the arena; a failed table, or NULL, means that memory is out ---- */

static const char *compare_to_best_text(const Report *report, int rank, Arena *arena) {
    const SearchResult *result = &report->result;
    Prose text = {0};
    char label[WORDS_SIZE];
    prose_add(&text, "Plan %d, %s: ", rank, plan_label(&result->plans[rank - 1], label));
    report_why_not(&result->plans[0], &result->plans[rank - 1], &text);
    return arena_text(arena, text.text);
}

static Table plans_table(const Report *report, Arena *arena) {
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

static Table alternatives_table(const Report *report, Arena *arena) {
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

static Table nearest_table(const Report *report, Arena *arena) {
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

static Table request_table(const Report *report, Arena *arena) {
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

/* ---- Markdown ---- */

static void write_paragraph(const char *text, FILE *out) {
    if (!text || text[0] == '\0') return;
    escape_write(ESCAPE_MARKDOWN, text, out);
    fputs("\n\n", out);
}

static bool write_table(const char *heading, const Table *table, FILE *out) {
    if (table->failed || table->rows == 0) return !table->failed;
    if (heading) fprintf(out, "### %s\n\n", heading);
    table_write_markdown(table, out);
    fputc('\n', out);
    return true;
}

static bool write_folded(const char *summary, const char *text, const Table *table, FILE *out) {
    fprintf(out, "<details><summary>%s</summary>\n\n", summary);
    write_paragraph(text, out);
    bool ok = !table || write_table(NULL, table, out);
    fputs("</details>\n\n", out);
    return ok;
}

static Table terms_table(const Report *report, Arena *arena) {
    const RankedPlan *first = &report->result.plans[0];
    Term terms[TERMS_MAX];
    int count = step_terms(&first->estimate, &first->plan.degrees, terms);
    Table table = table_new(arena, "Where a step of plan 1 goes", "part|>seconds|>share");
    for (int i = 0; i < count; i++) {
        char seconds[NUMBER_TEXT_SIZE], share[NUMBER_TEXT_SIZE];
        const char *cells[] = {terms[i].name, step_text(terms[i].seconds, seconds),
                               share_text(terms[i].seconds / first->estimate.time.seconds, share)};
        if (terms[i].seconds > 1e-6 * first->estimate.time.seconds) table_row(&table, cells);
    }
    return table;
}

static Table memory_table(const Report *report, Arena *arena) {
    const Estimate *estimate = &report->result.plans[0].estimate;
    Table table = table_new(arena, "HBM per chip at the peak", "row|>HBM|>share of the limit");
    for (int row = 0; row <= MEMORY_TRANSIENT; row++) {
        char bytes[NUMBER_TEXT_SIZE], share[NUMBER_TEXT_SIZE];
        double value = memory_row_bytes(&estimate->memory, (MemoryRow)row);
        const char *cells[] = {memory_row_name((MemoryRow)row), number_bytes(value, bytes),
                               share_text(value / estimate->memory_limit_bytes, share)};
        table_row(&table, cells);
    }
    return table;
}

static bool write_plans(const Report *report, FILE *out, Arena *arena) {
    const RankedPlan *first = &report->result.plans[0];
    Table plans = plans_table(report, arena), terms = terms_table(report, arena), memory = memory_table(report, arena);
    Why why;
    bool ok = write_table(NULL, &plans, out);
    report_why(first, &why);
    fputs("### Why plan 1\n\n", out);
    for (int i = 0; i < why.count; i++) {
        fputs("- ", out);
        escape_write(ESCAPE_MARKDOWN, why.text[i], out);
        fputc('\n', out);
    }
    fputc('\n', out);
    for (int rank = 2; rank <= report->result.plan_count && rank <= 3; rank++)
        write_paragraph(compare_to_best_text(report, rank, arena), out);
    return write_folded("Where a step of plan 1 goes", NULL, &terms, out) &&
           write_folded("HBM per chip at the peak of plan 1", NULL, &memory, out) && ok;
}

bool report_write_markdown(const Report *report, FILE *out, Error *error) {
    Arena arena = {0};
    const char *title = title_sentence(report, &arena), *verdict = sentence_of(report, SENTENCE_VERDICT, &arena),
               *confidence = sentence_of(report, SENTENCE_CONFIDENCE, &arena),
               *sensitivity = sentence_of(report, SENTENCE_SENSITIVITY, &arena),
               *assumed = sentence_of(report, SENTENCE_ASSUMED, &arena),
               *searched = sentence_of(report, SENTENCE_SEARCHED, &arena);
    Table ways = alternatives_table(report, &arena), nearest = nearest_table(report, &arena),
          request = request_table(report, &arena);
    bool ok = title && verdict && confidence && sensitivity && assumed && searched;
    if (ok) {
        fputs("## ", out);
        write_paragraph(title, out);
        write_paragraph(verdict, out);
        write_paragraph(confidence, out);
        ok = (report->result.plan_count == 0 || write_plans(report, out, &arena)) &&
             write_table("The nearest machines that fit", &nearest, out) &&
             write_table("Alternatives where sizes do not divide", &ways, out);
        write_paragraph(sensitivity, out);
        ok = write_folded("What the answer rests on", assumed, &request, out) && ok;
        ok = write_folded("What was searched", searched, NULL, out) && ok;
    }
    arena_free(&arena);
    if (!ok) return error_memory(error);
    return !ferror(out) || error_stream(error, "report", "the Markdown");
}
