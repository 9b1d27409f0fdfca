/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/trace/formats/chrome_xla.h"

#include <stdlib.h>
#include <string.h>

void chrome_xla_free(ChromeXla *xla) { free(xla->lines); }

static const ChromeXlaLine *device_of(const ChromeXla *xla, int64_t process) {
    for (int i = 0; i < xla->device_count; i++)
        if (xla->devices[i].process == process) return &xla->devices[i];
    return NULL;
}

static bool add_device(ChromeXla *xla, const ChromeEvent *event, Recording *to) {
    ChromeXlaLine own = {.process = event->process};
    int64_t number;
    if (!xline_device(event->label.text, &number, &own.of_tpu) || device_of(xla, event->process) ||
        xla->device_count == TRACE_DEVICES_MAX)
        return true;
    own.line.device = recording_device(to, number, number);
    if (own.line.device < 0) return false;
    xla->devices[xla->device_count++] = own;
    return true;
}

static bool add_line(ChromeXla *xla, const ChromeEvent *event) {
    const ChromeXlaLine *device = device_of(xla, event->process);
    if (!device || xla->line_count == CHROME_XLA_LINES_MAX) return true;
    ChromeXlaLine own = *device;
    own.thread = event->thread;
    own.line.kind = xline_kind(device->of_tpu, event->label.text);
    own.line.stream = (int32_t)(event->thread & 0x7FFFFFFF);
    if (own.line.kind == XLINE_OTHER) return true;
    if (!xla->lines) xla->lines = malloc(CHROME_XLA_LINES_MAX * sizeof *xla->lines);
    if (!xla->lines) return false;
    xla->lines[xla->line_count++] = own;
    return true;
}

bool chrome_xla_name(ChromeXla *xla, const ChromeEvent *event, Recording *to) {
    if (strcmp(event->name, "process_name") == 0) return add_device(xla, event, to);
    return strcmp(event->name, "thread_name") != 0 || add_line(xla, event);
}

/* Events of a line follow each other. */
static const ChromeXlaLine *line_of(ChromeXla *xla, const ChromeEvent *event) {
    for (int i = 0; i < xla->line_count; i++) {
        const ChromeXlaLine *line = &xla->lines[(xla->last + i) % xla->line_count];
        if (line->process != event->process || line->thread != event->thread) continue;
        xla->last = (xla->last + i) % xla->line_count;
        return line;
    }
    return NULL;
}

bool chrome_xla_add(ChromeXla *xla, const ChromeEvent *event, Recording *to) {
    XTime time = {.start_ns = event->start_ns};
    XOperation operation = {.group = -1};
    xla->events++;
    const ChromeXlaLine *line = line_of(xla, event);
    if (!line) return true;
    if (!event->timed || event->duration_ns < 0 ||
        __builtin_add_overflow(event->start_ns, event->duration_ns, &time.end_ns)) {
        to->dropped++;
        return true;
    }
    if (line->line.kind == XLINE_STEPS) return xline_add_step(&line->line, time.start_ns, time.end_ns, to);
    operation.name = recording_name(to, event->name, event->name_length);
    if (operation.name < 0) return false;
    XTexts texts = {event->category_text.text, event->name, event->long_name, event->path};
    if (line->of_tpu) xoperation_describe(&operation, texts, to);
    return xline_add(&line->line, &operation, time, event->path[0] ? event->path : event->label.text, to);
}
