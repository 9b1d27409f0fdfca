/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/trace/formats/xplane_table.h"

#include "base/util.h"

#include <stdlib.h>
#include <string.h>

void wire_text(Wire text, char *out, size_t room) {
    size_t length = min_whole(text.end - text.at, (int64_t)room - 1);
    if (length > 0) memcpy(out, text.at, length);
    out[length] = '\0';
}

/* ---- maps ---- */

static int by_id(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

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

bool xtables_read(Wire plane, XTables *out) {
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
    qsort(out->operations, (size_t)out->operation_count, sizeof *out->operations, by_id);
    qsort(out->names, (size_t)out->name_count, sizeof *out->names, by_id);
    return true;
}

void xtables_free(XTables *tables) {
    free(tables->operations);
    free(tables->names);
}

static const XName *name_of(const XTables *tables, int64_t id) {
    return bsearch(&id, tables->names, (size_t)tables->name_count, sizeof *tables->names, by_id);
}

static bool wire_is(Wire text, const char *word) {
    size_t length = strlen(word);
    return (size_t)(text.end - text.at) == length && memcmp(text.at, word, length) == 0;
}

bool xstat_text(const XTables *tables, Wire stat, const char *name, Wire *out) {
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

XOperation *xtables_operation(XTables *tables, int64_t id, Recording *recording) {
    XOperation *operation =
        bsearch(&id, tables->operations, (size_t)tables->operation_count, sizeof *tables->operations, by_id);
    if (operation && !operation->read) read_operation(tables, operation, recording);
    return operation && operation->name >= 0 ? operation : NULL;
}
