/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A report for a pull request: short, what is long folded away; and its plans for a spreadsheet. */
#include "base/escape.h"
#include "search/report/html/tables.h"
#include "search/report/html/write.h"
#include "search/report/plan_fields.h"
#include "search/report/text/sentences.h"

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
