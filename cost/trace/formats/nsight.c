/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/trace/formats/formats.h"

#include "base/util.h"
#include "cost/trace/formats/nsight_nccl.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

/* A view that never ends cannot be distinguished from a long one: reading stops after so many steps of SQLite's
 * machine, and so many more for each MiB of the file. A row takes some 30 of them, with its names, and 100 bytes. */
enum { PROGRESS_EVERY = 1000000, PROGRESS_LEAST = 4, PROGRESS_PER_MIB = 2, COLUMNS_MAX = 8 };

typedef struct {
    sqlite3 *database;
    Recording *to;
    const char *where;
    Error *error;
    int64_t progress, progress_most;
    sqlite3_stmt *find; /* a string by its number; NULL: there are none */
    NcclCalls nccl;
} Nsight;

static int count_progress(void *context) {
    Nsight *nsight = context;
    return ++nsight->progress > nsight->progress_most;
}

/* The number that a pragma says; 0: none. */
static int64_t pragma_of(sqlite3 *database, const char *pragma) {
    sqlite3_stmt *row = NULL;
    bool read = sqlite3_prepare_v2(database, pragma, -1, &row, NULL) == SQLITE_OK && sqlite3_step(row) == SQLITE_ROW;
    int64_t whole = read ? sqlite3_column_int64(row, 0) : 0;
    sqlite3_finalize(row);
    return max_whole(0, whole);
}

static bool has_column(const Nsight *nsight, const char *table, const char *column) {
    return sqlite3_table_column_metadata(nsight->database, NULL, table, column, NULL, NULL, NULL, NULL, NULL) ==
           SQLITE_OK;
}

/* What is read of each row of a table. False: *error is set. */
typedef bool (*RowReader)(Nsight *nsight, sqlite3_stmt *row);

/* Reads columns of a table; those that it lacks are NULL in each row. A table that is not there has no rows. */
static bool read_table(Nsight *nsight, const char *table, const char *const *columns, RowReader reader) {
    char query[1024];
    sqlite3_stmt *row = NULL;
    int used = snprintf(query, sizeof query, "SELECT"), code;
    if (!has_column(nsight, table, NULL)) return true;
    for (int i = 0; columns[i]; i++)
        used += snprintf(query + used, sizeof query - (size_t)used, "%s %s", i ? "," : "",
                         has_column(nsight, table, columns[i]) ? columns[i] : "NULL");
    snprintf(query + used, sizeof query - (size_t)used, " FROM %s", table);
    bool ok = true;
    code = sqlite3_prepare_v2(nsight->database, query, -1, &row, NULL);
    while (code == SQLITE_OK || code == SQLITE_ROW) {
        code = sqlite3_step(row);
        if (code == SQLITE_ROW && !(ok = reader(nsight, row))) break;
    }
    if (ok && code != SQLITE_DONE && !nsight->to->trouble[0])
        snprintf(nsight->to->trouble, sizeof nsight->to->trouble, "is damaged in %s (%.60s)", table,
                 sqlite3_errmsg(nsight->database));
    sqlite3_finalize(row);
    return ok;
}

/* Processes are distinguished: each has correlations and devices of its own. */
static int64_t process_of(int64_t global) { return global >> 24 & 0xFFFFFF; }

static int64_t launch_key(int64_t process, int64_t correlation) { return process << 32 | (correlation & 0xFFFFFFFF); }

/* ---- strings: by their numbers, once ---- */

static int32_t string_of(Nsight *nsight, sqlite3_stmt *row, int column) {
    sqlite3_stmt *find = nsight->find;
    int32_t name = -1;
    if (!find || sqlite3_column_type(row, column) == SQLITE_NULL) return recording_name(nsight->to, "", 0);
    if (sqlite3_bind_int64(find, 1, sqlite3_column_int64(row, column)) == SQLITE_OK &&
        sqlite3_step(find) == SQLITE_ROW && sqlite3_column_text(find, 0)) {
        const char *text = (const char *)sqlite3_column_text(find, 0);
        name = recording_name(nsight->to, text, strlen(text));
    }
    sqlite3_reset(find);
    return name >= 0 ? name : recording_name(nsight->to, "", 0);
}

/* ---- rows ---- */

/* start, end, deviceId, streamId, correlationId, globalPid: what all that runs on a device has. */
static bool begin_event(Nsight *nsight, sqlite3_stmt *row, TraceEvent *out) {
    int64_t process = process_of(sqlite3_column_int64(row, 5)), device = sqlite3_column_int64(row, 2) & 0xFFFF;
    *out = (TraceEvent){.start_ns = sqlite3_column_int64(row, 0),
                        .end_ns = sqlite3_column_int64(row, 1),
                        .stream = (int32_t)sqlite3_column_int64(row, 3),
                        .group = -1,
                        .sequence = -1,
                        .device = recording_device(nsight->to, process << 16 | device, device)};
    if (sqlite3_column_type(row, 4) != SQLITE_NULL) out->launch = launch_key(process, sqlite3_column_int64(row, 4));
    return out->device >= 0 || error_memory(nsight->error);
}

static bool add(Nsight *nsight, const TraceEvent *event) {
    return (event->name >= 0 && recording_add(nsight->to, event)) || error_memory(nsight->error);
}

static bool read_kernel(Nsight *nsight, sqlite3_stmt *row) {
    TraceEvent event;
    if (!begin_event(nsight, row, &event)) return false;
    event.name = string_of(nsight, row, sqlite3_column_type(row, 6) != SQLITE_NULL ? 6 : 7);
    return add(nsight, &event);
}

static bool read_copy(Nsight *nsight, sqlite3_stmt *row) {
    static const char *const KINDS[] = {"Memcpy", "Memcpy HtoD", "Memcpy DtoH"};
    TraceEvent event;
    int64_t kind = sqlite3_column_int64(row, 7);
    if (!begin_event(nsight, row, &event)) return false;
    const char *name = KINDS[kind == 1 || kind == 2 ? kind : 0];
    event.name = recording_name(nsight->to, name, strlen(name));
    event.class = CLASS_COPY;
    event.host_copy = kind == 1 || kind == 2;
    event.bytes = (double)sqlite3_column_int64(row, 6);
    return add(nsight, &event);
}

static bool read_fill(Nsight *nsight, sqlite3_stmt *row) {
    TraceEvent event;
    if (!begin_event(nsight, row, &event)) return false;
    event.name = recording_name(nsight->to, "Memset", 6);
    event.class = CLASS_COPY;
    return add(nsight, &event);
}

static bool read_launch(Nsight *nsight, sqlite3_stmt *row) {
    int64_t thread = sqlite3_column_int64(row, 2);
    if (sqlite3_column_type(row, 1) == SQLITE_NULL) return true;
    TraceLaunch launch = {launch_key(process_of(thread), sqlite3_column_int64(row, 1)), sqlite3_column_int64(row, 0),
                          recording_thread(nsight->to, thread)};
    return (launch.thread >= 0 && recording_add_launch(nsight->to, launch)) || error_memory(nsight->error);
}

/* domainId, schemaId, name, type, offset: where a figure lies in payloads; the first of a schema has no offset. */
static bool read_field(Nsight *nsight, sqlite3_stmt *row) {
    const int64_t schema[] = {sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1)};
    const char *name = (const char *)sqlite3_column_text(row, 2);
    if (name) nccl_add_field(&nsight->nccl, schema, name, sqlite3_column_int64(row, 3), sqlite3_column_int64(row, 4));
    return true;
}

/* domainId, binaryData stand behind what every range has. */
static bool read_nccl(Nsight *nsight, sqlite3_stmt *row, const char *name) {
    NcclCall call = {.start_ns = sqlite3_column_int64(row, 0),
                     .end_ns = sqlite3_column_int64(row, 1),
                     .thread = recording_thread(nsight->to, sqlite3_column_int64(row, 2))};
    NcclPayload payload = {.domain = sqlite3_column_int64(row, 5), .bytes = sqlite3_column_blob(row, 6)};
    payload.size = payload.bytes ? (size_t)sqlite3_column_bytes(row, 6) : 0;
    bool ok = call.thread >= 0 && nccl_add_call(&nsight->nccl, nsight->to->rules, name, call, &payload);
    return ok || error_memory(nsight->error);
}

/* start, end, globalTid, text, textId: ranges that a program marks with NVTX, as PyTorch does with its operators. */
static bool read_range(Nsight *nsight, sqlite3_stmt *row) {
    if (sqlite3_column_type(row, 1) == SQLITE_NULL) return true;
    const char *text = (const char *)sqlite3_column_text(row, 3);
    if (!text && sqlite3_column_type(row, 4) == SQLITE_NULL) return true;
    if (!text) text = recording_text(nsight->to, string_of(nsight, row, 4));
    if (nccl_is_call(text)) return read_nccl(nsight, row, text);
    if (range_kind(nsight->to->rules, text) == RANGE_NONE) return true;
    TraceRange range = {.start_ns = sqlite3_column_int64(row, 0),
                        .end_ns = sqlite3_column_int64(row, 1),
                        .thread = recording_thread(nsight->to, sqlite3_column_int64(row, 2))};
    return (range.thread >= 0 && recording_add_range(nsight->to, text, range)) || error_memory(nsight->error);
}

static bool read_chip(Nsight *nsight, sqlite3_stmt *row) {
    const char *name = (const char *)sqlite3_column_text(row, 0);
    if (name && !nsight->to->chip[0]) snprintf(nsight->to->chip, sizeof nsight->to->chip, "%s", name);
    return true;
}

static bool read_clock(Nsight *nsight, sqlite3_stmt *row) {
    nsight->to->base_ns = sqlite3_column_int64(row, 0);
    return true;
}

#define LIST(...)                                                                                                      \
    (const char *const[COLUMNS_MAX + 1]) { __VA_ARGS__ }

static bool read_tables(Nsight *nsight) {
    return read_table(nsight, "TARGET_INFO_GPU", LIST("name"), read_chip) &&
           read_table(nsight, "TARGET_INFO_SESSION_START_TIME", LIST("utcEpochNs"), read_clock) &&
           read_table(
               nsight, "CUPTI_ACTIVITY_KIND_KERNEL",
               LIST("start", "end", "deviceId", "streamId", "correlationId", "globalPid", "demangledName", "shortName"),
               read_kernel) &&
           read_table(nsight, "CUPTI_ACTIVITY_KIND_MEMCPY",
                      LIST("start", "end", "deviceId", "streamId", "correlationId", "globalPid", "bytes", "copyKind"),
                      read_copy) &&
           read_table(nsight, "CUPTI_ACTIVITY_KIND_MEMSET",
                      LIST("start", "end", "deviceId", "streamId", "correlationId", "globalPid"), read_fill) &&
           read_table(nsight, "CUPTI_ACTIVITY_KIND_RUNTIME", LIST("start", "correlationId", "globalTid"),
                      read_launch) &&
           read_table(nsight, "NVTX_PAYLOAD_SCHEMA_ENTRIES", LIST("domainId", "schemaId", "name", "type", "offset"),
                      read_field) &&
           read_table(nsight, "NVTX_EVENTS",
                      LIST("start", "end", "globalTid", "text", "textId", "domainId", "binaryData"), read_range);
}

bool nsight_read(sqlite3 *database, const char *where, Recording *out, Error *error) {
    Nsight nsight = {.database = database, .to = out, .where = where, .error = error};
    sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    int64_t pages = pragma_of(database, "PRAGMA page_count"), page = pragma_of(database, "PRAGMA page_size");
    nsight.progress_most =
        PROGRESS_LEAST + PROGRESS_PER_MIB * (min_whole(pages, 1 << 30) * min_whole(page, 65536) >> 20);
    sqlite3_progress_handler(database, PROGRESS_EVERY, count_progress, &nsight);
    int code = sqlite3_exec(database, "SELECT count(*) FROM sqlite_master", NULL, NULL, NULL);
    if (code != SQLITE_OK)
        return error_set(error, ERROR_INPUT, where, "is a damaged SQLite file (%.80s)", sqlite3_errmsg(database));
    if (!has_column(&nsight, "CUPTI_ACTIVITY_KIND_KERNEL", NULL) && !has_column(&nsight, "StringIds", NULL))
        return error_set(error, ERROR_INPUT, where,
                         "is a database, but no export of Nsight Systems (nsys export --type sqlite)");
    if (sqlite3_prepare_v2(database, "SELECT value FROM StringIds WHERE id = ?", -1, &nsight.find, NULL) != SQLITE_OK)
        nsight.find = NULL;
    bool ok = read_tables(&nsight);
    sqlite3_finalize(nsight.find);
    ok = ok && recording_finish(out, where, error) && (nccl_join(&nsight.nccl, out) || error_memory(error));
    nccl_free(&nsight.nccl);
    return ok;
}
