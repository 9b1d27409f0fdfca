/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whatever the bytes of a database are, nsight_read says yes or no, and what it takes can be added up (traces.h).
 *
 * libFuzzer: clang -fsanitize=fuzzer,address,undefined; without clang, -DSHARDOPT_FUZZ_MAIN runs the files given. */
#include "cost/trace/formats/nsight.h"
#include "tests/fuzz/traces.h"

static bool read(const char *bytes, size_t size, Recording *out, Error *error) {
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    check_trace(data, size, read);
    return 0;
}
