/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fuzz/fuzz.h"

#include "cost/trace/formats/formats.h"
#include "cost/trace/rank_trace.h"

#include <sqlite3.h>

/* What holds for every trace that a reader takes: terms of a step are not negative, and add up to it. */
typedef bool (*TraceReader)(const char *bytes, size_t size, Recording *out, Error *error);

static void check_rank(const RankTrace *rank) {
    double sum = 0;
    for (int term = 0; term < TERM_COUNT; term++) {
        if (!(rank->exposed[term] >= 0) || !(rank->length[term] >= 0)) abort();
        sum += rank->exposed[term];
    }
    if (rank->steps_used < 1 || fabs(sum - rank->step_mean) > 1e-6 * rank->step_mean) abort();
}

static void check_trace(const char *bytes, size_t size, TraceReader reader) {
    static Arena rules;
    static KernelNames names;
    Arena arena = {0};
    Error error = {0};
    Recording recording;
    RankTraces traces = {0};
    if (!rules.last && !kernel_names_load(&rules, &names, &error)) abort();
    recording_begin(&recording, &names);
    PlanShape shape = {.known = size % 2};
    for (int term = 0; term < TERM_COUNT; term++) shape.degree[term] = 1 + (int64_t)(size / 2 + (size_t)term) % 3;
    bool ok = reader(bytes, size, &recording, &error);
    if (ok != (error.kind == ERROR_NONE) || (!ok && strchr(error.text, '\n'))) abort();
    if (ok && !rank_traces(&recording, "fuzz", &shape, &arena, &traces, &error)) abort();
    for (int i = 0; i < traces.count; i++) check_rank(&traces.ranks[i]);
    recording_free(&recording);
    arena_free(&arena);
}

static bool chrome_from(const char *bytes, size_t size, Recording *out, Error *error) {
    ByteText text = {bytes, size};
    return chrome_read(byte_source_of_text(&text), "fuzz", out, error);
}

/* Whatever the bytes are, chrome_read says yes or no, and what it takes can be added up (check_trace). */
void fuzz_chrome(char *bytes, size_t size) { check_trace(bytes, size, chrome_from); }

static bool nsight_from(const char *bytes, size_t size, Recording *out, Error *error) {
    sqlite3 *database = NULL;
    bool ok = false;
    if (sqlite3_open(":memory:", &database) == SQLITE_OK &&
        sqlite3_deserialize(database, "main", (unsigned char *)(uintptr_t)bytes, (sqlite3_int64)size,
                            (sqlite3_int64)size, SQLITE_DESERIALIZE_READONLY) == SQLITE_OK)
        ok = nsight_read(database, "fuzz", out, error);
    else
        error_set(error, ERROR_INPUT, "fuzz", "is no database");
    sqlite3_close(database);
    return ok;
}

/* Whatever the bytes of a database are, nsight_read says yes or no, and what it takes can be added up (check_trace). */
void fuzz_nsight(char *bytes, size_t size) { check_trace(bytes, size, nsight_from); }

typedef struct {
    ByteText text;
    size_t most; /* bytes at once */
} Pieces;

static ptrdiff_t read_piece(void *context, char *bytes, size_t room) {
    Pieces *pieces = context;
    ByteSource source = byte_source_of_text(&pieces->text);
    return source.read(source.context, bytes, room < pieces->most ? room : pieces->most);
}

static bool check_device(Recording *recording, void *context, Error *error) {
    const PlanShape shape = {.known = false};
    Arena arena = {0};
    RankTraces traces = {0};
    (void)context;
    bool ok = rank_traces(recording, "fuzz", &shape, &arena, &traces, error);
    for (int i = 0; i < traces.count; i++) check_rank(&traces.ranks[i]);
    arena_free(&arena);
    return ok;
}

static bool xplane_from(const char *bytes, size_t size, Recording *out, Error *error) {
    Pieces pieces = {{bytes, size}, 1 + size % 977};
    return xplane_read((ByteSource){read_piece, &pieces}, "fuzz", out, error);
}

static bool read_devices(const char *bytes, size_t size, Recording *out, Error *error) {
    out->take = check_device;
    return xplane_from(bytes, size, out, error);
}

/* Whatever the bytes are, xplane_read says yes or no, and what it takes can be added up (check_trace): of the whole
 * file, and of each device as soon as it is read, as the command takes them. Bytes come in pieces of any size. */
void fuzz_xplane(char *bytes, size_t size) {
    check_trace(bytes, size, xplane_from);
    check_trace(bytes, size, read_devices);
}

/* Whatever the bytes are, bench_log_read finds results that are finite and above 0, or none. */
void fuzz_bench_log(char *bytes, size_t size) {
    BenchResult results[BENCH_RESULTS_MAX];
    int count = bench_log_read(bytes, size, size % 2 ? "all_gather.log" : "log", results);
    for (int i = 0; i < count; i++)
        if (!(results[i].rate > 0) || !isfinite(results[i].rate) || results[i].kind == BENCH_NONE) abort();
}

/* Whatever the bytes are, step_log_read finds steps whose quartiles are in order, or says in one line that there are
 * none. */
void fuzz_step_log(char *bytes, size_t size) {
    StepLog log;
    Error error = {0};
    ByteText text = {bytes, size};
    bool ok = step_log_read(byte_source_of_text(&text), "fuzz", &log, &error);
    if (ok != (error.kind == ERROR_NONE) || (!ok && strchr(error.text, '\n'))) abort();
    if (ok && !(log.used >= 1 && 0 < log.lower && log.lower <= log.median && log.median <= log.upper)) abort();
}
