/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/trace/formats/xplane_table.h"

#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_ROOM = 512, HLO_ROOM = 4096 };

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

/* ---- what the text of an operation says ---- */

/* Elements of the shape that begins at `at`, "bf16[8,128]{1,0}", in bytes; *after is behind it. 0: no shape. */
static double shape_bytes(const char *at, const char **after) {
    static const struct {
        const char *type;
        int bits;
    } TYPES[] = {{"pred", 8}, {"bf16", 16}, {"f16", 16}, {"f32", 32}, {"f64", 64}, {"f8", 8},
                 {"s4", 4},   {"u4", 4},    {"s8", 8},   {"u8", 8},   {"s16", 16}, {"u16", 16},
                 {"s32", 32}, {"u32", 32},  {"s64", 64}, {"u64", 64}};
    const char *open = at + strcspn(at, "[ (){},");
    *after = open;
    if (*open != '[') return 0;
    double elements = 1;
    for (const char *digit = open + 1; *digit && *digit != ']';
         digit += strcspn(digit, ",]") + (digit[strcspn(digit, ",]")] == ','))
        elements *= strtod(digit, NULL);
    *after = open + strcspn(open, "]");
    for (size_t i = 0; i < COUNT_OF(TYPES); i++)
        if (strncmp(at, TYPES[i].type, strlen(TYPES[i].type)) == 0) return elements * TYPES[i].bits / 8;
    return 0;
}

/* Bytes of the largest array of the result, "%x = (f32[8]{0}, f32[16]{0}) all-gather-start(". */
static double result_bytes(const char *text) {
    const char *at = strstr(text, " = ");
    double most = 0;
    if (!at) return 0;
    at += 3;
    bool tuple = *at == '(';
    at += tuple;
    do {
        most = max_real(most, shape_bytes(at, &at));
        at += strcspn(at, "} )"); /* the layout has commas and brackets of its own */
        if (*at == '}') at++;
        bool more = tuple && at[0] == ',' && at[1] == ' ';
        if (!more) break;
        at += 2;
    } while (*at);
    return most;
}

/* Groups as "[4,2]<=[8]" (4 groups of 2), "[4,2]<=[2,4]T(1,0)" (members 4 apart), or "{{0,4},{1,5}}". */
static void read_groups(const char *text, TraceGroup *group) {
    long long groups, size, outer, inner;
    if (sscanf(text, "[%lld,%lld]<=[%lld,%lld]T(1,0)", &groups, &size, &outer, &inner) == 4 && groups == inner)
        group->stride = inner;
    else if (sscanf(text, "[%lld,%lld]<=", &groups, &size) == 2)
        group->stride = strchr(text, 'T') ? 0 : 1;
    else if (text[0] == '{') {
        long long first, second;
        size = 1;
        for (const char *at = text; *at && *at != '}'; at++) size += *at == ',';
        if (sscanf(text, "{{%lld,%lld", &first, &second) == 2) group->stride = second - first;
    } else
        return;
    group->size = size;
}

static int32_t group_of(Recording *recording, const char *text) {
    char own[96];
    const char *at = strstr(text, "replica_groups=");
    if (!at) return -1;
    at += strlen("replica_groups=");
    const char *end = strstr(at, ", ");
    snprintf(own, sizeof own, "%.*s", end && end - at < 95 ? (int)(end - at) : 95, at);
    int32_t name = recording_name(recording, own, strlen(own));
    int32_t group = name < 0 ? -1 : recording_group(recording, name, -1, 0);
    if (group >= 0) read_groups(own, &recording->groups[group]);
    return group;
}

static bool begins(const char *text, const char *word) { return strncmp(text, word, strlen(word)) == 0; }

/* What XLA calls the operation decides, with its name and its path: "all-gather|all-gather-start.3|jit(step)/...". */
static void describe(XOperation *operation, const char *category, const char *shown, const char *hlo, const char *path,
                     Recording *recording) {
    char text[PATH_ROOM + 256];
    snprintf(text, sizeof text, "%.100s|%.140s|%s", category, shown, path);
    operation->container =
        begins(category, "while") || begins(category, "conditional") || strcmp(category, "call") == 0;
    operation->starts = strstr(shown, "-start") != NULL;
    operation->done = strstr(shown, "-done") != NULL;
    operation->phase = (uint8_t)range_kind(recording->rules, text);
    operation->class = category[0] ? (uint8_t)operation_class(recording->rules, text) : CLASS_UNKNOWN;
    if (operation->class == CLASS_COPY) {
        operation->host_copy = strstr(hlo, "S(5)") || strstr(category, "feed");
        if (!operation->host_copy) operation->class = CLASS_ELEMENTWISE; /* between HBM and VMEM */
    }
    if (operation->class != CLASS_COLLECTIVE) return;
    operation->kind = (uint8_t)collective_kind(recording->rules, text);
    operation->group = group_of(recording, hlo);
    operation->bytes = operation->done ? 0 : result_bytes(hlo);
    if (operation->kind == COLLECTIVE_KIND_REDUCE_SCATTER && operation->group >= 0 && !operation->starts)
        operation->bytes *= (double)max_whole(1, recording->groups[operation->group].size);
}

static void read_operation(const XTables *tables, XOperation *operation, Recording *recording) {
    char hlo[HLO_ROOM], shown[256], category[128] = "", path[PATH_ROOM] = "";
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
    if (tables->of_tpu) describe(operation, category, shown, hlo, path, recording);
}

XOperation *xtables_operation(XTables *tables, int64_t id, Recording *recording) {
    XOperation *operation =
        bsearch(&id, tables->operations, (size_t)tables->operation_count, sizeof *tables->operations, by_id);
    if (operation && !operation->read) read_operation(tables, operation, recording);
    return operation && operation->name >= 0 ? operation : NULL;
}
