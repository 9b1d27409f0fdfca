/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/trace/formats/xplane.h"

#include "base/util.h"
#include "cost/trace/formats/xline.h"
#include "cost/trace/formats/xplane_table.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    Recording *to;
    XTables tables;
    XLine line; /* the one that is read */
    int64_t start_ns;
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
    if (plane->line.kind == XLINE_STEPS) return xline_add_step(&plane->line, start_ns, end_ns, plane->to);
    const XOperation *operation = xtables_operation(&plane->tables, id, plane->to);
    char path[512] = "";
    if (!operation) plane->to->dropped++;
    if (plane->line.kind == XLINE_STREAM) path_of(plane, again, path, sizeof path);
    return !operation || xline_add(&plane->line, operation, (XTime){start_ns, end_ns}, path, plane->to);
}

/* ---- lines ---- */

/* The name and the start of a line may stand after its events. */
static bool read_line(Plane *plane, Wire line) {
    char name[64] = "";
    WireField field;
    Wire again = line;
    plane->start_ns = plane->line.stream = 0;
    while (wire_next(&line, &field)) {
        if (field.number == 1 && field.type == 0) plane->line.stream = (int32_t)(field.value & 0x7FFFFFFF);
        if (field.number == 2 && field.type == 2) wire_text(field.bytes, name, sizeof name);
        if (field.number == 3 && field.type == 0) plane->start_ns = (int64_t)field.value;
    }
    plane->line.kind = xline_kind(plane->tables.of_tpu, name);
    if (plane->line.kind == XLINE_OTHER) return true;
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

bool xplane_is_of_host(const void *head, size_t length) {
    char name[64];
    int64_t number;
    bool of_tpu;
    plane_name(wire_over(head, length), name, sizeof name);
    return name[0] && !xline_device(name, &number, &of_tpu);
}

bool xplane_read_device(const void *bytes, size_t length, Recording *recording) {
    char name[64];
    int64_t number;
    bool of_tpu;
    WireField field;
    Wire message = wire_over(bytes, length);
    Plane plane = {.to = recording};
    plane_name(message, name, sizeof name);
    if (!xline_device(name, &number, &of_tpu)) return true;
    bool ok = xtables_read(message, &plane.tables);
    plane.tables.of_tpu = of_tpu;
    plane.line.device = ok ? recording_device(recording, number, number) : -1;
    ok = ok && plane.line.device >= 0;
    if (ok) read_plane_statistics(&plane, message);
    while (ok && wire_next(&message, &field))
        if (field.number == 3 && field.type == 2) ok = read_line(&plane, field.bytes);
    xtables_free(&plane.tables);
    return ok;
}

bool xplane_is_text_damaged(const uint8_t *bytes, size_t length) {
    int found = 0;
    for (size_t i = 0; i + 2 < length && i < 4096; i++)
        found += bytes[i] == 0xEF && bytes[i + 1] == 0xBF && bytes[i + 2] == 0xBD;
    return found >= 4;
}
