/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/trace/formats/chrome_event.h"

#include "base/util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Microseconds with decimals to whole nanoseconds, rounded; false for what is no such number. */
static bool read_microseconds(JsonSlice slice, int64_t *out) {
    size_t i = slice.length > 0 && slice.at[0] == '-';
    int64_t whole = 0;
    int decimals = -1; /* digits behind the point so far; -1 before it */
    bool up = false, any = false;
    for (; i < slice.length; i++) {
        char c = slice.at[i];
        if (c == '.' && decimals < 0) {
            decimals = 0;
            continue;
        }
        if (c < '0' || c > '9') return false;
        any = true;
        if (decimals == 3) up = c >= '5';
        if (decimals >= 0) decimals++;
        if (decimals > 3) continue;
        if (__builtin_mul_overflow(whole, 10, &whole) || __builtin_add_overflow(whole, c - '0', &whole)) return false;
    }
    for (int d = decimals < 0 ? 0 : decimals; d < 3; d++)
        if (__builtin_mul_overflow(whole, 10, &whole)) return false;
    *out = slice.at[0] == '-' ? -whole - up : whole + up;
    return any;
}

/* The same of numbers with exponents, which only careless writers make. */
static bool read_time(JsonSlice slice, int64_t *out) {
    char text[64];
    if (read_microseconds(slice, out)) return true;
    if (slice.length == 0 || slice.length >= sizeof text) return false;
    memcpy(text, slice.at, slice.length);
    text[slice.length] = '\0';
    char *end;
    double value = strtod(text, &end) * 1e3;
    if (*end || !isfinite(value) || fabs(value) > 4e18) return false;
    *out = llround(value);
    return true;
}

/* Processes and threads are numbers or texts: a text becomes a number that no process has. */
static int64_t read_identity(JsonSlice slice) {
    int64_t value;
    if (json_slice_whole(slice, &value)) return value;
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < slice.length; i++) hash = (hash ^ (unsigned char)slice.at[i]) * 1099511628211u;
    return (int64_t)(hash | (uint64_t)1 << 63);
}

void chrome_short(JsonSlice slice, ChromeShort *out) {
    out->length = slice.length < CHROME_SHORT - 1 ? slice.length : CHROME_SHORT - 1;
    memcpy(out->text, slice.at, out->length);
    out->text[out->length] = '\0';
}

void chrome_ranks(JsonSlice text, int64_t *first, int64_t *stride) {
    int64_t found[2];
    int count = 0;
    for (size_t i = 0; i < text.length && count < 2;) {
        size_t from = i;
        while (i < text.length && text.at[i] >= '0' && text.at[i] <= '9') i++;
        if (i > from && json_slice_whole((JsonSlice){text.at + from, i - from}, &found[count])) count++;
        if (i == from) i++;
    }
    if (count > 0) *first = found[0];
    if (count > 1) *stride = found[1] - found[0];
}

int chrome_type_bytes(const char *type) {
    static const struct {
        const char *begins;
        int bytes;
    } TYPES[] = {{"Float8", 1}, {"Float", 4}, {"Half", 2}, {"BFloat16", 2}, {"Double", 8}, {"Long", 8},
                 {"Int", 4},    {"Short", 2}, {"Byte", 1}, {"Char", 1},     {"Bool", 1}};
    for (size_t i = 0; i < COUNT_OF(TYPES); i++)
        if (strncmp(type, TYPES[i].begins, strlen(TYPES[i].begins)) == 0) return TYPES[i].bytes;
    return 0;
}

static ChromeCategory category(JsonSlice text) {
    static const struct {
        const char *name;
        ChromeCategory category;
    } CATEGORIES[] = {{"kernel", CATEGORY_KERNEL},         {"Kernel", CATEGORY_KERNEL},
                      {"gpu_memcpy", CATEGORY_COPY},       {"gpu_memset", CATEGORY_COPY},
                      {"Memcpy", CATEGORY_COPY},           {"Memset", CATEGORY_COPY},
                      {"cuda_runtime", CATEGORY_LAUNCH},   {"cuda_driver", CATEGORY_LAUNCH},
                      {"Runtime", CATEGORY_LAUNCH},        {"user_annotation", CATEGORY_RANGE},
                      {"python_function", CATEGORY_RANGE}, {"cpu_op", CATEGORY_RANGE},
                      {"Operator", CATEGORY_RANGE},        {"cpu_instant_event", CATEGORY_MEMORY}};
    for (size_t i = 0; i < COUNT_OF(CATEGORIES); i++)
        if (json_slice_is(text, CATEGORIES[i].name)) return CATEGORIES[i].category;
    return CATEGORY_NONE;
}

/* ---- arguments ---- */

static bool take_short(JsonPull *pull, ChromeShort *out) {
    JsonSlice slice;
    if (!json_pull_scalar(pull, &slice)) return false;
    chrome_short(slice, out);
    return true;
}

static bool take_ranks(JsonPull *pull, ChromeEvent *event) {
    JsonSlice slice;
    if (!json_pull_scalar(pull, &slice)) return false;
    chrome_ranks(slice, &event->first, &event->stride);
    return true;
}

static bool take_whole(JsonPull *pull, int64_t *out) {
    JsonSlice slice;
    if (!json_pull_scalar(pull, &slice)) return false;
    json_slice_whole(slice, out);
    return true;
}

static bool take_argument(JsonPull *pull, JsonSlice key, ChromeEvent *event) {
    const struct {
        const char *key;
        int64_t *whole;
        ChromeShort *text;
    } ARGUMENTS[] = {{"correlation", &event->correlation, NULL},
                     {"stream", &event->stream, NULL},
                     {"device", &event->device, NULL},
                     {"bytes", &event->bytes, NULL},
                     {"In msg nelems", &event->in_elements, NULL},
                     {"Out msg nelems", &event->out_elements, NULL},
                     {"Group size", &event->group_size, NULL},
                     {"Seq", &event->sequence, NULL},
                     {"Global rank start", &event->first, NULL},
                     {"Global rank stride", &event->stride, NULL},
                     {"Total Allocated", &event->allocated, NULL},
                     {"Collective name", NULL, &event->collective},
                     {"dtype", NULL, &event->type},
                     {"Process Group Name", NULL, &event->group},
                     {"Process Group Description", NULL, &event->description},
                     {"name", NULL, &event->label}};
    for (size_t i = 0; i < COUNT_OF(ARGUMENTS); i++)
        if (json_slice_is(key, ARGUMENTS[i].key))
            return ARGUMENTS[i].whole ? take_whole(pull, ARGUMENTS[i].whole) : take_short(pull, ARGUMENTS[i].text);
    if (json_slice_is(key, "Process Group Ranks")) return take_ranks(pull, event);
    int64_t type = 0;
    if (!json_slice_is(key, "Device Type")) return json_pull_skip(pull);
    bool ok = take_whole(pull, &type);
    event->on_device = type == 1;
    return ok;
}

static bool take_text(JsonPull *pull, char *out, size_t room) {
    JsonSlice slice;
    if (!json_pull_scalar(pull, &slice)) return false;
    size_t length = slice.length < room - 1 ? slice.length : room - 1;
    memcpy(out, slice.at, length);
    out[length] = '\0';
    return true;
}

/* XProf's arguments are texts; of the name in the program GPUs have the one, TPUs the other. */
static bool take_xla_argument(JsonPull *pull, JsonSlice key, ChromeEvent *event) {
    if (json_slice_is(key, "long_name")) return take_text(pull, event->long_name, sizeof event->long_name);
    if (json_slice_is(key, "tf_op")) return take_text(pull, event->path, sizeof event->path);
    if (json_slice_is(key, "hlo_category")) return take_short(pull, &event->category_text);
    return json_slice_is(key, "name") ? take_short(pull, &event->label) : json_pull_skip(pull);
}

static bool take_arguments(JsonPull *pull, ChromeEvent *event) {
    /* Host code is most of a trace, and its arguments are most of that. */
    bool used = event->phase == 'M' || event->category == CATEGORY_KERNEL || event->category == CATEGORY_COPY ||
                event->category == CATEGORY_LAUNCH || event->category == CATEGORY_MEMORY;
    bool xla = event->of_xla && event->phase == 'X' && event->category == CATEGORY_NONE;
    if (!(used || xla) || json_pull_peek(pull) != '{') return json_pull_skip(pull);
    JsonSlice key;
    json_pull_enter(pull, '{');
    while (json_pull_key(pull, &key))
        if (!(xla ? take_xla_argument(pull, key, event) : take_argument(pull, key, event))) return false;
    return pull->fault == PULL_WHOLE;
}

static bool take_field(JsonPull *pull, JsonSlice key, ChromeEvent *event) {
    JsonSlice value;
    if (json_slice_is(key, "args")) return take_arguments(pull, event);
    int which = json_slice_is(key, "ph")     ? 'p'
                : json_slice_is(key, "cat")  ? 'c'
                : json_slice_is(key, "name") ? 'n'
                : json_slice_is(key, "ts")   ? 's'
                : json_slice_is(key, "dur")  ? 'd'
                : json_slice_is(key, "pid")  ? 'i'
                : json_slice_is(key, "tid")  ? 't'
                                             : 0;
    if (!which) return json_pull_skip(pull);
    if (!json_pull_scalar(pull, &value)) return false;
    if (which == 'p') event->phase = value.length > 0 ? value.at[0] : '\0';
    if (which == 'c') event->category = category(value);
    if (which == 's') event->timed = read_time(value, &event->start_ns);
    if (which == 'd' && !read_time(value, &event->duration_ns)) event->duration_ns = -1;
    if (which == 'i') event->process = read_identity(value);
    if (which == 't') event->thread = read_identity(value);
    if (which == 'n') {
        event->name_length = value.length < TRACE_NAME_MAX ? value.length : TRACE_NAME_MAX;
        memcpy(event->name, value.at, event->name_length);
        event->name[event->name_length] = '\0';
    }
    return true;
}

static void clear(ChromeEvent *event) {
    event->phase = '\0';
    event->category = CATEGORY_NONE;
    event->name[0] = '\0';
    event->name_length = 0;
    event->start_ns = event->duration_ns = event->process = event->thread = 0;
    event->timed = event->on_device = false;
    event->correlation = event->bytes = event->in_elements = event->out_elements = event->group_size = 0;
    event->stride = event->allocated = 0;
    event->stream = event->device = event->sequence = event->first = -1;
    event->collective.length = event->type.length = event->group.length = event->description.length =
        event->label.length = event->category_text.length = 0;
    event->collective.text[0] = event->type.text[0] = event->group.text[0] = event->description.text[0] =
        event->label.text[0] = event->category_text.text[0] = event->path[0] = event->long_name[0] = '\0';
}

bool chrome_event_read(JsonPull *pull, ChromeEvent *out) {
    JsonSlice key;
    clear(out);
    if (json_pull_peek(pull) != '{') return json_pull_skip(pull);
    json_pull_enter(pull, '{');
    while (json_pull_key(pull, &key))
        if (!take_field(pull, key, out)) return false;
    return pull->fault == PULL_WHOLE;
}
