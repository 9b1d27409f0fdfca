/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/json.h"
#include "base/text/prose.h"
#include "search/trace/comparison.h"

#include <string.h>

/* A profiler that costs more than this makes what waits for launches unreliable. */
static const double SLOWED = 1.1;

/* What the plan has for a timer of Megatron; 0: it has nothing of the kind. */
static double planned_of(const char *name, const PlanTerms *plan) {
    if (!plan) return 0;
    double once = plan->exposed[TERM_OPTIMIZER] + plan->exposed[TERM_OTHER] + plan->exposed[TERM_DATA] +
                  plan->exposed[TERM_WAITS];
    if (strcmp(name, "forward-backward") == 0) return plan->step - once;
    return strcmp(name, "optimizer") == 0 ? plan->exposed[TERM_OPTIMIZER] : 0;
}

static void write_timers(const StepLog *log, const PlanTerms *plan, TextOut out) {
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], name[PROSE_NAME_SIZE];
    for (int i = 0; i < log->timer_count; i++) {
        const StepTimer *timer = &log->timers[i];
        Prose prose = {0};
        double planned = planned_of(timer->name, plan);
        prose_add(&prose, "%s: %s", clean_name(timer->name, name), step_text(timer->most, a));
        if (timer->least < timer->most)
            prose_add(&prose, " on the slowest rank, %s on the fastest", step_text(timer->least, a));
        if (planned > 0)
            prose_add(&prose, "; the plan has %s (%s)", step_text(planned, a),
                      change_text(timer->most / planned - 1, b));
        prose_write(out, "    ", "      ", prose.text);
    }
}

/* The time of a step; where nobody says how many tokens a step has, tokens a second of a device. */
static const char *value_text(const StepLog *log, double seconds, char *text) {
    return log->of_tokens ? rate_text(1 / seconds, "token", text) : step_text(seconds, text);
}

void step_logs_write_text(const StepLog *logs, int count, const PlanTerms *plan, double traced, TextOut out) {
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], c[NUMBER_TEXT_SIZE], name[PROSE_NAME_SIZE];
    for (int i = 0; i < count; i++) {
        const StepLog *log = &logs[i];
        bool steps = !log->of_tokens;
        Prose prose = {0};
        prose_add(&prose, "%s (%s): %s a %s, the median of %d of %d (half of them from %s to %s)",
                  clean_name(log->file, name), log->launcher, value_text(log, log->median, a),
                  steps ? "step" : "device", log->used, log->steps, value_text(log, steps ? log->lower : log->upper, b),
                  value_text(log, steps ? log->upper : log->lower, c));
        if (!steps) prose_add(&prose, "; with a plan this is a step");
        if (steps && plan && plan->step > 0)
            prose_add(&prose, "; the plan has %s (%s)", step_text(plan->step, a),
                      change_text(log->median / plan->step - 1, b));
        if (steps && traced > 0)
            prose_add(&prose, "; the traced step is %.2f times as long%s", traced / log->median,
                      traced > SLOWED * log->median
                          ? ": the profiler slows the host, so idle in the trace is not the run's"
                          : "");
        prose_add(&prose, ".");
        prose_write(out, "", "  ", prose.text);
        if (steps) write_timers(log, plan, out);
    }
}

static void add_timers(const StepLog *log, const PlanTerms *plan, cJSON *item) {
    cJSON *array = log->timer_count > 0 ? json_add_array(item, "timers") : NULL;
    for (int i = 0; i < log->timer_count; i++) {
        cJSON *timer = json_add_object(array, NULL);
        char name[PROSE_NAME_SIZE];
        double planned = planned_of(log->timers[i].name, plan);
        json_add_text(timer, "timer", clean_name(log->timers[i].name, name));
        json_add_real(timer, "least_seconds", log->timers[i].least);
        json_add_real(timer, "most_seconds", log->timers[i].most);
        if (planned > 0) json_add_real(timer, "predicted_seconds", planned);
    }
}

void step_logs_add_json(const StepLog *logs, int count, const PlanTerms *plan, cJSON *to) {
    cJSON *array = json_add_array(to, "logs");
    for (int i = 0; i < count; i++) {
        cJSON *item = json_add_object(array, NULL);
        json_add_text(item, "file", logs[i].file);
        json_add_text(item, "launcher", logs[i].launcher);
        json_add_whole(item, "steps", logs[i].steps);
        json_add_whole(item, "steps_used", logs[i].used);
        if (logs[i].of_tokens) {
            json_add_real(item, "tokens_per_second_per_device", 1 / logs[i].median);
            continue;
        }
        add_timers(&logs[i], plan, item);
        json_add_real(item, "step_median_seconds", logs[i].median);
        json_add_real(item, "step_lower_quartile_seconds", logs[i].lower);
        json_add_real(item, "step_upper_quartile_seconds", logs[i].upper);
    }
}
