/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/trace/formats/xline.h"

#include "base/util.h"

#include <stdlib.h>
#include <string.h>

bool xline_device(const char *name, int64_t *number, bool *of_tpu) {
    static const char *const KINDS[] = {"/device:TPU:", "/device:GPU:"};
    for (size_t i = 0; i < COUNT_OF(KINDS); i++) {
        const char *digits = name + strlen(KINDS[i]);
        if (strncmp(name, KINDS[i], strlen(KINDS[i])) != 0 || !*digits) continue;
        *number = strtoll(digits, NULL, 10);
        *of_tpu = i == 0;
        return strspn(digits, "0123456789") == strlen(digits) && strlen(digits) < 9;
    }
    return false;
}

XLineKind xline_kind(bool of_tpu, const char *name) {
    if (strcmp(name, "Steps") == 0) return XLINE_STEPS;
    if (!of_tpu) return strncmp(name, "Stream #", 8) == 0 ? XLINE_STREAM : XLINE_OTHER;
    if (strcmp(name, "XLA Ops") == 0) return XLINE_OPERATIONS;
    return strcmp(name, "Async XLA Ops") == 0 ? XLINE_BESIDE : XLINE_OTHER;
}

bool xline_add(const XLine *line, const XOperation *operation, XTime time, const char *path, Recording *to) {
    TraceEvent event = {.start_ns = time.start_ns,
                        .end_ns = time.end_ns,
                        .name = operation->name,
                        .device = line->device,
                        .stream = line->stream,
                        .group = operation->group,
                        .sequence = -1,
                        .class = operation->class,
                        .kind = operation->kind,
                        .phase = operation->phase,
                        .bytes = operation->bytes,
                        .host_copy = operation->host_copy};
    if (line->kind == XLINE_OPERATIONS) return operation->container || recording_add(to, &event);
    if (line->kind == XLINE_BESIDE) {
        event.bytes = 0; /* the operation that started it has them */
        bool moves = operation->class == CLASS_COLLECTIVE || (operation->class == CLASS_COPY && operation->host_copy);
        return !moves || recording_add(to, &event);
    }
    event.phase = (uint8_t)range_kind(to->rules, path);
    const char *name = recording_text(to, operation->name);
    if (strncmp(name, "Memcpy", 6) == 0)
        event.host_copy = strstr(name, "H2D") || strstr(name, "D2H") || strstr(name, "HtoD") || strstr(name, "DtoH");
    return recording_add(to, &event);
}

bool xline_add_step(const XLine *line, int64_t start_ns, int64_t end_ns, Recording *to) {
    to->steps_on_device = true;
    return recording_add_range(to, "ProfilerStep#", (TraceRange){start_ns, end_ns, 0, 0, line->device, 0});
}
