/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/trace/formats/step_log.h"

#include "base/util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_MAX = 1 << 20, LINE_BYTES = 4096, WARM_UP = 3 };
static const double LONG_STEP = 1.5;

/* What stands before the number: Megatron-LM training.py at d98e8a64, Megatron-Bridge at 067f987d, NeMo
 * progress_printer.py at 8cfedd72, MaxText metric_logger.py at e591f30c. */
static const struct {
    const char *launcher, *before;
    double seconds; /* of its unit */
} FORMS[] = {{"Megatron-LM", "elapsed time per iteration (ms):", 1e-3},
             {"Megatron-Bridge", "Step Time :", 1},
             {"NeMo", "train_step_timing in s:", 1},
             {"MaxText", ", seconds:", 1}};

typedef struct {
    double *seconds;
    int count, room;
    int form; /* of FORMS; -1: no line yet */
    bool cut;
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

/* One launcher writes a log: after its first line only its own count. False: memory is out. */
static bool read_line(Steps *steps, const char *line) {
    for (int form = 0; form < (int)COUNT_OF(FORMS); form++) {
        const char *at = strstr(line, FORMS[form].before);
        if (!at || (steps->form >= 0 && steps->form != form)) continue;
        if (strcmp(FORMS[form].launcher, "MaxText") == 0 && !strstr(line, "completed step:")) continue;
        char *end;
        at += strlen(FORMS[form].before);
        double value = strtod(at, &end) * FORMS[form].seconds;
        if (end == at || !isfinite(value) || !(value > 0) || value > 1e7) continue;
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

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void sum_up(Steps *steps, StepLog *out) {
    int skip = steps->count > 2 * WARM_UP ? WARM_UP : 0, used = 0;
    double *own = steps->seconds + skip;
    int count = steps->count - skip;
    qsort(own, (size_t)count, sizeof *own, by_value);
    double most = LONG_STEP * own[count / 2];
    while (used < count && own[used] <= most) used++;
    out->launcher = FORMS[steps->form].launcher;
    out->steps = steps->count;
    out->used = used;
    out->median = used % 2 ? own[used / 2] : (own[used / 2 - 1] + own[used / 2]) / 2;
    out->lower = own[used / 4];
    out->upper = own[3 * used / 4];
    out->cut = steps->cut;
}

bool step_log_read(ByteSource source, const char *where, StepLog *out, Error *error) {
    Steps steps = {.form = -1};
    bool ok = read_lines(source, &steps) || error_memory(error);
    *out = (StepLog){.file = where};
    if (ok && steps.count == 0)
        ok = error_set(error, ERROR_INPUT, where,
                       "is no trace, and no log of Megatron-LM, Megatron-Bridge, NeMo or MaxText with step times");
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
