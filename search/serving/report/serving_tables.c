/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The front as Markdown and as CSV. */
#include "base/text/table.h"
#include "search/answer/plan_words.h"
#include "search/serving/report/serving_report.h"

static bool serving_write_markdown(const ServingReport *report, FILE *out, Error *error) {
    const ServingQuestion *q = report->question;
    Arena arena = {0};
    Table table =
        table_new(&arena, "Front", "front|way|engine|>tokens/s/user|>tokens/s/chip|>ms per token|>ms to the first");
    for (int i = 0; i < report_points(report); i++) {
        const char *kind;
        const ServingPoint *point = report_point(report, i, &kind);
        char text[POINT_TEXT_SIZE];
        table_cell(&table, "%s", kind);
        table_cell(&table, "%s", point_notation(point, text));
        table_cell(&table, "%s", point_engine(point));
        table_cell(&table, "%.1f", point->per_user);
        table_cell(&table, "%.1f", point->per_chip);
        table_cell(&table, "%.2f", 1e3 * point->tpot_seconds);
        table_cell(&table, "%.1f", 1e3 * point->ttft_seconds);
    }
    char machine[WORDS_SIZE];
    fprintf(out, "**%s on %s**, prompts of %.0f tokens, answers of %.0f\n\n", q->model.name,
            machine_of(&q->chip, q->machine.text, 0, machine), q->request.prompt, q->request.output);
    bool ok =
        report_points(report) == 0 ? fputs("Nothing keeps the limits.\n", out) >= 0 : table_write_markdown(&table, out);
    arena_free(&arena);
    return ok || error_memory(error);
}

static bool serving_write_csv(const ServingReport *report, FILE *out, Error *error) {
    const ServingFront *front = &report->answer->front;
    Arena arena = {0};
    Table table = table_new(&arena, "Front", NULL);
    fields_begin(&table, POINT_FIELDS);
    for (int i = 0; i < front->count && (report->top == 0 || i < report->top); i++) {
        PointRecord record;
        point_record(report, &front->points[i], i + 1, &record);
        fields_row(&table, POINT_FIELDS, &record);
    }
    bool ok = table_write_csv(&table, out);
    arena_free(&arena);
    return ok || error_memory(error);
}

bool serving_write_as(const ServingReport *report, ServedFormat format, TextOut out, Error *error) {
    switch (format) {
    case SERVED_JSON:
    case SERVED_BRIEF:
        return serving_write_json(report, format == SERVED_BRIEF, out.file, error);
    case SERVED_MARKDOWN:
        return serving_write_markdown(report, out.file, error);
    case SERVED_HTML:
        return serving_write_html(report, out.file, error);
    case SERVED_CSV:
        return serving_write_csv(report, out.file, error);
    default:
        return serving_write_text(report, out, error);
    }
}
