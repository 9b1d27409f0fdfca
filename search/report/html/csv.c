/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plans for a spreadsheet: SI units in the names of the columns, numbers with 17 digits. */
#include "search/report/html/write.h"
#include "search/report/plan_fields.h"

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
