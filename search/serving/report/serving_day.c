/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text/prose.h"
#include "base/text/table.h"
#include "search/serving/report/serving_report.h"

enum { DAY_ROWS = 24 }; /* of more hours the JSON has the rest */

bool serving_write_day(const ServingReport *report, TextOut out) {
    const ServingDay *day = report->day;
    double usd = report->question->chip.usd_per_chip_hour.value;
    char rate[NUMBER_TEXT_SIZE], hours[NUMBER_TEXT_SIZE], peak[NUMBER_TEXT_SIZE];
    Arena arena = {0};
    Prose prose = {0};
    if (!day || day->count == 0 || !day->point) return true;
    Table table = table_new(&arena, "Day", "hour|>requests/s|>replicas|>chips|>load");
    for (int i = 0; i < day->count && i < DAY_ROWS; i++) {
        const ServingHour *hour = &day->hours[i];
        table_cell(&table, "%s", hour->label);
        table_cell(&table, "%s", serving_rate(hour->rate, rate));
        table_cell(&table, "%lld", (long long)hour->replicas);
        table_cell(&table, "%lld", (long long)(hour->replicas * day->replica_chips));
        table_cell(&table, "%.0f%%", 100 * hour->rate / day->replica_rate / (double)hour->replicas);
    }
    bool ok = table_write_text(&table, "", out);
    arena_free(&arena);
    prose_add(&prose, "Replicas of %lld chip%s, batch %lld, up to %s requests/s each: %s chip-hours in %d hours",
              (long long)day->replica_chips, day->replica_chips == 1 ? "" : "s", (long long)day->point->pools[0].batch,
              serving_rate(day->replica_rate, rate), number_grouped((int64_t)day->chip_hours, hours), day->count);
    if (usd > 0) prose_add(&prose, ", $%s", number_grouped((int64_t)(day->chip_hours * usd + 0.5), peak));
    prose_add(&prose, "; at the peak's all the time %s, %.0f%% more.",
              number_grouped((int64_t)day->peak_chip_hours, hours), 100 * (day->peak_chip_hours / day->chip_hours - 1));
    prose_write(out, "", "  ", prose.text);
    return ok;
}
