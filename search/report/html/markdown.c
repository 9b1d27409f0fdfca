/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A report for a pull request: short, what is long folded away; and its plans for a spreadsheet. */
#include "base/escape.h"
#include "search/report/html/pictures.h"
#include "search/report/html/write.h"
#include "search/report/plan_fields.h"

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

static Table terms_table(const PageView *view) {
    const RankedPlan *first = view_first(view);
    Term terms[TERMS_MAX];
    int count = step_terms(&first->estimate, &first->plan.degrees, terms);
    Table table = table_new(view->arena, "Where a step of plan 1 goes", "part|>seconds|>share");
    for (int i = 0; i < count; i++) {
        char seconds[NUMBER_TEXT_SIZE], share[NUMBER_TEXT_SIZE];
        const char *cells[] = {terms[i].name, step_text(terms[i].seconds, seconds),
                               share_text(terms[i].seconds / first->estimate.time.seconds, share)};
        if (terms[i].seconds > 1e-6 * first->estimate.time.seconds) table_row(&table, cells);
    }
    return table;
}

static Table memory_table(const PageView *view) {
    const Estimate *estimate = &view_first(view)->estimate;
    Table table = table_new(view->arena, "HBM per chip at the peak", "row|>HBM|>share of the limit");
    for (int row = 0; row <= MEMORY_TRANSIENT; row++) {
        char bytes[NUMBER_TEXT_SIZE], share[NUMBER_TEXT_SIZE];
        double value = memory_row_bytes(&estimate->memory, (MemoryRow)row);
        const char *cells[] = {memory_row_name((MemoryRow)row), number_bytes(value, bytes),
                               share_text(value / estimate->memory_limit_bytes, share)};
        table_row(&table, cells);
    }
    return table;
}

static bool write_plans(const PageView *view, FILE *out) {
    const RankedPlan *first = view_first(view);
    Table plans = plans_table(view), terms = terms_table(view), memory = memory_table(view);
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
    for (int rank = 2; rank <= view->report->result.plan_count && rank <= 3; rank++)
        write_paragraph(compare_to_best_text(view, rank), out);
    return write_folded("Where a step of plan 1 goes", NULL, &terms, out) &&
           write_folded("HBM per chip at the peak of plan 1", NULL, &memory, out) && ok;
}

bool report_write_markdown(const Report *report, FILE *out, Error *error) {
    Arena arena = {0};
    PageView view = {report, NULL, &arena};
    const char *title = title_text(&view), *verdict = verdict_text(&view), *sensitivities = sensitivities_text(&view),
               *assumed = assumed_text(&view), *searched = searched_text(&view);
    Table ways = alternatives_table(&view), nearest = nearest_table(&view), request = request_table(&view);
    bool ok = title && verdict && sensitivities && assumed && searched;
    if (ok) {
        fputs("## ", out);
        write_paragraph(title, out);
        write_paragraph(verdict, out);
        ok = (!view_first(&view) || write_plans(&view, out)) &&
             write_table("The nearest machines that fit", &nearest, out) &&
             write_table("Alternatives where sizes do not divide", &ways, out);
        write_paragraph(sensitivities, out);
        ok = write_folded("What the answer rests on", assumed, &request, out) && ok;
        ok = write_folded("What was searched", searched, NULL, out) && ok;
    }
    arena_free(&arena);
    if (!ok) return error_memory(error);
    return !ferror(out) || error_stream(error, "report", "the Markdown");
}
