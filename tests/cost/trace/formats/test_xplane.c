/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A space of one TPU, written byte by byte as protocol buffers are: tables stand behind the line that needs them. */
#include "cost/trace/formats/formats.h"

#include "base/util.h"

#include <criterion/criterion.h>
#include <string.h>

typedef struct {
    uint8_t at[4096];
    size_t used;
} Bytes;

static void varint(Bytes *to, uint64_t value) {
    for (; value > 127; value >>= 7) to->at[to->used++] = (uint8_t)(value | 128);
    to->at[to->used++] = (uint8_t)value;
}

static void whole(Bytes *to, unsigned field, int64_t value) {
    varint(to, field << 3);
    varint(to, (uint64_t)value);
}

static void part(Bytes *to, unsigned field, const void *bytes, size_t length) {
    varint(to, field << 3 | 2);
    varint(to, length);
    memcpy(to->at + to->used, bytes, length);
    to->used += length;
}

static void text(Bytes *to, unsigned field, const char *word) { part(to, field, word, strlen(word)); }
static void inner(Bytes *to, unsigned field, const Bytes *message) { part(to, field, message->at, message->used); }

/* An entry of the table of statistics' names. */
static void statistic(Bytes *plane, int64_t id, const char *name) {
    Bytes entry = {0}, value = {0};
    whole(&value, 1, id);
    text(&value, 2, name);
    whole(&entry, 1, id);
    inner(&entry, 2, &value);
    inner(plane, 5, &entry);
}

/* An entry of the table of operations, with the category that is statistic 1. */
static void operation(Bytes *plane, int64_t id, const char *shown, const char *hlo, const char *category) {
    Bytes entry = {0}, value = {0}, is = {0};
    whole(&is, 1, 1);
    text(&is, 5, category);
    whole(&value, 1, id);
    text(&value, 2, hlo);
    text(&value, 4, shown);
    inner(&value, 5, &is);
    whole(&entry, 1, id);
    inner(&entry, 2, &value);
    inner(plane, 4, &entry);
}

static void event(Bytes *line, int64_t id, int64_t offset_ps, int64_t length_ps) {
    Bytes event = {0};
    whole(&event, 1, id);
    whole(&event, 2, offset_ps);
    whole(&event, 3, length_ps);
    inner(line, 4, &event);
}

/* The operations, and by hand what each is: the largest array of the result, and its group. */
static const struct {
    const char *shown, *hlo, *category;
    KernelClass class;
    CollectiveKind kind;
    double bytes;
    int64_t size, stride;
} OPERATIONS[] = {
    {"all-gather.3", "%all-gather.3 = (f32[8]{0}, bf16[64,4]{1,0}) all-gather(f32[8]{0} %x), replica_groups=[4,2]<=[8]",
     "all-gather", CLASS_COLLECTIVE, COLLECTIVE_KIND_ALL_GATHER, 64 * 4 * 2, 2, 1},
    {"all-reduce.1", "%all-reduce.1 = s8[100]{0} all-reduce(s8[100]{0} %x), replica_groups=[4,2]<=[2,4]T(1,0)",
     "all-reduce", CLASS_COLLECTIVE, COLLECTIVE_KIND_ALL_REDUCE, 100, 2, 4},
    /* what each of three gets is a third of what is reduced */
    {"reduce-scatter.2",
     "%reduce-scatter.2 = f32[10]{0} reduce-scatter(f32[30]{0} %x), replica_groups={{0,2,4},{1,3,5}}", "reduce-scatter",
     CLASS_COLLECTIVE, COLLECTIVE_KIND_REDUCE_SCATTER, 3 * 40, 3, 2},
    {"fusion.4", "%fusion.4 = f32[8]{0} fusion(f32[8]{0} %x)", "convolution fusion", CLASS_MATMUL,
     COLLECTIVE_KIND_UNKNOWN, 0, 0, 0},
};

static void write_space(Bytes *space) {
    Bytes plane = {0}, line = {0}, chip = {0};
    text(&plane, 2, "/device:TPU:0");
    for (int i = 0; i < (int)COUNT_OF(OPERATIONS); i++) event(&line, 5 + i, 2000000 + 10000000 * i, 3000000);
    event(&line, 99, 0, 1000);         /* of no operation */
    event(&line, 5, 100000000, -1000); /* it ends before it begins */
    text(&line, 2, "XLA Ops");
    whole(&line, 3, 7000);
    inner(&plane, 3, &line);
    for (int i = 0; i < (int)COUNT_OF(OPERATIONS); i++)
        operation(&plane, 5 + i, OPERATIONS[i].shown, OPERATIONS[i].hlo, OPERATIONS[i].category);
    statistic(&plane, 2, "device_type_string");
    statistic(&plane, 1, "hlo_category");
    whole(&chip, 1, 2);
    text(&chip, 5, "TPU v5");
    inner(&plane, 6, &chip);
    inner(space, 1, &plane);
}

Test(xplane, a_space_by_hand) {
    static Bytes space;
    Arena arena = {0};
    KernelNames names;
    Recording recording;
    Error error = {0};
    cr_assert(kernel_names_load(&arena, &names, &error), "%s", error.text);
    write_space(&space);
    ByteText bytes = {(const char *)space.at, space.used};
    recording_begin(&recording, &names);
    cr_assert(xplane_read(byte_source_of_text(&bytes), "space", &recording, &error), "%s", error.text);
    cr_expect_str_eq(recording.chip, "TPU v5p");
    cr_expect_eq(recording.dropped, 2);
    cr_assert_eq(recording.event_count, (int64_t)COUNT_OF(OPERATIONS));
    for (int i = 0; i < (int)COUNT_OF(OPERATIONS); i++) {
        const TraceEvent *is = &recording.events[i];
        const char *name = OPERATIONS[i].shown;
        cr_expect_str_eq(recording_text(&recording, is->name), name);
        cr_expect_eq(is->start_ns, 7000 + 2000 + 10000 * i, "%s: %lld", name, (long long)is->start_ns);
        cr_expect_eq(is->end_ns, is->start_ns + 3000, "%s", name);
        cr_expect_eq(is->class, OPERATIONS[i].class, "%s", name);
        cr_expect_eq(is->kind, OPERATIONS[i].kind, "%s", name);
        cr_expect_eq(is->bytes, OPERATIONS[i].bytes, "%s: %g", name, is->bytes);
        if (OPERATIONS[i].size == 0) continue;
        cr_assert_geq(is->group, 0, "%s", name);
        cr_expect_eq(recording.groups[is->group].size, OPERATIONS[i].size, "%s", name);
        cr_expect_eq(recording.groups[is->group].stride, OPERATIONS[i].stride, "%s", name);
    }
    recording_free(&recording);
    arena_free(&arena);
}
