/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An export of Nsight Systems made by hand, table by table as nsys writes them: processes lie in bits 24 to 47 of a
 * global id, names in StringIds. */
#include "cost/trace/formats/formats.h"

#include "base/util.h"
#include "tests/cost/trace/recorded.h"

#include <sqlite3.h>

TestSuite(nsight, .init = recorded_begin, .fini = recorded_end);

/* A process's global id, and that of a thread in it. */
#define PID(process) "((" process ") << 24)"
#define TID(process, thread) "(((" process ") << 24) + " thread ")"

static const char STRINGS[] = "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
                              "INSERT INTO StringIds VALUES (1, 'gemm_long(int)'), (2, 'gemm'), (3, 'ProfilerStep#4');";
static const char KERNELS[] =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, streamId INT, correlationId INT, "
    "globalPid INT, demangledName INT, shortName INT);";
static const char COPIES[] =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INT, end INT, deviceId INT, streamId INT, correlationId INT, "
    "globalPid INT, bytes INT, copyKind INT);";

/* Reads what these statements make. */
static bool read(const char *const *statements, size_t count, Error *error) {
    sqlite3 *database;
    char *message = NULL;
    cr_assert_eq(sqlite3_open(":memory:", &database), SQLITE_OK);
    for (size_t i = 0; i < count; i++)
        cr_assert_eq(sqlite3_exec(database, statements[i], NULL, NULL, &message), SQLITE_OK, "%s", message);
    *error = (Error){0};
    bool ok = nsight_read(database, "trace", &recorded, error);
    sqlite3_close(database);
    return ok;
}
#define READ(...)                                                                                                      \
    do {                                                                                                               \
        const char *const statements[] = {__VA_ARGS__};                                                                \
        Error error;                                                                                                   \
        cr_assert(read(statements, COUNT_OF(statements), &error), "%s", error.text);                                   \
    } while (0)

/* Two processes with a device 0 each, and one correlation number in both: each kernel finds the launch of its own. */
Test(nsight, kernels_and_their_launches) {
    READ(STRINGS, KERNELS,
         "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1000, 1500, 0, 7, 9, " PID(
             "5") ", 1, 2),"
                  "(2000, 2400, 0, 7, 9, " PID("6") ", NULL, 2), (3000, 3100, 1, 8, NULL, " PID("6") ", 99, 2);",
         "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, correlationId INT, globalTid INT);"
         "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (900, 9, " TID("5", "11") "), (1900, 9, " TID(
             "6", "12") "),"
                        "(1, NULL, " TID("6", "12") ");");
    cr_assert_eq(recorded.event_count, 3);
    cr_expect_eq(recorded.device_count, 3);
    cr_expect_eq(recorded.launch_count, 2);
    static const struct {
        int64_t start, end, device, launch;
        int32_t stream;
        const char *name;
    } EXPECTED[] = {
        {1000, 1500, 0, 900, 7, "gemm_long(int)"}, {2000, 2400, 0, 1900, 7, "gemm"}, {3000, 3100, 1, -1, 8, ""}};
    for (int i = 0; i < 3; i++) {
        const TraceEvent *event = &recorded.events[i];
        cr_expect_eq(event->start_ns, EXPECTED[i].start, "%d", i);
        cr_expect_eq(event->end_ns, EXPECTED[i].end, "%d", i);
        cr_expect_eq(event->stream, EXPECTED[i].stream, "%d", i);
        cr_expect_eq(recorded.devices[event->device].label, EXPECTED[i].device, "%d", i);
        cr_expect_str_eq(recording_text(&recorded, event->name), EXPECTED[i].name, "%d", i);
        int64_t launch = event->launch < 0 ? -1 : recorded.launches[event->launch].start_ns;
        cr_expect_eq(launch, EXPECTED[i].launch, "%d: %lld", i, (long long)launch);
        cr_expect(event->group == -1 && event->sequence == -1, "%d", i);
    }
    cr_expect_str_empty(recorded.chip);
    cr_expect_str_empty(recorded.trouble);
}

/* copyKind 1 is to the device and 2 from it; on one device neither end is the host. Fills are copies too. */
Test(nsight, copies) {
    READ(STRINGS, COPIES,
         "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (0, 10, 0, 1, 1, 0, 4096, 1), (20, 30, 0, 1, 2, 0, 8192, 2),"
         "(40, 50, 0, 1, 3, 0, 16, 8), (60, 70, 0, 1, 3, 0, 17, 0);",
         "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INT, end INT, deviceId INT, streamId INT, correlationId INT, "
         "globalPid INT); INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (80, 90, 0, 1, 4, 0);");
    static const struct {
        const char *name;
        double bytes;
        bool host;
    } EXPECTED[] = {{"Memcpy HtoD", 4096, true},
                    {"Memcpy DtoH", 8192, true},
                    {"Memcpy", 16, false},
                    {"Memcpy", 17, false},
                    {"Memset", 0, false}};
    cr_assert_eq(recorded.event_count, 5);
    for (int i = 0; i < 5; i++) {
        const TraceEvent *event = &recorded.events[i];
        cr_expect_str_eq(recording_text(&recorded, event->name), EXPECTED[i].name, "%d", i);
        cr_expect_eq(event->bytes, EXPECTED[i].bytes, "%d", i);
        cr_expect_eq(event->host_copy, EXPECTED[i].host, "%d", i);
        cr_expect_eq(event->class, CLASS_COPY, "%d", i);
    }
}

/* Ranges by their text or its number; those without an end, without words or with words that tell no phase are
 * passed. */
Test(nsight, ranges_chip_and_clock) {
    READ(STRINGS, KERNELS, "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1000, 1500, 0, 7, 9, 0, 1, 2);",
         "CREATE TABLE TARGET_INFO_GPU (name TEXT); INSERT INTO TARGET_INFO_GPU VALUES (NULL), ('H100'), ('H200');",
         "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INT); "
         "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000);",
         "CREATE TABLE NVTX_EVENTS (start INT, end INT, globalTid INT, text TEXT, textId INT);"
         "INSERT INTO NVTX_EVENTS VALUES (10, 20, 3, 'Optimizer.step#AdamW.step', NULL), (30, 40, 3, NULL, 3),"
         "(50, NULL, 3, 'ProfilerStep#5', NULL), (60, 70, 3, NULL, NULL), (80, 90, 3, 'lunch', NULL);");
    cr_expect_str_eq(recorded.chip, "H100");
    cr_expect_eq(recorded.base_ns, 1700000000000000000);
    cr_assert_eq(recorded.range_count, 2);
    cr_expect(recorded.ranges[0].kind == RANGE_OPTIMIZER && recorded.ranges[0].start_ns == 10 &&
              recorded.ranges[0].end_ns == 20);
    cr_expect(recorded.ranges[1].kind == RANGE_STEP && recorded.ranges[1].number == 4 &&
              recorded.ranges[1].end_ns == 40);
}

/* A column that a version lacks is nothing in each row. */
Test(nsight, older_columns) {
    READ(STRINGS,
         "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, streamId INT, shortName INT);"
         "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (5, 8, 2, 4, 2);");
    cr_assert_eq(recorded.event_count, 1);
    cr_expect_str_eq(recording_text(&recorded, recorded.events[0].name), "gemm");
    cr_expect_eq(recorded.devices[recorded.events[0].device].label, 2);
    cr_expect_eq(recorded.events[0].launch, -1);
}

/* A database of something else, and an export in which nothing ran on a device. */
Test(nsight, what_is_none) {
    static const char *const OTHER[] = {"CREATE TABLE people (name TEXT);"};
    static const char *const EMPTY[] = {"CREATE TABLE StringIds (id INT, value TEXT);"};
    Error error;
    cr_expect_not(read(OTHER, 1, &error));
    cr_expect(strstr(error.text, "no export of Nsight Systems"), "%s", error.text);
    recorded_end();
    recorded_begin();
    bool ok = read(EMPTY, 1, &error);
    cr_expect(ok ? recorded.event_count == 0 : error.kind == ERROR_INPUT, "%s", error.text);
}
