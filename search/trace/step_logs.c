/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/json.h"
#include "base/text/prose.h"
#include "search/trace/beside.h"

/* A profiler that costs more than this makes what waits for launches unreliable. */
static const double SLOWED = 1.1;

void step_logs_write_text(const StepLog *logs, int count, const PlanTerms *plan, double traced, TextOut out) {
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], c[NUMBER_TEXT_SIZE], name[PROSE_NAME_SIZE];
    for (int i = 0; i < count; i++) {
        const StepLog *log = &logs[i];
        Prose prose = {0};
        prose_add(&prose, "%s (%s): %s a step, the median of %d of %d (half of them from %s to %s)",
                  clean_name(log->file, name), log->launcher, step_text(log->median, a), log->used, log->steps,
                  step_text(log->lower, b), step_text(log->upper, c));
        if (plan && plan->step > 0)
            prose_add(&prose, "; the plan has %s (%s)", step_text(plan->step, a),
                      change_text(log->median / plan->step - 1, b));
        if (traced > 0)
            prose_add(&prose, "; the traced step is %.2f times as long%s", traced / log->median,
                      traced > SLOWED * log->median
                          ? ": the profiler slows the host, so idle in the trace is not the run's"
                          : "");
        prose_add(&prose, ".");
        prose_write(out, "", "  ", prose.text);
    }
}

void step_logs_add_json(const StepLog *logs, int count, cJSON *to) {
    cJSON *array = json_add_array(to, "logs");
    for (int i = 0; i < count; i++) {
        cJSON *item = json_add_object(array, NULL);
        json_add_text(item, "file", logs[i].file);
        json_add_text(item, "launcher", logs[i].launcher);
        json_add_whole(item, "steps", logs[i].steps);
        json_add_whole(item, "steps_used", logs[i].used);
        json_add_real(item, "step_median_seconds", logs[i].median);
        json_add_real(item, "step_lower_quartile_seconds", logs[i].lower);
        json_add_real(item, "step_upper_quartile_seconds", logs[i].upper);
    }
}
