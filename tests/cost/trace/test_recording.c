/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a recording keeps: each name once, devices, threads and groups up to their room, events whose times make
 * sense, in their order and with their launches; ranges inside each other. */
#include "tests/cost/trace/recorded.h"

#include "base/util.h"

#include <stdio.h>

TestSuite(recording, .init = recorded_begin, .fini = recorded_end);

static int32_t name_of(const char *text) { return recording_name(&recorded, text, strlen(text)); }

/* Thousands of names, each found again; of long ones what they begin with. */
Test(recording, names) {
    enum { MANY = 5000 };
    char text[TRACE_NAME_MAX + 3];
    int32_t first = name_of("");
    for (int i = 0; i < MANY; i++) {
        snprintf(text, sizeof text, "kernel %d", i);
        cr_assert_eq(name_of(text), first + 1 + i);
    }
    for (int i = MANY - 1; i >= 0; i--) {
        snprintf(text, sizeof text, "kernel %d", i);
        cr_expect_eq(name_of(text), first + 1 + i);
        cr_expect_str_eq(recording_text(&recorded, first + 1 + i), text);
    }
    cr_expect_eq(name_of(""), first);
    cr_expect_eq(recording_name(&recorded, "kernel 12", 8), first + 2, "as much of it as is said");
    cr_expect_str_empty(recording_text(&recorded, -1));
    memset(text, 'k', sizeof text);
    int32_t cut = recording_name(&recorded, text, TRACE_NAME_MAX + 2);
    cr_expect_eq(strlen(recording_text(&recorded, cut)), TRACE_NAME_MAX);
    cr_expect_eq(recording_name(&recorded, text, TRACE_NAME_MAX), cut);
    cr_expect_neq(recording_name(&recorded, text, TRACE_NAME_MAX - 1), cut);
}

/* Devices and groups have room for so many; threads beyond theirs are one. */
Test(recording, rooms) {
    for (int i = 0; i < TRACE_DEVICES_MAX; i++) cr_assert_eq(recording_device(&recorded, 100 + i, i), i);
    cr_expect_eq(recording_device(&recorded, 99, 0), -1);
    cr_expect_eq(recording_device(&recorded, 101, 0), 1);
    cr_expect_eq(recorded.devices[1].label, 1);
    for (int i = 0; i < TRACE_GROUPS_MAX; i++) cr_assert_eq(recording_group(&recorded, i, -1, 4), i);
    cr_expect_eq(recording_group(&recorded, TRACE_GROUPS_MAX, -1, 4), -1);
    cr_expect_eq(recording_group(&recorded, 7, -1, 4), 7);
    for (int i = 0; i < TRACE_GROUPS_MAX; i++) cr_assert_eq(recording_thread(&recorded, 100 + i), i);
    cr_expect_eq(recording_thread(&recorded, 1), TRACE_GROUPS_MAX - 1);
    cr_expect_eq(recording_thread(&recorded, 102), 2);
}

/* A group is told by its name, and by its description where both are there; what was not known is filled in. */
Test(recording, groups) {
    int32_t a = name_of("a"), b = name_of("b"), words = name_of("words"), others = name_of("others");
    int32_t group = recording_group(&recorded, a, -1, 0);
    cr_expect_eq(recording_group(&recorded, a, words, 8), group);
    cr_expect(recorded.groups[group].description == words && recorded.groups[group].size == 8);
    cr_expect_eq(recording_group(&recorded, a, -1, 4), group);
    cr_expect_eq(recorded.groups[group].size, 8);
    cr_expect_neq(recording_group(&recorded, a, others, 8), group);
    cr_expect_neq(recording_group(&recorded, b, words, 8), group);
    cr_expect_eq(recorded.group_count, 3);
    cr_expect(recorded.groups[group].first == -1 && recorded.groups[group].stride == 0);
}

static void add(int64_t start, int64_t end, int32_t device, int32_t stream, const char *name, int64_t key) {
    TraceEvent event = {.start_ns = start, .end_ns = end, .device = device, .stream = stream, .launch = key};
    event.name = name_of(name);
    cr_assert(recording_add(&recorded, &event));
}

/* An event of no length is none, one that ends before it begins or lies beyond what can be added up is dropped. */
Test(recording, times_that_make_sense) {
    static const int64_t MOST = INT64_MAX / 4;
    add(5, 6, 0, 0, "a", 0);
    add(5, 5, 0, 0, "a", 0);
    cr_expect(recorded.event_count == 1 && recorded.dropped == 0);
    add(6, 5, 0, 0, "a", 0);
    add(-MOST - 1, 5, 0, 0, "a", 0);
    add(5, MOST + 1, 0, 0, "a", 0);
    cr_expect(recorded.event_count == 1 && recorded.dropped == 3);
    add(-MOST, MOST, 0, 0, "a", 0);
    cr_expect(recorded.event_count == 2 && recorded.dropped == 3);
}

/* By device, start, end, stream and name; each with the first launch of its key. */
Test(recording, order_and_launches) {
    static const struct {
        int64_t start, end;
        int32_t device, stream;
        const char *name;
        int64_t key, launch; /* launch: when; -1: none */
    } ORDER[] = {{10, 20, 0, 1, "b", 3, 5}, {10, 30, 0, 1, "b", 4, -1}, {10, 30, 0, 2, "b", 0, -1},
                 {10, 30, 0, 2, "c", 9, 1}, {11, 12, 0, 0, "a", 3, 5},  {0, 1, 1, 0, "a", -2, 8}};
    static const int SHUFFLED[] = {4, 2, 5, 0, 3, 1};
    name_of("a"), name_of("b"), name_of("c");
    for (size_t i = 0; i < COUNT_OF(SHUFFLED); i++) {
        int at = SHUFFLED[i];
        add(ORDER[at].start, ORDER[at].end, ORDER[at].device, ORDER[at].stream, ORDER[at].name, ORDER[at].key);
    }
    static const int64_t LAUNCHES[][2] = {{9, 1}, {3, 7}, {-2, 8}, {3, 5}, {5, 2}};
    for (size_t i = 0; i < COUNT_OF(LAUNCHES); i++)
        cr_assert(recording_add_launch(&recorded, (TraceLaunch){LAUNCHES[i][0], LAUNCHES[i][1], 0}));
    recorded_finish();
    for (size_t i = 0; i < COUNT_OF(ORDER); i++) {
        const TraceEvent *event = &recorded.events[i];
        cr_expect(event->start_ns == ORDER[i].start && event->end_ns == ORDER[i].end &&
                      event->device == ORDER[i].device && event->stream == ORDER[i].stream &&
                      event->name == name_of(ORDER[i].name),
                  "%zu", i);
        int64_t launch = event->launch < 0 ? -1 : recorded.launches[event->launch].start_ns;
        cr_expect_eq(launch, ORDER[i].launch, "%zu: %lld", i, (long long)launch);
    }
}

static void add_range(int64_t start, int64_t end, int32_t thread, const char *name) {
    cr_assert(recording_add_range(&recorded, name, (TraceRange){.start_ns = start, .end_ns = end, .thread = thread}));
}

/* A range lies in the last one of its thread that began before it and has not ended. */
Test(recording, ranges_inside_each_other) {
    static const struct {
        int64_t start, end;
        int32_t thread;
        const char *name;
        int64_t parent, number;
    } ROWS[] = {{0, 100, 0, "ProfilerStep#12", -1, 12},
                {10, 50, 0, "Optimizer.step#AdamW", 0, 0},
                {10, 20, 0, "nccl:all_reduce", 1, COLLECTIVE_KIND_ALL_REDUCE},
                {20, 30, 0, "CheckpointFunctionBackward", 1, -1},
                {50, 60, 0, "ProfilerStep#13", 0, 13},
                {100, 110, 0, "ProfilerStep#14", -1, 14},
                {5, 200, 1, "ProfilerStep#15", -1, 15}};
    static const int SHUFFLED[] = {6, 3, 0, 5, 2, 4, 1};
    for (size_t i = 0; i < COUNT_OF(SHUFFLED); i++)
        add_range(ROWS[SHUFFLED[i]].start, ROWS[SHUFFLED[i]].end, ROWS[SHUFFLED[i]].thread, ROWS[SHUFFLED[i]].name);
    add_range(0, 1, 0, "lunch");
    recorded_finish();
    cr_assert_eq(recorded.range_count, (int64_t)COUNT_OF(ROWS));
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        const TraceRange *range = &recorded.ranges[i];
        cr_expect(range->start_ns == ROWS[i].start && range->end_ns == ROWS[i].end && range->thread == ROWS[i].thread,
                  "%zu", i);
        cr_expect_eq(range->parent, ROWS[i].parent, "%zu: %lld", i, (long long)range->parent);
        cr_expect_eq(range->number, ROWS[i].number, "%zu: %lld", i, (long long)range->number);
    }
}

/* ---- handed over ---- */

static int64_t taken_events;
static bool take(Recording *recording, void *context, Error *error) {
    (void)error;
    taken_events += recording->event_count;
    return context == NULL;
}

Test(recording, handed_over) {
    Error error = {0};
    recorded.take = take;
    add(0, 1, 0, 0, "a", 0);
    add_range(0, 1, 0, "ProfilerStep#1");
    cr_assert(recording_add_launch(&recorded, (TraceLaunch){1, 1, 0}));
    cr_expect(recording_hand_over(&recorded, &error));
    cr_expect(taken_events == 1 && recorded.taken == 1);
    cr_expect(recorded.event_count == 0 && recorded.range_count == 0 && recorded.launch_count == 0);
    cr_expect_eq(recorded.names.count, 1);
    recorded.take_context = &error;
    cr_expect_not(recording_hand_over(&recorded, &error));
}
