/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/serving/day.h"

#include "base/rows.h"
#include "base/util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* "08:00 12.5/s": false means that it is no such line. */
static bool read_hour(const char *row, int number, ServingHour *out) {
    char first[HOUR_LABEL_SIZE], second[HOUR_LABEL_SIZE], rest, *end;
    int words = sscanf(row, "%23s %23s %c", first, second, &rest);
    const char *rate = words == 2 ? second : first;
    if (words < 1 || words > 2) return false;
    out->rate = strtod(rate, &end);
    if (end == rate || (*end && strcmp(end, "/s") != 0) || !(out->rate >= 0 && out->rate <= 1e9)) return false;
    if (words == 2)
        strcpy(out->label, first);
    else
        snprintf(out->label, sizeof out->label, "%d", number);
    return true;
}

bool serving_day_read(const char *text, const char *where, Arena *arena, ServingDay *out, Error *error) {
    int64_t lines = 1;
    Rows rows = {.at = text};
    *out = (ServingDay){0};
    for (const char *at = text; *at; at++) lines += *at == '\n';
    out->hours = ARENA_NEW(arena, ServingHour, (size_t)min_whole(lines, DAY_HOURS_MAX));
    if (!out->hours) return error_memory(error);
    while (rows_next(&rows)) {
        if (out->count == DAY_HOURS_MAX)
            return error_set(error, ERROR_INPUT, where, "has more than %d hours; give a year at most", DAY_HOURS_MAX);
        if (read_hour(rows.text, out->count, &out->hours[out->count]))
            out->peak = max_real(out->peak, out->hours[out->count++].rate);
        else
            rows_leave_out(&rows);
    }
    if (!rows_settle(&rows, where, "give the requests per second of an hour, after a label perhaps: 08:00 12.5", arena,
                     &out->left_out, error))
        return false;
    return out->peak > 0 || error_set(error, ERROR_INPUT, where, "has no rate above 0");
}

static double replicas_of(double rate, double each) { return max_real(1, ceil(rate / each * (1 - 1e-12))); }

void serving_day_plan(const ServingQuestion *question, const ServingAnswer *answer, ServingDay *day) {
    double factor = answer->with_margin ? max_real(1, answer->likely_factor) : 1;
    for (int i = -1; i < answer->front.count && answer->has_best; i++) {
        const ServingPoint *point = i < 0 ? &answer->best : &answer->front.points[i];
        double sum = 0;
        if (point->pool_count != 1 || point->tpot_seconds > answer->tpot_goal_seconds / factor ||
            point->ttft_seconds > answer->ttft_goal_seconds / factor)
            continue;
        double each = point->requests_per_second / (double)point->pools[0].workers;
        int64_t chips = question_chips(question, worker_devices(&point->pools[0].on.layout));
        for (int h = 0; h < day->count; h++) sum += replicas_of(day->hours[h].rate, each) * (double)chips;
        if (day->point && sum >= day->chip_hours) continue;
        day->point = point;
        day->chip_hours = sum;
        day->replica_rate = each;
        day->replica_chips = chips;
    }
    if (!day->point) return;
    for (int h = 0; h < day->count; h++)
        day->hours[h].replicas = (int64_t)replicas_of(day->hours[h].rate, day->replica_rate);
    day->peak_chip_hours = replicas_of(day->peak, day->replica_rate) * (double)day->replica_chips * (double)day->count;
}
