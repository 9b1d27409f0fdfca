/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/trace/formats/xplane.h"

#include "base/util.h"
#include "cost/trace/formats/xplane_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum { LINE_OTHER, LINE_OPERATIONS, LINE_BESIDE, LINE_STREAM, LINE_STEPS } LineKind;

typedef struct {
    Recording *to;
    XTables tables;
    int32_t device;
    /* of the line that is read */
    LineKind line;
    int64_t start_ns, stream;
} Plane;

/* ---- events ---- */

/* The path of a GPU's event in the program, which its statistics name; "" where they do not. */
static void path_of(const Plane *plane, Wire event, char *out, size_t room) {
    WireField field;
    Wire value;
    out[0] = '\0';
    while (wire_next(&event, &field))
        if (field.number == 4 && field.type == 2 && xstat_text(&plane->tables, field.bytes, "name", &value))
            wire_text(value, out, room);
}

static bool add_event(const Plane *plane, const XOperation *operation, int64_t start_ns, int64_t end_ns, Wire message) {
    char path[512];
    TraceEvent event = {.start_ns = start_ns,
                        .end_ns = end_ns,
                        .name = operation->name,
                        .device = plane->device,
                        .stream = (int32_t)plane->stream,
                        .group = operation->group,
                        .sequence = -1,
                        .class = operation->class,
                        .kind = operation->kind,
                        .phase = operation->phase,
                        .bytes = operation->bytes,
                        .host_copy = operation->host_copy};
    if (plane->line == LINE_OPERATIONS) return operation->container || recording_add(plane->to, &event);
    if (plane->line == LINE_BESIDE) {
        event.bytes = 0; /* the operation that started it has them */
        bool moves = operation->class == CLASS_COLLECTIVE || (operation->class == CLASS_COPY && operation->host_copy);
        return !moves || recording_add(plane->to, &event);
    }
    path_of(plane, message, path, sizeof path);
    event.phase = (uint8_t)range_kind(plane->to->rules, path);
    const char *name = recording_text(plane->to, operation->name);
    if (strncmp(name, "Memcpy", 6) == 0)
        event.host_copy = strstr(name, "H2D") || strstr(name, "D2H") || strstr(name, "HtoD") || strstr(name, "DtoH");
    return recording_add(plane->to, &event);
}

/* False: memory is out. */
static bool read_event(Plane *plane, Wire message) {
    WireField field;
    Wire again = message;
    int64_t id = 0, offset_ps = 0, length_ps = 0;
    while (wire_next(&message, &field)) {
        if (field.type != 0) continue;
        if (field.number == 1) id = (int64_t)field.value;
        if (field.number == 2) offset_ps = (int64_t)field.value;
        if (field.number == 3) length_ps = (int64_t)field.value;
    }
    int64_t start_ns, end_ns, end_ps;
    if (__builtin_add_overflow(offset_ps, length_ps, &end_ps) ||
        __builtin_add_overflow(plane->start_ns, offset_ps / 1000, &start_ns) ||
        __builtin_add_overflow(plane->start_ns, end_ps / 1000, &end_ns) || length_ps < 0) {
        plane->to->dropped++;
        return true;
    }
    if (plane->line == LINE_STEPS) {
        plane->to->steps_on_device = true;
        return recording_add_range(plane->to, "ProfilerStep#", (TraceRange){start_ns, end_ns, 0, 0, plane->device, 0});
    }
    const XOperation *operation = xtables_operation(&plane->tables, id, plane->to);
    if (!operation) plane->to->dropped++;
    return !operation || add_event(plane, operation, start_ns, end_ns, again);
}

/* ---- lines ---- */

static LineKind line_kind(const XTables *tables, const char *name) {
    if (strcmp(name, "Steps") == 0) return LINE_STEPS;
    if (!tables->of_tpu) return strncmp(name, "Stream #", 8) == 0 ? LINE_STREAM : LINE_OTHER;
    if (strcmp(name, "XLA Ops") == 0) return LINE_OPERATIONS;
    return strcmp(name, "Async XLA Ops") == 0 ? LINE_BESIDE : LINE_OTHER;
}

/* The name and the start of a line may stand after its events. */
static bool read_line(Plane *plane, Wire line) {
    char name[64] = "";
    WireField field;
    Wire again = line;
    plane->start_ns = plane->stream = 0;
    while (wire_next(&line, &field)) {
        if (field.number == 1 && field.type == 0) plane->stream = (int64_t)(field.value & 0x7FFFFFFF);
        if (field.number == 2 && field.type == 2) wire_text(field.bytes, name, sizeof name);
        if (field.number == 3 && field.type == 0) plane->start_ns = (int64_t)field.value;
    }
    plane->line = line_kind(&plane->tables, name);
    if (plane->line == LINE_OTHER) return true;
    while (wire_next(&again, &field))
        if (field.number == 4 && field.type == 2 && !read_event(plane, field.bytes)) return false;
    return true;
}

/* ---- planes ---- */

/* XProf's names of chips, where they are not those that people use: openxla/xprof, and JAX's device_kind. */
static void set_chip(Recording *recording, const char *type) {
    static const char *const NAMES[][2] = {
        {"TPU v6 Lite", "TPU v6e"}, {"TPU v5 Lite", "TPU v5e"}, {"TPU v5", "TPU v5p"}, {"TPU7x", "TPU v7x"}};
    for (size_t i = 0; i < COUNT_OF(NAMES); i++)
        if (strcmp(type, NAMES[i][0]) == 0) type = NAMES[i][1];
    if (!recording->chip[0]) snprintf(recording->chip, sizeof recording->chip, "%s", type);
}

static void read_plane_statistics(const Plane *plane, Wire message) {
    char type[48];
    WireField field;
    Wire value;
    while (wire_next(&message, &field)) {
        if (field.number != 6 || field.type != 2 ||
            !xstat_text(&plane->tables, field.bytes, "device_type_string", &value))
            continue;
        wire_text(value, type, sizeof type);
        set_chip(plane->to, type);
    }
}

static void plane_name(Wire message, char *out, size_t room) {
    WireField field;
    out[0] = '\0';
    while (wire_next(&message, &field))
        if (field.number == 2 && field.type == 2) wire_text(field.bytes, out, room);
}

/* "/device:TPU:3" and "/device:GPU:0", and no cores of other kinds beside them. */
static bool is_device(const char *name, int64_t *number) {
    static const char *const KINDS[] = {"/device:TPU:", "/device:GPU:"};
    for (size_t i = 0; i < COUNT_OF(KINDS); i++) {
        const char *digits = name + strlen(KINDS[i]);
        if (strncmp(name, KINDS[i], strlen(KINDS[i])) != 0 || !*digits) continue;
        *number = strtoll(digits, NULL, 10);
        return strspn(digits, "0123456789") == strlen(digits) && strlen(digits) < 9;
    }
    return false;
}

/* False: memory is out. */
static bool read_plane(Recording *recording, Wire message) {
    char name[64];
    int64_t number;
    WireField field;
    Plane plane = {.to = recording};
    plane_name(message, name, sizeof name);
    if (!is_device(name, &number)) return true;
    bool ok = xtables_read(message, &plane.tables);
    plane.tables.of_tpu = strstr(name, "TPU") != NULL;
    plane.device = ok ? recording_device(recording, number, number) : -1;
    ok = ok && plane.device >= 0;
    if (ok) read_plane_statistics(&plane, message);
    while (ok && wire_next(&message, &field))
        if (field.number == 3 && field.type == 2) ok = read_line(&plane, field.bytes);
    xtables_free(&plane.tables);
    return ok;
}

/* A binary file that went through a tool for text has this in place of every byte above 127. */
static bool is_text_damaged(const uint8_t *bytes, size_t length) {
    int found = 0;
    for (size_t i = 0; i + 2 < length && i < 4096; i++)
        found += bytes[i] == 0xEF && bytes[i + 1] == 0xBF && bytes[i + 2] == 0xBD;
    return found >= 4;
}

bool xplane_read(const void *bytes, size_t length, const char *where, Recording *out, Error *error) {
    Wire space = wire_over(bytes, length);
    WireField field;
    if (is_text_damaged(bytes, length))
        return error_set(error, ERROR_INPUT, where,
                         "went through a tool for text, which replaced its bytes above 127: copy it as binary");
    while (wire_next(&space, &field))
        if (field.number == 1 && field.type == 2 && !read_plane(out, field.bytes)) return error_memory(error);
    if (space.broken)
        snprintf(out->trouble, sizeof out->trouble, "is no XSpace from byte %lld on, or ends in the middle",
                 (long long)(space.at - (const uint8_t *)bytes));
    return recording_finish(out, where, error);
}
