/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/util.h"
#include "cost/trace/formats/formats.h"
#include "cost/trace/rank_trace.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static Arena arena;
static KernelNames names;

static void load(void) {
    Error error = {0};
    cr_assert(kernel_names_load(&arena, &names, &error), "%s", error.text);
}
static void unload(void) { arena_free(&arena); }

TestSuite(chrome, .init = load, .fini = unload);

static bool read(const char *text, Recording *out, Error *error) {
    ByteText bytes = {text, strlen(text)};
    *error = (Error){0};
    recording_begin(out, &names);
    return chrome_read(byte_source_of_text(&bytes), "trace", out, error);
}

#define KERNEL(name, stream, ts, dur, more)                                                                            \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"" name "\",\"pid\":0,\"tid\":" stream ",\"ts\":" ts ",\"dur\":" dur   \
    ",\"args\":{\"device\":0,\"stream\":" stream more "}}"

/* Digits go to whole nanoseconds: a double holds microseconds since 1970 to a quarter. */
Test(chrome, clocks_to_the_nanosecond) {
    static const struct {
        const char *ts;
        int64_t ns;
    } ROWS[] = {{"1706850122846038", 1706850122846038000},
                {"1712195495502094.123", 1712195495502094123},
                {"4458676416788.066", 4458676416788066},
                {"\"12.5\"", 12500},
                {"0.0004", 0},
                {"0.0005", 1},
                {"1e3", 1000000},
                {"-3.25", -3250}};
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        char text[512];
        Recording recording;
        Error error;
        snprintf(text, sizeof text,
                 "[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,\"tid\":7,\"ts\":%s,\"dur\":2}]",
                 ROWS[i].ts);
        cr_assert(read(text, &recording, &error), "%s", error.text);
        cr_assert_eq(recording.event_count, 1, "%s", ROWS[i].ts);
        cr_expect_eq(recording.events[0].start_ns, ROWS[i].ns, "%s", ROWS[i].ts);
        cr_expect_eq(recording.events[0].end_ns, ROWS[i].ns + 2000, "%s", ROWS[i].ts);
        recording_free(&recording);
    }
}

/* What stands around the events comes before or after them; secrets among it are not kept. */
Test(chrome, what_stands_around) {
    static const char TEXT[] =
        "{\"traceEvents\":[" KERNEL("ncclDevKernel_AllGather_RING_LL(x)", "20", "10", "5",
                                    ",\"Collective name\":\"_allgather_base\",\"In msg nelems\":100,\"Out msg "
                                    "nelems\":800,\"dtype\":\"BFloat16\","
                                    "\"Group size\":8,\"Process Group Name\":\"3\",\"Process Group Ranks\":\"[0, 4, "
                                    "8]\",\"Seq\":5") "],"
                                                      "\"metadata\":{\"env\":{\"HF_TOKEN\":\"planted\"}},"
                                                      "\"deviceProperties\":[{\"id\":0,\"name\":\"H100\"}],"
                                                      "\"distributedInfo\":{\"backend\":\"nccl\",\"rank\":3,\"world_"
                                                      "size\":8,\"pg_config\":[{\"pg_name\":\"3\","
                                                      "\"pg_desc\":\"mesh_tp\",\"pg_size\":8,\"ranks\":[0,4,8]}]},"
                                                      "\"baseTimeNanoseconds\":1711964646000000000}";
    Recording recording;
    Error error;
    cr_assert(read(TEXT, &recording, &error), "%s", error.text);
    cr_expect_str_eq(recording.chip, "H100");
    cr_expect(recording.rank == 3 && recording.world_size == 8);
    cr_expect_eq(recording.base_ns, 1711964646000000000);
    const TraceEvent *event = &recording.events[0];
    cr_expect(event->class == CLASS_COLLECTIVE && event->kind == COLLECTIVE_KIND_ALL_GATHER);
    cr_expect_eq(event->bytes, 1600); /* 800 elements of two bytes: the whole array */
    cr_assert_geq(event->group, 0);
    const TraceGroup *group = &recording.groups[event->group];
    cr_expect(group->size == 8 && group->first == 0 && group->stride == 4);
    cr_expect_str_eq(recording_text(&recording, group->description), "mesh_tp");
    for (int32_t i = 0; i < recording.names.count; i++) cr_expect_null(strstr(recording.names.text[i], "planted"));
    recording_free(&recording);
}

/* By the innermost host code around the launch: recomputation in backward, the optimizer; else by name. */
Test(chrome, phases_by_launch) {
#define LAUNCH(tid, ts, number)                                                                                        \
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":" tid ",\"ts\":" ts        \
    ",\"dur\":1,\"args\":{\"correlation\":" number "}},"
#define RANGE(name, tid, ts, dur)                                                                                      \
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"" name "\",\"pid\":1,\"tid\":" tid ",\"ts\":" ts ",\"dur\":" dur "},"
    static const char TEXT[] =
        "[{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":9,\"args\":{\"name\":\"pt_autograd_0\"}}," RANGE(
            "autograd::engine::evaluate_function: CheckpointFunctionBackward", "9", "100",
            "100") RANGE("CheckpointFunctionBackward", "9", "101",
                         "90") RANGE("autograd::engine::evaluate_function: MmBackward0", "9", "150", "20")
            RANGE("Optimizer.step#AdamW.step", "1", "300", "50") LAUNCH("9", "110", "1") LAUNCH("9", "155", "2")
                LAUNCH("1", "310", "3") LAUNCH("1", "400", "4")
                    KERNEL("gemm_a", "7", "1000", "5", ",\"correlation\":1") "," KERNEL(
                        "gemm_b", "7", "1010", "5",
                        ",\"correlation\":2") "," KERNEL("vectorized_elementwise_kernel", "7", "1020", "5",
                                                         ",\"correlation\":3") "," KERNEL("mystery", "7", "1030", "5",
                                                                                          ",\"correlation\":4") "]";
    static const TraceTerm EXPECTED[] = {TERM_RECOMPUTE, TERM_MATMUL, TERM_OPTIMIZER, TERM_UNPLACED};
    Recording recording;
    Error error;
    PlaceTotals totals;
    cr_assert(read(TEXT, &recording, &error), "%s", error.text);
    trace_place(&recording, &(PlanShape){0}, &totals);
    cr_assert_eq(recording.event_count, 4);
    for (int i = 0; i < 4; i++)
        cr_expect_eq(recording.events[i].term, EXPECTED[i], "%s: %s",
                     recording_text(&recording, recording.events[i].name),
                     term_name((TraceTerm)recording.events[i].term));
    cr_expect(totals.recompute_seen && totals.backward_launches == 2);
    cr_expect_eq(totals.unplaced_ns, 5000);
    recording_free(&recording);
}

/* Cut off, broken in the middle, or nothing at all: read as far as it goes, or one line that says where. */
Test(chrome, damage) {
    static const struct {
        const char *text;
        int64_t events, damaged;
        const char *says; /* of the trouble or the error; NULL: none */
        bool ok;
    } ROWS[] = {
        {"[" KERNEL("a", "7", "1", "5", ""), 1, 0, "ends in the middle, after byte", true},
        {"[" KERNEL("a", "7", "1", "5", "") "," KERNEL("b", "7", "9", "5", ""), 2, 0, "ends in the middle", true},
        {"[" KERNEL("a", "7", "1", "5", "") ",{\"ph\":\"X\",\"name\":\"a \"quoted\" b\"}," KERNEL("b", "7", "9", "5",
                                                                                                  "") "]",
         2, 1, NULL, true},
        {"[" KERNEL("a", "7", "NaN", "5", "") "]", 0, 0, NULL, true},
        {"[" KERNEL("a", "7", "1", "-5", "") "]", 0, 0, NULL, true},
        {"[" KERNEL("a", "7", "99999999999999999999", "5", "") "]", 0, 0, NULL, true},
        {"{\"a\":1}", 0, 0, "has no traceEvents", false},
        {"{\"traceEvents\":[{\"ph\":", 0, 0, "and nothing that ran on a device", false},
        {"", 0, 0, "ends in the middle, after byte 0", false},
        {"SQLite format 3", 0, 0, "is no JSON from byte 0 on", false},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Recording recording;
        Error error;
        bool ok = read(ROWS[i].text, &recording, &error);
        const char *said = ok ? recording.trouble : error.text;
        cr_expect_eq(ok, ROWS[i].ok, "%zu: %s", i, error.text);
        cr_expect_eq(recording.event_count, ROWS[i].events, "%zu: %lld", i, (long long)recording.event_count);
        cr_expect_eq(recording.damaged, ROWS[i].damaged, "%zu", i);
        cr_expect(ROWS[i].says ? strstr(said, ROWS[i].says) != NULL : !said[0], "%zu: %s", i, said);
        recording_free(&recording);
    }
}

/* Six steps of 100 us and one of 400: the first, the last, which nothing follows, and the long one are left out. */
Test(chrome, steps_from_first_launch_to_first_launch) {
    char text[8192];
    int used = snprintf(text, sizeof text, "[");
    int64_t at = 1000;
    for (int i = 0; i < 7; i++) {
        int64_t length = i == 3 ? 400 : 100;
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "%s{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#%d\",\"pid\":1,\"tid\":1,"
                         "\"ts\":%lld,\"dur\":20}," LAUNCH("1", "%lld", "%d")
                             KERNEL("gemm", "7", "%lld", "50", ",\"correlation\":%d"),
                         i ? "," : "", i, (long long)(at - 500), (long long)(at - 490), i + 1, (long long)at, i + 1);
        at += length;
    }
    snprintf(text + used, sizeof text - (size_t)used, "]");
    Recording recording;
    Error error;
    RankTraces traces;
    cr_assert(read(text, &recording, &error), "%s", error.text);
    cr_assert(rank_traces(&recording, "trace", &(PlanShape){0}, &arena, &traces, &error));
    cr_assert_eq(traces.count, 1);
    const RankTrace *rank = &traces.ranks[0];
    cr_expect(rank->steps_by == STEPS_ANNOTATED && rank->steps == 7, "%d", rank->steps);
    cr_expect_eq(rank->steps_used, 4);
    cr_expect_float_eq(rank->step_mean, 100e-6, 1e-12);
    cr_expect_float_eq(rank->exposed[TERM_MATMUL], 50e-6, 1e-12);
    cr_expect_float_eq(rank->exposed[TERM_OTHER], 50e-6, 1e-12);
    cr_assert_not_null(rank->timeline);
    cr_expect_float_eq(rank->timeline->seconds, 100e-6, 1e-12);
    cr_expect(rank->timeline->busy[100][TERM_MATMUL] == 1 && rank->timeline->busy[300][TERM_MATMUL] == 0);
    recording_free(&recording);
}

/* One kernel of NCCL sends whatever is no plain collective: the range around its launch says what it is for. What is a
 * plain collective stays it, and what nobody launched is what its name says. Each is one instance of its rank. */
Test(chrome, what_sends_and_receives_are_for) {
    static const char TEXT[] = "[" RANGE("nccl:all_to_all", "1", "100", "20") RANGE(
        "nccl:all_reduce", "1", "200", "20") LAUNCH("1", "110", "1") LAUNCH("1", "210", "2")
        KERNEL("ncclDevKernel_SendRecv(x)", "7", "1000", "5", ",\"correlation\":1,\"Seq\":1") "," KERNEL(
            "ncclDevKernel_AllGather_RING_LL(x)", "7", "1010", "5",
            ",\"correlation\":2,\"Seq\":2") "," KERNEL("ncclDevKernel_SendRecv(x)", "7", "1020", "5", ",\"Seq\":3") "]";
    static const CollectiveKind KINDS[] = {COLLECTIVE_KIND_ALL_TO_ALL, COLLECTIVE_KIND_ALL_GATHER,
                                           COLLECTIVE_KIND_SEND_RECV};
    Recording recording;
    Error error;
    RankTraces traces;
    cr_assert(read(TEXT, &recording, &error), "%s", error.text);
    cr_assert(rank_traces(&recording, "trace", &(PlanShape){0}, &arena, &traces, &error), "%s", error.text);
    cr_assert_eq(recording.event_count, 3);
    for (int i = 0; i < 3; i++) cr_expect_eq(recording.events[i].kind, KINDS[i], "%d: %d", i, recording.events[i].kind);
    cr_assert_eq(traces.count, 1);
    cr_expect_eq(traces.ranks[0].instance_count, 3, "%d", (int)traces.ranks[0].instance_count);
    recording_free(&recording);
}

/* Bytes of a collective are the larger of its two counts times the width of its type: one element of two bytes, eight
 * of four; without counts, or with a type that nobody knows, they are not known: 0. */
Test(chrome, bytes_of_a_collective) {
    static const struct {
        const char *counts;
        double bytes;
    } ROWS[] = {{",\"In msg nelems\":1,\"Out msg nelems\":0,\"dtype\":\"BFloat16\"", 2},
                {",\"In msg nelems\":1,\"Out msg nelems\":8,\"dtype\":\"Float\"", 32},
                {",\"In msg nelems\":9,\"Out msg nelems\":8,\"dtype\":\"Float\"", 36},
                {",\"dtype\":\"BFloat16\"", 0},
                {",\"In msg nelems\":0,\"Out msg nelems\":0,\"dtype\":\"BFloat16\"", 0},
                {",\"In msg nelems\":-5,\"Out msg nelems\":-7,\"dtype\":\"BFloat16\"", 0},
                {",\"In msg nelems\":5,\"Out msg nelems\":7,\"dtype\":\"Posit16\"", 0}};
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        char text[1024];
        Recording recording;
        Error error;
        snprintf(text, sizeof text,
                 "[" KERNEL("ncclDevKernel_AllGather_RING_LL(x)", "20", "10", "5",
                            ",\"Collective name\":\"_allgather_base\"%s") "]",
                 ROWS[i].counts);
        cr_assert(read(text, &recording, &error), "%s", error.text);
        cr_assert_eq(recording.event_count, 1);
        cr_expect_eq(recording.events[0].bytes, ROWS[i].bytes, "%s: %g", ROWS[i].counts, recording.events[0].bytes);
        recording_free(&recording);
    }
}
