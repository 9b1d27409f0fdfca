/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/trace/formats/xoperation.h"

#include "base/util.h"

#include <stdio.h>
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
void xoperation_describe(XOperation *operation, XTexts texts, Recording *recording) {
    const char *category = texts.category, *shown = texts.shown, *hlo = texts.hlo, *path = texts.path;
    char text[XLA_PATH_ROOM + 256];
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
