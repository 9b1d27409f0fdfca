/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/trace/formats/formats.h"

#include "base/util.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_MAX = 1 << 20, LINE_BYTES = 4096, WARM_UP = 3 };
static const double LONG_STEP = 1.5;

/* What stands before the number: Megatron-LM training.py at d98e8a64, Megatron-Bridge at 067f987d, NeMo
 * progress_printer.py at 8cfedd72, MaxText metric_logger.py at e591f30c, torchtitan metrics.py at b5bcd76c, whose
 * tokens per second are of one device. */
static const struct {
    const char *launcher, *before, *also; /* the line has both */
    double seconds;                       /* of its unit; 0: it is tokens in a second */
} FORMS[] = {{"Megatron-LM", "elapsed time per iteration (ms):", "", 1e-3},
             {"Megatron-Bridge", "Step Time :", "", 1},
             {"NeMo", "train_step_timing in s:", "", 1},
             {"MaxText", ", seconds:", "completed step:", 1},
             {"torchtitan", "tps: ", "step: ", 0}};

typedef struct {
    double *seconds;
    int count, room;
    int form; /* of FORMS; -1: no line yet */
    bool cut;
    bool in_timers; /* lines of Megatron's timers may follow */
    StepTimer timers[STEP_TIMERS_MAX];
    int timer_count;
} Steps;

static bool keep(Steps *steps, double seconds) {
    if (steps->count == STEPS_MAX) steps->cut = true;
    if (steps->count == STEPS_MAX) return true;
    if (steps->count == steps->room) {
        int room = steps->room ? 2 * steps->room : 256;
        double *larger = realloc(steps->seconds, (size_t)room * sizeof *larger);
        if (!larger) return false;
        steps->seconds = larger;
        steps->room = room;
    }
    steps->seconds[steps->count++] = seconds;
    return true;
}

/* "4,376  tflops": a number with commas between thousands. */
static double read_value(const char *at, double unit) {
    char digits[64], *end;
    size_t used = 0;
    at += strspn(at, " ");
    for (; used < sizeof digits - 1 && *at && strchr("0123456789.,eE+-", *at); at++)
        if (*at != ',') digits[used++] = *at;
    digits[used] = '\0';
    double value = strtod(digits, &end);
    return end == digits ? -1 : unit > 0 ? value * unit : value > 0 ? 1 / value : -1;
}

/* The timers of what comes once are no part of a step. */
static bool is_of_step(const char *name) {
    static const char *const ONCE[] = {"setup", "checkpoint", "eval", "init", "/"};
    for (size_t i = 0; i < COUNT_OF(ONCE); i++)
        if (strstr(name, ONCE[i])) return false;
    return true;
}

/* Of several reports the first has what starting costs. */
static void keep_timer(Steps *steps, const char *name, double least, double most) {
    int i = 0;
    while (i < steps->timer_count && strcmp(steps->timers[i].name, name) != 0) i++;
    if (i == STEP_TIMERS_MAX || !is_of_step(name)) return;
    StepTimer *timer = &steps->timers[i];
    if (i == steps->timer_count) snprintf(steps->timers[steps->timer_count++].name, sizeof timer->name, "%s", name);
    timer->reports++;
    double kept = max_real(1, timer->reports - 1); /* how many are in the mean now */
    timer->least += (least - timer->least) / kept;
    timer->most += (most - timer->most) / kept;
}

/* "    forward-backward ...........: (7712.11, 7713.20)", or the slowest rank's time alone: Megatron-LM core/timers.py,
 * behind a line that says so. */
static void read_timer(Steps *steps, const char *line) {
    char name[sizeof steps->timers[0].name];
    double least, most;
    if (strstr(line, "time across ranks (ms):")) {
        steps->in_timers = true;
        return;
    }
    const char *dots = strstr(line, " ..."), *value = dots ? dots + 1 + strspn(dots + 1, ".") : NULL, *begin = dots;
    steps->in_timers = steps->in_timers && dots && value[0] == ':';
    if (!steps->in_timers) return;
    while (begin > line && !strchr(" \t:]>", begin[-1])) begin--;
    if (begin == dots || dots - begin >= (ptrdiff_t)sizeof name) return;
    snprintf(name, sizeof name, "%.*s", (int)(dots - begin), begin);
    if (sscanf(value, ": (%lf, %lf)", &least, &most) != 2) {
        if (sscanf(value, ": %lf", &most) != 1) return;
        least = most;
    }
    if (least >= 0 && least <= most && most < 1e10) keep_timer(steps, name, 1e-3 * least, 1e-3 * most);
}

/* One launcher writes a log: after its first line only its own count. False: memory is out. */
static bool read_line(Steps *steps, const char *line) {
    read_timer(steps, line);
    for (int form = 0; form < (int)COUNT_OF(FORMS); form++) {
        const char *at = strstr(line, FORMS[form].before);
        if (!at || !strstr(line, FORMS[form].also) || (steps->form >= 0 && steps->form != form)) continue;
        double value = read_value(at + strlen(FORMS[form].before), FORMS[form].seconds);
        if (!isfinite(value) || !(value > 0) || value > 1e7) continue;
        steps->form = form;
        return keep(steps, value);
    }
    return true;
}

/* Lines longer than LINE_BYTES are cut; colours of terminals are no part of the texts that are looked for. */
static bool read_lines(ByteSource source, Steps *steps) {
    char piece[LINE_BYTES], line[LINE_BYTES];
    size_t used = 0;
    ptrdiff_t got;
    bool ok = true;
    while (ok && (got = source.read(source.context, piece, sizeof piece)) > 0)
        for (ptrdiff_t i = 0; ok && i < got; i++) {
            if (piece[i] != '\n') {
                if (used < sizeof line - 1) line[used++] = piece[i] ? piece[i] : ' ';
                continue;
            }
            line[used] = '\0';
            ok = read_line(steps, line);
            used = 0;
        }
    line[used] = '\0';
    return ok && read_line(steps, line);
}

static void sum_up(Steps *steps, StepLog *out) {
    int skip = steps->count > 2 * WARM_UP ? WARM_UP : 0, used = 0;
    double *own = steps->seconds + skip;
    int count = steps->count - skip;
    qsort(own, (size_t)count, sizeof *own, order_real);
    double most = LONG_STEP * own[count / 2];
    while (used < count && own[used] <= most) used++;
    out->launcher = FORMS[steps->form].launcher;
    out->steps = steps->count;
    out->used = used;
    out->median = used % 2 ? own[used / 2] : (own[used / 2 - 1] + own[used / 2]) / 2;
    out->lower = own[used / 4];
    out->upper = own[3 * used / 4];
    out->cut = steps->cut;
    out->of_tokens = !(FORMS[steps->form].seconds > 0);
    memcpy(out->timers, steps->timers, sizeof out->timers);
    out->timer_count = steps->timer_count;
}

void step_log_scale(StepLog *log, double tokens_of_device) {
    if (!log->of_tokens || !(tokens_of_device > 0)) return;
    log->median *= tokens_of_device;
    log->lower *= tokens_of_device;
    log->upper *= tokens_of_device;
    log->of_tokens = false;
}

bool step_log_read(ByteSource source, const char *where, StepLog *out, Error *error) {
    Steps steps = {.form = -1};
    bool ok = read_lines(source, &steps) || error_memory(error);
    *out = (StepLog){.file = where};
    if (ok && steps.count == 0)
        ok = error_set(
            error, ERROR_INPUT, where,
            "is no trace, and no log of Megatron-LM, Megatron-Bridge, NeMo, MaxText or torchtitan with steps");
    if (ok) sum_up(&steps, out);
    free(steps.seconds);
    return ok;
}

bool step_log_begins(const char *head) {
    head += strspn(head, " \t\r\n");
    if (*head == '{' || *head == '[') return head[0] == '[' && strchr("0123456789dIWE", head[1]) && head[1];
    for (const char *at = head; *at; at++)
        if ((unsigned char)*at < 0x20 && !strchr("\t\r\n\x1b", *at)) return false;
    return *head != '\0';
}
