/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/util.h"
#include "cost/trace/formats/formats.h"
#include "cost/trace/formats/wire.h"
#include "cost/trace/formats/xoperation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The tables of a plane: names of statistics, and what its events are. */

typedef struct {
    int64_t id;
    Wire name;
} XName;

typedef struct {
    XOperation *operations;
    XName *names; /* of statistics, and of texts that statistics refer to */
    int64_t operation_count, name_count;
    bool of_tpu;
} XTables;

/* Copies a text of the file, cut to its room, with a NUL. */
static void wire_text(Wire text, char *out, size_t room) {
    size_t length = min_whole(text.end - text.at, (int64_t)room - 1);
    if (length > 0) memcpy(out, text.at, length);
    out[length] = '\0';
}

/* ---- maps ---- */

/* A map's entry: key 1, value 2. */
static void read_entry(Wire entry, int64_t *key, Wire *value) {
    WireField field;
    *key = 0;
    *value = wire_over(entry.at, 0);
    while (wire_next(&entry, &field)) {
        if (field.number == 1 && field.type == 0) *key = (int64_t)field.value;
        if (field.number == 2 && field.type == 2) *value = field.bytes;
    }
}

static Wire text_of(Wire message, uint32_t number) {
    WireField field;
    Wire found = wire_over(message.at, 0);
    while (wire_next(&message, &field))
        if (field.number == number && field.type == 2) found = field.bytes;
    return found;
}

/* Reads both maps of a plane, wherever they stand in it. Owned by the caller: xtables_free(). False: memory is out. */
static bool xtables_read(Wire plane, XTables *out) {
    WireField field;
    Wire again = plane;
    int64_t operations = 0, names = 0;
    while (wire_next(&plane, &field)) {
        operations += field.number == 4 && field.type == 2;
        names += field.number == 5 && field.type == 2;
    }
    *out = (XTables){.operations = calloc((size_t)operations + 1, sizeof *out->operations),
                     .names = calloc((size_t)names + 1, sizeof *out->names)};
    if (!out->operations || !out->names) return false;
    while (wire_next(&again, &field)) {
        Wire value;
        int64_t id;
        if (field.type != 2 || (field.number != 4 && field.number != 5)) continue;
        read_entry(field.bytes, &id, &value);
        if (field.number == 4) out->operations[out->operation_count++] = (XOperation){.id = id, .message = value};
        if (field.number == 5) out->names[out->name_count++] = (XName){id, text_of(value, 2)};
    }
    qsort(out->operations, (size_t)out->operation_count, sizeof *out->operations, order_whole);
    qsort(out->names, (size_t)out->name_count, sizeof *out->names, order_whole);
    return true;
}

static void xtables_free(XTables *tables) {
    free(tables->operations);
    free(tables->names);
}

static const XName *name_of(const XTables *tables, int64_t id) {
    return bsearch(&id, tables->names, (size_t)tables->name_count, sizeof *tables->names, order_whole);
}

static bool wire_is(Wire text, const char *word) {
    size_t length = strlen(word);
    return (size_t)(text.end - text.at) == length && memcmp(text.at, word, length) == 0;
}

/* The text of a statistic (XStat) if it is the one named; false: it is another. Refers to the file's bytes. */
static bool xstat_text(const XTables *tables, Wire stat, const char *name, Wire *out) {
    WireField field;
    bool named = false, found = false;
    while (wire_next(&stat, &field)) {
        if (field.number == 1 && field.type == 0) {
            const XName *own = name_of(tables, (int64_t)field.value);
            if (!own || !wire_is(own->name, name)) return false;
            named = true;
        }
        if (field.number == 5 && field.type == 2) {
            *out = field.bytes;
            found = true;
        }
        const XName *text = field.number == 7 && field.type == 0 ? name_of(tables, (int64_t)field.value) : NULL;
        if (text) *out = text->name;
        found = found || text;
    }
    return named && found;
}

static void read_operation(const XTables *tables, XOperation *operation, Recording *recording) {
    char hlo[XLA_TEXT_ROOM], shown[256], category[128] = "", path[XLA_PATH_ROOM] = "";
    Wire message = operation->message, value;
    WireField field;
    wire_text(text_of(message, 2), hlo, sizeof hlo);
    wire_text(text_of(message, 4), shown, sizeof shown);
    while (wire_next(&message, &field)) {
        if (field.number != 5 || field.type != 2) continue;
        if (xstat_text(tables, field.bytes, "hlo_category", &value)) wire_text(value, category, sizeof category);
        if (xstat_text(tables, field.bytes, "tf_op", &value)) wire_text(value, path, sizeof path);
    }
    const char *name = shown[0] ? shown : hlo;
    operation->read = true;
    operation->group = -1;
    operation->name = recording_name(recording, name, strlen(name));
    if (tables->of_tpu) xoperation_describe(operation, (XTexts){category, shown, hlo, path}, recording);
}

/* The operation of an event, filled on first use; NULL: the plane does not say, or memory is out. */
static XOperation *xtables_operation(XTables *tables, int64_t id, Recording *recording) {
    XOperation *operation =
        bsearch(&id, tables->operations, (size_t)tables->operation_count, sizeof *tables->operations, order_whole);
    if (operation && !operation->read) read_operation(tables, operation, recording);
    return operation && operation->name >= 0 ? operation : NULL;
}

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

/* Whether the first bytes of a plane say that it is no device's. */
static bool is_of_host(const void *head, size_t length) {
    char name[64];
    int64_t number;
    bool of_tpu;
    plane_name(wire_over(head, length), name, sizeof name);
    return name[0] && !xline_device(name, &number, &of_tpu);
}

/* Reads a plane; one of no device is passed. False: memory is out. */
static bool read_device(const void *bytes, size_t length, Recording *recording) {
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

/* A binary file that went through a tool for text has U+FFFD in place of every byte above 127. */
static bool is_text_damaged(const uint8_t *bytes, size_t length) {
    int found = 0;
    for (size_t i = 0; i + 2 < length && i < 4096; i++)
        found += bytes[i] == 0xEF && bytes[i + 1] == 0xBF && bytes[i + 2] == 0xBD;
    return found >= 4;
}

/* An XSpace plane by plane: only planes of devices are held, one at a time, and no longer than until they are read. */

enum { BUFFER = 64 << 10, HEAD = 4096, VARINT_BYTES = 10 };

typedef struct {
    ByteSource source;
    uint8_t bytes[BUFFER];
    size_t at, end;
    int64_t passed; /* bytes of the file before the buffer */
} Stream;

/* Whether there is another byte. */
static bool fill(Stream *stream) {
    if (stream->at < stream->end) return true;
    stream->passed += (int64_t)stream->end;
    stream->at = stream->end = 0;
    while (stream->end < sizeof stream->bytes) {
        ptrdiff_t got = stream->source.read(stream->source.context, (char *)stream->bytes + stream->end,
                                            sizeof stream->bytes - stream->end);
        if (got <= 0) break;
        stream->end += (size_t)got;
    }
    return stream->end > 0;
}

/* Takes up to `count` bytes, into `to` unless it is NULL; returns how many there were. */
static size_t take(Stream *stream, uint8_t *to, size_t count) {
    size_t taken = 0;
    while (taken < count && fill(stream)) {
        size_t piece = (size_t)min_whole((int64_t)(stream->end - stream->at), (int64_t)(count - taken));
        if (to) memcpy(to + taken, stream->bytes + stream->at, piece);
        stream->at += piece;
        taken += piece;
    }
    return taken;
}

static bool take_varint(Stream *stream, uint64_t *out) {
    *out = 0;
    for (int i = 0; i < VARINT_BYTES && fill(stream); i++) {
        uint8_t byte = stream->bytes[stream->at++];
        *out |= (uint64_t)(byte & 0x7F) << (7 * i);
        if (!(byte & 0x80)) return true;
    }
    return false;
}

/* Takes the rest of a plane behind its first `used` bytes. A length that the file does not have costs no memory. False:
 * memory is out; *whole is whether all of it was there. */
static bool take_rest(Stream *stream, uint8_t **plane, size_t used, size_t length, bool *whole) {
    size_t room = used;
    *whole = true;
    while (used < length && *whole) {
        size_t next = (size_t)min_whole((int64_t)length, (int64_t)max_whole(2 * (int64_t)room, 1 << 20));
        uint8_t *larger = realloc(*plane, next);
        if (!larger) return false;
        *plane = larger;
        room = next;
        size_t got = take(stream, *plane + used, room - used);
        used += got;
        *whole = used == room;
    }
    return true;
}

/* A plane that says in its first bytes that it is no device's is passed: the host's is most of a file. False: memory is
 * out, or *error is set. */
static bool read_plane(Stream *stream, size_t length, Recording *to, bool *whole, const char *where, Error *error) {
    uint8_t *plane = malloc(HEAD);
    if (!plane) return error_memory(error);
    size_t used = take(stream, plane, (size_t)min_whole(HEAD, (int64_t)length));
    *whole = used == (size_t)min_whole(HEAD, (int64_t)length);
    bool other = *whole && is_of_host(plane, used), ok = true;
    if (other) *whole = take(stream, NULL, length - used) == length - used;
    if (*whole && !other) ok = take_rest(stream, &plane, used, length, whole);
    if (ok && *whole && !other) ok = read_device(plane, length, to);
    free(plane);
    if (!ok) return error_memory(error);
    if (!to->take || to->event_count == 0) return true;
    return recording_finish(to, where, error) && recording_hand_over(to, error);
}

/* The next field of the space. False: *error is set; *more: whether there was one, and it was whole. */
static bool read_field(Stream *stream, Recording *to, bool *more, const char *where, Error *error) {
    uint64_t key, length = 0;
    *more = false;
    if (!take_varint(stream, &key) || key >> 3 < 1 || key >> 3 > 0x1FFFFFFF) return true;
    int type = key & 7;
    if (type == 0) *more = take_varint(stream, &length);
    if (type == 1 || type == 5) *more = take(stream, NULL, type == 1 ? 8 : 4) == (type == 1 ? 8u : 4u);
    if (type != 2 || !take_varint(stream, &length)) return true;
    if (length > XPLANE_BYTES_MAX && key >> 3 == 1)
        return error_set(error, ERROR_INPUT, where, "has a plane of more than %zu bytes", XPLANE_BYTES_MAX);
    if (key >> 3 == 1) return read_plane(stream, (size_t)length, to, more, where, error);
    *more = length <= INT64_MAX && take(stream, NULL, (size_t)length) == length;
    return true;
}

bool xplane_read(ByteSource source, const char *where, Recording *out, Error *error) {
    Stream *stream = calloc(1, sizeof *stream);
    bool ok = stream != NULL, more = true;
    if (!ok) return error_memory(error);
    stream->source = source;
    if (fill(stream) && is_text_damaged(stream->bytes, stream->end)) {
        free(stream);
        return error_set(error, ERROR_INPUT, where,
                         "went through a tool for text, which replaced its bytes above 127: copy it as binary");
    }
    int64_t at = 0;
    while (ok && more && fill(stream)) {
        at = stream->passed + (int64_t)stream->at;
        ok = read_field(stream, out, &more, where, error);
    }
    if (ok && !more)
        snprintf(out->trouble, sizeof out->trouble, "is no XSpace from byte %lld on, or ends in the middle",
                 (long long)at);
    free(stream);
    return ok && recording_finish(out, where, error);
}
