/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/trace/formats/formats.h"

#include "base/json_pull.h"
#include "base/util.h"
#include "cost/trace/formats/chrome_event.h"
#include "cost/trace/formats/xoperation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Events of XProf in Chrome's JSON (JAX's *.trace.json.gz), made of an XSpace: processes are devices, threads are
 * lines, and arguments are the statistics as texts. Source: openxla/xla at 7f943bd4,
 * xla/tsl/profiler/convert/trace_events_to_json.cc: names of processes and threads stand before all events. */

/* What the file says of processes and threads that are devices and their lines. All zero is ready. */
enum { CHROME_XLA_LINES_MAX = 4096 };
typedef struct {
    int64_t process, thread;
    XLine line;
    bool of_tpu;
} ChromeXlaLine;

typedef struct {
    ChromeXlaLine devices[TRACE_DEVICES_MAX]; /* of which thread and kind are not used */
    ChromeXlaLine *lines;                     /* owned: chrome_xla_free() */
    int device_count, line_count, last;
    int64_t events; /* of any line: XProf writes at most CHROME_XLA_EVENTS_MAX, silently */
} ChromeXla;

enum { CHROME_XLA_EVENTS_MAX = 1000000 };

static void chrome_xla_free(ChromeXla *xla) { free(xla->lines); }

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

/* Takes a name of a process or thread, if it is a device's. False: memory is out. */
static bool chrome_xla_name(ChromeXla *xla, const ChromeEvent *event, Recording *to) {
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

/* Takes an event, if it is of a line that is read. False: memory is out. */
static bool chrome_xla_add(ChromeXla *xla, const ChromeEvent *event, Recording *to) {
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

enum { WINDOW = 1 << 20 };

typedef struct {
    JsonPull pull;
    Recording *to;
    ChromeEvent event;
    ChromeXla xla;
    const char *where;
    Error *error;
    int64_t events; /* of any kind */
    int32_t last_thread;
    int64_t last_thread_id;
} Chrome;

/* ---- one event ---- */

static int32_t thread_of(Chrome *chrome) {
    if (chrome->last_thread < 0 || chrome->last_thread_id != chrome->event.thread) {
        chrome->last_thread = recording_thread(chrome->to, chrome->event.thread);
        chrome->last_thread_id = chrome->event.thread;
    }
    return chrome->last_thread;
}

/* A group of ranks, found by what the event says of it; -1: it says nothing, or memory is out. */
static int32_t group_of(Chrome *chrome) {
    const ChromeEvent *event = &chrome->event;
    if (!event->group.length && !event->description.length) return -1;
    int32_t name = recording_name(chrome->to, event->group.text, event->group.length);
    int32_t description =
        event->description.length ? recording_name(chrome->to, event->description.text, event->description.length) : -1;
    int32_t index = name < 0 ? -1 : recording_group(chrome->to, name, description, event->group_size);
    if (index < 0) return -1;
    TraceGroup *group = &chrome->to->groups[index];
    if (group->first < 0 && event->first >= 0) group->first = event->first;
    if (group->stride == 0) group->stride = event->stride;
    return index;
}

/* Bytes of the whole array: what is gathered, scattered or reduced. Kineto counts elements of one rank. */
static double collective_bytes(const ChromeEvent *event) {
    int64_t elements = event->in_elements > event->out_elements ? event->in_elements : event->out_elements;
    return (double)chrome_type_bytes(event->type.text) * (double)(elements > 0 ? elements : 0);
}

static bool add_device_event(Chrome *chrome) {
    const ChromeEvent *event = &chrome->event;
    int64_t label = event->device >= 0 ? event->device : event->process;
    TraceEvent own = {.start_ns = event->start_ns,
                      .launch = event->correlation,
                      .bytes = (double)event->bytes,
                      .stream = (int32_t)(event->stream >= 0 ? event->stream : event->thread),
                      .group = -1,
                      .sequence = event->sequence >= 0 && event->sequence < INT32_MAX ? (int32_t)event->sequence : -1};
    if (__builtin_add_overflow(event->start_ns, event->duration_ns, &own.end_ns)) own.end_ns = INT64_MIN;
    own.device = recording_device(chrome->to, label, label);
    own.name = recording_name(chrome->to, event->name, event->name_length);
    if (own.device < 0 || own.name < 0) return error_memory(chrome->error);
    if (event->category == CATEGORY_COPY) own.class = CLASS_COPY;
    if (own.class == CLASS_COPY || chrome->to->names.class[own.name] == CLASS_COPY)
        own.host_copy = strstr(event->name, "HtoD") || strstr(event->name, "DtoH");
    if (chrome->to->names.class[own.name] == CLASS_COLLECTIVE) {
        own.group = group_of(chrome);
        own.bytes = collective_bytes(event);
        if (event->collective.length) own.kind = (uint8_t)collective_kind(chrome->to->rules, event->collective.text);
    }
    return recording_add(chrome->to, &own) || error_memory(chrome->error);
}

static bool add_launch(Chrome *chrome) {
    if (chrome->event.correlation == 0) return true;
    TraceLaunch launch = {chrome->event.correlation, chrome->event.start_ns, thread_of(chrome)};
    return (launch.thread >= 0 && recording_add_launch(chrome->to, launch)) || error_memory(chrome->error);
}

static bool add_range(Chrome *chrome) {
    const ChromeEvent *event = &chrome->event;
    if (event->duration_ns < 0 || range_kind(chrome->to->rules, event->name) == RANGE_NONE) return true;
    TraceRange range = {.start_ns = event->start_ns, .thread = thread_of(chrome)};
    if (__builtin_add_overflow(event->start_ns, event->duration_ns, &range.end_ns)) return true;
    return (range.thread >= 0 && recording_add_range(chrome->to, event->name, range)) || error_memory(chrome->error);
}

static bool add_metadata(Chrome *chrome) {
    const ChromeEvent *event = &chrome->event;
    if (!chrome_xla_name(&chrome->xla, event, chrome->to)) return error_memory(chrome->error);
    chrome->event.of_xla = chrome->xla.line_count > 0;
    if (strcmp(event->name, "thread_name") != 0 || !strstr(event->label.text, "pt_autograd_")) return true;
    int32_t thread = recording_thread(chrome->to, event->thread);
    if (thread < 0) return error_memory(chrome->error);
    chrome->to->threads[thread].backward = true;
    return true;
}

static bool add_event(Chrome *chrome) {
    const ChromeEvent *event = &chrome->event;
    chrome->events++;
    if (event->phase == 'M') return add_metadata(chrome);
    if (event->category == CATEGORY_MEMORY && event->on_device && event->allocated > chrome->to->peak_bytes)
        chrome->to->peak_bytes = event->allocated;
    if (event->phase != 'X') return true;
    if (event->of_xla && event->category == CATEGORY_NONE)
        return chrome_xla_add(&chrome->xla, event, chrome->to) || error_memory(chrome->error);
    if (!event->timed) {
        chrome->to->dropped += event->category == CATEGORY_KERNEL || event->category == CATEGORY_COPY;
        return true;
    }
    switch (event->category) {
    case CATEGORY_KERNEL:
    case CATEGORY_COPY:
        return add_device_event(chrome);
    case CATEGORY_LAUNCH:
        return add_launch(chrome);
    case CATEGORY_RANGE:
        return add_range(chrome);
    default:
        return true;
    }
}

/* An event that is no JSON is left out, and reading goes on at the next. False: *error is set. */
static bool read_events(Chrome *chrome) {
    JsonPull *pull = &chrome->pull;
    if (!json_pull_enter(pull, '[')) return true;
    for (;;) {
        while (json_pull_item(pull))
            if (!chrome_event_read(pull, &chrome->event))
                break;
            else if (!add_event(chrome))
                return false;
        if (pull->fault != PULL_BROKEN || chrome->events == 0 || !json_pull_recover(pull, "ph")) return true;
        chrome->to->damaged++;
    }
}

/* ---- what stands around the events ---- */

static bool read_device_properties(Chrome *chrome) {
    JsonPull *pull = &chrome->pull;
    JsonSlice key, value;
    if (json_pull_peek(pull) != '[') return json_pull_skip(pull);
    json_pull_enter(pull, '[');
    while (json_pull_item(pull)) {
        if (json_pull_peek(pull) != '{') {
            json_pull_skip(pull);
            continue;
        }
        json_pull_enter(pull, '{');
        while (json_pull_key(pull, &key)) {
            bool name = json_slice_is(key, "name");
            if (!json_pull_scalar(pull, &value) || !name || chrome->to->chip[0]) continue;
            snprintf(chrome->to->chip, sizeof chrome->to->chip, "%.*s", (int)min_whole((int64_t)value.length, 63),
                     value.at);
        }
    }
    return pull->fault == PULL_WHOLE;
}

/* The ranks of a group: a list, or the same in quotes. */
static bool read_ranks(JsonPull *pull, TraceGroup *group) {
    JsonSlice value;
    int64_t rank, count = 0, before = 0;
    if (json_pull_peek(pull) != '[') {
        if (!json_pull_scalar(pull, &value)) return false;
        chrome_ranks(value, &group->first, &group->stride);
        return true;
    }
    json_pull_enter(pull, '[');
    while (json_pull_item(pull)) {
        if (!json_pull_scalar(pull, &value)) return false;
        if (!json_slice_whole(value, &rank)) continue;
        if (count == 0) group->first = rank;
        if (count == 1) group->stride = rank - before;
        before = rank;
        count++;
    }
    return pull->fault == PULL_WHOLE;
}

static bool read_group(Chrome *chrome) {
    JsonPull *pull = &chrome->pull;
    JsonSlice key, value;
    ChromeShort name = {0}, description = {0};
    TraceGroup group = {.first = -1};
    json_pull_enter(pull, '{');
    while (json_pull_key(pull, &key)) {
        if (json_slice_is(key, "ranks")) {
            if (!read_ranks(pull, &group)) return false;
            continue;
        }
        int which = json_slice_is(key, "pg_name") ? 'n' : json_slice_is(key, "pg_desc") ? 'd' : 0;
        bool size = json_slice_is(key, "pg_size");
        if (!json_pull_scalar(pull, &value)) return false;
        if (which) chrome_short(value, which == 'n' ? &name : &description);
        if (size) json_slice_whole(value, &group.size);
    }
    if (pull->fault != PULL_WHOLE || !name.length) return pull->fault == PULL_WHOLE;
    int32_t text = recording_name(chrome->to, name.text, name.length);
    int32_t words = description.length ? recording_name(chrome->to, description.text, description.length) : -1;
    int32_t index = text < 0 ? -1 : recording_group(chrome->to, text, words, group.size);
    if (index < 0) return true;
    chrome->to->groups[index].first = group.first;
    chrome->to->groups[index].stride = group.stride;
    return true;
}

static bool read_distributed(Chrome *chrome) {
    JsonPull *pull = &chrome->pull;
    JsonSlice key, value;
    if (json_pull_peek(pull) != '{') return json_pull_skip(pull);
    json_pull_enter(pull, '{');
    while (json_pull_key(pull, &key)) {
        bool rank = json_slice_is(key, "rank"), world = json_slice_is(key, "world_size");
        if (json_slice_is(key, "pg_config") && json_pull_peek(pull) == '[') {
            json_pull_enter(pull, '[');
            while (json_pull_item(pull))
                if (json_pull_peek(pull) != '{')
                    json_pull_skip(pull);
                else if (!read_group(chrome))
                    return false;
            continue;
        }
        if (!json_pull_scalar(pull, &value)) return false;
        if (rank) json_slice_whole(value, &chrome->to->rank);
        if (world) json_slice_whole(value, &chrome->to->world_size);
    }
    return pull->fault == PULL_WHOLE;
}

static bool read_around(Chrome *chrome, JsonSlice key) {
    JsonSlice value;
    if (json_slice_is(key, "deviceProperties")) return read_device_properties(chrome);
    if (json_slice_is(key, "distributedInfo")) return read_distributed(chrome);
    if (!json_slice_is(key, "baseTimeNanoseconds")) return json_pull_skip(&chrome->pull);
    return json_pull_scalar(&chrome->pull, &value) && (json_slice_whole(value, &chrome->to->base_ns), true);
}

/* False: *error is set. A fault of the document ends it, and is the caller's to judge. */
static bool read_document(Chrome *chrome, bool *events_seen) {
    JsonPull *pull = &chrome->pull;
    JsonSlice key;
    *events_seen = json_pull_peek(pull) == '[';
    if (*events_seen) return read_events(chrome);
    if (!json_pull_enter(pull, '{')) return true;
    while (json_pull_key(pull, &key)) {
        if (!json_slice_is(key, "traceEvents")) {
            if (!read_around(chrome, key)) return true;
            continue;
        }
        *events_seen = true;
        if (!read_events(chrome)) return false;
    }
    return true;
}

static void note_fault(Chrome *chrome) {
    const JsonPull *pull = &chrome->pull;
    char *to = chrome->to->trouble;
    size_t room = sizeof chrome->to->trouble;
    if (chrome->xla.events == CHROME_XLA_EVENTS_MAX)
        snprintf(to, room, "has %d events, at which XProf cuts off; the .xplane.pb alongside it has all",
                 CHROME_XLA_EVENTS_MAX);
    if (pull->fault == PULL_CUT) snprintf(to, room, "ends in the middle, after byte %lld", (long long)pull->offset);
    if (pull->fault == PULL_BROKEN) snprintf(to, room, "is no JSON from byte %lld on", (long long)pull->offset);
    if (pull->fault == PULL_SOURCE) snprintf(to, room, "cannot be unpacked after byte %lld", (long long)pull->offset);
}

bool chrome_read(ByteSource source, const char *where, Recording *out, Error *error) {
    char *window = malloc(WINDOW);
    Chrome *chrome = calloc(1, sizeof *chrome);
    bool seen = false, ok = window && chrome;
    if (ok) {
        *chrome = (Chrome){.to = out, .where = where, .error = error, .last_thread = -1};
        json_pull_begin(&chrome->pull, source, window, WINDOW);
        ok = read_document(chrome, &seen);
        note_fault(chrome);
        if (ok && !seen)
            ok = error_set(error, ERROR_INPUT, where, "%s",
                           out->trouble[0] ? out->trouble : "has no traceEvents: it is no trace");
        ok = ok && recording_finish(out, where, error);
    } else
        error_memory(error);
    if (chrome) chrome_xla_free(&chrome->xla);
    free(window);
    free(chrome);
    return ok;
}
