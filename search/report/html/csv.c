/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plans for a spreadsheet: SI units in the names of the columns, numbers with 17 digits. */
#include "base/text/table.h"
#include "search/answer/doubts.h"
#include "search/launch/launcher.h"
#include "search/report/html/write.h"
#include "search/report/text/parts.h"

#include <string.h>

/* Adds a column; `name` is NULL where memory is out. */
static void add_column(Table *table, const char *name, bool right) {
    table_column(table, name, right);
    table->failed = table->failed || !name;
}

/* Adds a column for each name of a list with blanks between them. */
static void add_columns(Table *table, const char *names, bool right) {
    char *name = arena_text(table->arena, names), *rest;
    do {
        rest = name ? strchr(name, ' ') : NULL;
        if (rest) *rest++ = '\0';
        add_column(table, name, right);
        name = rest;
    } while (name);
}

static Table begin_table(Arena *arena) {
    Table table = table_new(arena, NULL, ">rank|model|chip|machine|plan");
    for (int role = 0; role < ROLE_COUNT; role++) table_column(&table, role_name((Role)role), true);
    add_columns(&table, "chips_used sequences seq microbatches microbatch_sequences", true);
    add_columns(&table, "schedule", false);
    add_columns(&table,
                "virtual_stages step_seconds lower_seconds upper_seconds likely_low_seconds likely_high_seconds "
                "compute_seconds exposed_communication_seconds bubble_seconds optimizer_seconds other_seconds",
                true);
    for (int role = 0; role < ROLE_COUNT; role++)
        add_column(&table, arena_format(arena, "exposed_%s_seconds", role_name((Role)role)), true);
    add_columns(&table, "mfu", true);
    add_columns(&table, "bound_by", false);
    for (int row = 0; row <= MEMORY_TRANSIENT; row++)
        add_column(&table, arena_format(arena, "%s_bytes", memory_row_name((MemoryRow)row)), true);
    add_columns(&table, "memory_bytes memory_limit_bytes training_seconds chip_hours cost_usd", true);
    add_columns(&table, "launchable_by padding", false);
    return table;
}

static void add_whole(Table *table, int64_t value) { table_cell(table, "%lld", (long long)value); }
static void add_real(Table *table, double value) { table_cell(table, "%.17g", value); }
static void add_text(Table *table, const char *text) { table_cell(table, "%s", text); }

static void add_time(Table *table, const Request *request, const RankedPlan *ranked) {
    const StepTime *time = &ranked->estimate.time;
    double low, high;
    add_real(table, time->seconds);
    add_real(table, time->lower_seconds);
    add_real(table, time->serial_seconds);
    if (plan_likely(request, ranked, &low, &high)) {
        add_real(table, low);
        add_real(table, high);
    } else {
        add_text(table, "");
        add_text(table, "");
    }
    add_real(table, time->compute_seconds);
    add_real(table, time->exposed_seconds);
    add_real(table, time->bubble_seconds);
    add_real(table, time->optimizer_seconds);
    add_real(table, time->other_seconds);
    for (int role = 0; role < ROLE_COUNT; role++) {
        double exposed;
        role_seconds(time, (Role)role, &exposed);
        add_real(table, exposed);
    }
}

static void add_memory(Table *table, const Estimate *estimate) {
    for (int row = 0; row <= MEMORY_TRANSIENT; row++)
        add_real(table, memory_row_bytes(&estimate->memory, (MemoryRow)row));
    add_real(table, memory_total(&estimate->memory));
    add_real(table, estimate->memory_limit_bytes);
}

static void add_knobs(Table *table, const Knobs *knobs) {
    add_whole(table, knobs->microbatches);
    add_whole(table, knobs->microbatch_sequences);
    add_text(table, schedule_name(knobs->schedule));
    add_whole(table, knobs->virtual_stages);
}

static void add_plan(Table *table, const Request *request, int rank, const RankedPlan *ranked) {
    Training training = training_of(request, ranked);
    char label[WORDS_SIZE];
    add_whole(table, rank);
    add_text(table, request->question.model.name);
    add_text(table, request->question.chip.name);
    add_text(table, ranked->machine.text);
    add_text(table, plan_label(ranked, label));
    for (int role = 0; role < ROLE_COUNT; role++) add_whole(table, ranked->plan.degrees.of[role]);
    add_whole(table, ranked->machine.mesh.chips);
    add_whole(table, ranked->work.sequences);
    add_whole(table, ranked->work.seq);
    add_knobs(table, &ranked->plan.knobs);
    add_time(table, request, ranked);
    add_real(table, ranked->estimate.mfu);
    add_text(table, bound_name(ranked->estimate.bound_by));
    add_memory(table, &ranked->estimate);
    add_real(table, training.seconds);
    add_real(table, training.chip_hours);
    if (training.usd >= 0)
        add_real(table, training.usd);
    else
        add_text(table, "");
    add_text(table, ranked->launchable_by ? launchers_text(ranked->launchable_by, " ", label, sizeof label) : "");
    add_text(table, ranked->padding ? padding_text(ranked->padding, label) : "");
}

bool report_write_csv(const Report *report, FILE *out, Error *error) {
    Arena arena = {0};
    Table table = begin_table(&arena);
    for (int i = 0; i < report->result.plan_count; i++)
        add_plan(&table, report->request, i + 1, &report->result.plans[i]);
    bool ok = table_write_csv(&table, out);
    arena_free(&arena);
    if (!ok) return error_memory(error);
    return !ferror(out) || error_stream(error, "report", "the table");
}
