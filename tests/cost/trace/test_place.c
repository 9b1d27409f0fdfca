/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which term of a plan an event is put to, by hand: groups by what they are called, by their size and stride in the
 * plan, by what is sent; messages by the shortest of their size. */
#include "cost/trace/recording.h"

#include "base/util.h"
#include "tests/cost/trace/recorded.h"

TestSuite(place, .init = recorded_begin, .fini = recorded_end);

static PlanShape shape_of(int64_t tensor, int64_t expert, int64_t sequence, int64_t fsdp, int64_t data,
                          int64_t pipeline) {
    PlanShape shape = {.known = true};
    const int64_t degrees[] = {tensor, expert, sequence, fsdp, data, pipeline};
    for (int i = 0; i < 6; i++) shape.degree[TERM_TENSOR + i] = degrees[i];
    return shape;
}

static int32_t group_of(const char *description, int64_t size, int64_t stride) {
    int32_t name = recording_name(&recorded, "7", 1);
    int32_t words = description ? recording_name(&recorded, description, strlen(description)) : -1;
    int32_t group = recording_group(&recorded, name, words, size);
    recorded.groups[group].stride = stride;
    return group;
}

/* The term of one collective of 10 us; *totals is of it alone. */
static TraceTerm term_of(int32_t group, CollectiveKind kind, const PlanShape *shape, PlaceTotals *totals) {
    TraceEvent *event = recorded_kernel("ncclDevKernel_AllGather_RING_LL(x)", 0, 10, -1);
    event->group = group;
    event->kind = (uint8_t)kind;
    event->launch = -1;
    trace_place(&recorded, shape, totals);
    TraceTerm term = (TraceTerm)recorded.events[0].term;
    recorded.event_count = 0;
    return term;
}

Test(place, groups_by_what_they_are_called) {
    static const struct {
        const char *description;
        TraceTerm term;
    } ROWS[] = {{"TENSOR_MODEL_PARALLEL_GROUP", TERM_TENSOR},
                {"PIPELINE_MODEL_PARALLEL_GROUP", TERM_PIPELINE},
                {"CONTEXT_PARALLEL_GROUP", TERM_SEQUENCE},
                {"EXPERT_MODEL_PARALLEL_GROUP", TERM_EXPERT},
                {"mesh_dp_shard", TERM_FSDP},
                {"mesh_dp_replicate", TERM_DATA}};
    PlanShape all = shape_of(2, 2, 2, 2, 2, 2);
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        PlaceTotals totals;
        cr_expect_eq(term_of(group_of(ROWS[i].description, 2, 1), COLLECTIVE_KIND_ALL_GATHER, &all, &totals),
                     ROWS[i].term, "%s", ROWS[i].description);
        cr_expect(totals.placed_ns == 10000 && totals.fallback_ns == 0 && totals.unplaced_ns == 0);
    }
}

/* What a framework calls the data group is the plan's fsdp where that has the ranks, and the other way about. */
Test(place, as_the_plan_calls_it) {
    PlaceTotals totals;
    PlanShape fsdp = shape_of(1, 1, 1, 8, 1, 1), data = shape_of(1, 1, 1, 1, 8, 1), none = shape_of(8, 1, 1, 1, 1, 1);
    int32_t replicas = group_of("DATA_PARALLEL_GROUP", 8, 1), shards = group_of("mesh_fsdp", 8, 1);
    cr_expect_eq(term_of(replicas, COLLECTIVE_KIND_ALL_GATHER, &fsdp, &totals), TERM_FSDP);
    cr_expect_eq(term_of(replicas, COLLECTIVE_KIND_ALL_GATHER, &data, &totals), TERM_DATA);
    cr_expect_eq(term_of(replicas, COLLECTIVE_KIND_ALL_GATHER, &none, &totals), TERM_DATA);
    cr_expect_eq(term_of(shards, COLLECTIVE_KIND_ALL_GATHER, &data, &totals), TERM_DATA);
    cr_expect_eq(term_of(shards, COLLECTIVE_KIND_ALL_GATHER, &fsdp, &totals), TERM_FSDP);
    PlanShape unknown = {0};
    cr_expect_eq(term_of(replicas, COLLECTIVE_KIND_ALL_GATHER, &unknown, &totals), TERM_DATA);
}

/* tensor=4 sequence=2 data=4: a group of 2 is the sequence's; one of 4 is tensor's or data's: its stride says which. */
Test(place, groups_by_their_size_and_stride) {
    PlaceTotals totals;
    PlanShape shape = shape_of(4, 1, 2, 1, 4, 1);
    shape.stride[TERM_TENSOR] = 1, shape.stride[TERM_SEQUENCE] = 4, shape.stride[TERM_DATA] = 8;
    static const struct {
        int64_t size, stride;
        TraceTerm term;
        bool by_rule;
    } ROWS[] = {{2, 0, TERM_SEQUENCE, true}, {2, 4, TERM_SEQUENCE, true}, {4, 1, TERM_TENSOR, true},
                {4, 8, TERM_DATA, true},     {4, 0, TERM_TENSOR, false},  {2, 1, TERM_TENSOR, false},
                {8, 1, TERM_TENSOR, false},  {4, 3, TERM_TENSOR, false}};
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        int32_t group = group_of(NULL, ROWS[i].size, ROWS[i].stride);
        cr_expect_eq(term_of(group, COLLECTIVE_KIND_ALL_REDUCE, &shape, &totals), ROWS[i].term, "%zu", i);
        cr_expect_eq(totals.placed_ns > 0, ROWS[i].by_rule, "%zu", i);
        cr_expect_eq(totals.fallback_ns > 0, !ROWS[i].by_rule, "%zu", i);
        recorded.groups[group].size = -1 - (int64_t)i; /* none of the next rows' */
    }
}

/* Two roles with groups of that size: what is sent decides among them, before roles of other sizes. */
Test(place, by_what_is_sent_in_groups_of_a_size) {
    PlaceTotals totals;
    PlanShape shape = shape_of(8, 1, 16, 1, 16, 1);
    static const struct {
        CollectiveKind kind;
        int64_t size;
        TraceTerm term;
    } ROWS[] = {{COLLECTIVE_KIND_REDUCE_SCATTER, 16, TERM_DATA},  {COLLECTIVE_KIND_ALL_REDUCE, 16, TERM_DATA},
                {COLLECTIVE_KIND_SEND_RECV, 16, TERM_SEQUENCE},   {COLLECTIVE_KIND_ALL_GATHER, 16, TERM_SEQUENCE},
                {COLLECTIVE_KIND_REDUCE_SCATTER, 8, TERM_TENSOR}, {COLLECTIVE_KIND_REDUCE_SCATTER, 4, TERM_TENSOR}};
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        int32_t group = group_of(NULL, ROWS[i].size, 0);
        cr_expect_eq(term_of(group, ROWS[i].kind, &shape, &totals), ROWS[i].term, "%zu", i);
        recorded.groups[group].size = -1 - (int64_t)i; /* none of the next rows' */
    }
}

/* By what is sent: the first role of these that the plan has. */
Test(place, by_what_is_sent) {
    static const struct {
        CollectiveKind kind;
        int64_t degrees[6]; /* tensor expert sequence fsdp data pipeline */
        TraceTerm term;
    } ROWS[] = {
        {COLLECTIVE_KIND_ALL_GATHER, {2, 1, 2, 2, 2, 1}, TERM_FSDP},
        {COLLECTIVE_KIND_REDUCE_SCATTER, {2, 1, 2, 1, 2, 1}, TERM_TENSOR},
        {COLLECTIVE_KIND_ALL_GATHER, {1, 1, 2, 1, 2, 1}, TERM_SEQUENCE},
        {COLLECTIVE_KIND_ALL_GATHER, {1, 2, 1, 1, 2, 2}, TERM_DATA},
        {COLLECTIVE_KIND_ALL_GATHER, {1, 2, 1, 1, 1, 2}, TERM_COLLECTIVE},
        {COLLECTIVE_KIND_ALL_REDUCE, {2, 1, 1, 2, 2, 1}, TERM_TENSOR},
        {COLLECTIVE_KIND_ALL_REDUCE, {1, 1, 1, 2, 2, 1}, TERM_DATA},
        {COLLECTIVE_KIND_ALL_REDUCE, {1, 2, 2, 2, 1, 2}, TERM_FSDP},
        {COLLECTIVE_KIND_SEND_RECV, {2, 2, 2, 2, 2, 2}, TERM_PIPELINE},
        {COLLECTIVE_KIND_SEND_RECV, {2, 2, 2, 2, 2, 1}, TERM_SEQUENCE},
        {COLLECTIVE_KIND_SEND_RECV, {2, 2, 1, 2, 2, 1}, TERM_EXPERT},
        {COLLECTIVE_KIND_ALL_TO_ALL, {2, 2, 2, 2, 2, 2}, TERM_EXPERT},
        {COLLECTIVE_KIND_ALL_TO_ALL, {2, 1, 2, 2, 2, 2}, TERM_SEQUENCE},
        {COLLECTIVE_KIND_BROADCAST, {2, 2, 2, 2, 2, 2}, TERM_COLLECTIVE},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        const int64_t *of = ROWS[i].degrees;
        PlanShape shape = shape_of(of[0], of[1], of[2], of[3], of[4], of[5]);
        PlaceTotals totals;
        cr_expect_eq(term_of(-1, ROWS[i].kind, &shape, &totals), ROWS[i].term, "%zu", i);
        bool placed = ROWS[i].term != TERM_COLLECTIVE;
        cr_expect(totals.fallback_ns == (placed ? 10000 : 0) && totals.unplaced_ns == (placed ? 0 : 10000), "%zu", i);
    }
    PlanShape unknown = {0};
    PlaceTotals totals;
    cr_expect_eq(term_of(-1, COLLECTIVE_KIND_ALL_GATHER, &unknown, &totals), TERM_COLLECTIVE);
    cr_expect_eq(totals.placed_ns, 10000, "without a plan there is nothing to put it to");
}

/* ---- messages ---- */

static TraceEvent message(double bytes, int64_t length) {
    return (TraceEvent){.end_ns = length, .bytes = bytes, .term = TERM_PIPELINE, .kind = COLLECTIVE_KIND_SEND_RECV};
}

/* Up to a quarter longer than the shortest of its size, all of a message moves bytes; beyond that as much as the
 * shortest does. */
Test(place, messages_of_a_size) {
    TraceEvent events[] = {message(1e6, 100), message(2e6, 500), message(1e6, 80), message(1e6, 101),
                           message(2e6, 450)};
    MessageSizes sizes;
    recorded.events = events;
    trace_messages(&recorded, 0, COUNT_OF(events), &sizes);
    recorded.events = NULL;
    cr_assert_eq(sizes.count, 2);
    cr_expect(sizes.bytes[0] == 1e6 && sizes.least_ns[0] == 80);
    cr_expect(sizes.bytes[1] == 2e6 && sizes.least_ns[1] == 450);
    static const int64_t MOVES[] = {100, 500, 80, 80, 450}; /* 101 is more than 100, a quarter more than 80 */
    for (size_t i = 0; i < COUNT_OF(events); i++)
        cr_expect_eq(message_transfer_ns(&sizes, &events[i]), MOVES[i], "%zu", i);
    cr_expect_eq(message_size(&sizes, &events[1]), 1);
    TraceEvent others[] = {message(3e6, 10), message(0, 10), message(1e6, 1000), message(1e6, 1000)};
    others[2].term = TERM_SEQUENCE, others[3].kind = COLLECTIVE_KIND_ALL_GATHER;
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        cr_expect_eq(message_size(&sizes, &others[i]), -1, "%zu", i);
        cr_expect_eq(message_transfer_ns(&sizes, &others[i]), others[i].end_ns, "%zu", i);
    }
    cr_expect(!message_waits(1.25, 1) && message_waits(1.26, 1));
}

/* As many sizes as there is room for; of the others nothing is known. */
Test(place, sizes_have_room) {
    TraceEvent events[MESSAGE_SIZES_MAX + 1];
    MessageSizes sizes;
    for (int i = 0; i <= MESSAGE_SIZES_MAX; i++) events[i] = message(1 + i, 10 + i);
    recorded.events = events;
    trace_messages(&recorded, 0, MESSAGE_SIZES_MAX + 1, &sizes);
    recorded.events = NULL;
    cr_expect_eq(sizes.count, MESSAGE_SIZES_MAX);
    for (int i = 0; i <= MESSAGE_SIZES_MAX; i++)
        cr_expect_eq(message_size(&sizes, &events[i]), i < MESSAGE_SIZES_MAX ? i : -1, "%d", i);
}
