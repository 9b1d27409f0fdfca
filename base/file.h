/* SPDX-License-Identifier: GPL-3.0-or-later */
/* base/file.h: the edges: reading whole files, writing whole files, finding the data. */
#ifndef SHARDOPT_BASE_FILE_H
#define SHARDOPT_BASE_FILE_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The bytes of a regular file of at most `limit` bytes, in the arena, with a NUL behind them that *length does not
 * count. What is no regular file, or is larger: ERROR_IO; opening never waits for the other end of a pipe. */
bool file_read(const char *path, size_t limit, Arena *arena, char **text, size_t *length, Error *error);

/* Writes beside `path`, syncs, renames: the old content or the new, never half. Links are followed, an old file keeps
 * its mode. What is no regular file (a terminal, a pipe), and all under /dev and /proc, is written directly. */
bool file_write(const char *path, const char *text, size_t length, Error *error);

/* The same for what is too long to hold in memory: what goes into file_stream_out() lands beside `path`, and closing
 * syncs and renames it. NULL: *error says why. */
typedef struct FileStream FileStream;
FileStream *file_stream_open(const char *path, Error *error);
FILE *file_stream_out(FileStream *stream);
/* Ends it. `keep` false, or a failure: the old content stays. False where what was to be kept is not. */
bool file_stream_close(FileStream *stream, bool keep, Error *error);

/* The folder that holds `name` ("models/zoo", "mesh/catalog", "cost/profiles", "cost/optimizers",
 * "cost/measured/data"): under $SHARDOPT_DATA if that is set and not empty (then only there), else the first of: beside
 * the installed program (../share/shardopt from its folder), the source folder compiled in, the install prefix compiled
 * in. In the arena; NULL and *error when there is none. */
const char *file_data_folder(const char *name, Arena *arena, Error *error);

/* The names, sorted by bytes, of the regular files in `folder` that end in `suffix`; hidden ones are left out. */
bool file_list(const char *folder, const char *suffix, Arena *arena, char ***names, size_t *count, Error *error);

bool file_is_folder(const char *path);

#endif
