/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/trace/formats/formats.h"

#include <sqlite3.h>

bool nsight_read_file(const char *path, Recording *out, Error *error) {
    sqlite3 *database = NULL;
    int code = sqlite3_open_v2(path, &database, SQLITE_OPEN_READONLY, NULL);
    bool ok = code == SQLITE_OK
                  ? nsight_read(database, path, out, error)
                  : error_set(error, ERROR_IO, path, "cannot be opened as a database (%.80s)", sqlite3_errstr(code));
    sqlite3_close(database);
    return ok;
}
