/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/trace/formats/nsight.h: the SQLite export of Nsight Systems (`nsys export --type sqlite`). Tables exist only
 * where they have rows, and columns grow by version: each is requested before it is read. */
#pragma once

#include "cost/trace/recording.h"

#include <sqlite3.h>

/* Reads into a recording that was begun, and finishes it. The database is the caller's to close. A database that is
 * damaged is read as far as it goes, and `trouble` says so; errors name `where`. */
bool nsight_read(sqlite3 *database, const char *where, Recording *out, Error *error);

/* Opens the file, which nothing else may write meanwhile, and reads it. */
bool nsight_read_file(const char *path, Recording *out, Error *error);
