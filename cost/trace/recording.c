/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/trace/recording.h"

#include "base/util.h"

#include <stdlib.h>
#include <string.h>

/* Names are given by whoever wrote the file: beyond this much text all further names are one. */
static const size_t NAMES_BYTES_MAX = (size_t)128 << 20;
static const int64_t TIME_MOST_NS = INT64_MAX / 4;

void recording_begin(Recording *recording, const KernelNames *rules) {
    *recording = (Recording){.rules = rules, .rank = -1, .world_size = -1, .peak_bytes = -1};
}

void recording_free(Recording *recording) {
    void *const owned[] = {recording->events,      recording->launches,
                           recording->ranges,      recording->devices,
                           recording->threads,     recording->groups,
                           recording->names.class, recording->names.kind,
                           recording->names.slots, (void *)recording->names.text};
    for (size_t i = 0; i < COUNT_OF(owned); i++) free(owned[i]);
    arena_free(&recording->names.arena);
    *recording = (Recording){0};
}

static bool grow_short(void **list, int32_t count, int32_t *room, size_t size) {
    int64_t wide = *room;
    bool ok = count < INT32_MAX / 2 && list_grow(list, count, &wide, size);
    *room = (int32_t)wide;
    return ok;
}

/* ---- names ---- */

static uint64_t hash(const char *text, size_t length) {
    uint64_t value = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < length; i++) value = (value ^ (unsigned char)text[i]) * 1099511628211u;
    return value ^ value >> 29;
}

static bool rehash(TraceNames *names) {
    size_t count = names->slot_count ? 2 * names->slot_count : 1024;
    int32_t *slots = calloc(count, sizeof *slots);
    if (!slots) return false;
    for (int32_t i = 0; i < names->count; i++) {
        size_t at = hash(names->text[i], strlen(names->text[i])) & (count - 1);
        while (slots[at]) at = (at + 1) & (count - 1);
        slots[at] = i + 1;
    }
    free(names->slots);
    names->slots = slots;
    names->slot_count = count;
    return true;
}

static bool room_for_name(TraceNames *names) {
    if (names->count < names->room) return true;
    int32_t room = names->room < 256 ? 256 : names->room + names->room / 2;
    const char **text = realloc((void *)names->text, (size_t)room * sizeof *text);
    if (text) names->text = text;
    uint8_t *class = realloc(names->class, (size_t)room), *kind = NULL;
    if (class) names->class = class;
    if (class) kind = realloc(names->kind, (size_t)room);
    if (kind) names->kind = kind;
    if (!text || !class || !kind) return false;
    names->room = room;
    return true;
}

static int32_t add_name(Recording *recording, char *text, size_t slot) {
    TraceNames *names = &recording->names;
    if (!text || !room_for_name(names)) return -1;
    int32_t index = names->count++;
    names->text[index] = text;
    names->class[index] = (uint8_t)kernel_class(recording->rules, text);
    names->kind[index] = (uint8_t)collective_kind(recording->rules, text);
    names->slots[slot] = index + 1;
    return index;
}

int32_t recording_name(Recording *recording, const char *text, size_t length) {
    TraceNames *names = &recording->names;
    char own[TRACE_NAME_MAX + 1];
    if (names->bytes > NAMES_BYTES_MAX) text = "(more names than are kept)", length = strlen(text);
    length = strnlen(text, length < TRACE_NAME_MAX ? length : TRACE_NAME_MAX);
    if ((size_t)names->count * 2 >= names->slot_count && !rehash(names)) return -1;
    size_t at = hash(text, length) & (names->slot_count - 1);
    for (; names->slots[at]; at = (at + 1) & (names->slot_count - 1)) {
        int32_t index = names->slots[at] - 1;
        if (strncmp(names->text[index], text, length) == 0 && names->text[index][length] == '\0') return index;
    }
    memcpy(own, text, length);
    own[length] = '\0';
    names->bytes += length + 64;
    return add_name(recording, arena_text(&names->arena, own), at);
}

const char *recording_text(const Recording *recording, int32_t name) {
    return name < 0 ? "" : recording->names.text[name];
}

/* ---- devices, threads, groups ---- */

int32_t recording_device(Recording *recording, int64_t id, int64_t label) {
    for (int32_t i = 0; i < recording->device_count; i++)
        if (recording->devices[i].id == id) return i;
    if (recording->device_count >= TRACE_DEVICES_MAX ||
        !grow_short((void **)&recording->devices, recording->device_count, &recording->device_room,
                    sizeof *recording->devices))
        return -1;
    recording->devices[recording->device_count] = (TraceDevice){id, label};
    return recording->device_count++;
}

int32_t recording_thread(Recording *recording, int64_t id) {
    for (int32_t i = recording->thread_count; i-- > 0;)
        if (recording->threads[i].id == id) return i;
    /* Who writes more threads than this says nothing with them: the rest are one. */
    if (recording->thread_count >= TRACE_GROUPS_MAX) return recording->thread_count - 1;
    if (!grow_short((void **)&recording->threads, recording->thread_count, &recording->thread_room,
                    sizeof *recording->threads))
        return -1;
    recording->threads[recording->thread_count] = (TraceThread){.id = id};
    return recording->thread_count++;
}

int32_t recording_group(Recording *recording, int32_t name, int32_t description, int64_t size) {
    for (int32_t i = 0; i < recording->group_count; i++) {
        TraceGroup *group = &recording->groups[i];
        if (group->name != name || (group->description >= 0 && description >= 0 && group->description != description))
            continue;
        if (group->description < 0) group->description = description;
        if (group->size <= 0) group->size = size;
        return i;
    }
    if (recording->group_count >= TRACE_GROUPS_MAX || !grow_short((void **)&recording->groups, recording->group_count,
                                                                  &recording->group_room, sizeof *recording->groups))
        return -1;
    recording->groups[recording->group_count] =
        (TraceGroup){.name = name, .description = description, .size = size, .first = -1, .term = TERM_COUNT};
    return recording->group_count++;
}

/* ---- adding ---- */

bool recording_add(Recording *recording, const TraceEvent *event) {
    if (event->end_ns < event->start_ns || event->start_ns < -TIME_MOST_NS || event->end_ns > TIME_MOST_NS) {
        recording->dropped++;
        return true;
    }
    if (event->end_ns == event->start_ns) return true;
    if (!list_grow((void **)&recording->events, recording->event_count, &recording->event_room, sizeof *event))
        return false;
    TraceEvent *own = &recording->events[recording->event_count++];
    *own = *event;
    if (own->class == CLASS_UNKNOWN) own->class = recording->names.class[own->name];
    if (own->kind == COLLECTIVE_KIND_UNKNOWN && own->class == CLASS_COLLECTIVE)
        own->kind = recording->names.kind[own->name];
    return true;
}

bool recording_add_launch(Recording *recording, TraceLaunch launch) {
    if (!list_grow((void **)&recording->launches, recording->launch_count, &recording->launch_room, sizeof launch))
        return false;
    recording->launches[recording->launch_count++] = launch;
    return true;
}

bool recording_add_range(Recording *recording, const char *name, TraceRange range) {
    const char *number = strchr(name, '#');
    range.kind = (uint8_t)range_kind(recording->rules, name);
    if (range.kind == RANGE_NONE) return true;
    range.number = number ? strtoll(number + 1, NULL, 10) : -1;
    if (range.kind == RANGE_COLLECTIVE) range.number = collective_kind(recording->rules, name);
    if (!list_grow((void **)&recording->ranges, recording->range_count, &recording->range_room, sizeof range))
        return false;
    recording->ranges[recording->range_count++] = range;
    return true;
}

/* ---- finishing ---- */

static int by_key(const void *a, const void *b) {
    const TraceLaunch *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

static int by_start(const void *a, const void *b) {
    const TraceEvent *x = a, *y = b;
    if (x->device != y->device) return x->device < y->device ? -1 : 1;
    if (x->start_ns != y->start_ns) return x->start_ns < y->start_ns ? -1 : 1;
    if (x->end_ns != y->end_ns) return x->end_ns < y->end_ns ? -1 : 1;
    if (x->stream != y->stream) return x->stream < y->stream ? -1 : 1;
    return x->name < y->name ? -1 : x->name > y->name;
}

static int by_thread(const void *a, const void *b) {
    const TraceRange *x = a, *y = b;
    if (x->thread != y->thread) return x->thread < y->thread ? -1 : 1;
    if (x->start_ns != y->start_ns) return x->start_ns < y->start_ns ? -1 : 1;
    return x->end_ns > y->end_ns ? -1 : x->end_ns < y->end_ns;
}

/* The first launch with the key; -1: none. */
static int64_t launch_of(const Recording *recording, int64_t key) {
    int64_t low = 0, high = recording->launch_count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (recording->launches[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < recording->launch_count && recording->launches[low].key == key ? low : -1;
}

/* Most traces are in order already, and sorting takes half as much memory again. */
static void sort(void *list, int64_t count, size_t size, int (*order)(const void *, const void *)) {
    char *at = list;
    for (int64_t i = 1; i < count; i++, at += size)
        if (order(at, at + size) > 0) {
            qsort(list, (size_t)count, size, order);
            return;
        }
}

/* Ranges of a thread nest: the one around a range is the last before it that has not ended. */
static void find_parents(Recording *recording) {
    for (int64_t i = 0; i < recording->range_count; i++) {
        TraceRange *range = &recording->ranges[i];
        int64_t parent = i - 1;
        while (parent >= 0 && (recording->ranges[parent].thread != range->thread ||
                               recording->ranges[parent].end_ns <= range->start_ns))
            parent = recording->ranges[parent].thread != range->thread ? -1 : recording->ranges[parent].parent;
        range->parent = parent;
    }
}

bool recording_finish(Recording *recording, const char *where, Error *error) {
    if (recording->event_count == 0 && recording->taken == 0 && recording->trouble[0])
        return error_set(error, ERROR_INPUT, where, "%s, and nothing that ran on a device before that",
                         recording->trouble);
    sort(recording->launches, recording->launch_count, sizeof *recording->launches, by_key);
    for (int64_t i = 0; i < recording->event_count; i++) {
        int64_t key = recording->events[i].launch;
        recording->events[i].launch = key ? launch_of(recording, key) : -1;
    }
    sort(recording->events, recording->event_count, sizeof *recording->events, by_start);
    sort(recording->ranges, recording->range_count, sizeof *recording->ranges, by_thread);
    find_parents(recording);
    return true;
}

bool recording_hand_over(Recording *recording, Error *error) {
    bool ok = recording->take(recording, recording->take_context, error);
    recording->taken++;
    recording->event_count = recording->range_count = recording->launch_count = 0;
    return ok;
}
